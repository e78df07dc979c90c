// `redlock doctor` on a Redis Cluster. The other commands refuse it in words.
#include "program.hpp"

#include "support/redis_cluster.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(doctor_of_clusters)

BOOST_AUTO_TEST_CASE(a_cluster_is_described_and_what_is_wrong_is_found)
{
    redis_cluster cluster;
    program_options const environment{.environment = {{"REDLOCK_NODES", cluster.url("?shards=8")}}};
    program healthy{{"doctor"}, environment};
    int const code = healthy.wait();
    BOOST_TEST(code == 0, healthy.errors() + healthy.output());
    BOOST_TEST(contains(healthy.output(), "8 shards over 3 primaries; votes wait for k = 1"), healthy.output());
    BOOST_TEST(contains(healthy.output(), "    shards: "), healthy.output());
    BOOST_TEST(contains(healthy.output(), "healthy"), healthy.output());

    program list{{"list"}, environment};
    BOOST_TEST(list.wait() != 0);
    BOOST_TEST(contains(list.errors(), "this command does not work with a Redis Cluster; redlock doctor does"), list.errors());

    cluster.drop(7);
    program sick{{"doctor", "--json"}, environment};
    BOOST_TEST(sick.wait() != 0);
    BOOST_TEST_INFO_SCOPE(sick.output());
    auto const said = sick.json();
    BOOST_TEST(said["healthy"] == false);
    BOOST_TEST(said["findings"][0]["what"].get<std::string>() == "16383 of 16384 slots are covered");
    BOOST_TEST(said["nodes"][0]["slots_covered"] == 16383);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
