#include "testing/shared_model.hpp"

#include "protocol/fence_answers.hpp"
#include "protocol/semaphore.hpp"
#include "protocol/shared_scripts.hpp"
#include "testing/model_replies.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>
#include <vector>

namespace redlock::testing {

using namespace detail;

namespace {

constexpr token_number token_limit = token_number{1} << 53;

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

reply shared_model::execute(command const& c, time_point now, std::string_view learned)
{
    lease const l{c.key, c.value, c.token, c.ttl, c.retention, true, c.refresh, c.was_writer};
    switch (c.what) {
    case verb::acquire: {
        std::optional<token_number> since;
        if (c.more().since >= 0) since = static_cast<token_number>(c.more().since);
        return to_reply(acquire(learned, {c.key, c.value, c.ttl, c.retention, c.token, since}, now));
    }
    case verb::confirm: return to_reply({confirm(learned, l, now), 0});
    case verb::extend: {
        int const said = extend(learned, l, now);
        return said == 2 ? recreated() : to_reply({said, 0});
    }
    case verb::release: return release(c.key, c.value, now) == 1 ? granted() : refused();
    case verb::want: return want(c.key, c.value, c.ttl, now) == 1 ? granted() : refused();
    case verb::climb:
    case verb::adopt:
    case verb::watch:
    case verb::inspect:
    case verb::claim:
    case verb::mark:
    case verb::admit:
    case verb::publish:
    case verb::inherit:
    case verb::peek:
    case verb::keep:
    case verb::look: break;
    }
    return refused();
}

redis_model::entry* shared_model::find(std::string_view name, time_point now)
{
    server_.notice(name, now);
    return server_.find(name, now);
}

// Nothing: the counter's key holds something else.
std::optional<token_number> shared_model::counter_of(std::string_view name, time_point now)
{
    auto const* const fence = server_.find_counter(name, now);
    return fence ? fence->value : server_.high_water;
}

void shared_model::enter(std::string_view name, std::string_view value, redis_model::reader_set readers, std::chrono::milliseconds ttl,
                         time_point now)
{
    auto const ends = in_milliseconds(now) + ttl;
    auto const* const before = server_.find(name, now);
    bool const longer = before && before->readers && before->expires && *before->expires > ends;
    auto const expires = longer ? *before->expires : ends;
    readers.ends[std::string{value}] = ends;
    redis_model::entry e{std::string{name}, {}, expires};
    e.readers = std::move(readers);
    server_.put(std::move(e));
}

shared_model::answer shared_model::acquire(std::string_view id, reader const& r, time_point now)
{
    if (!server_.remembers(id)) return {fence_not_admitted, 0};
    if (r.ttl > server_.record->max_ttl) return {fence_ttl_too_long, static_cast<token_number>(server_.record->max_ttl.count())};
    auto const* const there = find(r.name, now);
    auto const counter = counter_of(r.name, now);
    if (!counter) return {fence_no_counter, 0};
    if (there && !there->readers) return {fence_refused, *counter};
    auto set = there ? *there->readers : redis_model::reader_set{};
    bool const is_in_line = r.since && *r.since == (there ? set.epoch : *counter);
    if (find(want_key(r.name), now) && !is_in_line && !set.ends.contains(std::string{r.value})) return {shared_writer_waits, *counter};
    token_number const base = server_.record->base;
    token_number const last = std::max(*counter, base);
    token_number token = last;
    bool const is_new = !there || *counter <= base;
    if (is_new || *counter <= server_.record->new_tokens_above()) {
        token = std::max(last, server_.record->new_tokens_above()) + 1;
        if (r.floor > token && server_.floor_counts(r.floor, now)) token = r.floor;
        if (token >= token_limit) return {fence_used_up, 0};
        if (is_new) set.epoch = last;
    }
    if (token != *counter) server_.set_counter(r.name, token, r.retention, now);
    std::erase_if(set.ends, [&](auto const& each) { return each.second <= in_milliseconds(now); });
    enter(r.name, r.value, std::move(set), r.ttl, now);
    return {1, token};
}

int shared_model::confirm(std::string_view id, lease const& l, time_point now)
{
    if (!server_.remembers(id)) return fence_not_admitted;
    auto const* const there = find(l.name, now);
    if (!there || !there->readers || !there->readers->ends.contains(std::string{l.value})) return fence_refused;
    auto const counter = counter_of(l.name, now);
    if (!counter) return fence_no_counter;
    if (there->readers->epoch >= l.token || server_.record->base > l.token) return fence_overtaken;
    if (*counter < l.token) server_.set_counter(l.name, l.token, l.retention, now);
    return 1;
}

int shared_model::extend(std::string_view id, lease const& l, time_point now)
{
    if (!server_.remembers(id)) return fence_not_admitted;
    if (l.ttl > server_.record->max_ttl) return fence_ttl_too_long;
    auto const* const there = find(l.name, now);
    bool const ours = there && !there->readers && there->value == l.value;
    if (there && !there->readers && !ours) return fence_refused;
    auto const counter = counter_of(l.name, now);
    if (!counter) return fence_no_counter;
    bool const is_set = there && there->readers;
    if (server_.record->base > l.token || (is_set ? there->readers->epoch : *counter) > l.token) return fence_overtaken;
    bool const is_there = ours || (is_set && there->readers->ends.contains(std::string{l.value}));
    if (!is_there && !l.recreate) return fence_refused;
    auto set = is_set ? *there->readers : redis_model::reader_set{ours ? l.token : std::max(*counter, server_.record->base), {}};
    token_number const least = l.token + (l.was_writer ? 1 : 0);
    if (*counter < least) {
        server_.set_counter(l.name, least, l.retention, now);
    } else if (auto* const fence = server_.find_counter(l.name, now); fence && l.refresh) {
        fence->expires = in_milliseconds(now) + l.retention;
    }
    enter(l.name, l.value, std::move(set), l.ttl, now);
    return is_there ? 1 : 2;
}

int shared_model::release(std::string_view name, std::string_view value, time_point now)
{
    auto* const there = find(name, now);
    if (!there) return 0;
    if (!there->readers) {
        if (there->value != value) return 0;
        server_.del(name);
        return 1;
    }
    auto left = *there;
    if (left.readers->ends.erase(std::string{value}) == 0) return 0;
    if (left.readers->ends.empty()) {
        server_.del(name);
        return 1;
    }
    auto const later = [](auto const& a, auto const& b) { return a.second < b.second; };
    left.expires = std::max_element(left.readers->ends.begin(), left.readers->ends.end(), later)->second;
    bool const is_over = *left.expires <= in_milliseconds(now);
    server_.put(std::move(left));
    if (is_over) server_.del(name);
    return 1;
}

int shared_model::want(std::string_view name, std::string_view who, std::chrono::milliseconds ttl, time_point now)
{
    if (!find(name, now)) return 0;
    server_.set(want_key(name), who, ttl, now);
    return 1;
}

// A record that is nobody's: version 0.
std::optional<semaphore_model::record> semaphore_model::kept(std::string_view name, time_point now)
{
    server_.notice(permits_key(name), now);
    auto const* const there = server_.find(permits_key(name), now);
    if (!there) return {};
    record r;
    std::istringstream text{there->value};
    text >> r.version >> r.permits;
    return r;
}

void semaphore_model::keep(std::string_view name, record const& r, std::chrono::milliseconds retention, time_point now)
{
    server_.set(permits_key(name), std::to_string(r.version) + " " + std::to_string(r.permits), retention, now);
}

void semaphore_model::keep_longer(std::string_view name, std::chrono::milliseconds retention, time_point now)
{
    auto* const there = server_.find(permits_key(name), now);
    auto const until = in_milliseconds(now) + retention;
    if (there && (!there->expires || *there->expires < until)) there->expires = until;
}

semaphore_model::answer semaphore_model::repeated(request const& r, std::string const& map, time_point now)
{
    token_number counter = 0;
    bool even = true;
    std::size_t ours = 0;
    for (std::size_t i = 0; i < map.size(); ++i) {
        if (map[i] != '2') continue;
        auto const* const fence = server_.find_counter(r.slots[i], now);
        token_number const c = fence ? fence->value.value_or(0) : *server_.high_water;
        even = even && (ours == 0 || c == counter);
        counter = c;
        ++ours;
    }
    if (ours == r.count && even && counter > 0) return {1, counter, map};
    return {0, *server_.high_water, map};
}

semaphore_model::answer semaphore_model::acquire(std::string_view id, request const& r, time_point now)
{
    if (!server_.remembers(id)) return {fence_not_admitted, 0};
    if (r.ttl > server_.record->max_ttl) return {fence_ttl_too_long, static_cast<token_number>(server_.record->max_ttl.count())};
    auto const k = kept(r.name, now);
    if (k && k->version == 0) return {fence_no_counter, 0};
    bool const newer = !k || r.version > k->version;
    if (k && k->permits != r.permits && !newer) return {semaphore_other_permits, k->permits, std::to_string(k->version)};
    auto a = choose(r, newer, now);
    if (a.map != "-") a.version = newer ? r.version : k->version;
    return a;
}

semaphore_model::answer semaphore_model::choose(request const& r, bool newer, time_point now)
{
    std::string map(r.slots.size(), '0');
    std::vector<std::size_t> chosen;
    bool ours = false;
    token_number counter = 0;
    for (std::size_t i = 0; i < r.slots.size(); ++i) {
        server_.notice(r.slots[i], now);
        auto const* const there = server_.find(r.slots[i], now);
        if (there) map[i] = there->value == r.value ? '2' : '1';
        ours = ours || map[i] == '2';
    }
    auto free = static_cast<std::size_t>(std::count(map.begin(), map.end(), '0'));
    if (newer && (ours || free >= r.count)) keep(r.name, {r.version, r.permits}, r.retention, now);
    if (ours) return repeated(r, map, now);
    for (std::size_t i = 0; i < r.slots.size() && chosen.size() < r.count && chosen.size() + free >= r.count; ++i) {
        auto const slot = (r.from + i) % r.slots.size();
        if (map[slot] != '0') continue;
        --free;
        auto const* const fence = server_.find_counter(r.slots[slot], now);
        if (fence && !fence->value) {
            map[slot] = '1';
            continue;
        }
        counter = std::max(counter, fence ? *fence->value : *server_.high_water);
        chosen.push_back(slot);
    }
    token_number const last = std::max(counter, server_.record->new_tokens_above());
    token_number token = last + r.block;
    if (r.floor > token && server_.floor_counts(r.floor, now)) token = r.floor;
    if (!(token > last && token < token_limit)) return {fence_used_up, 0};
    if (chosen.size() < r.count || r.count == 0) return {0, *server_.high_water, map};
    for (std::size_t const slot : chosen) {
        server_.set(r.slots[slot], r.value, r.ttl, now);
        server_.set_counter(r.slots[slot], token, r.retention, now);
        map[slot] = '2';
    }
    keep_longer(r.name, r.retention, now);
    return {1, token, map};
}

bool semaphore_model::extends(command const& c, std::string_view learned, time_point now)
{
    if (!server_.remembers(learned)) return true;
    auto const name = name_of(c.more().permits_key);
    auto const k = kept(name, now);
    if (!k || (k->version > 0 && c.more().version > k->version)) {
        keep(name, {c.more().version, c.permits}, c.retention, now);
        return true;
    }
    if (k->version > 0) keep_longer(name, c.retention, now);
    return k->version > 0 && k->permits == c.permits;
}

semaphore_model::answer semaphore_model::keep(std::string_view id, std::string_view name, std::uint64_t version, std::uint64_t permits,
                                              std::chrono::milliseconds retention, time_point now)
{
    if (!server_.remembers(id)) return {fence_not_admitted, 0, "0"};
    auto const k = kept(name, now);
    if (k && k->version == 0) return {fence_no_counter, 0, "0"};
    if (k && (version < k->version || (version == k->version && permits != k->permits))) return {0, k->permits, std::to_string(k->version)};
    keep(name, {version, permits}, retention, now);
    return {1, permits, std::to_string(version)};
}

semaphore_model::answer semaphore_model::look(std::string_view name, std::span<std::string const> slots, time_point now)
{
    auto const k = kept(name, now).value_or(record{});
    answer a{1, k.permits, {}, k.version};
    for (std::string const& slot : slots) {
        server_.notice(slot, now);
        a.map += server_.find(slot, now) ? '1' : '0';
    }
    return a;
}

reply semaphore_model::execute(command const& c, time_point now, std::string_view learned)
{
    answer said;
    if (c.what == verb::keep) {
        said = keep(learned, name_of(c.key), c.more().version, c.permits, c.retention, now);
        if (said.code == 0 || said.code == 1) said.version = std::stoull(said.map);
    } else if (c.what == verb::look) {
        said = look(name_of(c.key), c.others, now);
    } else {
        std::vector<std::string> slots{std::string{c.key}};
        slots.insert(slots.end(), c.others.begin(), c.others.end());
        said = acquire(learned,
                       {name_of(c.more().permits_key), slots, c.value, c.ttl, c.retention, c.token, c.block, c.permits, c.more().wanted,
                        c.more().from, c.more().version},
                       now);
    }
    if (said.code == detail::semaphore_other_permits) {
        reply r{vote::failed, errc::permits_differ, "it keeps " + std::to_string(said.number)};
        r.set_slots({0, 0, std::stoull(said.map), static_cast<std::uint32_t>(said.number)});
        return r;
    }
    reply r = to_reply(shared_model::answer{said.code, said.number});
    if (r.vote == vote::failed) return r;
    detail::slots_answer slots{0, 0, said.version, 0};
    if (c.what != verb::acquire) {
        slots.permits = static_cast<std::uint32_t>(said.number);
        r.counter = 0;
    }
    for (std::size_t i = 0; c.what != verb::keep && i < said.map.size(); ++i) {
        if (said.map[i] == '0') slots.free |= quorum::only_slot(i);
        if (said.map[i] == '2') slots.ours |= quorum::only_slot(i);
    }
    r.set_slots(slots);
    return r;
}

}  // namespace redlock::testing
