// A model of a Redis server in memory: what the library's commands and scripts do to what it keeps (redis_store).
// memory_node and the servers of the simulation execute commands with it; an integration test compares it with a real server.
#ifndef REDLOCK_TESTING_REDIS_MODEL_HPP
#define REDLOCK_TESTING_REDIS_MODEL_HPP

#include "protocol/command.hpp"
#include "protocol/reply.hpp"
#include "protocol/server_id.hpp"
#include "testing/redis_store.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::testing {

class redis_model : public redis_store {
public:
    // The id of a record that a mark has begun: no server was admitted yet.
    static constexpr std::string_view no_id = "0000000000000000000000000000000000000000";

    // `now` is the server's wall clock. `learned` is the id that commands with tokens are bound to.
    detail::reply execute(detail::command const& c, time_point now, std::string_view learned = {});

    // Whether this is the server `learned`, and a master. A message ends with this question, since votes with tokens count only if it is. Clients of a
    // group learn an id that has their K before it.
    bool is_still(std::string_view learned) const noexcept { return master && detail::names_server(learned, id); }

    // The facts that a handshake reads. `now` counts where `kept_since` is known.
    quorum::node_facts facts(time_point now = {}) const;
    bool admitted() const noexcept { return master && record && high_water && detail::names_server(record->id, id); }

    bool floor_counts(token_number floor, time_point now) const;

private:
    detail::reply watch(detail::command const& c, time_point now);
    detail::reply acquire_with_tokens(detail::command const& c, time_point now);
    detail::reply confirm(detail::command const& c, time_point now);
    detail::reply adopt(detail::command const& c, time_point now);
    detail::reply extend(detail::command const& c, std::string_view key, time_point now);
    detail::reply publish(detail::command const& c, time_point now);
    detail::reply inherit(detail::command const& c, time_point now);
    detail::reply peek(detail::command const& c, time_point now);
    std::optional<detail::reply> objection_to_state(detail::command const& c, time_point now);
    detail::reply extend_with_token(detail::command const& c, std::string_view key, time_point now, bool recreates);
    detail::reply climb(detail::command const& c, std::string_view key, time_point now);
    template <class F>
    detail::reply worst_of_all(detail::command const& c, F one);
    bool is_of_generation(std::string_view learned) const noexcept;
    detail::reply claim(detail::command const& c);
    detail::reply mark(detail::command const& c, time_point now);
    detail::reply admit(detail::command const& c);
    bool is_ours(detail::command const& c, std::string_view key, time_point now);
    bool are_all_ours(detail::command const& c, time_point now);
    bool is_any_there(detail::command const& c, time_point now);
    void set_all(detail::command const& c, time_point now);

    struct extremes {
        token_number lowest;
        token_number highest;
    };
    std::optional<extremes> counters_of(detail::command const& c, time_point now);
};

}  // namespace redlock::testing

#endif
