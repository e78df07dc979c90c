// Which right the user of a script lacks, from the errors of servers, old and new.
#include "protocol/redis_request.hpp"
#include "protocol/rights.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace redlock::detail {

namespace {

std::vector<std::string> lines_of(script const& s)
{
    std::vector<std::string> all;
    std::istringstream text{std::string{s.text}};
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
}

// The commands that a line calls so that an error ends the script; `how`: "call(" or "pcall(".
std::vector<std::string> called_in(std::string const& line, std::string const& how)
{
    std::vector<std::string> all;
    for (auto at = line.find(how + "'"); at != line.npos; at = line.find(how + "'", at + 1)) {
        if (at > 0 && line[at - 1] == 'p') continue;
        auto const begin = at + how.size() + 1;
        all.push_back(line.substr(begin, line.find('\'', begin) - begin));
    }
    return all;
}

std::string lower(std::string text)
{
    for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return text;
}

std::string in_redis_7(script const& s, std::size_t line)
{
    return "ERR The user executing the script can't run this command or subcommand script: " + s.sha1 +
           ", on @user_script:" + std::to_string(line) + '.';
}

std::string in_redis_6(script const& s, std::size_t line)
{
    return "ERR Error running script (call to f_" + s.sha1 + "): @user_script:" + std::to_string(line) +
           ": @user_script: " + std::to_string(line) + ": The user executing the script can't run this command or subcommand ";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(missing_rights)

// Servers up to 7.0 name the line and not the command.
BOOST_AUTO_TEST_CASE(every_command_that_a_script_calls_can_be_named)
{
    std::set<std::string> named;
    auto const scripts = scripts_of_nodes();
    for (script const* s : scripts) {
        auto const lines = lines_of(*s);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            auto const commands = called_in(lines[i], "call(");
            std::set<std::string> const different{commands.begin(), commands.end()};
            BOOST_TEST(different.size() <= 1u, lines[i]);
            std::string const expected = commands.empty() ? "" : '+' + lower(commands.front());
            BOOST_TEST(missing_right(in_redis_7(*s, i + 1), scripts) == expected);
            BOOST_TEST(missing_right(in_redis_6(*s, i + 1), scripts) == expected);
            named.insert(expected);
        }
    }
    for (char const* right : {"+zscore", "+zadd", "+zrem", "+zrange", "+zremrangebyscore", "+pexpireat", "+exists", "+pttl", "+mget"})
        BOOST_TEST(named.contains(right), right);
}

// A script goes on after an error of redis.pcall, so it has to tell a key of another type from everything else. What it does with the rest is here: the
// same command once more, which ends it. Scripts of the admission leave out what a user may not read, and say so.
BOOST_AUTO_TEST_CASE(no_error_but_that_of_another_type_is_passed_over)
{
    std::size_t seen = 0;
    for (script const* s : scripts_of_nodes()) {
        if (s->text.find("redis.call('INFO'") != s->text.npos || s->text.find("redis.pcall('INFO'") != s->text.npos) continue;
        auto const lines = lines_of(*s);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            for (auto const& command : called_in(lines[i], "pcall(")) {
                ++seen;
                bool raised = false;
                for (std::size_t after = i + 1; after < lines.size() && after <= i + 4; ++after)
                    raised = raised || (lines[after].find("'WRONGTYPE', 1, true)") != std::string::npos &&
                                        called_in(lines[after], "call(") == std::vector{command});
                BOOST_TEST(raised, s->sha1 << ": " << lines[i]);
            }
        }
    }
    BOOST_TEST(seen > 10u);
}

BOOST_AUTO_TEST_CASE(later_servers_name_the_command)
{
    BOOST_TEST(missing_right("ERR ACL failure in script: User locker has no permissions to run the 'zadd' command", {}) == "+zadd");
    BOOST_TEST(missing_right("NOPERM this user has no permissions to run the 'client|tracking' command", {}) == "+client|tracking");
}

BOOST_AUTO_TEST_CASE(other_errors_name_no_right)
{
    auto const scripts = scripts_of_nodes();
    auto const& s = *scripts.front();
    std::string const error = "ERR The user executing the script can't run this command or subcommand";
    for (std::string const& text :
         {std::string{}, error, error + " script: " + s.sha1, error + " script: " + s.sha1 + ", on @user_script:", in_redis_7(s, 0),
          in_redis_7(s, 1'000), in_redis_7({s.text, "0123"}, 5), "OOM command not allowed script: " + s.sha1 + ", on @user_script:5."})
        BOOST_TEST(missing_right(text, scripts) == "", text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
