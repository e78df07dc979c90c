// Refuses late writes to resources of this process.
#ifndef REDLOCK_FENCE_GUARD_HPP
#define REDLOCK_FENCE_GUARD_HPP

#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redlock {

namespace detail {

// Accepts functions that have written when they return. A coroutine writes later, outside the guard. So do futures and callbacks, which
// this concept cannot recognise.
template <class F>
concept fenced_write = std::invocable<F> && !requires { typename std::coroutine_traits<std::invoke_result_t<F>>::promise_type; };

// A guard's state for one resource.
struct fenced_resource {
    std::mutex mutex;
    std::uint64_t highest{0};  // of writers
    std::uint64_t highest_reader{0};
    bool forgotten{false};  // the map does not contain this object any more: a thread that waited for the mutex must look the name up again

    bool takes(std::uint64_t token) noexcept
    {
        if (token == 0 || token < highest || token <= highest_reader) return false;
        highest = token;
        return true;
    }

    bool takes_reader(std::uint64_t token) noexcept
    {
        if (token == 0 || token < highest) return false;
        if (token > highest_reader) highest_reader = token;
        return true;
    }

    std::uint64_t highest_of_all() const noexcept { return highest > highest_reader ? highest : highest_reader; }
};

}  // namespace detail

/// Keeps the largest fencing token seen by one resource, and refuses smaller ones.
///
/// For a resource of this process: a device, a cache, an index. Keep the fence beside it. If a database has the data, the database must
/// compare (docs/fenced-writes.md).
///
/// A token equal to the largest is accepted: tokens are unique, so the same holder writes again. Readers of a `rw_lock` share tokens, and
/// overlapping groups of readers are not ordered. So there are two numbers: a writer is accepted if no writer had a larger token and no
/// reader a larger or equal one; a reader (`run_shared`, `admit_shared`) if no writer had a larger one. A downgraded lease is a reader's.
/// Token 0 is always refused: it comes from a lock without `lock_options::fencing`, or from an empty lease.
///
/// A new object has seen no token. If the resource outlives the process, store the token with it, and begin with `admit` of the stored one.
///
/// Thread safety: all members may be called from any thread at the same time.
class REDLOCK_API fence {
public:
    /// Runs `f` if `token` is not smaller than any before it, and returns its result. Comparing and writing are one step: meanwhile, every
    /// other `run` and `admit` blocks its thread. `f` must have written when it returns, so a coroutine does not compile.
    ///
    /// Preconditions: `f` does not use this object.
    /// Errors, thrown as `system_error`: `errc::stale_token`; then `f` did not run. Exceptions of `f` pass through; the token counts as
    /// seen.
    template <detail::fenced_write F>
    std::invoke_result_t<F> run(std::uint64_t token, F&& f)
    {
        std::lock_guard const lock{resource_.mutex};
        if (!resource_.takes(token)) throw system_error{errc::stale_token};
        return std::invoke(std::forward<F>(f));
    }

    /// The same for a reader of a `rw_lock`: runs `f` if no writer had a larger token. From then on, writers with this token or a smaller
    /// one are refused.
    template <detail::fenced_write F>
    std::invoke_result_t<F> run_shared(std::uint64_t token, F&& f)
    {
        std::lock_guard const lock{resource_.mutex};
        if (!resource_.takes_reader(token)) throw system_error{errc::stale_token};
        return std::invoke(std::forward<F>(f));
    }

    /// Returns whether `token` is not smaller than any before it; if so, smaller ones are refused from now on. Call it when a holder
    /// begins, before it reads, so that no earlier holder writes between its reading and its writing.
    ///
    /// It does not protect a later write, because a newer holder may be admitted first: use `run` for writes.
    [[nodiscard]] bool admit(std::uint64_t token);

    /// The same for a reader of a `rw_lock`.
    [[nodiscard]] bool admit_shared(std::uint64_t token);

    /// The largest accepted token, of a writer or a reader; 0 if there was none.
    std::uint64_t highest() const;

private:
    mutable detail::fenced_resource resource_;
};

/// The same for many resources. Each has a name, usually that of its lock.
///
/// Resources do not wait for each other. Each name takes less than 200 bytes and its length, until `forget`. Names are not removed
/// automatically, because this class cannot know how late a write may arrive.
///
/// Thread safety: all members may be called from any thread at the same time.
class REDLOCK_API fence_guard {
public:
    /// Runs `f` if `token` is not smaller than any before it for `name`, and returns its result; otherwise as `fence::run`.
    ///
    /// Preconditions: `f` does not use this object with the same name.
    /// Errors, thrown as `system_error`: `errc::stale_token`, with the name in its text. Exceptions of `f` pass through. `std::bad_alloc`
    /// for a new name.
    template <detail::fenced_write F>
    std::invoke_result_t<F> run(std::string_view name, std::uint64_t token, F&& f)
    {
        auto const entered = enter(name, token, &detail::fenced_resource::takes);
        if (!entered.lock) throw system_error{errc::stale_token, std::string{name}};
        return std::invoke(std::forward<F>(f));
    }

    /// The same for a reader of a `rw_lock`: see `fence::run_shared`.
    template <detail::fenced_write F>
    std::invoke_result_t<F> run_shared(std::string_view name, std::uint64_t token, F&& f)
    {
        auto const entered = enter(name, token, &detail::fenced_resource::takes_reader);
        if (!entered.lock) throw system_error{errc::stale_token, std::string{name}};
        return std::invoke(std::forward<F>(f));
    }

    /// Returns whether `token` is not smaller than any before it for `name`. See `fence::admit` for what this does not protect.
    [[nodiscard]] bool admit(std::string_view name, std::uint64_t token);

    /// The same for a reader of a `rw_lock`.
    [[nodiscard]] bool admit_shared(std::string_view name, std::uint64_t token);

    /// The largest accepted token for `name`, of a writer or a reader; 0 if there was none, or after `forget`.
    std::uint64_t highest(std::string_view name) const;

    /// Removes `name`, after waiting for a `run` in progress. From then on any token is accepted, even one refused before. Call it when the
    /// resource is gone, or when every lost lease on it ended so long ago that no holder can still be at work.
    ///
    /// Preconditions: not called from a function that runs under the guard for `name`.
    void forget(std::string_view name);

    /// The number of names.
    std::size_t size() const;

private:
    struct entry {
        std::shared_ptr<detail::fenced_resource> resource;
        std::unique_lock<std::mutex> lock;  // declared after the resource: unlocked first
    };

    // Holds the lock if the token is accepted, which `takes` decides.
    entry enter(std::string_view name, std::uint64_t token, bool (detail::fenced_resource::*takes)(std::uint64_t) noexcept);
    std::shared_ptr<detail::fenced_resource> find(std::string_view name) const;

    mutable std::mutex mutex_;  // of the map only; never held while waiting for a resource
    std::map<std::string, std::shared_ptr<detail::fenced_resource>, std::less<>> resources_;
};

}  // namespace redlock

#endif
