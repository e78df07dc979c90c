// A client: connections to the nodes, and the watchdog that extends leases.
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

/// Connections to the nodes, the requests of all locks, and the watchdog that extends leases.
///
/// Usually a process has one client; it serves any number of locks and coroutines. It runs on a strand of its executor. If other handlers
/// on that executor may block, give the client an executor of its own (`asio::thread_pool{1}`): a watchdog that cannot run cannot extend
/// leases. Operations still complete on their callers' executors.
///
/// For all operations:
///
/// Executor: the handler's associated executor, by default the client's.
/// Lifetimes: move-only. The destructor calls `cancel()`, which ends the operations. An `io_context`, of the client or of a caller, may be
/// destroyed while operations, leases and scopes are outstanding; their handlers are then destroyed without being called, as in Asio.
/// Thread safety: `cancel`, `status`, `run`, `drain`, `adopt`, `begin_admission` and `get_executor` may be called from any thread at the
/// same time.
class REDLOCK_API client {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the executor that the client was given.

    /// Makes a client that is not connected yet: call `run()`. `observer` receives an event for each thing that the client does; null: no
    /// observer. Throws `config_error`.
    client(asio::any_io_executor executor, config const& configuration, std::shared_ptr<redlock::observer> observer = nullptr);

    /// The same on the executor of an execution context: `client{io, configuration}`.
    template <class ExecutionContext>
        requires std::convertible_to<ExecutionContext&, asio::execution_context&>
    client(ExecutionContext& context, config const& configuration, std::shared_ptr<redlock::observer> observer = nullptr)
        : client{asio::any_io_executor{context.get_executor()}, configuration, std::move(observer)}
    {
    }

    client(client&&) noexcept = default;  ///< The moved-from client may only be destroyed or assigned to.
    client& operator=(client&& other) noexcept;  ///< Cancels the client that was here.
    ~client();  ///< Calls `cancel()`.

    /// The executor on which operations complete and observers are called by default.
    executor_type get_executor() const noexcept { return core_->get_executor(); }

    /// Connects to all nodes and keeps them connected until `cancel()`.
    ///
    /// Preconditions: called once.
    /// Errors: always `errc::client_cancelled`, when the client has stopped. An unreachable node is no error: the client connects again and
    /// again, and `status()` shows the reason.
    /// Completion signature: `void(error_code)`.
    /// Per-operation cancellation: `terminal` and `partial` act as `cancel()`. `total` is ignored: it promises that nothing happens, but
    /// all leases would be lost.
    template <asio::completion_token_for<void(error_code)> CompletionToken = asio::deferred_t>
    [[nodiscard]] auto run(CompletionToken&& token = {})
    {
        return asio::async_initiate<CompletionToken, void(error_code)>(detail::initiate_on_core{core_, &detail::core::run}, token);
    }

    /// Stops the client. Acquisitions complete with `errc::client_cancelled` and are rolled back; leases are lost with the same code, so
    /// that scopes end. For at most 500 ms the client still sends releases, including those of the ending scopes, and admits nodes that
    /// need only a moment. Then the connections close and `run()` completes. Keys that could not be released expire. May be called
    /// repeatedly.
    void cancel() noexcept { core_->cancel(); }

    /// Waits until every reachable node has answered all releases in progress at the time of the call, including those of destroyed leases
    /// and of rolled-back attempts. It does not wait for later releases.
    ///
    /// Preconditions: none.
    /// Errors: `errc::client_cancelled` (the client stopped first), `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code)`.
    /// Per-operation cancellation: all types; the releases continue.
    template <asio::completion_token_for<void(error_code)> CompletionToken = asio::deferred_t>
    [[nodiscard]] auto drain(CompletionToken&& token = {})
    {
        return asio::async_initiate<CompletionToken, void(error_code)>(detail::initiate_on_core{core_, &detail::core::drain}, token);
    }

    /// Takes over a detached lease (`lease::detach()`), in the same or another process, with its tokens; this client extends it from now
    /// on. The ttl and the `lock_delay` are the ticket's; other options have their defaults, or come from the other overload.
    ///
    /// Each node replaces the value of the ticket by a new one, and the adoption succeeds on a majority. All copies of the ticket are then
    /// used up: neither the process that detached the lease nor another adopter can extend or release it. If too few nodes answer, the
    /// client asks them again until the ticket's ttl and `lock_delay` have passed since the call. Of two adopters at the same time, each
    /// may win too few nodes; then the lease is over.
    ///
    /// Preconditions: `run()` is called, before or during the operation.
    /// Errors: `errc::lease_lost` (the lease expired, was released, or was adopted by another client), `errc::no_majority` (too few nodes
    /// answered), `errc::invalid_ticket`, `errc::ticket_too_new`, `errc::ticket_of_other_nodes`, `errc::wrong_node_set`,
    /// `errc::ttl_too_long` (above `config::max_ttl` here or on the nodes), `errc::client_not_running`, `errc::client_cancelled`,
    /// `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code, lease)`; the lease is empty on error.
    /// Per-operation cancellation: `terminal` and `partial` stop it, and release the nodes whose value was replaced; if these are a
    /// majority, the lease ends. `total` is ignored, because nodes may have replaced the value already.
    /// Source: docs/proof.md, "Leases that travel".
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto adopt(std::string_view ticket, CompletionToken&& token = {})
    {
        detail::initiate_adopt adoption{core_, detail::adopt_request{std::string{ticket}, std::nullopt}};
        return detail::start_operation<void(error_code, lease), CompletionToken>(token, std::move(adoption));
    }

    /// The same, and with these options for the lease. `fencing` and `token_block` are always the ticket's. An `acquire_timeout` ends the
    /// wait for a majority sooner. Throws `std::invalid_argument` for options out of bounds.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto adopt(std::string_view ticket, lock_options const& options, CompletionToken&& token = {})
    {
        validate(options);
        detail::initiate_adopt adoption{core_, detail::adopt_request{std::string{ticket}, options}};
        return detail::start_operation<void(error_code, lease), CompletionToken>(token, std::move(adoption));
    }

    /// Starts admitting nodes now instead of at the first lock with `fencing`: for a service that must be ready before its first lock.
    /// Returns at once; `status()` shows what each node waits for.
    void begin_admission() { core_->begin_admission(); }

    /// The state of the nodes, and counters.
    [[nodiscard]] client_status status() const { return core_->status(); }

private:
    friend struct detail::access;

    explicit client(std::shared_ptr<detail::core> core) noexcept : core_{std::move(core)} {}

    std::shared_ptr<detail::core> core_;
};

}  // namespace redlock

#endif
