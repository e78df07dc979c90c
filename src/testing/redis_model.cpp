#include "testing/redis_model.hpp"

#include "redis/fence_scripts.hpp"
#include "redis/shared_scripts.hpp"
#include "testing/shared_model.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <memory>
#include <utility>

namespace redlock::testing {

using detail::command;
using detail::reply;
using detail::verb;

namespace {

constexpr token_number tokens_end = token_number{1} << 53;
constexpr token_number half_a_day = 43'200'000'000;  // in microseconds

time_point in_milliseconds(time_point t) { return std::chrono::floor<std::chrono::milliseconds>(t); }

reply granted() { return {vote::granted, {}, {}}; }
reply granted(token_number counter) { return {vote::granted, {}, {}, counter}; }
reply recreated()
{
    reply r = granted();
    r.recreated = true;
    return r;
}
reply inspected(quorum::node_facts facts)
{
    reply r = granted();
    r.facts = std::make_shared<quorum::node_facts const>(std::move(facts));
    return r;
}
reply refused() { return {vote::refused, {}, {}}; }
reply needs_guard(token_number guard) { return {vote::refused, {}, {}, guard}; }
reply not_admitted() { return {vote::failed, errc::node_not_admitted, {}}; }
reply ttl_too_long(std::chrono::milliseconds max)
{
    return {vote::failed, errc::ttl_too_long, "the node allows " + std::to_string(max.count()) + " ms"};
}
reply no_counter() { return {vote::failed, errc::unexpected_reply, "somebody else's data is where the counter should be"}; }
reply error_reply(char const* text) { return {vote::failed, errc::server_error, text}; }

int badness(reply const& r)
{
    if (r.vote == vote::granted) return 0;
    if (r.vote == vote::refused) return r.counter > 0 ? 1 : 2;
    return r.error == errc::ttl_too_long ? 4 : 3;
}

}  // namespace

reply redis_model::execute(command const& c, time_point now, std::string_view learned)
{
    assert(c.value_end.empty());  // tests give whole values
    // The real scripts compare this id with the id in the node's record, and not with the server's own.
    if (c.votes_with_tokens() && !remembers(learned)) return not_admitted();
    if (c.shared || c.what == verb::want) return of_readers(c, now, learned);
    notice(c.key, now);
    for (std::string const& other : c.others) notice(other, now);
    switch (c.what) {
    case verb::acquire:  // SET NX PX; of several keys, all or none
        if (c.fenced) return acquire_with_tokens(c, now);
        if (is_any_there(c, now)) return refused();
        set_all(c, now);
        return granted();
    case verb::confirm: return confirm(c, now);
    case verb::extend:
        return worst_of_all(c, [&](std::string_view key) { return c.fenced ? extend_with_token(c, key, now) : extend(c, key, now); });
    case verb::climb: return worst_of_all(c, [&](std::string_view key) { return climb(c, key, now); });
    case verb::release:  // like the script: DEL if GET returns our value
        return worst_of_all(c, [&](std::string_view key) {
            if (!is_ours(c, key, now)) return refused();
            del(key);
            return granted();
        });
    case verb::adopt: return adopt(c, now);
    case verb::watch: return watch(c, now);
    case verb::inspect: return inspected(facts());
    case verb::mark: return mark(c, now);
    case verb::admit: return admit(c);
    case verb::want: break;
    }
    return refused();
}

namespace {

reply to_reply(shared_model::answer const& said)
{
    reply r = refused();
    switch (said.code) {
    case 1: return granted(said.number);
    case detail::fence_refused: break;
    case detail::shared_writer_waits: r.writer_waits = true; break;
    case detail::fence_overtaken: break;
    case detail::fence_not_admitted: return not_admitted();
    case detail::fence_ttl_too_long: return ttl_too_long(std::chrono::milliseconds{said.number});
    case detail::fence_no_counter: return no_counter();
    default: return error_reply("FENCE tokens are used up");
    }
    r.counter = said.number;
    return r;
}

}  // namespace

reply redis_model::of_readers(command const& c, time_point now, std::string_view learned)
{
    shared_model readers{*this};
    shared_model::lease const lease{c.key, c.value, c.token, c.ttl, c.retention, true, c.refresh, c.was_writer};
    switch (c.what) {
    case verb::acquire: {
        std::optional<token_number> since;
        if (c.since >= 0) since = static_cast<token_number>(c.since);
        return to_reply(readers.acquire(learned, {c.key, c.value, c.ttl, c.retention, c.token, since}, now));
    }
    case verb::confirm: return to_reply({readers.confirm(learned, lease, now), 0});
    case verb::extend: {
        int const said = readers.extend(learned, lease, now);
        return said == 2 ? recreated() : to_reply({said, 0});
    }
    case verb::release: return readers.release(c.key, c.value, now) == 1 ? granted() : refused();
    case verb::want: return readers.want(c.key, c.value, c.ttl, now) == 1 ? granted() : refused();
    case verb::climb:
    case verb::adopt:
    case verb::watch:
    case verb::inspect:
    case verb::mark:
    case verb::admit: break;
    }
    return refused();
}

reply redis_model::watch(command const& c, time_point now)
{
    reply r = granted();
    auto const look_at = [&](std::string_view key) {
        entry const* const e = find(key, now);
        if (!e) return;
        auto lasts = detail::never_expires;
        if (e->expires) lasts = std::chrono::floor<std::chrono::milliseconds>(*e->expires - in_milliseconds(now));
        r.expires_in = std::max(r.expires_in.value_or(lasts), lasts);
    };
    look_at(c.key);
    for (std::string const& other : c.others) look_at(other);
    return r;
}

reply redis_model::acquire_with_tokens(command const& c, time_point now)
{
    if (c.ttl > record->max_ttl) return ttl_too_long(record->max_ttl);
    auto const before = counters_of(c, now);
    if (!before) return no_counter();
    if (is_any_there(c, now)) {
        reply r = are_all_ours(c, now) && before->lowest == before->highest ? granted() : refused();
        r.counter = before->highest;
        return r;
    }
    token_number const last = std::max(before->highest, record->base);
    token_number token = last + c.block;
    if (c.token > token && floor_counts(c.token, now)) token = c.token;
    if (!(token > last && token < tokens_end)) return error_reply("FENCE tokens are used up");
    set_all(c, now);
    for (std::size_t i = 0; i < c.key_count(); ++i) set_counter(c.key_at(i), token, c.retention, now);
    return granted(token);
}

// Whether a client's floor for the next token counts: it lies in a half-day that the high-water mark has reached, or is no more than half a day
// ahead of the server's clock.
bool redis_model::floor_counts(token_number floor, time_point now) const
{
    auto const seconds = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch();
    auto const clock = static_cast<token_number>(std::chrono::microseconds{seconds}.count());
    return floor - floor % half_a_day <= *high_water || floor <= clock + half_a_day;
}

reply redis_model::confirm(command const& c, time_point now)
{
    if (!are_all_ours(c, now)) return refused();
    auto const before = counters_of(c, now);
    if (!before) return no_counter();
    if (before->highest > c.token || record->base > c.token) return refused();  // the guard
    for (std::size_t i = 0; i < c.key_count(); ++i) set_counter(c.key_at(i), c.token, c.retention, now);
    return granted();
}

// All locks have the former value; or all of them the new one, when the request comes again.
reply redis_model::adopt(command const& c, time_point now)
{
    if (c.fenced && c.ttl > record->max_ttl) return ttl_too_long(record->max_ttl);
    command former = c;
    former.value = c.former;
    bool const again = are_all_ours(c, now);
    if (!again && !are_all_ours(former, now)) return refused();
    if (c.fenced) {
        if (record->base > c.token) return refused();
        auto const before = counters_of(c, now);
        if (!before) return no_counter();
        if (before->highest > c.token + (again ? 1 : 0)) return refused();
        if (c.token + 1 >= tokens_end) return error_reply("FENCE tokens are used up");
        for (std::size_t i = 0; i < c.key_count(); ++i) set_counter(c.key_at(i), c.token + 1, c.retention, now);
    }
    set_all(c, now);
    return granted();
}

// Like the script for extensions without tokens: PEXPIRE if GET returns our value.
reply redis_model::extend(command const& c, std::string_view key, time_point now)
{
    if (!is_ours(c, key, now)) return refused();
    renew(*find(key, now), c.ttl, now);
    return granted();
}

reply redis_model::extend_with_token(command const& c, std::string_view key, time_point now)
{
    if (c.ttl > record->max_ttl) return ttl_too_long(record->max_ttl);
    entry* const holder = find(key, now);
    if (holder && holder->value != c.value) return refused();
    counter* const fence = find_counter(key, now);
    if (fence && !fence->value) return no_counter();
    token_number const before = fence ? *fence->value : *high_water;
    bool const marked = holder && fence && fence->marked && before > c.token;  // by a climb of this lease
    if (record->base > c.token || (before > c.token && !marked)) return needs_guard(std::max(before, record->base));
    bool const was_there = holder != nullptr;
    if (was_there) {
        renew(*holder, c.ttl, now);
    } else {
        set(key, c.value, c.ttl, now);
    }
    if (!marked && (!fence || fence->marked || before != c.token)) {
        set_counter(key, c.token, c.retention, now);
    } else if (c.refresh) {
        fence->expires = in_milliseconds(now) + c.retention;
    }
    return was_there ? granted() : recreated();
}

reply redis_model::climb(command const& c, std::string_view key, time_point now)
{
    if (c.ttl > record->max_ttl) return ttl_too_long(record->max_ttl);
    if (!is_ours(c, key, now)) return refused();
    counter const* const fence = find_counter(key, now);
    if (fence && !fence->value) return no_counter();
    token_number const before = fence ? *fence->value : *high_water;
    bool const marked = fence && fence->marked && before <= c.goal;  // by an earlier climb of this lease
    if (record->base > c.token || (before > c.token && !marked)) return refused();  // the guard
    set_counter(key, c.goal, c.retention, now, true);
    return granted();
}

// Executes the command for each key on its own. The command gets the worst of the replies.
template <class F>
reply redis_model::worst_of_all(command const& c, F one)
{
    reply worst = one(c.key);
    for (std::string const& key : c.others) {
        reply r = one(key);
        bool const recreated = worst.recreated || r.recreated;
        if (badness(r) > badness(worst) || (badness(r) == badness(worst) && r.counter > worst.counter)) worst = std::move(r);
        worst.recreated = recreated;
    }
    return worst;
}

bool redis_model::is_ours(command const& c, std::string_view key, time_point now)
{
    entry const* const found = find(key, now);
    return found && found->value == c.value;
}

bool redis_model::are_all_ours(command const& c, time_point now)
{
    for (std::size_t i = 0; i < c.key_count(); ++i)
        if (!is_ours(c, c.key_at(i), now)) return false;
    return true;
}

bool redis_model::is_any_there(command const& c, time_point now)
{
    for (std::size_t i = 0; i < c.key_count(); ++i)
        if (find(c.key_at(i), now)) return true;
    return false;
}

void redis_model::set_all(command const& c, time_point now)
{
    for (std::size_t i = 0; i < c.key_count(); ++i) set(c.key_at(i), c.value, c.ttl, now);
}

// Returns nothing if one of the counters holds no number.
std::optional<redis_model::extremes> redis_model::counters_of(command const& c, time_point now)
{
    extremes all{tokens_end, 0};
    for (std::size_t i = 0; i < c.key_count(); ++i) {
        counter const* const fence = find_counter(c.key_at(i), now);
        if (fence && !fence->value) return {};
        token_number const one = fence ? *fence->value : *high_water;
        all = {std::min(all.lowest, one), std::max(all.highest, one)};
    }
    return all;
}

// The mark contains the time. So the same request, executed again after another loss of data, makes another mark.
reply redis_model::mark(command const& c, time_point now)
{
    if (!is_still(c.id)) return refused();
    if (!record) record = node_record{std::string{no_id}, 0, {}, {}};
    if (remembers(id)) return refused();
    if (record->mark.empty())
        record->mark = std::string{c.value} + '-' + std::to_string(now.time_since_epoch() / std::chrono::microseconds{1});
    return {vote::granted, {}, record->mark};
}

reply redis_model::admit(command const& c)
{
    if (!is_still(c.id) || !record) return refused();
    if (remembers(id)) return granted();
    if (record->mark.empty() || record->mark != c.value) return refused();
    token_number const base = std::max({record->base, high_water.value_or(0), c.token});
    auto const max_ttl = std::max(record->max_ttl, c.ttl);
    if (base >= tokens_end - 1 || max_ttl <= max_ttl.zero()) return error_reply("FENCE the id, the base or the ttl cannot be kept");
    record = node_record{id, base, max_ttl, {}};
    high_water = base;
    return granted();
}

quorum::node_facts redis_model::facts() const
{
    quorum::node_facts f;
    f.id = id;
    f.master = master;
    if (record && high_water) f.admitted = record->id;
    if (record) f.mark = record->mark;
    f.high_water = high_water.value_or(0);
    if (record) f.max_ttl = record->max_ttl;
    return f;
}

redis_model::entry* redis_model::find(std::string_view key, time_point now)
{
    auto const it = std::find_if(entries_.begin(), entries_.end(), [&](entry const& e) { return e.key == key; });
    return it == entries_.end() || has_expired(it->expires, now) ? nullptr : &*it;
}

redis_model::entry const* redis_model::stored(std::string_view key) const
{
    auto const it = std::find_if(entries_.begin(), entries_.end(), [&](entry const& e) { return e.key == key; });
    return it == entries_.end() ? nullptr : &*it;
}

void redis_model::notice(std::string_view key, time_point now)
{
    entry const* const e = stored(key);
    if (e && has_expired(e->expires, now)) del(key);
}

void redis_model::expire(time_point now)
{
    std::vector<std::string> gone;
    for (entry const& e : entries_)
        if (has_expired(e.expires, now)) gone.push_back(e.key);
    for (std::string const& key : gone) del(key);
}

void redis_model::renew(entry& e, duration ttl, time_point now)
{
    e.expires = in_milliseconds(now) + ttl;
    changed(e.key);
}

void redis_model::changed(std::string_view key) const
{
    if (on_change) on_change(key);
}

redis_model::counter* redis_model::find_counter(std::string_view name, time_point now)
{
    auto const it = std::find_if(counters_.begin(), counters_.end(), [&](counter const& c) { return c.name == name; });
    if (it == counters_.end()) return nullptr;
    if (has_expired(it->expires, now)) {
        counters_.erase(it);
        return nullptr;
    }
    return &*it;
}

void redis_model::set(std::string_view key, std::string_view value, std::optional<duration> ttl, time_point now)
{
    auto const expires = ttl ? std::optional{in_milliseconds(now) + *ttl} : std::nullopt;
    put({std::string{key}, std::string{value}, expires});
}

void redis_model::put(entry e)
{
    std::erase_if(entries_, [&](entry const& each) { return each.key == e.key; });
    entries_.push_back(std::move(e));
    changed(entries_.back().key);
}

void redis_model::set_counter(std::string_view name, token_number value, duration retention, time_point now, bool marked)
{
    auto const expires = in_milliseconds(now) + retention;
    if (counter* const fence = find_counter(name, now)) {
        fence->value = value;
        fence->expires = expires;
        fence->marked = marked;
    } else {
        counters_.push_back({std::string{name}, value, expires, marked});
    }
    high_water = std::max(*high_water, value);
}

void redis_model::del(std::string_view key)
{
    std::string const gone{key};  // a copy: `key` may refer to the entry that is erased
    if (std::erase_if(entries_, [&](entry const& e) { return e.key == gone; }) > 0) changed(gone);
}

void redis_model::del_counter(std::string_view name)
{
    std::erase_if(counters_, [&](counter const& c) { return c.name == name; });
}

void redis_model::spoil_counter(std::string_view name)
{
    del_counter(name);
    counters_.push_back({std::string{name}, {}, {}});
}

void redis_model::flush_all()
{
    entries_.clear();
    counters_.clear();
    record.reset();
    high_water.reset();
    changed({});
}

std::vector<redis_model::entry> redis_model::entries(time_point now) const
{
    auto there = entries_;
    std::erase_if(there, [&](entry const& e) { return has_expired(e.expires, now); });
    return there;
}

}  // namespace redlock::testing
