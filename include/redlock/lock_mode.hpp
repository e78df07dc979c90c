// How a lock is held: alone, together with others that read, or as some of a number of permits.
#ifndef REDLOCK_LOCK_MODE_HPP
#define REDLOCK_LOCK_MODE_HPP

#include <redlock/detail/export.hpp>

#include <cstdint>

namespace redlock {

/// How a lease holds its lock, or how an attempt asked for it.
enum class lock_mode : std::uint8_t {
    exclusive,  ///< Alone: by a `lock`, or by the writer of an `rw_lock`.
    shared,     ///< Beside others that read: `rw_lock::acquire_shared()`, and a writer after `lease::downgrade()`.
    permit,     ///< One or several permits of a `semaphore`.
};

/// The enumerator's name.
REDLOCK_API char const* to_string(lock_mode mode) noexcept;

}  // namespace redlock

#endif
