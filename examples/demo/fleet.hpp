// The five servers, and what is done to them.
#ifndef REDLOCK_DEMO_FLEET_HPP
#define REDLOCK_DEMO_FLEET_HPP

#include "cast.hpp"

#include <support/redis_server.hpp>

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace demo {

enum class server_state : std::uint8_t { up, killed, stopped };

using server_states = std::array<server_state, node_count>;

class fleet {
public:
    // Starts one server more.
    void add() { servers_.emplace_back(); }

    std::vector<std::string> urls() const
    {
        std::vector<std::string> all;
        for (auto const& server : servers_) all.push_back(server.url());
        return all;
    }

    void kill(std::size_t node)
    {
        servers_[node].kill();
        states_[node] = server_state::killed;
    }
    void restart(std::size_t node)
    {
        servers_[node].restart();
        states_[node] = server_state::up;
    }
    void stop(std::size_t node)
    {
        servers_[node].stop();
        states_[node] = server_state::stopped;
    }
    void resume(std::size_t node)
    {
        servers_[node].resume();
        states_[node] = server_state::up;
    }

    std::uint16_t port(std::size_t node) const { return servers_[node].port(); }
    server_states const& states() const noexcept { return states_; }

private:
    std::deque<redlock::testing::redis_server> servers_;
    server_states states_{};
};

}  // namespace demo

#endif
