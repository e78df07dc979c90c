// For tests of code that uses redlock: nodes in memory and virtual time, without servers, sockets or waiting. In a library of its own,
// redlock::testing; see docs/testing.md.
#ifndef REDLOCK_TESTING_HPP
#define REDLOCK_TESTING_HPP

#include <redlock/client.hpp>
#include <redlock/clock.hpp>
#include <redlock/detail/completion.hpp>
#include <redlock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::testing {

/// The clock of a `simulation`. It advances only in the simulation's `run` functions and `pause`.
///
/// Its time points are those of `boot_clock`, so they can be compared with `lease::valid_until()`, which in a simulation is by this clock.
/// `boot_clock` itself shows real time even there.
class clock {
public:
    using rep = boot_clock::rep;                ///< A count of nanoseconds.
    using period = boot_clock::period;          ///< What `rep` counts.
    using duration = boot_clock::duration;      ///< A time between two points, in nanoseconds.
    using time_point = boot_clock::time_point;  ///< A point in virtual time.
    static constexpr bool is_steady = true;  ///< Never goes back within a simulation. Each simulation begins at the same point.

    /// The present time.
    static time_point now() noexcept;
};

/// An `asio::steady_timer` in virtual time, for code under test that takes its timer as a template parameter. A real `steady_timer` waits
/// for real time even in a simulation, where an hour passes before it expires.
///
/// Thread safety: none; a simulation runs on one thread.
class timer {
public:
    using executor_type = asio::any_io_executor;  ///< The default executor of its waits.
    using clock_type = clock;                     ///< Virtual.
    using duration = clock::duration;             ///< In nanoseconds.
    using time_point = clock::time_point;         ///< Of `clock`.

    /// An expired timer. Throws `std::logic_error` unless the executor is a simulation's.
    explicit timer(asio::any_io_executor executor);

    /// A timer that expires after this time.
    timer(asio::any_io_executor executor, duration after);

    timer(timer&&) noexcept;  ///< Takes over the waits.
    timer& operator=(timer&&) noexcept;  ///< Cancels the waits of the timer that was here.
    ~timer();                            ///< Cancels its waits.

    /// The executor given to the constructor.
    executor_type get_executor() const;

    /// Sets the expiry, and cancels the waits.
    void expires_after(duration after);
    void expires_at(time_point at);  ///< The same, with a point in time.
    time_point expiry() const;  ///< The expiry.
    void cancel();  ///< The waits complete with `asio::error::operation_aborted`.

    /// Waits until the timer expires.
    ///
    /// Preconditions: the timer was not moved from.
    /// Lifetimes: destroying the timer cancels the wait.
    /// Errors: `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code)`.
    /// Executor: the handler's associated executor, by default the timer's.
    /// Per-operation cancellation: all types.
    /// Thread safety: on the simulation's thread.
    template <asio::completion_token_for<void(error_code)> CompletionToken = asio::deferred_t>
    [[nodiscard]] auto async_wait(CompletionToken&& token = {})
    {
        return asio::async_initiate<CompletionToken, void(error_code)>(initiate{this}, token);
    }

private:
    class initiate {
    public:
        using executor_type = asio::any_io_executor;
        explicit initiate(timer* of) : of_{of} {}
        executor_type get_executor() const { return of_->get_executor(); }

        template <class Handler>
        void operator()(Handler&& handler) const
        {
            of_->wait(detail::completion<error_code>{std::forward<Handler>(handler), get_executor()});
        }

    private:
        timer* of_;
    };

    void wait(detail::completion<error_code> done);

    class state;
    std::unique_ptr<state> state_;
};

/// Waits for this much virtual time.
///
/// Preconditions: the calling coroutine runs in a simulation; otherwise `std::logic_error` is thrown.
/// Lifetimes: nothing has to outlive it.
/// Errors, thrown as `system_error`: `asio::error::operation_aborted`.
/// Completion signature: none; an `asio::awaitable<void>`.
/// Executor: the calling coroutine's.
/// Per-operation cancellation: the types that the calling coroutine allows, by default `terminal`.
/// Thread safety: on the simulation's thread.
/// Units: any `std::chrono` duration, stored in nanoseconds.
[[nodiscard]] asio::awaitable<void> sleep(clock::duration time);

/// The options of a `simulation`, for designated initialisers.
struct simulation_options {
    std::size_t nodes{3};  ///< The number of nodes. 1 to 15.
    std::uint32_t seed{1};  ///< The seed of all random choices: the same seed gives the same run.
    std::chrono::microseconds round_trip{100};  ///< The least time for a request and its answer, in microseconds.
    std::chrono::microseconds max_lingering{50};  ///< The largest additional time, drawn for each request, in microseconds.
    std::chrono::milliseconds max_ttl{30'000};    ///< As `config::max_ttl`, in milliseconds.
};

/// One node of a simulation, with the faults of servers. For the simulation's thread only.
class simulated_node {
public:
    simulated_node(simulated_node const&) = delete;
    simulated_node& operator=(simulated_node const&) = delete;
    ~simulated_node();

    void down();  ///< Unreachable: connections break, and none can be made. It keeps its data, and keys expire.
    void up();  ///< Reachable again.
    void stop();  ///< The process is stopped: connections stay open, and nothing is answered.
    void go_on();  ///< Ends `stop()`: requests that arrived meanwhile are executed now.
    void restart();  ///< The process restarts and loads its data from disk. It votes again once it is admitted.
    void forget();  ///< The process restarts without its data. It votes again once every lease that it could have granted has expired.

    /// Sets the least time for a request and its answer from now on, in any unit.
    void round_trip(std::chrono::nanoseconds time);

    /// Steps its wall clock, by which keys expire, forward; negative: back.
    void set_clock(std::chrono::nanoseconds by);

private:
    friend class simulation;
    class state;
    explicit simulated_node(std::unique_ptr<state> s);
    std::unique_ptr<state> state_;
};

/// The holder of a lock, as a majority of the nodes has it.
struct holding {
    std::string who;  ///< The client's name (`simulation::make_client()`); "elsewhere" after `hold_elsewhere()` and `lose()`.
    std::size_t nodes{0};  ///< The number of nodes that have its key.
    std::uint64_t token{0};  ///< The fencing token of its lease; 0: none.
    std::chrono::milliseconds expires_in{0};  ///< When the majority expires unless it is extended, in milliseconds.
};

/// Clients over nodes in memory, in virtual time, on one thread. An hour of leases takes milliseconds, and the same seed gives the same
/// run.
///
/// Everything but the connections is the real library: rounds, votes, tokens, the watchdog. Coroutines under test run on the simulation's
/// executor, in its `run` functions, and may only wait for virtual time (`timer`, `sleep`).
///
/// Lifetimes: clients, locks and leases may outlive it; timers may not. Handlers not yet called are destroyed with it. The constructor
/// throws `std::logic_error` while another simulation exists in this process.
///
/// Thread safety: none; it and everything that runs in it belong to one thread.
class simulation {
public:
    using duration = clock::duration;  ///< In nanoseconds.

    /// Creates nodes that are up, and a client connected to them. Throws `std::invalid_argument` for invalid options.
    explicit simulation(simulation_options const& options = {});
    simulation(simulation const&) = delete;
    simulation& operator=(simulation const&) = delete;
    ~simulation();

    asio::io_context& context() noexcept;  ///< For spawning. Do not run it: `run_for` does.
    asio::any_io_executor get_executor() const noexcept;  ///< The executor of that context.

    redlock::client& client() noexcept;  ///< A running client of these nodes, named "client".
    simulated_node& node(std::size_t index);  ///< Throws `std::out_of_range`.
    std::size_t nodes() const noexcept;  ///< The number of nodes.

    /// Creates another running client of these nodes, like another instance of a service. `name` appears in `holding::who`; `observer` is
    /// as for any client. Throws `std::invalid_argument` if the name is empty, in use, or "elsewhere".
    redlock::client make_client(std::string name, std::shared_ptr<redlock::observer> observer = nullptr);

    /// Runs a coroutine to its end, while virtual time passes as needed. Returns its result or throws its exception. Throws
    /// `std::runtime_error` after `limit` of virtual time: the coroutine waits forever, or for something outside virtual time. Throws
    /// `std::logic_error` if called inside a run.
    template <class T>
    T run(asio::awaitable<T> story, duration limit = std::chrono::minutes{10})
    {
        auto const end = std::make_shared<ending>();  // the coroutine may go on after this threw
        auto const result = std::make_shared<std::optional<T>>();
        asio::co_spawn(context(), std::move(story), [end, result](std::exception_ptr e, T value) {
            if (!e) result->emplace(std::move(value));
            end->failure = std::move(e);
            end->reached = true;
        });
        run_to(*end, limit);
        return std::move(**result);
    }

    /// The same for a coroutine without a result.
    void run(asio::awaitable<void> story, duration limit = std::chrono::minutes{10});

    /// Lets this much virtual time pass. Throws what a handler throws, and `std::logic_error` if called inside a run.
    void run_for(duration time);

    /// Lets virtual time pass until `done()`, at most for `limit`. Returns whether it is done.
    [[nodiscard]] bool run_until(std::function<bool()> const& done, duration limit = std::chrono::minutes{10});

    /// Time passes and nothing runs, as when a process is stopped or a machine suspended. What is due meanwhile runs afterwards, late.
    void pause(duration time);

    /// Another party, none of these clients, gets the lock on all nodes, for `ttl` (1 ms to `max_ttl`) and with a larger token. Throws
    /// `std::logic_error` if the lock is held (see `lose()`), and `std::invalid_argument` for another `ttl`.
    void hold_elsewhere(std::string_view name, std::chrono::milliseconds ttl = std::chrono::seconds{10});

    /// Releases that lock, and notifies waiters. Does nothing if it is not held elsewhere.
    void release_elsewhere(std::string_view name);

    /// Moves the lock to another party: the nodes lose its keys, and then as `hold_elsewhere()`. The holder learns of it after one round
    /// trip instead of at the next extension: its lease is lost, its scope cancelled. Throws `std::logic_error` if none of the clients
    /// holds the lock.
    void lose(std::string_view name, std::chrono::milliseconds ttl = std::chrono::seconds{1});

    /// The present holder, if a majority of the nodes has one; read directly from the nodes, also from those that are down. Readers of a
    /// `rw_lock` are not reported.
    std::optional<holding> holder(std::string_view name) const;

    /// How many leases of all clients ended before they were released.
    std::uint64_t leases_lost() const;

private:
    struct ending {
        bool reached{false};
        std::exception_ptr failure;
    };

    void run_to(ending const& end, duration limit);

    class state;
    std::unique_ptr<state> state_;
};

}  // namespace redlock::testing

#endif
