// Read-write locks over nodes in memory: readers together, writers alone, who waits for whom and for how long, tokens, and the way down.
#include "support/shared_world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <random>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using testing::memory_node;
using testing::virtual_clock;
using time_point = detail::time_point;
using duration = detail::duration;
using detail::verb;

// A read-write lock "resource" of several clients.
struct rw_world : testing::shared_world {
    enum class how { read, write, try_read, try_write };

    call& ask(redlock::client& by, how what, lock_options const& options = usual)
    {
        return ask_with([&](call& a, auto handler) {
            rw_lock const both{by, "resource", options};
            switch (what) {
            case how::read: both.acquire_shared(a.report, std::move(handler)); break;
            case how::write: both.acquire(a.report, std::move(handler)); break;
            case how::try_read: both.try_acquire_shared(a.report, std::move(handler)); break;
            case how::try_write: both.try_acquire(a.report, std::move(handler)); break;
            }
        });
    }
    call& read(redlock::client& by, lock_options const& options = usual) { return granted_soon(ask(by, how::read, options)); }
    call& write(redlock::client& by, lock_options const& options = usual) { return granted_soon(ask(by, how::write, options)); }

    std::optional<testing::redis_model::reader_set> readers(std::size_t server)
    {
        auto const* const e = servers[server]->memory().find("resource", servers[server]->wall());
        return e ? e->readers : std::nullopt;
    }

    static constexpr lock_options usual{.ttl = 10s};
};

}  // namespace

// Without the deleted constructors, two names in braces would be the beginning and the end of one std::string.
template <class L>
concept takes_one_name = requires(client const& c) { L{c, "a", {.ttl = 1s}}; };
template <class L>
concept takes_names = requires(client const& c) { L{c, {"a", "b"}}; };
template <class L>
concept takes_a_vector = requires(client const& c, std::vector<std::string> const& names) { L{c, names}; };
template <class L>
concept takes_names_with_modes = requires(client const& c) { L{c, {{"a", lock_mode::shared}, {"b", lock_mode::exclusive}}}; };

BOOST_AUTO_TEST_SUITE(rw_lock_story)

BOOST_FIXTURE_TEST_CASE(readers_hold_it_together_in_one_round_trip_and_share_a_token, rw_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& first = read(a);
    auto const began = virtual_clock::now();
    auto& second = ask(b, how::read);
    auto& third = ask(b, how::read);
    pass(100us);
    BOOST_REQUIRE(second.granted());
    BOOST_REQUIRE(third.granted());
    BOOST_TEST((third.at - began == 100us));
    BOOST_TEST((first.held.mode() == lock_mode::shared));
    BOOST_TEST(first.held.token() > 0u);
    BOOST_TEST(second.held.token() == first.held.token());
    BOOST_TEST(third.held.token() == first.held.token());
    BOOST_TEST(!second.held.next_token());
    BOOST_TEST(second.held.nodes_held() == 3u);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(readers(i)->ends.size() == 3u);
    BOOST_TEST(!release(second.held));
    BOOST_TEST(!release(first.held));
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(readers(i)->ends.size() == 1u);
    BOOST_TEST(!release(third.held));
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(!servers[i]->get("resource").has_value());
}

BOOST_FIXTURE_TEST_CASE(a_writer_keeps_out_readers_and_writers_and_has_a_token_between_theirs, rw_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& before = read(a);
    auto& no_writer = ask(b, how::try_write);
    pass(1ms);
    BOOST_TEST(*no_writer.ec == errc::contended);
    BOOST_TEST(!release(before.held));
    auto& writer = write(b);
    BOOST_TEST((writer.held.mode() == lock_mode::exclusive));
    for (auto* who : {&a, &b}) {
        auto& no_reader = ask(*who, how::try_read);
        pass(1ms);
        BOOST_TEST(*no_reader.ec == errc::contended);
    }
    BOOST_TEST(!release(writer.held));
    auto& after = read(a);
    BOOST_TEST(writer.held.token() > before.held.token());
    BOOST_TEST(after.held.token() > writer.held.token());
}

BOOST_FIXTURE_TEST_CASE(a_lock_of_that_name_is_a_writer_without_knowing_it, rw_world)
{
    auto& a = make_client();
    auto& b = make_client();
    std::optional<error_code> ec;
    lease held;
    redlock::lock const plain{b, "resource", {.ttl = 10s, .fencing = false}};
    auto const try_it = [&] {
        ec.reset();
        plain.try_acquire([&](error_code e, lease l) {
            ec = e;
            held = std::move(l);
        });
        settle();
        pass(1ms);
    };
    auto& reader = read(a);
    try_it();
    BOOST_TEST(*ec == errc::contended);
    BOOST_TEST(!release(reader.held));
    try_it();
    BOOST_TEST(!*ec);
    auto& no_reader = ask(a, how::try_read);
    pass(1ms);
    BOOST_TEST(*no_reader.ec == errc::contended);
}

BOOST_FIXTURE_TEST_CASE(a_writer_waits_for_the_readers_that_were_there_and_later_readers_for_the_writer, rw_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& c = make_client();
    auto& first = read(a);
    auto& second = read(b);
    auto& writer = ask(c, how::write);
    pass(5ms);
    BOOST_TEST(!writer.ec.has_value());
    BOOST_TEST(sent(verb::want) == 3u);
    auto& late = ask(a, how::read);
    pass(3s);  // the wish is renewed, and the readers are extended
    BOOST_TEST(!late.ec.has_value());
    BOOST_TEST(!writer.ec.has_value());
    BOOST_TEST(first.held.valid());
    BOOST_TEST(!release(first.held));
    pass(100ms);
    BOOST_TEST(!writer.ec.has_value());
    BOOST_TEST(!release(second.held));
    pass(100ms);
    BOOST_REQUIRE(writer.granted());
    BOOST_TEST(!late.ec.has_value());
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(!servers[i]->get("resource:want").has_value());
    BOOST_TEST(!release(writer.held));
    pass(100ms);
    BOOST_REQUIRE(late.granted());
    BOOST_TEST(late.held.token() > writer.held.token());
}

BOOST_FIXTURE_TEST_CASE(readers_that_waited_for_a_writer_go_before_the_next_one_and_together, rw_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& c = make_client();
    auto& d = make_client();
    auto& writer = write(a);
    auto& one = ask(b, how::read);
    auto& two = ask(b, how::read);
    auto& other = ask(c, how::read);
    pass(50ms);
    // The next writer's wish alone; it does not race.
    for (auto& server : servers) server->set("resource:want", "somebody", 20s);
    auto& late = ask(d, how::read);
    pass(5ms);
    BOOST_TEST(!release(writer.held));
    pass(200ms);
    BOOST_TEST(one.granted());
    BOOST_TEST(two.granted());
    BOOST_TEST(other.granted());
    BOOST_TEST(late.granted());  // it was refused by the writer, too
    auto& too_late = ask(d, how::try_read);
    pass(5ms);
    BOOST_TEST(*too_late.ec == errc::contended);
}

// Neither with those readers that waited, nor after one that gave up.
BOOST_FIXTURE_TEST_CASE(who_has_not_waited_for_a_writer_is_behind_the_next_one, rw_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& writer = write(a);
    auto& one = ask(b, how::read);
    auto& two = ask(b, how::read);
    pass(50ms);
    for (auto& server : servers) server->set("resource:want", "somebody", 20s);
    for (std::size_t i = 3; i < 6; ++i) links[i]->there = 2ms;  // of the readers' client
    BOOST_TEST(!release(writer.held));
    for (int i = 0; i < 100 && !one.granted() && !two.granted(); ++i) pass(1ms);
    BOOST_REQUIRE(one.granted() != two.granted());
    auto& late = ask(b, how::read);
    pass(50ms);
    BOOST_TEST(one.granted());
    BOOST_TEST(two.granted());
    BOOST_TEST(!late.ec.has_value());
}

BOOST_FIXTURE_TEST_CASE(a_reader_that_gave_up_has_not_waited_for_others, rw_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& writer = write(a);
    auto& gives_up = ask(b, how::read);
    pass(50ms);
    gives_up.signal.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_TEST(*gives_up.ec == asio::error::operation_aborted);
    BOOST_TEST(!release(writer.held));
    for (auto& server : servers) server->set("resource:want", "somebody", 20s);
    auto& late = ask(b, how::read);
    pass(5ms);
    BOOST_TEST(!late.ec.has_value());
}

BOOST_FIXTURE_TEST_CASE(neither_readers_nor_writers_starve, rw_world)
{
    // Six clients that always want it: four read, two write.
    struct user {
        redlock::client* by;
        how what;
        call* now{nullptr};
        std::optional<time_point> until{};
        time_point since{};
        int turns{0};
        duration longest{};
    };
    std::vector<user> users;
    for (int i = 0; i < 6; ++i) users.push_back({&make_client(), i < 4 ? how::read : how::write});
    std::minstd_rand random{1};
    for (auto& link : links) link->lingers = [&] { return duration{random() % 200'000}; };  // nobody is always the first
    int at_once = 0;
    for (int step = 0; step < 20'000; ++step) {
        int reading = 0;
        int writing = 0;
        for (user& u : users) {
            if (!u.now) {
                u.now = &ask(*u.by, u.what);
                u.since = virtual_clock::now();
            } else if (u.now->granted() && !u.until) {
                u.longest = std::max(u.longest, u.now->at - u.since);
                u.until = virtual_clock::now() + 5ms;
            } else if (u.until && virtual_clock::now() >= *u.until) {
                u.now->held = lease{};
                u.now = nullptr;
                u.until.reset();
                ++u.turns;
            }
            if (u.now && u.now->granted()) ++(u.what == how::read ? reading : writing);
        }
        BOOST_REQUIRE(writing <= 1);
        BOOST_REQUIRE((writing == 0 || reading == 0));
        at_once = std::max(at_once, reading);
        pass(500us);
    }
    BOOST_TEST(at_once == 4);
    for (user const& u : users) {
        BOOST_TEST_CONTEXT((u.what == how::read ? "a reader" : "a writer")
                           << " had it " << u.turns << " times, waited at most " << u.longest / 1ms << " ms")
        {
            BOOST_TEST(u.turns > 100);
            BOOST_TEST((u.longest < 500ms));
        }
    }
}

BOOST_FIXTURE_TEST_CASE(the_watchdog_extends_many_readers_in_one_message, rw_world)
{
    auto& a = make_client();
    std::vector<call*> all;
    for (int i = 0; i < 20; ++i) all.push_back(&ask(a, how::read));
    pass(1ms);
    auto const before = links[0]->batches;
    auto const extended = links[0]->count(verb::extend);
    pass(3'400ms);
    BOOST_TEST(links[0]->count(verb::extend) - extended == 20u);
    BOOST_TEST(links[0]->batches - before == 1u);
    pass(30s);
    for (auto* each : all) BOOST_TEST(each->held.valid());
    BOOST_TEST(readers(0)->ends.size() == 20u);
}

BOOST_FIXTURE_TEST_CASE(a_reader_is_set_again_on_a_node_that_lost_it_and_lost_where_a_majority_did, rw_world)
{
    auto& a = make_client();
    auto& reader = read(a);
    servers[0]->del("resource");
    pass(4s);
    BOOST_TEST(readers(0)->ends.size() == 1u);
    std::optional<error_code> lost;
    reader.held.wait_lost([&](error_code ec) { lost = ec; });
    // Somebody else takes it away on two nodes: another value, and larger counters.
    for (std::size_t i = 0; i < 2; ++i) {
        servers[i]->del("resource");
        servers[i]->set("resource", "another", 60s);
    }
    pass(4s);
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(*lost == errc::lease_lost);
    BOOST_TEST(!reader.held.valid());
}

BOOST_FIXTURE_TEST_CASE(cancellation_and_the_end_of_a_client_leave_nothing, rw_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& writer = write(a);
    auto& reader = ask(b, how::read);
    auto& second = ask(b, how::read);
    pass(20ms);
    second.signal.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_TEST(*second.ec == asio::error::operation_aborted);
    reader.signal.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_TEST(*reader.ec == asio::error::operation_aborted);
    BOOST_TEST(!release(writer.held));
    auto& again = read(b);
    auto& waiting = ask(a, how::write);
    pass(20ms);
    BOOST_TEST(servers[1]->get("resource:want").has_value());
    auto& behind_the_wish = ask(a, how::read);
    pass(20ms);
    BOOST_TEST(!behind_the_wish.ec.has_value());
    waiting.signal.emit(asio::cancellation_type::terminal);
    pass(1ms);
    BOOST_TEST(behind_the_wish.granted());
    behind_the_wish.held = lease{};
    pass(1ms);
    BOOST_TEST(*waiting.ec == asio::error::operation_aborted);
    for (auto& server : servers) BOOST_TEST(!server->get("resource:want").has_value());
    b.cancel();
    settle();
    BOOST_TEST(again.held.lost_error() == errc::client_cancelled);
    again.held = lease{};
    pass(1s);
    auto& a_writer = write(a);
    BOOST_TEST(a_writer.held.valid());
}

BOOST_FIXTURE_TEST_CASE(a_reader_that_crashed_keeps_writers_out_until_its_ttl_is_over, rw_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& lives = read(a, {.ttl = 3s});
    {
        auto const began = virtual_clock::now();
        for (std::size_t i = 0; i < 3; ++i) {
            auto& memory = servers[i]->memory();
            auto e = *memory.find("resource", servers[i]->wall());
            e.readers->ends["of nobody"] = virtual_clock::now() + 5s;
            e.expires = virtual_clock::now() + 5s;
            memory.put(e);
        }
        auto& writer = ask(b, how::write);
        pass(100ms);
        BOOST_TEST(!release(lives.held));
        pass(4'800ms);
        BOOST_TEST(!writer.ec.has_value());
        pass(300ms);
        BOOST_REQUIRE(writer.granted());
        BOOST_TEST((writer.at - began < 5'200ms));
    }
}

BOOST_FIXTURE_TEST_CASE(who_would_wait_for_itself_is_told_so, rw_world)
{
    auto& a = make_client();
    lock_options const mine{.ttl = 10s, .owner = new_owner()};
    auto& outer = read(a, mine);
    auto& inner = ask(a, how::read, mine);
    BOOST_REQUIRE(inner.granted());  // at once: nothing is sent
    BOOST_TEST((inner.held.mode() == lock_mode::shared));
    auto& upgrade = ask(a, how::write, mine);
    BOOST_REQUIRE(upgrade.ec.has_value());
    BOOST_TEST(*upgrade.ec == errc::self_deadlock);
    BOOST_TEST(!release(outer.held));
    BOOST_TEST(!release(inner.held));
    auto& writer = write(a, mine);
    auto& reads_too = ask(a, how::read, mine);
    BOOST_REQUIRE(reads_too.granted());
    BOOST_TEST((reads_too.held.mode() == lock_mode::exclusive));
    BOOST_TEST(reads_too.held.token() == writer.held.token());
}

BOOST_FIXTURE_TEST_CASE(scopes_read_together_and_refuse_to_upgrade, rw_world)
{
    auto& a = make_client();
    rw_lock const both{a, "resource", usual};
    error_code upgraded;
    error_code again;
    auto body = [&](lease& held) -> asio::awaitable<int> {
        BOOST_TEST((held.mode() == lock_mode::shared));
        auto upgrade = both.acquire(asio::as_tuple(asio::use_awaitable));
        auto [ec, none] = co_await std::move(upgrade);
        upgraded = ec;
        auto once_more = both.acquire_shared(asio::as_tuple(asio::use_awaitable));
        auto [ec2, none2] = co_await std::move(once_more);
        again = ec2;
        co_return 7;
    };
    std::optional<int> result;
    asio::co_spawn(*context, with_shared_lock(both, std::ref(body)), [&](std::exception_ptr e, int value) {
        if (!e) result = value;
    });
    pass(10ms);
    BOOST_TEST(upgraded == errc::self_deadlock);
    BOOST_TEST(again == errc::self_deadlock);
    BOOST_TEST(result.value_or(0) == 7);
    auto writes = [&](lease& held) -> asio::awaitable<int> {
        BOOST_TEST((held.mode() == lock_mode::exclusive));
        co_return 8;
    };
    asio::co_spawn(*context, with_lock(both, std::ref(writes)), [&](std::exception_ptr e, int value) {
        if (!e) result = value;
    });
    pass(10ms);
    BOOST_TEST(result.value_or(0) == 8);
}

BOOST_FIXTURE_TEST_CASE(a_downgrade_lets_readers_in_and_no_writer, rw_world)
{
    auto& a = make_client();
    auto& b = make_client();
    auto& c = make_client();
    auto& held = write(a);
    auto const token = held.held.token();
    auto& reader = ask(b, how::read);
    auto& mine = ask(a, how::read);
    pass(20ms);
    BOOST_TEST(!wait_for([&](auto done) { held.held.downgrade(done); }));
    BOOST_TEST((held.held.mode() == lock_mode::shared));
    BOOST_TEST(held.held.token() == token);
    pass(50ms);
    BOOST_REQUIRE(reader.granted());
    BOOST_REQUIRE(mine.granted());
    BOOST_TEST(reader.held.token() > token);
    auto& writer = ask(c, how::write);
    auto& own_writer = ask(a, how::write);
    pass(30s);
    BOOST_TEST(held.held.valid());
    BOOST_TEST(!writer.ec.has_value());
    BOOST_TEST(!own_writer.ec.has_value());
    BOOST_TEST(!wait_for([&](auto done) { held.held.downgrade(done); }));  // nothing to do
    BOOST_TEST(!release(reader.held));
    BOOST_TEST(!release(mine.held));
    pass(1s);
    BOOST_TEST(!writer.ec.has_value());
    BOOST_TEST(!release(held.held));
    pass(1s);
    BOOST_TEST(writer.granted() != own_writer.granted());
}

BOOST_FIXTURE_TEST_CASE(a_node_that_missed_the_downgrade_hears_of_it_later_and_keeps_nothing_after_the_release, rw_world)
{
    auto& a = make_client();
    auto& held = write(a);
    links[0]->stop();
    BOOST_TEST(!wait_for([&](auto done) { held.held.downgrade(done); }));
    BOOST_TEST(servers[0]->get("resource").value_or("") != "");  // still the writer's string
    BOOST_TEST(!release(held.held));
    links[0]->go_on();
    pass(1s);
    for (auto& server : servers) BOOST_TEST(server->keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(what_cannot_be_downgraded_says_so, rw_world)
{
    auto& a = make_client();
    std::optional<error_code> ec;
    lease plain;
    redlock::lock{a, "plain"}.acquire([&](error_code e, lease l) {
        ec = e;
        plain = std::move(l);
    });
    settle();
    pass(1ms);
    BOOST_TEST(wait_for([&](auto done) { plain.downgrade(done); }) == asio::error::operation_not_supported);
    BOOST_TEST(plain.valid());
    lease none;
    BOOST_TEST(wait_for([&](auto done) { none.downgrade(asio::bind_executor(context->get_executor(), done)); }) == errc::not_held);
    auto& gone = write(a);
    BOOST_TEST(!release(gone.held));
    BOOST_TEST(wait_for([&](auto done) { gone.held.downgrade(done); }) == errc::not_held);
}

BOOST_FIXTURE_TEST_CASE(names_and_options_that_make_no_sense_are_refused, rw_world)
{
    auto& a = make_client();
    BOOST_CHECK_THROW((rw_lock{a, "resource", {.fencing = false}}), std::invalid_argument);
    BOOST_CHECK_THROW((rw_lock{a, ""}), std::invalid_argument);
    static_assert(takes_one_name<lock> && takes_names<lock> && takes_a_vector<lock>);
    static_assert(takes_one_name<rw_lock> && !takes_names<rw_lock> && !takes_a_vector<rw_lock> && !takes_names_with_modes<rw_lock>);
    BOOST_CHECK_THROW((rw_lock{a, "x:want"}), std::invalid_argument);
    BOOST_CHECK_THROW((redlock::lock{a, "x:want"}), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
