// Where no node has data: from when on the quarantine counts.
#include "unit/quorum/played_cluster.hpp"

#include <boost/test/unit_test.hpp>

namespace redlock::quorum {

BOOST_AUTO_TEST_SUITE(first_start)

BOOST_AUTO_TEST_CASE(servers_that_have_run_for_longer_than_the_quarantine_vote_at_once)
{
    for (std::size_t const nodes : {1u, 2u, 3u, 5u}) {
        cluster c{nodes};
        for (auto& s : c.servers) s.kept_since = origin - drain;
        c.connect_all();
        auto const asked = c.settle();
        BOOST_TEST(c.count(asked, kind::admit) == nodes);
        BOOST_TEST(c.rules.admitted() == nodes);
        BOOST_TEST(!c.rules.has_just_bootstrapped());
        for (auto const& s : c.servers) BOOST_TEST(s.facts.high_water == wall_clock);
    }
}

BOOST_AUTO_TEST_CASE(what_is_left_of_the_quarantine_is_waited_for)
{
    cluster c{3};
    for (auto& s : c.servers) s.kept_since = origin - 22s;
    c.connect_all();
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    BOOST_TEST((c.rules.left(1, c.now) == drain - 22s));
    BOOST_TEST((c.rules.drained_at(1) == origin - 22s + drain));
    BOOST_TEST((c.rules.counts_from_start(1) == origin - 22s));
    c.now += drain - 22s - 1ns;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    BOOST_TEST((c.rules.next(c.now) == c.now + 1ns));
    c.now += 1ns;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 3u);
}

BOOST_AUTO_TEST_CASE(the_server_that_started_last_decides)
{
    cluster c{3};
    for (auto& s : c.servers) s.kept_since = origin - 1h;
    c.servers[2].kept_since = origin - 1s;
    c.connect_all();
    c.settle();
    c.now += drain - 1s - 1ns;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    c.now += 1ns;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 3u);
}

BOOST_AUTO_TEST_CASE(a_server_that_does_not_show_it_is_waited_for_since_its_mark)
{
    cluster c{2};
    c.servers[0].kept_since = origin - 1h;
    c.connect_all();
    c.settle();
    BOOST_TEST(!c.rules.counts_from_start(1));
    c.now += drain - 1ns;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    c.now += 1ns;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 2u);
}

BOOST_AUTO_TEST_CASE(what_a_server_said_before_it_had_the_mark_does_not_count)
{
    cluster c{1};
    c.servers[0].kept_since = origin - 1h;
    c.connect_all();
    c.servers[0].kept_since.reset();  // FLUSHALL, right before the mark
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    c.now += drain - 1ns;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
}

BOOST_AUTO_TEST_CASE(a_loss_after_it_was_shown_begins_the_quarantine_anew)
{
    cluster c{1};
    c.servers[0].kept_since = origin - 29s;
    c.connect_all();
    c.settle();
    c.servers[0].facts.mark.clear();  // FLUSHALL
    c.servers[0].kept_since.reset();
    c.now += 2s;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    BOOST_TEST((c.rules.of(0) == admission_state::quarantined));
    BOOST_TEST((c.rules.left(0, c.now) == drain));
}

BOOST_AUTO_TEST_CASE(what_was_shown_with_the_mark_stays_true)
{
    cluster c{1};
    c.servers[0].kept_since = origin - 29s;
    c.connect_all();
    c.settle();
    c.servers[0].kept_since.reset();  // CONFIG RESETSTAT
    c.now += 2s;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 1u);
}

BOOST_AUTO_TEST_CASE(a_record_that_allows_a_longer_ttl_makes_the_quarantine_longer)
{
    cluster c{3};
    for (auto& s : c.servers) s.kept_since = origin - 10min;
    c.servers[1].facts.admitted = "former";
    c.servers[1].facts.high_water = 7;
    c.servers[1].facts.max_ttl = 1h;
    c.connect_all();
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    c.now += 51min;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 3u);
}

BOOST_AUTO_TEST_CASE(a_node_that_joins_others_waits_since_its_mark)
{
    cluster c{3};
    c.was_admitted(0, 10);
    c.was_admitted(1, 12);
    c.servers[2].kept_since = origin - 1h;
    c.connect_all();
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    BOOST_TEST((c.rules.left(2, c.now) == drain));
    BOOST_TEST(!c.rules.counts_from_start(2));
    c.now += drain;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 1u);
    BOOST_TEST(c.servers[2].facts.high_water == 12u);
}

BOOST_AUTO_TEST_CASE(nothing_is_founded_before_all_have_said_so_after_the_last_mark)
{
    cluster c{3};
    for (auto& s : c.servers) s.kept_since = origin - 1h;
    c.connect(0);
    c.connect(1);
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    // Another client has founded the set meanwhile.
    for (std::size_t const i : {0u, 1u}) {
        c.servers[i].facts.mark.clear();
        c.was_admitted(i, 2 * wall_clock);
    }
    c.now += 1ms;
    c.connect(2);
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    BOOST_TEST(c.rules.admitted() == 2u);
    c.now += drain;
    BOOST_TEST(c.count(c.settle(), kind::admit) == 1u);
    BOOST_TEST(c.servers[2].facts.high_water == 2 * wall_clock);
}

BOOST_AUTO_TEST_CASE(a_lock_waits_for_the_answers_where_no_quarantine_is_left)
{
    cluster c{3};
    for (auto& s : c.servers) s.kept_since = origin - 1h;
    c.connect_all();
    for (auto const& r : c.rules.requests(c.now)) {
        c.answer(r);
        BOOST_TEST(c.rules.is_deciding(r.node));
    }
    c.rules.on_gone(2);
    c.settle();
    BOOST_TEST(!c.rules.is_deciding(0));
}

BOOST_AUTO_TEST_CASE(nobody_is_told_how_long_it_takes_before_the_servers_have_said_for_how_long_they_have_run)
{
    cluster c{2};
    for (auto& s : c.servers) s.kept_since = origin - 12s;
    c.connect_all();
    for (auto const& r : c.rules.requests(c.now)) c.answer(r);
    BOOST_TEST((c.rules.of(0) == admission_state::quarantined));
    BOOST_TEST(c.rules.is_deciding(0));
    c.settle();
    BOOST_TEST(!c.rules.is_deciding(0));
    BOOST_TEST((c.rules.left(0, c.now) == drain - 12s));
}

BOOST_AUTO_TEST_CASE(it_can_be_switched_off)
{
    cluster c{1};
    c.rules = admission{1, {30s, 0.01, false, [] { return std::string{"m"}; }, [] { return wall_clock; }, {}, false}};
    c.servers[0].kept_since = origin - 1h;
    c.connect_all();
    BOOST_TEST(c.count(c.settle(), kind::admit) == 0u);
    BOOST_TEST((c.rules.left(0, c.now) == drain));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
