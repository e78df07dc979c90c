// redlock inspect, watch and release: what is on the servers, and what is said of it.
#include "program.hpp"
#include "support/command_stats.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>
#include <utility>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

// Holds "job" as redlock run does.
struct held : servers {
    held() : servers{3}, holder{run("job", {"--label", "nightly"}, {"sh", "-c", "echo ready; exec sleep 60"}), environment()}
    {
        BOOST_TEST_REQUIRE(eventually([&] { return contains(holder.output(), "ready") && count_with("job") == 3; }), holder.errors());
    }

    program holder;
};

arguments inspect_json(std::string const& name) { return {"inspect", name, "--json"}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(looking)

BOOST_FIXTURE_TEST_CASE(the_holder_is_named, held)
{
    program p{{"inspect", "job", "other"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(contains(p.output(), "process " + std::to_string(holder.pid()) + ", label nightly"), p.output());
    BOOST_TEST(contains(p.output(), "on 3 of 3 nodes, a majority; survives 1 more fault"), p.output());
    BOOST_TEST(contains(p.output(), "other: free"), p.output());
    BOOST_TEST(!contains(p.output(), "\x1b"));

    auto const secret = all[0].command({"GET", "job"}).substr(0, 32);
    program j{inspect_json("job"), environment()};
    BOOST_TEST(j.wait() == 0);
    auto const lock = j.json().at("locks").at(0);
    BOOST_TEST(lock.at("state") == "held");
    BOOST_TEST(lock.at("holder").at("pid") == holder.pid());
    BOOST_TEST(lock.at("holder").at("label") == "nightly");
    BOOST_TEST(lock.at("held_on") == 3);
    BOOST_TEST(lock.at("faults_tolerated") == 1);
    BOOST_TEST(lock.at("token").get<std::uint64_t>() > 0);
    BOOST_TEST(lock.at("ttl_ms").get<int>() > 10'000);
    BOOST_TEST(lock.at("on").size() == 3u);
    BOOST_TEST(!contains(p.output() + j.output(), secret));  // who knows it can release the lock
}

// Locks are known by their names, whatever their keys.
BOOST_AUTO_TEST_CASE(a_configuration_with_a_key_format)
{
    redis_server const server;
    temporary_folder const folder;
    auto const file = (folder.path() / "redlock.json").string();
    std::ofstream{file} << nlohmann::json{{"nodes", {server.url()}}, {"bootstrap", true}, {"key_format", "redlock:{0}"}};
    program holder{{"run", "job", "--config", file, "--", "sleep", "60"}};
    BOOST_TEST_REQUIRE(eventually([&] { return server.command({"EXISTS", "redlock:job"}) == "1"; }), holder.errors());
    BOOST_TEST(server.command({"EXISTS", "job"}) == "0");
    program j{{"inspect", "job", "--json", "--config", file}};
    BOOST_TEST(j.wait() == 0, j.errors());
    auto const lock = j.json().at("locks").at(0);
    BOOST_TEST(lock.at("name") == "job");
    BOOST_TEST(lock.at("state") == "held");
    BOOST_TEST(lock.at("holder").at("pid") == holder.pid());
    BOOST_TEST(lock.at("token").get<std::uint64_t>() > 0);
    program away{{"release", "job", "--force", "--yes", "--config", file}};
    BOOST_TEST(away.wait() == 0, away.errors());
    BOOST_TEST(contains(away.output(), "job: deleted on 1 of 1 node"), away.output());
    BOOST_TEST(server.command({"EXISTS", "redlock:job"}) == "0");
}

BOOST_FIXTURE_TEST_CASE(nodes_that_are_down_are_named, held)
{
    all[0].kill();
    program two{inspect_json("job"), environment()};
    BOOST_TEST(two.wait() == 0, two.errors());
    auto const lock = two.json().at("locks").at(0);
    BOOST_TEST(lock.at("state") == "held");
    BOOST_TEST(lock.at("answered") == 2);
    BOOST_TEST(lock.at("faults_tolerated") == 0);
    BOOST_TEST(lock.at("on").at(0).at("problem") == "Connection refused");

    all[1].stop();
    program one{{"inspect", "job", "--timeout", "200ms"}, environment()};
    BOOST_TEST(one.wait() == 69);
    BOOST_TEST(contains(one.output(), "job: unknown, since only 1 of 3 nodes answered"), one.output());
}

BOOST_FIXTURE_TEST_CASE(what_is_foreign_stays_opaque, three_servers)
{
    set_everywhere("a", "their secret value");
    for (auto& s : all) s.command({"HSET", "b", "field", "1"});
    all[0].command({"SET", "c", "left behind"});
    program p{{"inspect", "a", "b", "c", "--json"}, environment()};
    BOOST_TEST(p.wait() == 0);
    auto const locks = p.json().at("locks");
    BOOST_TEST(locks.at(0).at("holder").at("foreign") == true);
    BOOST_TEST(locks.at(0).at("ttl_ms").is_null());
    BOOST_TEST(locks.at(1).at("holder").at("type") == "hash");
    BOOST_TEST(locks.at(2).at("state") == "partly");
    BOOST_TEST(locks.at(2).at("holder").is_null());
    BOOST_TEST(!contains(p.output(), "their secret"));
    program text{{"inspect", "a", "b", "c"}, environment()};
    text.wait();
    BOOST_TEST(contains(text.output(), "a: held by a value of somebody else's"), text.output());
    BOOST_TEST(contains(text.output(), "b: held by a hash of somebody else's"), text.output());
    BOOST_TEST(contains(text.output(), "c: held by nobody, but keys are there"), text.output());
}

BOOST_FIXTURE_TEST_CASE(names_are_any_bytes, three_servers)
{
    // The last one would turn what stands behind it around.
    std::string const names[] = {"two words", "\xc3\xbc\xe2\x82\xac", "\x1b[31mred", "\xff\xfe", "\xe2\x80\xaejob"};
    arguments words{"inspect"};
    words.insert(words.end(), std::begin(names), std::end(names));
    program p{words, environment()};
    BOOST_TEST(p.wait() == 0);
    for (char const* shown : {"\"two words\": free", "\xc3\xbc\xe2\x82\xac: free", "\"\\x1b[31mred\": free", "\"\\xff\\xfe\": free",
                              "\"\\xe2\\x80\\xaejob\": free"})
        BOOST_TEST(contains(p.output(), shown), p.output());
    words.push_back("--json");
    program j{words, environment()};
    BOOST_TEST(j.wait() == 0);
    BOOST_TEST(j.json().at("locks").at(0).at("name") == "two words");
}

BOOST_FIXTURE_TEST_CASE(watch_sees_the_lock_change_hands, held)
{
    program p{{"watch", "job", "--json", "--interval", "20ms"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return lines_of(p.output()).size() > 2; }));
    holder.send(SIGTERM);
    holder.wait();
    BOOST_TEST(eventually([&] { return contains(p.output(), "\"state\":\"free\""); }));
    set_everywhere("job", "foreign");
    BOOST_TEST(eventually([&] { return contains(p.output(), "\"turns\":2"); }));
    p.send(SIGINT);
    BOOST_TEST(p.wait() == 0);
    for (std::string const& line : lines_of(p.output())) BOOST_TEST(nlohmann::json::parse(line).at("name") == "job");

    program plain{{"watch", "job", "x", "--count", "2", "--interval", "10ms"}, environment()};
    BOOST_TEST(plain.wait() == 0);
    BOOST_TEST(lines_of(plain.output()).size() == 4u);
}

BOOST_FIXTURE_TEST_CASE(release_needs_force_and_a_yes, held)
{
    program mild{{"release", "job"}, environment()};
    BOOST_TEST(mild.wait() == 64);
    BOOST_TEST(contains(mild.errors(), "--force"));
    program unasked{{"release", "--force", "job"}, environment()};
    BOOST_TEST(unasked.wait() == 64);
    BOOST_TEST(contains(unasked.errors(), "--yes"));
    BOOST_TEST(count_with("job") == 3u);
}

BOOST_FIXTURE_TEST_CASE(release_deletes_everywhere_and_says_so, three_servers)
{
    set_everywhere("job", "foreign");
    for (auto& s : all) s.command({"HSET", "map", "a", "b"});
    program p{{"release", "--force", "--yes", "job", "--json"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(p.json().at("locks").at(0).at("deleted") == 3);
    BOOST_TEST(count_with("job") == 0u);
    program again{{"release", "--force", "--yes", "job"}, environment()};
    BOOST_TEST(again.wait() == 1);
    BOOST_TEST(contains(again.output(), "deleted on 0 of 3 nodes"), again.output());
    program map{{"release", "--force", "--yes", "map"}, environment()};
    BOOST_TEST(map.wait() == 0);
    BOOST_TEST(count_with("map") == 0u);

    set_everywhere("job", "foreign");
    all[0].stop();
    program two{{"release", "--force", "--yes", "job", "--timeout", "200ms"}, environment()};
    BOOST_TEST(two.wait() == 0);
    BOOST_TEST(contains(two.output(), "deleted on 2 of 3 nodes"), two.output());
}

BOOST_FIXTURE_TEST_CASE(release_takes_several_names, three_servers)
{
    set_everywhere("a", "foreign");
    for (auto& s : all) s.command({"HSET", "b", "x", "y"});
    all[1].command({"SET", "c", "left behind"});
    program p{{"release", "--force", "--yes", "--json", "a", "b", "none", "--", "c"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    auto const locks = p.json().at("locks");
    BOOST_TEST_REQUIRE(locks.size() == 4u);
    int const deleted[] = {3, 3, 0, 1};
    char const* const names[] = {"a", "b", "none", "c"};
    for (std::size_t i = 0; i < 4; ++i) {
        BOOST_TEST(locks.at(i).at("name") == names[i]);
        BOOST_TEST(locks.at(i).at("deleted") == deleted[i]);
    }
    BOOST_TEST(locks.at(3).at("nodes").at(1).at("result") == "deleted");
    for (char const* name : names) BOOST_TEST(count_with(name) == 0u);
    program again{{"release", "--force", "--yes", "a", "b"}, environment()};
    BOOST_TEST(again.wait() == 1);
}

BOOST_FIXTURE_TEST_CASE(release_looks_for_locks_of_a_host_or_with_such_names, held)
{
    // Values of this library, and one of others, which may be no lock.
    std::string const by_web_3 = std::string(32, 'a') + ":web-3:4711:1700000000";
    for (char const* name : {"jobs:1", "other"}) set_everywhere(name, by_web_3);
    set_everywhere("jobs:2", "foreign");
    expect_failure({"release", "--force", "--yes", "--host", "nobody"}, 1, "no such lock was found; nothing was deleted", environment());
    expect_failure({"release", "--pattern", "job*"}, exits::usage, "give --force", environment());
    expect_failure({"release", "--force", "--host", "a", "job"}, exits::usage, "they go without NAME", environment());
    expect_failure({"release", "--force", "--yes", "--host", "", "--pattern", "*"}, exits::usage, "--host: the value is empty",
                   environment());
    BOOST_TEST(count_with("job") == 3u);

    program view{inspect_json("job"), environment()};
    BOOST_TEST(view.wait() == 0);
    auto const host = view.json().at("locks").at(0).at("holder").at("host").get<std::string>();
    program mine{{"release", "--force", "--yes", "--json", "--host", host, "--pattern", "j*"}, environment()};
    BOOST_TEST(mine.wait() == 0, mine.errors());
    BOOST_TEST(mine.json().at("locks").size() == 1u);
    BOOST_TEST(mine.json().at("locks").at(0).at("name") == "job");
    BOOST_TEST(count_with("jobs:1") == 3u);

    program some{{"release", "--force", "--yes", "--pattern", "j*:?"}, environment()};
    BOOST_TEST(some.wait() == 0, some.errors());
    BOOST_TEST(count_with("jobs:1") == 0u);
    for (char const* name : {"other", "jobs:2"}) BOOST_TEST(count_with(name) == 3u);
}

// Its end by Ctrl-C is the usual one, whatever the nodes said last, and does not wait for them.
BOOST_FIXTURE_TEST_CASE(watch_ends_well_while_nodes_do_not_answer, three_servers)
{
    program p{{"watch", "job", "--interval", "20ms", "--timeout", "60s"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return lines_of(p.output()).size() > 1; }));
    for (auto& s : all) s.kill();
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "job unknown"); }), p.output());
    p.send(SIGINT);
    BOOST_TEST(p.wait() == 0);

    for (auto& s : all) s.restart();
    program hangs{{"watch", "job", "--interval", "20ms", "--timeout", "60s"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return lines_of(hangs.output()).size() > 1; }));
    for (auto& s : all) s.stop();
    auto const looks = lines_of(hangs.output()).size();
    BOOST_TEST(eventually([&] { return lines_of(hangs.output()).size() >= looks; }));
    hangs.send(SIGINT);
    BOOST_TEST(hangs.wait() == 0);
}

// What was not told to anybody is no success, and waits for nobody.
BOOST_FIXTURE_TEST_CASE(those_that_look_again_and_again_end_with_the_signal_while_nobody_reads, three_servers)
{
    for (auto const& [words, asks] : {std::pair{arguments{"watch", "job", "--interval", "50ms"}, "pttl"},
                                      {arguments{"list", "--watch", "--interval", "100ms"}, "scan"}}) {
        full_pipe const stuck;
        auto options = environment();
        options.output = stuck.end();
        program p{words, options};
        auto const is_stuck = [&] {  // it has looked, and looks no more
            auto const before = calls_of(all[0], asks);
            std::this_thread::sleep_for(300ms);
            return before > 0 && calls_of(all[0], asks) == before;
        };
        BOOST_TEST_REQUIRE(eventually(is_stuck), words.front());
        p.send(SIGTERM);
        BOOST_TEST(p.wait(5s) == 128 + SIGTERM, words.front() << ": " << p.errors());
    }
    full_pipe const stuck;
    auto options = environment();
    options.output = stuck.end();
    program leader{{"leader", "job", "--watch"}, options};
    BOOST_TEST_REQUIRE(eventually([&] { return calls_of(all[0], "evalsha") > 0; }), leader.errors());
    std::this_thread::sleep_for(300ms);
    leader.send(SIGTERM);
    BOOST_TEST(leader.wait(5s) == 128 + SIGTERM, leader.errors());
}

// What is published may be anything, and comes to a terminal as text.
BOOST_FIXTURE_TEST_CASE(what_was_published, three_servers)
{
    std::string const address = "10.0.0.7:8080\x1b[2J" + std::string(300, 'x');
    program leader{{"lead", "api", "--publish", address, "--bootstrap", "--", "sh", "-c", "echo ready; exec sleep 60"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(leader.output(), "ready"); }), leader.errors());
    BOOST_TEST_REQUIRE(eventually([&] { return count_with("api:published") == 3u; }));
    program p{{"inspect", "api"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(contains(p.output(), "published by its holder: \"10.0.0.7:8080\\x1b[2Jxxx"), p.output());
    BOOST_TEST(contains(p.output(), "(317 bytes, token "), p.output());
    BOOST_TEST(!contains(p.output(), "\x1b"));
    BOOST_TEST(!contains(p.output(), std::string(100, 'x')));
    program json{{"inspect", "api", "--json"}, environment()};
    BOOST_TEST(json.wait() == 0);
    auto const published = json.json().at("locks").at(0).at("published");
    BOOST_TEST(published.at("value") == address);
    BOOST_TEST(published.at("by_holder") == true);
    BOOST_TEST(published.at("on") == 3);
    BOOST_TEST(published.at("publisher").at("pid") == leader.pid());

    program list{{"list"}, environment()};
    BOOST_TEST(list.wait() == 0, list.errors());
    BOOST_TEST(contains(list.output(), "  published\n"), list.output());
    BOOST_TEST(contains(list.output(), "10.0.0.7:8080\\x1b[2Jxxx"), list.output());
    BOOST_TEST(!contains(list.output(), "\x1b"));
    program found{{"list", "--json"}, environment()};
    BOOST_TEST(found.wait() == 0);
    BOOST_TEST(found.json().at("locks").at(0).at("published").at("value") == address);

    leader.send(SIGTERM);
    leader.wait();
    program after{{"inspect", "api"}, environment()};
    BOOST_TEST(after.wait() == 0);
    BOOST_TEST(contains(after.output(), "api: free\n  published by an earlier holder ("), after.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
