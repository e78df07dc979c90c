#include "client_transitions.hpp"

#include "judge_arithmetic.hpp"
#include "universe.hpp"

#include <redlock/options.hpp>

#include <algorithm>

namespace redlock::simulation {

using detail::command;
using detail::reply;
using detail::verb;
using testing::token_number;

namespace {

bool may_grant_tokens(command const& c) { return c.fenced && c.may_grant(); }

}  // namespace

std::string client_transitions::number_of(server const& s, command const& c, duration sent) const
{
    std::string number = "-";
    auto const a = attempts_.find(c.value);
    if (a == attempts_.end()) return number;
    if (c.what == verb::climb) {
        for (climb const& each : a->second.climbs)
            if (each.sent <= sent && each.high == c.more().goal && each.nodes.contains(s.index())) number = text_of(each.number);
    } else {
        for (extension const& each : a->second.extensions)
            if (each.sent <= sent && each.guard == c.token && each.nodes.contains(s.index())) number = text_of(each.number);
    }
    return number;
}

void client_transitions::counted(server& s, command const& c, std::string_view learned, duration sent)
{
    auto const a = attempts_.find(c.value);
    if (a == attempts_.end()) return;
    auto const n = text_of(s.index());
    if (c.what == verb::extend || c.what == verb::climb) {
        std::string const what = c.what == verb::extend ? "check_extension " : "check_climb ";
        auto const number = number_of(s, c, sent);
        for (std::size_t i = 0; i < c.key_count(); ++i)
            to_.line(what + n + " " + std::string{c.value} + " " + std::string{c.key_at(i)} + " " + std::string{learned} + " " + number);
        return;
    }
    // One that has another id than the attempt's own is for its client to drop.
    auto const own = a->second.bound.find(s.index());
    if (c.what == verb::confirm && (own == a->second.bound.end() || own->second != learned)) return;
    to_.line("check " + n + " " + std::string{c.value} + " " + std::string{learned});
}

void client_transitions::sent_acquire(process const& p, server const& to, command const& c, std::string_view learned, bool is_on_its_way)
{
    std::string const value{c.value};
    auto& a = attempts_[value];
    bool const again = a.bound.contains(to.index());
    if (again) a = {};
    if (a.sent == 0ns || again) {
        a.client = p.index();
        a.block = c.block;
        a.sent = std::max<duration>(universe_.now(), 1ns);
        a.ends = p.clock.at(universe_.now()) + validity_of(c.ttl, lock_options{}.clock_drift);
        std::string names;
        for (std::size_t i = 0; i < c.key_count(); ++i) names += (i == 0 ? "" : ",") + std::string{c.key_at(i)};
        to_.line("begin " + value + " " + text_of(c.block) + " " + std::to_string(c.ttl.count()) + " " + names);
    }
    if (!is_on_its_way) return;
    a.bound[to.index()] = learned;
    to_.line("bind " + value + " " + text_of(to.index()) + " " + std::string{learned});
}

void client_transitions::sent_admission(process const& p, server const& to, command const& c)
{
    give_up_what_is_late();
    std::string read;
    for (auto const& [node, mark] : marks_heard_[p.index()]) read += " " + text_of(node) + ":" + text_of(mark);
    to_.line("sends_an_admission " + text_of(to.index()) + " " + text_of(p.index()) + " " + std::string{c.more().id} + " " +
             std::string{c.value} + " " + text_of(c.token) + " " + std::to_string(c.ttl.count()) + read);
}

void client_transitions::sent_extension(std::string const& value, attempt& a, server const& to, command const& c)
{
    for (climb& each : a.climbs)
        if (!each.over && each.high == c.token && a.guard < c.token) climbed(value, a, each);
    if (a.guard == 0) complete(value, a, c.token);
    auto const is_another = [&](extension const& last) {
        return last.sent != universe_.now() || last.guard != c.token || last.nodes.contains(to.index());
    };
    if (a.extensions.empty() || is_another(a.extensions.back())) {
        a.extensions.push_back({extensions_, universe_.now(), c.token, {}});
        to_.line("asks_to_extend " + text_of(extensions_++) + " " + value + " " + text_of(c.token));
    }
    a.extensions.back().nodes.insert(to.index());
}

void client_transitions::sent(process const& p, server const& to, command const& c, std::string_view learned, bool is_on_its_way)
{
    if (c.what == verb::acquire && c.fenced) return sent_acquire(p, to, c, learned, is_on_its_way);
    if (c.what == verb::admit) return sent_admission(p, to, c);
    auto const it = attempts_.find(c.value);
    if (it == attempts_.end()) return;
    auto& [value, a] = *it;
    if (c.what == verb::confirm) decide(value, a, c.token);
    if (c.what == verb::release) settle(value, a);
    if (c.what == verb::climb) begin_to_climb(value, a, p, to, c);
    if (c.what == verb::extend && c.fenced) sent_extension(value, a, to, c);
}

void client_transitions::heard(std::size_t client, server const& from, command const& c, reply const& answer, duration sent)
{
    if (answer.vote != vote::granted) return;
    if (c.what == verb::inspect && answer.facts() && answer.facts()->admitted == answer.facts()->id)
        marks_heard_[client][from.index()] = answer.facts()->high_water;
    auto const it = attempts_.find(c.value);
    if (it == attempts_.end() || !c.fenced) return;
    attempt& a = it->second;
    if (c.what == verb::extend) a.renewals.push_back({from.index(), sent});
    climb* answered = nullptr;
    for (climb& each : a.climbs)
        if (c.what == verb::climb && each.high == c.more().goal && each.sent <= sent && each.nodes.contains(from.index())) answered = &each;
    if (answered) answered->voted.insert(from.index());
    if (may_grant_tokens(c)) a.grants.emplace_back(from.index(), c.what == verb::acquire ? answer.counter : c.token);
}

std::size_t client_transitions::told(attempt const& a, token_number token) const
{
    std::set<std::size_t> nodes;
    for (auto const& [node, counter] : a.grants)
        if (counter == token) nodes.insert(node);
    return nodes.size();
}

std::optional<token_number> client_transitions::plausible_token(attempt const& a) const
{
    auto const enough = most_of(universe_.servers().size());
    if (a.token) return told(a, *a.token) >= enough ? a.token : std::nullopt;
    for (auto const& [node, counter] : a.grants)
        if (told(a, counter) >= enough) return counter;
    return std::nullopt;
}

void client_transitions::decide(std::string const& value, attempt& a, token_number token)
{
    if (a.token == token) return;
    a.token = token;
    std::string grants;
    for (auto const& [node, counter] : a.grants) grants += " " + text_of(node) + ":" + text_of(counter);
    to_.line("decide " + value + " " + text_of(token) + grants);
}

void client_transitions::complete(std::string const& value, attempt& a, token_number token)
{
    if (a.complete && a.token == token) return;
    decide(value, a, token);
    a.complete = true;
    std::set<std::size_t> nodes;
    for (auto const& [node, counter] : a.grants)
        if (counter == token) nodes.insert(node);
    std::string text;
    for (auto const node : nodes) text += " " + text_of(node);
    to_.line("completes " + value + text);
}

// It gives its keys back, or its time is over. Nobody saw whether it completed: if a majority granted, it counts as complete.
void client_transitions::settle(std::string const& value, attempt& a)
{
    if (a.complete || a.over) return;
    if (auto const token = plausible_token(a)) return complete(value, a, *token);
    // Its client may have chosen a token, and have been stopped before it could send that.
    if (!a.token && a.grants.size() >= most_of(universe_.servers().size())) {
        auto const enough = a.grants.begin() + static_cast<std::ptrdiff_t>(most_of(universe_.servers().size()));
        auto const by_counter = [](auto const& x, auto const& y) { return x.second < y.second; };
        decide(value, a, std::max_element(a.grants.begin(), enough, by_counter)->second);
    }
    a.over = true;
    to_.line("gives_up " + value);
}

// A message that waited in the client's queue is of the climb that was under way then.
void client_transitions::begin_to_climb(std::string const& value, attempt& a, process const& p, server const& to, command const& c)
{
    auto const now = p.clock.at(universe_.now());
    auto const is_of = [&](climb const& last) {
        return !last.over && last.low == c.token && last.high == c.more().goal && now < last.ends && !last.nodes.contains(to.index());
    };
    if (a.climbs.empty() || !is_of(a.climbs.back())) {
        // The guard that it begins from says whether those before have succeeded.
        for (climb& each : a.climbs) {
            if (each.over) continue;
            if (each.high <= c.token) settle_climb(value, a, each);
            else to_.line("climb_ends " + text_of(each.number));
            each.over = true;
        }
        a.climbs.push_back({climbs_, universe_.now(), c.token, c.more().goal, now + validity_of(c.ttl, lock_options{}.clock_drift)});
        to_.line("begins_to_climb " + text_of(climbs_++) + " " + value + " " + text_of(c.token) + " " + text_of(c.more().goal));
    }
    a.climbs.back().nodes.insert(to.index());
}

void client_transitions::climbed(std::string const& value, attempt& a, climb& c)
{
    c.over = true;
    a.guard = c.high;
    std::string text;
    for (auto const node : c.voted) text += " " + text_of(node);
    to_.line("has_climbed " + text_of(c.number) + " " + value + text);
}

// It has ended. Nobody saw whether it succeeded: if a majority granted, it counts as a success.
void client_transitions::settle_climb(std::string const& value, attempt& a, climb& c)
{
    if (c.over) return;
    if (c.voted.size() >= most_of(universe_.servers().size())) return climbed(value, a, c);
    c.over = true;
    to_.line("climb_ends " + text_of(c.number));
}

void client_transitions::give_up_what_is_late()
{
    for (auto& [value, a] : attempts_) {
        auto const& p = universe_.processes()[a.client];
        for (climb& each : a.climbs)
            if (!p || p->clock.at(universe_.now()) >= each.ends) settle_climb(value, a, each);
        if (a.complete || a.over) continue;
        if (!p || p->clock.at(universe_.now()) >= a.ends) settle(value, a);
    }
}

void client_transitions::killed(std::size_t client)
{
    for (auto& [value, a] : attempts_)
        if (a.client == client) settle(value, a);
    for (auto& [value, a] : attempts_)
        for (climb& each : a.climbs)
            if (a.client == client) settle_climb(value, a, each);
}

void client_transitions::held(std::string const& value, token_number first, token_number last)
{
    auto const it = attempts_.find(value);
    if (it == attempts_.end()) return to_.line("holds " + or_dash(value) + " " + text_of(first) + " " + text_of(last));
    attempt& a = it->second;
    if (!a.complete) {
        token_number token = a.token.value_or(last);
        std::size_t most = 0;
        for (auto const& [node, counter] : a.grants) {
            if (a.token || counter < last || first + a.block <= counter || told(a, counter) <= most) continue;
            most = told(a, counter);
            token = counter;
        }
        complete(value, a, token);
    }
    to_.line("holds " + value + " " + text_of(first) + " " + text_of(last));
}

void client_transitions::moved_on(std::string const& value, duration since)
{
    auto const it = attempts_.find(value);
    if (it == attempts_.end()) return;
    attempt const& a = it->second;
    if (a.sent + rounding >= since) return;  // it stands on its acquires
    auto const e = std::find_if(a.extensions.begin(), a.extensions.end(), [&](extension const& x) { return x.sent + rounding >= since; });
    if (e == a.extensions.end()) return to_.line("is_extended - " + value);
    std::set<std::size_t> nodes;
    for (renewal const& r : a.renewals)
        if (r.sent >= e->sent) nodes.insert(r.node);
    std::string text;
    for (auto const node : nodes) text += " " + text_of(node);
    to_.line("is_extended " + text_of(e->number) + " " + value + text);
}

}  // namespace redlock::simulation
