// A node over Boost.Redis that is asked by hand, without a client, and what it says of keys that change.
#ifndef REDLOCK_TESTS_INTEGRATION_WATCHING_NODE_HPP
#define REDLOCK_TESTS_INTEGRATION_WATCHING_NODE_HPP

#include "node/redis_node.hpp"

#include <redlock/config.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace redlock::testing {

using namespace std::chrono_literals;
using keys = std::vector<std::string>;

struct watching_node final : detail::node_listener {
    explicit watching_node(std::string const& url) : node{strand, node_address::from_url(url), settings()}
    {
        node.start(0, self);
        BOOST_REQUIRE(until([this] { return ups > 0; }));
    }
    ~watching_node()
    {
        node.stop();
        until([this] { return stopped; });
        io.run_for(1s);  // returns at once when nothing is left
        BOOST_TEST(io.stopped());
    }

    static config settings()
    {
        config c;
        c.min_reconnect_delay = 1ms;
        c.max_reconnect_delay = 10ms;
        return c;
    }

    void on_up(std::size_t, std::string const&, quorum::node_facts const& facts) override
    {
        ++ups;
        id = facts.id;
    }
    void on_down(std::size_t, error_code, std::string const&) override { ++downs; }
    void on_stopped(std::size_t) override { stopped = true; }
    void on_changed(std::size_t, std::string_view key) override { changed.emplace_back(key); }
    void on_time(std::size_t, quorum::wall_time, quorum::time_point, quorum::time_point) override {}

    template <class Done>
    bool until(Done done, std::chrono::milliseconds limit = 5s)
    {
        auto const end = std::chrono::steady_clock::now() + limit;
        io.restart();
        while (!done() && std::chrono::steady_clock::now() < end) io.run_one_for(10ms);
        return done();
    }

    std::vector<detail::reply> ask(detail::batch const& work)
    {
        std::vector<detail::reply> replies;
        bool answered = false;
        node.exec(work, id, replies, [&](error_code ec) { answered = !ec; });
        BOOST_REQUIRE(until([&] { return answered; }));
        return replies;
    }
    detail::reply ask(detail::command const& c)
    {
        detail::batch work;
        work.commands.push_back(c);
        return ask(work).at(0);
    }
    detail::reply watch(std::string const& key, keys const& others = {})
    {
        detail::command c{detail::verb::watch, key, {}, {}};
        c.others = others;
        return ask(c);
    }

    // What is said within the time that a push takes on a busy machine, or what was said as soon as so much was.
    keys said(std::size_t at_least = 0)
    {
        if (at_least > 0) {
            until([&] { return changed.size() >= at_least; });
        } else {
            until([] { return false; }, 150ms);
        }
        return std::exchange(changed, {});
    }

    asio::io_context io;
    asio::strand<asio::any_io_executor> strand{io.get_executor()};
    detail::redis_node node;
    std::shared_ptr<detail::node_listener> self{this, [](detail::node_listener*) {}};
    keys changed;
    std::string id;
    int ups{0};
    int downs{0};
    bool stopped{false};
};

}  // namespace redlock::testing

#endif
