// Nodes that lost their memory, and how the scripts admit them again.
#include "protocol/group_binding.hpp"
#include "support/fenced_server.hpp"

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(fence_admission)

BOOST_FIXTURE_TEST_CASE(a_node_without_a_matching_record_is_not_admitted, fenced_server)
{
    auto const admitted = record();
    BOOST_TEST(admitted == id + " " + padded(start, 16) + " 0000030000 -");
    acquire("a");
    auto const nothing_votes = [&](std::string const& why) {
        BOOST_TEST(acquire("a") == "-1 0", why);
        BOOST_TEST(acquire("b") == "-1 0", why);
        BOOST_TEST(confirm("a", start + 1) == "-1", why);
        BOOST_TEST(extend("a", start + 1, true) == "-1", why);
    };
    run({"SET", "redlock:node", other_id + admitted.substr(40)});
    nothing_votes("another id");
    run({"DEL", "redlock:node"});
    nothing_votes("no record");
    run({"HSET", "redlock:node", "id", id});
    nothing_votes("a record of another type");
    run({"DEL", "redlock:node"});
    run({"SET", "redlock:node", admitted});
    run({"DEL", "redlock:hw"});
    nothing_votes("no high-water mark");
    BOOST_TEST(mark("m2") == "1 m2");
    BOOST_TEST(admit(start + 1, 30'000, "m2") == "1");
    BOOST_TEST(acquire("a") == granted(start + 1));
    run({"FLUSHALL"});
    nothing_votes("FLUSHALL");
    BOOST_TEST(server.command({"DBSIZE"}) == "0");
}

BOOST_FIXTURE_TEST_CASE(a_restarted_server_has_a_new_id_and_waits_for_its_admission, fenced_server)
{
    auto const before = id;
    server.restart();
    BOOST_TEST(acquire("a").substr(0, 8) == "NOSCRIPT");
    load();
    BOOST_TEST(acquire("a") == "-1 0");
    learn();
    BOOST_TEST(id != before);
    BOOST_TEST(acquire("a") == "-1 0");
    BOOST_TEST(mark("m2") == "1 m2");
    BOOST_TEST(record() == never_id + " 0000000000000000 0000000000 m2");
    BOOST_TEST(acquire("a") == "-1 0");
    BOOST_TEST(admit(start + 10, 30'000, "m2") == "1");
    BOOST_TEST(acquire("a") == granted(start + 11));
}

// The same server under a group's id, as clients with `replicas=1` have it.
BOOST_FIXTURE_TEST_CASE(a_group_keeps_its_number_of_replicas, fenced_server)
{
    auto const replication_id = id;
    auto const bound = [&](std::uint16_t replicas) { return detail::group_binding{replicas}.id_of(replication_id); };
    id = bound(1);
    BOOST_TEST(id.size() == 40u);
    BOOST_TEST(acquire("a") == "-1 0", "another id than the one that was admitted");
    BOOST_TEST(mark("m2") == "1 m2", "from none to some");
    BOOST_TEST(admit(start, 30'000, "m2") == "1");
    BOOST_TEST(acquire("a") == granted(start + 1));
    BOOST_TEST(mark("m3") == "2 ", "it is admitted");

    auto const before = record();
    std::string const refusal = "FENCE clients of this group use another number of replicas";
    for (std::uint16_t const other : std::initializer_list<std::uint16_t>{0, 2}) {
        id = bound(other);
        BOOST_TEST(acquire("b") == "-1 0");
        BOOST_TEST(extend("a", start + 1, true) == "-1");
        BOOST_TEST(mark("m4") == refusal);
        BOOST_TEST(admit(start, 30'000, "m2") == refusal);
        BOOST_TEST(record() == before);
    }
    id = bound(1);
    server.restart();
    load();
    run({"SET", "redlock:node", before});
    run({"SET", "redlock:hw", "1"});
    learn();
    id = detail::group_binding{0}.id_of(id);
    BOOST_TEST(mark("m5") == refusal, "the number stays when the server is another one");
}

BOOST_AUTO_TEST_CASE(a_restart_with_old_data_is_noticed_by_the_id)
{
    fenced_server node{{.appendonly = true}};
    BOOST_TEST(node.acquire("a", 0, 30) == granted(start + 30));
    auto const before = node.id;
    node.server.restart();
    node.load();
    node.learn();
    BOOST_TEST(node.id != before);
    BOOST_TEST(node.acquire("b") == "-1 0");
    BOOST_TEST(node.mark("m2") == "1 m2");
    BOOST_TEST(node.record() == before + " " + padded(start, 16) + " 0000030000 m2");
    BOOST_TEST(node.admit(start + 5, 10'000, "m2") == "1");
    BOOST_TEST(node.record() == node.id + " " + padded(start + 30, 16) + " 0000030000 -");
    BOOST_TEST(node.high_water() == start + 30);
    // The client that still goes by the old id: the record tells it, and where it did not, the trailing look would.
    node.id = before;
    BOOST_TEST(node.confirm("a", start + 30) == "-1");
}

BOOST_FIXTURE_TEST_CASE(admission_keeps_the_largest_base_and_ttl, fenced_server)
{
    acquire("a", start + 200);
    run({"SET", "redlock:node", other_id + record().substr(40)});
    BOOST_TEST(mark("m2") == "1 m2");
    BOOST_TEST(admit(start + 100, 20'000, "m2") == "1");
    BOOST_TEST(record() == id + " " + padded(start + 200, 16) + " 0000030000 -");
    run({"SET", "redlock:node", other_id + record().substr(40)});
    BOOST_TEST(mark("m3") == "1 m3");
    BOOST_TEST(admit(start + 300, 60'000, "m3") == "1");
    BOOST_TEST(record() == id + " " + padded(start + 300, 16) + " 0000060000 -");
    BOOST_TEST(high_water() == start + 300);
}

BOOST_FIXTURE_TEST_CASE(a_mark_admits_once_and_only_for_its_own_loss, fenced_server)
{
    BOOST_TEST(mark("m2") == "2 ");
    BOOST_TEST(admit(start, 30'000, "m1") == "2");
    run({"FLUSHALL"});
    BOOST_TEST(admit(start, 30'000, "m1") == "0");  // the loss is new, the mark is of the last one
    BOOST_TEST(mark("m2") == "1 m2");
    BOOST_TEST(mark("m3") == "0 m2");  // somebody else adopts it
    BOOST_TEST(admit(start, 30'000, "m3") == "0");
    run({"FLUSHALL"});
    BOOST_TEST(admit(start, 30'000, "m2") == "0");
    BOOST_TEST(mark("m4") == "1 m4");
    BOOST_TEST(admit(start, 30'000, "-") == "0");
    BOOST_TEST(admit(start, 30'000, "m2") == "0");
    BOOST_TEST(admit(start, 30'000, "m4") == "1");
    BOOST_TEST(admit(start + 9, 60'000, "m4") == "2");  // repeated, or the other client's
    BOOST_TEST(record() == id + " " + padded(start, 16) + " 0000030000 -");
}

// Who waited for the first one has not waited for the second loss.
BOOST_FIXTURE_TEST_CASE(a_request_to_mark_that_is_executed_again_makes_another_mark, fenced_server)
{
    auto const mark_once_more = [&] { return call(detail::mark_script(), {"redlock:node", "redlock:hw"}, {id, "m2"}); };
    run({"FLUSHALL"});
    auto const first = mark_once_more();
    BOOST_TEST(first.starts_with("1 m2-"));
    run({"FLUSHALL"});
    auto const second = mark_once_more();
    BOOST_TEST(second.starts_with("1 m2-"));
    BOOST_TEST(second != first);
}

BOOST_FIXTURE_TEST_CASE(admission_is_for_the_id_that_was_seen, fenced_server)
{
    run({"FLUSHALL"});
    BOOST_TEST(mark("m2") == "1 m2");
    auto const real = id;
    id = other_id;
    BOOST_TEST(mark("m3") == "-1 ");
    BOOST_TEST(admit(start, 30'000, "m2") == "-1");
    id = real;
    BOOST_TEST(admit(start, 30'000, "m2") == "1");
}

BOOST_FIXTURE_TEST_CASE(what_a_record_cannot_keep_is_refused, fenced_server)
{
    run({"FLUSHALL"});
    mark("m2");
    BOOST_TEST(admit(9007199254740991, 30'000, "m2").substr(0, 6) == "FENCE ");
    BOOST_TEST(admit(start, 10'000'000'000, "m2").substr(0, 6) == "FENCE ");
    BOOST_TEST(admit(start, 0, "m2").substr(0, 6) == "FENCE ");
    BOOST_TEST(admit(9007199254740990, 9'999'999'999, "m2") == "1");
    BOOST_TEST(record() == id + " 9007199254740990 9999999999 -");
    run({"SET", "redlock:node", "a lock of this name"});
    BOOST_TEST(mark("m3").substr(0, 6) == "FENCE ");
    BOOST_TEST(admit(start, 30'000, "m3").substr(0, 6) == "FENCE ");
    BOOST_TEST(record() == "a lock of this name");
}

// identity

// Its data goes with the resynchronisation, on one connection, without a restart.
BOOST_FIXTURE_TEST_CASE(a_node_that_was_a_replica_in_between_is_noticed, fenced_server)
{
    redis_server elsewhere;
    auto const before = id;
    run({"REPLICAOF", elsewhere.host(), std::to_string(elsewhere.port())});
    BOOST_TEST(look().role == "slave");
    BOOST_TEST(mark("m2") == "-1 ");
    BOOST_TEST(admit(start, 30'000, "m1") == "-1");
    BOOST_TEST(acquire("a").find("READONLY") != std::string::npos);
    run({"CONFIG", "SET", "replica-read-only", "no"});
    auto const shown = look();
    BOOST_TEST(acquire("a") == granted(start + 1));     // such a replica does execute it ...
    BOOST_TEST(shown.role == "slave");                  // ... and the trailing look takes the vote away
    run({"REPLICAOF", "NO", "ONE"});
    learn();
    BOOST_TEST(id != before);
    BOOST_TEST(acquire("b") == "-1 0");
    BOOST_TEST(mark("m2").substr(0, 2) == "1 ");
}

BOOST_FIXTURE_TEST_CASE(inspect_tells_what_a_handshake_needs, fenced_server)
{
    run({"CONFIG", "SET", "maxmemory", "100mb"});
    run({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
    words command{"EVALSHA", detail::inspect_script().sha1, "2", "redlock:node", "redlock:hw"};
    auto const facts = server.ask(command).items;
    BOOST_REQUIRE_EQUAL(facts.size(), 14u);
    BOOST_TEST(facts[0] == id);
    BOOST_TEST(facts[1] == "master");
    BOOST_TEST(facts[4] == record());
    BOOST_TEST(facts[5] == std::to_string(start));
    BOOST_TEST((server.command({"INFO", "server"}).find("redis_version:" + facts[6] + "\r") != std::string::npos));
    BOOST_TEST(facts[7] == "0");
    BOOST_TEST(facts[8] == "104857600");
    BOOST_TEST(facts[9] == "volatile-lru");
    BOOST_TEST(facts[10] == "0");
    run({"FLUSHALL"});
    auto const empty = server.ask(command).items;
    BOOST_TEST(empty[4] == "");
    BOOST_TEST(empty[5] == "");
}

// For how long the server has lost nothing, as text; not admitted.
std::string kept(redis_server const& server)
{
    auto const facts = server.ask({"EVAL", std::string{detail::inspect_script().text}, "2", "redlock:node", "redlock:hw"}).items;
    BOOST_REQUIRE_EQUAL(facts.size(), 14u);
    return facts[13];
}

BOOST_AUTO_TEST_CASE(a_server_that_lost_nothing_says_for_how_long_it_has_run)
{
    redis_server server;
    server.command({"SET", "a", "1", "PX", "1"});
    auto const before = kept(server);
    BOOST_TEST(!before.empty());
    auto const info = server.command({"INFO", "server"});
    auto const at = info.find("uptime_in_seconds:") + 18;
    BOOST_TEST(std::stoi(before) <= std::stoi(info.substr(at)));
    server.command({"GET", "a"});
    server.command({"CONFIG", "GET", "maxmemory"});
    BOOST_TEST(!kept(server).empty());
}

BOOST_AUTO_TEST_CASE(whatever_may_have_lost_something_since_its_start_hides_it)
{
    std::vector<words> const losses{
        {"FLUSHALL"},
        {"FLUSHDB"},
        {"SWAPDB", "0", "1"},
        {"REPLICAOF", "NO", "ONE"},
        {"SLAVEOF", "NO", "ONE"},
        {"CONFIG", "RESETSTAT"},
        {"DEBUG", "RELOAD"},
        {"MOVE", "a", "1"},
        {"EVAL", "return redis.call('FLUSHALL')", "0"},
    };
    for (words const& loss : losses) {
        redis_server_options options;
        options.arguments = {"--enable-debug-command", "yes"};
        redis_server server{options};
        BOOST_TEST(!kept(server).empty());
        server.command(loss);
        BOOST_TEST(kept(server).empty(), loss.front());
        server.restart();
        BOOST_TEST(!kept(server).empty(), loss.front());
    }
}

BOOST_AUTO_TEST_CASE(a_flush_under_another_name_hides_it)
{
    redis_server_options options;
    options.arguments = {"--rename-command", "FLUSHALL", "sweep"};
    redis_server server{options};
    server.command({"sweep"});
    BOOST_TEST(kept(server).empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_evicted_a_key_hides_it)
{
    redis_server server;
    server.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    for (int i = 0; i < 100; ++i) server.command({"SET", "k" + std::to_string(i), std::string(10'000, 'x')});
    server.command({"CONFIG", "SET", "maxmemory", "1"});
    server.command({"CONFIG", "SET", "maxmemory", "0"});
    BOOST_TEST(server.command({"INFO", "stats"}).find("evicted_keys:0\r") == std::string::npos);
    BOOST_TEST(kept(server).empty());
}

BOOST_FIXTURE_TEST_CASE(a_server_that_was_admitted_since_its_start_hides_it, fenced_server)
{
    BOOST_TEST(kept(server).empty());
    run({"DEL", "redlock:node"});
    BOOST_TEST(kept(server).empty());
    BOOST_TEST(mark("m2").starts_with("1 "));
    BOOST_TEST(kept(server).empty());
    run({"DEL", "redlock:node", "redlock:hw"});
    BOOST_TEST(mark("m3").starts_with("1 "));
    BOOST_TEST(!kept(server).empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_restarted_with_its_record_shows_it)
{
    redis_server_options options;
    options.appendonly = true;
    fenced_server was_admitted{options};
    was_admitted.server.restart();
    BOOST_TEST(!kept(was_admitted.server).empty());
}

BOOST_FIXTURE_TEST_CASE(rules_that_forbid_info_leave_the_handshake_empty, fenced_server)
{
    run({"ACL", "SETUSER", "default", "-info"});
    BOOST_TEST(acquire("a") == granted(start + 1));
    auto const facts = server.ask({"EVALSHA", detail::inspect_script().sha1, "2", "redlock:node", "redlock:hw"}).items;
    BOOST_REQUIRE_EQUAL(facts.size(), 14u);
    BOOST_TEST(facts[0] == "");
    BOOST_TEST(facts[4] == record());
    BOOST_TEST(facts[9] == "");
    for (auto const& answer : {mark("m2"), admit(start, 30'000, "m2")})
        BOOST_TEST((answer.starts_with("ERR") || answer.starts_with("NOPERM")), answer);
}

// No script may do half of its work: where writing is forbidden, the first write fails.
BOOST_FIXTURE_TEST_CASE(without_memory_nothing_is_written, fenced_server)
{
    run({"CONFIG", "SET", "maxmemory", "1"});
    BOOST_TEST(acquire("a").find("OOM") != std::string::npos);
    run({"CONFIG", "SET", "maxmemory", "0"});
    BOOST_TEST(server.command({"DBSIZE"}) == "2");
    BOOST_TEST(high_water() == start);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
