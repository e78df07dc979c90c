// `redlock doctor` on a group that Sentinels watch. doctor_group_test has what it concludes from each answer.
#include "program.hpp"

#include "support/watched_group.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(doctor_of_groups)

BOOST_AUTO_TEST_CASE(a_group_is_described_and_what_is_wrong_is_found)
{
    watched_group group;
    auto const primary = "127.0.0.1:" + std::to_string(group.primary_port());
    program_options const environment{.environment = {{"REDLOCK_NODES", group.url()}}};
    program healthy{{"doctor"}, environment};
    BOOST_TEST(healthy.wait() == 2, healthy.errors());
    BOOST_TEST_INFO_SCOPE(healthy.output());
    BOOST_TEST(contains(healthy.output(), "nobody can acquire a lock with a token now: the node does not vote ("));
    BOOST_TEST(contains(healthy.output(), "a group of S = 3 servers with the primary " + primary +
                                              " (epoch 0); votes wait for k = 1. "
                                              "A failover now would lose no lock, and nobody could acquire one for 31.0 s"));

    // It is no part of the group any more, and its Sentinels have not noticed yet. One of them is gone.
    auto& lone = group.servers.back();
    BOOST_TEST_REQUIRE(lone.port() != group.primary_port());
    group.sentinels[2].kill();
    group.sentinels[1].kill();
    group.sentinels[0].command({"SENTINEL", "SET", "mymaster", "down-after-milliseconds", "600000"});
    lone.command({"REPLICAOF", "NO", "ONE"});
    program sick{{"doctor", "--json"}, environment};
    BOOST_TEST(sick.wait() != 0);
    BOOST_TEST_INFO_SCOPE(sick.output());
    auto const said = sick.json();
    auto const& of_group = said["nodes"][0]["group"];
    BOOST_TEST(of_group["primary"] == primary);
    BOOST_TEST(of_group["servers"] == 3);
    BOOST_TEST(of_group["acknowledgements"] == 1);
    BOOST_TEST(of_group["missing"][0] == "127.0.0.1:" + std::to_string(lone.port()));
    std::string findings;
    for (auto const& f : said["findings"]) findings += f["what"].get<std::string>() + '\n';
    BOOST_TEST(contains(findings, "the Sentinel 127.0.0.1:" + std::to_string(group.sentinels[2].port()) + " does not answer"));
    BOOST_TEST(
        contains(findings, "the Sentinels know replicas that are not attached to the primary: 127.0.0.1:" + std::to_string(lone.port())));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
