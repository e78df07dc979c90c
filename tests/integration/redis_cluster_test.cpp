// Clients of real Redis Clusters: locks are spread over the primaries, and exclude each other while slots move, primaries fail and servers join.
#include "client/shard_choice.hpp"
#include "node/cluster/cluster_map.hpp"
#include "support/cluster.hpp"
#include "support/redis_cluster.hpp"
#include "support/skipped.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {
namespace {

constexpr std::size_t shard_count = 8;
constexpr auto in_the_end = 60s;  // on a machine that has much to do

constexpr lock_options of_a_cluster{.ttl = 2s, .node_timeout = 1s, .acquire_timeout = in_the_end};

struct on_cluster {
    explicit on_cluster(redis_cluster_options options = {}) : servers{std::move(options)} {}

    // A quarantine that a test can wait for. Several URLs have a space between them.
    static config settings_for(std::string const& urls)
    {
        config c = quick_config();
        c.max_ttl = 2s;
        c.token_retention = 60s;
        c.replication_timeout = 400ms;
        c.bootstrap = true;
        std::istringstream all{urls};
        for (std::string url; all >> url;) c.nodes.push_back(node_address::from_url(url));
        c.log = nullptr;
        return c;
    }

    std::string url(std::size_t shards = shard_count) const { return servers.url("?shards=" + std::to_string(shards)); }

    // The clients run until the story ends.
    using story = std::function<asio::awaitable<void>(redlock::client& one, redlock::client& two)>;
    void run(story const& tell) { run(url(), url(), tell); }
    void run(std::string const& first, std::string const& second, story const& tell)
    {
        redlock::client one{io.get_executor(), settings_for(first)}, two{io.get_executor(), settings_for(second)};
        std::exception_ptr failure;
        int ended = 0;
        for (redlock::client* c : {&one, &two}) c->run([&](error_code ec) { ended += ec == errc::client_cancelled; });
        asio::co_spawn(io, tell(one, two), [&](std::exception_ptr e) {
            failure = e;
            one.cancel();
            two.cancel();
        });
        io.run_for(4 * in_the_end);
        io.restart();
        if (failure) std::rethrow_exception(failure);
        BOOST_TEST(ended == 2, "both clients came to their end");
    }

    static std::size_t shard_of(std::string const& name) { return detail::shard_of(name, shard_count); }
    static std::uint16_t slot_of(std::string const& name) { return detail::slot_of_shard(shard_of(name)); }
    static std::string key_of(std::string const& name) { return detail::prefix_of_shard(shard_of(name)) + name; }

    // Waits until a client says this of the shard of a lock.
    static asio::awaitable<void> says(redlock::client& c, std::string const& name, std::string_view words)
    {
        auto const text = [&] {
            auto const n = c.status().nodes.at(shard_of(name));
            return n.last_error_text + " / " + n.admission_text;
        };
        bool const said = co_await eventually([&] { return text().find(words) != std::string::npos; }, in_the_end);
        BOOST_TEST(said, text());
    }

    redis_cluster servers;
    asio::io_context io;
};

// Connections of clients of ours.
std::size_t connections_of(redis_server const& server)
{
    auto const list = server.command({"CLIENT", "LIST"});
    std::size_t count = 0;
    for (auto at = list.find("name=redlock "); at != list.npos; at = list.find("name=redlock ", at + 1)) ++count;
    return count;
}

// Workers that take the locks in turns, and see whether they are alone.
struct rush {
    std::map<std::string, lease const*> inside;  // who has each lock
    std::map<std::string, std::uint64_t> last;  // the token of each lock
    std::size_t together{0}, backwards{0}, acquired{0};
    bool over{false};

    asio::awaitable<void> work(redlock::client& of, std::string name)
    {
        redlock::lock const job{of, name, {.ttl = 1s, .node_timeout = 400ms, .acquire_timeout = 200ms}};
        while (!over) {
            auto [ec, held] = co_await job.acquire(asio::as_tuple);
            if (ec) continue;
            ++acquired;
            auto& holder = inside[name];
            if (holder && holder->valid()) ++together;
            holder = &held;
            if (held.token() <= last[name]) ++backwards;
            last[name] = held.token();
            co_await pause(20ms);
            if (holder == &held) holder = nullptr;
            co_await held.release(asio::as_tuple);
        }
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(redis_clusters)

BOOST_AUTO_TEST_CASE(locks_are_spread_over_the_primaries)
{
    on_cluster c;
    c.run([&](redlock::client& one, redlock::client& two) -> asio::awaitable<void> {
        for (int i = 0; i < 12; ++i) {
            auto const name = "job:" + std::to_string(i);
            redlock::lock const job{one, name, of_a_cluster}, theirs{two, name, of_a_cluster};
            lease held = co_await job.acquire();
            auto const [refused, none] = co_await theirs.try_acquire(asio::as_tuple);
            BOOST_TEST(refused == errc::contended);
            auto const& owner = c.servers.owner_of(on_cluster::slot_of(name));
            BOOST_TEST(owner.command({"EXISTS", on_cluster::key_of(name)}) == "1");
            co_await held.release();
            lease next = co_await theirs.acquire();
            BOOST_TEST(next.token() > held.token());
            co_await next.release();
        }
        // Two clients, with a connection for requests and one that waits for replicas.
        for (std::size_t s = 0; s < 3; ++s)
            BOOST_TEST(connections_of(c.servers.owner_of(static_cast<std::uint16_t>(100 + 5461 * s))) == 4u);
        auto const status = one.status();
        BOOST_TEST(status.nodes.size() == shard_count);
        BOOST_TEST(status.nodes[5].shard == 5u);
        BOOST_TEST(status.nodes[5].primary == "127.0.0.1:" + std::to_string(c.servers.owner_of(detail::slot_of_shard(5)).port()));

        std::vector<std::string> const both{"{order:7}:stock", "{order:7}:payment"};
        redlock::lock const several{one, both, of_a_cluster};
        lease all = co_await several.acquire();
        auto const [refused, none] = co_await redlock::lock(two, both[1], of_a_cluster).try_acquire(asio::as_tuple);
        BOOST_TEST(refused == errc::contended);
        co_await all.release();

        // Who waits is told by the server, through the prefix of the shard.
        redlock::lock const ours{one, "told", of_a_cluster}, theirs{two, "told", {.ttl = 2s, .poll_interval = 60s}};
        lease first = co_await ours.acquire();
        asio::co_spawn(
            c.io,
            [&]() -> asio::awaitable<void> {
                co_await pause(300ms);
                co_await first.release();
            },
            asio::detached);
        stopwatch const waited;
        lease second = co_await theirs.acquire();
        BOOST_TEST(waited.ms() < 1'500);
        co_await second.release();
    });
}

BOOST_AUTO_TEST_CASE(no_lock_has_two_holders_while_slots_move)
{
    on_cluster c;
    c.run([&](redlock::client& one, redlock::client& two) -> asio::awaitable<void> {
        rush r;
        std::vector<std::string> const names{"a", "b", "c"};
        int running = 0;
        for (auto const& name : names)
            for (redlock::client* by : {&one, &two}) {
                ++running;
                asio::co_spawn(c.io, r.work(*by, name), [&](std::exception_ptr e) {
                    --running;
                    if (e) std::rethrow_exception(e);
                });
            }
        bool const begun = co_await eventually([&] { return r.acquired > 6; }, in_the_end);
        BOOST_TEST(begun);
        for (int round = 0; round < 3; ++round) {
            auto const slot = on_cluster::slot_of(names[0]);
            c.servers.move(slot, c.servers.another_primary_than(slot));
            auto const before = r.acquired;
            auto const token = r.last[names[0]];
            bool const again = co_await eventually([&] { return r.last[names[0]] > token; }, in_the_end);
            BOOST_TEST(again, "the lock is acquired again where its slot is now");
            BOOST_TEST(r.acquired > before);
        }
        r.over = true;
        co_await eventually([&] { return running == 0; }, in_the_end);
        BOOST_TEST(r.together == 0u);
        BOOST_TEST(r.backwards == 0u);
    });
}

BOOST_AUTO_TEST_CASE(a_primary_that_fails_takes_no_lock_with_it)
{
    on_cluster c;
    c.run([&](redlock::client& one, redlock::client& two) -> asio::awaitable<void> {
        redlock::lock const job{one, "r", of_a_cluster}, theirs{two, "r", of_a_cluster};
        lease held = co_await job.acquire();
        auto const token = held.token();
        auto& old = c.servers.owner_of(on_cluster::slot_of("r"));
        auto const replicas = c.servers.replicas_of(old);
        BOOST_TEST_REQUIRE(replicas.size() == 1u);
        old.kill();
        bool const promoted = co_await eventually([&] { return replicas[0]->command({"ROLE"}).starts_with("master"); }, in_the_end);
        BOOST_TEST_REQUIRE(promoted);
        BOOST_TEST(replicas[0]->command({"EXISTS", on_cluster::key_of("r") + ":fence"}) == "1");
        co_await on_cluster::says(two, "r", "replica");  // the promoted server has none, and votes need one
        old.restart();
        lease next = co_await theirs.acquire();
        BOOST_TEST(!held.valid());
        BOOST_TEST(next.token() > token);
        co_await next.release();
        // Others were not concerned.
        BOOST_TEST(c.servers.is_complete());
    });
}

// It is refused whenever it is connected to, so what was locked is released before its connection ends.
BOOST_AUTO_TEST_CASE(a_primary_that_begins_to_evict_takes_releases)
{
    on_cluster c;
    c.run([&](redlock::client& one, redlock::client&) -> asio::awaitable<void> {
        constexpr lock_options outlives_the_test{.ttl = 100s, .fencing = false, .acquire_timeout = in_the_end};
        redlock::lock const job{one, "job", outlives_the_test};
        lease held = co_await job.acquire();
        auto& owner = c.servers.owner_of(on_cluster::slot_of("job"));
        owner.command({"CONFIG", "SET", "maxmemory", "100mb"});
        owner.command({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
        co_await on_cluster::says(one, "job", "evict");
        co_await held.release(asio::as_tuple);
        bool const gone = co_await eventually([&] { return owner.command({"EXISTS", on_cluster::key_of("job")}) == "0"; }, 5s);
        BOOST_TEST(gone);
    });
}

BOOST_AUTO_TEST_CASE(a_slot_on_its_way_has_no_votes_and_the_report_says_why)
{
    on_cluster c;
    c.run([&](redlock::client& one, redlock::client&) -> asio::awaitable<void> {
        redlock::lock const job{one, "r", of_a_cluster};
        lease held = co_await job.acquire();
        auto const token = held.token();
        co_await held.release();
        auto const slot = on_cluster::slot_of("r");
        auto& to = c.servers.another_primary_than(slot);
        auto& from = c.servers.owner_of(slot);
        c.servers.begin_to_move(slot, to);
        attempt_report report;
        auto const [asked, none] = co_await job.try_acquire(report, asio::as_tuple);
        BOOST_TEST(asked == errc::no_majority);
        auto const& detail = report.nodes.at(0).detail;
        BOOST_TEST(detail.find("is being moved to another server") != std::string::npos, detail);

        // The record goes first: neither server has everything.
        auto const record = detail::prefix_of_shard(on_cluster::shard_of("r")) + "redlock:node";
        from.command({"MIGRATE", to.host(), std::to_string(to.port()), record, "0", "5000"});
        auto const [tried, nothing] = co_await job.try_acquire(report, asio::as_tuple);
        BOOST_TEST(tried == errc::no_majority);
        c.servers.move_keys(slot, to);
        c.servers.finish_moving(slot, to);
        lease again = co_await job.acquire();
        BOOST_TEST(again.token() > token);
        BOOST_TEST(to.command({"EXISTS", on_cluster::key_of("r")}) == "1");
        co_await again.release();

        // A mark has taken the id out of the record, so that coming back is no way around the quarantine.
        c.servers.move(slot, from);
        lease back = co_await job.acquire();
        BOOST_TEST(back.token() > again.token());
        co_await back.release();
        auto const kept = from.command({"GET", record});
        BOOST_TEST(kept.starts_with("k001:c008:"), kept);
    });
}

BOOST_AUTO_TEST_CASE(a_server_joins_and_votes_when_it_has_a_replica)
{
    on_cluster c;
    c.run([&](redlock::client& one, redlock::client&) -> asio::awaitable<void> {
        redlock::lock const job{one, "r", of_a_cluster};
        lease held = co_await job.acquire();
        auto const token = held.token();
        co_await held.release();
        auto& fresh = c.servers.join();
        c.servers.move(on_cluster::slot_of("r"), fresh);
        co_await on_cluster::says(one, "r", "the server has no replica");
        auto& its_replica = c.servers.join();
        its_replica.command({"CLUSTER", "REPLICATE", c.servers.id_of(fresh)});
        lease next = co_await job.acquire();
        BOOST_TEST(next.token() > token);
        BOOST_TEST(fresh.command({"EXISTS", on_cluster::key_of("r")}) == "1");
        co_await next.release();
    });
}

BOOST_AUTO_TEST_CASE(several_clusters_are_nodes)
{
    on_cluster c;
    redis_cluster other;
    auto const urls = c.url() + ' ' + other.url("?shards=8");
    c.run(urls, urls, [&](redlock::client& one, redlock::client& two) -> asio::awaitable<void> {
        redlock::lock const job{one, "r", of_a_cluster}, theirs{two, "r", of_a_cluster};
        lease held = co_await job.acquire();
        for (redis_cluster* each : {&c.servers, &other})
            BOOST_TEST(each->owner_of(on_cluster::slot_of("r")).command({"EXISTS", on_cluster::key_of("r")}) == "1");
        auto const [refused, none] = co_await theirs.try_acquire(asio::as_tuple);
        BOOST_TEST(refused == errc::contended);
        BOOST_TEST(one.status().nodes.size() == 2 * shard_count);
        co_await held.release();
        lease next = co_await theirs.acquire();
        BOOST_TEST(next.token() > held.token());
        co_await next.release();
    });
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_said_in_words)
{
    on_cluster c;
    redis_server const plain;
    auto const plain_url = "redis-cluster://127.0.0.1:" + std::to_string(plain.port()) + "?shards=8";
    c.run(c.url(), plain_url, [&](redlock::client& one, redlock::client& two) -> asio::awaitable<void> {
        redlock::lock const job{one, "r", of_a_cluster};
        lease held = co_await job.acquire();
        co_await held.release();
        co_await on_cluster::says(two, "r",
                                  "this server is no member of a Redis Cluster (cluster-enabled no); give its address as redis://");
    });
    // Another number of shards: of those that have a record, and of those that have none.
    c.run(c.url(4), c.url(16), [&](redlock::client& fewer, redlock::client& more) -> asio::awaitable<void> {
        auto const all_say = [](redlock::client& of, std::string_view words) -> asio::awaitable<void> {
            auto const says = [words](node_status const& n) {
                return n.last_error_text.find(words) != std::string::npos || n.admission_text.find(words) != std::string::npos;
            };
            bool const said = co_await eventually(
                [&] {
                    auto const status = of.status();
                    return std::all_of(status.nodes.begin(), status.nodes.end(), says);
                },
                in_the_end);
            BOOST_TEST(said);
        };
        co_await all_say(fewer, "8 shards, and this client has 4: use shards=8 in every client");
        co_await all_say(more, "8 shards, and this client has 16: use shards=8 in every client");
        redlock::lock const job{more, "r", {.ttl = 2s, .acquire_timeout = 300ms}};
        auto const [ec, none] = co_await job.acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::acquire_timed_out_no_majority);
    });
    // A slot that nobody has; then a cluster that is down.
    c.run([&](redlock::client& one, redlock::client&) -> asio::awaitable<void> {
        redlock::lock const job{one, "r", of_a_cluster};
        lease held = co_await job.acquire();
        co_await held.release();
        auto const slot = on_cluster::slot_of("r");
        auto& owner = c.servers.owner_of(slot);
        c.servers.drop(slot);
        attempt_report report;
        auto const [down, none] = co_await job.try_acquire(report, asio::as_tuple);
        BOOST_TEST(down == errc::no_majority);
        BOOST_TEST(report.nodes.at(0).detail.find("the cluster serves no keys (CLUSTERDOWN") != std::string::npos,
                   report.nodes.at(0).detail);
        owner.command({"CLUSTER", "ADDSLOTS", std::to_string(slot)});
        lease again = co_await job.acquire();
        co_await again.release();
    });
}

BOOST_AUTO_TEST_CASE(a_cluster_without_replicas_gets_no_vote)
{
    on_cluster c{{.primaries = 3, .replicas = 0}};
    c.run([&](redlock::client& one, redlock::client&) -> asio::awaitable<void> {
        co_await on_cluster::says(one, "r", "no primary of the cluster has a replica");
    });
}

BOOST_AUTO_TEST_CASE(a_cluster_of_valkey)
{
#ifdef REDLOCK_VALKEY_SERVER
    redis_cluster_options options;
    options.server.binary = REDLOCK_VALKEY_SERVER;
    on_cluster c{options};
    c.run([&](redlock::client& one, redlock::client& two) -> asio::awaitable<void> {
        redlock::lock const job{one, "r", of_a_cluster}, theirs{two, "r", of_a_cluster};
        lease held = co_await job.acquire();
        auto const [refused, none] = co_await theirs.try_acquire(asio::as_tuple);
        BOOST_TEST(refused == errc::contended);
        co_await held.release();
        auto const slot = on_cluster::slot_of("r");
        c.servers.move(slot, c.servers.another_primary_than(slot));
        lease next = co_await theirs.acquire();
        BOOST_TEST(next.token() > held.token());
        co_await next.release();
    });
#else
    skipped("there is no valkey-server here");
#endif
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
