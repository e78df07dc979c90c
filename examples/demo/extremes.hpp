// The largest and the smallest of what several processes measure.
#ifndef REDLOCK_DEMO_EXTREMES_HPP
#define REDLOCK_DEMO_EXTREMES_HPP

#include <atomic>
#include <cstdint>

namespace demo {

inline void raise_to(std::atomic<std::int64_t>& maximum, std::int64_t value) noexcept
{
    auto seen = maximum.load();
    while (seen < value && !maximum.compare_exchange_weak(seen, value)) {}
}

inline void lower_to(std::atomic<std::int64_t>& minimum, std::int64_t value) noexcept
{
    auto seen = minimum.load();
    while (seen > value && !minimum.compare_exchange_weak(seen, value)) {}
}

}  // namespace demo

#endif
