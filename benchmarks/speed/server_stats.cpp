#include "server_stats.hpp"

#include <sstream>

namespace bench {

double cpu_seconds(redlock::testing::redis_server const& server)
{
    std::istringstream lines{server.command({"INFO", "cpu"}, 60s)};
    double sum = 0;
    for (std::string line; std::getline(lines, line);)
        for (std::string const field : {"used_cpu_sys:", "used_cpu_user:"})
            if (line.starts_with(field)) sum += std::stod(line.substr(field.size()));
    return sum;
}

double cpu_seconds(fleet const& servers)
{
    double sum = 0;
    for (std::size_t i = 0; i < servers.size(); ++i) sum += cpu_seconds(servers[i]);
    return sum;
}

}  // namespace bench
