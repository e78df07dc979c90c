// Several sets of nodes in config and in JSON: what is refused, and in which words.
#include "unit/message_support.hpp"

#include <redlock/config.hpp>
#include <redlock/json.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock {

namespace {

node_address node(std::string host) { return {.host = std::move(host), .password = {}}; }

config two_shards()
{
    config c;
    c.shards = {{node("a"), node("b"), node("c")}, {node("d")}};
    return c;
}

template <class Change>
std::string problem_with(Change change)
{
    config c = two_shards();
    change(c);
    return message_of<config_error>([&] { c.validate(); });
}

std::string problem_with_json(std::string_view text)
{
    return message_of<config_error>([&] { parse_settings(text); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shard_config)

BOOST_AUTO_TEST_CASE(sets_of_different_sizes_are_a_configuration)
{
    BOOST_TEST(problem_with([](config&) {}) == "");
}

BOOST_AUTO_TEST_CASE(nodes_and_shards_are_not_both_given)
{
    BOOST_TEST(problem_with([](config& c) { c.nodes = {node("e")}; }) ==
               "config::nodes and config::shards both name nodes; one of them has to be empty");
}

BOOST_AUTO_TEST_CASE(a_set_has_nodes)
{
    BOOST_TEST(problem_with([](config& c) { c.shards[1].clear(); }) == "config::shards[1] is empty: there must be at least one node");
    BOOST_TEST(problem_with([](config& c) { c.shards.clear(); }) == "config::nodes is empty: there must be at least one node");
}

BOOST_AUTO_TEST_CASE(too_many)
{
    BOOST_TEST(problem_with([](config& c) { c.shards.resize(65); }) == "config::shards has 65 sets of nodes; there may be at most 64");
    auto const many = problem_with([](config& c) {
        for (int i = 0; i < 15; ++i) c.shards[1].push_back(node("n" + std::to_string(i)));
    });
    BOOST_TEST(many == "config::shards[1] has 16 nodes; there may be at most 15");
}

BOOST_AUTO_TEST_CASE(a_server_is_in_one_set_only)
{
    auto const said = problem_with([](config& c) { c.shards[1][0] = node("b"); });
    REDLOCK_TEST_CONTAINS(said, "shards[1][0] (b:6379)");
    REDLOCK_TEST_CONTAINS(said, "shards[0][1]");
}

BOOST_AUTO_TEST_CASE(a_mistake_is_named_by_its_place)
{
    REDLOCK_TEST_CONTAINS(problem_with([](config& c) { c.shards[0][2].host.clear(); }), "shards[0][2]: the host ");
}

BOOST_AUTO_TEST_CASE(as_json)
{
    settings const s = parse_settings(R"({"shards": [["redis://a", "redis://b", "redis://c"], [{"host": "d", "port": 7000}]]})");
    BOOST_TEST(s.client.nodes.empty());
    BOOST_TEST_REQUIRE(s.client.shards.size() == 2u);
    BOOST_TEST(s.client.shards[0].size() == 3u);
    BOOST_TEST(s.client.shards[1][0].to_string() == "d:7000");
}

BOOST_AUTO_TEST_CASE(json_that_is_refused)
{
    BOOST_TEST(problem_with_json(R"({"shards": []})") == "shards: the list is empty; without shards, leave the key out and give nodes");
    BOOST_TEST(problem_with_json(R"({"shards": "redis://a"})") == "shards: expected a list of lists of nodes, found a string");
    BOOST_TEST(problem_with_json(R"({"shards": ["redis://a"]})") == "shards[0]: expected a list, found a string");
    REDLOCK_TEST_CONTAINS(problem_with_json(R"({"shards": [["redis://a"], ["nonsense"]]})"), "shards[1][0]: the URL has no scheme");
    BOOST_TEST(problem_with_json(R"({"nodes": ["redis://a"], "shards": [["redis://b"]]})") ==
               "config::nodes and config::shards both name nodes; one of them has to be empty");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
