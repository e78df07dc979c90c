// What the workers do, each in a process of its own on a processor of its own.
#ifndef REDLOCK_BENCHMARKS_SPEED_WORKLOAD_HPP
#define REDLOCK_BENCHMARKS_SPEED_WORKLOAD_HPP

#include "in_step.hpp"
#include "meter.hpp"
#include "support.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace bench {

/// Callers that acquire and release all the time, each a name of its own.
struct workload {
    ports at;
    std::vector<std::string> ids;  ///< Of the servers, as they were admitted; for the floors' scripts with tokens.
    std::size_t callers{256};
    bool fencing{false};
    bool reading{false};  ///< This library's callers read, all of them with one name.
    std::uint32_t permits{0};  ///< This library's callers take a permit, each of a semaphore of its own that has so many; 0: a lock.
    std::chrono::milliseconds ttl{10'000};
    std::chrono::nanoseconds warm_up{300ms};
    std::chrono::nanoseconds measured{2s};

    std::size_t names{1};                    ///< Of each caller, taken in turn.
    std::chrono::nanoseconds rest{};  ///< After each release, on average; this library's callers and those of the epoll floor only.
    std::chrono::nanoseconds stagger{};  ///< Caller i begins i times this later, so that they do not go in step.

    /// For an io_context that several threads may run: without config::implicit_strand, which the floors have as well.
    bool own_strand{false};

    /// Threads that run the io_context of this library's callers, on all processors; more than one with own_strand only.
    std::size_t threads{1};
    bool idle_thread{false};  ///< Another thread exists, and sleeps: shared_ptr counts with atomics then.

    /// The client's end of a relay that has the ports in `at`. Then it is measured for so many pairs and a few, after a quarter of as many, whatever the time.
    std::optional<step_line> in_step{};
    std::size_t pairs{0};

    /// Called once where the measurement begins.
    std::function<void()> at_begin{};

    std::string key(std::size_t caller, std::size_t name = 0) const;
};

/// How long callers rest: half the average to one and a half, drawn for each rest. With equal rests they would be in step after a while, however
/// they began: those whose answers came together would ask together ever after.
class rests {
public:
    explicit rests(std::chrono::nanoseconds average) : spread_{(average / 2).count(), (average + average / 2).count()} {}

    std::chrono::nanoseconds next() { return std::chrono::nanoseconds{spread_(source_)}; }

private:
    std::minstd_rand source_{1};
    std::uniform_int_distribution<std::chrono::nanoseconds::rep> spread_;
};

/// Workers that do the same.
sample run_epoll_floor(workload const& what);  ///< Raw non-blocking sockets and epoll, no library.
sample run_asio_floor(workload const& what);  ///< The same over Asio's sockets.
sample run_boost_redis_floor(workload const& what);  ///< The same over Boost.Redis; without tokens only.
sample run_coroutines_floor(workload const& what);  ///< The same, with a coroutine for each caller.
sample run_duties_floor(workload const& what);  ///< The same, with what a lock has to remember.
sample run_ours(workload const& what);  ///< Coroutines on an io_context, with this library.

/// A fleet on processors that its clients do not use, which knows the scripts and has admitted its nodes.
class testbed {
public:
    explicit testbed(std::size_t nodes);

    fleet const& servers() const noexcept { return servers_; }
    redlock::testing::redis_server& operator[](std::size_t i) { return servers_[i]; }
    redlock::testing::redis_server const& operator[](std::size_t i) const { return servers_[i]; }
    std::size_t size() const noexcept { return servers_.size(); }
    workload work(std::size_t callers, bool fencing) const;

private:
    fleet servers_;
    std::vector<std::string> ids_;
};

/// How much longer than it should a measurement goes on while nobody has come round: other programs have the processors.
inline constexpr std::chrono::seconds busy_machine_max{30};

/// Runs what is measured, for as long as `what` says, or until somebody has come round.
void measure(asio::io_context& io, workload const& what, meter const& figures);

/// With workload::in_step: warm-up and measurement. `turn` does all that can be done until something comes from a server.
void measure_in_step(workload const& what, meter& figures, std::function<void()> const& turn);

/// What is counted of a measurement in step; callgrind finds it by its name.
void counted_turn(std::function<void()> const& turn);

/// Lets this process use all processors.
void use_all_processors();

/// Puts this process where the servers are, for what is not to be measured with a client.
void keep_off_the_clients_processor();

/// Puts the servers of a fleet on processors that clients do not use.
void pin_apart(fleet const& servers);

/// Runs `body`, which fills `result`, in a process of its own on the clients' processor.
void run_apart(void* result, std::size_t size, std::function<void()> const& body);

template <class Result>
Result run_apart(std::function<Result()> const& body)
{
    static_assert(std::is_trivially_copyable_v<Result>, "it goes through a pipe");
    Result result{};
    run_apart(&result, sizeof result, [&] { result = body(); });
    return result;
}

}  // namespace bench

#endif
