// Several who want the same: split votes, late owners, lost updates.
#include "process.hpp"
#include "scenario.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace {

using namespace redlock;
using namespace redlock::simulation;

// Each client is near to some servers, and a millisecond farther from the others.
void keep_away(actor& who, std::initializer_list<server_name> from)
{
    for (auto const s : from) who.to(s).distance = 1ms;
}

// When a client hears from the far servers, and when they hear of its release.
constexpr duration far_answers = 2 * (one_way + 1ms);
constexpr duration far_undone = far_answers + one_way + 1ms;

struct three_clients : scenario {
    explicit three_clients(std::uint64_t seed = 1) : scenario{3, 3, seed}
    {
        keep_away(one, {B, C});
        keep_away(two, {A, C});
        keep_away(three, {A, B});
    }
    actor& three{client(3)};
};

struct four_servers : scenario {
    four_servers() : scenario{4, 2}
    {
        keep_away(one, {C, D});
        keep_away(two, {A, B});
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(scenario_rivals)

BOOST_FIXTURE_TEST_CASE(votes_split_in_three_are_nobodys_and_all_are_undone, three_clients)
{
    std::array const tries{&one.try_acquire(), &two.try_acquire(), &three.try_acquire()};
    run_to(one_way);
    BOOST_TEST(keys() == "123");
    run_to(far_answers);
    for (std::size_t i = 0; i < tries.size(); ++i) {
        BOOST_TEST(tries[i]->ec == errc::split_votes);
        BOOST_TEST((tries[i]->at == far_answers));
        for (std::size_t node = 0; node < 3; ++node)
            BOOST_TEST(tries[i]->report.nodes[node].vote == (node == i ? vote::granted : vote::refused));
    }
    run_to(far_answers + one_way);
    BOOST_TEST(keys() == "...");
    run_to(far_undone);
    BOOST_TEST(keys() == "...");
    BOOST_TEST(max_holders == 0u);
}

BOOST_AUTO_TEST_CASE(random_delays_let_one_win_after_the_other)
{
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        three_clients story{seed};
        std::vector<acquisition*> waiting{&story.one.acquire(), &story.two.acquire(), &story.three.acquire()};
        auto const has_won = [](acquisition const* a) { return a->done; };
        story.run_to(far_answers);
        BOOST_REQUIRE(std::none_of(waiting.begin(), waiting.end(), has_won));
        while (!waiting.empty()) {
            auto const somebody_has_won = [&] { return std::any_of(waiting.begin(), waiting.end(), has_won); };
            BOOST_REQUIRE(story.world.run_until(somebody_has_won, story.world.now() + 1s));
            auto const winner = std::find_if(waiting.begin(), waiting.end(), has_won);
            acquisition& won = **winner;
            BOOST_REQUIRE(won.valid());
            BOOST_REQUIRE(won.report.attempts > 1u);
            BOOST_REQUIRE(won.report.attempts < 40u);
            waiting.erase(winner);
            story.advance(300ms);  // the others keep on trying, and undo what they get
            BOOST_REQUIRE(won.valid());
            BOOST_REQUIRE(std::none_of(waiting.begin(), waiting.end(), has_won));
            won.by.release(won);
        }
        story.advance(10ms);
        BOOST_REQUIRE(story.keys() == "...");
        BOOST_REQUIRE(story.max_holders == 1u);
        story.teardown();
    }
}

// Half of the nodes is no majority.
BOOST_FIXTURE_TEST_CASE(two_of_four_are_not_enough_for_anybody, four_servers)
{
    auto& first = one.try_acquire();
    auto& second = two.try_acquire();
    run_to(1ms);
    BOOST_TEST(keys() == "1122");
    run_to(far_undone);
    BOOST_TEST(first.ec == errc::split_votes);
    BOOST_TEST(second.ec == errc::split_votes);
    BOOST_TEST(keys() == "....");
    BOOST_TEST(max_holders == 0u);
}

BOOST_FIXTURE_TEST_CASE(two_of_three_win_and_the_third_grant_is_undone, three_servers)
{
    keep_away(one, {C});
    keep_away(two, {A, B});
    auto& first = one.try_acquire();
    auto& second = two.try_acquire();
    run_to(2 * one_way);
    BOOST_TEST(first.valid());  // does not wait for C
    BOOST_TEST(keys() == "112");
    run_to(far_answers);
    BOOST_TEST(second.ec == errc::split_votes);  // C has granted it: it cannot know that the other two are of one client
    run_to(far_undone);
    BOOST_TEST(keys() == "11.");
    BOOST_TEST(first.valid());
    BOOST_TEST(first.held.nodes_held() == 2u);
}

BOOST_FIXTURE_TEST_CASE(who_wakes_too_late_releases_nothing_of_the_next_holder, three_servers)
{
    auto& first = one.try_acquire();
    run_to(1s);
    one.pause(20s);
    auto& second = two.acquire();
    run_to(22s);
    BOOST_TEST(keys() == "222");
    auto& released = one.release(first);
    run_to(23s);
    BOOST_TEST(released.ec == errc::lease_lost);
    BOOST_TEST(keys() == "222");
    BOOST_TEST(second.valid());
    run_to(60s);
    BOOST_TEST(keys() == "222");
    BOOST_TEST(second.valid());
    BOOST_TEST(second.held.nodes_held() == 3u);
}

// The release is the first thing that it does: its watchdog has not had its turn yet.
BOOST_FIXTURE_TEST_CASE(a_release_that_runs_before_the_watchdog_is_told_that_the_lease_was_lost, three_servers)
{
    auto& first = one.try_acquire();
    run_to(1s);
    one.pause(20s);
    auto& second = two.acquire();
    run_to(20s);
    auto& released = one.release(first);
    run_to(22s);
    BOOST_TEST((released.at == 21s + 2 * one_way));
    BOOST_TEST(released.ec == errc::lease_lost);  // the servers say so
    BOOST_TEST(keys() == "222");
    BOOST_TEST(second.valid());
}

BOOST_FIXTURE_TEST_CASE(who_wakes_too_late_extends_nothing_of_the_next_holder, three_servers)
{
    auto& first = one.try_acquire();
    run_to(1s);
    one.pause(20s);
    run_to(20s);
    auto& second = two.try_acquire({.ttl = 9s, .auto_extend = false});
    run_to(22s);
    auto& extended = one.extend(first);
    run_to(23s);
    BOOST_TEST(extended.ec == errc::lease_lost);
    for (auto const s : {A, B, C}) BOOST_TEST((*expires_on(s) == 29s + 1ms));
    BOOST_TEST((second.valid_until() == 20s + validity));
}

namespace {

// An account, and what two clients add to it. Each reads it when its transaction begins and writes it at the end. Client 1 needs
// 20 s, and after one of them it loses all its connections; client 2 needs no time at all.
struct account : three_servers {
    int balance{100};
    scope* first{nullptr};
    scope* second{nullptr};

    void tell(bool heeds_cancellation, lock_options const& options = usual)
    {
        auto const slow = [this, heeds_cancellation](lease&) -> asio::awaitable<void> {
            if (!heeds_cancellation) co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
            int const read = balance;
            auto work = sleep(20s);
            co_await std::move(work);
            balance = read + 1;
        };
        auto const quick = [this](lease&) -> asio::awaitable<void> {
            balance += 10;
            co_return;
        };
        first = &one.with_lock(slow, options);
        run_to(1s);
        one.unplug({A, B, C});
        second = &two.with_lock(quick, patient);
        run_to(30s);
        BOOST_REQUIRE(first->done);
        BOOST_REQUIRE(second->done);
        BOOST_TEST(!second->ec);
        BOOST_TEST((*second->entered >= 9s));
        BOOST_TEST((first->valid_until == validity));
        BOOST_TEST(first->ec == errc::lease_lost);  // either way its caller hears of it
    }
};

}  // namespace

// The lost update. The library can only tell: a version that is checked when the transaction commits, or a fencing token, prevents it.
BOOST_FIXTURE_TEST_CASE(a_body_that_ignores_its_cancellation_overwrites_an_update_and_is_counted, account)
{
    tell(false);
    BOOST_TEST(balance == 101);
    BOOST_TEST((*first->body_over == 20s + 2 * one_way));
    BOOST_TEST(one.counters().overruns == 1u);
    BOOST_TEST((one.counters().max_overrun == 20s + 2 * one_way - validity));
}

BOOST_FIXTURE_TEST_CASE(a_body_that_heeds_its_cancellation_is_over_stop_margin_before_its_lease, account)
{
    tell(true);
    BOOST_TEST(balance == 110);
    BOOST_TEST((*first->body_over == validity - 900ms));
    BOOST_TEST((first->at == *first->body_over));
    BOOST_TEST(one.counters().overruns == 0u);
    BOOST_TEST(one.counters().leases_lost == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_body_that_needs_longer_to_stop_asks_for_a_larger_margin, account)
{
    tell(true, {.ttl = 9s, .stop_margin = 3s});
    BOOST_TEST(balance == 110);
    BOOST_TEST((*first->body_over == validity - 3s));
}

BOOST_AUTO_TEST_SUITE_END()
