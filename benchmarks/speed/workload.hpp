// What the workers do, each in a process of its own on a processor of its own.
#ifndef REDLOCK_BENCHMARKS_SPEED_WORKLOAD_HPP
#define REDLOCK_BENCHMARKS_SPEED_WORKLOAD_HPP

#include "relay.hpp"
#include "meter.hpp"
#include "fleet.hpp"
#include "loop.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace bench {

/// Callers that acquire and release all the time, each a name of its own.
struct workload {
    ports at;
    bool sharded{false};    ///< Each server of `at` is a shard of its own, and not a node among the others.
    std::string cluster{};  ///< The URL of a Redis Cluster that takes the place of `at`.
    std::vector<std::string> ids;  ///< Of the servers, as they were admitted; for the baselines' scripts with tokens.
    std::size_t callers{256};
    bool fencing{false};
    bool reading{false};  ///< This library's callers read, all of them with one name.
    std::uint32_t permits{0};  ///< This library's callers take a permit, each of a semaphore of its own that has so many; 0: a lock.
    std::chrono::milliseconds ttl{10'000};
    std::chrono::nanoseconds warm_up{300ms};
    std::chrono::nanoseconds measured{2s};

    std::size_t names{1};                    ///< Of each caller, taken in turn.
    std::chrono::nanoseconds rest{};  ///< After each release, on average; this library's callers and those of the epoll baseline only.
    std::chrono::nanoseconds stagger{};  ///< Caller i begins i times this later, so that they do not go in step.

    /// For an io_context that several threads may run: without config::implicit_strand, which the baselines have as well.
    bool own_strand{false};

    /// Threads that run the io_context, on all processors: of this library's callers, with own_strand only, and of the coroutines baseline.
    std::size_t threads{1};
    bool idle_thread{false};  ///< Another thread exists, and sleeps: shared_ptr counts with atomics then.

    /// The client's end of a relay, whose ports are in `at`. If it is set, the run ends after `pairs` pairs, not after a time; the warm-up
    /// is a quarter of that.
    std::optional<step_line> in_step{};
    std::size_t pairs{0};

    /// Called once where the measurement begins.
    std::function<void()> at_begin{};

    std::string key(std::size_t caller, std::size_t name = 0) const;

    /// Of this library's client.
    redlock::config settings() const;
};

/// How long callers rest: half the average to one and a half, drawn for each rest. With equal rests they would be in step after a while,
/// however they began: those whose answers came together would ask together ever after.
class rests {
public:
    explicit rests(std::chrono::nanoseconds average) : spread_{(average / 2).count(), (average + average / 2).count()} {}

    std::chrono::nanoseconds next() { return std::chrono::nanoseconds{spread_(source_)}; }

private:
    std::minstd_rand source_{1};
    std::uniform_int_distribution<std::chrono::nanoseconds::rep> spread_;
};

/// Throws `std::logic_error` if the work has tokens, rests or a stagger: `who` has none of them.
void refuse_tokens_and_rests(workload const& what, std::string const& who);

/// Workers that do the same.
sample run_epoll_baseline(workload const& what);  ///< Raw non-blocking sockets and epoll, no library.
sample run_asio_baseline(workload const& what);  ///< The same over Asio's sockets.
sample run_boost_redis_baseline(workload const& what);  ///< The same over Boost.Redis; without tokens only.
sample run_coroutines_baseline(workload const& what);  ///< The same, with a coroutine for each caller.
sample run_duties_baseline(workload const& what);  ///< The same, with what a lock has to remember.
sample run_ours(workload const& what);  ///< Coroutines on an io_context, with this library.

/// How much longer than it should a measurement goes on while no pair was completed: other programs have the processors.
inline constexpr std::chrono::seconds max_busy_machine{30};

/// Runs what is measured, for as long as `what` says, or until a pair was completed.
void measure(asio::io_context& io, workload const& what, meter const& figures);

/// So many threads run the context until the time is over.
void run_in_threads(asio::io_context& io, std::chrono::nanoseconds d, std::size_t threads);

/// With workload::in_step: warm-up and measurement. `turn` does all that can be done until something comes from a server.
void measure_in_step(workload const& what, meter& figures, std::function<void()> const& turn);

/// What is counted of a measurement in step; callgrind finds it by its name.
void counted_turn(std::function<void()> const& turn);

}  // namespace bench

#endif
