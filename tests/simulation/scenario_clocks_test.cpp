// What goes wrong with time: clocks that jump, programs and machines that stand still.
#include "process.hpp"
#include "scenario.hpp"

#include <boost/test/unit_test.hpp>

namespace {

using namespace redlock;
using namespace redlock::simulation;

// Client 1 reaches A, B, C; client 2 reaches C, D, E. So C alone decides between them.
struct one_server_in_common : five_servers {
    one_server_in_common()
    {
        one.unplug({D, E});
        two.unplug({A, B});
        advance(1ms);
    }

    // Client 1 holds from now on and does not extend; client 2 tries from there on, every millisecond, until it holds, too.
    struct rivals {
        acquisition* first;
        acquisition* second;
    };
    rivals hold_while_the_clock_steps(duration step, std::chrono::milliseconds stop_margin)
    {
        at(C).memory.expires_early = true;  // the worst that a server does without any step
        auto options = usual;
        options.auto_extend = false;
        options.stop_margin = stop_margin;
        run_to(1s);
        auto& first = one.try_acquire(options);
        run_to(2s);
        BOOST_TEST(keys() == "111..");
        at(C).wall.step(step);
        for (duration t = 8'900ms;; t += 1ms) {
            run_to(t);
            auto& second = two.try_acquire(options);
            run_to(t + 500us);
            if (!second.ec) return {&first, &second};
            BOOST_REQUIRE(second.ec == errc::no_majority);  // C refuses, A and B cannot be asked
            BOOST_REQUIRE(t < 11s);
        }
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(scenario_clocks)

// Kleppmann, "How to do distributed locking", 2016: the first of his two examples. No lock with a time limit can prevent it, and
// this library documents it: that is what fencing tokens are for. The resource itself must refuse the older one.
BOOST_FIXTURE_TEST_CASE(a_clock_that_jumps_past_the_ttl_makes_two_holders, one_server_in_common)
{
    holders_allowed = 2;
    run_to(1s);
    auto& first = one.try_acquire();
    run_to(2s);
    BOOST_TEST(first.valid());
    BOOST_TEST(keys() == "111..");
    auto& lost = one.wait_lost(first);

    at(C).wall.step(9s);
    BOOST_TEST(keys() == "11...");
    auto& second = two.try_acquire();
    run_to(3s);
    BOOST_TEST(keys() == "11222");
    BOOST_TEST(first.valid());
    BOOST_TEST(second.valid());
    BOOST_TEST(max_holders == 2u);

    // Client 1 hears of it from C, when its lease is extended next.
    run_to(5s);
    BOOST_TEST(lost.ec == errc::lease_lost);
    BOOST_TEST((lost.at == 1s + 3s + 2 * one_way));
    BOOST_TEST(!first.valid());
    BOOST_TEST(second.valid());
}

// The same, but client 2 has heard C's time before: it notices the jump with the very answer that would have made it a holder.
BOOST_FIXTURE_TEST_CASE(who_has_heard_the_time_before_is_not_fooled_by_a_jump, one_server_in_common)
{
    run_to(500ms);
    auto& earlier = two.try_acquire();
    run_to(600ms);
    two.release(earlier);
    run_to(1s);
    auto& first = one.try_acquire();
    run_to(2s);
    at(C).wall.step(9s);
    auto& second = two.try_acquire();
    run_to(2s + 100ms);
    BOOST_TEST(second.ec == errc::no_majority);
    BOOST_TEST(first.valid());
    BOOST_TEST(keys() == "11...");
    BOOST_TEST(max_holders == 1u);
    BOOST_TEST(two.counters().clock_steps == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_step_within_the_drift_changes_nothing, one_server_in_common)
{
    auto const [first, second] = hold_while_the_clock_steps(90ms, 0ms);  // 1 % of the ttl
    BOOST_TEST((first->valid_until() == 1s + validity));
    BOOST_TEST((second->at == 1s + 9s - 90ms + 2 * one_way));  // as soon as C has forgotten the key
    BOOST_TEST((second->at > first->valid_until()));
    BOOST_TEST(max_holders == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_step_beyond_the_drift_makes_two_holders_for_so_long, one_server_in_common)
{
    holders_allowed = 2;
    auto const [first, second] = hold_while_the_clock_steps(95ms, 0ms);
    BOOST_TEST((second->at == 1s + 9s - 95ms + 2 * one_way));
    BOOST_TEST((first->valid_until() - second->at == 2'800us));
    BOOST_TEST(max_holders == 2u);
}

// The holder has stopped by then.
BOOST_FIXTURE_TEST_CASE(a_step_within_drift_and_stop_margin_makes_no_two_holders, one_server_in_common)
{
    auto const [first, second] = hold_while_the_clock_steps(980ms, 900ms);
    BOOST_TEST(first->held.lost_error() == errc::lease_lost);
    BOOST_TEST((second->at == 1s + 9s - 980ms + 2 * one_way));
    BOOST_TEST((second->at > 1s + validity - 900ms));
    BOOST_TEST(max_holders == 1u);
}

// Kleppmann's second example: the answers have arrived, and the program that would read them stands still.
BOOST_FIXTURE_TEST_CASE(answers_that_are_read_after_a_pause_are_no_lease, three_servers)
{
    auto& first = one.try_acquire();
    run_to(150us);
    BOOST_TEST(keys() == "111");
    one.pause(20s);
    auto& second = two.acquire();
    run_to(20s);
    BOOST_TEST(keys() == "222");
    BOOST_TEST((second.at > 9s));
    BOOST_TEST(!first.done);

    run_to(21s);
    BOOST_TEST(first.ec == errc::validity_exhausted);
    BOOST_TEST((first.at == 20s + 150us));
    BOOST_TEST(!first.held);
    BOOST_TEST(one.counters().validity_exhausted == 1u);
    BOOST_TEST(keys() == "222");  // what client 1 undid was its own, which is long gone
    BOOST_TEST(second.valid());
    BOOST_TEST(second.held.nodes_held() == 3u);
}

BOOST_FIXTURE_TEST_CASE(who_wakes_from_such_a_pause_asks_again, three_servers)
{
    auto& first = one.acquire();
    run_to(150us);
    one.pause(20s);
    auto& second = two.acquire();
    run_to(25s);
    BOOST_TEST(second.valid());
    BOOST_TEST(!first.done);
    auto& released = two.release(second);
    run_to(26s);
    BOOST_TEST(!released.ec);
    BOOST_TEST(first.valid());
    BOOST_TEST((first.at > 25s));
    BOOST_TEST(first.report.attempts >= 2u);
    BOOST_TEST(value_on(A) != one.prefix + "1");  // another attempt, another value
    BOOST_TEST(keys() == "111");
}

// The same before the requests have left: a pause between two lines of the program is none of the servers' business.
BOOST_FIXTURE_TEST_CASE(a_pause_before_the_answers_were_given_is_no_lease_either, three_servers)
{
    auto& first = one.try_acquire();
    run_to(50us);
    BOOST_TEST(keys() == "...");  // on their way
    one.pause(8'900ms);           // the answers would have to be read 8 s after the start, with 900 ms left
    run_to(8'800ms);
    BOOST_TEST(keys() == "111");
    run_to(9s);
    BOOST_TEST(first.ec == errc::validity_exhausted);
    BOOST_TEST(keys() == "...");
}

// Timers sleep on a clock that stands still while the machine does. The lease itself looks at one that does not.
BOOST_FIXTURE_TEST_CASE(a_machine_that_wakes_finds_its_lease_over_before_any_timer_has_run, three_servers)
{
    auto const transaction = [](lease&) -> asio::awaitable<void> {
        auto work = sleep(1min);
        co_await std::move(work);
    };
    auto& work = one.with_lock(transaction);
    run_to(1s);
    BOOST_REQUIRE(work.held);
    one.suspend(20s);
    auto& second = two.acquire();
    run_to(21s);
    BOOST_TEST(keys() == "222");
    BOOST_TEST(second.valid());

    BOOST_TEST(one.counters().leases_lost == 0u);  // nothing has run yet
    BOOST_REQUIRE(work.held);
    BOOST_TEST(!one.is_valid(*work.held));

    run_to(21s + 200ms);  // the watchdog sleeps no longer than that without a look at the clock
    BOOST_REQUIRE(work.body_over.has_value());
    BOOST_TEST((*work.body_over > 21s));
    BOOST_TEST(work.ec == errc::lease_lost);
    BOOST_TEST((work.at == *work.body_over));
    BOOST_TEST((work.valid_until == validity));  // it was not extended after its end
    BOOST_TEST(one.counters().watchdog_late == 1u);
    BOOST_TEST(one.counters().overruns == 1u);
    BOOST_TEST((one.counters().max_overrun == work.at - validity));
    run_to(60s);
    BOOST_TEST(keys() == "222");
    BOOST_TEST(second.valid());
}

BOOST_AUTO_TEST_SUITE_END()
