// What the first of those who wait for a lock does next.
#include "quorum/waiting/contention.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace redlock::quorum {

using namespace std::chrono_literals;

namespace {

constexpr duration lock_ttl = 10s;
constexpr duration between_polls = 5s;
constexpr duration one_slot = 2ms;
constexpr fairness_limits turn_limits{64, 100ms};
constexpr time_point first_moment{1h};

time_point moment(duration d) { return first_moment + d; }

// Three nodes, on which somebody else has the lock.
struct three_nodes {
    contention c{3};

    wait_decision next(time_point now) const { return c.next(now, lock_ttl); }

    bool lose(time_point now, token_number counter = 0, node_set granted = {}, double back_off = 0)
    {
        return c.failed({lock_outlook::held, true, counter, granted}, now, {one_slot, false, 20ms, 0.0, back_off}, between_polls, true);
    }
    contention::learned answer(contention::probe_stamp const& asked, std::size_t node, time_point now, std::optional<time_point> ends,
                               bool our_own = false)
    {
        return c.answered(asked, node, {false, true, ends}, our_own, now);
    }
    void all_answer(contention::probe_stamp const& asked, time_point now, std::optional<time_point> ends)
    {
        for (std::size_t node = 0; node < 3; ++node) answer(asked, node, now, ends);
    }

    // An attempt, a refusal, and a probe that says when the lock ends.
    void begin_to_wait(time_point ends, token_number counter = 0)
    {
        c.begin(false);
        c.attempting(wait_move::attempt, moment(0ms));
        lose(moment(1ms), counter);
        all_answer(c.probed(), moment(2ms), ends);
    }
};

bool makes(wait_decision const& d, wait_move what) { return d.what == what; }

bool waits_until(wait_decision const& d, time_point when) { return d.what == wait_move::wait && d.at == when; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(contending, three_nodes)

BOOST_AUTO_TEST_CASE(who_knows_nothing_makes_an_attempt)
{
    c.begin(false);
    BOOST_TEST(makes(next(moment(0ms)), wait_move::attempt));
    BOOST_TEST((c.outlook() == lock_outlook::unknown));
    BOOST_TEST(!c.attempting(wait_move::attempt, moment(0ms)), "nobody was refused yet, so no probe goes along");
}

BOOST_AUTO_TEST_CASE(the_first_refusal_asks_for_a_probe)
{
    c.begin(false);
    BOOST_TEST(lose(moment(1ms)));
    BOOST_TEST(!lose(moment(21ms)), "once a wait");
    BOOST_TEST((c.outlook() == lock_outlook::held));
    BOOST_TEST(c.attempting(wait_move::attempt, moment(41ms)), "later attempts take the question along");
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_run_sends_no_probe)
{
    c.begin(false);
    BOOST_TEST(!c.failed({lock_outlook::no_majority, false, 0, {}}, moment(1ms), {one_slot, false, 20ms, 0.0, 0.0}, between_polls, false));
    BOOST_TEST(waits_until(next(moment(1ms)), moment(21ms)));
}

// Nodes may tell of free keys and have no votes, as after a loss of data.
BOOST_AUTO_TEST_CASE(free_keys_are_no_votes)
{
    contention five{5};
    five.begin(false);
    five.attempting(wait_move::attempt, moment(0ms));
    BOOST_TEST(five.failed({lock_outlook::no_majority, false, 0, {}}, moment(1ms), {one_slot, false, 20ms, 0.0, 0.0}, between_polls, true));
    auto const asked = five.probed();
    for (std::size_t const node : {std::size_t{1}, std::size_t{3}}) five.answered(asked, node, {false, true, {}}, false, moment(2ms));
    five.answered(asked, 4, {false, true, moment(10s)}, false, moment(2ms));
    five.answered(asked, 0, {false, true, {}}, false, moment(2ms));
    auto const next = five.next(moment(2ms), 30s);
    BOOST_TEST((next.what == wait_move::wait));
    BOOST_TEST((next.at == moment(21ms)));
    BOOST_TEST((five.next(moment(21ms), 30s).what == wait_move::attempt), "not a race, after which delays would begin anew");

    five.attempting(wait_move::attempt, moment(21ms));
    five.failed({lock_outlook::held, true, 7, {}}, moment(22ms), {one_slot, false, 20ms, 0.0, 0.0}, between_polls, true);
    auto const asked_again = five.probed();
    for (std::size_t node = 0; node < 5; ++node) five.answered(asked_again, node, {false, true, moment(10s)}, false, moment(23ms));
    for (std::size_t node = 0; node < 5; ++node) five.changed(node, moment(24ms));
    BOOST_TEST((five.next(moment(24ms), 30s).what == wait_move::race));
}

BOOST_AUTO_TEST_CASE(who_found_too_few_votes_also_waits_for_the_keys)
{
    c.begin(false);
    c.attempting(wait_move::attempt, moment(0ms));
    c.failed({lock_outlook::no_majority, true, 0, {}}, moment(1ms), {one_slot, false, 20ms, 0.0, 0.0}, between_polls, true);
    auto const asked = c.probed();
    for (std::size_t node = 0; node < 3; ++node) c.answered(asked, node, {false, true, moment(10s)}, false, moment(2ms));
    BOOST_TEST((c.next(moment(30ms), 30s).what == wait_move::wait));
}

BOOST_AUTO_TEST_CASE(it_polls_while_nodes_tell_of_changes)
{
    begin_to_wait(moment(1min));
    BOOST_TEST(waits_until(next(moment(2ms)), moment(1ms) + between_polls));
    BOOST_TEST(makes(next(moment(1ms) + between_polls), wait_move::poll));
    c.probing(wait_move::poll, moment(6s), between_polls, 20ms);
    BOOST_TEST(waits_until(next(moment(6s)), moment(6s) + between_polls));
}

BOOST_AUTO_TEST_CASE(it_races_when_a_majority_has_changed)
{
    begin_to_wait(moment(1min));
    c.changed(0, moment(1s));
    BOOST_TEST(makes(next(moment(1s)), wait_move::wait));
    c.changed(2, moment(1s));
    BOOST_TEST(makes(next(moment(1s)), wait_move::race));
}

BOOST_AUTO_TEST_CASE(it_races_when_the_keys_expire)
{
    begin_to_wait(moment(3s));
    BOOST_TEST(waits_until(next(moment(2ms)), moment(3s) + expiry_granularity));
    BOOST_TEST(makes(next(moment(3s) + expiry_granularity), wait_move::race));
}

BOOST_AUTO_TEST_CASE(silent_nodes_count_for_nothing)
{
    begin_to_wait(moment(1min));
    c.changed(0, moment(1s));
    c.changed(1, moment(1s));
    c.silent(1);
    BOOST_TEST(makes(next(moment(1s)), wait_move::wait));
}

// A race was lost to a holder whose counter was seen before: it extended, when 7 s were left. When keys change with as much left again, the nodes
// are asked first.
BOOST_AUTO_TEST_CASE(what_looks_like_an_extension_is_probed)
{
    begin_to_wait(moment(9s), 77);
    auto const extended = [&](time_point now) {
        for (std::size_t node = 0; node < 2; ++node) c.changed(node, now);
    };
    extended(moment(2s));
    BOOST_REQUIRE(makes(next(moment(2s)), wait_move::race));
    c.attempting(wait_move::race, moment(2s));
    lose(moment(2s), 77);
    all_answer(c.probed(), moment(2s), moment(12s));
    extended(moment(5s));
    BOOST_TEST(makes(next(moment(5s)), wait_move::probe), "7 s are left again");
    c.probing(wait_move::probe, moment(5s), between_polls, 20ms);
    BOOST_TEST(makes(next(moment(5s)), wait_move::wait));
    all_answer(c.probed(), moment(5s), std::nullopt);
    BOOST_TEST(makes(next(moment(5s)), wait_move::race), "it was a release after all");
}

BOOST_AUTO_TEST_CASE(a_key_of_its_own_attempt_counts_as_free)
{
    c.begin(false);
    c.attempting(wait_move::attempt, moment(0ms));
    lose(moment(1ms));
    auto const asked = c.probed();
    for (std::size_t node = 0; node < 2; ++node) answer(asked, node, moment(2ms), moment(10s), true);
    answer(asked, 2, moment(2ms), moment(10s));
    BOOST_TEST(!waits_until(next(moment(2ms)), moment(1ms) + between_polls), "two of three keys are about to be rolled back");
    BOOST_TEST(makes(next(moment(21ms)), wait_move::attempt), "the random delay decides");
}

BOOST_AUTO_TEST_CASE(an_answer_from_before_its_own_release_is_outdated)
{
    c.begin(false);
    c.attempting(wait_move::attempt, moment(0ms));
    lose(moment(1ms));
    auto const asked = c.probed();
    for (std::size_t node = 0; node < 3; ++node) c.freed_by_us(node, moment(2ms));
    all_answer(asked, moment(3ms), moment(10s));
    BOOST_TEST(waits_until(next(moment(3ms)), moment(21ms)));
    BOOST_TEST(makes(next(moment(21ms)), wait_move::attempt), "not polled after 5 s as if somebody held it");
}

BOOST_AUTO_TEST_CASE(an_answer_from_an_earlier_wait_is_dropped)
{
    begin_to_wait(moment(1min));
    auto const asked = c.probed();
    c.won(moment(1s), one_slot);
    c.released(moment(2s), turn_limits, one_slot);
    c.vacated();
    c.begin(false);
    c.attempting(wait_move::attempt, moment(3s));
    lose(moment(3s));
    for (std::size_t node = 0; node < 3; ++node) BOOST_TEST((answer(asked, node, moment(3s), moment(1h)) == contention::learned::outdated));
    BOOST_TEST(waits_until(next(moment(3s)), moment(3s) + 20ms));
}

BOOST_AUTO_TEST_CASE(who_comes_when_all_have_given_up_makes_an_attempt)
{
    begin_to_wait(moment(1min));
    c.begin(false);
    BOOST_TEST(makes(next(moment(3s)), wait_move::attempt));
    BOOST_TEST((c.outlook() == lock_outlook::unknown));
}

BOOST_AUTO_TEST_CASE(a_majority_of_answers_says_that_it_is_held)
{
    c.begin(false);
    lose(moment(1ms));
    auto const asked = c.probed();
    BOOST_TEST((answer(asked, 0, moment(2ms), moment(10s)) == contention::learned::nothing));
    BOOST_TEST((answer(asked, 1, moment(2ms), moment(10s)) == contention::learned::held));
    BOOST_TEST((c.outlook() == lock_outlook::held));
}

BOOST_AUTO_TEST_CASE(a_majority_of_failures_says_that_nobody_can_know)
{
    begin_to_wait(moment(1min));
    auto const asked = c.probed();
    BOOST_TEST((c.answered(asked, 0, {true, false, {}}, false, moment(5s)) == contention::learned::nothing));
    BOOST_TEST((c.answered(asked, 2, {true, false, {}}, false, moment(5s)) == contention::learned::no_majority));
    BOOST_TEST((c.outlook() == lock_outlook::no_majority));
    BOOST_TEST((c.silent_nodes().has(0) && !c.silent_nodes().has(1) && c.silent_nodes().has(2)));
}

// Whichever node it is; and of a set that has become smaller, the last may be one of two members.
BOOST_AUTO_TEST_CASE(what_it_was_granted_and_rolls_back_is_free)
{
    for (std::size_t granter = 0; granter < 3; ++granter) {
        c = contention{granter == 2 ? electorate{3, 2, 2} : electorate{3}};
        c.begin(false);
        c.attempting(wait_move::attempt, moment(0ms));
        lose(moment(1ms), 0, node_set::only(granter));
        auto const asked = c.probed();
        for (std::size_t const other : {(granter + 1) % 3, (granter + 2) % 3}) answer(asked, other, moment(2ms), moment(10s));
        c.changed((granter + 1) % 3, moment(1s));
        BOOST_TEST(makes(next(moment(1s)), wait_move::race), "node " << granter << " and one that has changed are a majority");
    }
}

BOOST_AUTO_TEST_CASE(under_high_contention_it_backs_off_for_the_poll_interval_at_most)
{
    begin_to_wait(moment(1min));
    time_point now = moment(1s);
    for (int lost = 0; lost < 24; ++lost, now += 100ms) {
        BOOST_TEST_CONTEXT("race " << lost)
        {
            c.changed(0, now);
            c.changed(1, now);
            BOOST_REQUIRE(makes(next(now + 1s), wait_move::race));
            c.attempting(wait_move::race, now);
            lose(now, 0, {}, 1.0);
            all_answer(c.probed(), now, now + 1min);
        }
    }
    now -= 100ms;
    auto const d = next(now);
    BOOST_TEST((d.what == wait_move::wait && d.at > now && d.at < now + between_polls));
    c.changed(0, now);
    c.changed(1, now);
    BOOST_TEST((next(now).at == d.at), "changes do not wake it");
    BOOST_TEST(makes(next(d.at), wait_move::poll));
}

BOOST_AUTO_TEST_CASE(after_its_turn_it_stays_out_of_the_race)
{
    c.won(moment(0ms), one_slot);
    c.released(moment(1s), turn_limits, one_slot);
    c.vacated();
    c.begin(false);
    auto const d = next(moment(1s));
    BOOST_TEST((d.what == wait_move::wait && d.at > moment(1s)), "it had the lock for longer than max_local_hold");
    BOOST_TEST(makes(next(d.at), wait_move::attempt));
}

BOOST_AUTO_TEST_CASE(what_follows_from_the_lease_is_no_news)
{
    c.won(moment(0ms), one_slot);
    BOOST_TEST(!c.has_news_beside(moment(0ms), one_slot));
    c.handed_over();
    BOOST_TEST(c.has_news_beside(moment(0ms), one_slot));

    three_nodes other;
    other.lose(moment(0ms), 5);
    other.c.won(moment(1ms), one_slot);
    BOOST_TEST(other.c.has_news_beside(moment(1ms), one_slot), "a counter was seen");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
