// The keys on a node besides the locks themselves.
#ifndef REDLOCK_PROTOCOL_KEYS_HPP
#define REDLOCK_PROTOCOL_KEYS_HPP

#include <string_view>

namespace redlock::detail {

inline constexpr std::string_view fence_suffix = ":fence";  // NAME:fence is the counter of the lock NAME
inline constexpr std::string_view published_suffix = ":published";  // NAME:published is the state that a holder of NAME has published
inline constexpr std::string_view want_suffix = ":want";  // NAME:want is the wish of a writer that waits for the readers of NAME
inline constexpr std::string_view permits_suffix = ":permits";  // NAME:permits is how many permits the semaphore NAME has
inline constexpr std::string_view node_record_key = "redlock:node";
inline constexpr std::string_view high_water_key = "redlock:hw";
inline constexpr std::string_view set_record_key = "redlock:set";  // which servers belong together
inline constexpr std::string_view wait_mark_key = "redlock:wait";  // a small write before WAIT, see durability.hpp

// Whether a key is one of these; a lock must not have such a key.
constexpr bool is_own_key(std::string_view key) noexcept
{
    return key.ends_with(fence_suffix) || key.ends_with(want_suffix) || key.ends_with(published_suffix) || key.ends_with(permits_suffix) ||
           key == node_record_key || key == high_water_key || key == set_record_key || key == wait_mark_key;
}

}  // namespace redlock::detail

#endif
