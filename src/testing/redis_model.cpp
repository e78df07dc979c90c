#include "testing/redis_model.hpp"

#include "protocol/keys.hpp"
#include "protocol/state_text.hpp"
#include "testing/model_replies.hpp"
#include "testing/shared_model.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <memory>
#include <utility>

namespace redlock::testing {

using detail::command;
using detail::verb;

namespace {

constexpr token_number tokens_end = token_number{1} << 53;
constexpr token_number half_a_day = 43'200'000'000;  // in microseconds

int badness(reply const& r)
{
    if (r.vote == vote::granted) return 0;
    if (r.vote == vote::refused) return r.counter > 0 ? 1 : 2;
    return r.error == errc::ttl_too_long ? 4 : 3;
}

}  // namespace

reply redis_model::execute(command const& c, time_point now, std::string_view learned)
{
    assert(!c.value_bytes);  // tests give whole values
    // The real scripts compare this id with the id in the node's record, and not with the server's own.
    if (c.votes_with_tokens() && !remembers(learned)) return not_admitted();
    if (c.shared || c.what == verb::want) return shared_model{*this}.execute(c, now, learned);
    if (c.is_of_permits() && c.what != verb::extend) return semaphore_model{*this}.execute(c, now, learned);
    notice(c.key, now);
    for (std::string const& other : c.others) notice(other, now);
    switch (c.what) {
    case verb::acquire:  // SET NX PX; of several keys, all or none
        if (c.fenced) return acquire_with_tokens(c, now);
        if (is_any_there(c, now)) return refused();
        set_all(c, now);
        return granted();
    case verb::confirm: return confirm(c, now);
    case verb::extend: {
        bool const recreates = !c.is_of_permits() || semaphore_model{*this}.extends(c, learned, now);
        return worst_of_all(c, [&](std::string_view key) {
            return c.fenced ? extend_with_token(c, key, now, recreates) : extend(c, key, now);
        });
    }
    case verb::climb: return worst_of_all(c, [&](std::string_view key) { return climb(c, key, now); });
    case verb::release:  // like the script: DEL if GET returns our value
        return worst_of_all(c, [&](std::string_view key) {
            if (!is_ours(c, key, now)) return refused();
            del(key);
            return granted();
        });
    case verb::adopt: return adopt(c, now);
    case verb::watch: return watch(c, now);
    case verb::inspect: return inspected(facts(now));
    case verb::claim: return claim(c);
    case verb::mark: return mark(c, now);
    case verb::admit: return admit(c);
    case verb::publish: return publish(c, now);
    case verb::inherit: return inherit(c, now);
    case verb::peek: return peek(c, now);
    case verb::want:
    case verb::keep:
    case verb::look: break;
    }
    return refused();
}

reply redis_model::watch(command const& c, time_point now)
{
    reply r = granted();
    bool is_free = false;  // some key
    auto const look_at = [&](std::string_view key) {
        entry const* const e = find(key, now);
        if (!e) return void(is_free = true);
        auto lasts = detail::never_expires;
        if (e->expires) lasts = std::chrono::floor<std::chrono::milliseconds>(*e->expires - in_milliseconds(now));
        r.expires_in = c.any ? std::min(r.expires_in.value_or(lasts), lasts) : std::max(r.expires_in.value_or(lasts), lasts);
    };
    look_at(c.key);
    for (std::string const& other : c.others) look_at(other);
    if (c.any && is_free) r.expires_in.reset();
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
    token_number const last = std::max(before->highest, record->new_tokens_above());
    token_number token = last + c.block;
    if (c.token > token && floor_counts(c.token, now)) token = c.token;
    if (!(token > last && token < tokens_end)) return error_reply("FENCE tokens are used up");
    set_all(c, now);
    for (std::size_t i = 0; i < c.key_count(); ++i) set_counter(c.key_at(i), token, c.retention, now);
    return granted(token);
}

// Whether a client's lower bound for the next token counts: it lies in a half-day that the high-water mark has reached, or is no more than half a day
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
    former.value = c.more().former;
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

reply redis_model::extend_with_token(command const& c, std::string_view key, time_point now, bool recreates)
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
    if (!was_there && !recreates) return refused();
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
    bool const marked = fence && fence->marked && before <= c.more().goal;  // by an earlier climb of this lease
    if (record->base > c.token || (before > c.token && !marked)) return refused();  // the guard
    set_counter(key, c.more().goal, c.retention, now, true);
    return granted();
}

namespace {

std::string state_key(command const& c) { return std::string{c.key}.append(detail::published_suffix); }

}  // namespace

// Why the holder may neither publish nor inherit here.
std::optional<reply> redis_model::objection_to_state(command const& c, time_point now)
{
    if (!is_ours(c, c.key, now)) return refused();
    counter const* const fence = find_counter(c.key, now);
    if (fence && !fence->value) return no_counter();
    token_number const before = fence ? *fence->value : *high_water;
    if (record->base > c.token || (before > c.token && !(fence && fence->marked))) return refused();  // the guard
    return {};
}

reply redis_model::publish(command const& c, time_point now)
{
    if (auto const objection = objection_to_state(c, now)) return *objection;
    std::string const key = state_key(c);
    quorum::state_stamp const stamp{c.more().goal, static_cast<std::uint64_t>(c.more().since)};
    if (entry const* const old = find(key, now)) {
        auto const kept = detail::read_stamp(old->value);
        if (!kept) return {vote::failed, errc::unexpected_reply, "somebody else's data is where the state should be"};
        if (kept->rank > c.token) return refused();
        if (*kept > stamp) return granted();
    }
    set(key, (std::to_string(stamp.rank) + ' ' + std::to_string(stamp.number) + ' ').append(c.more().former), c.retention, now);
    return granted();
}

reply redis_model::inherit(command const& c, time_point now)
{
    if (auto const objection = objection_to_state(c, now)) return *objection;
    counter const* const fence = find_counter(c.key, now);
    if ((fence ? *fence->value : *high_water) < c.token) set_counter(c.key, c.token, c.retention, now);
    entry const* const kept = find(state_key(c), now);
    if (!kept) return {vote::granted, {}, {}};
    std::string const state = kept->value;
    set(state_key(c), state, c.retention, now);
    return {vote::granted, {}, state};
}

reply redis_model::peek(command const& c, time_point now)
{
    entry const* const holder = find(c.key, now);
    entry const* const kept = find(state_key(c), now);
    reply r{vote::granted, {}, detail::packed_holder(holder ? holder->value : std::string{})};
    if (kept) r.set_words(r.words() + kept->value);
    if (holder) {
        r.expires_in = detail::never_expires;
        if (holder->expires) r.expires_in = std::chrono::floor<std::chrono::milliseconds>(*holder->expires - in_milliseconds(now));
    }
    return r;
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

reply redis_model::claim(command const& c)
{
    if (!is_still(c.more().id) || (c.token > 0 && !(high_water && c.token < tokens_end - 1))) return refused();
    if (set_record == c.more().former) {
        bool const changes = set_record != c.value;
        set_record = c.value;
        auto const binding = quorum::binding_in(set_record);
        if (changes && !binding.empty() && record) {
            bool const stays = c.stays && record->id == c.more().id;
            record->id = stays ? detail::id_in_generation(binding, id) : std::string{no_id};
            if (!stays) {
                record->mark.clear();
                record->above = 0;
            } else if (c.token > 0) {
                record->mark.clear();
                record->above = std::max(record->above, c.token);
                high_water = std::max(*high_water, c.token);
            }
        }
    }
    return {set_record == c.value ? vote::granted : vote::refused, {}, set_record};
}

// The mark contains the time. So the same request, executed again after another loss of data, makes another mark.
reply redis_model::mark(command const& c, time_point now)
{
    if (!is_still(c.more().id) || !is_of_generation(c.more().id)) return refused();
    if (!record) record = node_record{std::string{no_id}, 0, {}, {}, 0};
    if (remembers(c.more().id)) return refused();
    if (record->mark.empty()) {
        record->mark = std::string{c.value} + '-' + std::to_string(now.time_since_epoch() / std::chrono::microseconds{1});
        record->above = 0;
    }
    return {vote::granted, {}, record->mark};
}

reply redis_model::admit(command const& c)
{
    if (!is_still(c.more().id) || !is_of_generation(c.more().id) || !record) return refused();
    if (remembers(c.more().id)) return granted();
    if (record->mark.empty() || record->mark != c.value) return refused();
    token_number const base = std::max({record->base, high_water.value_or(0), c.token});
    auto const max_ttl = std::max(record->max_ttl, c.ttl);
    if (base >= tokens_end - 1 || max_ttl <= max_ttl.zero()) return error_reply("FENCE the id, the base or the ttl cannot be kept");
    record = node_record{std::string{c.more().id}, base, max_ttl, {}, 0};
    high_water = base;
    return granted();
}

// Whether a client that gives this id knows the record of the set.
bool redis_model::is_of_generation(std::string_view learned) const noexcept
{
    auto const theirs = detail::is_of_generation(learned) ? learned.substr(0, quorum::set_binding_size) : std::string_view{};
    return set_record.empty() || theirs == quorum::binding_in(set_record);
}

quorum::node_facts redis_model::facts(time_point now) const
{
    quorum::node_facts f;
    f.id = detail::id_in_generation(quorum::binding_in(set_record), id);
    f.master = master;
    if (record && high_water) f.admitted = record->id;
    if (record) f.mark = record->mark;
    f.high_water = high_water.value_or(0);
    if (record) f.max_ttl = record->max_ttl;
    bool const was_admitted = record ? detail::names_server(record->id, id) || (high_water && record->id == no_id) : high_water.has_value();
    if (kept_since && !was_admitted) f.without_loss = std::max(now - *kept_since, duration::zero());
    f.set = set_record;
    return f;
}

}  // namespace redlock::testing
