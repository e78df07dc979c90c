// Semaphores over nodes in memory: as many as there are permits, who waits for whom, several permits, scopes, loss, and what is refused.
#include "semaphore_world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <set>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using detail::verb;
using testing::semaphore_world;
using testing::virtual_clock;

}  // namespace

BOOST_AUTO_TEST_SUITE(semaphore_story)

BOOST_FIXTURE_TEST_CASE(so_many_hold_permits_as_there_are_and_the_next_is_refused, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto const began = virtual_clock::now();
    auto& first = ask(a, of(3));
    pass(100us);
    BOOST_REQUIRE(first.granted());
    BOOST_TEST((first.at - began == 100us));  // one round trip, also the first time
    auto& second = get(b, of(3));
    auto& third = get(a, of(3));
    std::set<std::uint32_t> const slots{*first.held.slot(), *second.held.slot(), *third.held.slot()};
    BOOST_TEST(slots.size() == 3u);
    BOOST_TEST(*slots.rbegin() == 2u);
    BOOST_TEST((first.held.mode() == lock_mode::permit));
    BOOST_TEST(first.held.name() == "s#" + std::to_string(*first.held.slot()));
    BOOST_TEST(first.held.nodes_held() == 3u);
    BOOST_TEST(first.held.token() > 0u);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(record(i) == "1 3");
    BOOST_TEST(*try_once(b, of(3)).ec == errc::contended);
    BOOST_TEST(!release(second.held));
    auto& again = try_once(b, of(3));
    BOOST_TEST(again.granted());
    BOOST_TEST((again.report.mode == lock_mode::permit));
}

BOOST_FIXTURE_TEST_CASE(what_this_client_has_need_not_be_asked_for, semaphore_world)
{
    auto& a = make_client();
    get(a, of(1));
    auto const& again = try_once(a, of(1));
    BOOST_TEST(*again.ec == errc::contended);
    BOOST_TEST_REQUIRE(again.report.nodes.size() == 3u);
    BOOST_TEST(again.report.nodes[0].detail == "not asked: this client holds so many permits that too few are left");
}

BOOST_FIXTURE_TEST_CASE(tokens_of_a_slot_increase, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    std::uint64_t last = 0;
    for (int i = 0; i < 6; ++i) {
        auto& one = get(i % 2 == 0 ? a : b, of(1));
        BOOST_TEST(one.held.token() > last);
        last = one.held.token();
        BOOST_TEST(!release(one.held));
        pass(1s);
    }
}

BOOST_FIXTURE_TEST_CASE(who_waits_gets_the_permit_that_another_client_releases, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& one = get(a, of(2));
    get(a, of(2));
    auto& waits = ask(b, of(2));
    pass(1s);
    BOOST_TEST(!waits.ec.has_value());
    auto const before = sent(verb::acquire);
    BOOST_TEST(!release(one.held));
    pass(50ms);
    BOOST_REQUIRE(waits.granted());
    BOOST_TEST(sent(verb::acquire) - before <= 6u);  // one attempt, and perhaps a second one
}

BOOST_FIXTURE_TEST_CASE(a_released_permit_goes_to_the_next_of_the_same_client_without_the_nodes, semaphore_world)
{
    auto& a = make_client();
    auto& first = get(a, of(1));
    auto& second = ask(a, of(1));
    auto& third = ask(a, of(1));
    pass(1ms);
    BOOST_TEST(!second.ec.has_value());
    auto const before = sent(verb::acquire);
    auto const token = first.held.token();
    first.held.release([](error_code) {});
    settle();
    BOOST_REQUIRE(second.granted());
    BOOST_TEST(second.held.token() > token);
    BOOST_TEST(*second.held.slot() == 0u);
    second.held = {};
    settle();
    BOOST_REQUIRE(third.granted());
    BOOST_TEST(sent(verb::acquire) == before);
    BOOST_TEST(a.status().counters.handoffs == 2u);
}

BOOST_FIXTURE_TEST_CASE(acquisitions_of_one_client_ask_for_as_many_permits_as_there_are_at_the_same_time, semaphore_world)
{
    auto& a = make_client();
    auto const began = virtual_clock::now();
    std::vector<call*> all;
    for (int i = 0; i < 6; ++i) all.push_back(&ask(a, of(4)));
    pass(200us);
    BOOST_TEST(std::count_if(all.begin(), all.end(), [](call const* c) { return c->granted(); }) == 4);
    for (int i = 0; i < 4; ++i) BOOST_TEST((all[static_cast<std::size_t>(i)]->at - began <= 200us));
    BOOST_TEST(sent(verb::acquire) == 12u);  // the other two did not ask: all permits are here
    pass(20s);
    BOOST_TEST(sent(verb::acquire) == 12u);
    BOOST_TEST(sent(verb::watch) == 0u);
    all[2]->held = {};
    pass(50ms);  // this client has had its turn for longer than max_local_hold, so the nodes are asked
    BOOST_TEST(all[4]->granted());
}

BOOST_FIXTURE_TEST_CASE(several_permits_are_one_lease, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& three = get(a, of(4), 3);
    auto const slots = three.held.slots();
    BOOST_TEST(slots.size() == 3u);
    BOOST_TEST(std::is_sorted(slots.begin(), slots.end()));
    BOOST_TEST(*three.held.slot() == slots.front());
    BOOST_TEST(*try_once(b, of(4), 2).ec == errc::contended);
    auto& one = get(b, of(4));
    BOOST_TEST(std::count(slots.begin(), slots.end(), *one.held.slot()) == 0);
    pass(30s);  // the watchdog extends all of them
    BOOST_TEST(three.held.valid());
    BOOST_TEST(three.held.nodes_held() == 3u);
    auto& waits = ask(b, of(4), 3);
    pass(1s);
    BOOST_TEST(!waits.ec.has_value());
    BOOST_TEST(!release(three.held));
    pass(100ms);
    BOOST_TEST(waits.granted());
}

BOOST_FIXTURE_TEST_CASE(nobody_waits_with_a_part_of_the_permits, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& two = get(a, of(4), 2);
    auto& also_two = get(b, of(4), 2);
    auto& four = ask(a, of(4), 4);
    auto& four_too = ask(b, of(4), 4);
    pass(1s);
    BOOST_TEST(!release(two.held));
    BOOST_TEST(!release(also_two.held));
    for (int i = 0; i < 10'000 && !(four.ec && four_too.ec); ++i) {
        pass(1ms);
        for (call* c : {&four, &four_too})
            if (c->granted() && c->held) c->held = {};
    }
    BOOST_TEST(four.granted());
    BOOST_TEST(four_too.granted());
}

BOOST_FIXTURE_TEST_CASE(none_or_too_many_permits_are_refused_at_once, semaphore_world)
{
    auto& a = make_client();
    BOOST_TEST(*ask(a, of(2), 3).ec == errc::too_many_permits);
    BOOST_TEST(*ask(a, of(2), 0).ec == errc::too_many_permits);
    BOOST_TEST((*ask(a, of(2), 3, true).ec == condition::not_acquired));
    BOOST_TEST(sent(verb::acquire) == 0u);
}

BOOST_FIXTURE_TEST_CASE(options_that_make_no_sense_are_refused, semaphore_world)
{
    auto& a = make_client();
    auto const text = [&](std::string name, semaphore_options const& options) -> std::string {
        try {
            semaphore{a, std::move(name), options};
        } catch (std::invalid_argument const& e) {
            return e.what();
        }
        return "accepted";
    };
    BOOST_TEST(text("s", {.permits = 2}) == "accepted");
    BOOST_TEST(text("s", {}) == "redlock::semaphore: there are no permits; say how many, as in {.permits = 4}");
    BOOST_TEST(text("s", {.permits = 65}) == "redlock::semaphore: 65 permits are more than 64");
    BOOST_TEST(text("s", {.permits = 2, .lock = {.fencing = false}}) ==
               "redlock::semaphore: lock_options::fencing is off, but permits need tokens");
    BOOST_TEST(text("s", {.permits = 2, .lock = {.owner = owner_id{7}}}) ==
               "redlock::semaphore: lock_options::owner is set, but each acquisition is a permit of its own");
    BOOST_TEST(text("", {.permits = 2}) == "redlock::semaphore: the name is empty");
    BOOST_TEST(text("s:permits", {.permits = 2}).starts_with("redlock::semaphore: the key is \"s:permits\""));
}

BOOST_FIXTURE_TEST_CASE(a_scope_holds_a_permit_and_one_that_would_wait_for_itself_is_told_so, semaphore_world)
{
    auto& a = make_client();
    std::optional<error_code> inner_of_two, inner_of_one;
    auto const nested = [&](std::uint32_t permits, std::optional<error_code>& inner) -> asio::awaitable<void> {
        semaphore const s{a, "nested" + std::to_string(permits), of(permits)};
        auto body = [&](lease& held) -> asio::awaitable<void> {
            BOOST_TEST(held.slot().has_value());
            auto [ec, l] = co_await s.acquire(asio::as_tuple(asio::use_awaitable));
            inner = ec;
        };
        co_await with_lock(s, std::ref(body));
    };
    auto const two = start(nested(2, inner_of_two));
    auto const one = start(nested(1, inner_of_one));
    pass(1s);
    BOOST_TEST(two->done);
    BOOST_TEST(one->done);
    BOOST_REQUIRE(inner_of_two.has_value());
    BOOST_TEST(!*inner_of_two);
    BOOST_TEST(*inner_of_one == errc::self_deadlock);
}

BOOST_FIXTURE_TEST_CASE(a_permit_that_cannot_be_kept_is_lost, semaphore_world)
{
    auto& a = make_client();
    auto& held = get(a, of(2));
    std::optional<error_code> why;
    held.held.wait_lost([&](error_code ec) { why = ec; });
    links[0]->stop();
    links[1]->stop();
    pass(10s);
    BOOST_REQUIRE(why.has_value());
    BOOST_TEST(*why == errc::lease_lost);
    BOOST_TEST(held.held.lost_error() == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(waiting_can_be_cancelled, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    get(a, of(1));
    auto& waits = ask(b, of(1));
    pass(1s);
    waits.signal.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_TEST(*waits.ec == asio::error::operation_aborted);
    // Within the attempt, and what it got goes back.
    auto& early = ask(b, of(2));
    early.signal.emit(asio::cancellation_type::terminal);
    pass(1s);
    BOOST_TEST(*early.ec == asio::error::operation_aborted);
    for (auto const& server : servers) BOOST_TEST(server->keys() == 2u);  // a's slot, and the record
}

BOOST_FIXTURE_TEST_CASE(a_client_that_is_cancelled_gives_its_permits_back, semaphore_world)
{
    auto& a = make_client();
    auto& one = get(a, of(1));
    a.cancel();
    settle();
    BOOST_TEST(!one.held.valid());
    one.held = {};  // as a scope does when it ends
    pass(1s);
    for (auto const& server : servers) BOOST_TEST(!server->get("s#0").has_value());
    BOOST_TEST(try_once(make_client(), of(1)).granted());
}

BOOST_FIXTURE_TEST_CASE(a_permit_has_no_ticket_and_no_readers, semaphore_world)
{
    auto& a = make_client();
    auto& held = get(a, of(2));
    BOOST_TEST(held.held.detach().empty());
    BOOST_TEST(held.held.valid());
    BOOST_TEST(wait_for([&](auto done) { held.held.downgrade(done); }) == asio::error::operation_not_supported);
}

BOOST_FIXTURE_TEST_CASE(a_slot_is_a_lock_of_its_name, semaphore_world)
{
    auto& a = make_client();
    auto& b = make_client();
    std::optional<error_code> taken;
    lease by_name;
    lock{a, "s#0"}.acquire([&](error_code ec, lease l) {
        taken = ec;
        by_name = std::move(l);
    });
    pass(1ms);
    BOOST_REQUIRE(taken.has_value());
    auto& other = get(b, of(2));
    BOOST_TEST(*other.held.slot() == 1u);
    BOOST_TEST(*try_once(b, of(2)).ec == errc::contended);
    std::optional<error_code> excluded;
    lock{a, "s#1"}.try_acquire([&](error_code ec, lease) { excluded = ec; });
    pass(10ms);
    BOOST_TEST(*excluded == errc::contended);
}

BOOST_FIXTURE_TEST_CASE(available_counts_what_a_majority_shows_to_be_free, semaphore_world)
{
    auto& a = make_client();
    auto const available = [&](std::uint32_t permits) {
        std::optional<std::pair<error_code, std::size_t>> result;
        semaphore{a, "s", of(permits)}.available([&](error_code ec, std::size_t n) { result.emplace(ec, n); });
        pass(600ms);
        BOOST_REQUIRE(result.has_value());
        return *result;
    };
    BOOST_TEST(available(4).second == 4u);
    get(a, of(4));
    get(make_client(), of(4), 2);
    BOOST_TEST(available(4).second == 1u);
    servers[0]->set("s#" + std::string{"3"}, "somebody", 1h);
    BOOST_TEST(available(5).first == errc::permits_differ);
    links[0]->stop();
    BOOST_TEST(!available(4).first);
    links[1]->stop();
    BOOST_TEST(available(4).first == errc::no_majority);
}

BOOST_FIXTURE_TEST_CASE(guards_go_by_the_name_of_the_slot, semaphore_world)
{
    auto& a = make_client();
    fence_guard guard;
    auto& first = get(a, of(2));
    auto& second = get(a, of(2));
    BOOST_TEST(guard.admit(second.held.name(), second.held.token()));
    BOOST_TEST(guard.admit(first.held.name(), first.held.token()));  // smaller, but of another slot
    auto const name = std::string{first.held.name()};
    auto const late = first.held.token();
    BOOST_TEST(!release(first.held));
    pass(1s);
    auto& successor = get(a, of(2));
    BOOST_TEST(successor.held.name() == name);
    BOOST_TEST(guard.admit(name, successor.held.token()));
    BOOST_TEST(!guard.admit(name, late));
}

BOOST_FIXTURE_TEST_CASE(a_report_tells_a_node_that_refused_from_those_that_were_silent, semaphore_world)
{
    auto& here = make_client();
    auto& there = make_client();
    get(here, of(1));
    links[4]->stop();
    links[5]->stop();
    call& attempt = ask(there, of(1), 1, true);
    pass(2s);
    BOOST_REQUIRE(attempt.ec.has_value());
    BOOST_TEST(*attempt.ec == errc::no_majority);
    BOOST_TEST_REQUIRE(attempt.report.nodes.size() == 3u);
    BOOST_TEST((attempt.report.nodes[0].vote == vote::refused));
    BOOST_TEST(!attempt.report.nodes[0].error);
    for (std::size_t const silent : {1u, 2u}) BOOST_TEST(attempt.report.nodes[silent].error == errc::node_timeout);
}

// It wants another number than those that are lost, and asks the nodes for nothing as long as this client has them.
BOOST_FIXTURE_TEST_CASE(who_waits_for_all_permits_goes_on_when_those_of_this_client_are_lost, semaphore_world)
{
    auto& a = make_client();
    auto& held = get(a, of(3), 2);
    auto& all = ask(a, of(3), 3);
    pass(100ms);
    BOOST_TEST(!all.ec.has_value());
    for (auto& link : links) link->stop();
    pass(10s);
    BOOST_TEST(!held.held.valid());
    for (auto& link : links) link->go_on();
    pass(15s);  // what was on its way may have set the slots again
    BOOST_TEST(all.granted());
}

BOOST_AUTO_TEST_SUITE_END()
