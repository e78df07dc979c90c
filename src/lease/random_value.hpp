// Values that nobody can guess and nobody has used before.
#ifndef REDLOCK_LEASE_RANDOM_VALUE_HPP
#define REDLOCK_LEASE_RANDOM_VALUE_HPP

#include "lease/lock_value.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace redlock::detail {

// 32 hexadecimal digits at a time from the system's random source, which is asked for several at a time. Throws std::system_error without
// it. Not copyable, as the copies would give the same values; a process that was forked must not go on with its parent's.
class random_values {
public:
    random_values() = default;
    random_values(random_values const&) = delete;
    random_values& operator=(random_values const&) = delete;

    lock_value::unique_part next();

private:
    static constexpr std::size_t bytes_each = sizeof(lock_value::unique_part) / 2;

    void refill();

    std::array<unsigned char, 16 * bytes_each> bytes_{};
    std::size_t used_{bytes_.size()};
};

// One such value. Thread-safe.
std::string random_value();

}  // namespace redlock::detail

#endif
