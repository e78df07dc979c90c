// Which lists of nodes are refused, and how a set comes about.
#include "set_clients.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace redlock::quorum {

BOOST_AUTO_TEST_SUITE(sets_of_nodes)

BOOST_AUTO_TEST_CASE(the_text_of_a_record_is_read_as_it_was_written)
{
    set_record const plain{"abc", 0, 1'795'000'000, true, 0, 0, "", {"10.0.0.1:6379", "unix /run/a b.sock", "x%y/2"}};
    BOOST_TEST(to_text(plain) == "v1 abc 0 1795000000 complete 0/0 - 10.0.0.1:6379 unix%20/run/a%20b.sock x%25y/2");
    BOOST_TEST((read_set_text(to_text(plain)).record == plain));
    set_record const shard{"d-1", 0, 0, false, 2, 3, "billing", {"a"}};
    BOOST_TEST((read_set_text(to_text(shard)).record == shard));
    BOOST_TEST(in_words(shard) == "the set d-1 \"billing\" (shard 2 of 3) of 1 node (a), founded 1970-01-01 00:00:00 UTC");
    BOOST_TEST(in_words(plain) == "the set abc of 3 nodes (10.0.0.1:6379, unix /run/a b.sock, x%y/2), founded 2026-11-18 11:06:40 UTC");
}

BOOST_AUTO_TEST_CASE(what_is_no_record_is_known_as_such)
{
    using kind = set_text::kind;
    BOOST_TEST((read_set_text("").is == kind::none));
    BOOST_TEST((read_set_text("!NOPERM no permission").is == kind::hidden));
    BOOST_TEST((read_set_text("!WRONGTYPE Operation against a key").is == kind::foreign));
    BOOST_TEST((read_set_text("v4 abc 0 0 complete 0/0 - a").is == kind::too_new));
    for (char const* text : {"v12 whatever", "v3"}) BOOST_TEST((read_set_text(text).is == kind::too_new), text);
    for (char const* text :
         {"v1", "v1 ", "v", "v0 abc 0 0 complete 0/0 - a", "v1 abc 0 0 complete 0/0 -", "v1 abc 0 0 complete 0/0 - a a",
          "v1 a!c 0 0 complete 0/0 - a", "v1 abc x 0 complete 0/0 - a", "v1 abc 0 0 maybe 0/0 - a", "v1 abc 0 0 complete 2/2 - a",
          "v1 abc 0 0 complete 1/0 - a", "v1 abc 0 0 complete 0 - a", "v1 abc 0 0 complete 0/0 - a%2", "v1 abc 0 0 complete 0/0 - a%zz",
          "v1 abc 0  complete 0/0 - a", "somebody's lock"})
        BOOST_TEST((read_set_text(text).is == kind::foreign), text);
}

BOOST_AUTO_TEST_CASE(a_long_address_gets_a_short_name_of_its_own)
{
    std::string const one(300, 'a'), other = std::string(299, 'a') + 'b';
    BOOST_TEST(member_name("10.0.0.1:6379") == "10.0.0.1:6379");
    BOOST_TEST(member_name(one).size() == max_member_size);
    BOOST_TEST(member_name(one) != member_name(other));
    BOOST_TEST(member_name(one) == member_name(one));
}

BOOST_AUTO_TEST_CASE(names_of_sets)
{
    BOOST_TEST(set_name_problem("billing") == "");
    BOOST_TEST(set_name_problem("") == "");
    BOOST_TEST(contains(set_name_problem("a b"), "visible ASCII"));
    BOOST_TEST(contains(set_name_problem("-"), "must not be"));
    BOOST_TEST(contains(set_name_problem(std::string(65, 'a')), "longer"));
}

BOOST_AUTO_TEST_CASE(a_new_set_is_claimed_on_one_node_after_the_other_before_any_is_admitted)
{
    auto all = five(false);
    lister c{all, {"C", "A", "B"}};
    c.tell_all();
    std::string order;
    for (int i = 0; i < 3; ++i) {
        auto const claims = c.sets.claims();
        BOOST_REQUIRE(claims.size() == 1u);
        BOOST_TEST(!read_set_text(claims[0].text).record.complete);
        BOOST_TEST(c.sets.claims().empty());  // while one is under way there is no other
        for (std::size_t node = 0; node < 3; ++node) BOOST_TEST(!c.sets.may_be_admitted(node));
        order += c.nodes[claims[0].node];
        c.carry_out(claims[0]);
    }
    BOOST_TEST(order == "ABC");  // the order of the servers' ids
    auto const last = c.sets.claims();
    BOOST_TEST(last.size() == 3u);
    for (set_claim const& each : last) c.carry_out(each);
    for (std::size_t node = 0; node < 3; ++node) BOOST_TEST(c.sets.may_be_admitted(node));
    BOOST_TEST(all["A"].set == all["C"].set);
    auto const record = read_set_text(all["B"].set).record;
    BOOST_TEST(record.complete);
    BOOST_TEST((record.members == std::vector<std::string>{"C", "A", "B"}));
    BOOST_TEST(!c.step());
}

BOOST_AUTO_TEST_CASE(a_founding_that_stopped_is_finished_by_another_client)
{
    for (int stopped_after = 0; stopped_after < 4; ++stopped_after) {
        auto all = five(false);
        lister first{all, ABC};
        first.tell_all();
        for (int i = 0; i < stopped_after; ++i) first.step();
        lister second{all, {"B", "C", "A"}};
        second.begin();
        first.begin();
        auto const record = read_set_text(all["A"].set);
        BOOST_TEST((record.is == set_text::kind::good));
        for (char const* name : {"A", "B", "C"}) BOOST_TEST(read_set_text(all[name].set).record.complete);
        for (char const* name : {"B", "C"}) BOOST_TEST(read_set_text(all[name].set).record.id == record.record.id);
        BOOST_TEST(first.refused() + second.refused() == 0u);
    }
}

BOOST_AUTO_TEST_CASE(claims_of_one_list_that_contradict_each_other_become_one_set)
{
    auto all = five(false);
    lister first{all, ABC}, second{all, {"C", "B", "A"}};
    first.tell_all();
    auto const late = first.sets.claims();
    second.tell_all();
    second.step();
    second.step();
    all["A"].set.clear();  // a server that lost its data, and a claim that comes late
    first.carry_out(late[0]);
    for (auto* c : {&first, &second, &first}) {
        c->begin();
        BOOST_TEST(c->refused() == 0u, c->sets.objection(0));
    }
    for (char const* name : {"A", "B", "C"}) {
        BOOST_TEST(all[name].set == all["A"].set);
        BOOST_TEST(read_set_text(all[name].set).record.complete);
    }
}

BOOST_AUTO_TEST_CASE(records_of_an_older_version_are_taken_over_while_the_nodes_vote)
{
    auto all = five(true);
    lister c{all, ABC};
    c.tell_all();
    for (std::size_t node = 0; node < 3; ++node) BOOST_TEST(c.sets.may_be_admitted(node));
    while (c.step())
        for (std::size_t node = 0; node < 3; ++node) BOOST_TEST(c.sets.objection(node) == "");
    BOOST_TEST(read_set_text(all["C"].set).record.complete);
    BOOST_TEST(all["D"].set == "");
}

BOOST_AUTO_TEST_CASE(nothing_is_taken_over_while_a_node_is_away_or_lost_its_data)
{
    auto all = five(true);
    all["C"].reachable = false;
    lister c{all, ABC};
    c.begin();
    BOOST_TEST(all["A"].set == "");
    BOOST_TEST(c.refused() == 0u);

    all["C"].reachable = true;
    all["C"].admitted = false;
    c.begin();
    BOOST_TEST(all["A"].set == "");
    BOOST_TEST(c.sets.may_be_admitted(2));  // as before there were sets

    all["C"].admitted = true;
    c.begin();
    BOOST_TEST(read_set_text(all["C"].set).record.complete);
}

BOOST_AUTO_TEST_CASE(a_list_that_is_another_one_is_refused_in_words)
{
    auto all = founded();
    struct other {
        std::vector<std::string> list;
        char const* words;
    };
    for (auto const& [list, words] :
         {other{{"A", "B"}, "of 3 nodes (A, B, C)"}, other{{"A"}, "this client names 1 node;"},
          other{{"A", "B", "C", "D", "E"}, "this client names 5 nodes"}, other{{"A", "B", "D"}, "D is not a member of the set"},
          other{{"A", "D", "E"}, "is not a member of the set"}}) {
        lister c{all, list};
        c.begin();
        BOOST_TEST(c.refused() == list.size());
        BOOST_TEST(c.sets.is_list_refused());
        BOOST_TEST(contains(c.sets.objection(0), words), c.sets.objection(0));
    }
    BOOST_TEST(all["D"].set == "");
    lister right{all, {"C", "B", "A"}};
    right.begin();
    BOOST_TEST(right.refused() == 0u);
}

BOOST_AUTO_TEST_CASE(a_node_of_another_set)
{
    auto all = five(true);
    lister{all, ABC}.begin();
    lister{all, {"D", "E"}}.begin();
    lister c{all, {"A", "B", "D"}};
    c.begin();
    BOOST_TEST(c.refused() == 3u);
    BOOST_TEST(contains(c.sets.objection(2), "of 2 nodes (D, E)"), c.sets.objection(2));
}

BOOST_AUTO_TEST_CASE(the_name_of_the_set_must_match_if_there_is_one)
{
    auto all = five(true);
    lister{all, ABC, "orders"}.begin();
    lister{all, {"D", "E"}}.begin();
    lister same{all, ABC, "orders"}, none{all, ABC}, other{all, ABC, "billing"}, nameless{all, {"D", "E"}, "orders"};
    for (auto* c : {&same, &none, &other, &nameless}) c->begin();
    BOOST_TEST(same.refused() + none.refused() == 0u);
    BOOST_TEST(other.refused() == 3u);
    BOOST_TEST(contains(other.sets.objection(1), "\"orders\" of 3 nodes"));
    BOOST_TEST(contains(other.sets.objection(1), "this client's set_name is \"billing\""));
    BOOST_TEST(nameless.refused() == 2u);
    BOOST_TEST(contains(nameless.sets.objection(0), "founded without a name"));
}

BOOST_AUTO_TEST_CASE(shards_in_another_order_or_number_are_refused)
{
    auto all = five(true);
    lister{all, {"A", "B"}, "", 0, 2}.begin();
    lister right{all, {"A", "B"}, "", 0, 2}, order{all, {"A", "B"}, "", 1, 2}, count{all, {"A", "B"}, "", 0, 3}, alone{all, {"A", "B"}};
    for (auto* c : {&right, &order, &count, &alone}) c->begin();
    BOOST_TEST(right.refused() == 0u);
    for (auto* c : {&order, &count, &alone}) BOOST_TEST(c->refused() == 2u);
    BOOST_TEST(contains(order.sets.objection(0), "(shard 0 of 2)"));
    BOOST_TEST(contains(order.sets.objection(0), "as shard 1 of 2"));
    BOOST_TEST(contains(alone.sets.objection(0), "as no shard"));
}

BOOST_AUTO_TEST_CASE(a_member_that_lost_its_data_comes_back_at_its_address_only)
{
    auto all = founded();
    auto const set = all["A"].set;
    all["C"] = {"id-new", "", false};
    lister c{all, ABC};
    c.tell_all();
    BOOST_TEST(!c.sets.may_be_admitted(2));
    c.settle();
    BOOST_TEST(all["C"].set == set);
    BOOST_TEST(c.sets.may_be_admitted(2));
    BOOST_TEST(c.refused() == 0u);
}

BOOST_AUTO_TEST_CASE(another_name_for_a_member_is_believed_by_those_who_saw_it_as_one)
{
    auto all = founded();
    all["c.example"] = all["C"];
    lister c{all, {"A", "B", "c.example"}};
    c.begin();
    BOOST_TEST(c.refused() == 0u);
    all["c.example"] = {"id-new", "", false};
    lister stranger{all, {"A", "B", "c.example"}};
    stranger.begin();
    BOOST_TEST(stranger.refused() == 3u);
    c.begin();
    BOOST_TEST(c.refused() == 0u);
    BOOST_TEST(all["c.example"].set == all["A"].set);
    stranger.begin();
    BOOST_TEST(stranger.refused() == 0u);
}

BOOST_AUTO_TEST_CASE(a_set_that_was_founded_twice_gives_no_vote_that_could_be_of_the_other_half)
{
    auto all = founded();
    all["C"] = {"id-C", "", true};
    all["D"] = all["E"] = {"id-D", "", true};
    auto twice = all;
    lister{twice, {"D", "C", "E"}}.begin();
    twice["A"] = all["A"];
    lister c{twice, ABC};
    c.begin();
    BOOST_TEST(c.refused() == 1u);  // two of three are of the first
    BOOST_TEST(contains(c.sets.objection(2), "DEL redlock:node redlock:set"), c.sets.objection(2));
    BOOST_TEST(twice["C"].set != twice["A"].set);

    lister two{twice, {"A", "C"}};
    two.begin();
    BOOST_TEST(two.refused() == 2u);

    twice["B"].reachable = false;  // nothing tells which half is the set
    lister halves{twice, ABC};
    halves.begin();
    BOOST_TEST(halves.refused() == 3u);
    BOOST_TEST(contains(halves.sets.objection(0), "founded twice"), halves.sets.objection(0));
}

BOOST_AUTO_TEST_CASE(a_record_that_cannot_be_read_is_no_vote_and_stays)
{
    for (std::string const text : {"v4 something new", "a text of somebody else"}) {
        auto all = founded();
        all["C"].set = text;
        lister c{all, ABC};
        c.begin();
        BOOST_TEST(c.refused() == 1u);
        BOOST_TEST(all["C"].set == text);
        for (char const* name : {"A", "B"}) all[name].set = text;
        lister none{all, ABC};
        none.begin();
        BOOST_TEST(none.refused() == 3u);
        BOOST_TEST(contains(none.sets.objection(0), text[0] == 'v' ? "update this client" : "is no record of a set"));
    }
}

BOOST_AUTO_TEST_CASE(one_server_that_answers_anything_costs_its_own_vote_only)
{
    auto all = five(true);
    all["C"].set = "a text of somebody else";
    lister c{all, ABC};
    c.begin();
    BOOST_TEST(c.refused() == 1u);
    BOOST_TEST(contains(c.sets.objection(2), "is no record of a set"));
    BOOST_TEST(all["A"].set == "", "no set is founded without it");
    all["B"].set = all["C"].set;
    c.tell_all();
    BOOST_TEST(c.refused() == 3u, "most nodes");
}

BOOST_AUTO_TEST_CASE(who_may_not_read_the_key_goes_on_as_before_there_were_sets)
{
    auto all = five(true);
    for (auto& [name, s] : all) s.set = "!NOPERM this user has no permissions";
    lister c{all, ABC};
    c.begin();
    BOOST_TEST(c.refused() == 0u);
    for (std::size_t node = 0; node < 3; ++node) BOOST_TEST(c.sets.may_be_admitted(node));
    BOOST_TEST(!c.sets.is_to_be_looked_at(0));

    all["A"].set.clear();  // the right is given on one server after the other
    all["A"].admitted = false;
    c.begin();
    BOOST_TEST(c.sets.may_be_admitted(0));
    BOOST_TEST(all["A"].set == "");
}

BOOST_AUTO_TEST_CASE(without_members_nobody_looks_at_sets)
{
    set_membership none{{}};
    BOOST_TEST(!none.is_active());
    none.on_facts(0, {}, {}, {});
    none.on_gone(0);
    BOOST_TEST(none.may_be_admitted(0));
    BOOST_TEST(none.claims().empty());
    BOOST_TEST(!none.is_to_be_looked_at(0));
}

BOOST_AUTO_TEST_CASE(a_claim_that_failed_is_not_repeated_at_once)
{
    auto all = five(true);
    lister one{all, ABC};
    one.tell_all();
    auto const first = one.sets.claims();
    BOOST_TEST_REQUIRE(first.size() == 1u);
    one.sets.on_claimed(first[0].node, std::nullopt, one.now, one.now);
    BOOST_TEST(one.sets.claims().empty());
    one.tell_all();
    BOOST_TEST(one.sets.claims().empty(), "it told nothing new");
    one.sets.may_claim_again();
    BOOST_TEST(one.sets.claims().size() == 1u);
    one.sets.on_claimed(first[0].node, "", one.now, one.now);
    BOOST_TEST(one.sets.claims().empty());
    one.at(first[0].node).id += "x";
    one.tell_all();
    BOOST_TEST(one.sets.claims().size() == 1u, "another server");
}

BOOST_AUTO_TEST_CASE(a_claim_whose_server_went_away_is_made_again)
{
    auto all = five(false);
    lister c{all, ABC};
    c.tell_all();
    auto const first = c.sets.claims();
    BOOST_TEST_REQUIRE(first.size() == 1u);
    BOOST_TEST(c.sets.is_claiming());
    c.sets.on_gone(first[0].node);
    BOOST_TEST(!c.sets.is_claiming());
    c.tell(first[0].node);
    BOOST_TEST(c.sets.claims().size() == 1u);
}

// Two clients with different lists that share a server take single steps in any order, stop, and begin anew. Never do both count on a majority, and
// never is a server in two sets.
BOOST_AUTO_TEST_CASE(of_two_lists_that_share_a_server_at_most_one_becomes_a_set)
{
    std::vector<std::vector<std::string>> const lists{{"A", "B", "C"}, {"B", "C", "D"},           {"C", "D", "E"}, {"A", "D"},
                                                      {"E"},           {"A", "B", "C", "D", "E"}, {"B", "E", "A"}, {"D", "B"}};
    std::mt19937 random{1};
    int complete_sets = 0;
    for (int run = 0; run < 3'000; ++run) {
        auto all = five(run % 2 == 0);
        std::vector<std::string> ids{"1", "2", "3", "4", "5"};
        std::shuffle(ids.begin(), ids.end(), random);
        for (auto& [name, s] : all) s.id = ids[static_cast<std::size_t>(name[0] - 'A')];
        auto const& one = lists[random() % lists.size()];
        auto const& other = lists[random() % lists.size()];
        bool const share = std::any_of(one.begin(), one.end(),
                                       [&](auto const& n) { return std::count(other.begin(), other.end(), n) > 0; });
        std::vector<lister> clients{{all, one}, {all, other}, {all, one}, {all, other}};
        std::vector<std::vector<set_claim>> under_way(clients.size());
        for (int step = 0; step < 60; ++step) {
            auto const who = random() % clients.size();
            auto& c = clients[who];
            switch (random() % 4) {
            case 0:
                c.tell(random() % c.nodes.size());
                c.sets.may_claim_again();
                break;
            case 1:
                for (auto const& claim : c.sets.claims()) under_way[who].push_back(claim);
                break;
            default:
                if (under_way[who].empty()) break;
                auto const which = under_way[who].begin() + static_cast<std::ptrdiff_t>(random() % under_way[who].size());
                auto const claim = *which;
                under_way[who].erase(which);
                c.carry_out(claim);
            }
        }
        std::map<std::string, set_record> complete;
        for (auto const& [name, s] : all)
            if (auto const said = read_set_text(s.set); said.is == set_text::kind::good && said.record.complete)
                complete[said.record.id] = said.record;
        complete_sets += !complete.empty();
        bool const apart = complete.size() < 2 || !share;
        BOOST_REQUIRE_MESSAGE(apart, "run " << run);
        for (auto& c : clients) c.tell_all();
        bool const same = lister::make(one, "", 0, 0).members.size() == other.size() &&
                          std::is_permutation(one.begin(), one.end(), other.begin(), other.end());
        if (share && !same && !complete.empty()) {
            std::size_t let_in = 0;
            for (std::size_t i : {0u, 1u}) let_in += clients[i].nodes.size() - clients[i].refused() > clients[i].nodes.size() / 2;
            BOOST_REQUIRE_MESSAGE(let_in <= 1, "run " << run);
        }
    }
    BOOST_TEST(complete_sets > 100);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
