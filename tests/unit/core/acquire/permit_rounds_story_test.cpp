// Semaphores over nodes in memory: what an attempt does when the nodes differ, and the record of the number of permits.
#include "semaphore_world.hpp"

#include <set>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using detail::verb;
using testing::memory_node;
using testing::semaphore_world;
using testing::virtual_clock;

// One hour of retention is longer than these stories want to wait.
struct short_retention : semaphore_world {
    short_retention() : semaphore_world{60s} {}
};

// The connection to the third node is being made. The two others give different slots, and when the first round has ended, somebody has taken the chosen one
// at one of them. So the third node decides, which the first round has not reached.
struct second_round : semaphore_world {
    second_round()
    {
        servers[0]->set("s#0", "somebody", 1h);
        auto& a = make_client(nullptr, false);
        links[2]->connects_late = true;
        a.run([](error_code) {});
        settle();
        one = &ask(a, of(2), 1, true);
        pass(1ms);
        for (int i = 0; i < 20 && one->ec; ++i) {  // the second node began at the same slot
            BOOST_REQUIRE(one->granted());
            BOOST_TEST(!release(one->held));
            one = &ask(a, of(2), 1, true);
            pass(1ms);
        }
        BOOST_REQUIRE(!one->ec);
        servers[1]->set("s#1", "somebody", 1h);
        pass(510ms);
        BOOST_TEST(a.status().counters.permit_moves == 1u);
        BOOST_TEST(!one->ec);
    }

    call* one;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(permit_rounds_story)

// From the first slot on, the nodes give three different ones. Only the last slot is free on all of them.
BOOST_FIXTURE_TEST_CASE(nodes_that_give_different_slots_are_asked_for_the_same_one_in_a_second_round, semaphore_world)
{
    servers[1]->set("s#0", "somebody", 5s);
    servers[2]->set("s#0", "somebody", 5s);
    servers[2]->set("s#1", "somebody", 5s);
    auto& a = make_client();
    auto const began = virtual_clock::now();
    for (int i = 0; i < 12; ++i) {
        auto const at = virtual_clock::now();
        auto& one = ask(a, of(3));
        pass(200us);
        BOOST_REQUIRE(one.granted());
        BOOST_TEST((one.at - at <= 200us));
        // What the other nodes gave was given back.
        auto const slot = "s#" + std::to_string(*one.held.slot());
        pass(1ms);
        for (auto const& server : servers)
            for (std::string const& key : {std::string{"s#0"}, std::string{"s#1"}, std::string{"s#2"}})
                if (auto const there = server->get(key); key != slot && there) BOOST_TEST(*there == "somebody");
        BOOST_TEST(one.held.nodes_held() >= 2u);
        BOOST_TEST(!release(one.held));
        pass(20ms);
    }
    BOOST_TEST((virtual_clock::now() - began < 5s));
    BOOST_TEST(a.status().counters.permit_moves > 0u);
    BOOST_TEST(a.status().counters.acquired == 12u);
}

BOOST_FIXTURE_TEST_CASE(a_slot_that_is_free_nowhere_twice_is_waited_for, semaphore_world)
{
    servers[0]->set("s#0", "somebody", 3s);
    servers[1]->set("s#1", "somebody", 3s);
    servers[2]->set("s#0", "somebody", 3s);
    servers[2]->set("s#1", "somebody", 3s);
    auto& a = make_client();
    BOOST_TEST(*try_once(a, of(2)).ec == errc::split_votes);  // two nodes gave a slot each
    pass(10ms);
    BOOST_TEST(!servers[0]->get("s#1").has_value());  // given back
    BOOST_TEST(!servers[1]->get("s#0").has_value());
    auto& waits = ask(a, of(2));
    pass(2s);
    BOOST_TEST(!waits.ec.has_value());
    pass(2s);
    BOOST_TEST(waits.granted());
}

BOOST_FIXTURE_TEST_CASE(a_node_that_answers_late_with_another_slot_gets_it_back, semaphore_world)
{
    servers[2]->set("s#0", "somebody", 1h);
    auto& a = make_client();
    links[2]->there = 30ms;
    call* late = nullptr;
    for (int i = 0; i < 8 && !late; ++i) {
        auto& one = get(a, of(2));
        pass(100ms);
        if (*one.held.slot() == 0) late = &one;
        else BOOST_TEST(!release(one.held));
        pass(100ms);
    }
    BOOST_REQUIRE(late != nullptr);
    pass(1s);
    BOOST_TEST(!servers[2]->get("s#1").has_value());
    BOOST_TEST(late->held.nodes_held() == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_lost_the_answer_gets_the_slots_back_when_it_is_there_again, semaphore_world)
{
    auto& a = make_client();
    get(a, of(2)).held = {};
    pass(1s);
    links[2]->back = 1h;
    auto& one = get(a, of(2));
    servers[2]->set("s#" + std::to_string(1 - *one.held.slot()), "not ours", 1h);
    pass(1ms);
    links[2]->cut();
    links[2]->back = 50us;
    pass(10ms);
    BOOST_REQUIRE(links[2]->wants_connection());
    links[2]->connect();
    pass(1s);
    BOOST_TEST(one.held.valid());
    BOOST_TEST(*servers[2]->get("s#" + std::to_string(1 - *one.held.slot())) == "not ours");
}

// The third node is asked for the chosen slot alone.
BOOST_FIXTURE_TEST_CASE(a_node_that_is_reached_after_the_choice_is_asked_for_the_chosen_slot, second_round)
{
    links[2]->connects_late = false;
    links[2]->connect();
    pass(1ms);
    BOOST_REQUIRE(one->granted());
    BOOST_TEST(*one->held.slot() == 1u);
    BOOST_TEST(one->held.nodes_held() == 2u);
    BOOST_TEST(!release(one->held));
    pass(1ms);
    for (auto const& server : servers) BOOST_TEST(server->get("s#1").value_or("somebody") == "somebody");
}

BOOST_FIXTURE_TEST_CASE(a_second_round_that_nobody_decides_ends_in_its_own_time, second_round)
{
    pass(480ms);
    BOOST_TEST(!one->ec);
    pass(20ms);
    BOOST_TEST(one->ec.has_value());
}

BOOST_FIXTURE_TEST_CASE(two_clients_that_come_at_once_both_get_a_permit, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    // Each node serves them in another order.
    links[0]->there = 100us;
    links[4]->there = 100us;
    for (int i = 0; i < 50; ++i) {
        auto& one = ask(a, of(8));
        auto& two = ask(b, of(8));
        pass(20ms);
        BOOST_REQUIRE(one.granted());
        BOOST_REQUIRE(two.granted());
        BOOST_TEST(*one.held.slot() != *two.held.slot());
        BOOST_TEST(!release(one.held));
        BOOST_TEST(!release(two.held));
    }
}

BOOST_FIXTURE_TEST_CASE(another_number_of_permits_is_refused_and_said, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    get(a, of(4));
    auto& other = try_once(b, of(5));
    BOOST_TEST(*other.ec == errc::permits_differ);
    BOOST_TEST((*other.ec == condition::not_acquired));
    BOOST_TEST(other.report.nodes.front().detail == "it keeps 4");
    auto& waits = ask(b, of(5));
    pass(10ms);
    BOOST_REQUIRE(waits.ec.has_value());  // it does not wait
    BOOST_TEST(*waits.ec == errc::permits_differ);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(record(i) == "1 4");
}

BOOST_FIXTURE_TEST_CASE(the_record_stays_while_permits_are_held_and_goes_when_nobody_uses_it, short_retention)
{
    auto& a = make_client();
    auto& held = get(a, of(2));
    pass(10min);
    BOOST_TEST(held.held.valid());
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(record(i) == "1 2");
    BOOST_TEST(*try_once(make_client(), of(1)).ec == errc::permits_differ);
    BOOST_TEST(!release(held.held));
    pass(2min);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(record(i) == "none");
    BOOST_TEST(try_once(make_client(), of(1)).granted());
}

BOOST_FIXTURE_TEST_CASE(a_node_that_lost_the_record_gets_it_with_the_slot, semaphore_world)
{
    auto& a = make_client();
    auto& held = get(a, of(2));
    servers[0]->del("s:permits");
    servers[0]->del(std::string{held.held.name()});
    pass(10s);
    BOOST_TEST(record(0) == "1 2");
    BOOST_TEST(held.held.nodes_held() == 3u);
    BOOST_TEST(servers[0]->get(std::string{held.held.name()}).has_value());
}

BOOST_FIXTURE_TEST_CASE(a_slot_is_not_set_again_where_the_record_says_another_number, semaphore_world)
{
    auto& a = make_client();
    auto& held = get(a, of(2));
    servers[0]->set("s:permits", "1 1", 1h);
    servers[0]->del(std::string{held.held.name()});
    pass(10s);
    BOOST_TEST(record(0) == "1 1");
    BOOST_TEST(!servers[0]->get(std::string{held.held.name()}).has_value());
    BOOST_TEST(held.held.valid());
    BOOST_TEST(held.held.nodes_held() == 2u);
}

BOOST_FIXTURE_TEST_CASE(the_number_of_permits_can_be_made_smaller_while_they_are_held, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    std::vector<call*> all;
    for (int i = 0; i < 4; ++i) all.push_back(&get(a, of(4)));
    auto const change = start(change_permits(b, "s", 2));
    pass(1s);
    BOOST_TEST(!change->done);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(record(i) == "2 2");
    BOOST_TEST(*try_once(b, of(4)).ec == errc::permits_differ);
    BOOST_TEST(*try_once(b, of(2)).ec == errc::contended);
    for (call* c : all)
        if (*c->held.slot() >= 2) BOOST_TEST(!release(c->held));
    pass(30s);
    BOOST_REQUIRE(change->done);
    BOOST_TEST(!change->ec);
    BOOST_TEST(*try_once(b, of(2)).ec == errc::contended);
    for (call* c : all)
        if (c->held && *c->held.slot() < 2) BOOST_TEST(!release(c->held));
    pass(1s);
    BOOST_TEST(try_once(b, of(2)).granted());
    BOOST_TEST(*try_once(a, of(4)).ec == errc::permits_differ);
}

BOOST_FIXTURE_TEST_CASE(the_number_of_permits_can_be_made_larger, semaphore_world)
{
    auto& a = make_client();
    auto& one = get(a, of(1));
    auto const change = start(change_permits(a, "s", 3));
    pass(1s);
    BOOST_REQUIRE(change->done);
    BOOST_TEST(!change->ec);
    get(a, of(3));
    get(a, of(3));
    BOOST_TEST(*try_once(a, of(3)).ec == errc::contended);
    BOOST_TEST(!release(one.held));
    pass(1s);
    BOOST_TEST(try_once(a, of(3)).granted());
}

BOOST_FIXTURE_TEST_CASE(a_change_needs_all_nodes_and_can_be_repeated, semaphore_world)
{
    auto& a = make_client();
    auto& held = get(a, of(2), 2);
    links[1]->stop();
    auto const failed = start(change_permits(a, "s", 1));
    pass(2s);
    BOOST_REQUIRE(failed->done);
    BOOST_TEST(failed->ec == errc::no_majority);
    BOOST_TEST(failed->text.find("2 of 3 nodes could be told the number of permits") != std::string::npos);
    links[1]->go_on();
    pass(1s);
    // Given up while it waits for the slot above; the next one waits for it, too.
    asio::cancellation_signal stop;
    auto const given_up = start(change_permits(a, "s", 1), stop.slot());
    pass(1s);
    stop.emit(asio::cancellation_type::terminal);
    pass(1s);
    BOOST_REQUIRE(given_up->done);
    auto const again = start(change_permits(a, "s", 1));
    pass(1s);
    BOOST_TEST(!again->done);
    BOOST_TEST(!release(held.held));
    pass(30s);
    BOOST_REQUIRE(again->done);
    BOOST_TEST(!again->ec);
}

BOOST_FIXTURE_TEST_CASE(of_two_changes_at_once_one_is_told_that_the_other_came_first, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto const one = start(change_permits(a, "s", 3));
    auto const two = start(change_permits(b, "s", 5));
    pass(5s);
    BOOST_REQUIRE(one->done);
    BOOST_REQUIRE(two->done);
    BOOST_TEST(((one->ec == errc::permits_changing) != (two->ec == errc::permits_changing)));
}

BOOST_AUTO_TEST_SUITE_END()
