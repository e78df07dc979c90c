// Servers that were nodes, and are changed while they are connected: by an operator, or by a failover.
#include "support/mentions.hpp"
#include "support/replication.hpp"
#include "support/tcp_proxy.hpp"
#include "support/two_nodes_and.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {
namespace {

constexpr lock_options plain{.ttl = 20s, .fencing = false, .node_timeout = 400ms};

struct with_a_policy : cluster {
    with_a_policy() : cluster{3, quick_config(), {.arguments = {"--maxmemory", "0", "--maxmemory-policy", "allkeys-lru"}}} {}
};

// The third node is behind an address that moves.
struct moving_address : two_nodes_and {
    moving_address() : two_nodes_and{3}
    {
        admit(first);
        admit(second);
        make_client(node_address::from_url("redis://127.0.0.1:" + std::to_string(way.ports()[0])));
    }

    // As after a failover; the address follows a moment later.
    asio::awaitable<void> fail_over()
    {
        follow(first, second);
        bool const left = co_await eventually([&] { return third().state == node_state::down; });
        BOOST_TEST(left);
        BOOST_TEST(third().last_error == errc::node_unsuitable);
        BOOST_TEST(mentions(third().last_error_text, "the server is a replica"), third().last_error_text);
        // A primary takes another id when its first replica arrives.
        bool const followed = co_await eventually(
            [&] { return mentions(first.command({"INFO", "replication"}), "master_link_status:up"); });
        BOOST_TEST(followed);
        admit(second);
        way.redirect(0, second.port());
        bool const back = co_await eventually(
            [&] { return third().state == node_state::usable && third().admission == admission_state::admitted; }, 5s);
        BOOST_TEST(back, third().last_error_text << third().admission_text);
        BOOST_TEST(third().connects == 2u);
    }

    asio::awaitable<void> expect_votes_of_the_second(lock_options options)
    {
        lock const resource{nodes, "after", options};
        auto acquiring = resource.acquire();
        lease held = co_await std::move(acquiring);
        auto held_by_all = eventually([&] { return held.nodes_held() == 3; });
        bool const everywhere = co_await std::move(held_by_all);
        BOOST_TEST(everywhere);
        BOOST_TEST(second.command({"EXISTS", "after"}) == "1");
    }

    redis_server first{quick_to_copy({})}, second{quick_to_copy({})};
    tcp_proxy way{{first.port()}};
};

// The third node is behind an address that leads to one server and then to the other, both of which run.
struct balanced_address : two_nodes_and {
    balanced_address() : two_nodes_and{3} {}

    void connect(config settings, std::shared_ptr<observer> const& who = {})
    {
        for (auto const& good : servers) settings.nodes.push_back(node_address::from_url(good.url()));
        settings.nodes.push_back(node_address::from_url("redis://127.0.0.1:" + std::to_string(way.ports()[0])));
        nodes = redlock::client{io.get_executor(), settings, who};
    }

    asio::awaitable<void> lead_to(redis_server const& other, std::uint64_t connection)
    {
        way.redirect(0, other.port());
        way.cut(0);
        auto connecting = eventually([=, this] { return third().connects == connection && third().state == node_state::usable; });
        bool const connected = co_await std::move(connecting);
        BOOST_TEST(connected, third().last_error_text);
    }

    asio::awaitable<void> lead_to_both()
    {
        BOOST_TEST(third().address_text == "");
        auto away = lead_to(second, 2);
        co_await std::move(away);
        auto back = lead_to(first, 3);
        co_await std::move(back);
        BOOST_TEST(mentions(third().address_text, "several servers answer at this address"), third().address_text);
    }

    redis_server first, second;
    tcp_proxy way{{first.port()}};
};

struct hears_of_nodes final : observer {
    void on_node_up(event::node_up const& e) override { text = e.text; }
    std::string text;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(changing_servers)

BOOST_FIXTURE_TEST_CASE(a_bound_and_a_policy_that_evicts_take_the_vote_and_give_it_back, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].command({"CONFIG", "SET", "maxmemory", "100mb"});
        servers[0].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
        bool const noticed = co_await eventually([&] { return nodes.status().nodes[0].last_error == errc::node_unsuitable; }, 5s);
        BOOST_TEST(noticed);
        auto const status = nodes.status().nodes[0];
        BOOST_TEST((status.state == node_state::down));
        BOOST_TEST(mentions(status.last_error_text, "maxmemory-policy allkeys-lru"), status.last_error_text);
        lock const resource{nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.nodes_held() == 2u);

        servers[0].command({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
        bool const back = co_await eventually([&] { return nodes.status().nodes[0].state == node_state::usable; });
        BOOST_TEST(back);
        co_await held.extend();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
    });
}

// Each look is followed by another one.
BOOST_FIXTURE_TEST_CASE(a_policy_that_changes_after_the_first_look, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].command({"CONFIG", "RESETSTAT"});
        bool const looked = co_await eventually([&] { return mentions(servers[0].command({"INFO", "commandstats"}), "cmdstat_time:"); });
        BOOST_TEST(looked);  // nobody else asks for the time
        BOOST_TEST((nodes.status().nodes[0].state == node_state::usable));
        servers[0].command({"CONFIG", "SET", "maxmemory", "100mb"});
        servers[0].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
        bool const noticed = co_await eventually([&] { return nodes.status().nodes[0].last_error == errc::node_unsuitable; }, 5s);
        BOOST_TEST(noticed);
    });
}

// It is refused whenever it is connected to, so what was locked is released before its connection ends.
BOOST_FIXTURE_TEST_CASE(a_server_that_begins_to_evict_takes_releases, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return servers_with("r") == 3; });
        BOOST_TEST(everywhere);
        servers[0].command({"CONFIG", "SET", "maxmemory", "100mb"});
        servers[0].command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
        bool const noticed = co_await eventually([&] { return nodes.status().nodes[0].last_error == errc::node_unsuitable; }, 5s);
        BOOST_TEST(noticed);
        co_await held.release();
        bool const gone = co_await eventually([&] { return servers_with("r") == 0; }, 5s);
        BOOST_TEST(gone);
    });
}

BOOST_FIXTURE_TEST_CASE(memory_that_is_squeezed_under_a_policy_that_evicts, with_a_policy)
{
    run([&]() -> asio::awaitable<void> {
        servers[1].command({"CONFIG", "SET", "maxmemory", "100mb"});
        bool const noticed = co_await eventually([&] { return nodes.status().nodes[1].last_error == errc::node_unsuitable; }, 5s);
        BOOST_TEST(noticed);
        BOOST_TEST(mentions(nodes.status().nodes[1].last_error_text, "maxmemory 104857600"));
        servers[1].command({"CONFIG", "SET", "maxmemory", "0"});
        bool const back = co_await eventually([&] { return nodes.status().nodes[1].state == node_state::usable; });
        BOOST_TEST(back);
    });
}

// It is not asked again and again for what it refuses.
BOOST_AUTO_TEST_CASE(a_user_who_may_not_ask_for_info_does_not)
{
    redis_server server;
    server.command({"ACL", "SETUSER", "locker", "on", ">s3cr3t", "~*", "&*", "+@all", "-info"});
    admit(server);
    cluster c{1};
    config settings = quick_config();
    settings.nodes = {node_address::from_url("redis://locker:s3cr3t@127.0.0.1:" + std::to_string(server.port()))};
    c.nodes = redlock::client{c.io.get_executor(), settings};
    c.usable_at_start = 1;
    c.run([&]() -> asio::awaitable<void> {
        server.command({"ACL", "LOG", "RESET"});
        co_await pause(3s);
        auto const refused = server.command({"ACL", "LOG"});
        BOOST_TEST(!mentions(refused, "toplevel"), refused);  // besides what scripts ask, which go on without the answer
        BOOST_TEST((c.nodes.status().nodes[0].state == node_state::usable));
    });
}

BOOST_FIXTURE_TEST_CASE(a_node_that_becomes_a_replica_is_left_by_a_client_that_asks_nothing, moving_address)
{
    run([&]() -> asio::awaitable<void> {
        auto failing_over = fail_over();
        co_await std::move(failing_over);
        auto voting = expect_votes_of_the_second(plain);
        co_await std::move(voting);
    });
}

BOOST_FIXTURE_TEST_CASE(several_servers_at_one_address_are_said_in_a_line_and_in_the_status, balanced_address)
{
    std::vector<std::string> lines;
    config settings = quick_config();
    settings.log = [&](std::string_view line) {
        if (mentions(line, "several servers")) lines.emplace_back(line);
    };
    connect(settings);
    run([&]() -> asio::awaitable<void> {
        auto leading = lead_to_both();
        co_await std::move(leading);
        auto logging = eventually([&] { return !lines.empty(); });
        bool const logged = co_await std::move(logging);
        BOOST_TEST_REQUIRE(logged);
        BOOST_TEST(lines.front() == third().node + ": " + third().address_text);
        auto again = lead_to(second, 4);
        co_await std::move(again);
        BOOST_TEST(lines.size() == 1u);
    });
}

BOOST_FIXTURE_TEST_CASE(several_servers_at_one_address_are_told_an_observer, balanced_address)
{
    auto const hears = std::make_shared<hears_of_nodes>();
    connect(quick_config(), hears);
    run([&]() -> asio::awaitable<void> {
        auto leading = lead_to_both();
        co_await std::move(leading);
        auto hearing = eventually([&] { return hears->text == third().address_text; });
        bool const heard = co_await std::move(hearing);
        BOOST_TEST(heard, hears->text);
    });
}

// Noticed by the first vote, and not after two seconds.
BOOST_FIXTURE_TEST_CASE(a_node_that_becomes_a_replica_under_plain_locks, moving_address)
{
    run([&]() -> asio::awaitable<void> {
        follow(first, second);
        lock const resource{nodes, "r", plain};
        stopwatch since;
        attempt_report report;
        {
            lease held = co_await resource.acquire(report);
            BOOST_TEST(held.nodes_held() == 2u);
            co_await held.release();
        }
        bool const left = co_await eventually([&] { return third().last_error == errc::node_unsuitable; });
        BOOST_TEST(left);
        BOOST_TEST(since.ms() < 1'000);
        auto failing_over = fail_over();
        co_await std::move(failing_over);
        auto voting = expect_votes_of_the_second(plain);
        co_await std::move(voting);
    });
}

// One that may be written to would vote, and forget it with the next synchronisation.
BOOST_FIXTURE_TEST_CASE(a_node_that_becomes_a_replica_under_locks_with_tokens, moving_address)
{
    run([&]() -> asio::awaitable<void> {
        first.command({"CONFIG", "SET", "replica-read-only", "no"});
        lock const resource{nodes, "r", impatient};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        follow(first, second);
        stopwatch since;
        co_await held.extend();
        bool const left = co_await eventually([&] { return third().last_error == errc::node_unsuitable; });
        BOOST_TEST(left);
        BOOST_TEST(since.ms() < 1'000);
        auto failing_over = fail_over();
        co_await std::move(failing_over);
        co_await held.extend();
        BOOST_TEST(held.valid());
        co_await held.release();
        auto voting = expect_votes_of_the_second(impatient);
        co_await std::move(voting);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
