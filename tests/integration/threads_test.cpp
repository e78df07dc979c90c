// One client, an io_context that four threads run, or one without a strand that one thread runs, and callers from everywhere. Also run under
// ThreadSanitizer.
//
// Boost.Test is called by the story only, which is on a strand; everybody else counts.
#include "support/cluster.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <array>
#include <atomic>
#include <future>
#include <string>
#include <thread>
#include <vector>

namespace redlock::testing {
namespace {

constexpr lock_options eager{.ttl = 20s, .node_timeout = 2s, .min_retry_delay = 1ms, .max_retry_delay = 10ms};

struct four_threads : cluster {
    four_threads() : cluster{3} { threads = 4; }
};

config without_a_strand()
{
    config c = quick_config();
    c.implicit_strand = true;
    return c;
}

// Nothing but the callers is in other threads.
struct one_thread : cluster {
    one_thread() : cluster{3, without_a_strand()} {}
};

// What a lock protects: plain variables. Two holders at once would be seen here, and by ThreadSanitizer.
struct protected_by_a_lock {
    std::string name;
    int inside{0};
    int entered{0};
    int violations{0};

    void enter()
    {
        if (++inside != 1) ++violations;
        ++entered;
    }
    void leave()
    {
        if (inside-- != 1) ++violations;
    }
};

void use_futures_and_callbacks(cluster& in)
{
    protected_by_a_lock resource{"r"};
    std::atomic<int> callbacks{0};
    std::atomic<int> failed{0};
    std::atomic<int> working{3};

    // Knows nothing of Asio but a token.
    auto blocking_worker = [&] {
        lock const key{in.nodes, resource.name, eager};
        for (int turn = 0; turn < 10; ++turn) {
            try {
                lease held = key.acquire(asio::use_future).get();
                resource.enter();
                held.extend(asio::use_future).get();
                resource.leave();
                if (turn % 2 == 0) held.release(asio::use_future).get();
            } catch (std::exception const&) {
                ++failed;
            }
            in.nodes.drain([&](error_code) { ++callbacks; });
        }
        --working;
    };
    in.run([&]() -> asio::awaitable<void> {
        std::vector<std::jthread> others;
        for (int i = 0; i < 3; ++i) others.emplace_back(blocking_worker);
        bool const finished = co_await eventually([&] { return working == 0 && callbacks == 30; }, 25s);
        BOOST_TEST_REQUIRE(finished);
        BOOST_TEST(failed == 0);
        BOOST_TEST(resource.violations == 0);
        BOOST_TEST(resource.entered == 30);
    });
}

// Leases are looked at, moved between threads and destroyed anywhere, while the watchdog extends them.
void let_leases_wander(cluster& in)
{
    in.run([&]() -> asio::awaitable<void> {
        std::atomic<bool> stop{false};
        std::atomic<int> invalid{0};
        std::atomic<int> looks{0};
        std::vector<lease> held;
        for (int i = 0; i < 20; ++i) {
            lock const resource{in.nodes, "r" + std::to_string(i), {.ttl = 3s, .extend_interval = 20ms}};
            lease one = co_await resource.acquire();
            held.push_back(std::move(one));
        }
        auto watch = [&] {
            while (!stop) {
                for (auto const& one : held)
                    if (!one.valid() || one.nodes_held() < 2 || one.lost_error()) ++invalid;
                looks += in.nodes.status().leases == 20;
            }
        };
        {
            std::jthread first{watch}, second{watch};
            auto const renewed = [&] { return in.nodes.status().counters.extensions_renewed; };
            bool const extended = co_await eventually([&] { return renewed() > 200 && looks > 100; }, 20s);
            BOOST_TEST(extended);
            stop = true;
        }
        BOOST_TEST(invalid == 0);
        std::thread other{[mine = std::move(held)]() mutable { mine.clear(); }};
        other.join();
        co_await in.nodes.drain();
        BOOST_TEST(in.servers_with("r7") == 0u);
    });
}

// `on_a_strand`: with a client whose executor is one.
void contend_on_many_strands(cluster& in, bool on_a_strand = false)
{
    constexpr int workers = 4;
    constexpr int turns = 12;
    std::array<protected_by_a_lock, 3> resources{{{"a"}, {"b"}, {"c"}}};
    std::atomic<int> working{0};
    std::atomic<int> failed{0};
    std::unique_ptr<redlock::client> of_the_strand;

    auto worker = [&](protected_by_a_lock& resource, bool scoped) -> asio::awaitable<void> {
        lock const key{of_the_strand ? *of_the_strand : in.nodes, resource.name, eager};
        auto body = [&](lease&) -> asio::awaitable<void> {
            resource.enter();
            co_await pause(1ms);
            resource.leave();
        };
        for (int turn = 0; turn < turns; ++turn) {
            if (scoped) {
                co_await with_lock(key, body);
            } else {
                lease held = co_await key.acquire();
                resource.enter();
                co_await held.extend();
                resource.leave();
                co_await held.release();
            }
        }
    };
    in.run([&]() -> asio::awaitable<void> {
        if (on_a_strand) of_the_strand = in.another_client(asio::make_strand(in.io), quick_config());
        for (auto& resource : resources) {
            for (int i = 0; i < workers; ++i) {
                ++working;
                asio::co_spawn(asio::make_strand(in.io), worker(resource, i % 2 == 0), [&](std::exception_ptr thrown) {
                    if (thrown) ++failed;
                    --working;
                });
            }
        }
        bool const finished = co_await eventually([&] { return working == 0; }, 25s);
        BOOST_TEST_REQUIRE(finished);
        BOOST_TEST(failed == 0);
        for (auto const& resource : resources) {
            BOOST_TEST(resource.violations == 0);
            BOOST_TEST(resource.entered == workers * turns);
        }
        redlock::client const& used = of_the_strand ? *of_the_strand : in.nodes;
        BOOST_TEST(used.status().counters.overruns == 0u);
        BOOST_TEST(used.status().counters.acquired >= resources.size() * workers * turns);
        of_the_strand.reset();
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(threads)

BOOST_FIXTURE_TEST_CASE(coroutines_on_many_strands_exclude_each_other, four_threads) { contend_on_many_strands(*this); }
BOOST_FIXTURE_TEST_CASE(coroutines_on_many_strands_exclude_each_other_without_a_strand, one_thread) { contend_on_many_strands(*this); }
BOOST_FIXTURE_TEST_CASE(a_client_may_rely_on_the_strand_that_it_was_made_with, four_threads) { contend_on_many_strands(*this, true); }

BOOST_FIXTURE_TEST_CASE(futures_and_callbacks_on_threads_of_their_own, four_threads) { use_futures_and_callbacks(*this); }
BOOST_FIXTURE_TEST_CASE(futures_and_callbacks_on_threads_of_their_own_without_a_strand, one_thread) { use_futures_and_callbacks(*this); }

BOOST_FIXTURE_TEST_CASE(completions_arrive_where_they_belong, four_threads)
{
    run([&]() -> asio::awaitable<void> {
        auto const strand = asio::make_strand(io);
        std::atomic<int> arrived{0};
        std::atomic<int> astray{0};
        lock const resource{nodes, "r", eager};
        std::thread other{[&] {
            resource.acquire(asio::bind_executor(strand, [&](error_code, lease held) {
                if (!strand.running_in_this_thread()) ++astray;
                auto const keep = std::make_shared<lease>(std::move(held));
                keep->release(asio::bind_executor(strand, [&, keep](error_code) {
                    if (!strand.running_in_this_thread()) ++astray;
                    ++arrived;
                }));
            }));
        }};
        other.join();
        bool const finished = co_await eventually([&] { return arrived == 1; });
        BOOST_TEST(finished);
        BOOST_TEST(astray == 0);
    });
}

BOOST_FIXTURE_TEST_CASE(leases_wander_between_threads, four_threads) { let_leases_wander(*this); }
BOOST_FIXTURE_TEST_CASE(leases_wander_between_threads_without_a_strand, one_thread) { let_leases_wander(*this); }

BOOST_FIXTURE_TEST_CASE(a_client_is_cancelled_from_another_thread_in_the_middle_of_it_all, four_threads)
{
    run([&]() -> asio::awaitable<void> {
        auto other = another_client();
        std::atomic<int> ended{0};
        std::atomic<int> odd{0};
        auto worker = [&](std::string name) -> asio::awaitable<void> {
            lock const key{*other, std::move(name), eager};
            auto body = [](lease&) -> asio::awaitable<void> { co_await pause(2ms); };
            for (;;) co_await with_lock(key, body);
        };
        for (int i = 0; i < 8; ++i) {
            asio::co_spawn(asio::make_strand(io), worker("r" + std::to_string(i % 3)), [&](std::exception_ptr thrown) {
                try {
                    std::rethrow_exception(thrown);
                } catch (system_error const& e) {
                    if (e.code() != errc::client_cancelled) ++odd;
                }
                ++ended;
            });
        }
        co_await pause(300ms);
        std::thread{[&] { other->cancel(); }}.join();
        bool const all = co_await eventually([&] { return ended == 8; });
        BOOST_TEST_REQUIRE(all);
        BOOST_TEST(odd == 0);
        bool const stopped = co_await eventually([&] { return clients_running() == 1; });
        BOOST_TEST(stopped);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
