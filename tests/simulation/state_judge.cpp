#include "state_judge.hpp"

#include "protocol/state_text.hpp"

#include <algorithm>

namespace redlock::simulation {

namespace {

std::string to_text(state_judge::version const& v) { return std::to_string(v.token) + "/" + std::to_string(v.number); }

}  // namespace

state_judge::state_judge(universe& in, judge& rules) : universe_{in}, rules_{rules}
{
    in.on_state = [this](std::size_t server, detail::command const& c) { executed(server, c); };
}

std::string state_judge::bytes_of(version const& v) { return to_text(v); }

bool state_judge::may_be_lost() const noexcept
{
    auto const& a = rules_.assumes();
    return !a.memory_kept || !a.keys_kept || !a.clocks_within_drift;
}

bool state_judge::still_counts(fact const& f, duration asked) const { return asked < f.since + kept_for; }

void state_judge::published(std::string const& name, version const& what, duration since)
{
    fact const news{what, what.token, since, universe_.now()};
    published_[name].push_back(news);
    if (may_be_lost()) return;
    for (fact const& f : inherited_[name])
        if (f.holder > what.token && f.what < what && still_counts(news, f.since))
            rules_.violation("a later holder had inherited " + to_text(f.what) + " when " + to_text(what) + " was published");
}

void state_judge::inherited(std::string const& name, token_number holder, published_state const& what, duration since)
{
    version found;
    if (what) {
        auto const slash = what.value.find('/');
        found = {what.token, slash == std::string::npos ? 0 : std::stoull(what.value.substr(slash + 1))};
        if (what.value != to_text(found)) rules_.violation("a state came with a token that did not write it: " + what.value);
    }
    if (found.token > holder) rules_.violation("a state was inherited by somebody with a smaller token: " + what.value);
    if (!may_be_lost()) {
        for (fact const& f : published_[name])
            if ((f.what.token < holder || (f.what.token == holder && f.at < since)) && found < f.what && still_counts(f, since))
                rules_.violation(to_text(f.what) + " was published, and " + to_text(found) + " is inherited by " + std::to_string(holder));
        for (fact const& f : inherited_[name]) {
            bool const is_older = f.holder < holder || (f.holder == holder && f.at < since);
            if (is_older && found < f.what && still_counts(f, since))
                rules_.violation(to_text(f.what) + " was inherited, and then " + to_text(found) + " by " + std::to_string(holder));
        }
    }
    inherited_[name].push_back({found, holder, since, universe_.now()});
}

// Both halves of the fence in docs/proof.md ("State that goes with a lock"). What is published in spite of it must reach a majority to be inherited by
// the wrong one, which takes several messages that are late in the right way. So it is looked at on each server.
void state_judge::executed(std::size_t server, detail::command const& c)
{
    auto& asked = asked_[{server, std::string{c.key}}];
    auto const& a = rules_.assumes();
    if (c.what == detail::verb::inherit) {
        asked = std::max(asked, c.token);
        auto& s = *universe_.servers()[server];
        auto const* const counter = s.memory.find_counter(std::string{c.key}, s.time());
        auto const kept = counter ? counter->value : s.memory.high_water;
        if (!kept || *kept < c.token)
            rules_.violation("server " + std::to_string(server) + " lets " + std::to_string(c.token) + " inherit " + std::string{c.key} +
                             ", and smaller tokens may publish there afterwards");
    }
    if (c.what != detail::verb::publish || c.token >= asked || !a.keys_kept || !a.clocks_within_drift) return;
    // A server that lost its data has forgotten who asked. Its answers are no votes until it is admitted, and then its base is above the older tokens.
    if (!universe_.servers()[server]->memory.admitted()) return;
    rules_.violation("server " + std::to_string(server) + " lets " + std::to_string(c.token) + " publish " + std::string{c.key} +
                     " after somebody with a larger token, " + std::to_string(asked) + ", has inherited there");
}

void state_judge::check(std::vector<std::string> const& names)
{
    if (kept_.empty())
        for (std::size_t n = universe_.servers().size(); n > 0; --n)
            for (std::string const& name : names) kept_.push_back({name + ":published"});
    auto seen = kept_.begin();
    for (auto const& s : universe_.servers()) {
        auto const now = s->time();
        for (std::string const& name : names) {
            kept_state& last = *seen++;
            auto const* const e = s->memory.find(last.key, now);
            if (!e) {
                last.text.clear();
                last.stamp = {};
                continue;
            }
            if (e->value == last.text) continue;
            last.text = e->value;
            auto const read = detail::read_stamp(e->value);
            auto const stamp = read ? std::pair{read->rank, read->number} : std::pair{token_number{0}, std::uint64_t{0}};
            if (read && stamp < last.stamp && !may_be_lost())
                rules_.violation("server " + std::to_string(s->index()) + " keeps an older state of " + name + " than before");
            last.stamp = stamp;
        }
    }
}

}  // namespace redlock::simulation
