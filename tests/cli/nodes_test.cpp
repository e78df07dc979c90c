// redlock nodes: which servers belong together, and what somebody with another list is told.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <string>

namespace redlock::testing {
namespace {

struct founded_set : servers {
    founded_set() : servers{5} { BOOST_TEST_REQUIRE(of({0, 1, 2}, {"run", "job", "--bootstrap", "--", "true"}).code == 0); }

    struct ended {
        int code;
        std::string output, errors;
    };

    std::string list(std::vector<std::size_t> const& some) const
    {
        std::string urls;
        for (auto const i : some) urls += (urls.empty() ? "" : ",") + all[i].url();
        return urls;
    }

    // The command with these servers as its nodes.
    ended of(std::vector<std::size_t> const& some, arguments words) const
    {
        words.insert(words.begin() + 1, {"--nodes", list(some)});
        program p{words};
        int const code = p.wait();
        return {code, p.output(), p.errors()};
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(nodes_of_a_set)

BOOST_FIXTURE_TEST_CASE(the_set_is_shown_as_its_servers_say_it, founded_set)
{
    auto const shown = of({0, 1, 2}, {"nodes", "show"});
    BOOST_TEST(shown.code == 0, shown.errors);
    BOOST_TEST(contains(shown.output, " of 3 nodes (127.0.0.1:"), shown.output);
    BOOST_TEST(contains(shown.output, "generation 0"), shown.output);
    auto const json = nlohmann::json::parse(of({0, 1, 2}, {"nodes", "show", "--json"}).output);
    BOOST_TEST(json.at("sets").size() == 1u);
    BOOST_TEST(json.at("sets").at(0).at("size") == 3);
    BOOST_TEST(json.at("sets").at(0).at("members").size() == 3u);
    BOOST_TEST(json.at("sets").at(0).at("complete") == true);
    BOOST_TEST(json.at("nodes").at(2).at("set") == json.at("sets").at(0).at("id"));
    BOOST_TEST(json.at("nodes").at(2).at("refused").is_null());
    BOOST_TEST(of({0, 1, 2}, {"doctor"}).code == 0);

    auto const none = of({3, 4}, {"nodes", "show"});
    BOOST_TEST(none.code == 0);
    BOOST_TEST(contains(none.output, "no node has a record of its set"), none.output);
    auto const unknown = of({0, 1, 2}, {"nodes", "replace"});
    BOOST_TEST(unknown.code == 64);
    BOOST_TEST(contains(unknown.errors, "redlock nodes replace needs two servers"), unknown.errors);
}

BOOST_FIXTURE_TEST_CASE(another_list_is_refused_by_every_command_that_locks, founded_set)
{
    for (auto const& some : std::vector<std::vector<std::size_t>>{{0, 1}, {0, 1, 2, 3, 4}, {0, 1, 3}}) {
        // With as many nodes as the set, two members may answer before the server that is none: then they are a majority of either list.
        if (some.size() != 3) {
            auto const run = of(some, {"run", "job", "--no-wait", "--", "true"});
            BOOST_TEST(run.code == 78, run.errors);
            BOOST_TEST(contains(run.errors, "the list of nodes is not that of the set to which the servers belong"), run.errors);
            BOOST_TEST(contains(run.errors, "of 3 nodes (127.0.0.1:"), run.errors);
            auto const waits = of(some, {"run", "job", "--no-fencing", "--", "true"});
            BOOST_TEST(waits.code == 78, waits.errors);
            BOOST_TEST(of(some, {"acquire", "job"}).code == 78);
        }
        auto const admit = of(some, {"admit"});
        BOOST_TEST(admit.code == 80, admit.errors);
        BOOST_TEST(contains(admit.errors, "waiting does not help; an operator must act"), admit.errors);
        auto const shown = of(some, {"nodes", "show"});
        BOOST_TEST(shown.code == 78);
        BOOST_TEST(contains(shown.output, "refused"), shown.output);
        auto const doctor = of(some, {"doctor"});
        BOOST_TEST(doctor.code == 2);
        BOOST_TEST(contains(doctor.output, "danger"), doctor.output);
        BOOST_TEST(contains(doctor.output, "use the same list of nodes in every client"), doctor.output);
    }
    BOOST_TEST(all[3].command({"EXISTS", "redlock:set"}) == "0");
}

BOOST_FIXTURE_TEST_CASE(a_set_can_have_a_name, founded_set)
{
    auto const named = of({3, 4}, {"run", "job", "--set-name", "billing", "--bootstrap", "--", "true"});
    BOOST_TEST(named.code == 0, named.errors);
    BOOST_TEST(of({3, 4}, {"run", "job", "--set-name", "billing", "--", "true"}).code == 0);
    BOOST_TEST(of({3, 4}, {"run", "job", "--", "true"}).code == 0);
    auto const other = of({3, 4}, {"run", "job", "--set-name", "orders", "--no-wait", "--", "true"});
    BOOST_TEST(other.code == 78);
    BOOST_TEST(contains(other.errors, "this client's set_name is \"orders\""), other.errors);
    auto const nameless = of({0, 1, 2}, {"run", "job", "--set-name", "orders", "--no-wait", "--", "true"});
    BOOST_TEST(nameless.code == 78);
    BOOST_TEST(contains(nameless.errors, "founded without a name"), nameless.errors);
    BOOST_TEST(of({3, 4}, {"run", "job", "--set-name", "a b", "--", "true"}).code == 64);
}

BOOST_FIXTURE_TEST_CASE(shards_in_another_order_are_refused, founded_set)
{
    auto const file = [&](char const* name, std::vector<std::size_t> const& order) {
        nlohmann::json shards = nlohmann::json::array();
        for (auto const i : order) shards.push_back({all[i].url()});
        auto const path = (folder.path() / name).string();
        std::ofstream{path} << nlohmann::json{{"shards", shards}, {"bootstrap", true}};
        return path;
    };
    auto const right = file("right.json", {3, 4}), wrong = file("wrong.json", {4, 3});
    for (int i = 0; i < 8; ++i) {
        program p{{"run", "job:" + std::to_string(i), "--config", right, "--", "true"}};
        BOOST_TEST(p.wait() == 0, p.errors());
    }
    program p{{"run", "job:1", "--config", wrong, "--no-wait", "--", "true"}};
    BOOST_TEST(p.wait() == 78, p.errors());
    BOOST_TEST(contains(p.errors(), "config::shards must have the same sets in the same order"), p.errors());
    program shown{{"nodes", "show", "--shard", "1", "--config", right}};
    BOOST_TEST(shown.wait() == 0, shown.output());
    BOOST_TEST(contains(shown.output(), "(shard 1 of 2)"), shown.output());
}

// What the page says about changing a set by hand.
BOOST_FIXTURE_TEST_CASE(the_set_is_changed_as_the_page_says, founded_set)
{
    auto const file = (folder.path() / "redlock.json").string();
    nlohmann::json nodes = nlohmann::json::array();
    for (auto const& s : all) nodes.push_back(s.url());
    std::ofstream{file} << nlohmann::json{{"nodes", nodes}, {"max_ttl_ms", 1'000}, {"lock", {{"ttl_ms", 1'000}, {"node_timeout_ms", 500}}}};
    program before{{"run", "job", "--no-wait", "--config", file, "--", "true"}};
    BOOST_TEST(before.wait() == 78, before.errors());
    for (std::size_t i = 0; i < 3; ++i) all[i].command({"DEL", "redlock:node", "redlock:set"});
    program admit{{"admit", "--config", file}};
    BOOST_TEST(admit.wait() == 0, admit.errors());
    program after{{"run", "job", "--no-wait", "--config", file, "--", "true"}};
    BOOST_TEST(after.wait() == 0, after.errors());
    program shown{{"nodes", "show", "--config", file}};
    BOOST_TEST(shown.wait() == 0, shown.output());
    BOOST_TEST(contains(shown.output(), " of 5 nodes ("), shown.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
