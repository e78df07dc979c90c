// The commands of the operations page with which a set of nodes gets another number of members: from plain locks on one server to one node, from
// one node to three, from three to five and back.
#include "operations_page.hpp"
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

// Nobody has used them.
struct growing_set : servers {
    growing_set() : servers{5} {}

    // The first so many servers.
    std::string list_of(std::size_t count) const
    {
        std::string list;
        for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ",") + all[i].url();
        return list;
    }

    void carry_out(std::string const& heading)
    {
        for (auto words : commands_below(heading, all)) {
            auto const command = words.front();
            words.erase(words.begin());
            if (command == "redis-cli") {
                BOOST_TEST_REQUIRE(words.at(0) == "-u");
                auto const server = std::find_if(all.begin(), all.end(), [&](redis_server const& s) { return s.url() == words.at(1); });
                BOOST_TEST_REQUIRE((server != all.end()), words.at(1));
                server->command({words.begin() + 2, words.end()});
                continue;
            }
            BOOST_TEST_REQUIRE(command == "redlock");
            program p{words};
            BOOST_TEST_REQUIRE(p.wait(120s) == 0, p.output() + p.errors());
        }
    }

    // Of a lock with the first so many servers for its nodes.
    std::uint64_t next_token(std::size_t count, std::string const& name) const
    {
        program p{{"run", name, "--nodes", list_of(count), "--wait", "20s", "--", "sh", "-c", "echo $REDLOCK_TOKEN"}};
        BOOST_TEST_REQUIRE(p.wait(60s) == 0, p.errors());
        return std::stoull(p.output());
    }

    int try_with(std::size_t count, std::string const& name) const
    {
        program p{{"run", name, "--nodes", list_of(count), "--no-wait", "--", "true"}};
        auto const code = p.wait(60s);
        BOOST_TEST_MESSAGE(name << " with " << count << ": " << code << ", " << p.errors());
        return code;
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(set_sizes)

BOOST_FIXTURE_TEST_CASE(from_plain_locks_to_one_node_and_to_three, growing_set)
{
    std::string const name = "job";
    BOOST_TEST_REQUIRE(all[0].command({"SET", name, "theirs", "NX", "PX", "600000"}) == "OK");
    carry_out("### From plain Redis locks to one node");
    BOOST_TEST(try_with(1, name) == 75);
    BOOST_TEST(all[0].command({"GET", name}) == "theirs");
    all[0].command({"DEL", name});
    auto const first = next_token(1, name);

    carry_out("### From one node to three");
    BOOST_TEST(next_token(3, name) > first);
    BOOST_TEST(try_with(1, name) == 78);  // the old list
}

BOOST_FIXTURE_TEST_CASE(from_three_nodes_to_five, growing_set)
{
    program founder{{"run", "job", "--nodes", list_of(3), "--bootstrap", "--", "sh", "-c", "echo $REDLOCK_TOKEN"}};
    BOOST_TEST_REQUIRE(founder.wait(60s) == 0, founder.errors());
    auto const first = std::stoull(founder.output());
    program holder{{"run", "held", "--nodes", list_of(3), "--ttl", "5s", "--", "sleep", "300"}};
    eventually([&] { return try_with(3, "held") == 75; });
    carry_out("### From three nodes to five");
    auto const second = next_token(5, "job");
    BOOST_TEST(second > first);
    BOOST_TEST(try_with(3, "held") == 75, "the old list still does; " + holder.errors());
    BOOST_TEST(try_with(5, "held") == 75, "the holder keeps it; " + holder.errors());
    BOOST_TEST(try_with(2, "job") == 78);
    all[4].stop();
    all[3].stop();
    BOOST_TEST(next_token(5, "job") > second);
    all[3].resume();
    all[4].resume();

    carry_out("### From five nodes to three");
    BOOST_TEST(try_with(3, "held") == 75, "the holder keeps it; " + holder.errors());
    BOOST_TEST(try_with(5, "held") == 75, "a longer list still does; " + holder.errors());
    holder.send(SIGTERM);
    holder.wait();
    all[4].kill();
    all[3].kill();
    auto const third = next_token(3, "job");
    BOOST_TEST(third > second);
    all[2].kill();
    BOOST_TEST(next_token(3, "job") > third);
    BOOST_TEST(next_token(5, "job") > third);
}

// With both at once, three of five would have the data, and three must vote.
BOOST_FIXTURE_TEST_CASE(the_second_server_joins_when_the_first_one_votes_also_in_a_command_that_goes_on, growing_set)
{
    program founder{{"run", "job", "--nodes", list_of(3), "--bootstrap", "--", "true"}};
    BOOST_TEST_REQUIRE(founder.wait(60s) == 0, founder.errors());
    for (int i = 0; i < 2; ++i) {
        program grow{{"nodes", "grow", all[3].url(), all[4].url(), "--nodes", list_of(3), "--wait", "300ms"}};
        BOOST_TEST(grow.wait() == 80, grow.output() + grow.errors());
        BOOST_TEST(grow.errors().find("The set has 4 members now") != std::string::npos, grow.errors());
        BOOST_TEST(all[4].command({"EXISTS", "redlock:set"}) == "0");
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
