// Some of the slots of a semaphore, as bits.
#ifndef REDLOCK_QUORUM_SLOT_SET_HPP
#define REDLOCK_QUORUM_SLOT_SET_HPP

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace redlock::quorum {

using slot_set = std::uint64_t;

inline constexpr std::size_t max_slots = 64;

constexpr slot_set only_slot(std::size_t slot) noexcept
{
    assert(slot < max_slots);
    return slot_set{1} << slot;
}
constexpr bool has_slot(slot_set in, std::size_t slot) noexcept
{
    assert(slot < max_slots);
    return (in >> slot & 1u) != 0;
}
// All 64 apart, since a shift by 64 is undefined.
constexpr slot_set all_slots(std::size_t count) noexcept { return count >= max_slots ? ~slot_set{0} : only_slot(count) - 1; }

}  // namespace redlock::quorum

#endif
