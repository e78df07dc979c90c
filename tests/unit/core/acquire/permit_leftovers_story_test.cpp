// Semaphores over nodes in memory: whatever moment a call is given up at, nothing of it stays on the nodes until its ttl is over.
#include "semaphore_world.hpp"

#include <boost/asio/use_awaitable.hpp>

#include <set>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using testing::memory_node;
using testing::semaphore_world;

struct leftovers_world : semaphore_world {
    // Slots that have the value of an attempt, as "node1 s#2".
    std::set<std::string> slots_taken()
    {
        std::set<std::string> all;
        for (std::size_t node = 0; node < servers.size(); ++node) {
            for (int slot = 0; slot < 8; ++slot) {
                auto const key = "s#" + std::to_string(slot);
                if (auto const value = servers[node]->get(key); value && value->starts_with("value"))
                    all.insert("node" + std::to_string(node) + " " + key);
            }
        }
        return all;
    }

    void counter(std::size_t server, std::string const& slot, testing::token_number above)
    {
        servers[server]->memory().set_counter(slot, *servers[server]->memory().high_water + above, 1h, servers[server]->wall());
    }

    // Each node can give two slots of three, and the first node another two than the others.
    void two_of_three_that_overlap()
    {
        servers[0]->set("s#2", "somebody", 1h);
        servers[1]->set("s#0", "somebody", 1h);
        servers[2]->set("s#0", "somebody", 1h);
        counter(2, "s#1", 1'000'000'000'000);  // so that tokens differ, and have to be confirmed
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(permit_leftovers_story)

BOOST_FIXTURE_TEST_CASE(a_slot_of_two_choices_is_given_back_when_the_attempt_is_given_up, leftovers_world)
{
    auto& a = make_client();
    two_of_three_that_overlap();
    auto& one = ask(a, of(3), 2);
    pass(160us);  // the slots are chosen, and the token is to be confirmed
    BOOST_REQUIRE(!one.ec.has_value());
    BOOST_REQUIRE(sent(detail::verb::confirm) == 3u);
    one.signal.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_TEST(*one.ec == asio::error::operation_aborted);
    pass(100ms);
    BOOST_TEST(slots_taken() == std::set<std::string>{}, boost::test_tools::per_element());
}

// Not only at that moment, and whatever the nodes answer when.
BOOST_FIXTURE_TEST_CASE(an_acquisition_can_be_given_up_at_any_moment, leftovers_world)
{
    auto& a = make_client();
    auto& b = make_client();
    two_of_three_that_overlap();
    for (int way = 0; way < 4; ++way) {
        links[0]->there = way == 1 ? 300us : 50us;  // of the first client
        links[4]->there = way == 2 ? 120us : 50us;  // of the second one
        links[1]->back = way == 3 ? 200us : 50us;
        for (auto at = 0us; at < 700us; at += 10us) {
            auto& other = ask(b, of(3));
            auto& one = ask(a, of(3), way % 2 == 0 ? 2 : 1);
            pass(at);
            one.signal.emit(asio::cancellation_type::terminal);
            pass(5ms);
            BOOST_REQUIRE(one.ec.has_value());
            one.held = {};
            other.signal.emit(asio::cancellation_type::terminal);
            pass(5ms);
            other.held = {};
            pass(20ms);
            BOOST_TEST_CONTEXT("way " << way << ", after " << at.count() << " us")
            BOOST_TEST(slots_taken() == std::set<std::string>{}, boost::test_tools::per_element());
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_client_can_be_destroyed_at_any_moment, leftovers_world)
{
    two_of_three_that_overlap();
    auto& b = make_client();
    for (auto at = 0us; at < 500us; at += 20us) {
        auto& other = ask(b, of(3));
        auto const first = clients.size();
        make_client();
        call& one = ask(clients.back(), of(3), 2);
        pass(at);
        clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(first));
        pass(600ms);  // it lingers until what it releases is released
        BOOST_TEST_CONTEXT("after " << at.count() << " us")
        {
            BOOST_TEST(one.ec.has_value());
            one.held = {};
            other.signal.emit(asio::cancellation_type::terminal);
            pass(5ms);
            other.held = {};
            pass(20ms);
            BOOST_TEST(slots_taken() == std::set<std::string>{}, boost::test_tools::per_element());
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_change_of_the_number_can_be_given_up_at_any_moment_and_repeated, leftovers_world)
{
    auto& a = make_client();
    auto const before = get(a, of(4)).held.token();
    BOOST_TEST(before > 0u);
    asked.back().held = {};
    pass(1s);
    for (auto at = 0us; at < 600us; at += 10us) {
        std::uint32_t const to = at.count() % 20 == 0 ? 2 : 3;
        asio::cancellation_signal stop;
        auto const change = start(change_permits(a, "s", to), stop.slot());
        pass(at);
        stop.emit(asio::cancellation_type::terminal);
        pass(20ms);
        BOOST_TEST_CONTEXT("after " << at.count() << " us")
        {
            BOOST_REQUIRE(change->done);
            BOOST_TEST((!change->ec || change->ec == asio::error::operation_aborted));
            for (int slot = 0; slot < 64; ++slot) BOOST_TEST(!servers[1]->get("s#" + std::to_string(slot)).has_value());
            auto const again = start(change_permits(a, "s", to));
            pass(20ms);
            BOOST_REQUIRE(again->done);
            BOOST_TEST(!again->ec);
            auto& one = get(a, of(to), to);
            one.held = {};
            pass(20ms);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(permits_forgotten_story)

// Programs that forget something are told what.

BOOST_FIXTURE_TEST_CASE(a_change_by_a_client_that_does_not_run_says_so, semaphore_world)
{
    auto& a = make_client(nullptr, false);
    auto const change = start(change_permits(a, "s", 2));
    pass(2s);
    BOOST_REQUIRE(change->done);
    BOOST_TEST(change->ec == errc::client_not_running);
}

// A scope that holds one permit, and not one of those that the smaller number takes away, does not wait for itself.
BOOST_FIXTURE_TEST_CASE(a_scope_can_change_the_number_of_its_own_semaphore, semaphore_world)
{
    auto& a = make_client();
    auto run = [&](std::uint32_t from, std::uint32_t to) -> asio::awaitable<void> {
        semaphore const permits{a, "s", of(from)};
        auto body = [&](lease& held) -> asio::awaitable<void> {
            if (*held.slot() >= to) co_return;
            co_await change_permits(a, "s", to);
        };
        co_await with_lock(permits, body);
    };
    for (int i = 0; i < 8; ++i) {
        auto const down = start(run(4, 3));
        pass(5s);
        BOOST_REQUIRE(down->done);
        BOOST_TEST(down->text == "");
        auto const up = start(change_permits(a, "s", 4));
        pass(1s);
        BOOST_REQUIRE(up->done);
        BOOST_TEST(up->text == "");
    }
}

// One that holds such a permit does.
BOOST_FIXTURE_TEST_CASE(a_scope_that_would_wait_for_its_own_permit_is_told_so, semaphore_world)
{
    auto& a = make_client();
    int told = 0;
    auto run = [&]() -> asio::awaitable<void> {
        semaphore const permits{a, "s", of(2)};
        auto body = [&](lease& held) -> asio::awaitable<void> {
            bool const goes = *held.slot() == 1;
            try {
                co_await change_permits(a, "s", 1);
                BOOST_TEST(!goes);
            } catch (system_error const& e) {
                BOOST_TEST(goes);
                BOOST_TEST(e.code() == errc::self_deadlock);
                ++told;
            }
        };
        co_await with_lock(permits, body);
    };
    for (int i = 0; i < 8; ++i) {
        auto const down = start(run());
        pass(5s);
        BOOST_REQUIRE(down->done);
        BOOST_TEST(down->text == "");
        auto const up = start(change_permits(a, "s", 2));
        pass(1s);
        BOOST_REQUIRE(up->done);
    }
    BOOST_TEST(told > 0);
}

BOOST_AUTO_TEST_SUITE_END()
