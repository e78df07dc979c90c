#include "support.hpp"

#include "support/loopback.hpp"
#include "support/resp_client.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <new>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <csignal>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

using redlock::testing::redis_server;

fleet::fleet(std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i) servers_.emplace_back();
}

ports fleet::ports() const
{
    bench::ports all;
    for (auto const& server : servers_) all.push_back(server.port());
    return all;
}

redlock::config bootstrap_config(ports const& at)
{
    redlock::config settings;
    for (auto const port : at) {
        auto& node = settings.nodes.emplace_back();
        node.host = "127.0.0.1";
        node.port = port;
    }
    settings.bootstrap = true;
    settings.connect_timeout = 20s;  // a thousand clients of one machine connect at once
    return settings;
}

asio::awaitable<void> pause(std::chrono::nanoseconds d)
{
    asio::steady_timer timer{co_await asio::this_coro::executor, d};
    auto wait = timer.async_wait(asio::use_awaitable);
    co_await std::move(wait);
}

asio::awaitable<void> usable(redlock::client const& nodes)
{
    auto const is_usable = [](redlock::node_status const& n) { return n.state == redlock::node_state::usable; };
    auto const end = steady::now() + 30s;
    for (;;) {
        auto const all = nodes.status().nodes;
        if (std::ranges::all_of(all, is_usable)) co_return;
        if (steady::now() > end) throw std::runtime_error{"the nodes did not become usable"};
        auto waiting = pause(5ms);
        co_await std::move(waiting);
    }
}

void run_for(asio::io_context& io, std::chrono::nanoseconds d)
{
    asio::steady_timer end{io, d};
    end.async_wait([&](redlock::error_code) { io.stop(); });
    io.run();
    io.restart();
}

void run_until_usable(asio::io_context& io, redlock::client const& nodes)
{
    auto connect = [&]() -> asio::awaitable<void> {
        auto connecting = usable(nodes);
        co_await std::move(connecting);
        io.stop();
    };
    asio::co_spawn(io, connect(), [](std::exception_ptr e) {
        if (e) std::rethrow_exception(e);
    });
    io.run();
    io.restart();
}

std::chrono::nanoseconds to_duration(double seconds)
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>{seconds});
}

namespace {

// These options come with local hand-offs; without them they are ignored, and the report says so.
template <class Options>
bool limit_handoffs(Options& options, choices const& chosen)
{
    if constexpr (requires {
                      options.max_handoffs;
                      options.max_local_hold;
                  }) {
        if (chosen.max_handoffs) options.max_handoffs = *chosen.max_handoffs;
        if (chosen.max_local_hold) options.max_local_hold = std::chrono::milliseconds{*chosen.max_local_hold};
        return true;
    } else {
        return false;
    }
}

std::string first_value(char const* file, std::string const& key)
{
    std::ifstream in{file};
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(key)) return line.substr(std::min(line.size(), line.find(':') + 2));
    return "unknown";
}

std::string load_average()
{
    std::ifstream in{"/proc/loadavg"};
    std::string one;
    in >> one;
    return one;
}

std::string compiler()
{
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

}  // namespace

void choices::add_to(CLI::App& command)
{
    command.add_option("--nodes", nodes, "How many redis-servers")->capture_default_str()->check(CLI::Range(1, 15));
    command.add_flag("--plain", plain, "Locks without fencing tokens");
    command.add_option("--max-handoffs", max_handoffs, "lock_options::max_handoffs");
    command.add_option("--max-local-hold", max_local_hold, "lock_options::max_local_hold, in ms");
    command.add_option("--output", output, "Where the JSON goes; default: standard output");
}

redlock::lock_options choices::lock(bool fencing) const
{
    redlock::lock_options options{.fencing = fencing};
    limit_handoffs(options, *this);
    return options;
}

void report(choices const& chosen, std::string const& what, json figures)
{
    redlock::lock_options probe;
    bool const local_handoffs = limit_handoffs(probe, choices{});
    json const text{{"what", what},
                    {"host",
                     {{"cores", std::thread::hardware_concurrency()},
                      {"cpu", first_value("/proc/cpuinfo", "model name")},
                      {"load_1min_at_the_end", load_average()}}},
                    {"compiler", compiler()},
                    {"build_type", REDLOCK_BUILD_TYPE},
                    {"command_line", command_line},
                    {"nodes", chosen.nodes},
                    {"has_local_handoffs", local_handoffs},
                    {"figures", std::move(figures)}};
    if (chosen.output.empty()) {
        std::cout << text.dump(2) << '\n';
        return;
    }
    std::ofstream out{chosen.output};
    out << text.dump(2) << '\n';
    if (!out.flush()) throw std::runtime_error{"cannot write " + chosen.output.string()};
}

json distribution(std::vector<double> values)
{
    if (values.empty()) throw std::runtime_error{"nothing was measured"};
    std::ranges::sort(values);
    auto const at = [&](double fraction) {
        auto const rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values.size())));
        return values[std::max<std::size_t>(rank, 1) - 1];
    };
    double const total = std::accumulate(values.begin(), values.end(), 0.0);
    return {{"count", values.size()}, {"mean", total / static_cast<double>(values.size())},
            {"p50", at(0.5)},         {"p90", at(0.9)},
            {"p99", at(0.99)},        {"max", values.back()}};
}

namespace {

constexpr char const* last_words = "redlock-benchmark-ends-here";

// `1700000000.123456 [0 127.0.0.1:40000] "client" "caching" "yes"`, or `[0 lua]` in front of a script's own calls.
std::optional<std::string> client_command(std::string_view line)
{
    auto const source_end = line.find("] \"");
    if (source_end == std::string_view::npos || line.substr(0, source_end).ends_with(" lua")) return std::nullopt;
    std::string name;
    auto word = line.substr(source_end + 3);
    name = word.substr(0, word.find('"'));
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (name == "client" || name == "script" || name == "config") {
        word.remove_prefix(std::min(word.size(), name.size() + 3));
        std::string sub{word.substr(0, word.find('"'))};
        std::ranges::transform(sub, sub.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        name += "|" + sub;
    }
    return name;
}

}  // namespace

command_counter::command_counter(redis_server const& server) : server_{server}
{
    std::atomic<bool> started{false};
    thread_ = std::jthread{[this, &started] {
        redlock::testing::loopback_socket socket{redlock::testing::loopback::ipv4, server_.port(), steady::now() + 1h};
        socket.write("MONITOR\r\n");
        std::string heard;
        std::vector<char> chunk(1 << 16);
        for (bool over = false, first = true; !over;) {
            heard.append(chunk.data(), socket.read(chunk.data(), chunk.size()));
            std::size_t begin = 0;
            for (std::size_t end; !over && (end = heard.find("\r\n", begin)) != std::string::npos; begin = end + 2) {
                std::string_view const line = std::string_view{heard}.substr(begin, end - begin);
                if (std::exchange(first, false)) {
                    started = true;
                    started.notify_one();
                } else if (line.find(last_words) != std::string_view::npos) {
                    over = true;
                } else if (auto const name = client_command(line)) {
                    ++seen_[*name];
                }
            }
            heard.erase(0, begin);
        }
    }};
    started.wait(false);
}

command_counter::~command_counter()
{
    if (thread_.joinable()) stop();
}

std::map<std::string, std::uint64_t> command_counter::stop()
{
    server_.command({"ECHO", last_words}, 60s);
    thread_.join();
    return seen_;
}

std::uint64_t sum(std::map<std::string, std::uint64_t> const& commands)
{
    std::uint64_t total = 0;
    for (auto const& [name, count] : commands) total += count;
    return total;
}

std::map<std::string, std::uint64_t> command_stats(redis_server const& server)
{
    std::map<std::string, std::uint64_t> calls;
    std::istringstream lines{server.command({"INFO", "commandstats"}, 60s)};
    constexpr std::string_view prefix = "cmdstat_";
    for (std::string line; std::getline(lines, line);) {
        auto const at = line.find(":calls=");
        if (!line.starts_with(prefix) || at == std::string::npos) continue;
        calls[line.substr(prefix.size(), at - prefix.size())] = std::stoull(line.substr(at + 7));
    }
    return calls;
}

forked::forked(std::function<void()> const& body) : pid_{0}
{
    pid_t const parent = ::getpid();
    std::cout.flush();
    pid_ = ::fork();
    if (pid_ < 0) throw std::system_error{errno, std::generic_category(), "fork"};
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(EXIT_FAILURE);
    try {
        body();
    } catch (std::exception const& e) {
        std::fprintf(stderr, "a forked process failed: %s\n", e.what());
        ::_exit(EXIT_FAILURE);
    }
    ::_exit(EXIT_SUCCESS);  // no destructors: the servers are the parent's
}

forked::~forked()
{
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

void forked::join()
{
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    pid_ = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS) throw std::runtime_error{"a forked process failed"};
}

namespace {

constexpr std::size_t processes_max = 64;

enum class phase : std::uint32_t { warming_up, measuring, over };

struct process_record {
    std::atomic<std::uint64_t> acquired{0};
    std::atomic<std::uint64_t> lost{0};
    std::atomic<std::int64_t> wait_sum_ns{0};
    std::atomic<std::int64_t> wait_max_ns{0};
};

// Memory that all processes of a contest share.
struct board {
    std::atomic<phase> now{phase::warming_up};
    std::atomic<std::uint32_t> connected{0};
    std::atomic<std::int32_t> inside{0};
    std::atomic<std::uint64_t> overlaps{0};
    std::array<process_record, processes_max> processes;
};
static_assert(std::atomic<phase>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

std::shared_ptr<board> make_board()
{
    void* const memory = ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "mmap"};
    return {new (memory) board, [](board* b) { ::munmap(b, sizeof(board)); }};
}

// One process of a contest. Only its own thread writes to its record.
class crew {
public:
    crew(board& shared, std::size_t index, contenders const& who, ports const& at)
        : board_{shared}, mine_{shared.processes[index]}, who_{who}
    {
        auto const waiters = who.waiters / who.processes + (index < who.waiters % who.processes);
        for (std::size_t i = 0; i < (who.own_clients ? waiters : 1); ++i) {
            auto& nodes = clients_.emplace_back(io_.get_executor(), bootstrap_config(at));
            nodes.run(asio::detached);
            asio::co_spawn(io_, start(nodes, who.own_clients ? 1 : waiters), stop_if_failed());
        }
        asio::co_spawn(io_, end_with_the_others(), stop_if_failed());
    }

    void run()
    {
        io_.run();
        if (failure_) std::rethrow_exception(failure_);
    }

private:
    std::function<void(std::exception_ptr)> stop_if_failed()
    {
        return [this](std::exception_ptr e) {
            if (!e) return;
            failure_ = e;
            io_.stop();
        };
    }

    asio::awaitable<void> start(redlock::client const& nodes, std::size_t waiters)
    {
        auto connecting = usable(nodes);
        co_await std::move(connecting);
        ++board_.connected;
        for (std::size_t i = 0; i < waiters; ++i) asio::co_spawn(io_, contend(nodes), stop_if_failed());
    }

    asio::awaitable<void> contend(redlock::client const& nodes)
    {
        redlock::lock const resource{nodes, "contended", who_.lock};
        auto& asked_at = waiting_.emplace_back();
        for (;;) {
            asked_at = steady::now();
            auto acquisition = resource.acquire(asio::use_awaitable);
            redlock::lease held = co_await std::move(acquisition);
            enter(steady::now() - *asked_at);
            asked_at.reset();
            if (who_.hold > 0ms) {
                auto holding = pause(who_.hold);
                co_await std::move(holding);
            }
            leave();
            auto release = held.release(asio::as_tuple(asio::use_awaitable));
            auto const [ec] = co_await std::move(release);
            if (ec == redlock::condition::lost) ++mine_.lost;
        }
    }

    void enter(steady::duration waited)
    {
        if (board_.inside.fetch_add(1) != 0) ++board_.overlaps;
        if (board_.now != phase::measuring) return;
        ++mine_.acquired;
        mine_.wait_sum_ns += waited / 1ns;
        mine_.wait_max_ns = std::max(mine_.wait_max_ns.load(), static_cast<std::int64_t>(waited / 1ns));
    }
    void leave() { board_.inside.fetch_sub(1); }

    asio::awaitable<void> end_with_the_others()
    {
        while (board_.now != phase::over) {
            auto waiting = pause(10ms);
            co_await std::move(waiting);
        }
        for (auto const& asked_at : waiting_)
            if (asked_at)
                mine_.wait_max_ns = std::max(mine_.wait_max_ns.load(), static_cast<std::int64_t>((steady::now() - *asked_at) / 1ns));
        io_.stop();
    }

    board& board_;
    process_record& mine_;
    contenders who_;
    asio::io_context io_{1};
    std::deque<redlock::client> clients_;
    std::deque<std::optional<steady::time_point>> waiting_;
    std::exception_ptr failure_;
};

contest read(board const& shared, std::size_t processes)
{
    contest result;
    std::int64_t waited_ns = 0;
    std::int64_t wait_max_ns = 0;
    for (std::size_t i = 0; i < processes; ++i) {
        auto const& each = shared.processes[i];
        result.acquired.push_back(each.acquired);
        result.total += each.acquired;
        result.lost += each.lost;
        waited_ns += each.wait_sum_ns;
        wait_max_ns = std::max(wait_max_ns, each.wait_max_ns.load());
    }
    result.overlaps = shared.overlaps;
    result.wait_mean_ms = result.total == 0 ? 0 : static_cast<double>(waited_ns) / 1e6 / static_cast<double>(result.total);
    result.wait_max_ms = static_cast<double>(wait_max_ns) / 1e6;
    return result;
}

}  // namespace

contest hold(fleet const& servers, contenders const& who, bool count_commands)
{
    if (who.processes > processes_max) throw std::runtime_error{"too many processes"};
    auto const shared = make_board();
    std::vector<forked> processes;
    for (std::size_t i = 0; i < who.processes; ++i) processes.emplace_back([&] { crew{*shared, i, who, servers.ports()}.run(); });
    for (auto const end = steady::now() + 60s; shared->connected < (who.own_clients ? who.waiters : who.processes);) {
        if (steady::now() > end) throw std::runtime_error{"the contenders did not connect"};
        std::this_thread::sleep_for(10ms);
    }
    std::this_thread::sleep_for(who.warm_up);

    std::optional<command_counter> counter;
    if (count_commands) counter.emplace(servers[0]);
    auto const began = steady::now();
    shared->now = phase::measuring;
    std::this_thread::sleep_for(who.duration);
    shared->now = phase::over;
    auto const seconds = std::chrono::duration<double>{steady::now() - began}.count();
    std::map<std::string, std::uint64_t> commands;
    if (counter) commands = counter->stop();
    for (auto& process : processes) process.join();

    contest result = read(*shared, who.processes);
    result.seconds = seconds;
    result.commands = std::move(commands);
    return result;
}

}  // namespace bench
