// How a lock is held: exclusively, shared with other readers, or as permits.
#ifndef REDLOCK_LOCK_MODE_HPP
#define REDLOCK_LOCK_MODE_HPP

#include <redlock/detail/export.hpp>

#include <cstdint>

namespace redlock {

/// How a lease holds its lock, or how an attempt asked for it.
enum class lock_mode : std::uint8_t {
    exclusive,  ///< Exclusively: by a `lock`, or by the writer of an `rw_lock`.
    shared,  ///< Together with other readers: `rw_lock::acquire_shared()`, and a writer after `lease::downgrade()`.
    permit,  ///< One or more permits of a `semaphore`.
};

/// The enumerator's name.
REDLOCK_API char const* to_string(lock_mode mode) noexcept;

}  // namespace redlock

#endif
