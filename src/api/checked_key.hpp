// The key of a lock's name, if a lock may have it.
#ifndef REDLOCK_API_CHECKED_KEY_HPP
#define REDLOCK_API_CHECKED_KEY_HPP

#include "protocol/key_format.hpp"
#include "protocol/keys.hpp"

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::detail {

// Throws `std::invalid_argument`. `of`: the class that the sentence begins with.
inline std::string checked_key(std::string_view of, std::string name, key_format const& format)
{
    auto const refuse = [&](std::string const& why) { throw std::invalid_argument{std::string{of} + ": " + why}; };
    if (name.empty()) refuse("the name is empty");
    std::string key = format.key_of(std::move(name));
    if (is_own_key(key)) refuse("the key is \"" + key + "\", which this library keeps for itself");
    return key;
}

}  // namespace redlock::detail

#endif
