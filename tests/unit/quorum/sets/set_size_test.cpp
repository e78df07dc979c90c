// A set that grows or shrinks: how many votes clients with the old list and with the new one need.
#include "set_commands.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace redlock::quorum {
namespace {

using namespace std::chrono_literals;

wanted_change join(std::vector<std::string> const& servers) { return {{}, servers}; }
wanted_change leave(std::string const& member) { return {member, {}}; }

// The command, until nothing is left to do, and members that join are admitted.
void carry_out(servers& all, wanted_change const& wanted)
{
    for (int i = 0; i < 10; ++i) {
        auto const plan = planned(all, wanted);
        take(all, plan);
        if (plan.steps().empty()) return;
        lister client{all, plan.after().members};
        client.begin();
        for (auto const& each : plan.joining()) all.at(each).admitted = true;
    }
    BOOST_FAIL("it does not end");
}

time_point since(std::chrono::milliseconds t) { return time_point{t + 1h}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(sets_that_grow_and_shrink)

// It names another list. That is no fault while others show that the set has become smaller; if they lose that, it counts again.
BOOST_AUTO_TEST_CASE(an_older_record_is_excused_only_as_long_as_a_newer_one_is_known)
{
    servers all = five(true);
    lister{all, {"A", "B", "C", "D"}}.begin();
    auto const smaller = to_text(with_member_removed(read_set_text(all.at("A").set).record, "D"));
    all.at("B").set = all.at("C").set = smaller;
    lister client{all, ABC};
    client.tell_all();
    BOOST_TEST(client.sets.objection(0) == "");
    for (char const* name : {"B", "C"}) all.at(name) = {std::string{"new-"} + name};
    client.tell(1);
    client.tell(2);
    BOOST_TEST(contains(client.sets.objection(0), "this client names 3 nodes"), client.sets.objection(0));
    BOOST_TEST(client.sets.is_list_refused());
    BOOST_TEST(client.sets.claims().empty());
}

BOOST_AUTO_TEST_CASE(a_set_grows)
{
    auto all = founded();
    lister old{all, ABC};
    old.begin();
    BOOST_TEST((old.sets.voters() == electorate{3}));
    auto const era = old.sets.era();
    auto const plan = planned(all, join({"D", "E"}));
    BOOST_TEST(plan.joining() == (std::vector<std::string>{"D"}), boost::test_tools::per_element());
    take(all, plan, 1);
    old.begin();
    BOOST_TEST((old.sets.voters() == electorate{3}), "one of three has moved");
    BOOST_TEST(old.sets.is_apart(0));
    take(all, planned(all, join({"D", "E"})), 1);
    old.begin();
    BOOST_TEST((old.sets.voters() == electorate{3, 3, 3}));
    BOOST_TEST(old.sets.size() == 4u);
    BOOST_TEST(old.sets.era() == era + 1);
    BOOST_TEST(old.refused() == 0u);
    BOOST_TEST(read_set_text(all.at("C").set).record.generation == 1u, "a client brings it along");

    lister fresh{all, {"A", "B", "C", "D"}};
    fresh.begin();
    BOOST_TEST(fresh.refused() == 0u);
    BOOST_TEST((fresh.sets.voters() == electorate{4}));
    BOOST_TEST(fresh.sets.may_be_admitted(3));
    BOOST_TEST(read_set_text(all.at("D").set).record.is_same_generation(read_set_text(all.at("A").set).record));

    for (std::vector<std::string> const& wrong :
         {std::vector<std::string>{"A", "B"}, {"A", "B", "F"}, {"A", "B", "C", "D", "E"}, {"A", "B", "C", "F"}}) {
        for (auto const& each : wrong) all.try_emplace(each, fake_server{"id-" + each});
        lister other{all, wrong};
        other.begin();
        BOOST_TEST(other.sets.is_list_refused(), "of " << wrong.size() << " nodes");
        all.erase("F");
    }
    all.at("D").admitted = true;
    carry_out(all, join({"D", "E"}));
    BOOST_TEST(planned(all, join({"D", "E"})).steps().empty(), "it is done");
    lister later{all, {"A", "B", "C", "D", "E"}};
    later.begin();
    BOOST_TEST((later.sets.voters() == electorate{5}));
}

// A client that starts with the old list has to know the size before its first vote; with the new one it meets a member that has not moved.
BOOST_AUTO_TEST_CASE(a_client_that_starts_later_knows_the_size)
{
    auto all = founded();
    take(all, planned(all, join({"D", "E"})), 2);
    lister old{all, ABC};
    old.tell(0);
    BOOST_TEST(old.sets.voters().needed > 3u, "one has moved: nothing is decided yet");
    BOOST_TEST(!old.sets.may_be_admitted(0));
    old.tell(1);
    BOOST_TEST((old.sets.voters() == electorate{3, 3, 3}));

    lister fresh{all, {"A", "B", "C", "D"}};
    for (std::size_t i : {0, 1, 2}) fresh.tell(i);
    BOOST_TEST(fresh.refused() == 0u);
    BOOST_TEST(fresh.sets.is_apart(2));
    BOOST_TEST((fresh.sets.voters() == electorate{4}));
    lister first_unmoved{all, {"A", "B", "C", "D"}};
    for (std::size_t i : {2, 0, 1}) first_unmoved.tell(i);
    BOOST_TEST(first_unmoved.refused() == 0u);
}

BOOST_AUTO_TEST_CASE(a_set_grows_from_one_to_five)
{
    auto all = five(true);
    for (char const* name : {"B", "C", "D", "E"}) all[name].admitted = false;
    lister{all, {"A"}}.begin();
    auto const refused = planned(all, join({"B", "C"}));
    BOOST_TEST(contains(refused.why(), "leases that are held now would end"), refused.why());
    BOOST_TEST(contains(refused.why(), "--end-leases"));
    auto wanted = join({"B", "C", "D", "E"});
    wanted.may_end_leases = true;
    auto const first = planned(all, wanted);
    BOOST_TEST(first.joining() == std::vector<std::string>{"B"}, boost::test_tools::per_element());
    take(all, first);
    lister{all, {"A", "B"}}.begin();
    auto const too_early = planned(all, wanted);
    BOOST_TEST((too_early.refused() == set_change::refusal::too_few), "B is not admitted yet: " << too_early.why());
    BOOST_TEST(contains(too_early.why(), "redlock admit"));
    all.at("B").admitted = true;
    auto const second = planned(all, join({"C", "D", "E"}));
    BOOST_TEST(second.joining() == std::vector<std::string>{"C"}, boost::test_tools::per_element());
    carry_out(all, wanted);
    lister later{all, {"A", "B", "C", "D", "E"}};
    later.begin();
    BOOST_TEST((later.sets.voters() == electorate{5}));
    BOOST_TEST(read_set_text(all.at("A").set).record.generation == 4u);
    lister one{all, {"A"}};
    one.begin();
    BOOST_TEST(one.sets.is_list_refused(), "no majority of five");
    BOOST_TEST(contains(one.sets.objection(0), "no majority"), one.sets.objection(0));
}

BOOST_AUTO_TEST_CASE(a_set_of_an_odd_number_shrinks_in_two_steps)
{
    auto all = founded();
    for (auto& [name, s] : all) s.high_water = name[0];
    all.at("C").high_water = 1'000;
    lister old{all, ABC};
    old.begin();
    auto const opens = planned(all, leave("C"));
    BOOST_TEST(!opens.closes());
    BOOST_TEST(opens.needed() == 2u);
    BOOST_TEST(opens.steps().size() == 3u, "the one that leaves counts, too");
    take(all, opens, 2);
    old.begin();
    BOOST_TEST((old.sets.voters() == electorate{3, 2, 2}));
    BOOST_TEST(old.sets.size() == 3u);
    BOOST_TEST(!old.sets.objection(2).empty(), "C has left");
    BOOST_TEST(!old.sets.is_list_refused());
    for (auto const& [name, s] : all) BOOST_TEST((s.high_water == 1'000) == (name == "C"));

    auto const closes = planned(all, leave("C"));
    BOOST_TEST(closes.closes());
    BOOST_TEST(!closes.finishes_another());
    BOOST_TEST(closes.base() == token_number{'B'}, "C is not asked any more");
    open_drain drain;
    BOOST_TEST((drain.ends(closes, 10s, 0.01, since(0ms)) == since(10'100ms) + expiry_granularity));
    BOOST_TEST((drain.ends(closes, 10s, 0.01, since(9'000ms)) == since(10'100ms) + expiry_granularity));
    BOOST_TEST((max_look_time(looks(all), 10s, 0.01) < 5'060ms));
    BOOST_TEST((max_look_time(looks(all), 10s, 0.01) > 5s));
    // Whatever else is wanted, this comes first.
    for (auto const& other : {join({"D"}), leave("B"), wanted_change{"B", {"D"}}}) {
        auto const plan = planned(all, other);
        BOOST_TEST(plan.closes());
        BOOST_TEST(plan.finishes_another());
    }
    BOOST_TEST(closes.is_to_be_drained());
    take(all, closes, 1);
    BOOST_TEST(all.at("A").high_water == token_number{'B'});
    auto const goes_on = planned(all, leave("C"));
    BOOST_TEST(goes_on.closes());
    BOOST_TEST(!goes_on.is_to_be_drained(), "whoever has moved A has waited");
    old.begin();
    BOOST_TEST(old.sets.size() == 3u);
    carry_out(all, leave("C"));
    old.begin();
    BOOST_TEST(old.sets.size() == 2u);
    BOOST_TEST((old.sets.voters() == electorate{3, 2, 2}));
    lister two{all, {"A", "B"}};
    two.begin();
    BOOST_TEST(two.refused() == 0u);
    BOOST_TEST((two.sets.voters() == electorate{2}));
    auto const later = planned(all, leave("B"));
    BOOST_TEST((drain.ends(closes, 10s, 0.01, since(60'000ms)) == since(10'100ms) + expiry_granularity));
    open_drain of_two;
    static_cast<void>(of_two.ends(closes, 10s, 0.01, since(0ms)));
    BOOST_TEST((of_two.ends(later, 10s, 0.01, since(20'000ms)) == since(30'100ms) + expiry_granularity),
               "another generation has a wait of its own");
}

BOOST_AUTO_TEST_CASE(marks_of_too_few_do_not_close_a_generation)
{
    auto all = founded();
    carry_out(all, join({"D", "E"}));
    take(all, planned(all, leave("E")));
    all.at("A").reachable = false;
    BOOST_TEST(planned(all, leave("E")).why() == "", "three of five");
    all.at("B").admitted = false;
    BOOST_TEST((planned(all, leave("E")).refused() == set_change::refusal::too_few));
}

// Half of an even set is no majority, so two commands cannot both win.
BOOST_AUTO_TEST_CASE(an_even_set_shrinks_when_a_majority_of_it_has_moved)
{
    auto all = founded();
    carry_out(all, join({"D"}));
    lister four{all, {"A", "B", "C", "D"}};
    four.begin();
    BOOST_TEST((four.sets.voters() == electorate{4}));
    auto const plan = planned(all, leave("D"));
    BOOST_TEST(plan.needed() == 3u);
    BOOST_TEST(plan.steps().size() == 4u);
    take(all, plan, 2);
    four.begin();
    BOOST_TEST(four.sets.size() == 4u, "two of four have moved");
    lister fresh{all, ABC};
    fresh.begin();
    BOOST_TEST((fresh.sets.voters() == electorate{3, 3, 3}), "as many as four need");
    BOOST_TEST(fresh.sets.is_apart(0));
    // The third is the member that leaves.
    all.at("C").reachable = false;
    take(all, planned(all, leave("D")));
    BOOST_TEST(binding_in(all.at("D").set) == binding_in(all.at("A").set));
    fresh.begin();
    BOOST_TEST(fresh.sets.size() == 4u, "it does not name D, and sees two");
    four.begin();
    BOOST_TEST(four.sets.size() == 3u);
    BOOST_TEST((four.sets.voters() == electorate{4, 3, 2}));
    BOOST_TEST(!four.sets.objection(3).empty());
    // A client that has seen it tells the others.
    BOOST_TEST(read_set_text(all.at("A").set).record.counts.moved);
    fresh.begin();
    BOOST_TEST((fresh.sets.voters() == electorate{3}));
    carry_out(all, leave("D"));
    all.at("D").reachable = false;
    fresh.begin();
    BOOST_TEST((fresh.sets.voters() == electorate{3}));
    all.at("C").reachable = true;
    BOOST_TEST(planned(all, leave("D")).why() == "", "D has gone");
    fresh.begin();
    BOOST_TEST(fresh.refused() == 0u);
    BOOST_TEST(read_set_text(all.at("C").set).record.size() == 3u);
}

// The oldest list has a majority still: B has left, and A has lost its data and comes back.
BOOST_AUTO_TEST_CASE(a_member_that_lost_its_data_is_admitted_by_a_client_with_an_old_list)
{
    auto all = founded();
    carry_out(all, join({"D"}));
    lister old{all, ABC};
    old.begin();
    carry_out(all, leave("B"));
    all.at("A") = {"id-A2"};
    old.begin();
    BOOST_TEST(!old.sets.is_list_refused(), old.sets.objection(0));
    BOOST_TEST(old.sets.objection(0) == "");
    BOOST_TEST(!old.sets.objection(1).empty());
    BOOST_TEST((old.sets.voters() == electorate{3, 2, 2}));
    BOOST_TEST(old.sets.may_be_admitted(0));
    lister again{all, ABC};
    all.at("A") = {"id-A3"};
    again.begin();
    BOOST_TEST(!again.sets.is_list_refused(), again.sets.objection(0));
    BOOST_TEST(again.sets.may_be_admitted(0));
}

// A server may have another address for the client than in the record.
BOOST_AUTO_TEST_CASE(members_are_counted_by_what_they_carry_as_well)
{
    auto all = founded();
    for (auto const& [here, there] : {std::pair{"A", "a"}, {"B", "b"}, {"C", "c"}}) all[there] = all.at(here);
    std::vector<std::string> const other_names{"a", "b", "c"};
    lister first{all, other_names};
    first.begin();
    BOOST_TEST(first.refused() == 0u);
    BOOST_TEST((first.sets.voters() == electorate{3}));
    for (auto const& [here, there] : {std::pair{"A", "a"}, {"B", "b"}, {"C", "c"}}) {
        all.at(here).set = to_text(with_member_replaced(read_set_text(all.at(here).set).record, "C", "E"));
        all.at(there).set = all.at(here).set;
    }
    all.at("c").set = to_text(read_set_text(all.at("E").set).record);
    lister later{all, other_names};
    later.begin();
    BOOST_TEST(later.sets.voters().members == 2u, "of those that carry it");
    BOOST_TEST((later.sets.members() == node_set::all(2)));
    // One that has lost its data since is a member still. When all have, and a set is founded anew, all are.
    all.at("b").set.clear();
    all.at("b").admitted = false;
    later.begin();
    BOOST_TEST((later.sets.members() == node_set::all(2)));
    BOOST_TEST(later.sets.voters().members == 2u);
    auto const anew = to_text({"anew", 0, 0, true, 0, 0, {}, {"A", "B", "C"}});
    for (char const* there : {"a", "b", "c"}) all.at(there) = {std::string{"again-"} + there, anew};
    later.begin();
    later.begin();
    BOOST_TEST((later.sets.members() == node_set::all(3)));
    BOOST_TEST((later.sets.voters() == electorate{3}));
}

BOOST_AUTO_TEST_CASE(two_nodes_become_one)
{
    auto all = founded();
    take(all, planned(all, leave("C")));
    carry_out(all, leave("C"));
    all.at("B").reachable = false;
    auto const alone = planned(all, leave("B"));
    BOOST_TEST((alone.refused() == set_change::refusal::too_few), "one of two is no majority");
    all.at("B").reachable = true;
    carry_out(all, leave("B"));
    lister one{all, {"A"}};
    one.begin();
    BOOST_TEST(one.refused() == 0u);
    BOOST_TEST((one.sets.voters() == electorate{1}));
    auto const why = planned(all, leave("A")).why();
    BOOST_TEST(contains(why, "A is the only member of"), why);
}

BOOST_AUTO_TEST_CASE(a_change_of_size_is_finished_before_another_one_begins)
{
    auto all = founded();
    take(all, planned(all, join({"D"})), 1);
    auto const same = planned(all, join({"D"}));
    BOOST_TEST(!same.finishes_another());
    BOOST_TEST(same.moved() == 1u);
    BOOST_TEST(!planned(all, join({"D", "E"})).finishes_another(), "D is the first of them");
    for (auto const& other : {wanted_change{"B", {"E"}}, leave("C"), join({"E"})}) {
        auto const plan = planned(all, other);
        BOOST_TEST(plan.finishes_another());
        BOOST_TEST(plan.after().has("D"));
    }
}

// With one of three down, two would be left of the three that five need.
BOOST_AUTO_TEST_CASE(a_set_does_not_grow_beyond_those_that_answer)
{
    auto all = founded();
    all.at("C").reachable = false;
    auto const plan = planned(all, join({"D", "E"}));
    BOOST_TEST((plan.refused() == set_change::refusal::too_few));
    BOOST_TEST(contains(plan.why(), "start the others"), plan.why());
    auto wanted = join({"D", "E"});
    wanted.may_end_leases = true;
    BOOST_TEST((planned(all, wanted).refused() == set_change::refusal::too_few));
}

// The set has grown from two to five, so a client with the list of two is refused. Both of its nodes lose their data: the other three have theirs.
BOOST_AUTO_TEST_CASE(a_refused_client_does_not_found_its_nodes_anew)
{
    auto all = five(true);
    for (char const* name : {"C", "D", "E"}) all[name].admitted = false;
    lister old{all, {"A", "B"}};
    old.begin();
    carry_out(all, join({"C", "D", "E"}));
    old.begin();
    BOOST_TEST(old.sets.is_list_refused());
    for (char const* name : {"A", "B"}) all[name] = {all[name].id + "'", {}, false};
    old.begin();
    BOOST_TEST(all.at("A").set == "");
    BOOST_TEST(all.at("B").set == "");
}

// A claim of a list with a mistake refuses the right one until it is deleted.
BOOST_AUTO_TEST_CASE(a_client_that_a_mere_claim_has_refused_founds_its_nodes_when_it_is_gone)
{
    auto all = five(false);
    all.at("B").set = to_text({"typo", 0, 0, false, 0, 0, "", {"B", "C", "D"}});
    lister right{all, {"A", "B", "C"}};
    right.begin();
    BOOST_TEST(right.sets.is_list_refused());
    all.at("B").set.clear();
    right.begin();
    BOOST_TEST(!right.sets.is_list_refused());
    for (char const* name : {"A", "B", "C"}) BOOST_TEST(all.at(name).set != "");
}

// The same when other servers have taken the places of all, one after the other.
BOOST_AUTO_TEST_CASE(a_client_of_servers_that_have_left_does_not_found_them_anew)
{
    auto all = founded();
    all["F"] = {"id-F", {}, false};
    lister old{all, {"A", "B", "C"}};
    old.begin();
    for (auto const& [leaves, joins] : {std::pair{"A", "D"}, {"B", "E"}, {"C", "F"}}) {
        carry_out(all, {leaves, {joins}, false});
        all.at(joins).admitted = true;
        old.begin();
    }
    BOOST_TEST(old.sets.is_list_refused());
    for (char const* name : {"A", "B", "C"}) all[name] = {all[name].id + "'", {}, false};
    old.begin();
    old.begin();
    for (char const* name : {"A", "B", "C"}) BOOST_TEST(all.at(name).set == "");
    BOOST_TEST(!old.sets.lists_all_members());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
