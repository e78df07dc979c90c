#include "support.hpp"

#include "support/loopback.hpp"
#include "support/resp_client.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <system_error>

#include <csignal>
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
    asio::co_spawn(io, connect(), rethrow);
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

}  // namespace bench
