#include "quorum/waiting/wait_schedule.hpp"

#include <boost/test/unit_test.hpp>

namespace redlock::quorum {

using namespace std::chrono_literals;

namespace {

time_point at(duration d) { return time_point{1h} + d; }

// Somebody holds the lock on all nodes, and they have said so.
quorum::wait_schedule after_refusal(std::size_t nodes, duration head_start = {}, bool told = true)
{
    quorum::wait_schedule p{nodes};
    p.begin(at(0ms));
    p.attempting();
    p.probing(at(5s), at(40ms));
    p.failed(at(1ms), at(20ms), head_start);
    for (std::size_t node = 0; node < nodes; ++node) p.on_probe(node, at(2ms), at(10s), told);
    return p;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(waiting)

BOOST_AUTO_TEST_CASE(who_knows_nothing_asks)
{
    quorum::wait_schedule p{3};
    p.begin(at(7ms));
    BOOST_TEST((p.due() == at(7ms)));
    BOOST_TEST((p.step(at(7ms)) == next_step::attempt));
}

BOOST_AUTO_TEST_CASE(until_the_nodes_have_said_what_they_know_a_random_delay_counts)
{
    quorum::wait_schedule p{3};
    p.begin(at(0ms));
    p.attempting();
    p.failed(at(1ms), at(20ms), {});
    BOOST_TEST((p.due() == at(20ms)));
    p.on_probe(0, at(2ms), at(10s), true);
    BOOST_TEST((p.due() == at(20ms)), "one of three is no majority");
    p.probing(at(5s), at(40ms));
    p.on_probe(1, at(2ms), at(10s), true);
    BOOST_TEST((p.due() == at(5s)));
}

BOOST_AUTO_TEST_CASE(what_the_nodes_say_may_come_before_the_attempt_is_decided)
{
    quorum::wait_schedule p{3};
    p.begin(at(0ms));
    p.attempting();
    p.on_probe(0, at(1ms), at(10s), true);
    p.on_probe(1, at(1ms), at(10s), true);
    p.probing(at(5s), at(40ms));
    p.failed(at(1ms), at(20ms), {});
    BOOST_TEST((p.due() == at(5s)));
    BOOST_TEST((p.step(at(5s)) == next_step::probe));
}

BOOST_AUTO_TEST_CASE(a_majority_of_changes_is_a_race)
{
    auto p = after_refusal(3);
    p.on_changed(0, at(1s));
    BOOST_TEST((p.due() == at(5s)));
    p.on_changed(2, at(1001ms));
    BOOST_TEST((p.due() == at(1001ms)));
    BOOST_TEST((p.step(at(1001ms)) == next_step::race));
}

BOOST_AUTO_TEST_CASE(a_race_leaves_the_others_their_head_start)
{
    auto p = after_refusal(3, 3ms);
    p.on_changed(0, at(1s));
    p.on_changed(2, at(1s));
    BOOST_TEST((p.due() == at(1003ms)));
    BOOST_TEST((p.step(at(1003ms)) == next_step::race));
}

BOOST_AUTO_TEST_CASE(when_enough_keys_have_expired_is_a_race_too)
{
    quorum::wait_schedule p{5};
    p.begin(at(0ms));
    p.attempting();
    p.probing(at(50s), at(50s));
    p.failed(at(1ms), at(20ms), {});
    for (std::size_t node = 0; node < 4; ++node) p.on_probe(node, at(2ms), at(3s + 1s * static_cast<int>(node)), true);
    BOOST_TEST((p.due() == at(5s)), "the third of five");
    BOOST_TEST((p.step(at(5s)) == next_step::race));
    BOOST_TEST((p.step(at(4s)) == next_step::probe));
}

BOOST_AUTO_TEST_CASE(free_keys_after_a_lost_attempt_are_a_split_vote_and_need_the_random_delay)
{
    quorum::wait_schedule p{3};
    p.begin(at(0ms));
    p.attempting();
    p.probing(at(5s), at(40ms));
    p.failed(at(1ms), at(20ms), {});
    for (std::size_t node = 0; node < 3; ++node) p.on_probe(node, at(2ms), std::nullopt, true);
    BOOST_TEST((p.due() == at(20ms)));
    BOOST_TEST((p.step(at(20ms)) == next_step::attempt));
}

BOOST_AUTO_TEST_CASE(nodes_that_tell_nothing_are_asked_more_often)
{
    auto p = after_refusal(3, {}, false);
    BOOST_TEST(!p.is_told());
    BOOST_TEST((p.due() == at(40ms)));
    BOOST_TEST((p.step(at(40ms)) == next_step::probe));
}

BOOST_AUTO_TEST_CASE(a_key_that_never_goes_is_waited_for_where_nodes_tell_of_changes)
{
    constexpr auto never = time_point::max();
    quorum::wait_schedule p{3};
    p.begin(at(0ms));
    p.attempting();
    p.probing(at(5s), at(40ms));
    p.failed(at(1ms), at(20ms), 3ms);
    p.on_probe(0, at(2ms), never, true);
    p.on_probe(1, at(2ms), never, true);
    BOOST_TEST((p.due() == at(5s)));
    BOOST_TEST((p.step(at(5s)) == next_step::probe));
    p.on_changed(0, at(3s));
    p.on_changed(1, at(3s));
    BOOST_TEST((p.due() == at(3s + 3ms)));
}

BOOST_AUTO_TEST_CASE(a_node_that_falls_silent_tells_nothing)
{
    auto p = after_refusal(3);
    p.on_silence(0);
    BOOST_TEST(p.is_told());
    p.on_silence(1);
    BOOST_TEST(!p.is_told());
    BOOST_TEST((p.due() == at(40ms)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
