#include "protocol/server_facts.hpp"
#include "protocol/server_kind.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace redlock::detail {

namespace {

constexpr char memory_section[] =
    "# Memory\r\nused_memory:1\r\nmaxmemory:1048576\r\nmaxmemory_human:1.00M\r\nmaxmemory_policy:volatile-ttl\r\n";

bool objects(server_facts const& facts, std::string const& remedy)
{
    auto const why = objection_to(facts);
    return why && why->find(remedy) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(server)

BOOST_AUTO_TEST_CASE(nothing_known_is_no_objection) { BOOST_TEST(!objection_to({}).has_value()); }

BOOST_AUTO_TEST_CASE(hello_tells_mode_and_role)
{
    server_facts facts;
    facts.read_hello("server", "redis");
    facts.read_hello("mode", "standalone");
    facts.read_hello("role", "master");
    BOOST_TEST(!objection_to(facts).has_value());
    facts.read_hello("role", "replica");
    BOOST_TEST(objects(facts, "REPLICAOF NO ONE"));
    facts.read_hello("role", "master");
    facts.read_hello("mode", "cluster");
    BOOST_TEST(objects(facts, "cluster-enabled no"));
    facts.read_hello("mode", "sentinel");
    BOOST_TEST(objects(facts, "Sentinel"));
}

BOOST_AUTO_TEST_CASE(sections_of_info_are_read_by_whole_names)
{
    server_facts facts;
    facts.read_info("# Server\r\nredis_version:7.0.15\r\nrun_id:0123abcd\r\ntcp_port:1\r\n");
    facts.read_info(memory_section);
    BOOST_TEST(facts.run_id == "0123abcd");
    BOOST_TEST(facts.maxmemory == "1048576");
    BOOST_TEST(facts.maxmemory_policy == "volatile-ttl");
    facts.read_info("maxmemory:7");  // no line end
    BOOST_TEST(facts.maxmemory == "7");
    facts.read_info("maxmemory");
    facts.read_info("");
    BOOST_TEST(facts.maxmemory == "7");
}

BOOST_AUTO_TEST_CASE(eviction_matters_only_with_a_bound_and_a_policy)
{
    server_facts facts;
    facts.read_info(memory_section);
    BOOST_TEST(objects(facts, "maxmemory-policy noeviction"));
    BOOST_TEST(objects(facts, "volatile-ttl"));
    facts.maxmemory = "0";
    BOOST_TEST(!objection_to(facts).has_value());
    facts.maxmemory = "1048576";
    facts.maxmemory_policy = "noeviction";
    BOOST_TEST(!objection_to(facts).has_value());
}

// The beginnings of INFO server, from the sources that docs/comparison.md names.
BOOST_AUTO_TEST_CASE(which_program_it_is)
{
    auto const foreign = [](std::string const& info) {
        server_kind kind;
        kind.read_info("# Server\r\n" + info);
        return kind.foreign();
    };
    BOOST_TEST(foreign("redis_version:7.0.15\r\nredis_build_id:1\r\ngcc_version:12.2.0\r\nrun_id:a\r\n") == "");
    BOOST_TEST(foreign("redis_version:6.0.0\r\n") == "");
    BOOST_TEST(foreign("redis_version:8.0.0\r\n\r\n# search_version\r\nsearch_version:8.0\r\n") == "");
    BOOST_TEST(foreign("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\navailability_zone:a\r\n") == "");
    BOOST_TEST(foreign("redis_version:7.4.0\r\ndragonfly_version:df-v1.40.1\r\n") == "Dragonfly df-v1.40.1");
    BOOST_TEST(foreign("version:2.9.0\r\nkvrocks_version:2.9.0\r\nredis_version:4.0.0\r\nclang_version:15\r\n") == "Kvrocks 2.9.0");
    BOOST_TEST(foreign("garnet_version:1.0\r\nserver_name:garnet\r\nredis_version:7.4.3\r\n") == "Garnet 1.0");
    BOOST_TEST(foreign("server_name:something\r\nredis_version:7.4.3\r\n") == "Something");
    BOOST_TEST(foreign("redis_version:6.3.4\r\ngcc_version:9.4.0\r\navailability_zone:\r\nfeatures:cluster_mget\r\n") == "KeyDB 6.3.4");
    BOOST_TEST(foreign("uptime_in_seconds:5\r\n") == "a server that does not say which program it is");
    BOOST_TEST(foreign(std::string(1'000, 'x') + "_version:" + std::string(1'000, 'y') + "\r\n").size() < 130u);
}

BOOST_AUTO_TEST_CASE(hello_may_say_it_where_info_is_forbidden)
{
    server_kind kind;
    BOOST_TEST(kind.takes_new_ids());
    kind.read_hello("server", "redis");
    kind.read_hello("version", "7.4.0");
    BOOST_TEST(kind.takes_new_ids());
    kind.read_hello("dragonfly_version", "df-v1.40.1");
    BOOST_TEST(kind.foreign() == "Dragonfly df-v1.40.1");
    server_kind valkey;
    valkey.read_hello("server", "valkey");
    BOOST_TEST(valkey.takes_new_ids());
    server_kind other;
    other.read_hello("server", "mydb");
    BOOST_TEST(other.foreign() == "Mydb");
}

BOOST_AUTO_TEST_CASE(a_group_has_at_most_twice_as_many_replicas_and_its_primary)
{
    BOOST_TEST(!objection_to_group(9, 0).has_value(), "nobody waits, nobody counts on replicas");
    BOOST_TEST(!objection_to_group(2, 1).has_value());
    BOOST_TEST(objection_to_group(3, 1).value().find("use replicas=2 in every client") != std::string::npos);
    BOOST_TEST(!objection_to_group(3, 2).has_value());
    BOOST_TEST(!objection_to_group(4, 2).has_value());
    BOOST_TEST(objection_to_group(5, 2).value().find("use replicas=3 in every client") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
