// src/core/kinds: the kinds of locks that are not exclusive, each with what it asks otherwise, what its votes come to, and what it leaves behind.
// core/acquire/lock_kind.hpp says in what they may differ.
#ifndef REDLOCK_CORE_KINDS_KINDS_HPP
#define REDLOCK_CORE_KINDS_KINDS_HPP

#include "core/acquire/lock_kind.hpp"

namespace redlock::detail {

lock_kind const& kind_of_readers() noexcept;
lock_kind const& kind_of_permits() noexcept;

// Those who write are as those who lock the name, and compete with them.
inline lock_kinds all_kinds() noexcept { return {{nullptr, nullptr, &kind_of_readers(), &kind_of_permits()}}; }

}  // namespace redlock::detail

#endif
