#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>

namespace bench {

namespace {

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
    if (max_handoffs) options.max_handoffs = *max_handoffs;
    if (max_local_hold) options.max_local_hold = std::chrono::milliseconds{*max_local_hold};
    return options;
}

void report(choices const& chosen, std::string const& what, json figures)
{
    json const text{{"what", what},
                    {"host",
                     {{"cores", std::thread::hardware_concurrency()},
                      {"cpu", first_value("/proc/cpuinfo", "model name")},
                      {"load_1min_at_the_end", load_average()}}},
                    {"compiler", compiler()},
                    {"build_type", REDLOCK_BUILD_TYPE},
                    {"command_line", command_line},
                    {"nodes", chosen.nodes},
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

}  // namespace bench
