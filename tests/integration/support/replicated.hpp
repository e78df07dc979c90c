// A primary with replicas as the only node of a client, and what can happen to them.
#ifndef REDLOCK_TESTS_INTEGRATION_REPLICATED_HPP
#define REDLOCK_TESTS_INTEGRATION_REPLICATED_HPP

#include "cluster.hpp"
#include "support/mentions.hpp"
#include "support/replication.hpp"

#include <deque>
#include <memory>
#include <string>

namespace redlock::testing {

/// Of a WAIT in time: for tests of what happens then, and not of how long it takes.
inline constexpr lock_options plain{.ttl = 20s, .fencing = false, .node_timeout = 5s};
inline constexpr lock_options with_tokens{.ttl = 20s, .node_timeout = 5s};

inline bool has(redis_server const& server, std::string const& key) { return server.command({"EXISTS", key}) == "1"; }

/// `servers[0]` is the primary; the client's URL of it ends with `parameters`, as in "?replicas=2".
class replicated : public cluster {
public:
    explicit replicated(std::string const& parameters, std::size_t replicas = 2, config settings = quick_config(),
                        redis_server_options const& options = {}, beginning how = beginning::admitted);

    redis_server& primary() { return servers.front(); }

    /// The replicas lose their links, and cannot get them back; they keep what they have.
    void cut_links();

    /// The primary dies, and a replica takes its place.
    void fail_over_to(std::size_t replica);

    /// A running client of one server. It must be cancelled or destroyed by the story.
    std::unique_ptr<redlock::client> client_of(redis_server const& server, std::string const& parameters = "",
                                               config settings = quick_config());

    /// What the client says of its node.
    node_status status() const { return nodes.status().nodes.at(0); }

    std::deque<redis_server> replicas;
};

}  // namespace redlock::testing

#endif
