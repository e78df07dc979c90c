// What a primary of a Redis Cluster that is dead for good costs the shards of the others, with TLS: connections, handshakes, contexts of OpenSSL, processor
// time and latency.
#include "client/shard_choice.hpp"
#include "node/cluster/cluster_map.hpp"
#include "support/certificates.hpp"
#include "support/cluster.hpp"
#include "support/redis_cluster.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <openssl/ssl.h>

namespace {

std::atomic<std::size_t> contexts_made{0};

}  // namespace

// In place of OpenSSL's own in this program, so that all are counted.
extern "C" SSL_CTX* SSL_CTX_new(SSL_METHOD const* method)
{
    ++contexts_made;
    static auto const of_openssl = reinterpret_cast<SSL_CTX* (*)(SSL_METHOD const*)>(::dlsym(RTLD_NEXT, "SSL_CTX_new"));
    return of_openssl(method);
}

namespace redlock::testing {
namespace {

constexpr std::size_t shards_with_tls = 12;

struct cluster_with_tls {
    redis_cluster_options options()
    {
        redis_server_options server;
        server.tls = tls_arguments(authority, authority.issue());
        server.arguments = {"--tls-cluster", "yes", "--tls-replication", "yes", "--cluster-require-full-coverage", "no"};
        return {.server = server};
    }

    config settings()
    {
        config c = quick_config();
        c.max_ttl = 2s;
        c.token_retention = 60s;
        c.min_reconnect_delay = 50ms;
        c.max_reconnect_delay = 1s;
        c.bootstrap = true;
        c.log = nullptr;
        std::string hosts;
        for (std::size_t i = 0; i < 3; ++i)
            hosts += (hosts.empty() ? "" : ",") + servers.servers[i].host() + ':' + std::to_string(servers.servers[i].tls_port());
        auto const url = "rediss-cluster://" + hosts + "?shards=" + std::to_string(shards_with_tls) + "&ca_file=" + authority.file();
        c.nodes.push_back(node_address::from_url(url));
        return c;
    }

    redis_server& server_of(std::string const& name)
    {
        return servers.owner_of(detail::slot_of_shard(detail::shard_of(name, shards_with_tls)));
    }

    // With one more for each server, which is this question itself.
    std::size_t connections_accepted()
    {
        std::size_t count = 0;
        for (auto& s : servers.servers) {
            if (!s.running()) continue;
            std::string const info = s.command({"INFO", "stats"}), word = "total_connections_received:";
            count += std::stoul(info.substr(info.find(word) + word.size()));
            ++servers_asked;
        }
        return count;
    }

    certificate_authority authority;
    redis_cluster servers{options()};
    std::size_t servers_asked{0};
    asio::io_context io;
    redlock::client nodes{io.get_executor(), settings()};
};

struct pace {
    std::vector<std::chrono::nanoseconds> times;
    std::clock_t processor{0};

    std::chrono::microseconds median()
    {
        std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
        return std::chrono::duration_cast<std::chrono::microseconds>(times[times.size() / 2]);
    }
    double processor_seconds() const { return static_cast<double>(processor) / CLOCKS_PER_SEC; }
};

asio::awaitable<pace> lock_again_and_again(redlock::lock of, std::chrono::seconds time)
{
    pace seen;
    auto const began = std::clock();
    for (auto const end = boot_clock::now() + time; boot_clock::now() < end;) {
        auto const start = boot_clock::now();
        auto acquiring = of.acquire(asio::use_awaitable);
        lease held = co_await std::move(acquiring);
        auto releasing = held.release(asio::use_awaitable);
        co_await std::move(releasing);
        seen.times.push_back(boot_clock::now() - start);
        auto between = pause(10ms);
        co_await std::move(between);
    }
    seen.processor = std::clock() - began;
    co_return seen;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dead_primary)

BOOST_FIXTURE_TEST_CASE(the_shards_of_the_others_do_not_notice, cluster_with_tls)
{
    auto story = [&]() -> asio::awaitable<void> {
        lock_options const patient{.ttl = 2s, .node_timeout = 1s, .acquire_timeout = 60s};
        redlock::lock const lost{nodes, "lost", patient};
        auto first = lost.acquire(asio::use_awaitable);
        lease held = co_await std::move(first);
        auto& dead = server_of("lost");
        std::string other = "other";
        while (&server_of(other) == &dead) other += '.';
        redlock::lock const resource{nodes, other, patient};
        auto warming = lock_again_and_again(resource, 1s);
        co_await std::move(warming);
        auto measuring = lock_again_and_again(resource, 3s);
        auto before = co_await std::move(measuring);

        auto const replicas = servers.replicas_of(dead);
        BOOST_TEST_REQUIRE(replicas.size() == 1u);
        replicas[0]->kill();
        dead.kill();
        auto const shard = detail::shard_of("lost", shards_with_tls);
        bool const gone = co_await eventually([&] { return nodes.status().nodes.at(shard).state != node_state::usable; });
        BOOST_TEST(gone);
        auto settling = pause(2s);  // while the pauses between attempts are short
        co_await std::move(settling);

        auto const accepted = connections_accepted();
        auto const asked = std::exchange(servers_asked, 0);
        auto const contexts = contexts_made.load();
        measuring = lock_again_and_again(resource, 3s);
        auto during = co_await std::move(measuring);
        // Where no connection was accepted, there was no handshake either.
        BOOST_TEST(connections_accepted() - accepted - asked == 0u);
        BOOST_TEST(contexts_made - contexts == 0u);
        BOOST_TEST(contexts_made <= 2 * servers.servers.size());
        BOOST_TEST(during.median().count() <= 3 * before.median().count() + 2'000);
        BOOST_TEST(during.processor_seconds() <= 2 * before.processor_seconds() + 0.3);
        BOOST_TEST_MESSAGE("median " << before.median().count() << " -> " << during.median().count() << " us, processor time "
                                     << before.processor_seconds() << " -> " << during.processor_seconds() << " s of 3 s, " << contexts_made
                                     << " contexts");
        BOOST_TEST(!held.valid());
    };
    nodes.run([](error_code) {});
    std::exception_ptr failure;
    bool ended = false;
    asio::co_spawn(io, story(), [&](std::exception_ptr e) {
        ended = true;
        failure = e;
        nodes.cancel();
    });
    io.run_for(120s);
    if (failure) std::rethrow_exception(failure);
    BOOST_TEST(ended);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
