// One primary with two replicas, of which one is behind. The primary dies, and the replica that is behind takes its place. Other libraries lose
// their locks then. Ours does not, with `replicas=1`.
#include "peers.hpp"
#include "support/replicated.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <string>

namespace redlock::testing {
namespace {

peer const node_redlock_on_one{"node-redlock", "holder.mjs", 1, "raw"};
auto const peers_on_one_server = boost::unit_test::data::make({node_redlock_on_one, redis_py});

config with_short_quarantine()
{
    config settings = quick_config();
    settings.max_ttl = 3s;
    return settings;
}

}  // namespace

// `replicas[0]` is promoted at the end, and has nothing that was written after the construction.
struct failover_of_one_group : replicated {
    failover_of_one_group() : replicated{"?replicas=1", 2, with_short_quarantine(), {}, beginning::admitted}
    {
        keys_may_stay = true;
        // A promoted server waits for the longest ttl that its record allows, and the fixture has written one of a minute.
        primary().command({"EVAL", "redis.call('SET', KEYS[1], (string.gsub(redis.call('GET', KEYS[1]), '0000060000', '0000003000')))", "1",
                           "redlock:node"});
        wait_for_replicas(primary(), 2);
        redis_server nobody;
        nobody.kill();
        follow(replicas[0], nobody);
    }

    void fail_over()
    {
        fail_over_to(0);
        follow(replicas[1], replicas[0]);
        wait_for_replicas(replicas[0], 1);
    }

    temporary_folder folder;
};

BOOST_AUTO_TEST_SUITE(failover_of_a_group)

BOOST_DATA_TEST_CASE(two_of_another_library_hold_the_lock, peers_on_one_server, other)
{
    if (!is_here(other)) return;
    failover_of_one_group c;
    c.run([&]() -> asio::awaitable<void> {
        auto const executor = co_await asio::this_coro::executor;
        auto const first = start_process(other, executor, {c.primary().port()}, c.folder.path() / "first");
        auto ready = co_await first->hear();
        BOOST_TEST_REQUIRE(ready.word == "ready");
        auto held = co_await first->ask("acquire r 20000");
        BOOST_TEST_REQUIRE(held.word == "held");
        c.fail_over();
        auto const second = start_process(other, executor, {c.replicas[0].port()}, c.folder.path() / "second");
        ready = co_await second->hear();
        BOOST_TEST_REQUIRE(ready.word == "ready");
        auto const too = co_await second->ask("acquire r 20000");
        BOOST_TEST(too.word == "held");
        BOOST_TEST((too.at - held.at < 20s), "while the first one counts on it");
    });
}

BOOST_AUTO_TEST_CASE(ours_is_not_acquired_again_while_its_holder_counts_on_it)
{
    failover_of_one_group c;
    c.run([&]() -> asio::awaitable<void> {
        lock_options const options{.ttl = 3s, .node_timeout = 1s, .auto_extend = false};
        lock const resource{c.nodes, "r", options};
        lease const first = co_await resource.acquire();
        BOOST_TEST(has(c.replicas[1], "r"));
        BOOST_TEST(!has(c.replicas[0], "r"));
        c.fail_over();

        auto const other = c.client_of(c.replicas[0], "?replicas=1", with_short_quarantine());
        lock const same{*other, "r", options};
        lease const second = co_await same.acquire();
        bool const overlapped = first.valid();
        BOOST_TEST(!overlapped);
        BOOST_TEST(second.valid());
        BOOST_TEST(second.token() > first.token());
        other->cancel();
        bool const ended = co_await eventually([&] { return c.clients_running() == 1; });
        BOOST_TEST(ended);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
