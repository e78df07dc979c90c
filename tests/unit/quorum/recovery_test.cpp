// Where a majority of the nodes has lost its data, and some have theirs: those that lost it vote again when all of them have waited.
#include "unit/quorum/played_cluster.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <utility>

namespace redlock::quorum {

BOOST_AUTO_TEST_SUITE(recovery)

BOOST_AUTO_TEST_CASE(a_majority_that_lost_its_data_votes_again_after_the_wait_from_the_wall_clock)
{
    cluster c{3};
    for (std::size_t i = 0; i < 3; ++i) c.was_admitted(i, 100 + i);
    c.connect_all();
    c.restart_empty(1);
    c.settle();
    BOOST_TEST(!c.rules.recovers(), "two of three have their data");
    c.now += 10s;
    c.restart_empty(2);
    c.settle();
    BOOST_TEST(c.rules.recovers());
    for (std::size_t i = 1; i < 3; ++i) BOOST_TEST((c.rules.of(i) == admission_state::quarantined));
    c.now += drain - 1ms;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 1u);
    BOOST_TEST(c.rules.has_just_recovered().empty());
    c.now += 1ms;
    auto const asked = c.settle();
    BOOST_TEST(c.count(asked, kind::admit) == 2u);
    BOOST_TEST(c.rules.admitted() == 3u);
    BOOST_TEST(!c.rules.recovers());
    BOOST_TEST(c.servers[0].facts.high_water == 100u);
    for (std::size_t i = 1; i < 3; ++i) BOOST_TEST(c.servers[i].facts.high_water == wall_clock);
    auto const told = c.rules.has_just_recovered();
    BOOST_TEST((!told.has(0) && told.has(1) && told.has(2)));
    BOOST_TEST(c.rules.has_just_recovered().empty(), "it is told once");
    BOOST_TEST(!c.rules.has_just_bootstrapped());
}

BOOST_AUTO_TEST_CASE(a_mark_that_is_left_counts_where_it_is_ahead_of_the_clock)
{
    cluster c{3};
    c.was_admitted(0, wall_clock + 7);
    c.connect_all();
    c.settle();
    c.servers[0].facts.high_water += 2;  // meanwhile, and nobody has been told
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
    for (std::size_t i = 1; i < 3; ++i) BOOST_TEST(c.servers[i].facts.high_water == wall_clock + 9);
}

BOOST_AUTO_TEST_CASE(the_longest_ttl_that_a_record_allows_is_waited_for)
{
    cluster c{3};
    c.was_admitted(0, 100, 90s);
    c.connect_all();
    c.settle();
    c.now += drain_of(90s, 0.01) - 1ms;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 1u);
    c.now += 1ms;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
    BOOST_TEST((c.servers[1].facts.max_ttl == 90s));
}

// A list that is wrong is refused by the record of the one that has its data.
BOOST_AUTO_TEST_CASE(all_have_to_answer)
{
    cluster c{5};
    for (std::size_t i = 0; i < 2; ++i) c.was_admitted(i, 100);
    c.servers[1].reachable = false;
    c.connect_all();
    c.settle();
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 1u);
    BOOST_TEST(!c.rules.recovers());
    for (std::size_t i = 2; i < 5; ++i) BOOST_TEST((c.rules.of(i) == admission_state::catching_up));
    c.servers[1].reachable = true;
    c.connect(1);
    c.settle();
    BOOST_TEST(c.rules.admitted() == 5u);
}

// So what is said of the others stays true: they lack those that can tell.
BOOST_AUTO_TEST_CASE(one_that_does_not_say_what_it_has_keeps_it_from_beginning)
{
    for (bool const is_replica : {false, true}) {
        cluster c{5};
        c.was_admitted(0, 100);
        if (is_replica) c.servers[4].facts.master = false;
        else c.servers[4].facts.id.clear();
        c.connect_all();
        c.settle();
        c.now += drain;
        c.settle();
        BOOST_TEST(!c.rules.recovers());
        BOOST_TEST(c.rules.admitted() == 1u);
    }
}

// One of those that were founded refuses to be admitted, and another one has lost its data again.
BOOST_AUTO_TEST_CASE(a_recovery_that_one_node_holds_up_goes_on_for_the_others)
{
    cluster c{3};
    c.connect_all();
    c.settle();
    c.now += drain;
    auto const settle = [&c] {
        for (auto asked = c.rules.requests(c.now); !asked.empty(); asked = c.rules.requests(c.now))
            for (auto const& r : asked) {
                if (r.node == 2 && r.what == kind::admit) c.rules.on_failed(2, c.now);
                else c.answer(r);
            }
    };
    settle();
    BOOST_TEST(c.rules.admitted() == 2u);
    c.restart_empty(0);
    settle();
    c.now += drain;
    settle();
    BOOST_TEST((c.rules.of(0) == admission_state::admitted));
    BOOST_TEST(c.servers[0].facts.high_water == wall_clock);
}

BOOST_AUTO_TEST_CASE(where_half_of_the_nodes_have_their_data_the_others_learn_from_them)
{
    cluster c{4};
    for (std::size_t i = 0; i < 2; ++i) c.was_admitted(i, 100);
    c.connect_all();
    c.settle();
    BOOST_TEST(!c.rules.recovers());
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 4u);
    BOOST_TEST(c.servers[3].facts.high_water == 100u);
    BOOST_TEST(c.rules.has_just_recovered().empty());
    for (std::size_t i = 1; i < 4; ++i) c.restart_empty(i);
    c.settle();
    BOOST_TEST(c.rules.recovers());
    c.now += drain;
    c.settle();
    BOOST_TEST(c.servers[3].facts.high_water == wall_clock);
}

// Another client was faster, and a node has lost its data again.
BOOST_AUTO_TEST_CASE(what_nodes_said_before_the_last_wait_was_over_does_not_count)
{
    cluster c{3};
    c.was_admitted(0, 5'000);
    c.connect_all();
    c.settle();
    c.now += drain - 1s;
    c.was_admitted(1, wall_clock + 1'000);
    c.restart_empty(2);
    c.settle();
    c.was_admitted(1, wall_clock + 2'000);
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
    BOOST_TEST(c.servers[2].facts.high_water == wall_clock + 2'000);
    BOOST_TEST(c.rules.has_just_recovered().empty());
}

// Servers that have run for long enough have outlived what they granted before their start, as in a founding.
BOOST_AUTO_TEST_CASE(the_wait_counts_from_the_start_of_servers_that_lost_nothing_since)
{
    cluster c{3};
    c.was_admitted(0, 100);
    for (std::size_t i = 1; i < 3; ++i) c.servers[i].kept_since = c.now - drain + 4s;
    c.connect_all();
    c.settle();
    c.now += 3s;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 1u);
    c.now += 1s;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
}

BOOST_AUTO_TEST_CASE(bootstrap_does_not_shorten_the_wait)
{
    cluster c{3, true};
    c.was_admitted(0, 100);
    c.connect_all();
    c.settle();
    BOOST_TEST(c.rules.admitted() == 1u);
}

// An interrupted first start looks the same.
BOOST_AUTO_TEST_CASE(a_founding_that_was_interrupted_is_completed)
{
    cluster c{3};
    c.connect_all();
    c.settle();
    c.now += drain;
    for (bool first = true; first;)
        for (auto const& r : c.rules.requests(c.now)) {
            if (r.what == kind::admit && !std::exchange(first, false)) break;  // and the client ends
            c.answer(r);
        }
    cluster other{3};
    other.servers = c.servers;
    other.now = c.now;
    BOOST_TEST(std::count_if(c.servers.begin(), c.servers.end(), [](auto const& s) { return !s.facts.admitted.empty(); }) == 1);
    other.connect_all();
    other.settle();
    other.now += drain;
    other.settle();
    BOOST_TEST(other.rules.admitted() == 3u);
}

BOOST_AUTO_TEST_CASE(who_lacks_members_or_a_certain_set_or_was_told_to_wait_needs_an_operator)
{
    for (int why = 0; why < 4; ++why) {
        cluster c{3, false, why != 0};
        c.was_admitted(0, 100);
        if (why == 1) c.rules.set_has(3, {}, false);
        if (why == 2) c.rules.set_has(3, {}, true, false);
        if (why == 3) c.rules.set_has(5, {}, true);  // the set shrinks, and two are no majority of five
        c.connect_all();
        c.settle();
        c.now += drain;
        c.settle();
        BOOST_TEST(c.rules.admitted() == 1u);
        for (std::size_t i = 1; i < 3; ++i) BOOST_TEST((c.rules.of(i) == admission_state::needs_operator), why);
    }
}

BOOST_AUTO_TEST_CASE(a_decision_is_near_where_all_have_waited)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.connect_all();
    c.settle();
    BOOST_TEST(!c.rules.is_deciding(1));
    c.now += drain;
    for (int round_trips = 0; c.rules.admitted() < 3; ++round_trips) {
        BOOST_TEST_REQUIRE(round_trips < 5);
        for (auto const& r : c.rules.requests(c.now)) c.answer(r);
        for (std::size_t i = 1; i < 3; ++i) BOOST_TEST((c.rules.is_deciding(i) || c.rules.of(i) == admission_state::admitted));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
