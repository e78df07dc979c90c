// Groups in URLs, in JSON and in code.
#include "unit/message_support.hpp"

#include "node/connection/node_address.hpp"

#include <redlock/json.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace redlock {
namespace {

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

BOOST_AUTO_TEST_SUITE(groups_in_configurations)

BOOST_AUTO_TEST_CASE(a_url_names_sentinels_and_a_master)
{
    auto const a = node_address::from_url("redis+sentinel://app:s3cret@10.0.0.1:26380,h2,[::1]:1/mymaster?replicas=2&db=3&fsync=yes");
    BOOST_TEST_REQUIRE(a.sentinel.has_value());
    BOOST_TEST(a.host == "");
    BOOST_TEST(a.username == "app");
    BOOST_TEST(a.password == "s3cret");
    BOOST_TEST(a.database == 3);
    BOOST_TEST(a.replicas == 2);
    BOOST_TEST(a.fsync);
    BOOST_TEST(!a.tls);
    BOOST_TEST(a.sentinel->master == "mymaster");
    BOOST_TEST((a.sentinel->addresses == std::vector<sentinel_address>{{"10.0.0.1", 26380}, {"h2", 26379}, {"::1", 1}}));
    BOOST_TEST(a.to_string() == "10.0.0.1:26380,h2:26379,[::1]:1/mymaster");
}

BOOST_AUTO_TEST_CASE(the_sentinels_have_credentials_and_tls_of_their_own)
{
    auto const a = node_address::from_url(
        "rediss+sentinel://h/m?ca_file=%2Fca&sentinel_username=watch&sentinel_password=p%40w&sentinel_ca_file=%2Fother&sentinel_verify=no");
    BOOST_TEST(a.password == "");
    BOOST_TEST(a.sentinel->username == "watch");
    BOOST_TEST(a.sentinel->password == "p@w");
    BOOST_TEST(a.tls->ca_file == "/ca");
    BOOST_TEST(a.sentinel->tls->ca_file == "/other");
    BOOST_TEST(!a.sentinel->tls->verify);
    BOOST_TEST(a.to_string() == "h:26379/m (TLS, not verified)");
    BOOST_TEST(!node_address::from_url("rediss+sentinel://h/m?sentinel_tls=no").sentinel->tls);
    auto const only = node_address::from_url("redis+sentinel://h/m?sentinel_ca_file=%2Fca&sentinel_tls=yes");
    BOOST_TEST(!only.tls);
    BOOST_TEST(only.sentinel->tls->ca_file == "/ca");
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel://h/m?sentinel_ca_file=%2Fca"), "a parameter that is not known");
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel://h/m?sentinel_tls=maybe"), "sentinel_tls must be yes or no");
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel://h/m?sentinel_username=u"), "of the Sentinels: there is a username but no password");
}

BOOST_AUTO_TEST_CASE(what_tls_to_the_sentinels_does_not_say_is_as_with_the_servers)
{
    node_address a = node_address::from_url("rediss+sentinel://h/m?ca_file=%2Fservers&sentinel_server_name=s");
    auto const whole = completed(a, {.ca_file = "/all", .certificate_file = "/c", .server_name = "all"});
    BOOST_TEST(whole.sentinel->tls->ca_file == "/servers");
    BOOST_TEST(whole.sentinel->tls->certificate_file == "/c");
    BOOST_TEST(whole.sentinel->tls->server_name == "s");
    BOOST_TEST(whole.tls->server_name == "all");
    auto const sentinels = sentinels_of(whole);
    BOOST_TEST_REQUIRE(sentinels.size() == 1u);
    BOOST_TEST(sentinels[0].tls->ca_file == "/servers");
}

BOOST_AUTO_TEST_CASE(a_url_without_a_master_is_told_what_to_write)
{
    for (std::string const url : {"redis+sentinel://h:26379", "redis+sentinel://h:26379/", "redis+sentinel://h,i?replicas=1"})
        REDLOCK_TEST_CONTAINS(url_problem(url), "has no name of a master behind the Sentinels; write redis+sentinel://host:26379/NAME");
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel://h/m/3"), "write ?db=N for the database");
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel://h/my%20master"), "the master's name contains a character");
}

BOOST_AUTO_TEST_CASE(other_mistakes_in_urls_of_groups)
{
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel:///m"), "host is empty");
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel://a,/m"), "host is empty");
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel://a,A/m"), "the same Sentinel is there twice");
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel://a:0/m"), "port is not a number");
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel://a/m?replicas=0"),
                          "leave replicas out (a majority of the group), or write 1 or more");
    REDLOCK_TEST_CONTAINS(url_problem("redis+sentinel://a/m?ca_file=x"), "a parameter that is not known; there are db, replicas=K");
    REDLOCK_TEST_CONTAINS(url_problem("redis://a/m"), "database is not a number");
    REDLOCK_TEST_CONTAINS(url_problem("redis://a?sentinel_password=x"), "a parameter that is not known");
}

BOOST_AUTO_TEST_CASE(a_group_in_json)
{
    auto const s = parse_settings(R"({"nodes": [{"sentinel": {"master": "m", "addresses": ["h1", "h2:5", {"host": "h3", "port": 7}],
        "username": "w", "password": "x", "tls": true}, "password": "pw", "replicas": 1}]})");
    auto const& a = s.client.nodes.at(0);
    BOOST_TEST_REQUIRE(a.sentinel.has_value());
    BOOST_TEST((a.sentinel->addresses == std::vector<sentinel_address>{{"h1", 26379}, {"h2", 5}, {"h3", 7}}));
    BOOST_TEST(a.sentinel->username == "w");
    BOOST_TEST(a.sentinel->tls.has_value());
    BOOST_TEST(a.password == "pw");
    BOOST_TEST(a.replicas == 1);
}

BOOST_AUTO_TEST_CASE(mistakes_in_json_of_groups)
{
    REDLOCK_TEST_CONTAINS(json_problem(R"({"sentinel": {"addresses": ["h"]}})"), "nodes[0].sentinel.master: this key is missing");
    BOOST_TEST(json_problem(R"({"sentinel": {"master": "m"}})") == "nodes[0].sentinel.addresses: this key is missing");
    REDLOCK_TEST_CONTAINS(json_problem(R"({"sentinel": {"master": "m", "addresses": []}})"), "there is no address of a Sentinel");
    REDLOCK_TEST_CONTAINS(json_problem(R"({"sentinel": {"master": "", "addresses": ["h"]}})"), "there is no name of a master");
    REDLOCK_TEST_CONTAINS(json_problem(R"({"host": "h", "sentinel": {"master": "m", "addresses": ["h"]}})"),
                          "only one of host and sentinel");
    REDLOCK_TEST_CONTAINS(json_problem(R"({"sentinel": {"master": "m", "addresses": ["h:x"]}})"),
                          "nodes[0].sentinel.addresses[0]: the address's port is not a number");
    REDLOCK_TEST_CONTAINS(json_problem(R"({"sentinel": {"master": "m", "addresses": ["h"]}, "replicas": 0})"), "nodes[0].replicas: ");
    REDLOCK_TEST_CONTAINS(json_problem(R"({"sentinel": {"master": "m", "address": ["h"]}})"), "the nearest known one is \"addresses\"");
}

BOOST_AUTO_TEST_CASE(one_group_is_one_node)
{
    BOOST_TEST(config_problem({"redis+sentinel://a,b/m", "redis+sentinel://B,c/m"}) ==
               "nodes[1] (B:26379,c:26379/m): the same group as nodes[0]; every vote must come from a group of its own");
    BOOST_TEST(config_problem({"redis+sentinel://a,b/m", "redis+sentinel://a,b/n", "redis://c"}) == "");
    REDLOCK_TEST_CONTAINS(config_problem({"redis+sentinel://a,b/m", "redis://a:26379"}), "nodes[1] (a:26379): also a Sentinel of nodes[0]");
    REDLOCK_TEST_CONTAINS(config_problem({"redis://a:26379", "redis+sentinel://a,b/m"}), "one of its Sentinels is also nodes[0]");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
