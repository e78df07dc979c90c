// Elections over nodes in memory, in virtual time: terms, stepping down, resigning, and who sees that.
#include "api/terms.hpp"
#include "support/printing.hpp"

#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using vclock = testing::clock;
using testing::simulation;
using testing::sleep;
namespace asio = boost::asio;

election_options usual()
{
    election_options o;
    o.lock.ttl = 10s;
    return o;
}

// What a candidate saw of its terms, and how lead() ended.
struct candidate {
    candidate(redlock::client const& by, std::string address, election_options const& o = usual()) : of{by, "boss", std::move(address), o}
    {
    }

    void campaign(asio::any_io_executor const& on, vclock::duration term = 1h)
    {
        auto body = [this, term](lease& held) -> asio::awaitable<void> {
            tokens.push_back(held.token());
            leads = true;
            struct end {
                candidate& self;
                lease& held;
                ~end()
                {
                    self.leads = false;
                    self.in_time = held.valid_until() > vclock::now();
                }
            } const guard{*this, held};
            if (failure) std::rethrow_exception(failure);
            auto working = sleep(term);
            co_await std::move(working);
        };
        ended = false;
        asio::co_spawn(on, of.lead(body), asio::bind_cancellation_slot(cancels.slot(), [this](std::exception_ptr e) {
                           ended = true;
                           outcome = e;
                       }));
    }

    error_code code() const
    {
        try {
            if (outcome) std::rethrow_exception(outcome);
        } catch (system_error const& e) {
            return e.code();
        }
        return {};
    }

    election of;
    bool leads{false};
    bool in_time{false};
    bool ended{false};
    std::exception_ptr failure{};  // of the body
    std::exception_ptr outcome{};
    std::vector<std::uint64_t> tokens{};
    asio::cancellation_signal cancels{};
};

struct two_candidates {
    bool until(std::function<bool()> const& done, vclock::duration limit = 1min) { return world.run_until(done, limit); }

    leader_info leader()
    {
        std::optional<leader_info> found;
        asio::co_spawn(world.context(), anna.of.leader(), [&](std::exception_ptr e, leader_info l) {
            BOOST_TEST(!e);
            found = std::move(l);
        });
        BOOST_REQUIRE(until([&] { return found.has_value(); }));
        return *found;
    }
    std::string holder() const
    {
        auto const found = world.holder("boss");
        return found ? found->who : "";
    }

    simulation world{{.nodes = 3}};
    redlock::client here{world.make_client("here")};
    redlock::client there{world.make_client("there")};
    candidate anna{here, "anna:1"};
    candidate bert{there, "bert:2"};
    struct started {
        explicit started(simulation& w) { w.run_for(1s); }
    } connected{world};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(elections)

BOOST_FIXTURE_TEST_CASE(one_leads_and_others_see_where, two_candidates)
{
    BOOST_TEST(!leader());
    anna.campaign(world.get_executor());
    BOOST_REQUIRE(until([&] { return anna.leads; }));
    bert.campaign(world.get_executor());
    world.run_for(5min);
    BOOST_TEST(anna.leads);
    BOOST_TEST(!bert.leads);
    auto const seen = leader();
    BOOST_TEST(static_cast<bool>(seen));
    BOOST_TEST(seen.address == "anna:1");
    BOOST_TEST(seen.token == anna.tokens.at(0));
}

BOOST_FIXTURE_TEST_CASE(who_resigns_is_followed_by_the_next, two_candidates)
{
    anna.campaign(world.get_executor());
    BOOST_REQUIRE(until([&] { return anna.leads; }));
    bert.campaign(world.get_executor());
    world.run_for(1min);
    election const copy = anna.of;
    copy.resign();
    BOOST_REQUIRE(until([&] { return anna.ended; }));
    BOOST_TEST(!anna.outcome, "it is no error");
    BOOST_TEST(!anna.leads);
    BOOST_TEST(anna.in_time);
    BOOST_REQUIRE(until([&] { return bert.leads; }, 100ms));
    BOOST_TEST(bert.tokens.at(0) > anna.tokens.at(0));
    BOOST_TEST(leader().address == "bert:2");

    anna.campaign(world.get_executor());
    world.run_for(10s);
    copy.resign();
    BOOST_REQUIRE(until([&] { return anna.ended; }, 10ms));
    BOOST_TEST(!anna.outcome, "nor is it while it campaigns");
    BOOST_TEST(bert.leads);
}

BOOST_FIXTURE_TEST_CASE(a_leader_without_a_majority_steps_down_in_time_and_campaigns_again, two_candidates)
{
    anna.campaign(world.get_executor());
    BOOST_REQUIRE(until([&] { return anna.leads; }));
    world.node(0).down();
    world.node(1).down();
    BOOST_REQUIRE(until([&] { return !anna.leads; }));
    BOOST_TEST(anna.in_time, "before somebody else may lead");
    world.run_for(1min);
    BOOST_TEST(!anna.ended);
    world.node(0).up();
    world.node(1).up();
    BOOST_REQUIRE(until([&] { return anna.leads; }));
    BOOST_TEST_REQUIRE(anna.tokens.size() == 2u);
    BOOST_TEST(anna.tokens[1] > anna.tokens[0]);
    BOOST_TEST(leader().token == anna.tokens[1]);
}

BOOST_FIXTURE_TEST_CASE(it_pauses_before_it_campaigns_again, two_candidates)
{
    auto o = usual();
    o.min_pause = 20s;
    o.max_pause = 30s;
    candidate carl{here, "carl", o};
    carl.campaign(world.get_executor());
    BOOST_REQUIRE(until([&] { return carl.leads; }));
    world.lose("boss", 1ms);
    BOOST_REQUIRE(until([&] { return !carl.leads; }));
    auto const lost = vclock::now();
    world.run_for(19s);
    BOOST_TEST(holder() == "", "nobody has it, and it lets others come first");
    BOOST_REQUIRE(until([&] { return carl.leads; }));
    BOOST_TEST((vclock::now() - lost >= 20s && vclock::now() - lost < 31s));
    carl.cancels.emit(asio::cancellation_type::terminal);
    BOOST_REQUIRE(until([&] { return carl.ended; }));
}

BOOST_FIXTURE_TEST_CASE(a_body_that_returns_ends_it, two_candidates)
{
    anna.campaign(world.get_executor(), 5s);
    BOOST_REQUIRE(until([&] { return anna.ended; }));
    BOOST_TEST(!anna.outcome);
    BOOST_TEST(anna.tokens.size() == 1u);
    BOOST_TEST(holder() == "");
}

// It may have taken an order or sent a letter. So it does not run again, whatever becomes of the lock after it has returned.
BOOST_FIXTURE_TEST_CASE(a_body_that_has_returned_does_not_run_again, two_candidates)
{
    std::vector<std::function<void()>> const trouble{
        [&] {
            for (std::size_t i = 0; i < 3; ++i) world.node(i).down();
        },
        [&] { world.lose("boss", 1s); },
        [&] { here.cancel(); },
    };
    for (auto const& happens : trouble) {
        int runs = 0;
        std::optional<bool> failed;
        auto body = [&](lease&) -> asio::awaitable<void> {
            ++runs;
            happens();
            co_return;
        };
        asio::co_spawn(world.context(), anna.of.lead(body), [&](std::exception_ptr e) { failed = e != nullptr; });
        world.run_for(5s);
        BOOST_TEST_REQUIRE(failed.has_value());
        BOOST_TEST(!*failed);
        for (std::size_t i = 0; i < 3; ++i) world.node(i).up();
        world.run_for(2min);
        BOOST_TEST(runs == 1);
    }
}

BOOST_FIXTURE_TEST_CASE(what_a_body_throws_while_it_leads_ends_it_although_the_lock_is_lost_then, two_candidates)
{
    int runs = 0;
    std::exception_ptr failure;
    auto body = [&](lease&) -> asio::awaitable<void> {
        ++runs;
        world.lose("boss", 1s);
        throw std::runtime_error{"out of paper"};
        co_return;
    };
    asio::co_spawn(world.context(), anna.of.lead(body), [&](std::exception_ptr e) { failure = e; });
    world.run_for(2min);
    BOOST_TEST(runs == 1);
    BOOST_REQUIRE(failure);
    BOOST_CHECK_THROW(std::rethrow_exception(failure), std::runtime_error);
}

BOOST_FIXTURE_TEST_CASE(a_body_that_returns_since_it_was_cancelled_runs_again, two_candidates)
{
    int runs = 0;
    auto body = [&](lease&) -> asio::awaitable<void> {
        ++runs;
        testing::timer working{co_await asio::this_coro::executor, 1h};
        auto waiting = working.async_wait(asio::as_tuple(asio::use_awaitable));
        co_await std::move(waiting);
    };
    asio::co_spawn(world.context(), anna.of.lead(body), [&](std::exception_ptr) {});
    world.run_for(5s);
    world.lose("boss", 1s);
    world.run_for(2min);
    BOOST_TEST(runs == 2);
}

BOOST_FIXTURE_TEST_CASE(what_the_body_throws_ends_it, two_candidates)
{
    anna.failure = std::make_exception_ptr(std::runtime_error{"out of paper"});
    anna.campaign(world.get_executor());
    BOOST_REQUIRE(until([&] { return anna.ended; }));
    BOOST_CHECK_THROW(std::rethrow_exception(anna.outcome), std::runtime_error);
    BOOST_TEST(holder() == "");

    bert.failure = std::make_exception_ptr(system_error{errc::no_majority});  // of another lock, say
    bert.campaign(world.get_executor());
    BOOST_REQUIRE(until([&] { return bert.ended; }));
    BOOST_TEST(bert.code() == errc::no_majority);
    BOOST_TEST(bert.tokens.size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(who_is_cancelled_gives_the_lock_back, two_candidates)
{
    anna.campaign(world.get_executor());
    BOOST_REQUIRE(until([&] { return anna.leads; }));
    bert.campaign(world.get_executor());
    world.run_for(1s);
    bert.cancels.emit(asio::cancellation_type::terminal);
    BOOST_REQUIRE(until([&] { return bert.ended; }, 10ms));
    BOOST_TEST(bert.code() == asio::error::operation_aborted);
    anna.cancels.emit(asio::cancellation_type::terminal);
    BOOST_REQUIRE(until([&] { return anna.ended; }, 10ms));
    BOOST_TEST(anna.code() == asio::error::operation_aborted);
    BOOST_TEST(holder() == "");
}

BOOST_FIXTURE_TEST_CASE(a_client_that_is_cancelled_ends_it, two_candidates)
{
    anna.campaign(world.get_executor());
    BOOST_REQUIRE(until([&] { return anna.leads; }));
    here.cancel();
    BOOST_REQUIRE(until([&] { return anna.ended; }));
    BOOST_TEST(anna.code() == errc::client_cancelled);
}

BOOST_FIXTURE_TEST_CASE(observers_are_told_of_each_leader_and_of_none, two_candidates)
{
    std::vector<std::string> seen;
    asio::cancellation_signal stop;
    bool ended = false;
    auto note = [&](leader_info const& l) { seen.push_back(l ? l.address : "nobody"); };
    asio::co_spawn(world.context(), bert.of.observe(note),
                   asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr) { ended = true; }));
    world.run_for(1s);
    anna.campaign(world.get_executor());
    BOOST_REQUIRE(until([&] { return anna.leads; }));
    world.run_for(1min);
    anna.of.resign();
    BOOST_REQUIRE(until([&] { return anna.ended; }));
    world.run_for(1s);
    bert.campaign(world.get_executor());
    world.run_for(1min);
    BOOST_TEST((seen == std::vector<std::string>{"nobody", "anna:1", "nobody", "bert:2"}));
    stop.emit(asio::cancellation_type::terminal);
    BOOST_REQUIRE(until([&] { return ended; }, 10ms));
}

BOOST_FIXTURE_TEST_CASE(an_observer_may_await_what_it_does, two_candidates)
{
    std::vector<std::string> seen;
    auto note = [&](leader_info const& l) -> asio::awaitable<void> {
        auto resting = sleep(5s);
        co_await std::move(resting);
        seen.push_back(l.address);
        if (seen.size() == 2) throw std::runtime_error{"enough"};
    };
    std::exception_ptr failure;
    asio::co_spawn(world.context(), bert.of.observe(note), [&](std::exception_ptr e) { failure = e; });
    world.run_for(1ms);
    anna.campaign(world.get_executor());
    BOOST_REQUIRE(until([&] { return failure != nullptr; }));
    BOOST_TEST((seen == std::vector<std::string>{"", "anna:1"}));
}

BOOST_FIXTURE_TEST_CASE(a_holder_that_publishes_nothing_is_no_leader, two_candidates)
{
    world.hold_elsewhere("boss", 20s);
    BOOST_TEST(!leader());
}

BOOST_AUTO_TEST_CASE(options_that_make_no_sense)
{
    simulation world;
    auto const refused = [&](election_options const& o) {
        BOOST_CHECK_THROW((election{world.client(), "boss", "x", o}), std::invalid_argument);
    };
    auto o = usual();
    o.lock.fencing = false;
    refused(o);
    BOOST_CHECK_THROW((election{world.client(), "boss", std::string(max_state_size + 1, 'x')}), std::invalid_argument);
    o = usual();
    o.max_pause = 1ms;
    refused(o);
    o.min_pause = -1ms;
    refused(o);
    o = usual();
    o.max_pause = 2h;
    refused(o);
    BOOST_CHECK_THROW((election{world.client(), "", "x"}), std::invalid_argument);
    BOOST_TEST((election{world.client(), "boss", "x"}.name() == "boss"));
}

// Not where every campaign would end like that.
BOOST_AUTO_TEST_CASE(a_term_is_followed_by_another_campaign_unless_that_cannot_help)
{
    for (errc const again :
         {errc::contended, errc::no_majority, errc::validity_exhausted, errc::acquire_timed_out, errc::lease_lost, errc::max_hold_exceeded})
        BOOST_TEST(detail::campaigns_again(again), error_code{again}.message());
    for (errc const last :
         {errc::client_cancelled, errc::self_deadlock, errc::ttl_too_long, errc::wrong_node_set, errc::not_held, errc::stale_token})
        BOOST_TEST(!detail::campaigns_again(last), error_code{last}.message());
    BOOST_TEST(!detail::campaigns_again(asio::error::operation_aborted));
}

BOOST_AUTO_TEST_SUITE_END()
