// What the measurements share: servers, processes, contenders, counted commands, and the JSON around the figures.
#ifndef REDLOCK_BENCHMARKS_SUPPORT_HPP
#define REDLOCK_BENCHMARKS_SUPPORT_HPP

#include "support/redis_server.hpp"

#include <redlock/redlock.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using json = nlohmann::ordered_json;
using steady = std::chrono::steady_clock;  // CLOCK_MONOTONIC: one clock for all processes of a machine

using ports = std::vector<std::uint16_t>;

/// The independent redis-servers of one measurement.
class fleet {
public:
    explicit fleet(std::size_t size);

    bench::ports ports() const;
    redlock::testing::redis_server const& operator[](std::size_t i) const { return servers_[i]; }
    redlock::testing::redis_server& operator[](std::size_t i) { return servers_[i]; }
    std::size_t size() const noexcept { return servers_.size(); }

private:
    std::deque<redlock::testing::redis_server> servers_;
};

/// A configuration for servers that nobody has used before.
redlock::config bootstrap_config(bench::ports const& at);

/// A completion handler for co_spawn(): an exception goes to who runs the io_context.
inline void rethrow(std::exception_ptr e)
{
    if (e) std::rethrow_exception(e);
}

/// Waits until all nodes may be asked. Throws after 30 seconds.
asio::awaitable<void> usable(redlock::client const& nodes);

asio::awaitable<void> pause(std::chrono::nanoseconds d);

/// Runs handlers for so long. Not io_context::run_for(), which looks at the clock and at the sockets before each handler.
void run_for(asio::io_context& io, std::chrono::nanoseconds d);

/// Runs until usable().
void run_until_usable(asio::io_context& io, redlock::client const& nodes);

std::chrono::nanoseconds to_duration(double seconds);

/// Options that every measurement has.
struct choices {
    std::size_t nodes{3};
    bool plain{false};
    std::optional<std::uint32_t> max_handoffs;
    std::optional<std::chrono::milliseconds::rep> max_local_hold;
    std::filesystem::path output;

    void add_to(CLI::App& command);
    redlock::lock_options lock() const { return lock(!plain); }
    redlock::lock_options lock(bool fencing) const;
};

/// Writes the figures and what they were measured on, to the chosen file or the standard output.
void report(choices const& chosen, std::string const& what, json figures);

/// How the program was called; main sets it.
inline std::string command_line;

/// {"count", "mean", "p50", "p90", "p99", "max"}
json distribution(std::vector<double> values);

/// The commands that reach a server from its clients, by name ("client|caching"), from its MONITOR stream.
///
/// INFO commandstats cannot tell them: it counts a script's own calls like commands of a client (so does total_commands_processed),
/// and names such as SET and INFO are used by both. MONITOR marks those calls "lua".
class command_counter {
public:
    explicit command_counter(redlock::testing::redis_server const& server);
    ~command_counter();

    /// Until now.
    std::map<std::string, std::uint64_t> stop();

private:
    void count();

    redlock::testing::redis_server const& server_;
    std::map<std::string, std::uint64_t> seen_;
    std::jthread thread_;
};

std::uint64_t sum(std::map<std::string, std::uint64_t> const& commands);

/// A process that is forked from this one, without threads, and calls a function. Killed by the destructor.
class forked {
public:
    explicit forked(std::function<void()> const& body);
    forked(forked&& other) noexcept : pid_{std::exchange(other.pid_, 0)} {}
    ~forked();

    /// Waits for its end. Throws unless it succeeded.
    void join();

private:
    pid_t pid_;
};

}  // namespace bench

#endif
