// The command with a Redis Cluster for its node: locks, permits, elections and tickets; what shows one lock, or all; and doctor. Commands that look at servers
// one by one refuse it in words.
#include "program.hpp"

#include "support/redis_cluster.hpp"
#include "web_client.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>

namespace redlock::testing {
namespace {

constexpr std::size_t shards = 4;

struct cluster_of_servers {
    program_options environment() const { return {.environment = {{"REDLOCK_NODES", cluster.url("?shards=4")}}}; }

    // Begins in new shards without waiting for leases of before.
    arguments run(std::string const& name, arguments const& options, arguments const& command) const
    {
        arguments all{"run", name, "--bootstrap"};
        all.insert(all.end(), options.begin(), options.end());
        all.emplace_back("--");
        all.insert(all.end(), command.begin(), command.end());
        return all;
    }

    // Where the key of a lock is: the shard, or `shards`.
    std::size_t shard_with(std::string const& name)
    {
        std::size_t s = 0;
        while (s < shards && server_of(s).command({"EXISTS", "{s" + std::to_string(s) + "}:" + name}) != "1") ++s;
        return s;
    }
    std::uint16_t slot_of(std::size_t shard) const
    {
        return static_cast<std::uint16_t>(
            std::stoul(cluster.servers.front().command({"CLUSTER", "KEYSLOT", "{s" + std::to_string(shard) + '}'})));
    }
    redis_server& server_of(std::size_t shard) { return cluster.owner_of(slot_of(shard)); }

    bool is_held(std::string const& name) const
    {
        program p{{"inspect", name, "--json"}, environment()};
        BOOST_TEST(p.wait() == 0, p.errors());
        return p.json().at("locks").at(0).at("state") == "held";
    }

    redis_cluster cluster;
    temporary_folder folder{"redlock-cli-test-"};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(clusters)

BOOST_FIXTURE_TEST_CASE(a_lock_is_held_shown_and_taken_away, cluster_of_servers)
{
    program holder{run("job", {}, {"sleep", "60"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return shard_with("job") < shards; }), holder.errors());

    program refused{run("job", {"--no-wait"}, {"true"}), environment()};
    BOOST_TEST(refused.wait() == 75);
    BOOST_TEST(contains(refused.errors(), "job is held by "), refused.errors());
    BOOST_TEST(contains(refused.errors(), "process " + std::to_string(holder.pid())), refused.errors());
    BOOST_TEST(is_held("job"));

    program away{{"release", "job", "--force", "--yes"}, environment()};
    BOOST_TEST(away.wait() == 0, away.errors());
    BOOST_TEST(shard_with("job") == shards);
}

BOOST_FIXTURE_TEST_CASE(who_waits_says_who_holds_the_lock, cluster_of_servers)
{
    program holder{run("job", {}, {"sleep", "60"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return shard_with("job") < shards; }), holder.errors());
    program waiting{run("job", {}, {"true"}), environment()};
    BOOST_TEST(eventually([&] { return contains(waiting.errors(), "process " + std::to_string(holder.pid())); }), waiting.errors());
    holder.send(SIGTERM);
    BOOST_TEST(waiting.wait() == 0, waiting.errors());
}

BOOST_FIXTURE_TEST_CASE(permits_tickets_and_elections, cluster_of_servers)
{
    program user{run("pool", {"--permits", "2"}, {"sleep", "60"}), environment()};
    auto const permits_in_use = [&] {
        program p{{"semaphore", "pool", "--json"}, environment()};
        BOOST_TEST(p.wait() <= 1, p.errors());
        return contains(p.output(), "\"held\": 1");
    };
    BOOST_TEST(eventually(permits_in_use), user.errors());

    program first{run("passed", {}, {"true"}), environment()};  // its shard is there from now on
    BOOST_TEST(first.wait() == 0, first.errors());
    program acquired{{"acquire", "passed", "--ttl", "20s"}, environment()};
    BOOST_TEST_REQUIRE(acquired.wait() == 0, acquired.errors());
    BOOST_TEST(is_held("passed"));
    program released{{"release", "--ticket", lines_of(acquired.output()).at(0)}, environment()};
    BOOST_TEST(released.wait() == 0, released.errors());
    BOOST_TEST(!is_held("passed"));

    program leads{{"lead", "boss", "--bootstrap", "--publish", "host1:80", "--", "sleep", "60"}, environment()};
    auto const is_known = [&] {
        program p{{"leader", "boss"}, environment()};
        return p.wait() == 0 && p.output() == "host1:80\n";
    };
    BOOST_TEST(eventually(is_known), leads.errors());
}

BOOST_FIXTURE_TEST_CASE(all_shards_are_admitted_by_one_command, cluster_of_servers)
{
    auto const file = folder.path() / "redlock.json";
    std::ofstream{file} << nlohmann::json{{"nodes", {cluster.url("?shards=4")}}, {"max_ttl_ms", 1'000}};
    arguments const all{"admit", "--config", file.string()};
    program admit{all};
    BOOST_TEST(admit.wait() == 0, admit.errors());
    BOOST_TEST(contains(admit.output(), "0 of 4 shards are admitted; shard 0 of "), admit.output());
    BOOST_TEST(contains(admit.output(), "all 4 shards are admitted"), admit.output());
    for (std::size_t s = 0; s < shards; ++s) BOOST_TEST(server_of(s).command({"EXISTS", "{s" + std::to_string(s) + "}:redlock:hw"}) == "1");
}

BOOST_FIXTURE_TEST_CASE(a_lock_is_found_after_its_slot_has_moved, cluster_of_servers)
{
    program holder{run("job", {}, {"sleep", "60"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return shard_with("job") < shards; }), holder.errors());
    program watch{{"watch", "job", "--json", "--interval", "100ms"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return !lines_of(watch.output()).empty(); }), watch.errors());
    auto const slot = slot_of(shard_with("job"));
    cluster.move(slot, cluster.another_primary_than(slot));
    BOOST_TEST(is_held("job"));
    auto const before = lines_of(watch.output()).size();
    BOOST_TEST(eventually([&] {
                   auto const lines = lines_of(watch.output());
                   return lines.size() > before && contains(lines.back(), "\"problem\":null");
               }),
               watch.output() + watch.errors());
}

BOOST_FIXTURE_TEST_CASE(locks_of_all_shards_are_listed_and_released, cluster_of_servers)
{
    std::set<std::string> held;
    for (int i = 0; i < 10; ++i) held.insert("job:" + std::to_string(i));
    held.insert("x}:job:1");  // which "job:1" matches only with what stands before it
    std::set<std::size_t> places;
    for (auto const& name : held) {
        program p{{"acquire", name, "--bootstrap", "--ttl", "30s"}, environment()};
        BOOST_TEST_REQUIRE(p.wait() == 0, p.errors());
        places.insert(shard_with(name));
    }
    BOOST_TEST(places.size() == shards);
    program user{run("pool", {"--permits", "2"}, {"sleep", "60"}), environment()};
    server_of(0).command({"SET", "{s0}:foreign", "1"});
    auto const listed = [&](arguments const& more = {}) {
        arguments words{"list", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        program p{words, environment()};
        auto const code = p.wait();
        BOOST_TEST(code == 0, p.errors());
        return p.json();
    };
    BOOST_TEST(eventually([&] { return listed().at("locks").size() == held.size() + 1; }), user.errors());
    auto const all = listed();
    BOOST_TEST(all.at("known") == true);
    BOOST_TEST(all.at("foreign_keys") == 1);
    std::set<std::string> names;
    for (auto const& lock : all.at("locks")) {
        names.insert(lock.at("name"));
        BOOST_TEST(lock.at("state") == "held");
    }
    auto expected = held;
    expected.insert("pool");
    BOOST_TEST(names == expected, all.dump());
    BOOST_TEST(listed({"job:1"}).at("locks").size() == 1u);
    BOOST_TEST(listed({"job:[0-4]"}).at("locks").size() == 5u);
    BOOST_TEST(listed({"*x*"}).at("locks").size() == 1u);

    auto const slot = slot_of(shard_with("job:3"));
    cluster.move(slot, cluster.another_primary_than(slot));
    BOOST_TEST(listed().at("locks").size() == expected.size());
    BOOST_TEST(listed({"--shard", std::to_string(shard_with("job:3"))}).at("locks").size() >= 1u);

    program some{{"release", "--force", "--pattern", "job:[5-9]", "--yes"}, environment()};
    BOOST_TEST(some.wait() == 0, some.errors());
    BOOST_TEST(contains(some.output(), "job:7: deleted on 1 of 1 node"), some.output());
    BOOST_TEST(listed().at("locks").size() == expected.size() - 5);
    program none{{"release", "--force", "--host", "nowhere", "--yes"}, environment()};
    BOOST_TEST(none.wait() == 1, none.errors());
    std::string const host = all.at("locks").at(0).at("holder").at("host");
    program away{{"release", "--force", "--host", host, "--pattern", "job:*", "--json", "--yes"}, environment()};
    BOOST_TEST(away.wait() == 0, away.errors());
    BOOST_TEST(away.json().at("locks").size() == 5u);
    BOOST_TEST(listed({"job:*"}).at("locks").empty());

    auto& lost = server_of(shard_with("x}:job:1"));
    lost.stop();
    program incomplete{{"list", "--timeout", "300ms"}, environment()};
    BOOST_TEST(incomplete.wait() == 69, incomplete.output());
    BOOST_TEST(contains(incomplete.output(), "the list may lack locks: the node was not searched to the end"), incomplete.output());
    lost.resume();
}

BOOST_FIXTURE_TEST_CASE(the_dashboard_shows_shards_and_locks, cluster_of_servers)
{
    for (std::size_t i = 0; i < 8; ++i) {  // each shard has a token
        program p{run("job:" + std::to_string(i), {}, {"true"}), environment()};
        BOOST_TEST_REQUIRE(p.wait() == 0, p.errors());
    }
    program holder{run("job", {"--label", "nightly"}, {"sleep", "60"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return shard_with("job") < shards; }), holder.errors());
    dashboard_program board{environment()};
    auto const is = [&](char const* level) { return eventually([&] { return board.status().at("verdict").at("level") == level; }); };
    BOOST_TEST(eventually([&] { return !board.status().at("locks").is_null(); }));
    BOOST_TEST(is("good"), board.status().dump());
    auto const seen = board.status();
    BOOST_TEST(seen.at("verdict").at("text") == "Locks can be acquired in each of 4 shards");
    BOOST_TEST_REQUIRE(seen.at("nodes").size() == 1u);
    BOOST_TEST(seen.at("nodes").at(0).at("state") == "admitted");
    BOOST_TEST(seen.at("nodes").at(0).at("text") == "each of its 4 shards votes");
    BOOST_TEST_REQUIRE(seen.at("locks").at("locks").size() == 1u, seen.dump());
    BOOST_TEST(seen.at("locks").at("locks").at(0).at("name") == "job");
    BOOST_TEST(seen.at("locks").at("locks").at(0).at("holder").at("label") == "nightly");

    auto& lost = server_of(shard_with("job"));
    lost.stop();
    BOOST_TEST((is("danger") || is("danger")), board.status().dump());
    auto const text = board.status().at("verdict").at("text").get<std::string>();
    BOOST_TEST(contains(text, "nobody can acquire a lock with a token now"), text);
    BOOST_TEST(contains(text, "of 4 shards"), text);
    BOOST_TEST(board.status().at("nodes").at(0).at("state") == "down");
    lost.resume();
}

BOOST_FIXTURE_TEST_CASE(what_cannot_be_asked_is_said_in_words, cluster_of_servers)
{
    program show{{"nodes", "show"}, environment()};
    BOOST_TEST(show.wait() == 78);
    BOOST_TEST(contains(show.errors(), "redlock nodes does not work with a Redis Cluster, which has no set of nodes"), show.errors());
    arguments names{"inspect", "--json"};
    for (int i = 0; i < 20; ++i) names.push_back("job:" + std::to_string(i));
    program all_of_them{names, environment()};
    BOOST_TEST(all_of_them.wait() == 0, all_of_them.errors());
    BOOST_TEST_REQUIRE(all_of_them.json().at("locks").size() == 20u);
    for (std::size_t i = 0; i < 20; ++i) BOOST_TEST(all_of_them.json().at("locks").at(i).at("name") == names[i + 2]);
    names.front() = "watch";
    program several{names, environment()};
    BOOST_TEST(several.wait() == 64);
    BOOST_TEST(contains(several.errors(), "a command talks to one shard"), several.errors());
}

BOOST_AUTO_TEST_CASE(a_cluster_is_described_and_what_is_wrong_is_found)
{
    redis_cluster cluster;
    program_options const environment{.environment = {{"REDLOCK_NODES", cluster.url("?shards=8")}}};
    {
        program is_new{{"doctor"}, environment};
        BOOST_TEST(is_new.wait() == 2);
        BOOST_TEST(contains(is_new.output(), "nobody can acquire a lock with a token now in 8 of 8 shards: the node does not vote ("),
                   is_new.output());
    }
    temporary_folder const folder{"redlock-cli-test-"};
    auto const file = folder.path() / "redlock.json";
    std::ofstream{file} << nlohmann::json{{"nodes", {cluster.url("?shards=8")}}, {"max_ttl_ms", 1'000}, {"lock", {{"ttl_ms", 1'000}}}};
    program admit{{"admit", "--config", file.string()}};
    BOOST_TEST_REQUIRE(admit.wait() == 0, admit.errors());
    program healthy{{"doctor", "--config", file.string()}};
    int const code = healthy.wait();
    BOOST_TEST(code == 0, healthy.errors() + healthy.output());
    BOOST_TEST(contains(healthy.output(), "8 shards over 3 primaries; votes wait for k = 1"), healthy.output());
    BOOST_TEST(contains(healthy.output(), "    shards: "), healthy.output());
    BOOST_TEST(contains(healthy.output(), "healthy"), healthy.output());

    cluster.drop(7);
    program sick{{"doctor", "--json"}, environment};
    BOOST_TEST(sick.wait() != 0);
    BOOST_TEST_INFO_SCOPE(sick.output());
    auto const said = sick.json();
    BOOST_TEST(said["healthy"] == false);
    BOOST_TEST(said["findings"][1]["what"].get<std::string>() == "16383 of 16384 slots are covered");
    BOOST_TEST(said["nodes"][0]["slots_covered"] == 16383);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
