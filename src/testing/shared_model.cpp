#include "testing/shared_model.hpp"

#include "redis/fence_scripts.hpp"
#include "redis/semaphore_scripts.hpp"
#include "redis/shared_scripts.hpp"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <utility>
#include <vector>

namespace redlock::testing {

using namespace detail;

namespace {

constexpr token_number token_limit = token_number{1} << 53;

time_point whole_milliseconds(time_point t) { return std::chrono::floor<std::chrono::milliseconds>(t); }

}  // namespace

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
    auto const ends = whole_milliseconds(now) + ttl;
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
    token_number const last = std::max(*counter, server_.record->base);
    token_number token = last;
    if (!there || *counter <= server_.record->base) {
        token = last + 1;
        if (r.floor > token && server_.floor_counts(r.floor, now)) token = r.floor;
        if (token >= token_limit) return {fence_used_up, 0};
        set.epoch = last;
    }
    if (token != *counter) server_.set_counter(r.name, token, r.retention, now);
    std::erase_if(set.ends, [&](auto const& each) { return each.second <= whole_milliseconds(now); });
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
        fence->expires = whole_milliseconds(now) + l.retention;
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
    bool const is_over = *left.expires <= whole_milliseconds(now);
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
    return {0, 0, map};
}

semaphore_model::answer semaphore_model::acquire(std::string_view id, request const& r, time_point now)
{
    if (!server_.remembers(id)) return {fence_not_admitted, 0};
    if (r.ttl > server_.record->max_ttl) return {fence_ttl_too_long, static_cast<token_number>(server_.record->max_ttl.count())};
    auto const k = kept(r.name, now).value_or(record{});
    if (k.permits != r.permits) return {semaphore_other_permits, k.permits, std::to_string(k.version)};
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
    if (ours) return repeated(r, map, now);
    auto free = static_cast<std::size_t>(std::count(map.begin(), map.end(), '0'));
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
    token_number const last = std::max(counter, server_.record->base);
    token_number token = last + r.block;
    if (r.floor > token && server_.floor_counts(r.floor, now)) token = r.floor;
    if (!(token > last && token < token_limit)) return {fence_used_up, 0};
    if (chosen.size() < r.count || r.count == 0) return {0, 0, map};
    for (std::size_t const slot : chosen) {
        server_.set(r.slots[slot], r.value, r.ttl, now);
        server_.set_counter(r.slots[slot], token, r.retention, now);
        map[slot] = '2';
    }
    server_.find(permits_key(r.name), now)->expires = whole_milliseconds(now) + r.retention;
    return {1, token, map};
}

semaphore_model::answer semaphore_model::keep(std::string_view id, std::string_view name, std::uint64_t version, std::uint64_t permits,
                                              std::chrono::milliseconds retention, time_point now)
{
    if (!server_.remembers(id)) return {fence_not_admitted, 0, "0"};
    auto const k = kept(name, now);
    if (k && (version < k->version || (version == k->version && permits > k->permits))) return {0, k->permits, std::to_string(k->version)};
    server_.set(permits_key(name), std::to_string(version) + " " + std::to_string(permits), retention, now);
    return {1, permits, std::to_string(version)};
}

}  // namespace redlock::testing
