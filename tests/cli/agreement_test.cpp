// What is wrong with servers, made one by one: doctor, dashboard and run agree on whether anybody can acquire a lock now, and say the same reason.
#include "program.hpp"
#include "support/hostile_server.hpp"
#include "support/redis_cluster.hpp"
#include "support/resp_client.hpp"
#include "web_client.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

enum class answer { yes, yes_but_no_further_node_may_fail, no };

// Three servers that have voted already, which the clients reach as `nodes` says.
struct voting_servers : servers {
    voting_servers()
    {
        program p{run("first", {}, {"true"}), environment()};
        BOOST_TEST_REQUIRE(p.wait() == 0, p.errors());
    }

    program_options around() const
    {
        program_options result;
        result.environment = {{"REDLOCK_NODES", nodes.empty() ? urls() : nodes}};
        result.environment.insert(result.environment.end(), more.begin(), more.end());
        return result;
    }

    std::string nodes;
    std::vector<std::pair<std::string, std::string>> more;
};

constexpr char const* nobody = "nobody can acquire a lock with a token now";

struct about {
    bool may_be_new{false};  // no server has a record or a key of ours
    bool has_dashboard{true};  // which shows no Redis Cluster
};

// `why`: part of what doctor and run say.
void expect_agreement(program_options const& around, answer expected, std::string const& why, about what = {})
{
    program doctor{{"doctor", "--json", "--timeout", "800ms"}, around};
    auto const code = doctor.wait();
    auto const said = doctor.output();
    BOOST_TEST((code == 2) == (expected == answer::no), said);
    BOOST_TEST(contains(said, nobody) == (expected == answer::no), said);
    BOOST_TEST(contains(said, "no further node may fail") == (expected == answer::yes_but_no_further_node_may_fail), said);
    BOOST_TEST(contains(said, why), said);
    if (!what.may_be_new) BOOST_TEST(!contains(said, "bootstrap"), said);

    program run{{"run", "job", "--no-wait", "--", "true"}, around};
    auto const ended = run.wait();
    BOOST_TEST((ended == 0) == (expected != answer::no), run.errors());
    if (expected == answer::no) {
        BOOST_TEST((ended == 69 || ended == exits::config), run.errors());
        BOOST_TEST(contains(run.errors(), why), run.errors());
        if (!what.may_be_new) BOOST_TEST(!contains(run.errors(), "bootstrap"), run.errors());
    }
    if (!what.has_dashboard) return;
    dashboard_program board{around};
    auto const level = [&] { return board.status().at("verdict").at("level").get<std::string>(); };
    auto const shown = expected == answer::yes ? "good" : expected == answer::no ? "danger" : "warning";
    BOOST_TEST(eventually([&] { return level() == shown; }), level()
                                                                 << " instead of " << shown << ": " << board.status().at("verdict").dump());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(agreement, voting_servers)

BOOST_AUTO_TEST_CASE(all_vote) { expect_agreement(around(), answer::yes, ""); }

BOOST_AUTO_TEST_CASE(one_is_down)
{
    all[2].kill();
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "Connection refused");
}

BOOST_AUTO_TEST_CASE(two_are_down)
{
    all[1].kill();
    all[2].kill();
    expect_agreement(around(), answer::no, "Connection refused");
}

BOOST_AUTO_TEST_CASE(one_hangs)
{
    all[2].stop();
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "");
}

BOOST_AUTO_TEST_CASE(all_restarted)
{
    for (auto& s : all) s.restart();
    expect_agreement(around(), answer::no, "", {.may_be_new = true});
}

BOOST_AUTO_TEST_CASE(one_was_flushed)
{
    all[0].command({"FLUSHALL"});
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "");
}

BOOST_AUTO_TEST_CASE(two_were_flushed)
{
    for (std::size_t i : {0u, 1u}) all[i].command({"FLUSHALL"});
    expect_agreement(around(), answer::no, "");
}

BOOST_AUTO_TEST_CASE(two_were_promoted)
{
    for (std::size_t i : {0u, 1u}) {
        all[i].command({"REPLICAOF", "127.0.0.1", "1"});
        all[i].command({"REPLICAOF", "NO", "ONE"});
    }
    expect_agreement(around(), answer::no, "promoted");
}

BOOST_AUTO_TEST_CASE(two_are_replicas)
{
    for (std::size_t i : {0u, 1u}) all[i].command({"REPLICAOF", "127.0.0.1", std::to_string(all[2].port())});
    expect_agreement(around(), answer::no, "replica");
}

BOOST_AUTO_TEST_CASE(one_does_harm)
{
    hostile_server const hostile{{.begin = "$2000000000\r\n", .endless = "x"}};
    nodes = all[0].url() + ',' + all[1].url() + ",redis://127.0.0.1:" + std::to_string(hostile.port());
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "something else listens there");
}

BOOST_AUTO_TEST_CASE(one_name_hangs)
{
    nodes = all[0].url() + ',' + all[1].url() + ",redis://hung.test:" + std::to_string(all[2].port());
    more = {{"LD_PRELOAD", REDLOCK_NAME_SERVICE}, {"REDLOCK_TEST_NAMES", "hung.test=hang"}};
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "hung.test");
}

BOOST_AUTO_TEST_CASE(two_take_no_more_connections)
{
    std::deque<resp_client> taken;
    for (std::size_t i : {0u, 1u})
        BOOST_TEST(taken.emplace_back(loopback::ipv4, all[i].port(), 60s).ask({"CONFIG", "SET", "maxclients", "1"}).text == "OK");
    expect_agreement(around(), answer::no, "max number of clients reached");
}

BOOST_AUTO_TEST_CASE(two_have_another_password)
{
    for (std::size_t i : {0u, 1u}) all[i].command({"CONFIG", "SET", "requirepass", "another"});
    expect_agreement(around(), answer::no, "password");
}

BOOST_AUTO_TEST_CASE(the_list_is_not_that_of_the_set)
{
    redis_server const foreign;
    nodes = all[0].url() + ',' + all[1].url() + ',' + foreign.url();
    expect_agreement(around(), answer::no, "list of nodes");
}

BOOST_AUTO_TEST_CASE(one_evicts_keys)
{
    all[0].command({"CONFIG", "SET", "maxmemory", "100mb"});
    all[0].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    program run{{"run", "job", "--no-wait", "--", "true"}, around()};
    BOOST_TEST(run.wait() == 0, run.errors());
    program doctor{{"doctor", "--json"}, around()};
    BOOST_TEST(doctor.wait() == 2);
    BOOST_TEST(!contains(doctor.output(), nobody), doctor.output());
    BOOST_TEST(contains(doctor.output(), "it evicts keys"), doctor.output());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(agreement_new)

BOOST_FIXTURE_TEST_CASE(servers_that_nobody_has_used, three_servers)
{
    program run{{"run", "job", "--no-wait", "--", "true"}, environment()};
    BOOST_TEST(run.wait() == 69, run.errors());
    program doctor{{"doctor", "--json"}, environment()};
    BOOST_TEST(doctor.wait() == 2);
    BOOST_TEST(contains(doctor.output(), nobody), doctor.output());
    dashboard_program board{environment()};
    BOOST_TEST(eventually([&] { return board.status().at("verdict").at("level") == "danger"; }), board.status().dump());
}

BOOST_AUTO_TEST_CASE(a_cluster_whose_slots_moved)
{
    redis_cluster cluster;
    program_options const around{.environment = {{"REDLOCK_NODES", cluster.url("?shards=1")}}};
    expect_agreement(around, answer::no, "", {.may_be_new = true, .has_dashboard = false});
    {
        program first{{"run", "first", "--bootstrap", "--", "true"}, around};
        BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    }
    expect_agreement(around, answer::yes, "", {.has_dashboard = false});
    auto const slot = static_cast<std::uint16_t>(std::stoul(cluster.servers.front().command({"CLUSTER", "KEYSLOT", "{s0}"})));
    cluster.move(slot, cluster.another_primary_than(slot));
    expect_agreement(around, answer::no, "promoted", {.has_dashboard = false});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
