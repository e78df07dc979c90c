// Small programs of the system, run to their end.
#ifndef REDLOCK_TESTS_FAULTS_PROGRAMS_HPP
#define REDLOCK_TESTS_FAULTS_PROGRAMS_HPP

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace redlock::faults {

/// Throws `std::runtime_error` with what the program said, unless it ends well and soon.
inline void run_program(std::vector<std::string> words)
{
    testing::temporary_folder const folder{"redlock-program-"};
    auto const log = folder.path() / "log";
    auto const name = words.front();
    testing::child_process program{testing::find_program(name), {words.begin() + 1, words.end()}, log};
    if (program.wait(std::chrono::seconds{20}) == 0) return;
    std::ifstream in{log};
    std::string said{std::istreambuf_iterator<char>{in}, {}};
    while (!said.empty() && said.back() == '\n') said.pop_back();
    std::string command;
    for (auto const& word : words) command += (command.empty() ? "" : " ") + word;
    throw std::runtime_error{command + ": " + (said.empty() ? "failed" : said)};
}

}  // namespace redlock::faults

#endif
