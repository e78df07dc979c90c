// A client with the right list hears of a new founding from one server after the other: it waits for what all of them say now.
#include "set_clients.hpp"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace redlock::quorum {
namespace {

using indices = std::vector<std::size_t>;

// All servers lose their data, and somebody else founds the set anew.
void found_anew(servers& all, std::vector<std::string> const& list)
{
    for (std::string const& name : list) all[name] = {"new-" + name, {}, false};
    lister{all, list}.begin();
}

struct old_client {
    explicit old_client(std::vector<std::string> list) : who{all, std::move(list)} { who.begin(); }

    bool is_refused() const { return who.refused() > 0 || who.sets.is_list_refused(); }

    servers all{five(true)};
    lister who;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(doubts_about_sets)

BOOST_AUTO_TEST_CASE(a_list_that_is_right_is_not_refused_while_a_new_founding_becomes_known)
{
    for (auto const& list : std::vector<std::vector<std::string>>{{"A", "B"}, ABC, {"A", "B", "C", "D"}}) {
        old_client c{list};
        found_anew(c.all, list);
        for (std::size_t i = 0; i < list.size(); ++i) {
            c.who.tell(i);
            BOOST_TEST(!c.is_refused());
            indices expected;  // all others are asked, once
            for (std::size_t k = 1; i == 0 && k < list.size(); ++k) expected.push_back(k);
            BOOST_TEST((c.who.sets.looks() == expected));
            BOOST_TEST(c.who.sets.is_to_be_looked_at(list.size() - 1) == (i + 1 < list.size()));
        }
        BOOST_TEST(c.who.sets.may_be_admitted(0));
    }
}

BOOST_AUTO_TEST_CASE(what_a_server_said_before_it_went_away_is_no_contradiction)
{
    old_client c{{"A", "B"}};
    c.who.sets.on_gone(1);
    found_anew(c.all, c.who.nodes);
    c.who.tell(0);
    BOOST_TEST(!c.is_refused());
    BOOST_TEST(c.who.sets.looks().empty());  // it cannot be asked
    c.who.tell(1);
    BOOST_TEST(!c.is_refused());
}

BOOST_AUTO_TEST_CASE(two_foundings_are_refused_when_all_have_said_it_once_more)
{
    old_client c{{"A", "B"}};
    auto const first = c.all;
    found_anew(c.all, c.who.nodes);
    c.all["B"] = first.at("B");
    c.who.tell(0);
    BOOST_TEST(!c.is_refused());
    BOOST_TEST((c.who.sets.looks() == indices{1}));
    c.who.tell(1);
    BOOST_TEST(c.who.refused() == 2u);
    BOOST_TEST(contains(c.who.sets.objection(0), "founded twice"), c.who.sets.objection(0));

    // Both are rejected for what they said, which stays true.
    for (std::size_t const i : {0u, 1u}) c.who.sets.on_gone(i, true);
    BOOST_TEST(c.who.refused() == 2u);
    c.who.tell(0);
    BOOST_TEST(c.who.refused() == 2u);
    BOOST_TEST(c.who.sets.is_list_refused());

    // An operator repairs one.
    c.all["B"] = {"id-B", {}, false};
    c.who.tell(1);
    BOOST_TEST(!c.is_refused());
}

BOOST_AUTO_TEST_CASE(one_member_with_an_older_record_loses_its_vote_when_it_was_asked_again)
{
    old_client c{ABC};
    auto const first = c.all;
    found_anew(c.all, ABC);
    c.all["C"] = first.at("C");
    for (std::size_t const i : {0u, 1u}) c.who.tell(i);
    BOOST_TEST(c.who.refused() == 0u);
    c.who.tell(2);
    BOOST_TEST(c.who.refused() == 1u);
    BOOST_TEST(!c.who.sets.objection(2).empty());
    BOOST_TEST(!c.who.sets.is_list_refused());
}

BOOST_AUTO_TEST_CASE(no_record_is_written_over_one_that_may_be_out_of_date)
{
    old_client c{ABC};
    auto const complete = c.all["B"].set;
    auto record = read_set_text(complete).record;
    record.id = "0-another";
    record.complete = false;
    c.all["A"].set = to_text(record);  // somebody begins to found it anew
    c.who.tell(0);
    BOOST_TEST(c.who.sets.claims().empty());
    for (std::size_t const i : {1u, 2u}) c.who.tell(i);
    c.who.settle();
    for (std::string const& name : ABC) BOOST_TEST(c.all[name].set == complete);
}

BOOST_AUTO_TEST_CASE(a_wrong_list_is_refused_at_once_whatever_is_out_of_date)
{
    auto all = founded();
    lister wrong{all, {"A", "B"}};
    wrong.begin();
    BOOST_TEST(wrong.sets.is_list_refused());
    for (std::size_t const i : {0u, 1u}) {
        wrong.sets.on_gone(i);
        BOOST_TEST(wrong.refused() == 2u);
    }
    BOOST_TEST(wrong.sets.looks().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
