// The state that a holder publishes with a lock, and what others see of a lock.
#ifndef REDLOCK_PUBLISHED_HPP
#define REDLOCK_PUBLISHED_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace redlock {

/// The size limit of `lease::publish()`, in bytes.
inline constexpr std::size_t max_state_size = 4096;

/// A state that a holder has published.
struct published_state {
    std::uint64_t token{0};  ///< The fencing token of the lease that published it. 0: there is no known state.
    std::string value{};  ///< The bytes given to `lease::publish()`.

    /// Whether there is a state; its value may be empty.
    explicit operator bool() const noexcept { return token != 0; }

    friend bool operator==(published_state const&, published_state const&) = default;
};

namespace detail {

// Distinguishes states that compare equal otherwise.
struct peek_marks {
    std::uint64_t holder{0};  // a hash of the holder's value
    std::uint64_t rank{0};
    std::uint64_t number{0};

    friend bool operator==(peek_marks const&, peek_marks const&) = default;
};

}  // namespace detail

/// What `lock::peek()` saw: true at a moment between the call and its completion, and possibly outdated.
struct lock_peek {
    lock_peek() = default;  ///< Not an aggregate: g++ 12 destroys those twice if temporary in co_await expressions.

    bool held{false};  ///< A majority of the nodes has the lock's key, all for the same holder; or readers hold it.
    std::string host{};  ///< The holder's host, from its value. Empty: not held, held by readers, or by another library.
    std::uint64_t pid{0};  ///< The holder's process id.
    std::string label{};  ///< `config::label` of the holder.
    /// When the holder began to acquire it, in whole seconds of the holder's clock.
    std::optional<std::chrono::system_clock::time_point> since{};
    published_state state{};  ///< The last published state, by the present holder or an earlier one.
    bool is_holders{false};  ///< Whether the present holder published `state`.
    bool is_confirmed{false};  ///< `state` was seen on a majority: the next holder inherits it or a newer one.
    detail::peek_marks marks{};  ///< Internal: distinguishes states that compare equal otherwise.

    friend bool operator==(lock_peek const&, lock_peek const&) = default;
};

static_assert(!std::is_aggregate_v<lock_peek>, "g++ 12 destroys temporary aggregates twice inside co_await expressions");

}  // namespace redlock

#endif
