// Programs seen from outside: what they wrote, what they answer, and waiting until they do.
#ifndef REDLOCK_TESTS_INTEGRATION_SUPPORT_LOOKING_ON_HPP
#define REDLOCK_TESTS_INTEGRATION_SUPPORT_LOOKING_ON_HPP

#include "support/loopback.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <thread>

namespace redlock::testing {

inline std::string contents(std::filesystem::path const& file)
{
    std::ifstream stream{file};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

/// Looks every 20 ms, for twenty seconds at the most. Whether it came true.
template <class Condition>
bool eventually(Condition condition)
{
    using namespace std::chrono_literals;
    auto const end = std::chrono::steady_clock::now() + 20s;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(20ms);
    }
    return true;
}

/// The whole answer of a server on this host that hangs up behind it.
inline std::string ask(std::uint16_t port, std::string const& request)
{
    std::string answer;
    loopback_socket socket{loopback::ipv4, port, std::chrono::steady_clock::now() + std::chrono::seconds{10}};
    socket.write(request);
    try {
        char buffer[4096];
        for (;;) answer.append(buffer, socket.read(buffer, sizeof buffer));
    } catch (std::system_error const&) {  // the end
    }
    return answer;
}

}  // namespace redlock::testing

#endif
