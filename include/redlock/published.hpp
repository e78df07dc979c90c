// The state that goes with a lock: what its holder publishes, and what others see of a lock.
#ifndef REDLOCK_PUBLISHED_HPP
#define REDLOCK_PUBLISHED_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace redlock {

/// The most bytes that `lease::publish()` takes.
inline constexpr std::size_t max_state_size = 4096;

/// What a holder has published.
struct published_state {
    std::uint64_t token{0};  ///< The fencing token of the lease that published it. 0: nothing is known to have been published.
    std::string value{};     ///< The bytes, as they were given to `lease::publish()`.

    /// Whether there is a state at all; it may be empty.
    explicit operator bool() const noexcept { return token != 0; }

    friend bool operator==(published_state const&, published_state const&) = default;
};

namespace detail {

// Tells two looks at a lock apart that read the same.
struct peek_marks {
    std::uint64_t holder{0};  // a hash of the holder's value
    std::uint64_t rank{0};
    std::uint64_t number{0};

    friend bool operator==(peek_marks const&, peek_marks const&) = default;
};

}  // namespace detail

/// What `lock::peek()` saw of a lock. It was so at a moment between the call and its completion, and may not be so any more.
struct lock_peek {
    lock_peek() = default;  ///< So that it is no aggregate: g++ 12 destroys those of a temporary twice inside co_await expressions.

    bool held{false};          ///< A majority of the nodes has the lock's key, and all of them for the same holder; or readers have it.
    std::string
        host{};  ///< Of the holder, as its value says. Empty: nobody holds it, readers do, or another library whose value says nothing.
    std::uint64_t pid{0};  ///< The holder's process.
    std::string label{};  ///< `config::label` of the holder.
    std::optional<std::chrono::system_clock::time_point>
        since{};  ///< When the holder began to acquire it, in seconds of the holder's clock.
    published_state state{};  ///< What was published last, by the present holder or one before.
    bool is_holders{false};  ///< The present holder published `state`, and not one before.
    bool is_confirmed{false};  ///< `state` was seen on a majority: the next holder inherits it, or a newer one.
    detail::peek_marks marks{};  ///< Not for users: tells apart what reads the same.

    friend bool operator==(lock_peek const&, lock_peek const&) = default;
};

static_assert(!std::is_aggregate_v<lock_peek>, "g++ 12 destroys temporary aggregates twice inside co_await expressions");

}  // namespace redlock

#endif
