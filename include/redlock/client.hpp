// The nodes, and everything that runs for them.
#ifndef REDLOCK_CLIENT_HPP
#define REDLOCK_CLIENT_HPP

#include <redlock/config.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/initiation.hpp>
#include <redlock/detail/throwing.hpp>
#include <redlock/error.hpp>
#include <redlock/lease.hpp>
#include <redlock/observer.hpp>
#include <redlock/options.hpp>
#include <redlock/status.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/execution_context.hpp>

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace redlock {

/// Connections to the nodes, the rounds that go to them, and the watchdog that keeps leases alive.
///
/// One client a process is usual; it serves any number of locks and coroutines. Everything inside runs on a strand of the
/// executor that the client was given. If other handlers on that executor may block for long, give the client an executor of its own
/// (`asio::thread_pool{1}`): operations complete on their callers' executors anyway, and a watchdog that cannot run
/// cannot extend.
///
/// Lifetimes: move-only. The destructor is `cancel()`. An `io_context` may be destroyed while operations, leases and scopes are
/// outstanding, that of the client as well as those of its callers: their handlers are destroyed without being called, as Asio does.
///
/// Thread safety: `cancel`, `status`, `run`, `drain`, `adopt`, `begin_admission` and `get_executor` may be called from any thread.
class REDLOCK_API client {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the executor that the client was given.

    /// Makes a client that is not connected yet: call `run()`. `observer` is told of everything that the client does;
    /// a null pointer costs nothing.
    /// Throws `config_error`.
    client(asio::any_io_executor executor, config const& configuration, std::shared_ptr<redlock::observer> observer = nullptr);

    /// The same on the executor of an execution context: `client{io, configuration}`.
    template <class ExecutionContext>
        requires std::convertible_to<ExecutionContext&, asio::execution_context&>
    client(ExecutionContext& context, config const& configuration, std::shared_ptr<redlock::observer> observer = nullptr)
        : client{asio::any_io_executor{context.get_executor()}, configuration, std::move(observer)}
    {
    }

    client(client&&) noexcept = default;  ///< Moves; the client that was moved from may only be destroyed or assigned to.
    client& operator=(client&& other) noexcept;  ///< Cancels the client that was there.
    ~client();  ///< `cancel()`.

    /// Operations complete on this executor, and observers are told on it, unless they have an executor of their own.
    executor_type get_executor() const noexcept { return core_->get_executor(); }

    /// Connects to all nodes and keeps them connected until `cancel()`.
    ///
    /// Preconditions: called once.
    /// Lifetimes: the client object may be destroyed meanwhile, which cancels.
    /// Completion signature: `void(error_code)`.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal` and `partial` are the same as `cancel()`. `total` is ignored: it promises that nothing happens, but all leases
    /// would be lost.
    /// Errors: `errc::client_cancelled`, always: `run()` goes on until then. A node that cannot be reached is no error: the client connects
    /// again and again, and `status()` says why the node is away.
    /// Thread safety: may be started from any thread.
    template <asio::completion_token_for<void(error_code)> CompletionToken = asio::deferred_t>
    [[nodiscard]] auto run(CompletionToken&& token = {})
    {
        return asio::async_initiate<CompletionToken, void(error_code)>(detail::initiate_on_core{core_, &detail::core::run}, token);
    }

    /// Stops. Acquisitions under way complete with `errc::client_cancelled` and are rolled back; leases are lost with the same
    /// code, so that scopes end. Releases that are under way, or that those scopes now ask for, still go out, and nodes that can be marked or
    /// admitted in a moment still are, for 500 ms at the most; then the connections close and `run()` completes. Keys that could not be released
    /// expire. May be called more than once, from any thread.
    void cancel() noexcept { core_->cancel(); }

    /// Waits until all releases that are under way at the time of the call, those of destroyed leases and of attempts that are rolled back included,
    /// were answered by every node that can be reached. Releases that are started later are not waited for.
    ///
    /// Preconditions: none.
    /// Lifetimes: the client object may be destroyed meanwhile, which cancels.
    /// Completion signature: `void(error_code)`.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: all types; the releases go on.
    /// Errors: `errc::client_cancelled` when the client stopped first; `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread.
    template <asio::completion_token_for<void(error_code)> CompletionToken = asio::deferred_t>
    [[nodiscard]] auto drain(CompletionToken&& token = {})
    {
        return asio::async_initiate<CompletionToken, void(error_code)>(detail::initiate_on_core{core_, &detail::core::drain}, token);
    }

    /// Goes on with a lease that was detached (`lease::detach()`), here or in another process: the same tokens, extended by this client from now on. The
    /// ttl and the `lock_delay` are those of the ticket, and other options have their defaults; the overload takes options.
    ///
    /// The nodes decide: each replaces the value of the ticket by a new one, and a majority makes the lease. So the ticket is used up, copies of it
    /// included, and neither who detached the lease nor another adopter can extend or release it any more. Where too few nodes answer, they are asked
    /// again until the ttl of the ticket has passed. Two who adopt at the same time may each win too few nodes; then the lease is over.
    ///
    /// Preconditions: `run()` was called, or will be.
    /// Lifetimes: the client object may be destroyed meanwhile, which cancels.
    /// Completion signature: `void(error_code, lease)`; without an error the lease is held.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal` and `partial` stop it; what nodes had replaced is released, which ends the lease if they were a majority.
    /// `total` is ignored, since nodes may have replaced the value already.
    /// Errors: `errc::lease_lost` (it is over: its time has passed, it was released, or somebody else has adopted it), `errc::no_majority` (too few nodes
    /// answered), `errc::invalid_ticket`, `errc::ticket_too_new`, `errc::ticket_of_other_nodes`, `errc::wrong_node_set`,
    /// `errc::ttl_too_long` (above `config::max_ttl`, here or on
    /// the nodes), `errc::client_not_running`, `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread.
    /// Source: docs/proof.md, "Leases that travel".
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto adopt(std::string_view ticket, CompletionToken&& token = {})
    {
        detail::initiate_adopt adoption{core_, detail::adopt_request{std::string{ticket}, std::nullopt}};
        return detail::start_operation<void(error_code, lease), CompletionToken>(token, std::move(adoption));
    }

    /// The same, and with options for the lease from now on. `fencing` and `token_block` are those of the ticket whatever is said here. An `acquire_timeout`
    /// ends the wait for a majority sooner.
    /// Throws `std::invalid_argument` for options out of bounds.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto adopt(std::string_view ticket, lock_options const& options, CompletionToken&& token = {})
    {
        validate(options);
        detail::initiate_adopt adoption{core_, detail::adopt_request{std::string{ticket}, options}};
        return detail::start_operation<void(error_code, lease), CompletionToken>(token, std::move(adoption));
    }

    /// Has nodes marked and admitted from now on, as the first lock with tokens would: for a service that is to be ready before its first lock,
    /// and for `redlock admit`. Returns at once; `status()` says which node waits for what. Thread safety: may be called from any thread.
    void begin_admission() { core_->begin_admission(); }

    /// The nodes, what they are doing, and counters.
    [[nodiscard]] client_status status() const { return core_->status(); }

private:
    friend struct detail::access;

    explicit client(std::shared_ptr<detail::core> core) noexcept : core_{std::move(core)} {}

    std::shared_ptr<detail::core> core_;
};

}  // namespace redlock

#endif
