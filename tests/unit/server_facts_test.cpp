#include "node/server_facts.hpp"

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
