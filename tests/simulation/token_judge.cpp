#include "token_judge.hpp"

#include "judge.hpp"
#include "judge_arithmetic.hpp"
#include "lock_names.hpp"
#include "transition_log.hpp"

#include <algorithm>
#include <bit>

namespace redlock::simulation {

namespace {

// The keys of the command that have its value on the server.
std::string text_of_own_keys(server& s, detail::command const& c)
{
    std::string text;
    for (std::size_t i = 0; i < c.key_count(); ++i)
        if (s.has(std::string{c.key_at(i)}, std::string{c.value})) text += (text.empty() ? "" : ", ") + std::string{c.key_at(i)};
    return text;
}

}  // namespace

void token_judge::sent(detail::command const& c)
{
    attempts_.try_emplace(std::string{c.value},
                          attempt{rules_.world().now(), names_text_of(c), c.shared ? 1 : c.block, c.shared, c.is_of_permits()});
}

void token_judge::climbs(std::size_t server, detail::command const& c)
{
    attempts_[std::string{c.value}].climbs[c.more().goal] |= std::uint32_t{1} << server;
}

bool token_judge::is_of_permits(std::string const& value) const
{
    auto const a = attempts_.find(value);
    return a != attempts_.end() && a->second.of_permits;
}

void token_judge::confirms(server& s, detail::command const& c, token_number token)
{
    auto& events = attempts_[std::string{c.value}].confirmed;
    auto const bit = std::uint32_t{1} << s.index();
    std::string const slots = attempts_[std::string{c.value}].of_permits ? text_of_own_keys(s, c) : std::string{};
    auto const it = std::find_if(events.begin(), events.end(),
                                 [&](attempt::event const& e) { return e.token == token && e.slots == slots; });
    if (it == events.end()) {
        events.push_back({token, bit, slots});
    } else {
        it->servers |= bit;
    }
}

// A lease has climbed when a majority granted it. That two complete with tokens in the wrong order because one had fewer takes several
// messages that are late in the right way, so it is looked at where the new guard is used.
void token_judge::extends(detail::command const& extension)
{
    attempt& a = attempts_[std::string{extension.value}];
    a.guard = std::max(a.guard, extension.token);
    auto const climbed = a.climbs.find(extension.token);
    if (climbed == a.climbs.end()) return;
    auto const servers = rules_.world().servers().size();
    auto const granted = static_cast<std::size_t>(std::popcount(climbed->second));
    if (granted >= most_of(servers)) return;
    rules_.violation(std::to_string(granted) + " of " + std::to_string(servers) + " servers have granted the guard " +
                     std::to_string(extension.token) + " that a lease on " + a.name + " is extended with");
}

// The attempt of its process that a majority confirmed with its token, or whose tokens, reserved for others to come, it is one of.
std::string token_judge::find_value(lease_facts& w) const
{
    std::string const mine = "p" + std::to_string(w.process) + "-";
    token_number const last = w.token + w.options.token_block - 1;
    std::string found;
    int most = 0;
    int candidates = 0;
    for (auto const& [value, a] : attempts_) {
        if (!value.starts_with(mine) || (a.name != w.name && !a.of_permits) || a.reads != w.reads) continue;
        for (auto const& e : a.confirmed) {
            if (a.of_permits && e.slots != w.name) continue;
            int const servers = std::popcount(e.servers);
            bool const is_in = last <= e.token && w.token + a.reserved > e.token;
            if (is_in && w.reads && static_cast<std::size_t>(servers) >= most_of(rules_.world().servers().size()) && ++candidates > 1)
                w.is_sure = false;
            if (!is_in || servers < most || (servers == most && value > found)) continue;
            most = servers;
            found = value;
        }
    }
    return found;
}

// All slots that it has, with its token.
std::size_t token_judge::servers_that_gave(attempt const& a, lease_facts const& w) const
{
    token_number const last = w.token + w.options.token_block - 1;
    std::uint32_t servers = 0;
    for (auto const& e : a.confirmed)
        if (e.slots == w.name && last <= e.token && w.token + a.reserved > e.token) servers |= e.servers;
    return static_cast<std::size_t>(std::popcount(servers));
}

// When the first attempt to read began that it can be.
duration token_judge::first_of_readers(lease_facts const& w) const
{
    auto first = rules_.world().now();
    std::string const mine = "p" + std::to_string(w.process) + "-";
    for (auto const& [value, a] : attempts_) {
        if (!value.starts_with(mine) || a.name != w.name || !a.reads) continue;
        if (std::any_of(a.confirmed.begin(), a.confirmed.end(), [&](auto const& e) { return e.token == w.token; }))
            first = std::min(first, a.began);
    }
    return first;
}

// Promises 1 and 2 of the proof.
void token_judge::begins(lease_facts& w)
{
    if (!w.has_tokens()) {
        ++rules_.world().covered->plain;
        if (w.token != 0) rules_.violation("a lease without tokens has one");
        return;
    }
    w.first = w.token;
    w.last = w.nested ? w.token : w.token + w.options.token_block - 1;
    if (w.nested) return;
    if (w.options.token_block > 1) ++rules_.world().covered->block;
    auto const a = attempts_.find(w.value);
    if (w.token == 0 || a == attempts_.end()) return rules_.violation("a lease has a token that no server has granted: " + w.called());
    if (a->second.of_permits && servers_that_gave(a->second, w) < most_of(rules_.world().servers().size()))
        rules_.violation("too few servers have given all slots of a lease: " + w.called());
    auto const began = w.is_sure ? a->second.began : first_of_readers(w);
    for (std::string const& name : w.names) compare_tokens(name, {w.value, w.token, w.last, w.reads, began, rules_.world().now()});
}

void token_judge::compare_tokens(std::string const& name, owned const& mine)
{
    auto& others = tokens_[name];
    for (owned const& o : others) {
        if (mine.first > o.last || (mine.reads && o.reads)) continue;
        auto const both = o.by + " has " + std::to_string(o.first) + " to " + std::to_string(o.last) + ", " + mine.by + " has " +
                          std::to_string(mine.first) + " to " + std::to_string(mine.last);
        if (o.first <= mine.last) rules_.violation("two leases on \"" + name + "\" own one token: " + both);
        if (o.completed < mine.began || o.by == mine.by)
            rules_.violation("a lease on \"" + name + "\" has a token that is not above those before it: " + both);
    }
    others.push_back(mine);
}

// Promise 3. A lease stands on M servers that executed a request which was sent no earlier than its validity begins. A larger token
// that was complete by then has one of them, where the guard refuses.
void token_judge::check_proof(lease_facts const& w)
{
    if (!w.has_tokens()) return;
    auto const& p = rules_.world().processes()[w.process];
    duration const begins = p->clock.when(w.seen_until - validity_of(w.options.ttl, w.options.clock_drift));
    if (rules_.world().transitions && !w.nested) rules_.world().transitions->clients().moved_on(w.value, begins);
    for (std::string const& name : w.names)
        for (owned const& o : tokens_[name])
            if (o.first > w.last && o.by != w.value && !(w.reads && o.reads) && o.completed < begins - rounding)
                rules_.violation("a lease was extended although one with a larger token was complete: " + w.called() + " and " + o.by);
}

std::size_t token_judge::can_be_extended(lease_facts const& w) const
{
    auto const& servers = rules_.world().servers();
    auto const guard = w.has_tokens() ? guard_of(w.value) : 0;
    return static_cast<std::size_t>(std::count_if(servers.begin(), servers.end(), [&](auto const& s) {
        return std::all_of(w.names.begin(), w.names.end(), [&](std::string const& name) { return keeps(*s, w, name, guard); });
    }));
}

bool token_judge::keeps(server& s, lease_facts const& w, std::string const& name, token_number guard) const
{
    auto const* const e = s.find(name);
    if (!e || !s.has(name, w.value) || e->of_nobody || s.is_stray(name, w.value)) return false;
    if (!w.has_tokens() || !s.memory.admitted()) return true;
    if (s.memory.record->base > guard) return false;
    if (e->readers) return e->readers->epoch <= guard;
    auto const* const fence = s.memory.find_counter(name, s.time());
    auto const counter = fence && fence->value ? *fence->value : *s.memory.high_water;
    return counter <= guard || (fence && fence->marked);
}

// By the attempt of this value, and by its extensions: that is what its requests carry.
token_number token_judge::guard_of(std::string const& value) const
{
    if (auto const g = guards_.find(value); g != guards_.end()) return g->second;
    auto const a = attempts_.find(value);
    if (a == attempts_.end() || a->second.confirmed.empty()) return 0;
    if (a->second.guard > 0) return a->second.guard;
    auto const& events = a->second.confirmed;
    auto const by_servers = [](attempt::event const& x, attempt::event const& y) {
        return std::popcount(x.servers) < std::popcount(y.servers);
    };
    return std::max_element(events.begin(), events.end(), by_servers)->token;
}

}  // namespace redlock::simulation
