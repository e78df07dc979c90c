// What with_lock tells of a scope: the body's result, that it did not run, or that the lease was lost and how the body ended.
#include "support/printing.hpp"
#include "unit/message_support.hpp"

#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using testing::simulation;
using testing::sleep;
using testing::timer;
namespace asio = boost::asio;

struct scopes {
    using body_type = std::function<asio::awaitable<int>(lease&)>;

    asio::awaitable<void> scope(body_type& body)
    {
        co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        auto locked = with_lock(resource, std::ref(body));
        value = co_await std::move(locked);
    }

    void start(body_type& body)
    {
        value.reset();
        ended = false;
        asio::co_spawn(world.context(), scope(body), asio::bind_cancellation_slot(cancels.slot(), [this](std::exception_ptr e) {
                           failure = e;
                           ended = true;
                       }));
    }

    void run(body_type body)
    {
        start(body);
        BOOST_REQUIRE(world.run_until([&] { return ended; }, 1min));
    }

    // The exception, which must be of this type.
    template <class Exception>
    Exception thrown() const
    {
        BOOST_REQUIRE(failure);
        try {
            std::rethrow_exception(failure);
        } catch (Exception const& e) {
            return e;
        }
    }

    void all_nodes_down()
    {
        for (std::size_t i = 0; i < 3; ++i) world.node(i).down();
    }

    simulation world{{.nodes = 3}};
    redlock::lock resource{world.client(), "account", {.ttl = 10s}};
    asio::cancellation_signal cancels;
    std::optional<int> value;
    std::exception_ptr failure;
    bool ended{false};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(scope_outcomes)

BOOST_FIXTURE_TEST_CASE(a_result_is_returned_although_nobody_confirms_the_release, scopes)
{
    run([&](lease&) -> asio::awaitable<int> {
        all_nodes_down();
        co_return 42;
    });
    BOOST_TEST(!failure);
    BOOST_TEST(value.value_or(0) == 42);
    BOOST_TEST(world.client().status().counters.releases_unconfirmed == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_result_is_returned_although_the_client_was_cancelled_meanwhile, scopes)
{
    run([&](lease&) -> asio::awaitable<int> {
        world.client().cancel();
        co_return 42;
    });
    BOOST_TEST(!failure);
    BOOST_TEST(value.value_or(0) == 42);
    BOOST_TEST(!world.holder("account").has_value(), "and the release was awaited");
}

BOOST_FIXTURE_TEST_CASE(a_client_that_was_cancelled_protects_no_body_that_returns_too_late, scopes)
{
    run([&](lease&) -> asio::awaitable<int> {
        world.client().cancel();
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        auto working = sleep(11s);
        co_await std::move(working);
        co_return 42;
    });
    auto const e = thrown<scope_error>();
    BOOST_TEST(e.code() == errc::client_cancelled);
    BOOST_TEST(e.body_returned());
    BOOST_TEST(!value);
}

BOOST_FIXTURE_TEST_CASE(a_client_that_is_cancelled_before_during_and_after_the_body, scopes)
{
    run([&](lease&) -> asio::awaitable<int> {
        world.client().cancel();
        auto working = sleep(1h);
        co_await std::move(working);
        co_return 42;
    });
    auto const during = thrown<scope_error>();
    BOOST_TEST(during.code() == errc::client_cancelled);
    BOOST_TEST(!during.body_returned());
    BOOST_TEST(during.what() == std::string{"account: the client was cancelled; the body was cancelled"});

    run([](lease&) -> asio::awaitable<int> { co_return 42; });
    auto const before = thrown<acquire_error>();
    BOOST_TEST(before.code() == errc::client_cancelled);
    BOOST_TEST(before.what() == std::string{"account: the client was cancelled"});
}

BOOST_FIXTURE_TEST_CASE(why_the_lease_was_lost_is_said, scopes)
{
    run([&](lease&) -> asio::awaitable<int> {
        world.node(0).down();
        world.node(1).down();
        auto working = sleep(1h);
        co_await std::move(working);
        co_return 42;
    });
    std::string const text = thrown<scope_error>().what();
    BOOST_TEST(text.starts_with("account: the lease is lost: the critical section is no longer protected; node"), text);
    BOOST_TEST(text.ends_with("; the body was cancelled"), text);
}

BOOST_FIXTURE_TEST_CASE(what_the_body_threw_is_kept_when_the_lease_is_lost, scopes)
{
    run([&](lease&) -> asio::awaitable<int> {
        world.lose("account");
        throw std::runtime_error{"constraint violated"};
        co_return 42;
    });
    auto const e = thrown<scope_error>();
    BOOST_TEST(e.code() == errc::lease_lost);
    BOOST_TEST(!e.body_returned());
    BOOST_CHECK_THROW(std::rethrow_exception(e.body_exception()), std::runtime_error);
    std::string const text = e.what();
    BOOST_TEST(text.starts_with("account: the lease is lost: the critical section is no longer protected; node"), text);
    BOOST_TEST(text.ends_with(": its key is gone, or another holder's; the body threw: constraint violated"), text);
    scope_error const copy = e;
    BOOST_TEST(copy.what() == std::string{e.what()});
}

BOOST_FIXTURE_TEST_CASE(a_body_that_returned_is_said_to_have_returned_when_the_lease_is_lost, scopes)
{
    run([&](lease&) -> asio::awaitable<int> {
        world.lose("account");  // the release finds it out
        co_return 42;
    });
    auto const e = thrown<scope_error>();
    BOOST_TEST(e.code() == errc::lease_lost);
    BOOST_TEST(e.body_returned());
    BOOST_TEST(!e.body_exception());
    REDLOCK_TEST_CONTAINS(e.what(), "; the body had returned");
}

BOOST_AUTO_TEST_CASE(the_text_of_a_scope_error_knows_any_exception)
{
    auto const text = [](std::exception_ptr e) { return std::string{scope_error{errc::lease_lost, "x", e}.what()}; };
    REDLOCK_TEST_CONTAINS(text(std::make_exception_ptr(system_error{errc::no_majority})), "the body threw: too few nodes voted");
    REDLOCK_TEST_CONTAINS(text(std::make_exception_ptr(42)), "of another type than std::exception");
}

BOOST_FIXTURE_TEST_CASE(the_callers_cancellation_before_the_body_says_that_it_did_not_run, scopes)
{
    world.hold_elsewhere("account", 20s);
    bool ran = false;
    body_type body = [&](lease&) -> asio::awaitable<int> {
        ran = true;
        co_return 42;
    };
    start(body);
    world.run_for(1s);
    cancels.emit(asio::cancellation_type::terminal);
    BOOST_REQUIRE(world.run_until([&] { return ended; }, 1s));
    BOOST_TEST(thrown<acquire_error>().code() == asio::error::operation_aborted);
    BOOST_TEST(!ran);
}

// A body observes the types that it says. A group of Asio would have forwarded the first cancellation only.
BOOST_FIXTURE_TEST_CASE(the_callers_cancellations_reach_the_body_with_their_types, scopes)
{
    std::vector<asio::cancellation_type_t> seen;
    body_type body = [&](lease&) -> asio::awaitable<int> {
        for (;;) {
            timer working{co_await asio::this_coro::executor, 1h};
            auto waiting = working.async_wait(asio::as_tuple(asio::use_awaitable));
            co_await asio::this_coro::throw_if_cancelled(false);
            co_await std::move(waiting);
            auto const state = co_await asio::this_coro::cancellation_state;
            seen.push_back(state.cancelled());
            if (seen.back() != asio::cancellation_type::total) co_return 7;
        }
    };
    start(body);
    world.run_for(1s);
    cancels.emit(asio::cancellation_type::total);
    world.run_for(1min);
    BOOST_TEST(seen.empty(), "a coroutine observes terminal only, unless it says otherwise");
    BOOST_TEST(world.client().status().leases == 1u);
    world.lose("account", 1s);
    BOOST_REQUIRE(world.run_until([&] { return ended; }, 1min));
    world.run_for(5s);
    BOOST_TEST(thrown<scope_error>().code() == errc::lease_lost, "total has not ended the watch over the lease");

    seen.clear();
    start(body);
    world.run_for(1s);
    cancels.emit(asio::cancellation_type::total);
    world.run_for(1s);
    cancels.emit(asio::cancellation_type::terminal);
    BOOST_REQUIRE(world.run_until([&] { return ended; }, 1s));
    BOOST_TEST((seen == std::vector{asio::cancellation_type_t{asio::cancellation_type::terminal}}));
    BOOST_TEST(value.value_or(0) == 7);

    seen.clear();
    body_type observes_total = [&](lease& held) -> asio::awaitable<int> {
        co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
        auto rest = body(held);
        co_return co_await std::move(rest);
    };
    start(observes_total);
    world.run_for(1s);
    cancels.emit(asio::cancellation_type::total);
    world.run_for(1s);
    BOOST_TEST((seen == std::vector{asio::cancellation_type_t{asio::cancellation_type::total}}));
    cancels.emit(asio::cancellation_type::terminal);
    BOOST_REQUIRE(world.run_until([&] { return ended; }, 1s));
}

// total promises that nothing has happened, and leases that are lost are a lot.
BOOST_AUTO_TEST_CASE(run_ignores_total)
{
    simulation world;
    auto client = world.make_client("other");
    asio::cancellation_signal stop;
    bool ended = false;
    client.run(asio::bind_cancellation_slot(stop.slot(), [&](error_code) { ended = true; }));
    redlock::lock const resource{client, "account"};
    lease held;
    resource.acquire([&](error_code, lease l) { held = std::move(l); });
    world.run_for(1s);
    BOOST_TEST_REQUIRE(held.valid());
    stop.emit(asio::cancellation_type::total);
    world.run_for(1s);
    BOOST_TEST(!ended);
    BOOST_TEST(held.valid());
    stop.emit(asio::cancellation_type::terminal);
    world.run_for(1s);
    BOOST_TEST(ended);
    BOOST_TEST(held.lost_error() == errc::client_cancelled);
}

BOOST_AUTO_TEST_SUITE_END()
