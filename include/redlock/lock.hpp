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
    /// As many as there are arguments: texts that convert to `std::string_view`. It is no `std::initializer_list`, since g++ 12 refuses one in a `co_await`
    /// expression ("array used as initializer").
    template <std::convertible_to<std::string_view>... Name>
        requires(sizeof...(Name) > 0)
    lock_names(Name const&... name)
    {
        all_.reserve(sizeof...(Name));
        (all_.emplace_back(std::string_view{name}), ...);
    }

    /// These.
    lock_names(std::vector<std::string> all) noexcept : all_{std::move(all)} {}

    /// The names, as they were given.
    std::vector<std::string> const& all() const noexcept { return all_; }

private:
    std::vector<std::string> all_;
};

/// A cheap handle that consists of the name of a resource, options, and a client. The object itself keeps nothing on any server: a `lease` does.
///
/// Any number of acquisitions may be started from one lock object. They are independent of each other, and exclude each other.
///
/// Lifetimes: may outlive the client object; operations then complete with `errc::client_cancelled`.
/// Thread safety: const members may be called from any thread at the same time.
class REDLOCK_API lock {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the client's executor.

    /// The name is the key on the servers, byte for byte, unless `config::key_format` says otherwise. Another library that uses the same key with
    /// `SET NX PX` (redsync, node-redlock, redis-py) shares the lock. Throws `std::invalid_argument` if the name is empty or reserved for the
    /// library (its key is `redlock:node`, `redlock:hw`, `redlock:set` or `redlock:wait`, or ends in `:fence`, `:want`, `:published` or `:permits`), if an
    /// option makes no sense, or if the ttl and the `lock_delay` of a lock with `fencing` are above `config::max_ttl`.
    template <std::convertible_to<std::string> Name>  // so that a list of names is none of the ways to make a std::string
    lock(client const& owner, Name&& name, lock_options const& options = {})
        : lock{owner, one_name(owner, std::forward<Name>(name)), options}
    {
    }

    /// Locks several resources at once, all or none: `redlock::lock{nodes, {"a", "b", "c"}}`. Up to 64 names, in any order. The names are sorted, and
    /// each node sets all keys in one step, so two such locks never wait for each other. There is one lease, and its token is larger than all earlier
    /// tokens of each resource. Excludes, and is excluded by, the locks of each single name.
    /// Throws as above, and if there are no names, too many, one of them twice, or names of several shards.
    lock(client const& owner, lock_names names, lock_options const& options = {});

    /// The client's executor.
    executor_type get_executor() const noexcept { return core_->get_executor(); }

    /// The name for people to read; several names have ", " between them. The text lives as long as the lock.
    std::string_view name() const noexcept;

    /// The names, sorted.
    std::vector<std::string> names() const;

    /// The options that the constructor got.
    lock_options const& options() const noexcept;

    /// Acquires the lock, and waits as long as another holder has it. Asks all nodes at once, rolls grants back if they are no majority, and asks
    /// again when a majority can be free, or after a random delay.
    ///
    /// Preconditions: `client::run` is called, before or while it waits; otherwise it waits until its `acquire_timeout` (`errc::client_not_running`).
    /// Lifetimes: the lock may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lease)`; the lease is empty when there is an error. Without a token, and with `asio::use_awaitable` or
    /// `asio::use_future`, what is thrown is an `acquire_error`, whose text has the lock's name and the first node's reason.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal` and `partial` complete at once, and all grants of the nodes, also later ones, are released in
    /// the background. `total` promises that nothing happened, so it completes at once only between two attempts; an attempt
    /// under way is awaited, and if it wins, the operation succeeds.
    /// Errors: `errc::acquire_timed_out` (another holder had the lock at the end), `errc::acquire_timed_out_no_majority` (at the end too few nodes
    /// answered to know who holds it); with `max_attempts`, the outcome of the last attempt (`errc::contended`,
    /// `errc::split_votes`, `errc::no_majority`, `errc::validity_exhausted`);
    /// `errc::self_deadlock` (the body of a `with_lock` on the same lock, or on one that shares a name with it, awaits this, see there; or the
    /// `lock_options::owner` has a lease that cannot be shared);
    /// `errc::client_not_running`; `errc::ttl_too_long` (no majority allows such a ttl with `fencing`); `errc::wrong_node_set`; `errc::client_cancelled`;
    /// `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread.
    /// Source: the distlock page of Redis, "The Redlock algorithm"; docs/protocol.md.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(CompletionToken&& token = {}) const
    {
        return start<CompletionToken>(nullptr, false, token);
    }

    /// The same, and fills `report` just before it completes. `report` must live until then.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return start<CompletionToken>(&report, false, token);
    }

    /// Makes one attempt: asks all nodes once, and does not wait if there is another holder. Of clients that ask at the same moment each may get the
    /// votes of some nodes and none a majority; then each of these gets `errc::split_votes`, and nobody has the lock. If one of them has to get it, use
    /// `acquire()` with `lock_options::max_attempts`. To know which it was, a refused attempt waits for the remaining nodes, for
    /// about as long again as the refusals took. A client that got no vote at all, of more clients than there are nodes, cannot know: it gets `errc::contended`.
    ///
    /// Preconditions: `client::run` is called, before or within `lock_options::node_timeout`.
    /// Lifetimes: the lock may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lease)`; the lease is empty when there is an error.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: as `acquire()`: `terminal` and `partial` complete at once, and all grants of the nodes, also later ones, are
    /// released in the background; with `total` the attempt is awaited, and if it wins, the operation succeeds.
    /// Errors: `errc::contended` (another holder has the lock), `errc::split_votes`, `errc::no_majority` (too few nodes answered to know),
    /// `errc::validity_exhausted`, `errc::acquire_timed_out_no_majority` (an `acquire_timeout` within `node_timeout`), `errc::client_not_running`,
    /// `errc::ttl_too_long`, `errc::wrong_node_set`, `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(CompletionToken&& token = {}) const
    {
        return start<CompletionToken>(nullptr, true, token);
    }

    /// The same, and fills `report` just before it completes. `report` must live until then.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return start<CompletionToken>(&report, true, token);
    }

    /// Looks at the lock: who holds it, since when, and what was published with it (`lease::publish()`). It acquires nothing and changes nothing.
    ///
    /// It asks all nodes once, and completes when a majority has answered so that no other answer can change who holds it, and the newest state that was
    /// seen, if any, is confirmed; or after `node_timeout`.
    /// Of what was published, it says the newest that it saw, and in `is_confirmed` whether a majority keeps it; a state that is not confirmed may be the
    /// one that the next holder inherits, or not. Nodes that are quarantined are asked as well. Of a lock on several names, the first is looked at.
    ///
    /// Preconditions: `client::run` is called, before or within `lock_options::node_timeout`.
    /// Lifetimes: the lock may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lock_peek)`.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal`, `partial` and `total` complete at once.
    /// Errors: `errc::no_majority` (too few nodes answered to say anything), `errc::client_not_running`, `errc::client_cancelled`,
    /// `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread.
    template <asio::completion_token_for<void(error_code, lock_peek)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto peek(CompletionToken&& token = {}) const
    {
        return detail::start_operation<void(error_code, lock_peek), CompletionToken>(
            token, detail::initiate_peek{core_, detail::peek_request{what_, {}}});
    }

    /// Waits until something else is to be seen of the lock than `last`, which `peek()` or this function returned, and returns that. The nodes tell of
    /// changes; a client whose user may not be told (`CLIENT TRACKING`) asks every `lock_options::poll_interval`. An extension changes the key, too: then it
    /// looks once more, and goes on waiting. While too few nodes answer, it waits for them.
    ///
    /// Preconditions: `client::run` is called, before or while it waits.
    /// Lifetimes: the lock may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lock_peek)`.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal`, `partial` and `total` complete at once.
    /// Errors: `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread.
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
