// What only one of the other libraries does.
#include "peers.hpp"

#include <string>

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(node_redlock_alone)

BOOST_AUTO_TEST_CASE(several_names_exclude_each_other)
{
    if (!is_here(node_redlock)) return;
    two_libraries both{node_redlock};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock const ab{both.nodes, {"a", "b"}, quick}, bc{both.nodes, {"b", "c"}, quick}, b{both.nodes, "b", quick};
        co_await both.expect(*theirs, "acquire a,b 20000", "held");
        for (lock const* refused : {&bc, &b}) {
            auto [ec, nothing] = co_await refused->try_acquire(asio::as_tuple);
            BOOST_TEST(ec == condition::contended);
        }
        co_await both.nodes.drain();
        BOOST_TEST(both.servers_with("c") == 0u);
        co_await both.expect(*theirs, "release", "released");
        lease held = co_await ab.acquire();
        for (char const* refused : {"acquire b,c 20000", "acquire b 20000"}) co_await both.expect(*theirs, refused, "refused");
        BOOST_TEST(both.servers_with("c") == 0u);
        co_await held.release();
    });
}

// What a mixed fleet loses: nodes that forgot our lease may not vote for us until it must be over, but they vote for the other.
BOOST_AUTO_TEST_CASE(it_takes_what_nodes_that_forgot_grant)
{
    if (!is_here(node_redlock)) return;
    two_libraries both{node_redlock};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock const resource{both.nodes, "r", quick};
        lease held = co_await resource.acquire();
        co_await both.nodes.drain();
        for (std::size_t const forgetful : {1U, 2U}) both.servers[forgetful].command({"FLUSHALL"});
        auto const another = both.another_client();
        auto refused = quick;
        refused.acquire_timeout = 1s;
        lock const ours{*another, "r", refused};
        auto [ec, nothing] = co_await ours.acquire(asio::as_tuple);
        BOOST_TEST((ec == condition::timed_out), ec.message());  // one node holds it, and two may not vote: who holds it is not known
        co_await another->drain();
        co_await both.expect(*theirs, "acquire r 20000", "held");
        BOOST_TEST(held.valid());
        co_await both.expect(*theirs, "release", "released");
        co_await held.release(asio::as_tuple);
        another->cancel();
    });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(redis_py_alone)

BOOST_AUTO_TEST_CASE(a_lock_without_an_end_is_waited_for)
{
    if (!is_here(redis_py)) return;
    two_libraries both{redis_py};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock_options options = quick;
        options.acquire_timeout = 1s;
        lock const impatient_one{both.nodes, "r", options}, resource{both.nodes, "r", quick};
        co_await both.expect(*theirs, "acquire r 0", "held");
        BOOST_TEST(both.ttl_left(0, "r").count() == -1);
        auto [ec, nothing] = co_await impatient_one.acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::acquire_timed_out);
        co_await both.expect(*theirs, "release", "released");
        lease const held = co_await resource.acquire();
        BOOST_TEST(held.valid());
    });
}

// So that the ttl can outgrow everybody's max_ttl; reacquire() goes back to that of the lock.
BOOST_AUTO_TEST_CASE(its_extend_adds_to_what_is_left)
{
    if (!is_here(redis_py)) return;
    two_libraries both{redis_py};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        co_await both.expect(*theirs, "acquire r 20000", "held");
        for (int i = 0; i < 3; ++i) co_await both.expect(*theirs, "add 20000", "extended");
        BOOST_TEST((both.ttl_left(0, "r") > 65s));
        co_await both.expect(*theirs, "reacquire", "extended");
        BOOST_TEST((both.ttl_left(0, "r") <= 20s));
        lock const resource{both.nodes, "r", quick};
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == condition::contended);
        co_await both.expect(*theirs, "release", "released");
    });
}

BOOST_AUTO_TEST_CASE(another_thread_of_its_holder_cannot_release)
{
    if (!is_here(redis_py)) return;
    two_libraries both{redis_py};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        co_await both.expect(*theirs, "acquire r 20000", "held");
        co_await both.expect(*theirs, "release_elsewhere", "refused");
        lock const resource{both.nodes, "r", quick};
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == condition::contended);
        co_await both.expect(*theirs, "release", "released");
    });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(redlock_net_alone)

// Its timer goes on after its lock is over, and sets keys that it does not find.
BOOST_AUTO_TEST_CASE(its_late_extensions_take_nodes_that_we_lack)
{
    if (!is_here(redlock_net)) return;
    two_libraries both{redlock_net};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock_options options = quick;
        options.auto_extend = false;
        lock const resource{both.nodes, "r", options};
        co_await both.expect(*theirs, "acquire r 200", "held");
        bool const over = co_await eventually([&] { return both.servers_with("redlock:r") == 0; });
        BOOST_TEST_REQUIRE(over);
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST_REQUIRE(everywhere);
        both.servers[2].command({"DEL", "redlock:r"});
        co_await both.expect(*theirs, "extend 20000", "lost");
        BOOST_TEST(both.servers_with("redlock:r") == 3u);
        BOOST_TEST(both.value(2, "redlock:r") != both.value(0, "redlock:r"));
        BOOST_TEST(held.valid());
        co_await held.extend();
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(!released);
        co_await both.nodes.drain();
        co_await both.expect(*theirs, "extend 20000", "extended");
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == condition::contended);
        co_await both.expect(*theirs, "release", "released");
    });
}

// Whoever does not know the format has another lock.
BOOST_AUTO_TEST_CASE(without_its_key_format_there_are_two_locks)
{
    if (!is_here(redlock_net)) return;
    two_libraries both{redlock_net};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        auto const raw = both.cluster::another_client();
        lock const same_name{*raw, "r", quick}, same_key{*raw, "redlock:r", quick};
        co_await both.expect(*theirs, "acquire r 20000", "held");
        lease held = co_await same_name.acquire();
        BOOST_TEST(held.valid());
        auto [ec, nothing] = co_await same_key.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == condition::contended);
        co_await held.release();
        co_await both.expect(*theirs, "release", "released");
        co_await raw->drain();
        raw->cancel();
    });
}

BOOST_AUTO_TEST_CASE(several_names_have_a_key_each)
{
    if (!is_here(redlock_net)) return;
    two_libraries both{redlock_net};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock const resource{both.nodes, {"b", "a"}, quick};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.name() == "a, b");
        for (char const* one : {"acquire a 20000", "acquire b 20000"}) co_await both.expect(*theirs, one, "refused");
        co_await held.release();
        co_await both.nodes.drain();
        co_await both.expect(*theirs, "acquire b 20000", "held");
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == condition::contended);
        co_await both.expect(*theirs, "release", "released");
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
