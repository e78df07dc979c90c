#include "support/redis_model.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::testing {

using detail::command;
using detail::reply;
using detail::verb;

namespace {

time_point in_milliseconds(time_point t) { return std::chrono::floor<std::chrono::milliseconds>(t); }

}  // namespace

reply redis_model::execute(command const& c, time_point now)
{
    reply const yes{vote::granted, {}, {}};
    reply const no{vote::refused, {}, {}};
    entry* const found = find(c.key, now);
    bool const ours = found && found->value == c.value;
    switch (c.what) {
    case verb::acquire:  // SET NX PX
        if (found) return no;
        set(c.key, c.value, c.ttl, now);
        return yes;
    case verb::extend:  // if GET is ours: PEXPIRE
        if (!ours) return no;
        found->expires = in_milliseconds(now) + c.ttl;
        return yes;
    case verb::release:  // if GET is ours: DEL
        if (!ours) return no;
        del(c.key);
        return yes;
    }
    return no;
}

bool redis_model::has_expired(entry const& e, time_point now) const
{
    return e.expires && now >= gone_at(e);
}

redis_model::entry* redis_model::find(std::string_view key, time_point now)
{
    auto const it = std::find_if(entries_.begin(), entries_.end(), [&](entry const& e) { return e.key == key; });
    if (it == entries_.end()) return nullptr;
    if (has_expired(*it, now)) {
        entries_.erase(it);
        return nullptr;
    }
    return &*it;
}

void redis_model::set(std::string_view key, std::string_view value, std::optional<duration> ttl, time_point now)
{
    del(key);
    auto const expires = ttl ? std::optional{in_milliseconds(now) + *ttl} : std::nullopt;
    entries_.push_back({std::string{key}, std::string{value}, expires});
}

void redis_model::del(std::string_view key)
{
    std::erase_if(entries_, [&](entry const& e) { return e.key == key; });
}

std::vector<redis_model::entry> const& redis_model::entries(time_point now)
{
    std::erase_if(entries_, [&](entry const& e) { return has_expired(e, now); });
    return entries_;
}

}  // namespace redlock::testing
