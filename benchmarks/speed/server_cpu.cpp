#include "server_cpu.hpp"

#include <chrono>
#include <sstream>
#include <stdexcept>

namespace bench {

namespace {

// For the answer of a server at full load.
constexpr std::chrono::seconds answer_timeout{60};

}  // namespace

double cpu_seconds(redlock::testing::redis_server const& server)
{
    std::istringstream lines{server.command({"INFO", "cpu"}, answer_timeout)};
    double sum = 0;
    int found = 0;
    for (std::string line; std::getline(lines, line);)
        for (std::string const field : {"used_cpu_sys:", "used_cpu_user:"}) {
            if (!line.starts_with(field)) continue;
            sum += std::stod(line.substr(field.size()));
            ++found;
        }
    if (found != 2) throw std::runtime_error{"INFO cpu has no used_cpu_sys and used_cpu_user"};
    return sum;
}

double cpu_seconds(fleet const& servers)
{
    double sum = 0;
    for (std::size_t i = 0; i < servers.size(); ++i) sum += cpu_seconds(servers[i]);
    return sum;
}

double cpu_seconds(std::deque<redlock::testing::redis_server> const& servers)
{
    double sum = 0;
    for (auto const& each : servers) sum += cpu_seconds(each);
    return sum;
}

}  // namespace bench
