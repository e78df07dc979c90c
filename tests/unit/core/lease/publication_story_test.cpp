// The state that goes with a lock, over nodes in memory: what is published, who inherits it, and what others see.
#include "support/printing.hpp"

#include "testing/memory_node.hpp"
#include "testing/stepping.hpp"

#include <redlock/detail/access.hpp>
#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using detail::verb;
using testing::memory_node;
using testing::virtual_clock;

// Several clients of the same servers. A link is what one client has of one server.
struct state_world {
    explicit state_world(std::size_t nodes = 3)
    {
        for (std::size_t i = 0; i < nodes; ++i) servers.push_back(std::make_unique<memory_node>("node" + std::to_string(i)));
    }
    ~state_world()
    {
        context.reset();  // handlers that own clients, leases or nodes go first
        clients.clear();
    }

    redlock::client& make_client(bool runs = true)
    {
        asio::any_io_executor const executor = context->get_executor();
        asio::strand<asio::any_io_executor> const strand{executor};
        std::vector<std::unique_ptr<detail::node>> fronts;
        auto& mine = links.emplace_back();
        for (auto const& server : servers) {
            mine.push_back(server->another());
            fronts.push_back(mine.back()->front(strand));
        }
        detail::engine_settings settings;
        settings.max_ttl = std::chrono::days{30};
        settings.jitter_seed = static_cast<std::uint32_t>(clients.size() + 1);
        settings.token_retention = 1h;
        settings.wall_clock = [] { return static_cast<std::uint64_t>(virtual_clock::now().time_since_epoch() / 1us); };
        settings.fresh_value = [this] {
            auto const digits = std::to_string(++values);
            return std::string(32 - digits.size(), '0') + digits + ":host:42:1700000000:label";
        };
        auto core = detail::basic_core<virtual_clock>::make(executor, strand, std::move(fronts), std::move(settings));
        clients.push_back(detail::access::make_client(std::move(core)));
        if (runs) clients.back().run([](error_code) {});
        testing::settle(*context);
        return clients.back();
    }

    template <class... Results, class Start>
    std::tuple<Results...> await(Start start)
    {
        std::optional<std::tuple<Results...>> result;
        start([&](Results... r) { result.emplace(std::move(r)...); });
        BOOST_REQUIRE(testing::advance_until(*context, [&] { return result.has_value(); }, 10min));
        return std::move(*result);
    }

    lease acquire(redlock::client& by, lock_options const& options = usual)
    {
        auto [ec, held] = await<error_code, lease>([&](auto done) { redlock::lock{by, "job", options}.acquire(done); });
        BOOST_TEST_REQUIRE(!ec, ec.message());
        return std::move(held);
    }
    error_code publish(lease& by, std::string const& what)
    {
        return std::get<0>(await<error_code>([&](auto done) { by.publish(what, done); }));
    }
    std::pair<error_code, published_state> inherited(lease& by)
    {
        auto [ec, state] = await<error_code, published_state>([&](auto done) { by.inherited(done); });
        return {ec, state};
    }
    lock_peek peek(redlock::client& by)
    {
        auto [ec, seen] = await<error_code, lock_peek>([&](auto done) { redlock::lock{by, "job", usual}.peek(done); });
        BOOST_TEST(!ec, ec.message());
        return seen;
    }
    void release(lease& held)
    {
        await<error_code>([&](auto done) { held.release(done); });
        pass(10ms);
    }
    void pass(std::chrono::nanoseconds d) { testing::advance(*context, d); }

    std::optional<std::string> kept(std::size_t server) { return servers[server]->get("job:published"); }

    static constexpr lock_options usual{.ttl = 10s};

    std::unique_ptr<asio::io_context> context = std::make_unique<asio::io_context>();
    std::vector<std::unique_ptr<memory_node>> servers;
    std::deque<std::vector<std::unique_ptr<memory_node>>> links;
    std::deque<redlock::client> clients;
    int values{0};
};

struct five_servers : state_world {
    five_servers() : state_world{5} {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(publication_story)

BOOST_FIXTURE_TEST_CASE(the_next_holder_inherits_what_was_published, state_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto first = acquire(a);
    auto const token = first.token();
    BOOST_TEST(!publish(first, "row 17"));
    BOOST_TEST(!publish(first, std::string{"row\0 18", 7}));
    release(first);
    auto second = acquire(b);
    auto const [ec, state] = inherited(second);
    BOOST_TEST(!ec, ec.message());
    BOOST_TEST(state.value == (std::string{"row\0 18", 7}));
    BOOST_TEST(state.token == token);
    BOOST_TEST(second.token() > token);
}

BOOST_FIXTURE_TEST_CASE(so_does_one_after_the_next_who_published_nothing, state_world)
{
    auto& a = make_client();
    auto first = acquire(a);
    BOOST_TEST(!publish(first, "x"));
    release(first);
    auto second = acquire(make_client());
    release(second);
    auto third = acquire(make_client());
    BOOST_TEST(inherited(third).second.value == "x");
}

BOOST_FIXTURE_TEST_CASE(nothing_was_published, state_world)
{
    auto held = acquire(make_client());
    auto const [ec, state] = inherited(held);
    BOOST_TEST(!ec);
    BOOST_TEST(!state);
    BOOST_TEST(!publish(held, ""));
    BOOST_TEST(static_cast<bool>(inherited(held).second), "an empty state is one");
}

BOOST_FIXTURE_TEST_CASE(what_a_minority_keeps_is_written_back_before_it_is_inherited, five_servers)
{
    auto& a = make_client();
    auto& b = make_client();
    auto first = acquire(a);
    BOOST_TEST(!publish(first, "old"));
    for (std::size_t i = 1; i < 5; ++i) links[0][i]->stop();
    std::optional<error_code> published;
    first.publish("new", [&](error_code ec) { published = ec; });
    pass(5s);
    BOOST_REQUIRE(published.has_value());
    BOOST_TEST(*published == errc::no_majority);
    BOOST_TEST(kept(0)->ends_with("new"));
    for (std::size_t i = 1; i < 5; ++i) {
        BOOST_TEST(kept(i)->ends_with("old"));
        links[0][i]->cut(false);
    }
    pass(20s);  // the keys expire

    auto second = acquire(b);
    links[1][3]->back = links[1][4]->back = 30ms;  // node 0 is among the first three to answer
    BOOST_TEST(inherited(second).second.value == "new");
    pass(100ms);
    for (std::size_t i = 0; i < 5; ++i) BOOST_TEST(kept(i)->ends_with("new"), "node " << i);
    for (std::size_t i = 0; i < 5; ++i)
        BOOST_TEST(kept(i)->find(std::to_string(first.token())) != std::string::npos, "with the token that wrote it");
}

// Node 0 keeps "old", node 1 "new", and node 2 nothing. The heir hears nodes 0 and 2 first and writes "old" back; meanwhile node 1 answers "new", which is
// on a minority.
BOOST_FIXTURE_TEST_CASE(an_answer_during_the_write_back_changes_nothing, state_world)
{
    auto const publish_on = [&](std::size_t only, std::string const& what) {
        auto writer = acquire(make_client());
        auto& of_writer = links.back();
        for (std::size_t i = 0; i < 3; ++i)
            if (i != only) of_writer[i]->stop();
        BOOST_TEST((publish(writer, what) == errc::no_majority));
        for (auto const& link : of_writer) link->cut(false);
        BOOST_TEST_REQUIRE(kept(only)->ends_with(what));
        pass(20s);  // the keys expire
    };
    publish_on(0, "old");
    publish_on(1, "new");
    BOOST_TEST_REQUIRE(kept(0)->ends_with("old"));
    BOOST_TEST_REQUIRE(!kept(2).has_value());

    auto heir = acquire(make_client());
    auto& of_heir = links.back();
    of_heir[0]->back = of_heir[2]->back = 20ms;
    of_heir[1]->back = 30ms;
    BOOST_TEST(inherited(heir).second.value == "old");
    pass(100ms);
    for (auto const& link : of_heir) link->back = {};
    release(heir);

    auto next = acquire(make_client());
    links.back()[1]->back = 1s;
    BOOST_TEST(inherited(next).second.value == "old");
}

BOOST_FIXTURE_TEST_CASE(an_older_holder_replaces_nothing, state_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto first = acquire(a);
    BOOST_TEST(!publish(first, "of the first"));
    for (auto const& link : links[0]) link->there = 20s;  // what it sends now arrives after its lease is over
    std::optional<error_code> late;
    first.publish("late", [&](error_code ec) { late = ec; });
    pass(15s);
    BOOST_REQUIRE(late.has_value());
    BOOST_TEST(*late == errc::no_majority);
    auto second = acquire(b);
    BOOST_TEST(!publish(second, "of the second"));
    pass(1min);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(kept(i)->ends_with("of the second"));
}

BOOST_FIXTURE_TEST_CASE(nodes_refuse_what_is_older_than_the_token_that_they_know, state_world)
{
    auto& memory = servers[0]->memory();
    auto const now = servers[0]->wall();
    auto c = detail::command{verb::acquire, "job", "a", 10s};
    c.fenced = true;
    c.retention = 1h;
    auto const token = memory.execute(c, now, memory.id).counter;
    c.what = verb::publish;
    c.token = token;
    c.change_more().goal = token;
    c.change_more().since = 1;
    c.change_more().former = "5 1:atext";
    auto const publish = [&](std::uint64_t guard, std::uint64_t rank, std::int64_t number) {
        c.token = guard;
        c.change_more().goal = rank;
        c.change_more().since = number;
        return memory.execute(c, now, memory.id).vote;
    };
    BOOST_TEST(publish(token, token, 2) == vote::granted);
    BOOST_TEST(publish(token, token, 1) == vote::granted, "there is a newer one of the same lease");
    BOOST_TEST(servers[0]->get("job:published")->starts_with(std::to_string(token) + " 2 "));
    BOOST_TEST(publish(token - 1, token - 1, 9) == vote::refused);
    c.value = "b";
    BOOST_TEST(publish(token + 1, token + 1, 1) == vote::refused, "the key is another's");
    c.value = "a";
    memory.set_counter("job", token + 1, 1h, now);
    BOOST_TEST(publish(token, token, 3) == vote::refused, "somebody with a larger token was there");
    c.what = verb::inherit;
    BOOST_TEST(memory.execute(c, now, memory.id).vote == vote::refused);
}

BOOST_FIXTURE_TEST_CASE(two_nodes_of_three_are_enough_and_one_is_not, state_world)
{
    auto held = acquire(make_client());
    links[0][2]->cut();
    BOOST_TEST(!publish(held, "x"));
    BOOST_TEST(inherited(held).second.value == "x");
    links[0][1]->stop();
    BOOST_TEST(publish(held, "y") == errc::no_majority);
    BOOST_TEST(inherited(held).first == errc::no_majority);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_comes_back_gets_it_again, state_world)
{
    auto held = acquire(make_client());
    BOOST_TEST(!publish(held, "x"));
    servers[1]->memory().del("job");
    servers[1]->memory().del("job:published");
    pass(10s);
    BOOST_TEST_REQUIRE(kept(1).has_value());
    BOOST_TEST(kept(1)->ends_with("x"));
}

BOOST_FIXTURE_TEST_CASE(it_is_kept_as_long_as_it_is_held_and_for_the_retention_after, state_world)
{
    auto& a = make_client();
    auto held = acquire(a);
    BOOST_TEST(!publish(held, "x"));
    pass(5h);
    BOOST_TEST(kept(0).has_value());
    release(held);
    pass(40min);
    auto next = acquire(a);
    BOOST_TEST(inherited(next).second.value == "x");
    pass(5h);
    BOOST_TEST(kept(0).has_value(), "who inherited it keeps it, too");
    release(next);
    pass(61min);
    auto last = acquire(a);
    BOOST_TEST(!inherited(last).second);
}

BOOST_FIXTURE_TEST_CASE(leases_that_no_state_goes_with_say_so, state_world)
{
    auto& a = make_client();
    auto plain = acquire(a, {.ttl = 10s, .fencing = false});
    BOOST_TEST(publish(plain, "x") == errc::state_unsupported);
    BOOST_TEST(inherited(plain).first == errc::state_unsupported);
    auto several = std::get<1>(await<error_code, lease>([&](auto done) { redlock::lock{a, {"x", "y"}, usual}.acquire(done); }));
    BOOST_TEST(publish(several, "x") == errc::state_unsupported);
    auto reader = std::get<1>(await<error_code, lease>([&](auto done) { rw_lock{a, "z", usual}.acquire_shared(done); }));
    BOOST_TEST(publish(reader, "x") == errc::state_unsupported);
    auto writer = std::get<1>(await<error_code, lease>([&](auto done) { rw_lock{a, "w", usual}.acquire(done); }));
    BOOST_TEST(!publish(writer, "x"));
}

BOOST_FIXTURE_TEST_CASE(four_kibibytes_and_no_more, state_world)
{
    auto held = acquire(make_client());
    BOOST_TEST(!publish(held, std::string(max_state_size, 'x')));
    BOOST_TEST(publish(held, std::string(max_state_size + 1, 'y')) == errc::state_too_large);
    BOOST_TEST(inherited(held).second.value == std::string(max_state_size, 'x'));
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_is_over_publishes_nothing, state_world)
{
    lease none;
    std::optional<error_code> said;
    none.publish("x", asio::bind_executor(*context, [&](error_code ec) { said = ec; }));
    none.inherited(asio::bind_executor(*context, [](error_code ec, published_state) { BOOST_TEST(ec == errc::not_held); }));
    pass(1ms);
    BOOST_TEST((said && *said == errc::not_held));
    auto held = acquire(make_client());
    for (auto const& server : servers) server->set("job", "somebody", 1h);
    pass(20s);
    BOOST_TEST(publish(held, "x") == errc::lease_lost);
    BOOST_TEST(inherited(held).first == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(the_adopter_of_a_lease_publishes_over_what_was_published_before, state_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto held = acquire(a);
    auto const token = held.token();
    for (int i = 0; i < 5; ++i) BOOST_TEST(!publish(held, "before " + std::to_string(i)));
    auto const ticket = held.detach();
    auto [ec, adopted] = await<error_code, lease>([&](auto done) { b.adopt(ticket, done); });
    BOOST_TEST_REQUIRE(!ec, ec.message());
    BOOST_TEST(inherited(adopted).second.value == "before 4");
    BOOST_TEST(!publish(adopted, "after"));
    BOOST_TEST(inherited(adopted).second.value == "after");
    BOOST_TEST(inherited(adopted).second.token == token);
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_is_cancelled_completes_at_once, state_world)
{
    auto held = acquire(make_client());
    for (auto const& link : links[0]) link->stop();
    asio::cancellation_signal stop;
    std::optional<error_code> published, inherits;
    held.publish("x", asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) { published = ec; }));
    pass(1ms);
    stop.emit(asio::cancellation_type::terminal);
    pass(1ms);
    BOOST_TEST((published && *published == asio::error::operation_aborted));
    held.inherited(asio::bind_cancellation_slot(stop.slot(), [&](error_code ec, published_state) { inherits = ec; }));
    pass(1ms);
    stop.emit(asio::cancellation_type::terminal);
    pass(1ms);
    BOOST_TEST((inherits && *inherits == asio::error::operation_aborted));
    inherits.reset();
    held.inherited([&](error_code ec, published_state) { inherits = ec; });
    pass(1ms);
    clients.front().cancel();
    pass(1ms);
    BOOST_TEST((inherits && *inherits == errc::client_cancelled));
}

BOOST_FIXTURE_TEST_CASE(others_see_who_holds_it_and_what_was_published, state_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto seen = peek(b);
    BOOST_TEST(!seen.held);
    BOOST_TEST(!seen.state);
    auto held = acquire(a);
    seen = peek(b);
    BOOST_TEST(seen.held);
    BOOST_TEST(seen.host == "host");
    BOOST_TEST(seen.pid == 42u);
    BOOST_TEST(seen.label == "label");
    BOOST_TEST((seen.since == std::chrono::system_clock::time_point{1'700'000'000s}));
    BOOST_TEST(!seen.state);
    BOOST_TEST(!publish(held, "10.0.0.1:80"));
    seen = peek(b);
    BOOST_TEST(seen.state.value == "10.0.0.1:80");
    BOOST_TEST(seen.state.token == held.token());
    BOOST_TEST(seen.is_holders);
    BOOST_TEST(seen.is_confirmed);
    release(held);
    seen = peek(b);
    BOOST_TEST(!seen.held);
    BOOST_TEST(seen.state.value == "10.0.0.1:80");
    BOOST_TEST(!seen.is_holders);
    auto next = acquire(b);
    seen = peek(a);
    BOOST_TEST(seen.held);
    BOOST_TEST(!seen.is_holders, "it is the former holder's");
}

BOOST_FIXTURE_TEST_CASE(what_only_a_minority_keeps_is_not_confirmed, state_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto held = acquire(a);
    BOOST_TEST(!publish(held, "old"));
    links[0][1]->stop();
    links[0][2]->stop();
    BOOST_TEST(publish(held, "new") == errc::no_majority);
    auto const seen = peek(b);
    BOOST_TEST(seen.state.value == "new");
    BOOST_TEST(!seen.is_confirmed);
}

BOOST_FIXTURE_TEST_CASE(a_look_ends_with_the_answers_that_decide, state_world)
{
    auto& a = make_client();
    make_client();
    auto& far = *links[1][2];
    far.back = 100ms;
    auto const look = [&](std::chrono::nanoseconds within) {
        auto const seen = std::make_shared<std::optional<lock_peek>>();  // it may be answered later
        redlock::lock{clients[1], "job", usual}.peek([seen](error_code, lock_peek p) { *seen = std::move(p); });
        pass(within);
        return *seen;
    };
    auto held = acquire(a);
    BOOST_TEST(!publish(held, "here"));
    auto seen = look(1ms);
    BOOST_TEST((seen && seen->held && seen->is_confirmed), "two of three keep both");

    pass(1s);
    servers[0]->del("job");
    BOOST_TEST(!look(1ms).has_value(), "the third decides whether it is held");
    seen = look(200ms);
    BOOST_TEST((seen && seen->held));

    pass(1s);
    servers[0]->del("job:published");
    BOOST_TEST(!look(1ms).has_value(), "the third decides what is confirmed");
    seen = look(200ms);
    BOOST_TEST((seen && seen->is_confirmed));
}

BOOST_FIXTURE_TEST_CASE(a_look_needs_a_majority, state_world)
{
    auto& a = make_client();
    links[0][0]->cut();
    BOOST_TEST(!peek(a).held);
    links[0][1]->cut();
    auto const [ec, seen] = await<error_code, lock_peek>([&](auto done) { redlock::lock{a, "job", usual}.peek(done); });
    BOOST_TEST(ec == errc::no_majority);
}

BOOST_FIXTURE_TEST_CASE(a_client_that_does_not_run_says_so_and_who_waits_for_a_change_waits_for_it, state_world)
{
    auto& a = make_client(false);
    auto const [ec, nothing] = await<error_code, lock_peek>([&](auto done) { redlock::lock{a, "job", usual}.peek(done); });
    BOOST_TEST(ec == errc::client_not_running);
    lock_peek other;
    other.held = true;
    std::optional<lock_peek> seen;
    redlock::lock{a, "job", usual}.wait_changed(other, [&](error_code, lock_peek p) { seen = p; });
    pass(1h);
    BOOST_TEST(!seen.has_value());
    a.run([](error_code) {});
    pass(1s);
    BOOST_TEST((seen && !seen->held));
    BOOST_TEST(links[0][0]->count(verb::peek) <= 2u, "what nobody wants any more is not sent");
}

BOOST_FIXTURE_TEST_CASE(who_waits_for_a_change_is_told_of_it, state_world)
{
    auto& a = make_client();
    auto& b = make_client();
    redlock::lock const job{b, "job", usual};
    auto const next = [&](lock_peek const& last) {
        auto result = std::make_shared<std::optional<lock_peek>>();
        job.wait_changed(last, [result](error_code ec, lock_peek seen) {
            BOOST_TEST(!ec, ec.message());
            *result = std::move(seen);
        });
        return result;
    };
    auto change = next(peek(b));
    pass(1min);
    BOOST_TEST(!change->has_value());
    auto held = acquire(a);
    pass(5ms);
    BOOST_TEST_REQUIRE(change->has_value());
    BOOST_TEST((*change)->held);
    change = next(**change);
    pass(1min);
    BOOST_TEST(!change->has_value(), "extensions are no news");
    BOOST_TEST(!publish(held, "here"));
    pass(5ms);
    BOOST_TEST_REQUIRE(change->has_value());
    BOOST_TEST((*change)->state.value == "here");
    change = next(**change);
    pass(11s);
    held.release([](error_code) {});
    pass(5ms);
    BOOST_TEST_REQUIRE(change->has_value());
    BOOST_TEST(!(*change)->held);
}

BOOST_FIXTURE_TEST_CASE(it_does_not_ask_while_nothing_changes, state_world)
{
    auto& b = make_client();
    redlock::lock{b, "job", usual}.wait_changed(peek(b), [](error_code, lock_peek) {});
    pass(1s);
    auto const asked = links[0][0]->count(verb::peek);
    pass(25s);
    BOOST_TEST(links[0][0]->count(verb::peek) == asked);
    pass(10s);
    BOOST_TEST(links[0][0]->count(verb::peek) == asked + 1, "a message of the node may be lost");
    clients.front().cancel();
}

BOOST_FIXTURE_TEST_CASE(a_holder_that_crashes_is_seen_to_be_gone, state_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto held = acquire(a);
    std::optional<lock_peek> change;
    redlock::lock{b, "job", usual}.wait_changed(peek(b), [&](error_code, lock_peek seen) { change = seen; });
    for (auto const& link : links[0]) link->cut(false);
    for (auto const& server : servers) server->says_expiry = false;
    pass(9s);
    BOOST_TEST(!change.has_value());
    pass(1100ms);
    BOOST_TEST_REQUIRE(change.has_value());
    BOOST_TEST(!change->held);
}

BOOST_FIXTURE_TEST_CASE(changes_of_the_same_client_are_seen, state_world)
{
    auto& a = make_client();
    std::optional<lock_peek> change;
    auto const wait = [&](lock_peek const& last) {
        change.reset();
        redlock::lock{a, "job", usual}.wait_changed(last, [&](error_code, lock_peek seen) { change = seen; });
    };
    wait(peek(a));
    auto held = acquire(a);
    pass(5ms);
    BOOST_TEST_REQUIRE((change && change->held));
    wait(lock_peek{*change});
    pass(5ms);
    BOOST_TEST(!publish(held, "x"));
    pass(5ms);
    BOOST_TEST_REQUIRE((change && change->state.value == "x"));
    wait(lock_peek{*change});
    pass(5ms);
    release(held);
    BOOST_TEST_REQUIRE((change && !change->held));
}

BOOST_FIXTURE_TEST_CASE(a_node_that_does_not_tell_is_asked, state_world)
{
    auto& a = make_client();
    auto& b = make_client();
    for (auto const& link : links[1]) link->watches = false;
    std::optional<lock_peek> change;
    auto options = usual;
    options.poll_interval = 500ms;
    redlock::lock{b, "job", options}.wait_changed(peek(b), [&](error_code, lock_peek seen) { change = seen; });
    pass(1s);
    auto held = acquire(a);
    pass(600ms);
    BOOST_TEST_REQUIRE(change.has_value());
    BOOST_TEST(change->held);
}

BOOST_FIXTURE_TEST_CASE(a_wait_ends_when_it_is_cancelled, state_world)
{
    auto& b = make_client();
    asio::cancellation_signal stop;
    std::optional<error_code> said;
    redlock::lock{b, "job", usual}.wait_changed(peek(b),
                                                asio::bind_cancellation_slot(stop.slot(), [&](error_code ec, lock_peek) { said = ec; }));
    pass(1s);
    stop.emit(asio::cancellation_type::terminal);
    pass(1ms);
    BOOST_TEST((said && *said == asio::error::operation_aborted));
}

BOOST_FIXTURE_TEST_CASE(a_state_that_is_none_of_ours_stays, state_world)
{
    auto held = acquire(make_client());
    for (auto const& server : servers) server->set("job:published", "something else", 1h);
    BOOST_TEST(!inherited(held).second);
    BOOST_TEST(publish(held, "x") == errc::no_majority);
    BOOST_TEST(*kept(0) == "something else");
}

BOOST_AUTO_TEST_CASE(no_lock_has_the_key_of_a_state)
{
    state_world w;
    auto& a = w.make_client();
    BOOST_CHECK_THROW((redlock::lock{a, "x:published"}), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
