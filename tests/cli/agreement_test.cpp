// What is wrong with servers, made one by one: doctor, dashboard, run and inspect agree on whether anybody can acquire a lock now, and say the same reason.
#include "faults/clock_file.hpp"
#include "program.hpp"
#include "support/hostile_server.hpp"
#include "support/redis_cluster.hpp"
#include "support/replication.hpp"
#include "support/resp_client.hpp"
#include "support/watched_group.hpp"
#include "web_client.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <future>
#include <sstream>
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
    char const* patience{"5s"};  // for an answer; short where one never comes
    int code{69};  // of run, where nobody can acquire a lock
    bool is_dangerous{false};  // to doctor, also where somebody can
};

void expect_verdict(std::string const& said, answer expected, std::string const& why)
{
    BOOST_TEST(contains(said, nobody) == (expected == answer::no), said);
    BOOST_TEST(contains(said, "no further node may fail") == (expected == answer::yes_but_no_further_node_may_fail), said);
    if (expected != answer::yes) BOOST_TEST(contains(said, why), said);
}

void expect_agreement_of_inspect(program_options const& around, answer expected, std::string const& why, about const& what = {})
{
    program inspect{{"inspect", "job", "--json", "--timeout", what.patience}, around};
    inspect.wait();
    BOOST_TEST_INFO_SCOPE(inspect.output() + inspect.errors());
    auto const findings = inspect.json().at("findings");
    expect_verdict(findings.dump(), expected, why);
    BOOST_TEST(findings.empty() == (expected == answer::yes));
    program words{{"inspect", "job", "--timeout", what.patience}, around};
    words.wait();
    expect_verdict(words.output(), expected, why);
}

// `why`: part of what doctor and run say.
void expect_agreement(program_options const& around, answer expected, std::string const& why, about what = {})
{
    program doctor{{"doctor", "--json", "--timeout", what.patience}, around};
    auto const code = doctor.wait();
    auto const said = doctor.output();
    BOOST_TEST((code == 2) == (expected == answer::no || what.is_dangerous), said);
    expect_verdict(said, expected, why);
    BOOST_TEST(contains(said, why), said);
    BOOST_TEST(!contains(said, "bootstrap"), said);

    program run{{"run", "job", "--no-wait", "--", "true"}, around};
    BOOST_TEST(run.wait() == (expected == answer::no ? what.code : 0), run.errors());
    if (expected == answer::no) {
        BOOST_TEST(contains(run.errors(), why), run.errors());
        BOOST_TEST(!contains(run.errors(), "bootstrap"), run.errors());
    }
    expect_agreement_of_inspect(around, expected, why, what);
    dashboard_program board{around};
    auto const level = [&] { return board.status().at("verdict").at("level").get<std::string>(); };
    auto const shown = expected == answer::yes ? "good" : expected == answer::no ? "danger" : "warning";
    BOOST_TEST(eventually([&] { return level() == shown; }), level()
                                                                 << " instead of " << shown << ": " << board.status().at("verdict").dump());
}

// Three servers whose clocks are set by the test.
struct servers_with_clocks {
    servers_with_clocks()
    {
        for (std::size_t i = 0; i < 3; ++i) {
            clocks.emplace_back(folder.path() / std::to_string(i));
            all.emplace_back(redis_server_options{.under = clocks.back().under()});
            around.environment.front().second += (i == 0 ? "" : ",") + all.back().url();
        }
    }

    static arguments run(std::string const& name, arguments const& command = {"true"})
    {
        arguments words{"run", name, "--bootstrap", "--"};
        words.insert(words.end(), command.begin(), command.end());
        return words;
    }
    temporary_folder folder{"redlock-cli-test-"};
    std::deque<faults::clock_file> clocks;
    std::deque<redis_server> all;
    program_options around{.environment = {{"REDLOCK_NODES", ""}}};
};

// Votes of each wait for a replica.
struct servers_with_replicas {
    servers_with_replicas()
    {
        for (int i = 0; i < 3; ++i) {
            primaries.emplace_back(quick_to_copy({}));
            replicas.emplace_back();
            follow(replicas.back(), primaries.back());
            wait_for_replicas(primaries.back(), 1);
            around.environment.front().second += (i == 0 ? "" : ",") + primaries.back().url() + "?replicas=1";
        }
        program first{{"run", "first", "--bootstrap", "--", "true"}, around};
        BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    }

    std::deque<redis_server> primaries, replicas;
    program_options around{.environment = {{"REDLOCK_NODES", ""}}};
};

void expect_since(program_options const& around, std::string const& what, std::string const& since)
{
    program doctor{{"doctor", "--json"}, around};
    doctor.wait();
    auto const found = doctor.json().at("findings");
    bool const is_told = std::any_of(found.begin(), found.end(), [&](nlohmann::json const& f) {
        return contains(f.at("what").get<std::string>(), what) && contains(f.value("since", nlohmann::json{}).dump(), since);
    });
    BOOST_TEST(is_told, found.dump());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(agreement, voting_servers)

BOOST_AUTO_TEST_CASE(all_vote) { expect_agreement(around(), answer::yes, ""); }

BOOST_AUTO_TEST_CASE(one_is_down)
{
    all[2].kill();
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "Connection refused");
    expect_since(around(), "it has no vote at the moment", "or earlier: its log may know");
}

BOOST_AUTO_TEST_CASE(two_are_down)
{
    all[1].kill();
    all[2].kill();
    expect_agreement(around(), answer::no, "Connection refused");
    for (arguments const& words : {run("job", {"--no-wait"}, {"true"}), arguments{"acquire", "job", "--no-wait"}}) {
        program p{words, around()};
        BOOST_TEST(p.wait() == 69);
        BOOST_TEST(p.errors().starts_with("redlock: job was not acquired: no majority of nodes may vote\n"), p.errors());
    }
}

BOOST_AUTO_TEST_CASE(one_hangs)
{
    all[2].stop();
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "", {.patience = "800ms"});
}

BOOST_AUTO_TEST_CASE(all_restarted)
{
    for (auto& s : all) s.restart();
    expect_agreement(around(), answer::no, "lost");
}

BOOST_AUTO_TEST_CASE(one_was_flushed)
{
    all[0].command({"FLUSHALL"});
    expect_since(around(), "it is new, or lost its data", "when it started, or later: 20");
    program doctor{{"doctor"}, around()};
    doctor.wait();
    BOOST_TEST(contains(doctor.output(), "\n  since: when it started, or later: 20"), doctor.output());
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "");
    expect_since(around(), "it is new, or lost its data", ", and before 20");  // run has noticed it
}

BOOST_AUTO_TEST_CASE(two_were_flushed)
{
    for (std::size_t i : {0u, 1u}) all[i].command({"FLUSHALL"});
    expect_agreement(around(), answer::no, "it is new, or lost its data");
    program acquire{{"acquire", "job", "--no-wait"}, around()};
    BOOST_TEST(acquire.wait() == 69, acquire.errors());
    dashboard_program board{around()};
    BOOST_TEST(eventually([&] { return board.status().at("nodes").at(1).at("state") == "quarantined"; }), board.status().dump());
    program run{{"run", "job", "--wait-servers", "4s", "--", "true"}, around()};
    BOOST_TEST(run.wait() == 69);
    BOOST_TEST(contains(run.errors(),
                        "left until earlier leases have expired; so did most nodes, so that all of these vote again together"),
               run.errors());
    program doctor{{"doctor"}, around()};
    doctor.wait();
    BOOST_TEST(contains(doctor.output(), "until they have waited for earlier leases; then they vote again"), doctor.output());
    BOOST_TEST(!contains(doctor.output(), "operator must act"), doctor.output());
}

// What only looks is no client that waits for the admission.
BOOST_AUTO_TEST_CASE(one_was_flushed_and_only_a_dashboard_looks)
{
    dashboard_program board{around()};
    program watch{{"watch", "job", "--interval", "300ms"}, around()};
    BOOST_TEST(eventually([&] { return board.status().at("verdict").at("level") == "good"; }), board.status().dump());
    all[0].command({"FLUSHALL"});
    BOOST_TEST(eventually([&] { return board.status().at("nodes").at(0).at("state") == "uninitialized"; }), board.status().dump());
    program doctor{{"doctor"}, around()};
    BOOST_TEST(doctor.wait() == 1, doctor.output());
    BOOST_TEST(contains(doctor.output(), "nobody waits for it"), doctor.output());
    BOOST_TEST(contains(doctor.output(), "run redlock admit now"), doctor.output());
}

BOOST_AUTO_TEST_CASE(two_were_promoted)
{
    for (std::size_t i : {0u, 1u}) {
        all[i].command({"REPLICAOF", "127.0.0.1", "1"});
        all[i].command({"REPLICAOF", "NO", "ONE"});
    }
    expect_agreement(around(), answer::no, "promoted");
    dashboard_program board{around()};
    BOOST_TEST(eventually([&] { return contains(board.status().at("nodes").at(0).at("text").get<std::string>(), "it was promoted"); }),
               board.status().dump());
}

BOOST_AUTO_TEST_CASE(two_are_replicas)
{
    for (std::size_t i : {0u, 1u}) all[i].command({"REPLICAOF", "127.0.0.1", std::to_string(all[2].port())});
    expect_agreement(around(), answer::no, "replica", {.code = exits::config});
    program waits{{"run", "job", "--wait-servers", "1min", "--", "true"}, around()};
    BOOST_TEST(waits.wait() == exits::config, waits.errors());
    BOOST_TEST(contains(waits.errors(), "waiting does not help"), waits.errors());
}

BOOST_AUTO_TEST_CASE(one_does_harm)
{
    hostile_server const hostile{{.begin = "$2000000000\r\n", .endless = "x"}};
    nodes = all[0].url() + ',' + all[1].url() + ",redis://127.0.0.1:" + std::to_string(hostile.port());
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "more than any answer to what it was asked can be");
    program doctor{{"doctor"}, around()};
    doctor.wait();
    BOOST_TEST(contains(doctor.output(), "something else listens there"), doctor.output());
}

BOOST_AUTO_TEST_CASE(one_name_hangs)
{
    nodes = all[0].url() + ',' + all[1].url() + ",redis://hung.test:" + std::to_string(all[2].port());
    more = {{"LD_PRELOAD", REDLOCK_NAME_SERVICE}, {"REDLOCK_TEST_NAMES", "hung.test=hang"}};
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "hung.test", {.patience = "800ms"});
}

BOOST_AUTO_TEST_CASE(two_take_no_more_connections)
{
    std::deque<resp_client> taken;
    for (std::size_t i : {0u, 1u})
        BOOST_TEST(taken.emplace_back(loopback::ipv4, all[i].port(), 60s).ask({"CONFIG", "SET", "maxclients", "1"}).text == "OK");
    expect_agreement(around(), answer::no, "max number of clients reached");
    expect_since(around(), "max number of clients reached", "or earlier: a dashboard");
}

BOOST_AUTO_TEST_CASE(two_have_another_password)
{
    for (std::size_t i : {0u, 1u}) all[i].command({"CONFIG", "SET", "requirepass", "another"});
    expect_agreement(around(), answer::no, "password");
    expect_since(around(), "password", "or earlier: a dashboard");
}

BOOST_AUTO_TEST_CASE(the_list_is_not_that_of_the_set)
{
    redis_server const foreign, another;
    nodes = all[0].url() + ',' + foreign.url() + ',' + another.url();
    expect_agreement(around(), answer::no, "list of nodes", {.code = exits::config});
    program doctor{{"doctor"}, around()};
    doctor.wait();
    BOOST_TEST(!contains(doctor.output(), "redlock:node"), doctor.output());
}

// A client that hears of the third server last has been granted the lock by then; who looks at all of them is told.
BOOST_AUTO_TEST_CASE(one_of_the_list_is_not_of_the_set)
{
    redis_server const foreign;
    nodes = all[0].url() + ',' + all[1].url() + ',' + foreign.url();
    for (arguments const& words : {arguments{"doctor", "--json", "--timeout", "5s"}, {"inspect", "job", "--json", "--timeout", "5s"}}) {
        program p{words, around()};
        p.wait();
        expect_verdict(p.output(), answer::no, "list of nodes");
    }
    dashboard_program board{around()};
    BOOST_TEST(eventually([&] { return board.status().at("verdict").at("level") == "danger"; }), board.status().dump());
}

BOOST_AUTO_TEST_CASE(two_are_in_protected_mode)
{
    harm const refusal{.begin = "-DENIED Redis is running in protected mode because protected mode is enabled and no password is set\r\n"};
    hostile_server const one{refusal}, other{refusal};
    auto const url_of = [](hostile_server const& s) { return ",redis://127.0.0.1:" + std::to_string(s.port()); };
    nodes = all[0].url() + url_of(one) + url_of(other);
    expect_agreement(around(), answer::no, "protected mode");
    expect_since(around(), "protected mode", "or earlier: a dashboard");
}

BOOST_AUTO_TEST_CASE(a_grow_was_interrupted)
{
    redis_server const joins;
    program grow{{"nodes", "grow", joins.url(), "--wait", "300ms"}, around()};
    BOOST_TEST_REQUIRE(grow.wait() == 80, grow.output() + grow.errors());
    auto const old_list = urls();
    nodes = old_list;
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "3 of 3 nodes vote, and 3 must, as the set has 4 members");
    {
        program holder{run("held", {}, {"sh", "-c", "echo ready; exec sleep 60"}), around()};
        BOOST_TEST_REQUIRE(eventually([&] { return contains(holder.output(), "ready"); }), holder.errors());
        program inspect{{"inspect", "held"}, around()};
        BOOST_TEST(inspect.wait() == 0);
        BOOST_TEST(contains(inspect.output(), "on 3 of 3 nodes, a majority of the 4 members of the set that survives no further fault"),
                   inspect.output());
    }
    nodes = old_list + ',' + joins.url();
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "3 of 4 nodes vote, and 3 must");
    all[2].kill();
    for (auto const& list : {nodes, old_list}) {
        nodes = list;
        expect_agreement(around(), answer::no, "Connection refused");
    }
}

BOOST_AUTO_TEST_CASE(one_evicts_keys)
{
    all[0].command({"CONFIG", "SET", "maxmemory", "100mb"});
    all[0].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    expect_agreement(around(), answer::yes_but_no_further_node_may_fail, "evict", {.is_dangerous = true});
    expect_since(around(), "it evicts keys", "when it started, or later: 20");
    dashboard_program board{around()};
    BOOST_TEST(eventually([&] { return board.status().at("verdict").at("level") == "warning"; }), board.status().dump());
    BOOST_TEST(board.status().at("nodes").at(0).at("state") == "unsuitable", board.status().dump());
}

BOOST_AUTO_TEST_CASE(two_evict_keys)
{
    for (std::size_t i : {0u, 1u}) {
        all[i].command({"CONFIG", "SET", "maxmemory", "100mb"});
        all[i].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    }
    expect_agreement(around(), answer::no, "evict", {.code = exits::config});
}

BOOST_AUTO_TEST_CASE(two_have_no_memory_left)
{
    for (std::size_t i : {0u, 1u}) all[i].command({"CONFIG", "SET", "maxmemory", "100kb"});
    expect_agreement(around(), answer::no, "memory");
}

// They are asked for a write, since nothing else of them says it.
BOOST_AUTO_TEST_CASE(two_take_no_writes)
{
    for (std::size_t i : {0u, 1u}) all[i].command({"CONFIG", "SET", "min-replicas-to-write", "1"});
    expect_agreement(around(), answer::no, "NOREPLICAS");
    program doctor{{"doctor"}, around()};
    doctor.wait();
    BOOST_TEST(contains(doctor.output(), "or CONFIG SET min-replicas-to-write 0"), doctor.output());
    dashboard_program board{around()};
    BOOST_TEST(eventually([&] { return board.status().at("nodes").at(0).at("state") == "unsuitable"; }), board.status().dump());
}

// Their records are trusted.
BOOST_AUTO_TEST_CASE(two_do_not_say_what_they_are)
{
    for (std::size_t i : {0u, 1u}) all[i].command({"ACL", "SETUSER", "default", "-info"});
    expect_agreement(around(), answer::yes, "");
    program doctor{{"doctor"}, around()};
    BOOST_TEST(doctor.wait() == 1);
    BOOST_TEST(contains(doctor.output(), "ACL SETUSER default +info"), doctor.output());
}

BOOST_AUTO_TEST_CASE(two_have_something_else_where_their_record_should_be)
{
    for (std::size_t i : {0u, 1u}) all[i].command({"SET", "redlock:node", "x"});
    expect_agreement(around(), answer::no, "holds something else");
    dashboard_program board{around()};
    BOOST_TEST(eventually([&] { return board.status().at("nodes").at(0).at("state") == "needs_operator"; }), board.status().dump());
}

// Not that rules forbid INFO.
BOOST_AUTO_TEST_CASE(two_are_busy_with_a_script)
{
    std::vector<std::future<resp_reply>> busy;
    for (std::size_t i : {0u, 1u}) {
        all[i].command({"CONFIG", "SET", "busy-reply-threshold", "100"});
        busy.push_back(std::async(std::launch::async, [port = all[i].port()] {
            return resp_client{loopback::ipv4, port, 60s}.ask({"EVAL", "while true do end", "0"});
        }));
    }
    BOOST_TEST_REQUIRE(eventually([&] { return contains(all[1].ask({"PING"}).text, "BUSY"); }));
    program doctor{{"doctor"}, around()};
    BOOST_TEST(doctor.wait() == 2);
    BOOST_TEST(contains(doctor.output(), "SCRIPT KILL"), doctor.output());
    BOOST_TEST(!contains(doctor.output(), "forbid"), doctor.output());
    for (std::size_t i : {0u, 1u}) all[i].command({"SCRIPT", "KILL"});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(agreement_of_others)

BOOST_FIXTURE_TEST_CASE(two_clocks_stepped, servers_with_clocks)
{
    program first{run("first"), around};
    BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    for (std::size_t i : {0u, 1u}) clocks[i].step(10s);
    expect_agreement(around, answer::yes, "");
    program doctor{{"doctor", "--json"}, around};
    BOOST_TEST(doctor.wait() == 1);
    BOOST_TEST(contains(doctor.output(), "its clock is 10.0 s ahead of this machine's"), doctor.output());
    expect_since(around, "ahead of this machine's", "or earlier: a dashboard");
}

// They show that they have lost nothing since their start, so that the first lock need not wait.
BOOST_FIXTURE_TEST_CASE(nobody_has_used_servers_that_have_run_for_long, servers_with_clocks)
{
    for (auto& clock : clocks) clock.step(60s);
    {
        dashboard_program board{around};
        BOOST_TEST(eventually([&] { return board.status().at("verdict").at("level") == "good"; }), board.status().at("verdict").dump());
    }
    expect_agreement_of_inspect(around, answer::yes, "");
    expect_agreement(around, answer::yes, "");
}

// A server has another id from then on, and has lost nothing.
BOOST_FIXTURE_TEST_CASE(two_have_got_a_first_replica, servers_with_clocks)
{
    program first{run("first"), around};
    BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    for (auto& clock : clocks) clock.step(60s);
    std::deque<redis_server> replicas;
    for (std::size_t i : {0u, 1u}) {
        follow(replicas.emplace_back(), all[i]);
        wait_for_replicas(all[i], 1);
    }
    {
        dashboard_program board{around};
        BOOST_TEST(eventually([&] { return board.status().at("verdict").at("level") == "good"; }), board.status().at("verdict").dump());
        BOOST_TEST(contains(board.status().at("verdict").dump(), "admits the others at once"), board.status().dump());
    }
    expect_agreement_of_inspect(around, answer::yes, "");
    program doctor{{"doctor"}, around};
    doctor.wait();
    BOOST_TEST(contains(doctor.output(), "2 of 3 nodes have another id than when they were admitted"), doctor.output());
    expect_agreement(around, answer::yes, "");
}

// Each waits for a replica, as those do that are promoted after the loss of a primary.
BOOST_FIXTURE_TEST_CASE(two_refuse_to_wait, servers_with_replicas)
{
    for (std::size_t i : {0u, 1u}) primaries[i].command({"ACL", "SETUSER", "default", "-wait"});
    expect_agreement(around, answer::no, "WAIT, which the server refuses");
    dashboard_program board{around};
    BOOST_TEST(eventually([&] { return board.status().at("nodes").at(1).at("state") == "not_durable"; }), board.status().dump());
    auto const said = board.status().at("nodes").at(1).at("text").get<std::string>();
    BOOST_TEST(contains(said, "wait is refused, so that its votes never count (NOPERM"), said);
}

// Its user shows nothing of those who lock.
BOOST_FIXTURE_TEST_CASE(who_only_looks_may_not_wait_either, servers_with_replicas)
{
    std::string list;
    for (auto& s : primaries) {
        s.command({"ACL", "SETUSER", "looks", "on", ">pw", "~*", "+@read", "+info", "+time"});
        list += (list.empty() ? "" : ",") + ("redis://looks:pw@127.0.0.1:" + std::to_string(s.port()) + "?replicas=1");
    }
    program_options looks{.environment = {{"REDLOCK_NODES", list}}};
    dashboard_program board{looks};
    BOOST_TEST(eventually([&] { return board.status().at("verdict").at("level") == "good"; }), board.status().dump());
}

BOOST_FIXTURE_TEST_CASE(two_have_lost_their_replicas, servers_with_replicas)
{
    expect_agreement(around, answer::yes, "");
    replicas[0].kill();
    BOOST_TEST_REQUIRE(eventually([&] { return contains(primaries[0].command({"INFO", "replication"}), "connected_slaves:0"); }));
    expect_agreement_of_inspect(around, answer::yes_but_no_further_node_may_fail, "replica", {});
    replicas[1].kill();
    BOOST_TEST_REQUIRE(eventually([&] { return contains(primaries[1].command({"INFO", "replication"}), "connected_slaves:0"); }));
    expect_agreement(around, answer::no, "replica");
}

BOOST_AUTO_TEST_CASE(a_group_that_failed_over)
{
    watched_group group;
    program_options const around{.environment = {{"REDLOCK_NODES", group.url()}}};
    program first{{"run", "first", "--bootstrap", "--", "true"}, around};
    BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    expect_agreement(around, answer::yes, "");
    group.primary().kill();
    auto const is_promoted = [&] {
        program doctor{{"doctor"}, around};
        doctor.wait();
        return contains(doctor.output(), "promoted, or restarted");
    };
    BOOST_TEST_REQUIRE((eventually(is_promoted) || eventually(is_promoted)));
    expect_agreement(around, answer::no, "promoted");
}

BOOST_AUTO_TEST_CASE(a_group_whose_replicas_are_gone)
{
    watched_group group;
    program_options const around{.environment = {{"REDLOCK_NODES", group.url()}}};
    program first{{"run", "first", "--bootstrap", "--", "true"}, around};
    BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    auto const primary = group.primary_port();
    for (redis_server& s : group.servers)
        if (s.port() != primary) s.kill();
    BOOST_TEST_REQUIRE(eventually([&] { return contains(group.primary().command({"INFO", "replication"}), "connected_slaves:0"); }));
    expect_agreement(around, answer::no, "replica");
}

// It keeps its connection to the primary, and nobody but that knows that it is silent.
BOOST_AUTO_TEST_CASE(its_replica_hangs)
{
    redis_server primary{quick_to_copy({})}, replica;
    follow(replica, primary);
    wait_for_replicas(primary, 1);
    program_options const around{.environment = {{"REDLOCK_NODES", primary.url() + "?replicas=1"}}};
    program first{{"run", "first", "--bootstrap", "--", "true"}, around};
    BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    expect_agreement(around, answer::yes, "");
    replica.stop();
    auto const is_noticed = [&] {
        program doctor{{"doctor"}, around};
        return doctor.wait() == 2;
    };
    BOOST_TEST(eventually(is_noticed));
    expect_since(around, "follow it in time", "a replica was heard the last time ");
    expect_agreement(around, answer::no, "replica");
    program waits{{"run", "job", "--wait", "5s", "--", "true"}, around};
    BOOST_TEST(waits.wait() == 69);
    BOOST_TEST(!contains(waits.errors(), "is held by"), waits.errors());
    replica.resume();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(agreement_new)

BOOST_FIXTURE_TEST_CASE(servers_that_nobody_has_used, three_servers)
{
    expect_agreement(environment(), answer::no, "lost");
    program doctor{{"doctor", "--json"}, environment()};
    doctor.wait();
    BOOST_TEST(!contains(doctor.output(), "begins with"), doctor.output());
    BOOST_TEST(contains(doctor.output(), "run redlock admit now: it takes "), doctor.output());
}

BOOST_AUTO_TEST_CASE(a_cluster_whose_slots_moved)
{
    redis_cluster cluster;
    program_options const around{.environment = {{"REDLOCK_NODES", cluster.url("?shards=1")}}};
    expect_agreement(around, answer::no, "");
    {
        program first{{"run", "first", "--bootstrap", "--", "true"}, around};
        BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    }
    expect_agreement(around, answer::yes, "");
    auto const slot = static_cast<std::uint16_t>(std::stoul(cluster.servers.front().command({"CLUSTER", "KEYSLOT", "{s0}"})));
    cluster.move(slot, cluster.another_primary_than(slot));
    expect_agreement(around, answer::no, "promoted");
}

BOOST_AUTO_TEST_CASE(a_cluster_whose_primary_died)
{
    redis_cluster cluster;
    program_options const around{.environment = {{"REDLOCK_NODES", cluster.url("?shards=1")}}};
    program first{{"run", "first", "--bootstrap", "--", "true"}, around};
    BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    auto const slot = static_cast<std::uint16_t>(std::stoul(cluster.servers.front().command({"CLUSTER", "KEYSLOT", "{s0}"})));
    auto& primary = cluster.owner_of(slot);
    auto const port = primary.port();
    primary.kill();
    expect_agreement(around, answer::no, std::to_string(port), {.patience = "800ms"});
    // All of them say so: the command asks one, and that may be any.
    auto const has_no_slots_for = [&](redis_server& s) {
        if (!s.running()) return true;
        std::istringstream lines{s.command({"CLUSTER", "NODES"})};
        for (std::string line; std::getline(lines, line);)
            if (contains(line, ':' + std::to_string(port) + '@'))
                return std::count(line.begin(), line.end(), ' ') < 8;  // no slots behind its state
        return true;
    };
    auto const is_promoted = [&] { return std::all_of(cluster.servers.begin(), cluster.servers.end(), has_no_slots_for); };
    BOOST_TEST_REQUIRE(eventually(is_promoted));
    expect_agreement(around, answer::no, "the server has no replica, and its votes need 1", {.patience = "800ms"});
    program doctor{{"doctor"}, around};
    doctor.wait();
    BOOST_TEST(contains(doctor.output(), "has 0 replicas, and votes wait for 1: its shards have no votes"), doctor.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
