// What goes wrong with messages: late answers, late requests, requests that a network keeps for a minute and a half.
#include "process.hpp"
#include "scenario.hpp"

#include <boost/test/unit_test.hpp>

namespace {

using namespace redlock;
using namespace redlock::simulation;

constexpr lock_options unhurried{.ttl = 9s, .node_timeout = 9s, .auto_extend = false};
constexpr lock_options without_watchdog{.ttl = 9s, .auto_extend = false};

struct slow_answers : three_servers {
    acquisition& acquire_with_answers_after(duration d, lock_options const& options)
    {
        for (auto const s : {A, B, C}) one.to(s).next_delay_back = d - one_way;
        return one.try_acquire(options);
    }
};

// GitHub, 2012: a switch that was being replaced kept packets for 90 seconds, and delivered them then.
struct held_packets : three_servers {
    // What client 1 sends next to these servers.
    void hold_next_to(std::initializer_list<server_name> servers)
    {
        for (auto const s : servers) one.to(s).next_delay_there = 90s;
    }

    // As no answer came, the client gives up these connections and makes new ones; the servers do not hear of that.
    void give_up(std::initializer_list<server_name> servers, duration delivered)
    {
        for (auto const s : servers) one.gives_up(s, delivered);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(scenario_network)

BOOST_FIXTURE_TEST_CASE(an_answer_that_leaves_enough_of_the_validity_is_a_lease, slow_answers)
{
    auto& first = acquire_with_answers_after(8'007ms, unhurried);
    run_to(8'007ms);
    BOOST_TEST(first.valid());
    BOOST_TEST((first.at == 8'007ms));
    BOOST_TEST((first.valid_until() == validity));  // from before the requests were sent
    auto& lost = one.wait_lost(first);
    run_to(9s);
    BOOST_TEST((lost.at == validity - 900ms));
}

BOOST_FIXTURE_TEST_CASE(an_answer_that_leaves_no_time_to_act_is_none, slow_answers)
{
    auto& first = acquire_with_answers_after(8'009ms, unhurried);
    run_to(8'008ms);
    BOOST_TEST(keys() == "111");
    run_to(8'009ms + one_way);
    BOOST_TEST(first.ec == errc::validity_exhausted);
    BOOST_TEST((first.at == 8'009ms));
    BOOST_TEST(!first.held);
    BOOST_TEST(keys() == "...");  // undone, a second before it would have expired
}

BOOST_FIXTURE_TEST_CASE(an_answer_after_the_ttl_is_none, slow_answers)
{
    auto& first = acquire_with_answers_after(12s, usual);
    run_to(450ms);
    BOOST_TEST(first.ec == errc::no_majority);
    BOOST_TEST((first.at == 450ms));  // the node timeout
    BOOST_TEST(keys() == "111");
    run_to(450ms + one_way);
    BOOST_TEST(keys() == "...");

    auto& second = two.try_acquire();
    run_to(13s);
    BOOST_TEST(one.counters().late_grants_undone == 3u);  // the answers have come
    BOOST_TEST(!first.held);
    BOOST_TEST(one.status().leases == 0u);
    BOOST_TEST(keys() == "222");
    BOOST_TEST(second.valid());
}

BOOST_FIXTURE_TEST_CASE(a_request_that_is_late_by_more_than_the_ttl_is_undone, three_servers)
{
    for (auto const s : {A, B}) one.to(s).next_delay_there = 12s;
    auto& first = one.try_acquire();
    run_to(300us);
    BOOST_TEST(keys() == "..1");
    run_to(1s);
    BOOST_TEST(first.ec == errc::no_majority);
    BOOST_TEST(keys() == "...");

    // The releases are on the same connections behind the requests: nobody can come between them.
    run_to(11s);
    BOOST_TEST(keys() == "...");
    BOOST_TEST(one.status().releases_pending == 1u);
    run_to(12s + 3 * one_way);
    BOOST_TEST(one.counters().late_grants_undone == 2u);
    BOOST_TEST(one.status().releases_pending == 0u);
    BOOST_TEST(keys() == "...");
    BOOST_TEST(!first.held);
}

BOOST_FIXTURE_TEST_CASE(a_late_request_does_not_disturb_the_holder_of_that_time, three_servers)
{
    for (auto const s : {A, B}) one.to(s).next_delay_there = 12s;
    auto& first = one.try_acquire();
    run_to(1s);
    auto& second = two.try_acquire();
    run_to(13s);
    BOOST_TEST(keys() == "222");
    BOOST_TEST(second.valid());
    BOOST_TEST(second.held.nodes_held() == 3u);
    BOOST_TEST(one.counters().late_grants_undone == 0u);
    BOOST_TEST(!first.held);
}

BOOST_FIXTURE_TEST_CASE(an_acquisition_90_seconds_late_is_refused_by_the_holder, held_packets)
{
    hold_next_to({A, B});
    auto& first = one.try_acquire();
    run_to(1s);
    BOOST_TEST(first.ec == errc::no_majority);
    BOOST_TEST(keys() == "...");
    run_to(10s);
    give_up({A, B}, 90s);
    auto& second = two.try_acquire();
    run_to(89s);
    BOOST_TEST(keys() == "222");
    run_to(91s);
    BOOST_TEST(keys() == "222");
    BOOST_TEST(second.valid());
    BOOST_TEST(second.held.nodes_held() == 3u);
}

// Its release was sent long before, on another connection. A majority of the servers has its key then, and it is nobody's lease.
BOOST_FIXTURE_TEST_CASE(an_acquisition_90_seconds_late_is_nobodys_lease_and_ends_with_its_ttl, held_packets)
{
    hold_next_to({A, B});
    auto& first = one.try_acquire();
    run_to(10s);
    give_up({A, B}, 90s);
    run_to(89s);
    BOOST_TEST(keys() == "...");
    run_to(90s + 1ms);
    BOOST_TEST(keys() == "11.");
    BOOST_TEST(!first.held);
    BOOST_TEST(one.status().leases == 0u);
    BOOST_TEST(max_holders == 0u);

    auto& refused = one.try_acquire();  // not even its own client takes it for a lease
    auto& waiting = two.acquire();
    run_to(91s);
    BOOST_TEST((refused.ec == condition::contended));
    run_to(99s);
    BOOST_TEST(keys().starts_with("11"));  // C is in vain client 2's, now and then
    run_to(99s + 200ms);
    BOOST_TEST(waiting.valid());
    BOOST_TEST((waiting.at > 99s));
    BOOST_TEST(keys() == "222");
}

BOOST_FIXTURE_TEST_CASE(a_release_90_seconds_late_deletes_nothing_of_another_holder, held_packets)
{
    auto& first = one.try_acquire();
    run_to(2s);
    hold_next_to({A});
    auto& released = one.release(first);
    run_to(3s);
    BOOST_TEST(!released.ec);  // by B and C
    BOOST_TEST(keys() == "1..");
    run_to(12s);
    BOOST_TEST(keys() == "...");
    give_up({A}, 92s);

    auto& second = two.try_acquire();
    run_to(93s);
    BOOST_TEST(keys() == "222");
    BOOST_TEST(second.valid());
    BOOST_TEST(second.held.nodes_held() == 3u);
}

// Every attempt has a value of its own. Otherwise this release would be as good as a new one.
BOOST_FIXTURE_TEST_CASE(a_release_90_seconds_late_deletes_nothing_of_the_same_client, held_packets)
{
    auto& first = one.try_acquire();
    run_to(2s);
    hold_next_to({A});
    one.release(first);
    run_to(12s);
    give_up({A}, 92s);
    run_to(20s);
    auto& again = one.try_acquire();
    run_to(93s);
    BOOST_TEST(keys() == "111");
    BOOST_TEST(value_on(A) == one.prefix + "2");
    BOOST_TEST(again.valid());
    BOOST_TEST(again.held.nodes_held() == 3u);
}

BOOST_FIXTURE_TEST_CASE(an_extension_90_seconds_late_extends_nothing_of_another_holder, held_packets)
{
    auto& first = one.try_acquire();
    run_to(2'900ms);
    hold_next_to({A});
    run_to(4s);
    BOOST_TEST(one.counters().extensions_renewed == 1u);  // by B and C
    one.release(first);
    run_to(13s);
    BOOST_TEST(keys() == "...");
    give_up({A}, 93s);

    run_to(90s);
    auto& second = two.try_acquire(without_watchdog);
    run_to(92s);
    BOOST_TEST((*expires_on(A) == 99s + 1ms));
    run_to(94s);
    BOOST_TEST((*expires_on(A) == 99s + 1ms));
    BOOST_TEST(keys() == "222");
    run_to(99s + 1ms);
    BOOST_TEST(keys() == "...");
    BOOST_TEST(!second.valid());
}

BOOST_FIXTURE_TEST_CASE(an_extension_90_seconds_late_plants_nothing, held_packets)
{
    auto& first = one.try_acquire(plain);
    run_to(2'900ms);
    hold_next_to({A});
    run_to(4s);
    one.release(first);
    run_to(13s);
    give_up({A}, 93s);
    run_to(94s);
    BOOST_TEST(keys() == "...");
    auto& second = two.try_acquire();
    run_to(95s);
    BOOST_TEST(second.valid());
}

BOOST_FIXTURE_TEST_CASE(with_tokens_it_plants_a_key_that_is_in_nobodys_way_for_long, held_packets)
{
    auto& first = one.try_acquire();
    run_to(2'900ms);
    hold_next_to({A});
    run_to(4s);
    one.release(first);
    run_to(13s);
    give_up({A}, 93s);
    run_to(94s);
    BOOST_TEST(keys() == "1..");
    auto& second = two.try_acquire();
    run_to(95s);
    BOOST_TEST(second.valid());
}

BOOST_FIXTURE_TEST_CASE(extensions_that_reach_a_minority_for_a_while_cost_nothing, three_servers)
{
    auto& first = one.try_acquire();
    run_to(1s);
    auto& lost = one.wait_lost(first);
    run_to(2'900ms);
    at(A).stop();
    at(B).stop();
    run_to(3'449ms);
    BOOST_TEST(one.counters().extensions_unknown == 0u);
    run_to(3'450ms);  // the node timeout
    BOOST_TEST(one.counters().extensions_unknown == 1u);
    BOOST_TEST((first.valid_until() == validity));  // C alone moves nothing
    run_to(6s);
    BOOST_TEST(first.valid());
    BOOST_TEST((first.valid_until() == validity));
    at(A).go_on();
    at(B).go_on();
    for (duration t = 6s; t < 60s; t += 100ms) {
        run_to(t);
        BOOST_REQUIRE(first.valid());
    }
    BOOST_TEST((first.valid_until() > 60s));
    BOOST_TEST(first.held.nodes_held() == 3u);
    BOOST_TEST(!lost.done);
    BOOST_TEST(one.counters().extensions_lost == 0u);
    BOOST_TEST(one.counters().leases_lost == 0u);
    BOOST_TEST(keys() == "111");
}

// Never do two answer the same round, and yet at every moment a majority has promised enough.
BOOST_FIXTURE_TEST_CASE(extensions_that_reach_one_server_after_the_other_add_up, three_servers)
{
    auto& first = one.try_acquire();
    one.unplug({C});
    duration t = 2'500ms;
    for (int round = 0; round < 10; ++round, t += 3s) {
        run_to(t);
        round % 2 == 0 ? one.plug_in({A}) : one.plug_in({B});
        round % 2 == 0 ? one.unplug({B}) : one.unplug({A});
        auto const until = first.valid_until();
        run_to(t + 2'900ms);
        BOOST_REQUIRE(first.valid());
        if (round > 0) BOOST_TEST((first.valid_until() > until));
    }
    BOOST_TEST(one.counters().extensions_renewed == 0u);
    BOOST_TEST(one.counters().extensions_held >= 5u);
    BOOST_TEST(keys() == "11.");
}

BOOST_FIXTURE_TEST_CASE(a_scope_whose_extensions_reach_a_minority_is_cancelled_stop_margin_before_the_end, three_servers)
{
    auto const transaction = [](lease&) -> asio::awaitable<void> {
        auto work = sleep(1min);
        co_await std::move(work);
    };
    auto& work = one.with_lock(transaction);
    run_to(2'900ms);
    at(A).stop();
    at(B).stop();
    run_to(validity - 900ms - 1ns);
    BOOST_TEST(one.counters().extensions_unknown >= 1u, "what two have not answered is not asked of them again");
    BOOST_TEST(!work.body_over);
    run_to(validity - 900ms);
    BOOST_REQUIRE(work.body_over.has_value());
    BOOST_TEST(work.ec == errc::lease_lost);
    BOOST_TEST((work.at == validity - 900ms));
    BOOST_TEST(one.counters().overruns == 0u);

    // What the two were told meanwhile they do now, in its order: the extensions, and the release behind them.
    run_to(8'500ms);
    BOOST_TEST(keys() == "11.");
    at(A).go_on();
    at(B).go_on();
    BOOST_TEST(keys() == "...");
    auto& second = two.try_acquire();
    run_to(9s);
    BOOST_TEST(second.valid());
    BOOST_TEST(keys() == "222");
}

BOOST_AUTO_TEST_SUITE_END()
