// For tests of code that uses redlock: nodes in memory, in virtual time, without servers, sockets and waiting. It is in a library of its
// own, redlock::testing; docs/testing.md shows how it is used.
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

/// The clock of a `simulation`: it does not move, except in its `run` functions and `pause`.
///
/// Its time points are those of `boot_clock`, so that they can be compared with `lease::valid_until()`, which in a simulation is of this
/// clock. `boot_clock` itself shows real time even there.
class clock {
public:
    using rep = boot_clock::rep;                ///< A count of nanoseconds.
    using period = boot_clock::period;          ///< What `rep` counts.
    using duration = boot_clock::duration;      ///< A time between two points, in nanoseconds.
    using time_point = boot_clock::time_point;  ///< A point in virtual time.
    static constexpr bool is_steady = true;     ///< It never goes back within a simulation. Each one begins at the same point.

    /// The time now.
    static time_point now() noexcept;
};

/// What `asio::steady_timer` is, in virtual time. For code under test that takes its timer as a template parameter.
///
/// A `steady_timer` waits for real time even in a simulation, where an hour is over before it rings.
///
/// Thread safety: none; a simulation works on one thread.
class timer {
public:
    using executor_type = asio::any_io_executor;  ///< What its waits complete on by default.
    using clock_type = clock;                     ///< Virtual.
    using duration = clock::duration;             ///< In nanoseconds.
    using time_point = clock::time_point;         ///< Of `clock`.

    /// One that has expired. Throws `std::logic_error` unless the executor is of a simulation.
    explicit timer(asio::any_io_executor executor);

    /// One that expires after so long.
    timer(asio::any_io_executor executor, duration after);

    timer(timer&&) noexcept;             ///< The waits go along.
    timer& operator=(timer&&) noexcept;  ///< Cancels the waits that were there.
    ~timer();                            ///< Cancels its waits.

    /// Of its constructor.
    executor_type get_executor() const;

    /// Sets when it expires, and cancels its waits.
    void expires_after(duration after);
    void expires_at(time_point at);  ///< The same with a point in time.
    time_point expiry() const;       ///< When that is.
    void cancel();                   ///< Its waits complete with `asio::error::operation_aborted`.

    /// Completes when the timer expires.
    ///
    /// Preconditions: it was not moved from.
    /// Lifetimes: destroying the timer cancels the wait.
    /// Completion signature: `void(error_code)`.
    /// Executor: the handler's associated executor, by default the timer's.
    /// Per-operation cancellation: all types.
    /// Errors: `asio::error::operation_aborted`.
    /// Thread safety: on the thread of the simulation.
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

/// Waits for so much virtual time.
///
/// Preconditions: the calling coroutine runs in a simulation; otherwise it throws `std::logic_error`.
/// Lifetimes: none to care about.
/// Completion signature: none of its own: it is an `asio::awaitable<void>`.
/// Executor: the calling coroutine's.
/// Per-operation cancellation: the types that the calling coroutine observes, by default `terminal`.
/// Errors, thrown as `system_error`: `asio::error::operation_aborted`.
/// Thread safety: on the thread of the simulation.
/// Units: any `std::chrono` duration; it is kept in nanoseconds.
[[nodiscard]] asio::awaitable<void> sleep(clock::duration time);

/// What a `simulation` is made with, for designated initialisers.
struct simulation_options {
    std::size_t nodes{3};                         ///< How many. 1 to 15.
    std::uint32_t seed{1};                        ///< Of everything that is random: another one, another run; the same, the same run.
    std::chrono::microseconds round_trip{100};    ///< What a request and its answer take at least, in microseconds.
    std::chrono::microseconds max_lingering{50};  ///< How much longer a request takes at most, in microseconds; drawn for each one.
    std::chrono::milliseconds max_ttl{30'000};    ///< As `config::max_ttl`, in milliseconds.
};

/// One node of a simulation, to do to it what happens to servers. Used on the thread of the simulation.
class simulated_node {
public:
    simulated_node(simulated_node const&) = delete;
    simulated_node& operator=(simulated_node const&) = delete;
    ~simulated_node();

    void down();     ///< Nobody reaches it: connections break, and none can be made. It keeps what it knows, and keys expire.
    void up();       ///< It can be reached again.
    void stop();     ///< The process is stopped: connections stay, nothing is answered.
    void go_on();    ///< After `stop()`: what was sent meanwhile is executed now.
    void restart();  ///< The process ends and begins anew, and finds on its disk what it knew. It votes again once it is admitted.
    void forget();   ///< The same, but it lost its data. It votes again once every lease that it could have granted has expired.

    /// What a request and its answer take from now on, at least, in whatever unit.
    void round_trip(std::chrono::nanoseconds time);

    /// Sets its wall clock, by which keys expire, so much forward; negative: back.
    void set_clock(std::chrono::nanoseconds by);

private:
    friend class simulation;
    class state;
    explicit simulated_node(std::unique_ptr<state> s);
    std::unique_ptr<state> state_;
};

/// Who holds a lock, as a majority of the nodes see it.
struct holding {
    std::string who;  ///< The name of the client, see `simulation::make_client()`; "elsewhere" for `hold_elsewhere()` and `lose()`.
    std::size_t nodes{0};  ///< On how many nodes.
    std::uint64_t token{0};  ///< The fencing token of its lease; 0: it has none.
    std::chrono::milliseconds expires_in{0};  ///< When the majority ends, in milliseconds, unless it is extended.
};

/// Clients over nodes in memory, in virtual time, on one thread: an hour of leases takes milliseconds, and the same seed gives the same run.
///
/// Everything below the public interface but the connections is the real library: rounds, votes, tokens, the watchdog. Coroutines under
/// test run on the simulation's executor, in its `run` functions; what they wait for must be in virtual time (`timer`, `sleep`).
///
/// Lifetimes: clients, locks and leases may outlive it, timers may not; handlers that have not been called are destroyed with it. One at a
/// time: the constructor throws `std::logic_error` while another simulation lives in this process.
///
/// Thread safety: none; it belongs to one thread, and so does everything that runs in it.
class simulation {
public:
    using duration = clock::duration;  ///< In nanoseconds.

    /// Nodes that are up, and a client that is connected to them. Throws `std::invalid_argument` for options that make no sense.
    explicit simulation(simulation_options const& options = {});
    simulation(simulation const&) = delete;
    simulation& operator=(simulation const&) = delete;
    ~simulation();

    asio::io_context& context() noexcept;  ///< For what is spawned; do not run it: `run_for` does.
    asio::any_io_executor get_executor() const noexcept;  ///< Of that context.

    redlock::client& client() noexcept;  ///< A client of these nodes, which is running. Its name is "client".
    simulated_node& node(std::size_t index);  ///< Throws `std::out_of_range`.
    std::size_t nodes() const noexcept;  ///< How many there are.

    /// Another client of these nodes, which is running: another instance of a service. `name`: what `holding::who` says. `observer`: as for any
    /// client. Throws `std::invalid_argument` when the name is empty or was given before.
    redlock::client make_client(std::string name, std::shared_ptr<redlock::observer> observer = nullptr);

    /// Runs a coroutine to its end and returns what it returns, or throws what it throws. Time passes as it has to. After `limit` of virtual
    /// time, throws `std::runtime_error`: it waits for ever, or for something that is not in virtual time. Not to be called in what runs
    /// here already (`std::logic_error`).
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

    /// The same for a coroutine that returns nothing.
    void run(asio::awaitable<void> story, duration limit = std::chrono::minutes{10});

    /// Lets so much virtual time pass. What a handler throws comes out of here. As `run`, not to be called in what runs here already.
    void run_for(duration time);

    /// Lets time pass until `done()`, but no more than `limit`. Returns whether it is done.
    [[nodiscard]] bool run_until(std::function<bool()> const& done, duration limit = std::chrono::minutes{10});

    /// Time passes and nothing runs, as when a process is stopped, or a machine suspended. What is due meanwhile runs afterwards, late.
    void pause(duration time);

    /// Somebody who is none of these clients has the lock from now on, on all nodes, for `ttl`, and with a larger token. Throws
    /// `std::logic_error` when somebody has it: see `lose()`.
    void hold_elsewhere(std::string_view name, std::chrono::milliseconds ttl = std::chrono::seconds{10});

    /// And releases it. Waiters are told. Does nothing when it is not held elsewhere.
    void release_elsewhere(std::string_view name);

    /// The lock changes hands: the nodes lose its keys, and as with `hold_elsewhere()` somebody else acquires it. The holder finds
    /// out one round trip later instead of at the next extension: the lease is lost, its scope is cancelled. Throws `std::logic_error`
    /// when none of the clients has it.
    void lose(std::string_view name, std::chrono::milliseconds ttl = std::chrono::seconds{1});

    /// Who holds it now; nobody has to answer for that, nodes that are down count too. Without a majority: nobody. The readers of a `rw_lock` are not
    /// told.
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
