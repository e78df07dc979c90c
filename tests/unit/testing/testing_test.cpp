// What redlock/testing.hpp promises to tests of users: virtual time, nodes that fail, others who hold locks, leases that are lost, runs that
// can be repeated.
#include "support/printing.hpp"

#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using testing::simulation;
using vclock = testing::clock;

struct service {
    explicit service(testing::simulation_options const& options = {}) : sim{options} {}

    error_code try_acquire(redlock::client& by, lease& into, lock_options const& options = {})
    {
        auto story = [&]() -> asio::awaitable<error_code> {
            redlock::lock const lock{by, "resource", options};
            auto trying = lock.try_acquire(asio::as_tuple(asio::use_awaitable));
            auto [ec, held] = co_await std::move(trying);
            into = std::move(held);
            co_return ec;
        };
        return sim.run(story());
    }
    error_code acquire(redlock::client& by, lease& into, lock_options const& options = {})
    {
        auto story = [&]() -> asio::awaitable<error_code> {
            redlock::lock const lock{by, "resource", options};
            auto acquiring = lock.acquire(asio::as_tuple(asio::use_awaitable));
            auto [ec, held] = co_await std::move(acquiring);
            into = std::move(held);
            co_return ec;
        };
        return sim.run(story());
    }
    void release(lease& held)
    {
        auto story = [&]() -> asio::awaitable<void> {
            auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
            co_await std::move(releasing);
        };
        sim.run(story());
    }

    // What a scope that works for so long ends with; no error when it returned.
    asio::awaitable<error_code> scope(redlock::client& by, vclock::duration work, lock_options options = {})
    {
        auto body = [this, work](lease&) -> asio::awaitable<void> {
            began = vclock::now();
            auto sleeping = testing::sleep(work);
            co_await std::move(sleeping);
        };
        error_code result;
        try {
            auto locked = with_lock(redlock::lock{by, "resource", options}, body);
            co_await std::move(locked);
        } catch (system_error const& e) {
            result = e.code();
        }
        ended = vclock::now();
        co_return result;
    }

    // In the background: see `codes`.
    void start_scope(redlock::client& by, vclock::duration work, lock_options const& options = {})
    {
        asio::co_spawn(sim.context(), scope(by, work, options), [this](std::exception_ptr failure, error_code ec) {
            if (failure) std::rethrow_exception(failure);
            codes.push_back(ec);
        });
    }

    simulation sim;
    vclock::time_point began{};
    vclock::time_point ended{};
    std::vector<error_code> codes;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(simulated_nodes)

BOOST_FIXTURE_TEST_CASE(an_hour_of_a_lease_takes_no_time, service)
{
    auto const real = std::chrono::steady_clock::now();
    lease held;
    BOOST_TEST(!acquire(sim.client(), held, {.ttl = 9s}));
    sim.run_for(1h);
    BOOST_TEST(held.valid());
    auto const extensions = sim.client().status().counters.extensions_renewed;
    BOOST_TEST(extensions >= 1'199u);  // every ttl/3
    BOOST_TEST(extensions <= 1'201u);
    BOOST_TEST(sim.leases_lost() == 0u);
    BOOST_TEST((std::chrono::steady_clock::now() - real < 1min));
}

BOOST_FIXTURE_TEST_CASE(time_stands_still_but_in_runs, service)
{
    auto const before = vclock::now();
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));
    BOOST_TEST((vclock::now() - before < 1ms));  // round trips
    auto const acquired = vclock::now();
    BOOST_TEST((held.valid_until() > acquired + 9s));
    BOOST_TEST((held.valid_until() < acquired + 10s));
    sim.run_for(3h);
    BOOST_TEST((vclock::now() == acquired + 3h));
}

BOOST_FIXTURE_TEST_CASE(without_servers_a_lock_works_as_it_does, service)
{
    BOOST_TEST(!sim.holder("resource"));
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));
    sim.run_for(1s);
    auto const now = sim.holder("resource");
    BOOST_REQUIRE(now.has_value());
    BOOST_TEST(now->who == "client");
    BOOST_TEST(now->nodes == 3u);
    BOOST_TEST(now->token == held.token());
    BOOST_TEST(held.token() > 0u);
    BOOST_TEST((now->expires_in > 8s && now->expires_in < 10s));
    release(held);
    sim.run_for(1s);
    BOOST_TEST(!sim.holder("resource"));
    BOOST_TEST(sim.leases_lost() == 0u);
}

BOOST_FIXTURE_TEST_CASE(two_instances_of_a_service_exclude_each_other, service)
{
    redlock::client other = sim.make_client("other");
    lease held;
    lease theirs;
    BOOST_TEST(!acquire(sim.client(), held));
    BOOST_TEST(try_acquire(other, theirs) == errc::contended);
    auto const first = held.token();
    auto const at = vclock::now();
    start_scope(other, 1s);  // is told of the release
    sim.run_for(2s);
    BOOST_TEST(sim.holder("resource")->who == "client");
    release(held);
    sim.run_for(500ms);
    BOOST_REQUIRE(sim.holder("resource").has_value());
    BOOST_TEST(sim.holder("resource")->who == "other");
    BOOST_TEST(sim.holder("resource")->token > first);
    BOOST_TEST((began < at + 2s + 100ms));
    sim.run_for(1s);
    BOOST_TEST(codes == std::vector<error_code>{error_code{}});
}

BOOST_FIXTURE_TEST_CASE(held_elsewhere_is_contended_and_then_handed_over, service)
{
    sim.hold_elsewhere("resource", 10s);
    auto const theirs = sim.holder("resource");
    BOOST_REQUIRE(theirs.has_value());
    BOOST_TEST(theirs->who == "elsewhere");
    BOOST_TEST(theirs->token > 0u);
    lease held;
    BOOST_TEST(try_acquire(sim.client(), held) == errc::contended);
    BOOST_TEST(acquire(sim.client(), held, {.acquire_timeout = 2s}) == errc::acquire_timed_out);

    start_scope(sim.client(), 1s);
    sim.run_for(3s);
    BOOST_TEST((began == vclock::time_point{}));
    auto const released = vclock::now();
    sim.release_elsewhere("resource");
    sim.run_for(100ms);
    BOOST_TEST((began > released && began < released + 50ms));
    BOOST_TEST(sim.holder("resource")->token > theirs->token);
}

BOOST_FIXTURE_TEST_CASE(what_is_held_elsewhere_expires, service)
{
    sim.hold_elsewhere("resource", 4s);
    auto const at = vclock::now();
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));
    BOOST_TEST((vclock::now() - at >= 4s && vclock::now() - at < 4s + 100ms));
}

BOOST_FIXTURE_TEST_CASE(who_has_it_cannot_be_overlooked, service)
{
    BOOST_CHECK_THROW(sim.lose("resource"), std::logic_error);
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));
    BOOST_CHECK_THROW(sim.hold_elsewhere("resource"), std::logic_error);
    sim.release_elsewhere("resource");  // it is not there
    BOOST_REQUIRE(sim.holder("resource").has_value());
    sim.lose("resource");
    BOOST_CHECK_THROW(sim.lose("resource"), std::logic_error);  // it is elsewhere by now
    sim.run_for(1ms);
    sim.release_elsewhere("resource");
    BOOST_TEST(!sim.holder("resource"));
}

BOOST_FIXTURE_TEST_CASE(a_lease_lost_on_demand_cancels_its_scope_at_once, service)
{
    start_scope(sim.client(), 1h, {.ttl = 30s});
    sim.run_for(1s);
    auto const before = sim.holder("resource");
    BOOST_REQUIRE(before.has_value());
    auto const at = vclock::now();
    sim.lose("resource");
    sim.run_for(1s);
    BOOST_TEST(codes == std::vector<error_code>{errc::lease_lost});
    BOOST_TEST((ended - at < 1ms));  // and not at the next extension, nine seconds later
    BOOST_TEST(sim.leases_lost() == 1u);
    sim.run_for(10s);
    lease again;
    BOOST_TEST(!acquire(sim.client(), again));
    BOOST_TEST(again.token() > before->token);
}

BOOST_FIXTURE_TEST_CASE(a_lost_lease_has_a_stale_token, service)
{
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));
    fence resource;
    BOOST_TEST(resource.admit(held.token()));
    std::optional<error_code> lost;
    held.wait_lost([&](error_code ec) { lost = ec; });
    sim.lose("resource", 5s);
    auto const now = sim.holder("resource");
    BOOST_REQUIRE(now.has_value());
    BOOST_TEST(now->who == "elsewhere");
    BOOST_TEST(now->token > held.token());
    BOOST_TEST(resource.admit(now->token));
    BOOST_TEST(!resource.admit(held.token()));
    BOOST_TEST(held.valid(), "it cannot know yet");
    sim.run_for(1ms);
    BOOST_TEST(!held.valid());
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(*lost == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(a_lock_without_tokens_is_lost_as_well, service)
{
    start_scope(sim.client(), 1h, {.fencing = false});
    sim.run_for(1s);
    BOOST_TEST(sim.holder("resource")->token == 0u);
    sim.lose("resource");
    sim.run_for(1ms);
    BOOST_TEST(codes == std::vector<error_code>{errc::lease_lost});
}

BOOST_FIXTURE_TEST_CASE(of_several_names_one_is_enough_to_lose_them_all, service)
{
    auto story = [&]() -> asio::awaitable<void> {
        redlock::lock const lock{sim.client(), {"account:1", "account:2"}};
        auto acquiring = lock.acquire(asio::use_awaitable);
        lease held = co_await std::move(acquiring);
        sim.lose("account:2");
        auto losing = held.wait_lost(asio::as_tuple(asio::use_awaitable));
        auto [ec] = co_await std::move(losing);
        BOOST_TEST(ec == errc::lease_lost);
    };
    sim.run(story(), 1ms);
}

BOOST_FIXTURE_TEST_CASE(only_the_lease_of_that_name_is_lost, service)
{
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));
    sim.hold_elsewhere("another");
    auto const before = sim.client().status().counters.extensions_renewed;
    BOOST_CHECK_THROW(sim.lose("another"), std::logic_error);
    sim.run_for(1ms);
    BOOST_TEST(held.valid());
    BOOST_TEST(sim.client().status().counters.extensions_renewed == before);
}

BOOST_FIXTURE_TEST_CASE(a_majority_that_is_down_gives_no_majority, service)
{
    lease held;
    sim.node(0).down();
    BOOST_TEST(!try_acquire(sim.client(), held));
    release(held);
    sim.node(1).down();
    BOOST_TEST(try_acquire(sim.client(), held) == errc::no_majority);
    sim.node(1).up();
    BOOST_TEST(!try_acquire(sim.client(), held));
    BOOST_TEST(held.nodes_held() == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_lease_without_a_majority_is_lost_in_time, service)
{
    lease held;
    BOOST_TEST(!acquire(sim.client(), held, {.ttl = 10s, .stop_margin = 1s}));
    vclock::time_point lost{};
    held.wait_lost([&](error_code) { lost = vclock::now(); });
    auto const until = held.valid_until();
    sim.node(0).stop();
    sim.node(2).stop();
    sim.run_for(1min);
    BOOST_TEST((lost == until - 1s));
    sim.node(0).go_on();
    sim.run_for(1min);
    BOOST_TEST(!try_acquire(sim.client(), held));
}

BOOST_FIXTURE_TEST_CASE(a_client_that_comes_while_a_node_is_down_finds_it_later, service)
{
    sim.node(1).down();
    redlock::client other = sim.make_client("other");
    sim.run_for(1s);
    BOOST_TEST((other.status().nodes[1].state == node_state::down));
    sim.node(1).up();
    sim.run_for(1s);
    BOOST_TEST((other.status().nodes[1].state == node_state::usable));
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_client_does_not_come_back_with_its_nodes, service)
{
    sim.client().cancel();
    sim.run_for(1s);
    for (std::size_t i = 0; i < sim.nodes(); ++i) {
        sim.node(i).down();
        sim.node(i).up();
        sim.node(i).forget();
    }
    sim.run_for(1s);
    for (node_status const& each : sim.client().status().nodes) BOOST_TEST((each.state == node_state::down));
    lease held;
    BOOST_TEST(try_acquire(sim.client(), held) == errc::client_cancelled);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_forgets_has_no_vote_until_leases_are_over, service)
{
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));
    auto const before = held.token();
    sim.node(0).forget();
    BOOST_TEST(sim.holder("resource")->nodes == 2u);
    sim.run_for(1s);
    auto const status = sim.client().status();
    BOOST_TEST((status.nodes[0].admission == admission_state::quarantined), status.nodes[0].admission_text);
    BOOST_TEST(held.valid());
    sim.run_for(1min);
    BOOST_TEST((sim.client().status().nodes[0].admission == admission_state::admitted));
    BOOST_TEST(sim.holder("resource")->nodes == 3u, "the watchdog has set the key again");
    release(held);
    sim.node(1).forget();
    sim.node(2).forget();
    sim.run_for(1s);
    lease again;
    BOOST_TEST(try_acquire(sim.client(), again) == errc::no_majority);
    sim.run_for(1min);
    BOOST_TEST(!try_acquire(sim.client(), again), "a majority that lost its data votes again after the wait");
    BOOST_TEST(again.token() > before);
    for (node_status const& each : sim.client().status().nodes) BOOST_TEST((each.admission == admission_state::admitted));
}

BOOST_FIXTURE_TEST_CASE(a_node_that_restarts_keeps_what_it_knew, service)
{
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));
    sim.node(2).restart();
    sim.run_for(1ms);
    BOOST_TEST(sim.holder("resource")->nodes == 3u);
    BOOST_TEST(sim.client().status().nodes[2].connects == 2u);
    sim.run_for(1min);
    BOOST_TEST((sim.client().status().nodes[2].admission == admission_state::admitted));
    BOOST_TEST(held.valid());
}

BOOST_FIXTURE_TEST_CASE(slow_nodes_take_their_time, service)
{
    for (std::size_t i = 0; i < 3; ++i) sim.node(i).round_trip(20ms);
    auto const at = vclock::now();
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));
    BOOST_TEST((vclock::now() - at >= 20ms && vclock::now() - at < 21ms));
}

BOOST_FIXTURE_TEST_CASE(a_clock_that_was_set_ends_keys_early, service)
{
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));  // it has seen the clocks
    release(held);
    sim.hold_elsewhere("resource", 10s);
    for (std::size_t i = 0; i < 2; ++i) sim.node(i).set_clock(11s);
    BOOST_TEST(!sim.holder("resource"));
    BOOST_TEST(try_acquire(sim.client(), held) == errc::no_majority, "the client notices in the very answer that grants");
}

BOOST_FIXTURE_TEST_CASE(a_pause_longer_than_the_ttl_ends_a_lease_whatever_timers_say, service)
{
    lease held;
    BOOST_TEST(!acquire(sim.client(), held));
    sim.pause(11s);
    BOOST_TEST(!held.valid());
    BOOST_TEST(!sim.holder("resource"));
    sim.run_for(0s);
    BOOST_TEST(sim.leases_lost() == 1u);
    BOOST_TEST(sim.client().status().counters.watchdog_late == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(simulated_runs)

// Two instances that want one lock again and again over nodes whose answers take random times: who had it when.
std::string crowd(std::uint32_t seed)
{
    simulation sim{{.nodes = 5, .seed = seed}};
    std::ostringstream diary;
    std::vector<redlock::client> clients;
    for (char const* const name : {"a", "b", "c"}) clients.push_back(sim.make_client(name));
    for (redlock::client& each : clients) {
        auto story = [&diary, &each]() -> asio::awaitable<void> {
            for (int turn = 0; turn < 10; ++turn) {
                auto body = [&](lease& held) -> asio::awaitable<void> {
                    diary << vclock::now().time_since_epoch().count() << ' ' << &each << ' ' << held.token() << '\n';
                    auto sleeping = testing::sleep(1ms);
                    co_await std::move(sleeping);
                };
                auto scope = with_lock(redlock::lock{each, "resource"}, body);
                co_await std::move(scope);
            }
        };
        asio::co_spawn(sim.context(), story, asio::detached);
    }
    sim.run_for(1min);
    std::string text = diary.str();
    for (std::size_t i = 0; i < clients.size(); ++i) {  // addresses to names
        std::ostringstream address;
        address << &clients[i];
        for (auto at = text.find(address.str()); at != std::string::npos; at = text.find(address.str()))
            text.replace(at, address.str().size(), std::string(1, static_cast<char>('a' + i)));
    }
    return text;
}

BOOST_AUTO_TEST_CASE(the_same_seed_is_the_same_run)
{
    auto const once = crowd(1);
    BOOST_TEST(std::count(once.begin(), once.end(), '\n') == 30);
    BOOST_TEST(crowd(1) == once);
    BOOST_TEST(crowd(2) != once);
}

BOOST_AUTO_TEST_CASE(one_at_a_time)
{
    {
        simulation first;
        BOOST_CHECK_THROW(simulation{}, std::logic_error);
        first.run_for(5s);
    }
    auto const at = [] {
        simulation const again;
        return vclock::now();
    };
    BOOST_TEST((at() == at()), "each begins at the same time");
}

BOOST_AUTO_TEST_CASE(options_and_names_that_make_no_sense_are_refused)
{
    BOOST_CHECK_THROW(simulation{{.nodes = 0}}, std::invalid_argument);
    BOOST_CHECK_THROW(simulation{{.nodes = 16}}, std::invalid_argument);
    BOOST_CHECK_THROW(simulation{{.round_trip = -1us}}, std::invalid_argument);
    BOOST_CHECK_THROW(simulation{{.max_lingering = -1us}}, std::invalid_argument);
    BOOST_CHECK_THROW(simulation{{.max_ttl = 0ms}}, std::invalid_argument);
    simulation sim{{.nodes = 1}};
    BOOST_CHECK_THROW(sim.make_client(""), std::invalid_argument);
    BOOST_CHECK_THROW(sim.make_client("client"), std::invalid_argument);
    BOOST_CHECK_THROW(sim.make_client("elsewhere"), std::invalid_argument);
    BOOST_CHECK_THROW(sim.hold_elsewhere("resource", 0ms), std::invalid_argument);
    BOOST_CHECK_THROW(sim.hold_elsewhere("resource", 31s), std::invalid_argument);
    BOOST_CHECK_THROW(sim.node(1), std::out_of_range);
}

BOOST_AUTO_TEST_CASE(results_and_exceptions_come_out)
{
    simulation sim;
    auto seven = []() -> asio::awaitable<int> {
        auto sleeping = testing::sleep(1min);
        co_await std::move(sleeping);
        co_return 7;
    };
    BOOST_TEST(sim.run(seven()) == 7);
    auto failing = []() -> asio::awaitable<int> {
        throw std::invalid_argument{"no"};
        co_return 0;
    };
    BOOST_CHECK_THROW(sim.run(failing()), std::invalid_argument);
    auto nothing = []() -> asio::awaitable<void> {
        throw std::out_of_range{"no"};
        co_return;
    };
    BOOST_CHECK_THROW(sim.run(nothing()), std::out_of_range);
}

BOOST_AUTO_TEST_CASE(a_coroutine_that_does_not_end_is_given_up_and_may_go_on)
{
    simulation sim;
    bool ended = false;
    auto long_one = [&]() -> asio::awaitable<int> {
        auto sleeping = testing::sleep(1h);
        co_await std::move(sleeping);
        ended = true;
        co_return 1;
    };
    BOOST_CHECK_THROW(sim.run(long_one(), 1min), std::runtime_error);
    BOOST_TEST(!ended);
    sim.run_for(1h);
    BOOST_TEST(ended);
    bool reached = false;
    BOOST_TEST(!sim.run_until([&] { return reached; }, 1s));
}

BOOST_AUTO_TEST_CASE(time_does_not_pass_inside_of_what_runs)
{
    simulation sim;
    auto story = [&]() -> asio::awaitable<void> {
        BOOST_CHECK_THROW(sim.run_for(1s), std::logic_error);
        co_return;
    };
    sim.run(story());
    sim.run_for(1s);  // it is over
}

BOOST_AUTO_TEST_CASE(timers_and_sleeps_are_cancelled_as_those_of_asio)
{
    simulation sim;
    std::vector<error_code> codes;
    auto const note = [&](error_code ec) { codes.push_back(ec); };
    testing::timer one{sim.get_executor(), 1s};
    testing::timer two{sim.get_executor()};
    BOOST_TEST((one.expiry() == vclock::now() + 1s));
    one.async_wait(note);
    sim.run_for(999ms);
    BOOST_TEST(codes.empty());
    sim.run_for(1ms);
    BOOST_TEST(codes == std::vector<error_code>{error_code{}});

    codes.clear();
    two.expires_after(1h);
    two.async_wait(note);
    two = std::move(one);
    sim.run_for(0s);
    BOOST_TEST(codes == std::vector<error_code>{asio::error::operation_aborted});

    asio::cancellation_signal signal;
    bool aborted = false;
    auto story = [&]() -> asio::awaitable<void> {
        try {
            auto sleeping = testing::sleep(1h);
            co_await std::move(sleeping);
        } catch (system_error const& e) {
            aborted = e.code() == asio::error::operation_aborted;
        }
    };
    asio::co_spawn(sim.context(), story, asio::bind_cancellation_slot(signal.slot(), asio::detached));
    sim.run_for(1s);
    signal.emit(asio::cancellation_type::terminal);
    sim.run_for(0s);
    BOOST_TEST(aborted);
}

BOOST_AUTO_TEST_CASE(a_timer_elsewhere_is_refused_since_nobody_would_ring_it)
{
    asio::io_context real;
    BOOST_CHECK_THROW(testing::timer{real.get_executor()}, std::logic_error);
}

BOOST_AUTO_TEST_CASE(what_is_left_goes_with_the_simulation)
{
    std::optional<redlock::client> other;
    std::optional<redlock::lease> held;
    struct sentry {
        bool& gone;
        ~sentry() { gone = true; }
    };
    bool gone = false;
    {
        simulation sim;
        other.emplace(sim.make_client("other"));
        auto story = [&]() -> asio::awaitable<lease> {
            redlock::lock const lock{*other, "resource"};
            auto acquiring = lock.acquire(asio::use_awaitable);
            co_return co_await std::move(acquiring);
        };
        held.emplace(sim.run(story()));
        auto waiting = [&]() -> asio::awaitable<void> {
            sentry const s{gone};
            redlock::lock const lock{sim.client(), "resource"};
            auto acquiring = lock.acquire(asio::use_awaitable);
            lease const never = co_await std::move(acquiring);
        };
        asio::co_spawn(sim.context(), waiting, asio::detached);
        sim.run_for(1s);
        BOOST_TEST(!gone);
    }
    BOOST_TEST(gone);
    held.reset();
    other.reset();
}

BOOST_AUTO_TEST_SUITE_END()
