// The options that measurements have in common, and the JSON around their figures.
#ifndef REDLOCK_BENCHMARKS_REPORT_HPP
#define REDLOCK_BENCHMARKS_REPORT_HPP

#include <redlock/redlock.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bench {

using json = nlohmann::ordered_json;

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

}  // namespace bench

#endif
