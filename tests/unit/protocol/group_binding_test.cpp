#include "protocol/group_binding.hpp"

#include "protocol/server_id.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace redlock::detail {

namespace {

std::string const some_replication_id(40, 'a');

quorum::node_facts told(std::string id, std::string admitted)
{
    quorum::node_facts facts;
    facts.id = std::move(id);
    facts.admitted = std::move(admitted);
    return facts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(group_binding_tests)

BOOST_AUTO_TEST_CASE(an_id_names_the_server_and_the_number_of_replicas)
{
    auto const alone = group_binding{0}.id_of(some_replication_id);
    auto const one = group_binding{1}.id_of(some_replication_id);
    auto const most = group_binding{100}.id_of(some_replication_id);
    BOOST_TEST(alone == some_replication_id);
    BOOST_TEST(one == "k001:" + std::string(35, 'a'));
    BOOST_TEST(most == "k100:" + std::string(35, 'a'));
    BOOST_TEST(replicas_in_id(alone) == 0);
    BOOST_TEST(replicas_in_id(one) == 1);
    BOOST_TEST(replicas_in_id(most) == 100);
    for (auto const& id : {alone, one, most}) {
        BOOST_TEST(names_server(id, some_replication_id));
        BOOST_TEST(!names_server(id, std::string(40, 'b')));
        BOOST_TEST(!names_server(id, ""));
    }
    BOOST_TEST(group_binding{1}.id_of("").empty());
}

BOOST_AUTO_TEST_CASE(an_id_in_a_cluster_names_the_number_of_shards_as_well)
{
    auto const id = group_binding{1, 64}.id_of(some_replication_id);
    BOOST_TEST(id == "k001:c064:" + std::string(30, 'a'));
    BOOST_TEST(replicas_in_id(id) == 1);
    BOOST_TEST(shards_in_id(id) == 64);
    BOOST_TEST(names_server(id, some_replication_id));
    BOOST_TEST(!names_server(id, std::string(40, 'b')));
    BOOST_TEST(!names_server("k001:c064:" + std::string(30, 'k'), some_replication_id), "a mark has taken the id away");
    BOOST_TEST(shards_in_id("k001:c064abc" + std::string(28, 'c')) == 0, "a replication id may begin like that");
    BOOST_TEST(shards_in_id(group_binding{1}.id_of(some_replication_id)) == 0);
    BOOST_TEST(shards_in_id(some_replication_id) == 0);

    auto facts = told(some_replication_id, id);
    group_binding{1, 64}.apply(facts);
    BOOST_TEST(facts.id == id);
    BOOST_TEST(facts.admitted == id);
    group_binding{1, 32}.apply(facts);
    BOOST_TEST(facts.id == "");
    BOOST_TEST(facts.why_unidentified == "clients of this cluster have 64 shards, and this client has 32: use shards=64 in every client");
}

BOOST_AUTO_TEST_CASE(facts_of_a_group_are_bound)
{
    group_binding const two{2};
    auto facts = told(some_replication_id, two.id_of(some_replication_id));
    two.apply(facts);
    BOOST_TEST(facts.id == facts.admitted);
    two.apply(facts);
    BOOST_TEST(facts.id == facts.admitted, "once is enough");

    auto plain = told(some_replication_id, some_replication_id);
    two.apply(plain);
    BOOST_TEST(plain.id != plain.admitted, "it has to be admitted anew");
    BOOST_TEST(plain.why_unidentified == "");

    auto unknown = told("", "");
    two.apply(unknown);
    BOOST_TEST(unknown.id == "");
}

BOOST_AUTO_TEST_CASE(another_number_of_replicas_leaves_no_id)
{
    for (std::uint16_t const mine : std::initializer_list<std::uint16_t>{0, 1, 3}) {
        auto facts = told(some_replication_id, group_binding{2}.id_of(std::string(40, 'b')));
        group_binding{mine}.apply(facts);
        BOOST_TEST(facts.id == "");
        BOOST_TEST(facts.admitted == "");
        BOOST_TEST(facts.why_unidentified == "clients of this group wait for 2 replicas, and this client waits for " +
                                                 std::to_string(mine) +
                                                 ": use replicas=2, or, to change the number for all, delete redlock:node on its primary");
    }
    std::vector<reply> replies(2);
    replies[1].set_facts(told(some_replication_id, group_binding{2}.id_of(some_replication_id)));
    group_binding{1}.apply(replies);
    BOOST_TEST(replies[1].facts()->id == "");
}

// The scripts cannot bind a mark to both, and would refuse it for ever.
BOOST_AUTO_TEST_CASE(the_nodes_of_a_set_that_was_changed_cannot_wait_for_replicas)
{
    auto const member = id_in_generation("g001abcdef:", some_replication_id);
    for (auto const replicas : {std::uint16_t{1}, std::uint16_t{2}}) {
        auto facts = told(member, member);
        group_binding{replicas}.apply(facts);
        BOOST_TEST(facts.id.empty());
        BOOST_TEST(facts.admitted.empty());
        BOOST_TEST(facts.why_unidentified.starts_with("the set of this server was changed"));
    }
    auto facts = told(member, member);
    group_binding{0}.apply(facts);
    BOOST_TEST(facts.id == member);
    BOOST_TEST(facts.why_unidentified.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
