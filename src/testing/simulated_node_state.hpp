// The inside of simulated_node: a node in memory, and the connections that clients have to it.
#ifndef REDLOCK_TESTING_SIMULATED_NODE_STATE_HPP
#define REDLOCK_TESTING_SIMULATED_NODE_STATE_HPP

#include "testing/memory_node.hpp"

#include <redlock/testing.hpp>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace redlock::testing {

// The first connection is the server's own, which no client uses.
class simulated_node::state {
public:
    state(std::string name, simulation_options const& options, std::mt19937& random)
        : server_{std::move(name), options.max_ttl}, random_{random}, round_trip_{options.round_trip}, max_lingering_{options.max_lingering}
    {
    }

    std::unique_ptr<detail::node> connection(asio::any_io_executor const& strand)
    {
        connections_.push_back(server_.another());
        memory_node& made = *connections_.back();
        made.refuse_connections = down_;
        made.lingers = [this] {
            std::uniform_int_distribution<duration::rep> draw{0, max_lingering_.count()};
            return duration{draw(random_)};
        };
        set_round_trip(made);
        if (stopped_) made.stop();
        return made.front(strand);
    }

    void set_round_trip(duration time)
    {
        round_trip_ = time;
        for_each([this](memory_node& c) { set_round_trip(c); });
    }

    void down()
    {
        down_ = true;
        for_each([](memory_node& c) { c.refuse_connections = true; });
        break_connections(!stopped_);
    }
    void up()
    {
        down_ = false;
        for_each([](memory_node& c) { c.refuse_connections = false; });
        connect();
    }
    void stop()
    {
        stopped_ = true;
        for_each([](memory_node& c) { c.stop(); });
    }
    void go_on()
    {
        stopped_ = false;
        for_each([](memory_node& c) { c.go_on(); });
    }
    void restart(bool with_memory)
    {
        break_connections(false);
        with_memory ? server_.restart_with_all() : server_.restart_empty();
        go_on();
        if (!down_) connect();
    }
    void set_clock(duration by) { server_.set_clock(by); }

    redis_model& memory() { return server_.memory(); }
    time_point wall() const { return server_.wall(); }

private:
    void set_round_trip(memory_node& c)
    {
        c.there = round_trip_ / 2;
        c.back = round_trip_ - c.there;
    }

    template <class F>
    void for_each(F f)
    {
        for (auto const& c : connections_) f(*c);
    }
    // What is on its way still arrives, unless the process ends.
    void break_connections(bool deliver)
    {
        for_each([deliver](memory_node& c) {
            if (c.is_connected()) c.cut(deliver);
        });
    }
    void connect()
    {
        for_each([](memory_node& c) {
            if (c.wants_connection()) c.connect();
        });
    }

    memory_node server_;
    std::vector<std::unique_ptr<memory_node>> connections_;
    std::mt19937& random_;
    duration round_trip_;
    duration max_lingering_;
    bool down_{false};
    bool stopped_{false};
};

}  // namespace redlock::testing

#endif
