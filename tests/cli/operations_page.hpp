// Commands of docs/operations.md, for tests that carry them out.
#ifndef REDLOCK_TESTS_CLI_OPERATIONS_PAGE_HPP
#define REDLOCK_TESTS_CLI_OPERATIONS_PAGE_HPP

#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

namespace redlock::testing {

// The lines of the first block of commands below a heading, as words. The n-th server stands for redis://10.0.0.n.
inline std::vector<arguments> commands_below(std::string const& heading, std::deque<redis_server> const& servers)
{
    auto const page = read_file(REDLOCK_SOURCES "/docs/operations.md");
    auto const at = page.find(heading + '\n');
    BOOST_TEST_REQUIRE(at != page.npos, heading);
    auto const begin = page.find("```sh\n", at) + 6;
    std::vector<arguments> commands;
    for (auto const& line : lines_of(page.substr(begin, page.find("```", begin) - begin))) {
        arguments words;
        std::istringstream of{line};
        for (std::string word; of >> word;) {
            for (std::size_t i = servers.size(); i > 0; --i)
                for (auto const address = "redis://10.0.0." + std::to_string(i); contains(word, address);)
                    word.replace(word.find(address), address.size(), servers[i - 1].url());
            words.push_back(word);
        }
        commands.push_back(std::move(words));
    }
    return commands;
}

}  // namespace redlock::testing

#endif
