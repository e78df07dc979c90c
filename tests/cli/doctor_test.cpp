// redlock doctor finds what was made wrong with the servers, and redlock bench measures them.
#include "program.hpp"
#include "support/hostile_server.hpp"
#include "support/resp_client.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <fstream>
#include <stop_token>
#include <string>
#include <thread>

namespace redlock::testing {
namespace {

struct finding {
    std::string severity, node, what, remedy;
};

struct diagnosis {
    int code;
    std::vector<finding> all;

    // The first whose words contain this.
    finding with(std::string const& words) const
    {
        for (auto const& f : all)
            if (contains(f.what, words)) return f;
        return {};
    }

    // The first of this node.
    finding of(std::string const& node) const
    {
        for (auto const& f : all)
            if (f.node == node) return f;
        return {};
    }
};

diagnosis examine(servers const& s, arguments const& more = {})
{
    arguments words{"doctor", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    program p{words, s.environment()};
    diagnosis d{p.wait(), {}};
    auto const j = p.json();
    for (auto const& f : j.at("findings"))
        d.all.push_back({f.at("severity"), f.at("node").is_null() ? "" : f.at("node").get<std::string>(), f.at("what"), f.at("remedy")});
    BOOST_TEST(j.at("healthy").get<bool>() == (d.code == 0));
    return d;
}

std::string name_of(redis_server const& s) { return "127.0.0.1:" + std::to_string(s.port()); }

struct one_server : servers {
    one_server() : servers{1} {}
};

struct admitted : servers {
    admitted()
    {
        program p{run("job", {}, {"true"}), environment()};
        BOOST_TEST_REQUIRE(p.wait() == 0, p.errors());
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(doctors)

BOOST_FIXTURE_TEST_CASE(healthy_nodes_are_called_so, admitted)
{
    auto const d = examine(*this);
    BOOST_TEST(d.code == 0);
    for (auto const& f : d.all) BOOST_TEST(f.severity == "note", f.what);
    program p{{"doctor"}, environment()};
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(contains(p.output(), "\nhealthy\n"), p.output());
    BOOST_TEST(all[0].command({"KEYS", "*doctor*"}) == "");
}

BOOST_FIXTURE_TEST_CASE(new_nodes_are_told_from_those_that_forgot, three_servers)
{
    auto const is_new = examine(*this);
    BOOST_TEST(is_new.code == 2);
    BOOST_TEST(is_new.all.front().severity == "danger");
    BOOST_TEST(contains(is_new.all.front().what, "nobody can acquire a lock with a token now: no node votes, and 2 must ("));
    BOOST_TEST(is_new.with("no node was ever admitted").severity == "warning");
    {
        program p{run("job", {}, {"true"}), environment()};
        BOOST_TEST(p.wait() == 0);
    }
    all[2].restart();
    auto const d = examine(*this);
    BOOST_TEST(d.code == 1);
    BOOST_TEST(d.with("not admitted yet").node == name_of(all[2]));
    BOOST_TEST(d.with("no further node may fail: 2 of 3 nodes vote, and 2 must").severity == "warning");
    all[1].restart();
    auto const stuck = examine(*this);
    BOOST_TEST(stuck.with("2 of 3 nodes restarted, were promoted, or lost their data since they were admitted").severity == "danger");
    BOOST_TEST(contains(stuck.all.front().what, "nobody can acquire a lock with a token now: 1 of 3 nodes votes, and 2 must ("));
    for (auto const& f : stuck.all) BOOST_TEST(!contains(f.what + f.remedy, "bootstrap"), f.what);
}

// One node is down, and another one has lost its data: as many are left as after two failures.
BOOST_FIXTURE_TEST_CASE(one_down_and_one_flushed_is_a_danger, admitted)
{
    all[1].command({"FLUSHALL"});
    all[2].kill();
    auto const d = examine(*this, {"--timeout", "500ms"});
    BOOST_TEST(d.code == 2);
    BOOST_TEST(contains(d.all.front().what, "nobody can acquire a lock with a token now: 1 of 3 nodes votes, and 2 must ("),
               d.all.front().what);
    program p{{"run", "job", "--no-wait", "--", "true"}, environment()};
    BOOST_TEST(p.wait() == 69);
}

// The data are there, and the server is another one than they name.
BOOST_FIXTURE_TEST_CASE(a_server_with_the_record_of_another_is_not_called_new, one_server)
{
    {
        program p{run("job", {}, {"true"}), environment()};
        BOOST_TEST_REQUIRE(p.wait() == 0, p.errors());
    }
    all[0].command({"REPLICAOF", "127.0.0.1", "1"});
    all[0].command({"REPLICAOF", "NO", "ONE"});
    auto const d = examine(*this);
    BOOST_TEST(d.code == 2);
    BOOST_TEST(contains(d.all.front().what, "nobody can acquire a lock with a token now: the node does not vote ("), d.all.front().what);
    BOOST_TEST(d.with("it was promoted, or restarted with the data that it had stored, and is not admitted yet").severity == "warning");
    for (auto const& f : d.all) BOOST_TEST(!contains(f.what + f.remedy, "bootstrap"), f.what);
}

BOOST_FIXTURE_TEST_CASE(eviction_replicas_and_clusters_are_dangers, admitted)
{
    all[0].command({"CONFIG", "SET", "maxmemory", "100mb"});
    all[0].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    all[1].command({"REPLICAOF", "127.0.0.1", std::to_string(all[0].port())});
    auto const d = examine(*this);
    BOOST_TEST(d.code == 2);
    BOOST_TEST(d.all.front().severity == "danger");
    BOOST_TEST(d.with("it evicts keys when its memory is full (maxmemory 1").node == name_of(all[0]));
    BOOST_TEST(contains(d.with("it evicts keys when its memory is full (maxmemory 1").remedy, "noeviction"));
    BOOST_TEST(d.with("it is a replica").node == name_of(all[1]));

    redis_server const member{{.arguments = {"--cluster-enabled", "yes"}}};
    program p{{"doctor", "--json", "--nodes", member.url()}};
    BOOST_TEST(p.wait() == 2);
    BOOST_TEST(contains(p.output(), "Redis Cluster"), p.output());
}

// As at managed services.
BOOST_AUTO_TEST_CASE(an_eviction_policy_where_config_is_forbidden)
{
    redis_server const managed{
        {.arguments = {"--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru", "--rename-command", "CONFIG", ""}}};
    program p{{"doctor", "--nodes", managed.url()}};
    BOOST_TEST(p.wait() == 2);
    BOOST_TEST(contains(p.output(), "remedy: CONFIG is refused here"), p.output());
    BOOST_TEST(!contains(p.output(), "CONFIG SET maxmemory"), p.output());
}

// Nobody can allow what is not there, and waiting does not bring it back.
BOOST_AUTO_TEST_CASE(commands_that_were_renamed_away)
{
    for (std::string const name : {"EVALSHA", "GET", "SCRIPT", "TIME"}) {
        redis_server const server{{.arguments = {"--rename-command", name, "gone" + name}}};
        program p{{"doctor", "--json", "--nodes", server.url()}};
        BOOST_TEST(p.wait() == 2, name);
        BOOST_TEST(contains(p.output(), "take rename-command " + name + " out of its configuration"), p.output());
        BOOST_TEST(contains(p.output(), "waiting does not help"), p.output());
        BOOST_TEST(!contains(p.output(), "ACL SETUSER"), p.output());
        program run{{"run", "job", "--no-wait", "--nodes", server.url(), "--", "true"}};
        BOOST_TEST(run.wait() == exits::config, name);
        BOOST_TEST(contains(run.errors(), name == "TIME" ? "it does not know INFO, MGET or TIME" : "the server does not know " + name),
                   run.errors());
    }
    redis_server const old{{.arguments = {"--rename-command", "HELLO", ""}}};
    program p{{"doctor", "--json", "--nodes", old.url()}};
    BOOST_TEST(p.wait() == 2);
    BOOST_TEST(contains(p.output(), "take rename-command HELLO out of its configuration"), p.output());
}

BOOST_FIXTURE_TEST_CASE(one_server_under_two_addresses_is_found, admitted)
{
    auto const port = std::to_string(all[0].port());
    program p{{"doctor", "--json", "--nodes", "redis://127.0.0.1:" + port + ",redis://localhost:" + port}};
    BOOST_TEST(p.wait() == 2);
    BOOST_TEST(contains(p.output(), "this is the same server as 127.0.0.1:" + port), p.output());
    BOOST_TEST(contains(p.output(), "use an odd number of nodes"), p.output());
}

BOOST_FIXTURE_TEST_CASE(servers_that_are_down_or_stopped_are_named, admitted)
{
    all[0].kill();
    auto const d = examine(*this);
    BOOST_TEST(d.code == 1);
    BOOST_TEST(contains(d.of(name_of(all[0])).what, "Connection refused"), d.of(name_of(all[0])).what);
    all[1].stop();
    auto const worse = examine(*this, {"--timeout", "300ms"});
    BOOST_TEST(worse.code == 2);
    BOOST_TEST(contains(worse.all.front().what, "nobody can acquire a lock with a token now: 1 of 3 nodes votes, and 2 must ("),
               worse.all.front().what);
    BOOST_TEST(contains(worse.with("no connection within 300.0 ms").remedy, "hangs"));
}

// Each new connection is led to the other one of two servers.
BOOST_AUTO_TEST_CASE(several_servers_behind_one_address_are_a_danger)
{
    redis_server const first, second;
    tcp_proxy balancer{{first.port()}};
    std::jthread const turns{[&](std::stop_token const& over) {
        while (!over.stop_requested()) {
            balancer.redirect(0, balancer.connects(0).size() % 2 == 0 ? first.port() : second.port());
            std::this_thread::sleep_for(std::chrono::microseconds{100});
        }
    }};
    program p{{"doctor", "--json", "--nodes", "redis://127.0.0.1:" + std::to_string(balancer.ports()[0])}};
    BOOST_TEST(p.wait() == 2);
    BOOST_TEST(contains(p.output(), "several servers answer at this address"), p.output());
    BOOST_TEST(contains(p.output(), "without a load balancer"), p.output());
}

BOOST_AUTO_TEST_CASE(a_server_that_takes_no_more_connections_is_told_from_one_that_is_down)
{
    redis_server const server;
    resp_client taken{loopback::ipv4, server.port(), std::chrono::seconds{60}};
    BOOST_TEST(taken.ask({"CONFIG", "SET", "maxclients", "1"}).text == "OK");
    program p{{"doctor", "--json", "--nodes", server.url()}};
    BOOST_TEST(p.wait() == 2);
    BOOST_TEST(contains(p.output(), "the server takes no more connections (ERR max number of clients reached)"), p.output());
    BOOST_TEST(contains(p.output(), "CONFIG SET maxclients"), p.output());
    BOOST_TEST(!contains(p.output(), "rediss://"), p.output());
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_said_and_never_told)
{
    redis_server const server{{.requirepass = "right"}};
    auto const at = "127.0.0.1:" + std::to_string(server.port());
    for (std::string const credentials : {"", "default:wr0ng@"}) {
        program p{{"doctor", "--json", "--nodes", "redis://" + credentials + at}};
        BOOST_TEST(p.wait() == 2);
        BOOST_TEST(contains(p.output(), "it has no vote at the moment: HELLO was refused"), p.output());
        BOOST_TEST(contains(p.output(), "correct the user or the password"), p.output());
        BOOST_TEST(!contains(p.output() + p.errors(), "wr0ng"), p.output());
    }
    program p{{"inspect", "job", "--nodes", server.url()}};
    BOOST_TEST(p.wait() == 0, p.output());
    program strange{{"doctor", "--json", "--timeout", "500ms", "--nodes", "redis://localhost:1"}};
    BOOST_TEST(strange.wait() == 2);
}

BOOST_FIXTURE_TEST_CASE(a_server_that_does_harm_is_one_finding, admitted)
{
    for (harm const& how : {harm{.begin = "$2000000000\r\n", .endless = "x"},
                            harm{.begin = "$2000000000\r\n", .endless = "x", .behind = all[2].port(), .word = "appendfsync"},
                            harm{.begin = "*4000000\r\n", .endless = "_\r\n", .behind = all[2].port(), .word = "appendfsync"}}) {
        hostile_server const hostile{how};
        auto const at = "127.0.0.1:" + std::to_string(hostile.port());
        program p{{"doctor", "--json", "--nodes", all[0].url() + ',' + all[1].url() + ",redis://" + at}};
        BOOST_TEST(p.wait() == 1, p.output());
        BOOST_TEST(contains(p.output(), "it has no vote at the moment: it "), p.output());
        BOOST_TEST(contains(p.output(), "something else listens there"), p.output());
        BOOST_TEST(hostile.most_taken() < 48u * 1024 * 1024);
    }
}

BOOST_FIXTURE_TEST_CASE(missing_permissions_are_listed_with_their_remedy, admitted)
{
    auto const port = std::to_string(all[0].port());
    all[0].command({"ACL", "SETUSER", "app", "on", ">pw", "~job*", "~redlock:*", "+@all", "-evalsha", "-client|tracking", "-config"});
    program p{{"doctor", "--json", "--nodes", "redis://app:pw@127.0.0.1:" + port}};
    BOOST_TEST(p.wait() == 2);
    BOOST_TEST(contains(p.output(), "evalsha is refused"), p.output());
    BOOST_TEST(contains(p.output(), "ACL SETUSER app +evalsha"), p.output());
    BOOST_TEST(contains(p.output(), "client|tracking is refused"), p.output());
    BOOST_TEST(!contains(p.output(), "\"set is refused"), p.output());

    program elsewhere{{"doctor", "--name", "orders", "--json", "--nodes", "redis://app:pw@127.0.0.1:" + port}};
    BOOST_TEST(elsewhere.wait() == 2);
    BOOST_TEST(contains(elsewhere.output(), "set is refused"), elsewhere.output());
    BOOST_TEST(contains(elsewhere.output(), "~<pattern of the names>"), elsewhere.output());
    BOOST_TEST(all[0].command({"EXISTS", "job"}) == "0");
}

// Most users have no read-write locks: what is missing for them is a warning.
BOOST_FIXTURE_TEST_CASE(what_readers_need_is_tried, admitted)
{
    std::string urls;
    for (auto& s : all) {
        s.command({"ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "-zadd", "-pexpireat"});
        urls += (urls.empty() ? "" : ",") + ("redis://app:pw@127.0.0.1:" + std::to_string(s.port()));
    }
    program p{{"doctor", "--json", "--nodes", urls}};
    BOOST_TEST(p.wait() == 1, p.output());
    BOOST_TEST(contains(p.output(), "zadd is refused, so that nobody can hold a read-write lock to read"), p.output());
    BOOST_TEST(contains(p.output(), "ACL SETUSER app +pexpireat"), p.output());
}

BOOST_FIXTURE_TEST_CASE(the_lock_whose_permissions_are_tried_is_not_touched, admitted)
{
    all[0].command({"SET", "job", "foreign", "PX", "60000"});
    examine(*this, {"--name", "job"});
    BOOST_TEST(all[0].command({"GET", "job"}) == "foreign");
    BOOST_TEST(std::stoi(all[0].command({"PTTL", "job"})) > 30'000);
}

BOOST_FIXTURE_TEST_CASE(without_fencing_forgetting_is_a_danger, admitted)
{
    auto const file = (folder.path() / "c.json").string();
    nlohmann::json const c{{"nodes", {all[0].url(), all[1].url(), all[2].url()}}, {"lock", {{"fencing", false}}}};
    std::ofstream{file} << c;
    program p{{"doctor", "--json", "--config", file}};
    BOOST_TEST(p.wait() == 2);
    BOOST_TEST(contains(p.output(), "it loses its data when it restarts, and without fencing"), p.output());
}

BOOST_FIXTURE_TEST_CASE(a_bench_measures_and_cleans_up, admitted)
{
    program p{{"bench", "--time", "300ms", "--callers", "4", "--json"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    auto const j = p.json();
    BOOST_TEST(j.at("runs").size() == 2u);
    BOOST_TEST(j.at("runs").at(1).at("callers") == 4);
    BOOST_TEST(j.at("runs").at(1).at("pairs").get<int>() > 4);
    BOOST_TEST(j.at("runs").at(0).at("acquire_us").at("p99.9").get<int>() > 0);
    for (auto& s : all) BOOST_TEST(s.command({"KEYS", "redlock:bench:*"}) == "");

    program table{{"bench", "--time", "200ms", "--callers", "2", "--no-fencing"}, environment()};
    BOOST_TEST(table.wait() == 0);
    BOOST_TEST(contains(table.output(), "pairs/s"), table.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
