#include "server_stats.hpp"

#include <sstream>

namespace bench {

namespace {

std::string info(redlock::testing::redis_server const& server, std::string const& section)
{
    return server.command({"INFO", section}, 60s);
}

}  // namespace

double cpu_seconds(redlock::testing::redis_server const& server)
{
    std::istringstream lines{info(server, "cpu")};
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

std::pair<double, double> stat_of(redlock::testing::redis_server const& server, std::string const& command)
{
    std::istringstream lines{info(server, "commandstats")};
    std::string const field = "cmdstat_" + command + ":calls=";
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(field)) continue;
        auto const usec = line.find(",usec=");
        return {std::stod(line.substr(field.size())), std::stod(line.substr(usec + 6))};
    }
    return {0, 0};
}

}  // namespace bench
