// Redis Clusters in URLs, in JSON and in code.
#include "support/mentions.hpp"
#include "unit/message_support.hpp"

#include <redlock/json.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace redlock {
namespace {

using redlock::testing::mentions;

std::string url_problem(std::string const& url)
{
    return message_of<config_error>([&] { node_address::from_url(url); });
}

std::string json_problem(std::string const& node)
{
    return message_of<config_error>([&] { parse_settings(R"({"nodes": [)" + node + "]}"); });
}

std::string config_problem(std::vector<std::string> const& urls)
{
    return message_of<config_error>([&] { config::from_urls(urls); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(clusters_in_configurations)

BOOST_AUTO_TEST_CASE(a_url_names_servers_and_the_number_of_shards)
{
    auto const a = node_address::from_url("redis-cluster://app:s3cret@10.0.0.1:7000,h2,[::1]:1?shards=16&replicas=2&fsync=yes");
    BOOST_TEST_REQUIRE(a.cluster.has_value());
    BOOST_TEST(a.host == "");
    BOOST_TEST(a.username == "app");
    BOOST_TEST(a.password == "s3cret");
    BOOST_TEST(a.replicas == 2);
    BOOST_TEST(a.fsync);
    BOOST_TEST(!a.tls);
    BOOST_TEST(a.cluster->shards == 16);
    BOOST_TEST((a.cluster->addresses == std::vector<cluster_address>{{"10.0.0.1", 7000}, {"h2", 6379}, {"::1", 1}}));
    BOOST_TEST(a.to_string() == "10.0.0.1:7000,h2:6379,[::1]:1");
    BOOST_TEST(node_address::from_url("redis-cluster://h").cluster->shards == 64);
    auto const with_tls = node_address::from_url("rediss-cluster://h/?verify=no");
    BOOST_TEST_REQUIRE(with_tls.tls.has_value());
    BOOST_TEST(with_tls.to_string() == "h:6379 (TLS, not verified)");
}

BOOST_AUTO_TEST_CASE(a_url_that_cannot_be_a_cluster)
{
    BOOST_TEST(mentions(url_problem("redis-cluster://h/1"), "has a '/' behind the servers of the cluster, which has only database 0"));
    BOOST_TEST(mentions(url_problem("redis-cluster://h?shards=0"), "'s shards are not a number between 1 and 256"));
    BOOST_TEST(mentions(url_problem("redis-cluster://h?shards=257"), "between 1 and 256"));
    BOOST_TEST(mentions(url_problem("redis-cluster://h?shards=many"), "between 1 and 256"));
    BOOST_TEST(mentions(url_problem("redis-cluster://h?db=1"), "there are shards=S, replicas=K"));
    BOOST_TEST(mentions(url_problem("redis-cluster://h?replicas=0"), "votes of a group that wait for no replica are lost in a failover"));
    BOOST_TEST(mentions(url_problem("redis-cluster://h,h:6379"), "the same server of the cluster is there twice"));
    BOOST_TEST(mentions(url_problem("redis-cluster://h,"), "host"));
    BOOST_TEST(mentions(url_problem("redis://h?shards=3"), "a parameter that is not known"));
}

BOOST_AUTO_TEST_CASE(the_same_in_json)
{
    auto const read = parse_settings(
        R"({"nodes": [{"cluster": {"addresses": ["h:1", "i"], "shards": 8}, "replicas": 1, "password": "p"}]})");
    BOOST_TEST((read.client.nodes.at(0) == node_address::from_url("redis-cluster://:p@h:1,i?shards=8&replicas=1")));
    BOOST_TEST(mentions(json_problem(R"({"cluster": {}})"), "nodes[0].cluster.addresses: this key is missing"));
    BOOST_TEST(mentions(json_problem(R"({"cluster": {"addresses": "h"}})"), "expected a list"));
    BOOST_TEST(mentions(json_problem(R"({"cluster": {"addresses": [1]}})"), "addresses[0]: expected host:port"));
    BOOST_TEST(mentions(json_problem(R"({"cluster": {"addresses": ["h:x"]}})"), "addresses[0]: the address"));
    BOOST_TEST(mentions(json_problem(R"({"cluster": {"addresses": []}})"), "there is no address of a server of the cluster"));
    BOOST_TEST(mentions(json_problem(R"({"cluster": {"addresses": ["h"], "shards": 300}})"), "shards"));
    BOOST_TEST(mentions(json_problem(R"({"host": "a", "cluster": {"addresses": ["h"]}})"), "only one of host and cluster"));
    BOOST_TEST(mentions(json_problem(R"({"cluster": {"addresses": ["h"]}, "database": 2})"), "only database 0"));
    BOOST_TEST(mentions(json_problem(R"({"cluster": {"addresses": ["h"]}, "replicas": 0})"), "wait for no replica"));
}

BOOST_AUTO_TEST_CASE(all_nodes_are_clusters_or_none_is)
{
    BOOST_TEST(config_problem({"redis-cluster://a,b", "redis-cluster://c", "redis-cluster://d"}) == "");
    BOOST_TEST(mentions(config_problem({"redis-cluster://a,b", "redis-cluster://b,c"}), "the same cluster as nodes[0]"));
    BOOST_TEST(mentions(config_problem({"redis-cluster://a", "redis://b"}), "all nodes of a configuration are clusters, or none is"));
    BOOST_TEST(mentions(config_problem({"redis-cluster://a?shards=8", "redis-cluster://b"}),
                        "clusters with different numbers of shards (8 and 64)"));
    config in_shards;
    in_shards.shards = {{node_address::from_url("redis-cluster://a")}};
    BOOST_TEST(mentions(message_of<config_error>([&] { in_shards.validate(); }), "clusters are given in config::nodes"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
