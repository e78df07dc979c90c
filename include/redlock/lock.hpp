// A lock: the name of a resource, and options.
#ifndef REDLOCK_LOCK_HPP
#define REDLOCK_LOCK_HPP

#include <redlock/attempt_report.hpp>
#include <redlock/client.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/resource.hpp>
#include <redlock/detail/throwing.hpp>
#include <redlock/lease.hpp>
#include <redlock/options.hpp>
#include <redlock/published.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace redlock {

/// Several names, for the constructor of `lock`: `{"a", "b"}`, or a `std::vector<std::string>`.
class lock_names {
public:
    /// From one or more texts that convert to `std::string_view`. Not a `std::initializer_list`, because g++ 12 refuses one in a `co_await`
    /// expression ("array used as initializer").
    template <std::convertible_to<std::string_view>... Name>
        requires(sizeof...(Name) > 0)
    lock_names(Name const&... name)
    {
        all_.reserve(sizeof...(Name));
        (all_.emplace_back(std::string_view{name}), ...);
    }

    /// From these names.
    lock_names(std::vector<std::string> all) noexcept : all_{std::move(all)} {}

    /// The names, in the order given.
    std::vector<std::string> const& all() const noexcept { return all_; }

private:
    std::vector<std::string> all_;
};

/// A cheap handle that consists of a name, options and a client. It keeps nothing on the servers; a `lease` does. Any number of
/// acquisitions may be started from one lock object; they are independent, and exclude each other.
///
/// Without a completion token, and with `asio::use_awaitable` or `asio::use_future`, `acquire()` and `try_acquire()` throw an
/// `acquire_error`, and the other operations an `operation_error`; the text has the lock's name and the reason. Other tokens get the code.
///
/// For all operations:
///
/// Preconditions: `client::run()` is called, before or during the operation. If it is not, `acquire()` and `wait_changed()` wait
/// (`acquire()` for at most `acquire_timeout` or `max_attempts`), and the others wait for `lock_options::node_timeout`; then the error is
/// `errc::client_not_running`.
/// Executor: the handler's associated executor, by default the client's.
/// Lifetimes: the lock may be destroyed during an operation, and may outlive the client object; operations then complete with
/// `errc::client_cancelled`.
/// Thread safety: const members may be called from any thread at the same time.
class REDLOCK_API lock {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the client's executor.

    /// The name is the key on the servers, byte for byte, unless `config::key_format` is set. Other libraries that use the same key with
    /// `SET NX PX` (redsync, node-redlock, redis-py) share the lock.
    ///
    /// Throws `std::invalid_argument` if the name is empty or reserved (its key is `redlock:node`, `redlock:hw`, `redlock:set` or
    /// `redlock:wait`, or ends in `:fence`, `:want`, `:published` or `:permits`), if an option is out of bounds, or if the ttl and the
    /// `lock_delay` of a lock with `fencing` are together above `config::max_ttl`.
    template <std::convertible_to<std::string> Name>  // so that a list of names does not convert to a std::string
    lock(client const& owner, Name&& name, lock_options const& options = {})
        : lock{owner, one_name(owner, std::forward<Name>(name)), options}
    {
    }

    /// Locks several resources at once, all or none: `redlock::lock{client, {"a", "b", "c"}}`. 1 to 64 names, in any order: each node sets
    /// all keys in one step, so two such locks never wait for each other. There is one lease; its token is larger than all earlier tokens
    /// of each name. Such a lock and locks on its single names exclude each other.
    ///
    /// Throws as above, and if there are no names, more than 64, one of them twice, or names of different shards.
    lock(client const& owner, lock_names names, lock_options const& options = {});

    /// The client's executor.
    executor_type get_executor() const noexcept { return core_->get_executor(); }

    /// A human-readable name; several names are separated by ", ". Valid as long as the lock.
    std::string_view name() const noexcept;

    /// The names, sorted.
    std::vector<std::string> names() const;

    /// The options given to the constructor.
    lock_options const& options() const noexcept;

    /// Acquires the lock, and waits while another holder has it. Asks all nodes at once, rolls back grants that are no majority, and asks
    /// again when a majority may be free, or after a random delay.
    ///
    /// Errors: `errc::acquire_timed_out` (another holder had the lock at the end), `errc::acquire_timed_out_no_majority` (at the end too
    /// few nodes answered to know who holds it); with `max_attempts`, the outcome of the last attempt (`errc::contended`,
    /// `errc::split_votes`, `errc::no_majority`, `errc::validity_exhausted`); `errc::self_deadlock` (the body of a `with_lock` awaits this,
    /// and its scope holds the lock or one with a common name; or the `lock_options::owner` holds a lease that this one cannot share);
    /// `errc::ttl_too_long` (no majority allows such a ttl with `fencing`), `errc::wrong_node_set`, `errc::client_not_running`,
    /// `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code, lease)`; the lease is empty on error.
    /// Per-operation cancellation: `terminal` and `partial` complete at once; all grants, also later ones, are rolled back in the
    /// background. `total` promises that nothing happened: between two attempts it completes at once; during an attempt it waits for the
    /// attempt, and if that succeeds, so does the operation.
    /// Source: the distlock page of Redis, "The Redlock algorithm"; docs/protocol.md.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(CompletionToken&& token = {}) const
    {
        return start<CompletionToken>(nullptr, false, token);
    }

    /// The same, and fills `report`, which must live until the operation completes.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return start<CompletionToken>(&report, false, token);
    }

    /// Makes one attempt: asks all nodes once, and does not wait for another holder.
    ///
    /// If several clients ask at the same moment, each may get the votes of some nodes and none a majority: then they get
    /// `errc::split_votes`, and nobody has the lock. Use `acquire()` with `lock_options::max_attempts` if one of them must get it. To
    /// distinguish the two, a refused attempt waits for the remaining nodes, for about as long again as the refusals took. With more
    /// clients than nodes, one that got no vote cannot know, and gets `errc::contended`.
    ///
    /// Errors: `errc::contended` (another holder has the lock; also, without an `owner`, in the body of the `with_lock` that holds it),
    /// `errc::split_votes`, `errc::no_majority` (too few nodes answered to know), `errc::validity_exhausted`,
    /// `errc::acquire_timed_out_no_majority` (`acquire_timeout` is shorter than the answers took), `errc::ttl_too_long`,
    /// `errc::wrong_node_set`, `errc::client_not_running`, `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code, lease)`; the lease is empty on error.
    /// Per-operation cancellation: as `acquire()` during an attempt.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(CompletionToken&& token = {}) const
    {
        return start<CompletionToken>(nullptr, true, token);
    }

    /// The same, and fills `report`, which must live until the operation completes.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return start<CompletionToken>(&report, true, token);
    }

    /// Returns who holds the lock, since when, and what was published with it (`lease::publish()`). Acquires and changes nothing.
    ///
    /// Asks all nodes once, also quarantined ones, until a majority has answered, no other answer can change who holds the lock, and the
    /// newest published state, if any, is confirmed; or until all have answered, or for `node_timeout`. Reports the newest state seen;
    /// `is_confirmed` is set if a majority has that state. The next holder may or may not inherit an unconfirmed one. Of a lock on several
    /// names, it reads the first in sorted order.
    ///
    /// Errors: `errc::no_majority` (too few nodes answered), `errc::client_not_running`, `errc::client_cancelled`,
    /// `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code, lock_peek)`.
    /// Per-operation cancellation: all types complete at once.
    template <asio::completion_token_for<void(error_code, lock_peek)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto peek(CompletionToken&& token = {}) const
    {
        return detail::start_operation<void(error_code, lock_peek), CompletionToken>(
            token, detail::initiate_peek{core_, detail::peek_request{what_, {}}});
    }

    /// Waits until the lock looks different from `last`, which `peek()` or this function returned, and returns the new state. The client
    /// asks the nodes again when they report a change, when the lock should have expired, after at most 30 s, and, where `CLIENT TRACKING`
    /// is forbidden, every `lock_options::poll_interval`. Extensions do not end the wait. While too few nodes answer, it keeps asking.
    ///
    /// Errors: `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code, lock_peek)`.
    /// Per-operation cancellation: all types complete at once.
    template <asio::completion_token_for<void(error_code, lock_peek)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto wait_changed(lock_peek last, CompletionToken&& token = {}) const
    {
        return detail::start_operation<void(error_code, lock_peek), CompletionToken>(
            token, detail::initiate_peek{core_, detail::peek_request{what_, std::move(last)}});
    }

private:
    friend struct detail::access;
    friend class rw_lock;
    friend class semaphore;

    static detail::resource one_name(client const& owner, std::string name);

    lock(client const& owner, detail::resource what, lock_options const& options);
    lock(std::shared_ptr<detail::core> owner, detail::resource what, lock_options const& options);

    template <class CompletionToken>
    auto start(attempt_report* report, bool once, std::remove_reference_t<CompletionToken>& token) const
    {
        detail::initiate_acquire acquisition{core_, detail::acquire_request{what_, report, once, {}}};
        return detail::start_operation<void(error_code, lease), CompletionToken>(token, std::move(acquisition));
    }

    std::shared_ptr<detail::core> core_;
    detail::lock_descriptor_ptr what_;
};

}  // namespace redlock

#endif
