// Finds what is wrong with the nodes in their answers to `redlock doctor`. No I/O.
#ifndef REDLOCK_CLI_DOCTOR_DOCTOR_RULES_HPP
#define REDLOCK_CLI_DOCTOR_DOCTOR_RULES_HPP

#include "cli/doctor/facts.hpp"

#include <redlock/config.hpp>
#include <redlock/options.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redlock::cli {

enum class severity : std::uint8_t { note, warning, danger };

char const* to_string(severity s) noexcept;

struct finding {
    severity is;
    std::string where;  // a node, or several with ", " between them; empty: all of them
    std::string what;
    std::string remedy;
    std::string since{};  // empty: nothing tells
};

// Findings of the same severity keep their order.
std::vector<finding> gravest_first(std::vector<finding> found);

// The findings, the gravest first. Among those of the same severity, the ones about all nodes come first, then the order is that of the
// nodes.
std::vector<finding> diagnose(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock);

}  // namespace redlock::cli

#endif
