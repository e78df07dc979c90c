#include "transition_log.hpp"

#include "judge.hpp"
#include "universe.hpp"

#include <redlock/options.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace redlock::simulation {

using detail::command;
using detail::reply;
using detail::verb;
using testing::token_number;

namespace {

constexpr duration rounding = 1us;

// For so long a client may count on what it sends (docs/protocol.md, rule 2).
duration validity_of(duration ttl)
{
    auto const drift = std::chrono::duration_cast<duration>(
        std::chrono::duration<double, std::nano>{static_cast<double>(ttl.count()) * lock_options{}.clock_drift});
    return ttl - drift - 2ms;
}

std::string text_of(std::uint64_t n) { return std::to_string(n); }
std::string or_dash(std::string const& text) { return text.empty() ? "-" : text; }

bool may_grant_tokens(command const& c) { return c.fenced && (c.what == verb::acquire || c.what == verb::confirm); }

}  // namespace

void transition_log::line(std::string text, std::string const& changed)
{
    text_ += std::move(text);
    if (!changed.empty()) text_ += " ;" + changed;
    text_ += '\n';
}

// As it is stored, so that what has expired and was not noticed yet is there: a clock that is set back may show it again.
transition_log::picture transition_log::look(server& s) const
{
    auto const& m = s.memory;
    bool const recorded = m.record && m.high_water && m.record->id != testing::redis_model::no_id;
    picture p{m.id,
              recorded ? m.record->id : std::string{},
              m.record ? m.record->mark : std::string{},
              m.record ? m.record->base : 0,
              m.high_water.value_or(0),
              m.record ? m.record->max_ttl : 0ms};
    testing::redis_model copy = m;
    for (std::string const& name : names_) {
        if (auto const* const e = m.stored(name)) p.keys[name] = {e->value, e->expires};
        auto const* const c = copy.find_counter(name, time_point::min());
        if (c && c->value) p.counters[name] = {*c->value, c->expires, c->marked};
    }
    return p;
}

std::string transition_log::changes(picture const& before, picture const& now)
{
    std::string text;
    auto const say = [&](std::string const& what, auto const& old, auto const& fresh) {
        if (old != fresh) text += " " + what + "=" + fresh;
    };
    say("life", before.id, now.id);
    say("record", or_dash(before.record), or_dash(now.record));
    say("mark", or_dash(before.mark), or_dash(now.mark));
    say("base", text_of(before.base), text_of(now.base));
    say("hw", text_of(before.high_water), text_of(now.high_water));
    say("max", std::to_string(before.max_ttl.count()), std::to_string(now.max_ttl.count()));
    auto const key_of = [](picture const& p, std::string const& name) {
        auto const it = p.keys.find(name);
        return it == p.keys.end() ? std::string{"-"} : it->second.value;
    };
    auto const counter_of = [](picture const& p, std::string const& name) {
        auto const it = p.counters.find(name);
        return it == p.counters.end() ? std::string{"-"} : text_of(it->second.value) + (it->second.marked ? ".0" : "");
    };
    std::set<std::string> names;
    for (picture const* p : {&before, &now}) {
        for (auto const& [name, each] : p->keys) names.insert(name);
        for (auto const& [name, each] : p->counters) names.insert(name);
    }
    for (std::string const& name : names) {
        say("key:" + name, key_of(before, name), key_of(now, name));
        say("count:" + name, counter_of(before, name), counter_of(now, name));
    }
    return text;
}

void transition_log::begin(std::uint64_t seed, bool bootstrap)
{
    line("schedule " + text_of(seed) + " " + text_of(universe_.servers().size()) + (bootstrap ? " bootstrap" : ""));
    for (auto const& s : universe_.servers()) {
        known_.push_back(look(*s));
        line("node " + text_of(s->index()), changes({}, known_.back()));
    }
}

void transition_log::catch_up(server& s, command const* before_this)
{
    for (std::size_t i = 0; before_this && i < before_this->key_count(); ++i)
        if (!before_this->key_at(i).empty()) names_.emplace(before_this->key_at(i));
    auto& before = known_[s.index()];
    auto now = look(s);
    bool const same_server = before.id == now.id;
    bool const same_record = before.record == now.record && before.mark == now.mark && before.base == now.base &&
                             before.high_water == now.high_water && before.max_ttl == now.max_ttl;
    if (same_server && same_record) {
        say_single_changes(s, before, now);
    } else {
        line((same_server ? "is_wiped " : "restarts ") + text_of(s.index()), changes(before, now));
    }
    before = std::move(now);
}

void transition_log::say_single_changes(server const& s, picture const& before, picture const& now)
{
    auto const n = text_of(s.index());
    for (std::string const& name : names_) {
        auto const key = now.keys.find(name);
        auto const old_key = before.keys.find(name);
        bool const had = old_key != before.keys.end();
        if (key == now.keys.end() && had) line("key_vanishes " + n + " " + name);
        if (key != now.keys.end() && (!had || old_key->second.value != key->second.value))
            line("somebody_else_sets_a_key " + n + " " + name + " " + key->second.value);
        auto const counter = now.counters.find(name);
        auto const old_counter = before.counters.find(name);
        bool const counted = old_counter != before.counters.end();
        if (counter == now.counters.end() && counted) line("counter_vanishes " + n + " " + name);
        if (counter != now.counters.end() && (!counted || old_counter->second.value != counter->second.value))
            line("unexplained " + n + " a counter", changes(before, now));
    }
}

bool transition_log::is_gone(server const& s, std::optional<time_point> expires) const
{
    if (!expires) return false;
    testing::redis_model::entry e;
    e.expires = expires;
    return s.time() >= s.memory.gone_at(e);
}

// Before the command did anything, it found that these had expired.
void transition_log::say_what_expired(server& s, command const& c, picture& before, picture const& now)
{
    for (std::size_t i = 0; i < c.key_count(); ++i) {
        std::string const name{c.key_at(i)};
        auto const key = before.keys.find(name);
        auto const new_key = now.keys.find(name);
        auto const same = [&](auto const& x, auto const& y) { return x.value == y.value && x.expires == y.expires; };
        if (key != before.keys.end() && is_gone(s, key->second.expires) &&
            (new_key == now.keys.end() || !same(key->second, new_key->second))) {
            line("key_vanishes " + text_of(s.index()) + " " + name);
            before.keys.erase(key);
        }
        auto const counter = before.counters.find(name);
        auto const new_counter = now.counters.find(name);
        if (counter != before.counters.end() && is_gone(s, counter->second.expires) &&
            (new_counter == now.counters.end() || !same(counter->second, new_counter->second))) {
            line("counter_vanishes " + text_of(s.index()) + " " + name);
            before.counters.erase(counter);
        }
    }
}

void transition_log::executed(server& s, command const& c, std::string_view learned, reply const& answer)
{
    auto& before = known_[s.index()];
    auto now = look(s);
    say_what_expired(s, c, before, now);
    bool const granted = answer.vote == vote::granted;
    auto const n = text_of(s.index());
    std::string const value{c.value};
    std::string const id{learned};
    auto const changed = changes(before, now);
    if (c.what == verb::climb || (c.fenced && c.what == verb::extend)) {
        changed_each(s, c, learned, before, now, granted);
    } else if (c.fenced && c.what == verb::acquire && granted) {
        line("acquire " + n + " " + value + " " + text_of(answer.counter) + " " + id, changed);
    } else if (c.fenced && c.what == verb::confirm && granted) {
        line("confirm " + n + " " + value + " " + text_of(c.token) + " " + id, changed);
    } else if (c.what == verb::mark && granted) {
        auto const client = on_behalf_of_ ? text_of(*on_behalf_of_) : "-";
        auto const machine = on_behalf_of_ && machines_.contains(*on_behalf_of_) ? text_of(machines_[*on_behalf_of_]) : "-";
        line("marks " + n + " " + answer.detail + " " + std::string{c.id} + " " + text_of(drains_++) + " " + client + " " + machine,
             changed);
    } else if (c.what == verb::admit && granted && !changed.empty()) {
        line("is_admitted " + n + " " + std::string{c.id} + " " + value + " " + text_of(c.token) + " " + std::to_string(c.ttl.count()),
             changed);
    } else if (c.what == verb::inspect && granted && answer.facts && answer.facts->master && on_behalf_of_) {
        give_up_what_is_late();
        auto const& facts = *answer.facts;
        line("reads " + n + " " + text_of(*on_behalf_of_) + " " + facts.id + " " + or_dash(facts.admitted) + " " + or_dash(facts.mark) +
                 " " + text_of(facts.high_water) + " " + std::to_string(facts.max_ttl / 1ms),
             changed);
    } else if (c.what == verb::release || (!c.fenced && (c.what == verb::acquire || c.what == verb::extend))) {
        auto const without_locks = [](picture p) {
            p.keys.clear();
            p.counters.clear();
            return p;
        };
        auto const other = changes(without_locks(before), without_locks(now));
        if (!other.empty()) line("unexplained " + n + " " + to_string(c.what), other);
        say_single_changes(s, before, now);
    } else if (!changed.empty()) {
        line("unexplained " + n + " " + std::string{to_string(c.what)} + " " + or_dash(value) + (granted ? " granted" : " not granted"),
             changed);
    }
    before = std::move(now);
}

// Each name by itself. What is not granted may have changed some of them nevertheless.
void transition_log::changed_each(server const& s, command const& c, std::string_view learned, picture& before, picture const& now,
                                  bool granted)
{
    auto const n = text_of(s.index());
    std::string const verb = to_string(c.what);
    auto const number = number_of(s, c, sent_at_);
    for (std::size_t i = 0; i < c.key_count(); ++i) {
        std::string const name{c.key_at(i)};
        auto next = before;
        if (auto const it = now.keys.find(name); it != now.keys.end()) next.keys[name] = it->second;
        if (auto const it = now.counters.find(name); it != now.counters.end()) next.counters[name] = it->second;
        auto changed = changes(before, next);
        if (!granted && changed.empty()) continue;
        next.high_water = std::max(before.high_water, now.high_water);
        changed = changes(before, next);
        line(verb + " " + n + " " + std::string{c.value} + " " + name + " " + text_of(c.token) + " " + std::string{learned} + " " + number,
             changed);
        before = std::move(next);
    }
    if (auto const rest = changes(before, now); !rest.empty()) line("unexplained " + n + " " + verb + " " + std::string{c.value}, rest);
}

// The number of the extension, or the climb, that the message belongs to; "-" if none is known.
std::string transition_log::number_of(server const& s, command const& c, duration sent) const
{
    std::string number = "-";
    auto const a = attempts_.find(c.value);
    if (a == attempts_.end()) return number;
    if (c.what == verb::climb) {
        for (climb const& each : a->second.climbs)
            if (each.sent <= sent && each.high == c.goal && each.nodes.contains(s.index())) number = text_of(each.number);
    } else {
        for (extension const& each : a->second.extensions)
            if (each.sent <= sent && each.guard == c.token && each.nodes.contains(s.index())) number = text_of(each.number);
    }
    return number;
}

void transition_log::counted(server& s, command const& c, std::string_view learned, duration sent)
{
    auto const a = attempts_.find(c.value);
    if (a == attempts_.end()) return;
    auto const n = text_of(s.index());
    if (c.what == verb::extend || c.what == verb::climb) {
        std::string const what = c.what == verb::extend ? "check_extension " : "check_climb ";
        auto const number = number_of(s, c, sent);
        for (std::size_t i = 0; i < c.key_count(); ++i)
            line(what + n + " " + std::string{c.value} + " " + std::string{c.key_at(i)} + " " + std::string{learned} + " " + number);
        return;
    }
    // One that has another id than the attempt's own is for its client to drop.
    auto const own = a->second.bound.find(s.index());
    if (c.what == verb::confirm && (own == a->second.bound.end() || own->second != learned)) return;
    line("check " + n + " " + std::string{c.value} + " " + std::string{learned});
}

void transition_log::sent(process const& p, server const& to, command const& c, std::string_view learned, bool is_on_its_way)
{
    auto const n = text_of(to.index());
    std::string const value{c.value};
    if (c.what == verb::acquire && c.fenced) {
        for (std::size_t i = 0; i < c.key_count(); ++i) names_.emplace(c.key_at(i));
        auto& a = attempts_[value];
        bool const again = a.bound.contains(to.index());
        if (again) a = {};
        if (a.sent == 0ns || again) {
            a.client = p.index();
            a.block = c.block;
            a.sent = std::max<duration>(universe_.now(), 1ns);
            a.ends = p.clock.at(universe_.now()) + validity_of(c.ttl);
            std::string names;
            for (std::size_t i = 0; i < c.key_count(); ++i) names += (i == 0 ? "" : ",") + std::string{c.key_at(i)};
            line("begin " + value + " " + text_of(c.block) + " " + std::to_string(c.ttl.count()) + " " + names);
        }
        if (!is_on_its_way) return;
        a.bound[to.index()] = learned;
        line("bind " + value + " " + n + " " + std::string{learned});
        return;
    }
    if (c.what == verb::admit) {
        give_up_what_is_late();
        std::string read;
        for (auto const& [node, mark] : marks_heard_[p.index()]) read += " " + text_of(node) + ":" + text_of(mark);
        line("sends_an_admission " + n + " " + text_of(p.index()) + " " + std::string{c.id} + " " + value + " " + text_of(c.token) + " " +
             std::to_string(c.ttl.count()) + read);
        return;
    }
    auto const it = attempts_.find(value);
    if (it == attempts_.end()) return;
    attempt& a = it->second;
    if (c.what == verb::confirm) decide(value, a, c.token);
    if (c.what == verb::release) settle(value, a);
    if (c.what == verb::climb) return begin_to_climb(value, a, p, to, c);
    if (c.what != verb::extend || !c.fenced) return;
    for (climb& each : a.climbs)
        if (!each.over && each.high == c.token && a.guard < c.token) climbed(value, a, each);
    if (a.guard == 0) complete(value, a, c.token);
    auto const is_another = [&](extension const& last) {
        return last.sent != universe_.now() || last.guard != c.token || last.nodes.contains(to.index());
    };
    if (a.extensions.empty() || is_another(a.extensions.back())) {
        a.extensions.push_back({extensions_, universe_.now(), c.token, {}});
        line("asks_to_extend " + text_of(extensions_++) + " " + value + " " + text_of(c.token));
    }
    a.extensions.back().nodes.insert(to.index());
}

void transition_log::heard(std::size_t client, server const& from, command const& c, reply const& answer, duration sent)
{
    if (answer.vote != vote::granted) return;
    if (c.what == verb::inspect && answer.facts && answer.facts->admitted == answer.facts->id)
        marks_heard_[client][from.index()] = answer.facts->high_water;
    auto const it = attempts_.find(c.value);
    if (it == attempts_.end() || !c.fenced) return;
    attempt& a = it->second;
    if (c.what == verb::extend) a.renewals.push_back({from.index(), sent});
    climb* answered = nullptr;
    for (climb& each : a.climbs)
        if (c.what == verb::climb && each.high == c.goal && each.sent <= sent && each.nodes.contains(from.index())) answered = &each;
    if (answered) answered->voted.insert(from.index());
    if (may_grant_tokens(c)) a.grants.emplace_back(from.index(), c.what == verb::acquire ? answer.counter : c.token);
}

std::size_t transition_log::told(attempt const& a, token_number token) const
{
    std::set<std::size_t> nodes;
    for (auto const& [node, counter] : a.grants)
        if (counter == token) nodes.insert(node);
    return nodes.size();
}

std::optional<token_number> transition_log::plausible_token(attempt const& a) const
{
    auto const enough = most_of(universe_.servers().size());
    if (a.token) return told(a, *a.token) >= enough ? a.token : std::nullopt;
    for (auto const& [node, counter] : a.grants)
        if (told(a, counter) >= enough) return counter;
    return std::nullopt;
}

void transition_log::decide(std::string const& value, attempt& a, token_number token)
{
    if (a.token == token) return;
    a.token = token;
    std::string grants;
    for (auto const& [node, counter] : a.grants) grants += " " + text_of(node) + ":" + text_of(counter);
    line("decide " + value + " " + text_of(token) + grants);
}

void transition_log::complete(std::string const& value, attempt& a, token_number token)
{
    if (a.complete && a.token == token) return;
    decide(value, a, token);
    a.complete = true;
    std::set<std::size_t> nodes;
    for (auto const& [node, counter] : a.grants)
        if (counter == token) nodes.insert(node);
    std::string text;
    for (auto const node : nodes) text += " " + text_of(node);
    line("completes " + value + text);
}

// It gives its keys back, or its time is over. Nobody saw whether it completed: if a majority granted, it counts as complete.
void transition_log::settle(std::string const& value, attempt& a)
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
    line("gives_up " + value);
}

// A message that waited in the client's queue is of the climb that was under way then.
void transition_log::begin_to_climb(std::string const& value, attempt& a, process const& p, server const& to, command const& c)
{
    auto const now = p.clock.at(universe_.now());
    auto const is_of = [&](climb const& last) {
        return !last.over && last.low == c.token && last.high == c.goal && now < last.ends && !last.nodes.contains(to.index());
    };
    if (a.climbs.empty() || !is_of(a.climbs.back())) {
        // The guard that it begins from says whether those before have succeeded.
        for (climb& each : a.climbs) {
            if (each.over) continue;
            if (each.high <= c.token) settle_climb(value, a, each);
            else line("climb_ends " + text_of(each.number));
            each.over = true;
        }
        a.climbs.push_back({climbs_, universe_.now(), c.token, c.goal, now + validity_of(c.ttl)});
        line("begins_to_climb " + text_of(climbs_++) + " " + value + " " + text_of(c.token) + " " + text_of(c.goal));
    }
    a.climbs.back().nodes.insert(to.index());
}

void transition_log::climbed(std::string const& value, attempt& a, climb& c)
{
    c.over = true;
    a.guard = c.high;
    std::string text;
    for (auto const node : c.voted) text += " " + text_of(node);
    line("has_climbed " + text_of(c.number) + " " + value + text);
}

// It has ended. Nobody saw whether it succeeded: if a majority granted, it counts as a success.
void transition_log::settle_climb(std::string const& value, attempt& a, climb& c)
{
    if (c.over) return;
    if (c.voted.size() >= most_of(universe_.servers().size())) return climbed(value, a, c);
    c.over = true;
    line("climb_ends " + text_of(c.number));
}

void transition_log::give_up_what_is_late()
{
    for (auto& [value, a] : attempts_) {
        auto const& p = universe_.processes()[a.client];
        for (climb& each : a.climbs)
            if (!p || p->clock.at(universe_.now()) >= each.ends) settle_climb(value, a, each);
        if (a.complete || a.over) continue;
        if (!p || p->clock.at(universe_.now()) >= a.ends) settle(value, a);
    }
}

void transition_log::killed(std::size_t client)
{
    for (auto& [value, a] : attempts_)
        if (a.client == client) settle(value, a);
    for (auto& [value, a] : attempts_)
        for (climb& each : a.climbs)
            if (a.client == client) settle_climb(value, a, each);
}

void transition_log::held(std::string const& value, token_number first, token_number last)
{
    auto const it = attempts_.find(value);
    if (it == attempts_.end()) return line("holds " + or_dash(value) + " " + text_of(first) + " " + text_of(last));
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
    line("holds " + value + " " + text_of(first) + " " + text_of(last));
}

void transition_log::moved_on(std::string const& value, duration since)
{
    auto const it = attempts_.find(value);
    if (it == attempts_.end()) return;
    attempt const& a = it->second;
    if (a.sent + rounding >= since) return;  // it stands on its acquires
    auto const e = std::find_if(a.extensions.begin(), a.extensions.end(), [&](extension const& x) { return x.sent + rounding >= since; });
    if (e == a.extensions.end()) return line("is_extended - " + value);
    std::set<std::size_t> nodes;
    for (renewal const& r : a.renewals)
        if (r.sent >= e->sent) nodes.insert(r.node);
    std::string text;
    for (auto const node : nodes) text += " " + text_of(node);
    line("is_extended " + text_of(e->number) + " " + value + text);
}

}  // namespace redlock::simulation
