// Clients that follow a set into another generation: those with the old list of nodes, and those with the new one.
#include "set_commands.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace redlock::quorum {
namespace {

std::vector<std::string> const ABD{"A", "B", "D"};

set_record record_on(servers const& all, char const* server) { return read_set_text(all.at(server).set).record; }

// C is replaced by D in the record of these, as the command does it.
void move(servers& all, std::vector<std::string> const& some)
{
    auto const next = with_member_replaced(record_on(all, "C"), "C", "D");
    for (auto const& name : some) all.at(name).set = to_text(next);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sets_that_change)

BOOST_AUTO_TEST_CASE(the_text_of_a_changed_set_is_read_as_it_was_written)
{
    set_record const first{"abc", 0, 1'795'000'000, true, 0, 0, "orders", {"a:1", "b c", "d"}};
    auto const second = with_member_replaced(first, "b c", "e");
    BOOST_TEST(second.generation == 1u);
    BOOST_TEST((second.members == std::vector<std::string>{"a:1", "e", "d"}));
    BOOST_TEST((second.left == std::vector<std::string>{"b c"}));
    BOOST_TEST(second.joined_in("e") == 1u);
    BOOST_TEST(second.joined_in("d") == 0u);
    auto const text = to_text(second);
    BOOST_TEST(text == "v2 " + binding_of(second) + " abc 1 1795000000 moving 0/0 orders 3/3/3/3/3 0 a:1 1 e 0 d b%20c");
    BOOST_TEST((read_set_text(text).record == second));
    BOOST_TEST(binding_in(text) == binding_of(second));
    BOOST_TEST(binding_of(second).size() == set_binding_size);
    BOOST_TEST(binding_of(second).starts_with("g001"));
    BOOST_TEST(binding_of(first) == "");
    BOOST_TEST(binding_in(to_text(first)) == "");
    BOOST_TEST(binding_of(second) != binding_of(with_member_replaced(first, "b c", "f")));
    auto const third = with_member_replaced(second, "d", "b c");
    BOOST_TEST((third.left == std::vector<std::string>{"d"}));
    BOOST_TEST(third.joined_in("b c") == 2u);
    BOOST_TEST((read_set_text(to_text(third)).record == third));
}

BOOST_AUTO_TEST_CASE(what_is_no_record_of_a_changed_set_is_known_as_such)
{
    auto const good = to_text(with_member_replaced({"abc", 0, 0, true, 0, 0, "", {"a", "b", "c"}}, "c", "d"));
    BOOST_TEST((read_set_text(good).is == set_text::kind::good));
    std::string const binding{binding_in(good)};
    std::string other = good;
    other[5] = other[5] == '0' ? '1' : '0';
    auto const rest = [&](std::string const& text) { return "v2 " + binding + " abc 1 0 " + text; };
    BOOST_TEST((read_set_text(rest("moved 0/0 - 3/3/3/3/3 0 a 0 b 1 d c")).is == set_text::kind::good));
    for (std::string const& text :
         {other, good + " c", good + " a", rest("moving 0/0 - 4/4/3/3/4 0 a 0 b 1 d c"), rest("moving 0/0 -"),
          rest("claimed 0/0 - 3/3/3/3/3 0 a 0 b 1 d c"), rest("complete 0/0 - 3/3/3/3/3 0 a 0 b 1 d c"),
          rest("moving 0/0 - 3/3/3/3/3 0 a 0 b 2 d c"), rest("moving 0/0 - 3 0 a 0 b 1 d c"), rest("moving 0/0 - 3/3/3/3 0 a 0 b 1 d c"),
          rest("moving 0/0 - 3/5/3/3/5 0 a 0 b 1 d c"), std::string{"v2"}, std::string{"v2 "}, "v2 " + binding})
        BOOST_TEST((read_set_text(text).is == set_text::kind::foreign), text);
    for (auto end = good.find(' '); end != good.npos; end = good.find(' ', end + 1))
        if (!good.substr(end).starts_with(" c"))
            BOOST_TEST((read_set_text(good.substr(0, end)).is == set_text::kind::foreign), good.substr(0, end));
}

BOOST_AUTO_TEST_CASE(a_client_goes_on_in_its_generation_until_a_majority_has_moved)
{
    auto all = founded();
    lister old{all, ABC};
    old.begin();
    auto const era = old.sets.era();
    move(all, {"A"});
    old.begin();
    BOOST_TEST(old.sets.era() == era);
    BOOST_TEST(old.sets.is_apart(0));
    BOOST_TEST(!old.sets.is_apart(1));
    BOOST_TEST(old.refused() == 0u);
    BOOST_TEST(contains(old.sets.why_apart(0), "run the command again"), old.sets.why_apart(0));
    BOOST_TEST(old.sets.is_to_be_looked_at(0));

    move(all, {"B"});
    old.tell(1);
    BOOST_TEST(old.sets.era() == era + 1);
    BOOST_TEST(!old.sets.is_apart(0));
    BOOST_TEST(!old.sets.is_apart(1));
    BOOST_TEST(!old.sets.members().has(2));
    BOOST_TEST(!old.sets.is_list_refused());
    BOOST_TEST(contains(old.sets.objection(2), "has left the set"), old.sets.objection(2));
    BOOST_TEST(old.sets.may_be_admitted(0));
    BOOST_TEST(!old.sets.may_be_admitted(2));
    old.settle();
    BOOST_TEST(record_on(all, "C").generation == 0u);
    // Nothing brings it back.
    all["A"].set = all["B"].set = all["C"].set;
    all["A"].admitted = all["B"].admitted = false;
    old.tell_all();
    BOOST_TEST(old.sets.era() == era + 1);
    BOOST_TEST(old.sets.is_apart(0));
}

BOOST_AUTO_TEST_CASE(a_client_with_the_new_list_lets_the_new_member_in_when_a_majority_has_moved)
{
    auto all = founded();
    all["D"].admitted = true;  // of something else
    lister early{all, ABD};
    early.begin();
    BOOST_TEST(early.sets.is_list_refused());

    move(all, {"A"});
    early.begin();
    BOOST_TEST(early.sets.is_list_refused());
    lister newcomer{all, ABD};
    newcomer.begin();
    BOOST_TEST(!newcomer.sets.is_list_refused());
    BOOST_TEST(!newcomer.sets.may_be_admitted(0));
    BOOST_TEST(all["D"].set == "");

    move(all, {"B"});
    early.begin();
    BOOST_TEST(all["D"].set == all["A"].set);
    BOOST_TEST(!all["D"].admitted);
    early.tell_all();
    BOOST_TEST(early.refused() == 0u);
    BOOST_TEST(early.sets.may_be_admitted(2));
}

BOOST_AUTO_TEST_CASE(a_member_that_was_away_follows_and_keeps_its_admission)
{
    servers all;
    for (char const* name : {"A", "B", "C", "D", "E", "F"}) all[name] = {std::string{"id-"} + name, {}, true};
    std::vector<std::string> const five{"A", "B", "C", "D", "E"}, later{"A", "B", "C", "D", "F"};
    lister{all, five}.begin();
    auto const next = with_member_replaced(record_on(all, "A"), "E", "F");
    for (char const* name : {"A", "B", "C"}) all[name].set = to_text(next);
    lister old{all, five};
    old.begin();
    BOOST_TEST(record_on(all, "D").is_same_generation(next));
    BOOST_TEST(all["D"].admitted);
    BOOST_TEST(record_on(all, "E").generation == 0u);

    // And one that joins again does not: it was no member meanwhile.
    auto const third = with_member_replaced(next, "F", "E");
    for (char const* name : {"A", "B", "C"}) all[name].set = to_text(third);
    lister back{all, five};
    back.begin();
    BOOST_TEST(record_on(all, "E").is_same_generation(third));
    BOOST_TEST(!all["E"].admitted);
    BOOST_TEST(all["D"].admitted);
}

// Another client has moved it meanwhile, into a generation that is over as well. The server has another id since, so it is asked before it is claimed.
BOOST_AUTO_TEST_CASE(a_member_that_somebody_else_has_moved_keeps_its_admission)
{
    auto all = founded();
    auto const first = with_member_replaced(record_on(all, "B"), "C", "D");
    auto second = with_member_replaced(first, "B", "E");
    second.counts.moved = true;
    for (char const* name : {"D", "E"}) {
        all[name].set = to_text(second);
        all[name].admitted = true;
    }
    lister client{all, {"A", "E", "D"}};
    client.tell_all();
    all["A"].set = to_text(first);
    auto const claims = client.sets.claims();
    BOOST_TEST_REQUIRE(claims.size() == 1u);
    client.sets.on_claimed(0, to_text(first), client.now, client.now);  // what was expected is not there any more
    BOOST_TEST(client.sets.claims().empty());
    client.sets.may_claim_again();
    BOOST_TEST(client.sets.claims().empty(), "time alone tells no id");
    client.tell(0);
    client.settle();
    BOOST_TEST(all["A"].set == to_text(second));
    BOOST_TEST(all["A"].admitted);
}

BOOST_AUTO_TEST_CASE(of_two_changes_at_once_the_one_with_a_majority_is_followed)
{
    auto all = founded();
    auto const by_d = with_member_replaced(record_on(all, "A"), "C", "D"), by_e = with_member_replaced(record_on(all, "A"), "A", "E");
    all["A"].set = to_text(by_d);
    all["B"].set = all["C"].set = to_text(by_e);
    lister old{all, ABC};
    old.begin();
    BOOST_TEST(contains(old.sets.objection(0), "has left the set"), old.sets.objection(0));
    BOOST_TEST(old.sets.may_be_admitted(1));
    lister loser{all, ABD};
    loser.begin();
    BOOST_TEST(loser.sets.is_list_refused());
    BOOST_TEST(!loser.sets.may_be_admitted(0));
    BOOST_TEST(all["D"].set == "");
}

// One that nobody else has followed may be taken back.
BOOST_AUTO_TEST_CASE(nobody_has_left_before_a_majority_has_moved)
{
    auto all = founded();
    move(all, {"A"});
    lister old{all, ABC};
    old.tell(0);
    old.tell(2);
    BOOST_TEST(old.sets.objection(2) == "");
    BOOST_TEST(!contains(old.sets.why_apart(2), "in a moment"), old.sets.why_apart(2));
    old.tell(1);
    BOOST_TEST(old.refused() == 0u);
    BOOST_TEST(old.sets.is_apart(0));
    BOOST_TEST(!old.sets.is_apart(2));
}

BOOST_AUTO_TEST_CASE(a_server_that_left_and_is_empty_now_costs_only_its_vote)
{
    auto all = founded();
    move(all, {"A", "B"});
    all["C"] = {"id-C2", {}, false};
    lister old{all, ABC};
    old.begin();
    BOOST_TEST(!old.sets.is_list_refused());
    BOOST_TEST(contains(old.sets.objection(2), "has left the set"), old.sets.objection(2));
    BOOST_TEST(all["C"].set == "");
}

BOOST_AUTO_TEST_CASE(a_change_that_was_begun_is_finished_before_another_one_begins)
{
    auto all = founded();
    auto const replace = [&](char const* leaves, char const* joins) { return planned(all, {leaves, {joins}}); };
    auto const first = replace("C", "D");
    BOOST_TEST(first.why() == "");
    BOOST_TEST(first.steps().size() == 2u);
    BOOST_TEST(first.needed() == 2u);
    BOOST_TEST(first.after().generation == 1u);
    take(all, first, 1);

    all["C"].reachable = false;
    auto const again = replace("C", "D");
    BOOST_TEST(again.why() == "");
    BOOST_TEST(again.moved() == 1u);
    BOOST_TEST(again.steps().size() == 1u);
    BOOST_TEST((again.after() == first.after()));
    BOOST_TEST(!again.finishes_another());

    auto const other = replace("B", "E");
    BOOST_TEST(other.finishes_another());
    BOOST_TEST((other.after() == first.after()));
    take(all, other, 1);

    auto const done = replace("C", "D");
    BOOST_TEST(done.why() == "");
    BOOST_TEST(done.steps().size() == 0u);
    BOOST_TEST(done.after().generation == 1u);
    BOOST_TEST(record_on(all, "A").counts.moved, "whoever reads it knows that a majority has moved");
    BOOST_TEST((replace("C", "E").refused() == set_change::refusal::outrun));
    // Also to a command that does not know the member that joined.
    auto without_d = looks(all);
    std::erase_if(without_d, [](server_view const& v) { return v.member == "D"; });
    BOOST_TEST((set_change{without_d, wanted_change{"C", {"E"}}}.refused() == set_change::refusal::outrun));
    BOOST_TEST(contains(set_change{without_d, wanted_change{"B", {"E"}}}.why(), "D is a member of"),
               set_change(without_d, wanted_change{"B", {"E"}}).why());
    // D has no vote yet, so only one member that has one would stay.
    auto const too_early = replace("B", "E");
    BOOST_TEST((too_early.refused() == set_change::refusal::too_few), too_early.why());
    // Taken back, with the same two members.
    all["C"].reachable = true;
    auto const back = replace("D", "C");
    BOOST_TEST(back.why() == "");
    BOOST_TEST(back.after().generation == 2u);
    BOOST_TEST(back.after().joined_in("C") == 2u);
    BOOST_TEST(back.steps().size() == 2u);
    // Begun, and the command of before is run again: that is finished first, and then this one is made once more.
    take(all, back, 1);
    auto const once_more = replace("C", "D");
    BOOST_TEST(once_more.finishes_another());
    BOOST_TEST((once_more.after() == back.after()));
    take(all, once_more, 1);
    BOOST_TEST(replace("C", "D").after().generation == 3u);
}

// Of four, two have moved when the third loses its data: the fourth, which leaves, cannot admit it alone, and two are no majority.
BOOST_AUTO_TEST_CASE(half_of_an_even_set_goes_on_where_another_member_is_lost)
{
    servers all;
    for (char const* name : {"A", "B", "C", "D", "E"}) all[name] = {std::string{"id-"} + name, {}, true};
    lister{all, {"A", "B", "C", "D"}}.begin();
    lister old{all, {"A", "B", "C", "D"}};
    old.begin();
    take(all, planned(all, {"D", {"E"}}), 2);
    old.begin();
    BOOST_TEST(old.sets.is_apart(0));
    all["C"] = {"id-C2", all["C"].set, false};
    auto const with_c = planned(all, {"D", {"E"}});
    BOOST_TEST_REQUIRE(with_c.steps().size() == 1u);
    BOOST_TEST(!with_c.steps().front().stays, "it is not admitted to the generation of before any more");
    take(all, with_c);
    auto const done = planned(all, {"D", {"E"}});
    BOOST_TEST(done.why() == "");
    BOOST_TEST(done.steps().empty());
    BOOST_TEST(done.after().generation == 1u);
    old.begin();
    BOOST_TEST(!old.sets.is_apart(0));
    BOOST_TEST(record_on(all, "C").generation == 1u, "a client brings it along");
    BOOST_TEST(old.sets.may_be_admitted(2));
    // With its data, it is needed.
    all["C"].set = all["D"].set;
    all["C"].admitted = true;
    for (char const* name : {"A", "B"}) {
        auto r = record_on(all, name);
        r.counts.moved = false;
        all[name].set = to_text(r);
    }
    BOOST_TEST((set_change{looks(all), wanted_change{"D", {"E"}}}.steps().size() == 1u));
}

// One member has moved, and the others do not answer: they may go on as before.
BOOST_AUTO_TEST_CASE(a_command_that_reaches_one_member_does_not_say_that_a_majority_has_moved)
{
    auto all = founded();
    take(all, planned(all, {"C", {"D"}}), 1);
    all["B"].reachable = all["C"].reachable = false;
    set_change const alone{looks(all), {"C", {"D"}}};
    BOOST_TEST((alone.refused() == set_change::refusal::too_few), alone.why());
    BOOST_TEST(alone.steps().empty());
    BOOST_TEST(!record_on(all, "A").counts.moved);
    all["B"].reachable = true;
    BOOST_TEST(planned(all, {"C", {"D"}}).steps().size() == 1u);
}

// Each of two has moved one member. Those of one can be finished: the other's member follows it then.
BOOST_AUTO_TEST_CASE(of_two_that_were_begun_the_one_that_can_be_finished_is)
{
    auto all = founded();
    auto const by_d = with_member_replaced(record_on(all, "A"), "C", "D"), by_e = with_member_replaced(record_on(all, "A"), "A", "E");
    all["A"].set = to_text(by_d);
    all["B"].set = to_text(by_e);
    auto const plan = planned(all, {"C", {"D"}});
    BOOST_TEST(plan.why() == "");
    BOOST_TEST(plan.after().is_same_generation(by_e), "C can move to it, and A cannot");
    BOOST_TEST(plan.finishes_another());
    take(all, plan);
}

// The move from two members to one has reached the one that stays. The other was never used, or has lost its data.
BOOST_AUTO_TEST_CASE(of_two_the_one_that_leaves_may_be_empty)
{
    auto all = founded();
    auto const two = with_member_removed(closed(with_member_removed(record_on(all, "A"), "C")), "B");
    all["A"].set = to_text(two);
    all["B"] = {"id-B2", {}, false};
    auto const plan = planned(all, {"B", {}});
    BOOST_TEST(plan.why() == "");
    BOOST_TEST_REQUIRE(plan.steps().size() == 1u);
    BOOST_TEST(!plan.steps().front().stays);
    take(all, plan);
    lister old{all, {"A", "B"}};
    old.begin();
    BOOST_TEST((old.sets.voters() == electorate{2, 1, 1}));
    BOOST_TEST(planned(all, {"B", {}}).steps().empty());
}

// A member that lost its data in between could be in the generation before once more.
BOOST_AUTO_TEST_CASE(answers_of_long_ago_do_not_settle_a_generation)
{
    auto all = founded();
    lister old{all, ABC};
    old.begin();
    auto const next = with_member_replaced(record_on(all, "A"), "C", "D");
    all["A"].set = to_text(next);
    old.tell(0);
    all["B"].set = to_text(next);
    old.now += std::chrono::seconds{16};
    old.tell(1);
    BOOST_TEST(old.sets.is_apart(1), "A was asked more than half a max_ttl ago");
    old.tell(0);
    BOOST_TEST(!old.sets.is_apart(1));
}

BOOST_AUTO_TEST_CASE(a_request_that_makes_no_sense_is_refused_in_words)
{
    auto all = founded();
    std::vector<server_view> views;
    for (auto const& [name, s] : all) {
        views.push_back({name, node_facts{}, ""});
        views.back().facts->id = views.back().facts->admitted = s.id;
        views.back().facts->set = s.set;
    }
    auto const why = [&](char const* leaves, char const* joins) { return set_change{views, wanted_change{leaves, {joins}}}.why(); };
    BOOST_TEST(contains(why("E", "D"), "E is no member of the set"), why("E", "D"));
    BOOST_TEST(contains(why("C", "B"), "B is a member already"), why("C", "B"));
    views[3].facts.reset();
    views[3].problem = "no connection within 1 s";
    BOOST_TEST(contains(why("C", "D"), "D does not answer: no connection within 1 s; it has not joined"), why("C", "D"));
    views[4].facts->set = to_text({"other", 0, 0, true, 0, 0, "", {"E", "F", "G"}});
    BOOST_TEST(contains(why("C", "E"), "belong to different sets"), why("C", "E"));
    views[4].facts->set = "somebody's";
    BOOST_TEST(contains(why("C", "E"), "DEL redlock:node redlock:set"), why("C", "E"));
    views[4].facts->set.clear();
    views[4].facts->id = views[1].facts->id;
    BOOST_TEST(contains(why("C", "E"), "E is the same server as B"), why("C", "E"));
    views[4].facts->id = "k001:1234";
    auto const moved = to_text(set_change{views, wanted_change{"C", {"E"}}}.after());
    views[0].facts->admitted.clear();
    BOOST_TEST(contains(why("C", "E"), "only 1 answer and have a vote"), why("C", "E"));
    BOOST_TEST(!contains(why("C", "E"), "DEL"), why("C", "E"));
    auto const not_moved = std::exchange(views[0].facts->set, moved);
    BOOST_TEST(contains(why("C", "E"), "DEL redlock:node redlock:set on A, which lost its data after it had moved, run redlock admit"),
               why("C", "E"));
    views[0].facts->set = not_moved;
    views[0].facts->admitted = views[0].facts->id = "k001:5678";
    BOOST_TEST(contains(why("C", "E"), "group of servers"), why("C", "E"));
}

BOOST_AUTO_TEST_CASE(a_list_that_is_neither_is_refused)
{
    auto all = founded();
    move(all, {"A", "B"});
    lister other{all, {"A", "B", "E"}};
    other.begin();
    BOOST_TEST(other.sets.is_list_refused());
    BOOST_TEST(contains(other.sets.objection(0), "E is not a member"), other.sets.objection(0));
    BOOST_TEST(all["E"].set == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
