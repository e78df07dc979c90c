#include "command_counter.hpp"

#include "support/loopback.hpp"
#include "support/resp_client.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <future>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

using namespace std::chrono_literals;

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

command_counter::command_counter(redlock::testing::redis_server const& server) : server_{server}
{
    std::promise<void> started;
    auto const start = started.get_future();
    thread_ = std::jthread{[this, started = std::move(started)]() mutable {
        redlock::testing::loopback_socket socket{redlock::testing::loopback::ipv4, server_.port(), std::chrono::steady_clock::now() + 1h};
        socket.write("MONITOR\r\n");
        std::string heard;
        std::vector<char> chunk(1 << 16);
        for (bool over = false, first = true; !over;) {
            heard.append(chunk.data(), socket.read(chunk.data(), chunk.size()));
            std::size_t begin = 0;
            for (std::size_t end; !over && (end = heard.find("\r\n", begin)) != std::string::npos; begin = end + 2) {
                std::string_view const line = std::string_view{heard}.substr(begin, end - begin);
                if (std::exchange(first, false)) {
                    started.set_value();
                } else if (line.find(last_words) != std::string_view::npos) {
                    over = true;
                } else if (auto const name = client_command(line)) {
                    ++seen_[*name];
                }
            }
            heard.erase(0, begin);
        }
    }};
    start.wait();
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

}  // namespace bench
