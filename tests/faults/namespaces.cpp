#include "namespaces.hpp"

#include "packet_wire.hpp"
#include "programs.hpp"

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

namespace redlock::faults {
namespace {

constexpr char const* inside = "REDLOCK_FAULTS_IN_NAMESPACE";

std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

[[noreturn]] void execute(std::string const& flags, char** argv)
{
    std::vector<std::string> words{testing::find_program("unshare").string(), flags, this_program()};
    for (char** word = argv + 1; *word != nullptr; ++word) words.emplace_back(*word);
    std::vector<char*> pointers;
    for (auto& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::setenv(inside, "1", 1);
    ::execv(pointers.front(), pointers.data());
    throw std::system_error{errno, std::generic_category(), words.front()};
}

}  // namespace

std::string enter_namespace(char** argv)
{
    if (std::getenv(inside) != nullptr) return {};
    std::vector<std::string> ways{"-Urn"};
    if (::geteuid() == 0) ways.insert(ways.begin(), "-n");
    std::string reasons;
    for (auto const& flags : ways) {
        try {
            run_program({"unshare", flags, this_program(), "probe"});
        } catch (std::runtime_error const& error) {
            reasons += (reasons.empty() ? "" : "; ") + std::string{error.what()};
            continue;
        }
        execute(flags, argv);
    }
    return reasons;
}

int probe_namespace()
{
    try {
        packet_wire const wire{0};
        return EXIT_SUCCESS;
    } catch (std::exception const& error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
}

}  // namespace redlock::faults
