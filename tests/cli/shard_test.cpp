// A configuration with several sets of nodes: the name of a lock says which set a command talks to, or --shard does.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <string>

namespace redlock::testing {
namespace {

// Two sets of one server each, admitted at once.
struct two_shards {
    two_shards()
    {
        auto const shards = nlohmann::json::array({nlohmann::json::array({servers[0].url()}), nlohmann::json::array({servers[1].url()})});
        std::ofstream{file} << nlohmann::json{{"shards", shards}, {"bootstrap", true}};
    }

    // On how many servers there is a key of this name, as digits.
    std::string places_of(std::string const& name) { return servers[0].command({"EXISTS", name}) + servers[1].command({"EXISTS", name}); }

    // A name whose lock was seen on this server.
    std::string name_on(std::size_t server)
    {
        for (int i = 0; i < 40; ++i) {
            auto const name = "job:" + std::to_string(i);
            program p{{"run", name, "--config", file, "--", "redis-cli", "-u", servers[server].url(), "EXISTS", name}};
            BOOST_TEST_REQUIRE(p.wait() == 0, p.errors());
            if (p.output() == "1\n") return name;
        }
        BOOST_FAIL("all names are on one server");
        return {};
    }

    std::deque<redis_server> servers = std::deque<redis_server>(2);
    temporary_folder folder{"redlock-cli-test-"};
    std::string file = (folder.path() / "redlock.json").string();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(shards)

BOOST_FIXTURE_TEST_CASE(the_name_says_which_shard, two_shards)
{
    for (std::size_t s = 0; s < 2; ++s) {
        auto const name = name_on(s);
        program holder{{"run", name, "--config", file, "--", "sleep", "60"}};
        auto const expected = s == 0 ? "10" : "01";
        BOOST_TEST_REQUIRE(eventually([&] { return places_of(name) == expected; }), holder.errors());
        program j{{"inspect", name, "--json", "--config", file}};
        BOOST_TEST(j.wait() == 0, j.errors());
        BOOST_TEST(j.json().at("locks").at(0).at("state") == "held");
        program away{{"release", name, "--force", "--yes", "--config", file}};
        BOOST_TEST(away.wait() == 0, away.errors());
        BOOST_TEST(places_of(name) == "00");
    }
}

BOOST_FIXTURE_TEST_CASE(a_ticket_says_which_shard, two_shards)
{
    for (std::size_t s = 0; s < 2; ++s) {
        auto const name = name_on(s);
        program a{{"acquire", name, "--config", file, "--ttl", "20s"}};
        BOOST_TEST_REQUIRE(a.wait() == 0, a.errors());
        auto const ticket = lines_of(a.output()).at(0);
        program r{{"release", "--ticket", ticket, "--config", file}};
        BOOST_TEST(r.wait() == 0, r.errors());
        BOOST_TEST(places_of(name) == "00");
    }
}

BOOST_FIXTURE_TEST_CASE(a_command_about_a_whole_set_asks_which, two_shards)
{
    program open{{"list", "--config", file}};
    BOOST_TEST(open.wait() == 64);
    BOOST_TEST(contains(open.errors(), "the configuration has 2 shards, 0 to 1: say which one with --shard"), open.errors());
    program far{{"doctor", "--shard", "2", "--config", file}};
    BOOST_TEST(far.wait() == 64);
    BOOST_TEST(contains(far.errors(), "there is no shard 2: the configuration has 2 shards, 0 to 1"), far.errors());
    program none{{"list", "--shard", "0", "--nodes", servers[0].url()}};
    BOOST_TEST(none.wait() == 64);
    BOOST_TEST(contains(none.errors(), "one set of nodes and no shards"), none.errors());
    program list{{"list", "--shard", "1", "--json", "--config", file}};
    BOOST_TEST(list.wait() == 0, list.errors());
    BOOST_TEST(list.json().at("nodes").size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_lock_of_another_shard_is_refused_in_words, two_shards)
{
    auto const name = name_on(0);
    program p{{"inspect", name, "--shard", "1", "--config", file}};
    BOOST_TEST(p.wait() == 64);
    BOOST_TEST(contains(p.errors(), "is in shard 0 and not in shard 1; a command talks to one shard"), p.errors());
}

// Those of other shards, too, of which this process keeps no node.
BOOST_AUTO_TEST_CASE(variables_with_passwords_of_all_shards_can_be_kept_from_the_command)
{
    redis_server const server{{.requirepass = "right"}};
    temporary_folder const folder{"redlock-cli-test-"};
    auto const file = (folder.path() / "redlock.json").string();
    auto const own = "redis://default@127.0.0.1:" + std::to_string(server.port()) + "?password_env=OWN_PASSWORD";
    auto const other = "redis+sentinel://default@127.0.0.1:1/m?password_env=OTHER_PASSWORD&sentinel_password_env=SENTINEL_PASSWORD";
    std::ofstream{file} << nlohmann::json{{"shards", {nlohmann::json::array({own}), nlohmann::json::array({other})}}, {"bootstrap", true}};
    program_options around;
    for (char const* const name : {"OWN_PASSWORD", "OTHER_PASSWORD", "SENTINEL_PASSWORD"}) around.environment.emplace_back(name, "right");
    auto const seen_with = [&](arguments const& more) {
        for (int i = 0; i < 40; ++i) {
            arguments words{"run", "job:" + std::to_string(i), "--shard", "0", "--config", file};
            words.insert(words.end(), more.begin(), more.end());
            words.insert(words.end(), {"--", "env"});
            program p{words, around};
            if (p.wait() == 64) continue;  // the name is in the other shard
            BOOST_TEST(p.wait() == 0, p.errors());
            return p.output();
        }
        BOOST_FAIL("all names are in one shard");
        return std::string{};
    };
    auto const with = seen_with({}), without = seen_with({"--no-env"});
    for (char const* const name : {"OWN_PASSWORD=", "OTHER_PASSWORD=", "SENTINEL_PASSWORD="}) {
        BOOST_TEST(contains(with, name), with);
        BOOST_TEST(!contains(without, name), without);
    }
    BOOST_TEST(contains(without, "REDLOCK_NAME="), without);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
