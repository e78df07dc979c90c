#include "server_transitions.hpp"

#include "recorder.hpp"

#include <algorithm>
#include <utility>

namespace redlock::simulation {

using detail::command;
using detail::reply;
using detail::verb;

void server_transitions::begin(server& s)
{
    known_.push_back(look(s));
    to_.line("node " + text_of(s.index()), changes({}, known_.back()));
}

void server_transitions::add_names(command const& c)
{
    for (std::size_t i = 0; i < c.key_count(); ++i)
        if (!c.key_at(i).empty()) names_.emplace(c.key_at(i));
}

// As it is stored, so that what has expired and was not noticed yet is there: a clock that is set back may show it again.
server_transitions::picture server_transitions::look(server& s) const
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

std::string server_transitions::changes(picture const& before, picture const& now)
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

void server_transitions::catch_up(server& s, command const* before_this)
{
    if (before_this) add_names(*before_this);
    auto& before = known_[s.index()];
    auto now = look(s);
    bool const same_server = before.id == now.id;
    bool const same_record = before.record == now.record && before.mark == now.mark && before.base == now.base &&
                             before.high_water == now.high_water && before.max_ttl == now.max_ttl;
    if (same_server && same_record) {
        say_single_changes(s, before, now);
    } else {
        to_.line((same_server ? "is_wiped " : "restarts ") + text_of(s.index()), changes(before, now));
    }
    before = std::move(now);
}

void server_transitions::say_single_changes(server const& s, picture const& before, picture const& now)
{
    auto const n = text_of(s.index());
    for (std::string const& name : names_) {
        auto const key = now.keys.find(name);
        auto const old_key = before.keys.find(name);
        bool const had = old_key != before.keys.end();
        if (key == now.keys.end() && had) to_.line("key_vanishes " + n + " " + name);
        if (key != now.keys.end() && (!had || old_key->second.value != key->second.value))
            to_.line("somebody_else_sets_a_key " + n + " " + name + " " + key->second.value);
        auto const counter = now.counters.find(name);
        auto const old_counter = before.counters.find(name);
        bool const counted = old_counter != before.counters.end();
        if (counter == now.counters.end() && counted) to_.line("counter_vanishes " + n + " " + name);
        if (counter != now.counters.end() && (!counted || old_counter->second.value != counter->second.value))
            to_.line("unexplained " + n + " a counter", changes(before, now));
    }
}

bool server_transitions::is_gone(server const& s, std::optional<time_point> expires) const
{
    if (!expires) return false;
    testing::redis_model::entry e;
    e.expires = expires;
    return s.time() >= s.memory.gone_at(e);
}

// Before the command did anything, it found that these had expired.
void server_transitions::say_what_expired(server& s, command const& c, picture& before, picture const& now)
{
    for (std::size_t i = 0; i < c.key_count(); ++i) {
        std::string const name{c.key_at(i)};
        auto const key = before.keys.find(name);
        auto const new_key = now.keys.find(name);
        auto const same = [&](auto const& x, auto const& y) { return x.value == y.value && x.expires == y.expires; };
        if (key != before.keys.end() && is_gone(s, key->second.expires) &&
            (new_key == now.keys.end() || !same(key->second, new_key->second))) {
            to_.line("key_vanishes " + text_of(s.index()) + " " + name);
            before.keys.erase(key);
        }
        auto const counter = before.counters.find(name);
        auto const new_counter = now.counters.find(name);
        if (counter != before.counters.end() && is_gone(s, counter->second.expires) &&
            (new_counter == now.counters.end() || !same(counter->second, new_counter->second))) {
            to_.line("counter_vanishes " + text_of(s.index()) + " " + name);
            before.counters.erase(counter);
        }
    }
}

void server_transitions::executed(server& s, command const& c, std::string_view learned, reply const& answer,
                                  std::optional<std::size_t> client, duration sent)
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
        changed_each(s, c, learned, sent, before, now, granted);
    } else if (c.fenced && c.what == verb::acquire && granted) {
        to_.line("acquire " + n + " " + value + " " + text_of(answer.counter) + " " + id, changed);
    } else if (c.fenced && c.what == verb::confirm && granted) {
        to_.line("confirm " + n + " " + value + " " + text_of(c.token) + " " + id, changed);
    } else if (c.what == verb::mark && granted) {
        auto const who = client ? text_of(*client) : "-";
        auto const machine = client && machines_.contains(*client) ? text_of(machines_[*client]) : "-";
        to_.line("marks " + n + " " + answer.words() + " " + std::string{c.more().id} + " " + text_of(quarantines_++) + " " + who + " " +
                     machine,
                 changed);
    } else if (c.what == verb::admit && granted && !changed.empty()) {
        to_.line("is_admitted " + n + " " + std::string{c.more().id} + " " + value + " " + text_of(c.token) + " " +
                     std::to_string(c.ttl.count()),
                 changed);
    } else if (c.what == verb::inspect && granted && answer.facts() && answer.facts()->master && client) {
        clients_.give_up_what_is_late();
        auto const& facts = *answer.facts();
        to_.line("reads " + n + " " + text_of(*client) + " " + facts.id + " " + or_dash(facts.admitted) + " " + or_dash(facts.mark) + " " +
                     text_of(facts.high_water) + " " + std::to_string(facts.max_ttl / 1ms),
                 changed);
    } else if (c.what == verb::release || (!c.fenced && (c.what == verb::acquire || c.what == verb::extend))) {
        auto const without_locks = [](picture p) {
            p.keys.clear();
            p.counters.clear();
            return p;
        };
        auto const other = changes(without_locks(before), without_locks(now));
        if (!other.empty()) to_.line("unexplained " + n + " " + to_string(c.what), other);
        say_single_changes(s, before, now);
    } else if (!changed.empty()) {
        to_.line("unexplained " + n + " " + std::string{to_string(c.what)} + " " + or_dash(value) + (granted ? " granted" : " not granted"),
                 changed);
    }
    before = std::move(now);
}

// Each name by itself. What is not granted may have changed some of them nevertheless.
void server_transitions::changed_each(server const& s, command const& c, std::string_view learned, duration sent, picture& before,
                                      picture const& now, bool granted)
{
    auto const n = text_of(s.index());
    std::string const verb = to_string(c.what);
    auto const number = clients_.number_of(s, c, sent);
    for (std::size_t i = 0; i < c.key_count(); ++i) {
        std::string const name{c.key_at(i)};
        auto next = before;
        if (auto const it = now.keys.find(name); it != now.keys.end()) next.keys[name] = it->second;
        if (auto const it = now.counters.find(name); it != now.counters.end()) next.counters[name] = it->second;
        auto changed = changes(before, next);
        if (!granted && changed.empty()) continue;
        next.high_water = std::max(before.high_water, now.high_water);
        changed = changes(before, next);
        to_.line(verb + " " + n + " " + std::string{c.value} + " " + name + " " + text_of(c.token) + " " + std::string{learned} + " " +
                     number,
                 changed);
        before = std::move(next);
    }
    if (auto const rest = changes(before, now); !rest.empty()) to_.line("unexplained " + n + " " + verb + " " + std::string{c.value}, rest);
}

}  // namespace redlock::simulation
