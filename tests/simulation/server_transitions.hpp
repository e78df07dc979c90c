// What the transition log says of servers: each change of their memory, found by comparing it with what it was before.
#ifndef REDLOCK_TESTS_SIMULATION_SERVER_TRANSITIONS_HPP
#define REDLOCK_TESTS_SIMULATION_SERVER_TRANSITIONS_HPP

#include "client_transitions.hpp"
#include "clocks.hpp"
#include "server.hpp"
#include "transition_text.hpp"

#include "protocol/command.hpp"
#include "protocol/reply.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

class server_transitions {
public:
    server_transitions(transition_text& to, client_transitions& clients) : to_{to}, clients_{clients} {}

    // A server as it begins.
    void begin(server& s);

    // The keys of the command are looked at from now on.
    void add_names(detail::command const& c);

    // What has happened to the server by itself since it was looked at last.
    void catch_up(server& s, detail::command const* before_this);

    // `client`: which one hears of it; none: nobody does. `sent`: when its message was.
    void executed(server& s, detail::command const& c, std::string_view learned, detail::reply const& answer,
                  std::optional<std::size_t> client, duration sent);

    // What one process of a machine notes the others can read.
    void set_machine(std::size_t client, std::size_t machine) { machines_[client] = machine; }

private:
    struct counter_state {
        testing::token_number value;
        std::optional<time_point> expires;
        bool marked;  // by a climb
    };
    struct lock_key {
        std::string value;
        std::optional<time_point> expires;
    };
    struct picture {
        std::string id;
        std::string record;  // of which id; empty: none, or not complete
        std::string mark;
        testing::token_number base{0};
        testing::token_number high_water{0};
        std::chrono::milliseconds max_ttl{};
        std::map<std::string, lock_key> keys{};
        std::map<std::string, counter_state> counters{};
    };

    picture look(server& s) const;
    bool is_gone(server const& s, std::optional<time_point> expires) const;
    void say_what_expired(server& s, detail::command const& c, picture& before, picture const& now);
    void say_single_changes(server const& s, picture const& before, picture const& now);
    void changed_each(server const& s, detail::command const& c, std::string_view learned, duration sent, picture& before,
                      picture const& now, bool granted);
    static std::string changes(picture const& before, picture const& now);

    transition_text& to_;
    client_transitions& clients_;
    std::vector<picture> known_;  // by server
    std::set<std::string> names_;
    std::map<std::size_t, std::size_t> machines_;
    std::size_t quarantines_{0};
};

}  // namespace redlock::simulation

#endif
