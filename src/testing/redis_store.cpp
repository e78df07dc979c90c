#include "testing/redis_store.hpp"

#include <algorithm>
#include <utility>

namespace redlock::testing {

redis_store::entry* redis_store::find(std::string_view key, time_point now)
{
    auto const it = std::find_if(entries_.begin(), entries_.end(), [&](entry const& e) { return e.key == key; });
    return it == entries_.end() || has_expired(it->expires, now) ? nullptr : &*it;
}

redis_store::entry const* redis_store::stored(std::string_view key) const
{
    auto const it = std::find_if(entries_.begin(), entries_.end(), [&](entry const& e) { return e.key == key; });
    return it == entries_.end() ? nullptr : &*it;
}

void redis_store::notice(std::string_view key, time_point now)
{
    entry const* const e = stored(key);
    if (e && has_expired(e->expires, now)) del(key);
}

void redis_store::expire(time_point now)
{
    std::vector<std::string> gone;
    for (entry const& e : entries_)
        if (has_expired(e.expires, now)) gone.push_back(e.key);
    for (std::string const& key : gone) del(key);
}

void redis_store::renew(entry& e, duration ttl, time_point now)
{
    e.expires = in_milliseconds(now) + ttl;
    changed(e.key);
}

void redis_store::changed(std::string_view key) const
{
    if (on_change) on_change(key);
}

redis_store::counter* redis_store::find_counter(std::string_view name, time_point now)
{
    auto const it = std::find_if(counters_.begin(), counters_.end(), [&](counter const& c) { return c.name == name; });
    if (it == counters_.end()) return nullptr;
    if (has_expired(it->expires, now)) {
        counters_.erase(it);
        return nullptr;
    }
    return &*it;
}

void redis_store::set(std::string_view key, std::string_view value, std::optional<duration> ttl, time_point now)
{
    auto const expires = ttl ? std::optional{in_milliseconds(now) + *ttl} : std::nullopt;
    put({std::string{key}, std::string{value}, expires});
}

void redis_store::put(entry e)
{
    std::erase_if(entries_, [&](entry const& each) { return each.key == e.key; });
    entries_.push_back(std::move(e));
    changed(entries_.back().key);
}

void redis_store::set_counter(std::string_view name, token_number value, duration retention, time_point now, bool marked)
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

void redis_store::del(std::string_view key)
{
    std::string const gone{key};  // a copy: `key` may refer to the entry that is erased
    if (std::erase_if(entries_, [&](entry const& e) { return e.key == gone; }) > 0) changed(gone);
}

void redis_store::del_counter(std::string_view name)
{
    std::erase_if(counters_, [&](counter const& c) { return c.name == name; });
}

void redis_store::spoil_counter(std::string_view name)
{
    del_counter(name);
    counters_.push_back({std::string{name}, {}, {}});
}

void redis_store::flush_all()
{
    entries_.clear();
    counters_.clear();
    record.reset();
    high_water.reset();
    set_record.clear();
    kept_since.reset();
    changed({});
}

std::vector<redis_store::entry> redis_store::entries(time_point now) const
{
    auto there = entries_;
    std::erase_if(there, [&](entry const& e) { return has_expired(e.expires, now); });
    return there;
}

}  // namespace redlock::testing
