// Where node-redlock is, and how to start a process that holds locks with it.
#ifndef REDLOCK_TESTS_INTEROP_NODE_REDLOCK_HPP
#define REDLOCK_TESTS_INTEROP_NODE_REDLOCK_HPP

#include "support/peer_process.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace redlock::testing {

/// What keeps node-redlock from being started, and what to do about it; empty when all is there.
inline std::string missing_for_node_redlock()
{
    std::string const remedy = ": run tests/interop/setup.sh (make test does)";
    try {
        find_program("node");
    } catch (std::runtime_error const&) {
        return "node is not installed" + remedy;
    }
    if (!std::filesystem::exists(REDLOCK_NPM_FOLDER "/stamp")) return "node-redlock is not in " REDLOCK_NPM_FOLDER + remedy;
    return {};
}

/// Starts holder.mjs. Throws `std::runtime_error` when something is missing.
inline std::unique_ptr<peer_process> start_node_redlock(asio::any_io_executor executor, std::vector<std::uint16_t> const& ports,
                                                        std::filesystem::path const& log)
{
    if (auto const missing = missing_for_node_redlock(); !missing.empty()) throw std::runtime_error{missing};
    std::vector<std::string> arguments{REDLOCK_NODE_HOLDER, REDLOCK_NPM_FOLDER};
    for (auto const port : ports) arguments.push_back(std::to_string(port));
    return std::make_unique<peer_process>(std::move(executor), find_program("node"), arguments, log);
}

}  // namespace redlock::testing

#endif
