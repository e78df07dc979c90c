// The random part of lock values: nobody can guess it, and no client has used it before. environment::fresh_value takes it from here.
#ifndef REDLOCK_CORE_RANDOM_VALUE_HPP
#define REDLOCK_CORE_RANDOM_VALUE_HPP

#include "core/lock_value.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace redlock::detail {

// Each value has 128 bits from the system's random source. The source is read for 16 values at a time, and std::system_error is thrown
// if that fails. Not copyable, since a copy would give the same values; for the same reason a forked process must not use its parent's object.
class random_values {
public:
    random_values() = default;
    random_values(random_values const&) = delete;
    random_values& operator=(random_values const&) = delete;

    random_bytes next();

private:
    static constexpr std::size_t bytes_each = sizeof(random_bytes);

    void refill();

    std::array<unsigned char, 16 * bytes_each> bytes_{};
    std::size_t used_{bytes_.size()};
};

// One such value, as 32 hexadecimal digits. Thread-safe.
std::string random_value();

}  // namespace redlock::detail

#endif
