// Which server of a Redis Cluster has a shard, and for how many replicas votes wait: from the text of CLUSTER NODES.
#include "node/cluster/cluster_map.hpp"
#include "support/mentions.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <string_view>

namespace redlock::detail {
namespace {

using redlock::testing::mentions;

// Three primaries with a replica each, as Redis 7.0 says it; shortened ids.
constexpr std::string_view three_groups = "aaa 10.0.0.1:7000@17000 myself,master - 0 1700000000000 1 connected 0-5460\n"
                                          "bbb 10.0.0.2:7001@17001 master - 0 1700000000001 2 connected 5461-10922\n"
                                          "ccc 10.0.0.3:7002@17002 master - 0 1700000000002 3 connected 10923-16383\n"
                                          "ddd 10.0.0.4:7003@17003 slave aaa 0 1700000000003 1 connected\n"
                                          "eee 10.0.0.5:7004@17004 slave bbb 0 1700000000004 2 connected\n"
                                          "fff 10.0.0.6:7005@17005 slave ccc 0 1700000000005 3 connected\n";

cluster_map map_of(std::string const& text)
{
    auto const map = read_cluster_nodes(text, "asked.example");
    BOOST_TEST_REQUIRE(map.has_value());
    return *map;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cluster_maps)

// From the specification of Redis Cluster, and from CLUSTER KEYSLOT of a server.
BOOST_AUTO_TEST_CASE(the_slot_of_a_key)
{
    BOOST_TEST(slot_of_tag("123456789") == 0x31c3);
    BOOST_TEST(slot_of_tag("") == 0);
    BOOST_TEST(slot_of_tag("foo") == 12182);
    BOOST_TEST(slot_of_shard(0) == slot_of_tag("s0"));
}

BOOST_AUTO_TEST_CASE(the_prefix_of_a_shard_is_taken_off_its_keys)
{
    auto const taken = [](std::string_view key) { return std::pair{take_shard_off(key), key}; };
    BOOST_TEST(prefix_of_shard(17) == "{s17}:");
    BOOST_TEST((taken("{s17}:order:7") == std::pair{std::optional<std::size_t>{17}, std::string_view{"order:7"}}));
    BOOST_TEST((taken("{s0}:{order}:7") == std::pair{std::optional<std::size_t>{0}, std::string_view{"{order}:7"}}));
    for (std::string_view const other : {"order:7", "{s17}", "{s}:x", "{sx}:x", "{order}:7", "{s-1}:x", ""})
        BOOST_TEST((taken(other) == std::pair{std::optional<std::size_t>{}, other}), other);
}

BOOST_AUTO_TEST_CASE(every_slot_has_its_server)
{
    auto const map = map_of(std::string{three_groups});
    BOOST_TEST(map.servers.size() == 6u);
    BOOST_TEST(map.covered() == 16384u);
    for (auto const& [slot, id] : {std::pair{0, "aaa"}, {5460, "aaa"}, {5461, "bbb"}, {10922, "bbb"}, {10923, "ccc"}, {16383, "ccc"}})
        BOOST_TEST(map.owner_of(static_cast<std::uint16_t>(slot))->id == id);
    auto const* const first = map.owner_of(1);
    BOOST_TEST(first->host == "10.0.0.1");
    BOOST_TEST(first->port == 7000);
    BOOST_TEST(first->epoch == 1u);
    BOOST_TEST(first->asked);
    BOOST_TEST(map.replicas_of(*first).size() == 1u);
    BOOST_TEST(map.acknowledgements() == 1);
    BOOST_TEST(!map.is_cut_off());
}

// Host names are behind a comma since Redis 7, and other facts since 7.2; before Redis 4 there was no port of the bus.
// As a server says it in RESP3. The first line is of any server: it was one whose replicas nobody found.
BOOST_AUTO_TEST_CASE(the_format_before_a_verbatim_string_is_no_part_of_an_id)
{
    auto const map = map_of("txt:" + std::string{three_groups});
    auto const* const first = map.owner_of(0);
    BOOST_TEST_REQUIRE(first != nullptr);
    BOOST_TEST(first->id == "aaa");
    BOOST_TEST(map.replicas_of(*first).size() == 1u);
}

BOOST_AUTO_TEST_CASE(addresses_of_all_versions)
{
    auto const map = map_of("aaa :7000@17000,,tls-port=0,shard-id=x myself,master - 0 0 1 connected 0-1\r\n"
                            "bbb ::1:7001@17001,b.example,shard-id=y master - 0 0 2 connected 2\n"
                            "ccc 10.0.0.3:7002 master - 0 0 3 disconnected\n"
                            "ddd 10.0.0.4:7003@17003,? master - 0 0 0 connected\n"
                            "eee :0@0 master,noaddr - 0 0 0 disconnected 9\n"
                            "fff 10.0.0.6:7005@17005 handshake - 0 0 0 connected\n");
    BOOST_TEST(map.servers.size() == 4u);
    BOOST_TEST(map.owner_of(0)->host == "asked.example");
    BOOST_TEST(map.owner_of(0)->name == "");
    BOOST_TEST(map.owner_of(2)->host == "::1");
    BOOST_TEST(map.owner_of(2)->port == 7001);
    BOOST_TEST(map.owner_of(2)->name == "b.example");
    BOOST_TEST(map.owner_of(3) == nullptr);
    BOOST_TEST(map.owner_of(9) == nullptr);
    BOOST_TEST(map.covered() == 3u);
    BOOST_TEST(map.servers[3].name == "");
}

BOOST_AUTO_TEST_CASE(slots_that_are_being_moved)
{
    auto const map = map_of("aaa 10.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-100 [93->-bbb] [77-<-ccc]\n"
                            "bbb 10.0.0.2:7001@17001 master - 0 0 2 connected 101-16383\n");
    BOOST_TEST(map.owner_of(93)->id == "aaa");
    BOOST_TEST_REQUIRE(map.in_migration.size() == 1u);
    BOOST_TEST(map.in_migration[0].slot == 93);
    BOOST_TEST(map.in_migration[0].to == "bbb");
}

// The primary that failed is still there, with no slots: it counts for no group, and K stays what the other groups have.
BOOST_AUTO_TEST_CASE(after_a_failover_the_number_of_acknowledgements_stays)
{
    auto const map = map_of("aaa 10.0.0.1:7000@17000 master,fail - 1 1 1 disconnected\n"
                            "bbb 10.0.0.2:7001@17001 myself,master - 0 0 2 connected 5461-16383\n"
                            "ddd 10.0.0.4:7003@17003 master - 0 0 7 connected 0-5460\n"
                            "eee 10.0.0.5:7004@17004 slave bbb 0 0 2 connected\n"
                            "fff 10.0.0.6:7005@17005 slave bbb 0 0 2 connected\n"
                            "ggg 10.0.0.7:7006@17006 slave,fail bbb 0 0 2 disconnected\n");
    BOOST_TEST(map.owner_of(0)->id == "ddd");
    BOOST_TEST(map.owner_of(0)->epoch == 7u);
    BOOST_TEST(map.acknowledgements() == 2, "half of four, with the replica that is down");
    BOOST_TEST(map_of("aaa 10.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-16383\n").acknowledgements() == 0);
}

BOOST_AUTO_TEST_CASE(a_server_that_cannot_reach_most_primaries_says_nothing_that_counts)
{
    BOOST_TEST(map_of("aaa 10.0.0.1:1@2 myself,master - 0 0 1 connected 0-5460\n"
                      "bbb 10.0.0.2:1@2 master,fail - 0 0 2 disconnected 5461-10922\n"
                      "ccc 10.0.0.3:1@2 master,fail - 0 0 3 disconnected 10923-16383\n")
                   .is_cut_off());
    BOOST_TEST(!map_of("aaa 10.0.0.1:1@2 myself,master - 0 0 1 connected 0-5460\n"
                       "bbb 10.0.0.2:1@2 master,fail - 0 0 2 disconnected 5461-10922\n"
                       "ccc 10.0.0.3:1@2 master - 0 0 3 connected 10923-16383\n")
                    .is_cut_off());
}

// A server is "fail" when most primaries say so, and those that are cut off are too few for that.
BOOST_AUTO_TEST_CASE(a_minority_never_says_that_a_server_has_failed)
{
    auto const map = map_of("aaa 10.0.0.1:1@2 myself,master - 0 0 1 connected 0-5460\n"
                            "bbb 10.0.0.2:1@2 master,fail? - 0 0 2 connected 5461-10922\n"
                            "ccc 10.0.0.3:1@2 master,fail? - 0 0 3 connected 10923-16383\n");
    BOOST_TEST(map.is_cut_off());
    BOOST_TEST(!map.servers[1].failing);
    BOOST_TEST(!map_of("aaa 10.0.0.1:1@2 myself,master - 0 0 1 connected 0-5460\n"
                       "bbb 10.0.0.2:1@2 master,fail? - 0 0 2 connected 5461-10922\n"
                       "ccc 10.0.0.3:1@2 master - 0 0 3 connected 10923-16383\n")
                    .is_cut_off());
}

BOOST_AUTO_TEST_CASE(what_is_no_map_is_refused)
{
    for (char const* text :
         {"", "\n", "OK", "aaa 10.0.0.1:7000@17000 master - 0 0 1", "aaa nothing master - 0 0 1 connected",
          "aaa h:99999@1 master - 0 0 1 connected", "aaa h:1@1 master - 0 0 x connected", "aaa h:1@1 master - 0 0 1 connected 16384",
          "aaa h:1@1 master - 0 0 1 connected 5-4", "aaa h\x1b[2J:1@1 master - 0 0 1 connected", "aaa h:1@1 master - 0 0 1 connected -1",
          "aaa h:1@1 master - 0 0 1 connected x"})
        BOOST_TEST(!read_cluster_nodes(text, "h").has_value(), text);
}

BOOST_AUTO_TEST_CASE(errors_that_name_another_server)
{
    BOOST_TEST((redirection_in("MOVED 3999 127.0.0.1:6381") == redirection::moved));
    BOOST_TEST((redirection_in("ASK 3999 127.0.0.1:6381") == redirection::asking));
    BOOST_TEST((redirection_in("TRYAGAIN Multiple keys request during rehashing of slot") == redirection::try_again));
    BOOST_TEST((redirection_in("CLUSTERDOWN Hash slot not served") == redirection::down));
    BOOST_TEST((redirection_in("ERR MOVED") == redirection::none));
    BOOST_TEST((redirection_in("") == redirection::none));

    auto const to = address_in_moved("MOVED 3999 ::1:6381");
    BOOST_TEST_REQUIRE(to.has_value());
    BOOST_TEST(to->host == "::1");
    BOOST_TEST(to->port == 6381);
    for (char const* text : {"MOVED 3999 :6381", "MOVED 3999", "MOVED 3999 h:0", "MOVED 3999 h:x", "ASK 3999 h:1", ""})
        BOOST_TEST(!address_in_moved(text).has_value(), text);

    BOOST_TEST(mentions(explained("ASK 1 h:1"), "is being moved to another server (ASK 1 h:1); it votes again after that"));
    BOOST_TEST(mentions(explained("CLUSTERDOWN The cluster is down"), "redis-cli --cluster check shows why"));
    BOOST_TEST(explained("ERR else") == "ERR else");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
