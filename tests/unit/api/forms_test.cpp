// In which forms operations can be called: handlers of other types, executors, temporaries within a co_await expression, completion tokens.
#include "support/printing.hpp"

#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancel_at.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using testing::simulation;
namespace asio = boost::asio;

std::string const long_name(100, 'n');  // in no short-string buffer

struct forms {
    simulation world{{.nodes = 3}};
    redlock::client& nodes{world.client()};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(call_forms)

BOOST_FIXTURE_TEST_CASE(a_handler_of_an_erased_type_keeps_its_context_running, forms)
{
    world.hold_elsewhere("a", 10s);
    redlock::lock const a{nodes, "a"};
    asio::io_context other;
    bool done = false;
    asio::any_completion_handler<void(error_code, lease)> erased{asio::bind_executor(other, [&](error_code, lease) { done = true; })};
    a.acquire(std::move(erased));
    world.run_for(1s);
    BOOST_TEST(other.poll() == 0u);
    BOOST_TEST(!other.stopped(), "there is work left");
    BOOST_REQUIRE(world.run_until([&] { return other.poll() > 0; }, 1min));
    BOOST_TEST(done);
    BOOST_TEST(other.stopped());
}

// As for any other handler, also where the client has the same executor.
BOOST_FIXTURE_TEST_CASE(a_handler_of_an_erased_type_is_not_called_by_the_call_that_starts_it, forms)
{
    lease empty;
    bool called = false;
    bool called_at_once = true;
    asio::post(world.context(), [&] {
        asio::any_completion_handler<void(error_code)> erased{asio::bind_executor(world.context(), [&](error_code) { called = true; })};
        empty.release(std::move(erased));
        called_at_once = called;
    });
    world.run_for(1ms);
    BOOST_TEST(!called_at_once);
    // It comes by way of a thread of the system executor.
    auto const limit = std::chrono::steady_clock::now() + 10s;
    while (!called && std::chrono::steady_clock::now() < limit) world.run_for(1ms);
    BOOST_TEST(called);
}

BOOST_FIXTURE_TEST_CASE(a_callback_on_an_empty_lease_stays_on_its_thread, forms)
{
    std::vector<error_code> seen;
    auto const here = std::this_thread::get_id();
    bool same = true;
    auto const note = [&](error_code ec) {
        same = same && std::this_thread::get_id() == here;
        seen.push_back(ec);
    };
    lease empty;
    empty.release(note);
    empty.extend(note);
    empty.wait_lost(note);
    empty.publish("x", note);
    empty.inherited([&](error_code ec, published_state) { note(ec); });
    empty.downgrade(asio::any_completion_handler<void(error_code)>{note});
    BOOST_TEST(same);
    BOOST_TEST(seen == std::vector<error_code>(6, errc::not_held));

    bool posted = false;
    empty.release(asio::bind_executor(world.context(), [&](error_code) { posted = true; }));
    BOOST_TEST(!posted);
    world.run_for(1ms);
    BOOST_TEST(posted);
}

// The timer of the limit would be the system executor's, which has threads of its own.
BOOST_FIXTURE_TEST_CASE(a_callback_with_a_time_limit_on_an_empty_lease_stays_on_its_thread, forms)
{
    std::vector<error_code> seen;
    auto const here = std::this_thread::get_id();
    bool same = true;
    auto const note = [&](error_code ec) {
        same = same && std::this_thread::get_id() == here;
        seen.push_back(ec);
    };
    lease empty;
    empty.release(asio::cancel_after(1h, note));
    auto limited = asio::cancel_after(1h, note);
    empty.extend(limited);
    empty.wait_lost(limited);
    empty.downgrade(asio::cancel_at(std::chrono::steady_clock::now() + 1h, note));
    empty.publish("x", asio::cancel_after(1h, note));
    empty.inherited(asio::cancel_after(1h, [&](error_code ec, published_state) { note(ec); }));
    BOOST_TEST(seen == std::vector<error_code>(6, errc::not_held));

    int posted = 0;
    asio::io_context other;
    auto const on_other = [&](error_code) {
        same = same && other.get_executor().running_in_this_thread();
        ++posted;
    };
    empty.release(asio::cancel_after(1h, asio::bind_executor(other, on_other)));
    empty.release(asio::bind_executor(other, asio::cancel_after(1h, on_other)));
    empty.release(asio::cancel_after(1h, asio::bind_executor(other, asio::cancel_after(2h, on_other))));
    BOOST_TEST(posted == 0);
    other.run();
    BOOST_TEST(posted == 3);
    BOOST_TEST(same);
}

BOOST_FIXTURE_TEST_CASE(everything_has_the_executor_of_its_client, forms)
{
    auto const of = [](auto const& what) {
        static_assert(std::is_same_v<typename std::decay_t<decltype(what)>::executor_type, asio::any_io_executor>);
        return what.get_executor();
    };
    auto const own = nodes.get_executor();
    BOOST_TEST((of(redlock::lock{nodes, "a"}) == own));
    BOOST_TEST((of(redlock::rw_lock{nodes, "a"}) == own));
    BOOST_TEST((of(redlock::semaphore{nodes, "s", {.permits = 2}}) == own));
    BOOST_TEST((of(election{nodes, "e"}) == own));
    lease held = world.run(redlock::lock{nodes, "a"}.acquire(asio::use_awaitable));
    BOOST_TEST((of(held) == own));
    BOOST_TEST((of(lease{}) == asio::any_io_executor{asio::system_executor{}}));
}

BOOST_FIXTURE_TEST_CASE(temporaries_within_a_co_await_expression, forms)
{
    auto story = [&]() -> asio::awaitable<void> {
        auto body = [](lease& held) -> asio::awaitable<std::string> { co_return std::string{held.name()}; };
        std::string const names = co_await with_lock(redlock::lock{nodes, {"account:1", long_name}}, body);
        BOOST_TEST(names == "account:1, " + long_name);
        std::vector<std::string> const both{"b", "a"};
        lease const held = co_await redlock::lock{nodes, both}.acquire();
        BOOST_TEST(held.name() == "a, b");

        auto leads = [](lease&) -> asio::awaitable<void> { co_return; };
        co_await election{nodes, long_name, "host:" + long_name, {.min_pause = 1ms}}.lead(leads);
        leader_info const nobody = co_await election{nodes, long_name, "host:" + long_name}.leader();
        BOOST_TEST(!nobody);
        auto const permits = co_await semaphore{nodes, "s" + long_name, {.permits = 4}}.available();
        BOOST_TEST(permits == 4u);
    };
    world.run(story());
}

BOOST_FIXTURE_TEST_CASE(a_scope_of_several_permits, forms)
{
    redlock::semaphore const permits{nodes, "exports", {.permits = 3}};
    std::size_t slots = 0;
    auto body = [&](lease& held) -> asio::awaitable<int> {
        slots = held.slots().size();
        co_return 7;
    };
    BOOST_TEST(world.run(with_lock(permits, 2, body)) == 7);
    BOOST_TEST(slots == 2u);
    attempt_report report;
    BOOST_TEST(world.run(with_lock(permits, 3, report, body)) == 7);
    BOOST_TEST(slots == 3u);
    BOOST_TEST(report.attempts == 1u);
    BOOST_CHECK_EXCEPTION(world.run(with_lock(permits, 4, body)), acquire_error,
                          [](acquire_error const& e) { return e.code() == errc::too_many_permits; });
}

BOOST_FIXTURE_TEST_CASE(a_read_write_lock_can_be_looked_at, forms)
{
    redlock::rw_lock const both{nodes, "cache"};
    lock_peek const before = world.run(both.peek(asio::use_awaitable));
    BOOST_TEST(!before.held);
    lease reads = world.run(both.acquire_shared(asio::use_awaitable));
    lock_peek const while_read = world.run(both.wait_changed(before, asio::use_awaitable));
    BOOST_TEST(while_read.held);
    BOOST_TEST(while_read.host == "", "readers are many");
}

BOOST_FIXTURE_TEST_CASE(elections_and_changes_of_permits_take_completion_tokens, forms)
{
    election const race{nodes, "boss", "anna:1"};
    std::vector<std::string> seen;
    auto note = [&](leader_info const& l) { seen.push_back(l.address); };
    bool observed = false;
    race.observe(note, [&](std::exception_ptr e) { observed = e != nullptr; });
    std::optional<bool> led;
    auto body = [](lease&) -> asio::awaitable<void> {
        auto working = testing::sleep(10s);
        co_await std::move(working);
    };
    race.lead(body, [&](std::exception_ptr e) { led = !e; });
    world.run_for(5s);
    std::optional<leader_info> found;
    race.leader([&](error_code ec, leader_info l) {
        if (!ec) found = std::move(l);
    });
    world.run_for(1s);
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(found->address == "anna:1");
    world.run_for(10s);
    BOOST_TEST(led.value_or(false));
    BOOST_TEST((seen == std::vector<std::string>{"", "anna:1", ""}));

    std::optional<bool> changed;
    change_permits(nodes, "exports", 2, {}, [&](std::exception_ptr e) { changed = !e; });
    world.run_for(1s);
    BOOST_TEST(changed.value_or(false));

    auto looking = [&]() -> asio::awaitable<error_code> {
        nodes.cancel();
        auto look = race.leader(asio::as_tuple(asio::use_awaitable));
        auto seen_last = co_await std::move(look);
        co_return std::get<0>(seen_last);
    };
    BOOST_TEST(world.run(looking()) == errc::client_cancelled);
    world.run_for(1s);
    BOOST_TEST(observed);
}

BOOST_AUTO_TEST_CASE(a_client_of_an_execution_context)
{
    asio::io_context io;
    config const nowhere = config::from_urls({"redis://127.0.0.1:1"});
    redlock::client const nodes{io, nowhere};
    BOOST_TEST((nodes.get_executor() == io.get_executor()));
}

BOOST_AUTO_TEST_SUITE_END()
