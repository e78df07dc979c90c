#include "unit/quorum/played_cluster.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace redlock::quorum {

BOOST_AUTO_TEST_SUITE(admitting)

BOOST_AUTO_TEST_CASE(a_new_cluster_waits_for_the_longest_ttl_and_begins_with_the_wall_clock)
{
    cluster c{3};
    c.connect_all();
    BOOST_TEST(c.count(c.settle(), kind::mark) == 3u);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST((c.rules.of(i) == admission_state::quarantined));
    BOOST_TEST((c.rules.left(0, c.now) == drain));
    BOOST_TEST((c.rules.next(c.now) <= c.now + drain));

    c.now += drain - 1ns;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    BOOST_TEST((c.rules.next(c.now) == c.now + 1ns));
    c.now += 1ns;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 3u);
    BOOST_TEST(c.rules.admitted() == 3u);
    for (auto const& s : c.servers) BOOST_TEST(s.facts.high_water == wall_clock);
}

BOOST_AUTO_TEST_CASE(a_new_cluster_is_founded_when_the_last_drain_is_over)
{
    cluster c{3};
    c.connect(0);
    c.settle();
    c.now += 10s;
    c.connect(1);
    c.connect(2);
    c.settle();
    c.now += drain - 10s;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    c.now += 10s;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 3u);
    BOOST_TEST(c.rules.admitted() == 3u);
}

// Somebody else founded the cluster while we were waiting, and a node has lost that again.
BOOST_AUTO_TEST_CASE(a_cluster_is_not_founded_on_what_nodes_said_before_the_last_drain)
{
    cluster c{3};
    c.connect_all();
    c.settle();
    c.now += drain - 1s;
    c.restart_empty(0);
    c.settle();
    c.was_admitted(1, 5'000'000);
    c.was_admitted(2, 6'000'000);
    c.now += drain;
    auto const asked = c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
    BOOST_TEST(c.servers[0].facts.high_water == 6'000'000u);
    BOOST_TEST(c.count(asked, kind::admit) == 1u);
}

BOOST_AUTO_TEST_CASE(the_operator_may_say_that_a_cluster_is_fresh)
{
    cluster c{3, true};
    c.connect_all();
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
}

BOOST_AUTO_TEST_CASE(fresh_does_not_count_where_there_is_a_trace_of_an_admission)
{
    cluster c{3, true};
    c.servers[2].facts.admitted = "id0";  // an older life of that server
    c.connect_all();
    c.settle();
    BOOST_TEST(c.rules.admitted() == 0u);
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
}

BOOST_AUTO_TEST_CASE(a_new_cluster_is_not_founded_before_all_nodes_have_said_so)
{
    cluster c{3, true};
    c.servers[2].reachable = false;  // it may be the one that knows
    c.connect_all();
    c.settle();
    c.now += 24h;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 0u);
    BOOST_TEST((c.rules.of(0) == admission_state::catching_up));
}

BOOST_AUTO_TEST_CASE(fresh_does_not_shorten_the_drain_of_a_node_that_lost_its_memory)
{
    cluster c{3, true};
    c.connect_all();
    c.settle();
    c.restart_empty(1);
    c.settle();
    BOOST_TEST((c.rules.of(1) == admission_state::quarantined));
    BOOST_TEST(c.rules.admitted() == 2u);
}

BOOST_AUTO_TEST_CASE(a_node_that_lost_its_memory_gets_the_largest_mark_that_was_read_after_the_drain)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.was_admitted(1, 200);
    c.was_admitted(2, 300);
    c.connect_all();
    BOOST_TEST(c.settle().empty());
    c.restart_empty(2);
    c.settle();
    c.servers[0].facts.high_water = 500;  // meanwhile
    c.now += drain;
    auto const asked = c.settle();
    BOOST_TEST(c.count(asked, kind::inspect) == 4u);  // whether it still waits, two to read, and then the node itself
    BOOST_TEST((c.rules.of(2) == admission_state::admitted));
    BOOST_TEST(c.servers[2].facts.high_water == 500u);
}

BOOST_AUTO_TEST_CASE(of_five_nodes_three_must_be_intact)
{
    cluster c{5, false, false};
    for (std::size_t i = 0; i < 5; ++i) c.was_admitted(i, 100 * i);
    c.connect_all();
    c.restart_empty(3);
    c.restart_empty(4);
    c.settle();
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 5u);

    c.restart_empty(2);
    c.restart_empty(3);
    c.restart_empty(4);
    c.settle();
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 2u);
    for (std::size_t i = 2; i < 5; ++i) BOOST_TEST((c.rules.of(i) == admission_state::needs_operator));
}

BOOST_AUTO_TEST_CASE(a_node_that_cannot_be_reached_is_waited_for_and_not_called_lost)
{
    cluster c{3};
    for (std::size_t i = 0; i < 3; ++i) c.was_admitted(i, 100);
    c.connect_all();
    c.rules.on_gone(0);
    c.restart_empty(1);
    c.settle();
    c.now += drain;
    c.settle();
    BOOST_TEST((c.rules.of(1) == admission_state::catching_up));
    c.connect(0);
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
}

BOOST_AUTO_TEST_CASE(the_drain_is_as_long_as_the_longest_ttl_that_the_others_allow)
{
    cluster c{3};
    c.was_admitted(0, 100, 60s);
    c.was_admitted(1, 100, 30s);
    c.connect_all();
    c.settle();
    c.now += drain;
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::quarantined));
    c.now += 30s + 300ms;
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::admitted));
    BOOST_TEST((c.servers[2].facts.max_ttl == 60s));
}

// Its client, or another one, may have been configured with a longer max_ttl than the one that waits.
BOOST_AUTO_TEST_CASE(where_no_node_is_admitted_their_own_records_say_how_long_a_lease_may_last)
{
    for (std::size_t const nodes : {1u, 2u, 3u}) {
        cluster c{nodes};
        for (std::size_t i = 0; i < nodes; ++i) {
            c.servers[i].facts = {"older", true, "newer", {}, 100, i == 0 ? duration{1h} : duration{30s}};
            c.servers[i].facts.admitted = "id before the restart";
        }
        c.connect_all();
        c.settle();
        c.now += drain;
        BOOST_TEST(c.count(c.settle(), kind::admit) == 0u, nodes);
        BOOST_TEST((c.rules.of(nodes - 1) == admission_state::quarantined));
        BOOST_TEST((c.rules.left(nodes - 1, c.now) == drain_of(1h, 0.01) - drain));
        c.now += drain_of(1h, 0.01) - drain;
        BOOST_TEST(c.count(c.settle(), kind::admit) == nodes);
        BOOST_TEST((c.servers[0].facts.max_ttl == 1h));
    }
}

BOOST_AUTO_TEST_CASE(the_record_of_the_node_that_waits_counts_beside_those_of_others)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.was_admitted(1, 100);
    c.was_admitted(2, 100, 60s);
    c.servers[2].facts.id = "after a restart from its file";
    c.connect_all();
    c.settle();
    c.now += drain;
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::quarantined));
    c.now += 30s + 300ms;
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::admitted));
}

BOOST_AUTO_TEST_CASE(what_a_record_allowed_is_known_after_it_was_lost)
{
    cluster c{1};
    c.was_admitted(0, 100, 60s);
    c.connect_all();
    c.settle();
    c.restart_empty(0);
    c.settle();
    c.now += drain;
    c.settle();
    BOOST_TEST((c.rules.of(0) == admission_state::quarantined));
    c.now += 30s + 300ms;
    c.settle();
    BOOST_TEST((c.rules.of(0) == admission_state::admitted));
}

// Nothing can be read meanwhile that would count, so nobody is asked again and again.
BOOST_AUTO_TEST_CASE(a_longer_ttl_that_is_seen_late_makes_the_wait_longer_and_asks_nobody_meanwhile)
{
    cluster c{3};
    c.was_admitted(0, 100, 60s);
    c.was_admitted(1, 100, 60s);
    c.connect(2);
    c.settle();
    c.now += drain;
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::catching_up));
    c.connect(0);
    c.connect(1);
    auto const asked = c.settle();
    BOOST_TEST(asked.size() <= 1u, "a look at the node that waits");
    BOOST_TEST((c.rules.of(2) == admission_state::quarantined));
    BOOST_TEST((c.rules.left(2, c.now) == 30s + 300ms));
    c.now += 30s + 300ms;
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::admitted));
}

BOOST_AUTO_TEST_CASE(a_ttl_in_a_record_is_a_trace)
{
    cluster c{1, true};
    c.servers[0].facts.max_ttl = 60s;
    c.connect(0);
    c.settle();
    BOOST_TEST((c.rules.of(0) == admission_state::quarantined));
}

BOOST_AUTO_TEST_CASE(another_loss_during_the_drain_begins_it_again)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.was_admitted(1, 100);
    c.connect_all();
    c.settle();
    c.now += drain - 1s;
    c.servers[2].facts.mark.clear();  // FLUSHALL: the id stays, the mark goes
    c.now += 1s;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    BOOST_TEST((c.rules.of(2) == admission_state::quarantined));
    BOOST_TEST((c.rules.left(2, c.now) == drain));
    c.now += drain;
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::admitted));
}

BOOST_AUTO_TEST_CASE(a_loss_right_before_its_admission_begins_it_again)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.was_admitted(1, 100);
    c.connect_all();
    c.settle();
    c.now += drain;
    std::vector<admission_request> admissions;
    for (int turns = 0; turns < 10 && admissions.empty(); ++turns) {
        for (auto const& r : c.rules.requests(c.now)) {
            if (r.what == kind::admit) c.servers[2].facts.mark.clear();
            if (r.what == kind::admit) admissions.push_back(r);
            c.answer(r);
        }
    }
    BOOST_TEST(admissions.size() == 1u);
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::quarantined));
    BOOST_TEST((c.rules.left(2, c.now) == drain));
}

BOOST_AUTO_TEST_CASE(a_node_that_somebody_else_admits_is_noticed_soon)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.was_admitted(1, 100);
    c.connect_all();
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::quarantined));
    c.was_admitted(2, 100);
    c.now = *c.rules.next(c.now);
    BOOST_TEST((c.now <= origin + 100ms));
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::admitted));
    BOOST_TEST(!c.rules.next(c.now).has_value());
}

BOOST_AUTO_TEST_CASE(nodes_that_wait_are_looked_at_less_and_less_often)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.connect_all();
    std::size_t looks = 0;
    for (auto const end = c.now + 30s; c.now < end;) {
        looks += c.count(c.settle(), kind::inspect);
        c.now = *c.rules.next(c.now);
    }
    BOOST_TEST(looks > 2u * 29u);
    BOOST_TEST(looks < 2u * 40u);
}

BOOST_AUTO_TEST_CASE(a_mark_that_is_refused_is_tried_again_at_once_and_then_less_and_less_often)
{
    cluster c{1};
    c.servers[0].refuses = true;
    c.connect_all();
    BOOST_TEST(c.rules.is_deciding(0));
    auto const first = c.settle();
    BOOST_TEST(c.count(first, kind::mark) == 2u);
    BOOST_TEST(c.count(first, kind::inspect) == 1u);  // another client may have marked or admitted it meanwhile
    BOOST_TEST(!c.rules.is_deciding(0), "requests do not wait for a node that goes on refusing");
    std::size_t asked = 0;
    for (auto const end = c.now + 60s; c.now < end;) {
        auto const next = c.rules.next(c.now);
        BOOST_REQUIRE(next.has_value());
        BOOST_REQUIRE((*next > c.now));
        c.now = *next;
        asked += c.settle().size();
    }
    BOOST_TEST(asked > 55u);
    BOOST_TEST(asked < 150u);

    c.servers[0].refuses = false;
    c.now += 2s;
    c.settle();
    c.now += 2s;
    c.settle();
    BOOST_TEST((c.rules.of(0) == admission_state::quarantined));
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 1u);
    BOOST_TEST(!c.rules.next(c.now).has_value());
}

// Without a quarantine, which would stand between the two.
BOOST_AUTO_TEST_CASE(an_admission_that_is_refused_is_tried_less_and_less_often, *boost::unit_test::timeout(60))
{
    cluster c{1, true};
    c.servers[0].refuses_admission = true;
    c.connect_all();
    std::size_t asked = c.settle().size();
    for (auto const end = c.now + 60s; c.now < end;) {
        auto const next = c.rules.next(c.now);
        BOOST_REQUIRE(next.has_value());
        c.now = std::max(*next, c.now + 1ns);
        asked += c.settle().size();
    }
    BOOST_TEST(asked < 250u);
    c.servers[0].refuses_admission = false;
    c.now += 10s;
    c.settle();
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 1u);
}

BOOST_AUTO_TEST_CASE(a_node_that_says_yes_and_votes_no_is_asked_less_and_less_often)
{
    cluster c{3};
    for (std::size_t i = 0; i < 3; ++i) c.was_admitted(i, 100);
    c.connect_all();
    c.settle();
    std::size_t asked = 0;
    for (auto const end = c.now + 60s; c.now < end; c.now += 1ms) {
        c.rules.on_contradiction(1, c.now);
        asked += c.settle().size();
    }
    BOOST_TEST(asked > 55u);
    BOOST_TEST(asked < 100u);
    BOOST_TEST(!c.rules.is_deciding(1), "it is asked for votes meanwhile");
    BOOST_TEST((c.rules.of(1) == admission_state::admitted));
    c.now += 8s;
    c.settle();
    c.rules.on_contradiction(1, c.now);
    BOOST_TEST(c.rules.is_deciding(1));
    BOOST_TEST(c.count(c.settle(), kind::inspect) == 1u, "after a while, at once again");
    BOOST_TEST(!c.rules.next(c.now).has_value());
}

// However often it was read while it was admitted.
BOOST_AUTO_TEST_CASE(a_node_that_is_not_admitted_any_more_is_looked_at_soon)
{
    cluster c{3};
    for (std::size_t i = 0; i < 3; ++i) c.was_admitted(i, 100);
    c.connect_all();
    for (int i = 0; i < 10; ++i) {
        c.rules.on_suspect(2);
        c.settle();
    }
    c.servers[2].facts.admitted.clear();
    c.rules.on_suspect(2);
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::quarantined));
    BOOST_TEST((c.rules.next(c.now) <= c.now + 100ms));
}

BOOST_AUTO_TEST_CASE(what_was_asked_before_the_drain_ended_does_not_count)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.was_admitted(1, 200);
    c.connect_all();
    c.settle();
    c.rules.on_suspect(1);
    auto const asked = c.rules.requests(c.now);
    BOOST_TEST_REQUIRE(asked.size() == 1u);
    auto const old = c.servers[1].facts;
    auto const before = c.now;
    c.servers[1].facts.high_water = 900;  // after it was read
    c.now += drain;
    c.rules.on_facts(1, old, before, c.now);
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::admitted));
    BOOST_TEST(c.servers[2].facts.high_water == 900u);
}

BOOST_AUTO_TEST_CASE(a_node_in_doubt_is_asked_and_meanwhile_undecided)
{
    cluster c{3};
    for (std::size_t i = 0; i < 3; ++i) c.was_admitted(i, 100);
    c.connect_all();
    BOOST_TEST(c.settle().empty());
    BOOST_TEST(!c.rules.is_deciding(1));
    c.rules.on_suspect(1);
    BOOST_TEST(c.rules.is_deciding(1));
    BOOST_TEST(c.count(c.settle(), kind::inspect) == 1u);
    BOOST_TEST(!c.rules.is_deciding(1));
    BOOST_TEST((c.rules.of(1) == admission_state::admitted));
}

BOOST_AUTO_TEST_CASE(a_node_that_answers_with_errors_is_asked_again_later)
{
    cluster c{1};
    c.was_admitted(0, 100);
    c.connect_all();
    c.rules.on_suspect(0);
    BOOST_TEST(c.rules.requests(c.now).size() == 1u);
    c.rules.on_failed(0, c.now);
    BOOST_TEST(c.rules.requests(c.now).empty());
    BOOST_TEST(!c.rules.is_deciding(0));
    BOOST_TEST_REQUIRE(c.rules.next(c.now).has_value());
    BOOST_TEST((*c.rules.next(c.now) > c.now));
    c.now = *c.rules.next(c.now);
    BOOST_TEST(c.count(c.settle(), kind::inspect) == 1u);
    BOOST_TEST((c.rules.of(0) == admission_state::admitted));
}

BOOST_AUTO_TEST_CASE(a_node_that_does_not_say_its_id_waits_for_another_client)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.was_admitted(1, 100);
    c.servers[2].facts.id.clear();
    c.connect_all();
    c.now += 2 * drain;
    auto const asked = c.settle();
    BOOST_TEST(c.count(asked, kind::mark) + c.count(asked, kind::admit) == 0u);
    BOOST_TEST((c.rules.of(2) == admission_state::unidentified));
    c.servers[2].facts.id = c.servers[2].facts.admitted = "somebody's";  // the id in the record that somebody wrote
    c.now = *c.rules.next(c.now);
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::admitted));
}

BOOST_AUTO_TEST_CASE(the_word_that_a_cluster_is_fresh_ends_with_the_first_admission)
{
    cluster c{3, true};
    c.connect_all();
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(c.rules.is_deciding(i));
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
    for (std::size_t i = 0; i < 3; ++i) c.restart_empty(i);
    c.settle();
    BOOST_TEST(c.rules.admitted() == 0u);
    BOOST_TEST((c.rules.left(0, c.now) == drain));
    BOOST_TEST(!c.rules.is_deciding(0));
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
}

BOOST_AUTO_TEST_CASE(a_high_water_mark_is_a_trace)
{
    cluster c{3, true};
    c.servers[1].facts.high_water = 7'000'000;  // its record was deleted
    c.connect_all();
    c.settle();
    BOOST_TEST(c.rules.admitted() == 0u);
    c.now += drain;
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
    for (auto const& s : c.servers) BOOST_TEST(s.facts.high_water == 7'000'000u);
}

BOOST_AUTO_TEST_CASE(the_mark_of_another_client_is_adopted)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.was_admitted(1, 100);
    c.servers[2].facts.mark = "theirs";
    c.connect_all();
    c.settle();
    c.now += drain;
    auto const asked = c.settle();
    auto const admit = std::find_if(asked.begin(), asked.end(), [](auto const& r) { return r.what == kind::admit; });
    BOOST_REQUIRE((admit != asked.end()));
    BOOST_TEST(admit->mark == "theirs");
    BOOST_TEST(c.rules.admitted() == 3u);
}

BOOST_AUTO_TEST_CASE(a_node_that_another_client_has_admitted_is_admitted)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.was_admitted(1, 100);
    c.connect_all();
    auto const asked = c.rules.requests(c.now);
    BOOST_REQUIRE(asked.size() == 1u);
    c.was_admitted(2, 100);
    c.answer(asked[0]);
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
}

BOOST_AUTO_TEST_CASE(a_replica_is_no_node)
{
    cluster c{3};
    c.was_admitted(0, 100);
    c.was_admitted(1, 100);
    c.was_admitted(2, 100);
    c.servers[2].facts.master = false;
    c.connect_all();
    c.settle();
    BOOST_TEST((c.rules.of(2) == admission_state::not_primary));
    BOOST_TEST(c.rules.admitted() == 2u);
}

BOOST_AUTO_TEST_CASE(who_waits_in_vain_is_told_at_once)
{
    cluster c{3, false, false};
    c.was_admitted(0, 100);
    c.connect(0);
    c.connect(1);
    c.settle();
    BOOST_TEST((c.rules.of(1) == admission_state::quarantined), "the third node may remember");
    c.connect(2);
    c.settle();
    BOOST_TEST((c.rules.of(1) == admission_state::needs_operator));
    BOOST_TEST((c.rules.of(2) == admission_state::needs_operator));
    c.rules.on_gone(0);
    BOOST_TEST((c.rules.of(1) == admission_state::quarantined), "nobody is known to remember anything, so the cluster may be a new one");
}

BOOST_AUTO_TEST_CASE(the_stranded_look_again_in_case_somebody_has_admitted_them)
{
    cluster c{3, false, false};
    c.was_admitted(0, 100);
    c.connect_all();
    c.settle();
    c.now += drain;
    c.settle();
    BOOST_TEST((c.rules.of(1) == admission_state::needs_operator));
    c.was_admitted(1, 100);
    c.was_admitted(2, 100);
    BOOST_REQUIRE(c.rules.next(c.now).has_value());
    c.now = *c.rules.next(c.now);
    c.settle();
    BOOST_TEST(c.rules.admitted() == 3u);
}

BOOST_AUTO_TEST_CASE(a_single_node_that_lost_its_memory_begins_again_after_the_drain)
{
    cluster c{1};
    c.was_admitted(0, 5'000'000);
    c.connect_all();
    c.settle();
    c.restart_empty(0);
    c.settle();
    BOOST_TEST((c.rules.of(0) == admission_state::quarantined));
    c.now += drain;
    c.settle();
    BOOST_TEST((c.rules.of(0) == admission_state::admitted));
    BOOST_TEST(c.servers[0].facts.high_water == wall_clock);
}

// The base that a new cluster begins with is for those that were empty then. Who loses its memory later, while one of them still
// cannot be admitted, must be told what the others remember.
BOOST_AUTO_TEST_CASE(who_loses_its_memory_after_the_founding_has_no_part_in_it)
{
    cluster c{3, false, false};
    c.connect_all();
    c.settle();
    c.now += drain;
    std::size_t admissions_of_0 = 0;
    auto const settle = [&] {
        for (auto asked = c.rules.requests(c.now); !asked.empty(); asked = c.rules.requests(c.now))
            for (auto const& r : asked) {
                admissions_of_0 += r.node == 0 && r.what == kind::admit;
                if (r.node != 2 || r.what != kind::admit) c.answer(r);  // that it does not answer
            }
    };
    settle();
    BOOST_TEST(c.rules.admitted() == 2u);
    BOOST_TEST(admissions_of_0 == 1u);

    c.restart_empty(0);
    settle();
    c.now += drain;
    settle();
    BOOST_TEST(admissions_of_0 == 1u);
    BOOST_TEST((c.rules.of(0) == admission_state::needs_operator));
}

// The process that marked it is gone; this one lives for a moment.
BOOST_AUTO_TEST_CASE(a_wait_that_another_process_began_goes_on)
{
    cluster c{3};
    c.was_admitted(0, 5'000);
    c.was_admitted(1, 6'000);
    c.servers[2].facts.mark = "seen";
    c.noted = {{"id1", "seen", c.now - drain + 1s}};
    c.connect_all();
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    BOOST_TEST((c.rules.of(2) == admission_state::quarantined));
    BOOST_TEST((c.rules.left(2, c.now) == 1s));
    BOOST_TEST((c.rules.sighting(2) == mark_sighting{"id1", "seen", c.now - drain + 1s}));

    cluster later{3};
    later.servers = c.servers;
    later.noted = c.noted;
    later.now += 1s;
    later.connect_all();
    BOOST_TEST(later.count(later.settle(), kind::admit) == 1u);
    BOOST_TEST(later.servers[2].facts.high_water == 6'000u);
    BOOST_TEST(!later.rules.sighting(2));
}

BOOST_AUTO_TEST_CASE(only_the_same_mark_at_the_same_server_was_waited_for)
{
    auto const left = [](mark_sighting const& noted) {
        cluster c{3};
        c.was_admitted(0, 5'000);
        c.was_admitted(1, 6'000);
        c.servers[2].facts.mark = "seen";
        c.noted = {noted};
        c.connect_all();
        c.settle();
        return c.rules.left(2, c.now);
    };
    BOOST_TEST((left({"id1", "seen", origin - 10s}) == drain - 10s));
    BOOST_TEST((left({"id2", "seen", origin - 10s}) == drain));
    BOOST_TEST((left({"id1", "else", origin - 10s}) == drain));
    BOOST_TEST((left({"id1", "seen", origin + 10s}) == drain));  // not by this clock
}

BOOST_AUTO_TEST_CASE(of_several_sightings_the_first_counts_and_the_longest_ttl_is_the_nodes)
{
    cluster c{3};
    c.was_admitted(0, 5'000, 60s);
    c.was_admitted(1, 6'000);
    c.servers[2].facts.mark = "seen";
    c.noted = {{"id1", "seen", origin - 10s}, {"id1", "seen", origin - 40s}, {"id1", "seen", origin - 20s}};
    c.connect_all();
    c.settle();
    BOOST_TEST((c.rules.left(2, c.now) == 60s + 600ms + expiry_granularity - 40s));
}

// Who asks once has to wait for the answers, not for the next process.
BOOST_AUTO_TEST_CASE(a_decision_is_near_where_others_have_waited)
{
    for (std::size_t const nodes : {1u, 3u}) {
        cluster c{nodes};
        for (auto& s : c.servers) s.facts.mark = "seen";
        c.noted = {{"id1", "seen", origin - drain}};
        for (std::size_t i = 0; i < nodes; ++i) {
            BOOST_TEST(c.rules.is_deciding(i));
            c.connect(i);
        }
        for (int round_trips = 0; c.rules.admitted() < nodes; ++round_trips) {
            BOOST_TEST_REQUIRE(round_trips < 4);
            for (std::size_t i = 0; i < nodes; ++i) BOOST_TEST((c.rules.is_deciding(i) || c.rules.of(i) == admission_state::admitted));
            for (auto const& r : c.rules.requests(c.now)) c.answer(r);
            c.rules.requests(c.now);
            c.connect_all();
        }
    }
}

BOOST_AUTO_TEST_CASE(nothing_is_near_while_a_wait_or_a_node_is_missing)
{
    cluster c{3};
    for (auto& s : c.servers) s.facts.mark = "seen";
    c.noted = {{"id1", "seen", origin - drain}};
    c.servers[2].facts.mark = "late";
    c.connect_all();
    c.settle();
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(!c.rules.is_deciding(i));

    cluster d{3};
    for (auto& s : d.servers) s.facts.mark = "seen";
    d.noted = c.noted;
    d.rules.on_gone(2);
    d.servers[2].reachable = false;
    d.connect_all();
    d.settle();
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(!d.rules.is_deciding(i));
}

// A list of two of five nodes: both have no data, and the others may have theirs. Once they are all of a set, it begins.
BOOST_AUTO_TEST_CASE(a_short_list_without_data_founds_nothing)
{
    cluster c{2, true};
    c.rules.set_has(5, {}, false);
    c.connect_all();
    c.settle();
    c.now += 40s;
    c.settle();
    BOOST_TEST((c.rules.of(0) != admission_state::admitted));
    BOOST_TEST((c.rules.of(1) != admission_state::admitted));
    cluster whole{2, true};
    whole.connect_all();
    whole.settle();
    BOOST_TEST((whole.rules.of(0) == admission_state::admitted));
}

// N is five until the set of four is closed. Nobody waits for the one that has left, whether it is in the list or not.
BOOST_AUTO_TEST_CASE(members_of_a_set_that_becomes_smaller_begin_anew_without_the_one_that_left)
{
    for (std::size_t const list : {4u, 5u}) {
        cluster c{list};
        c.rules.set_has(5, list == 5 ? node_set::only(4) : node_set{}, true);
        for (std::size_t i = 0; i < 4; ++i) c.connect(i);
        c.settle();
        c.now += drain;
        c.settle();
        for (std::size_t i = 0; i < 4; ++i) BOOST_TEST((c.rules.of(i) == admission_state::admitted));
    }
    cluster one_is_away{4};
    one_is_away.rules.set_has(5, {}, true);
    for (std::size_t i = 0; i < 3; ++i) one_is_away.connect(i);
    one_is_away.settle();
    one_is_away.now += drain;
    one_is_away.settle();
    BOOST_TEST((one_is_away.rules.of(0) == admission_state::catching_up));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
