// A client over nodes in memory, in virtual time: the fixture of story tests.
#ifndef REDLOCK_TESTS_SUPPORT_WORLD_HPP
#define REDLOCK_TESTS_SUPPORT_WORLD_HPP

#include "support/printing.hpp"

#include "testing/memory_node.hpp"
#include "testing/stepping.hpp"

#include <redlock/detail/access.hpp>
#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace redlock::testing {

using namespace std::chrono_literals;

class world {
public:
    explicit world(std::size_t node_count = 3, std::size_t max_queue = 8'192, std::shared_ptr<observer> told = nullptr,
                   std::chrono::milliseconds largest_ttl = std::chrono::days{30}, std::function<void(std::string_view)> sink = {},
                   bool nothing_was_locked = false)
        : max_ttl{largest_ttl}, log{std::move(sink)}, bootstrap{nothing_was_locked}
    {
        for (std::size_t i = 0; i < node_count; ++i) nodes.push_back(std::make_unique<memory_node>("node" + std::to_string(i), max_ttl));
        client.emplace(make_client(max_queue, std::move(told)));
    }

    ~world()
    {
        context.reset();  // handlers that own the client, leases or nodes go first
        client.reset();
    }

    // A further client of the same nodes is not possible (a node has one connection): a foreign holder sets keys by hand.
    redlock::client make_client(std::size_t max_queue, std::shared_ptr<observer> told = nullptr)
    {
        asio::any_io_executor const executor = context->get_executor();
        asio::strand<asio::any_io_executor> const strand{executor};
        std::vector<std::unique_ptr<detail::node>> fronts;
        for (auto const& n : nodes) fronts.push_back(n->front(strand));
        detail::engine_settings settings;
        settings.max_node_queue = max_queue;
        settings.max_ttl = max_ttl;
        settings.observer = std::move(told);
        settings.log = log;
        settings.bootstrap = bootstrap;
        settings.wall_clock = [] { return static_cast<std::uint64_t>(virtual_clock::now().time_since_epoch() / 1us); };
        settings.fresh_value = [this] { return "value" + std::to_string(++values); };
        auto core = detail::basic_core<virtual_clock>::make(executor, strand, std::move(fronts), std::move(settings));
        return detail::access::make_client(std::move(core));
    }

    // Starts the client and lets its connections come up.
    void start()
    {
        client->run([this](error_code ec) { run_result = ec; });
        settle();
    }

    void settle() { testing::settle(*context); }
    void advance(duration d) { testing::advance(*context, d); }

    // Time passes, but nothing runs: a paused process. What is due runs in the next advance() or settle().
    void pause(duration d) { virtual_clock::current += d; }

    // Runs a coroutine to its end, for at most `limit` of virtual time, and returns what it returns.
    template <class T>
    T run(asio::awaitable<T> story, duration limit = 10min)
    {
        std::exception_ptr failure;
        bool done = false;
        std::optional<T> result;
        asio::co_spawn(*context, std::move(story), [&](std::exception_ptr e, T value) {
            failure = e;
            result.emplace(std::move(value));
            done = true;
        });
        run_until(done, limit);
        if (failure) std::rethrow_exception(failure);
        return std::move(*result);
    }

    void run(asio::awaitable<void> story, duration limit = 10min)
    {
        std::exception_ptr failure;
        bool done = false;
        asio::co_spawn(*context, std::move(story), [&](std::exception_ptr e) {
            failure = e;
            done = true;
        });
        run_until(done, limit);
        if (failure) std::rethrow_exception(failure);
    }

    void run_until(bool const& done, duration limit)
    {
        if (!advance_until(*context, [&] { return done; }, limit)) throw std::runtime_error{"the story does not end: it waits for ever"};
    }

    // Cancels the client and lets everything come to its end.
    void finish()
    {
        client->cancel();
        advance(1s);
    }

    std::size_t keys() const
    {
        std::size_t n = 0;
        for (auto const& node : nodes) n += node->keys();
        return n;
    }

    client_counters counters() const { return client->status().counters; }

    std::chrono::milliseconds const max_ttl;  // of locks with tokens
    std::function<void(std::string_view)> const log;
    bool const bootstrap;
    std::unique_ptr<asio::io_context> context = std::make_unique<asio::io_context>();
    std::vector<std::unique_ptr<memory_node>> nodes;
    std::optional<redlock::client> client;
    std::optional<error_code> run_result;
    int values{0};
};

}  // namespace redlock::testing

#endif
