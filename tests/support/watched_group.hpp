// A primary with replicas, and Sentinels that watch them: a group, and the real failovers of it.
#ifndef REDLOCK_TESTS_SUPPORT_WATCHED_GROUP_HPP
#define REDLOCK_TESTS_SUPPORT_WATCHED_GROUP_HPP

#include "redis_server.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>

namespace redlock::testing {

struct watched_group_options {
    std::size_t replicas{2};
    std::size_t sentinels{3};
    std::string master{"mymaster"};
    std::string sentinel_password{};  ///< Empty: the Sentinels want none.
};

/// Servers and Sentinels on loopback, gone with the object. A server that is silent for a second is down.
class watched_group {
public:
    /// Returns when all Sentinels know each other and all replicas. Throws `std::runtime_error` if that takes too long.
    explicit watched_group(watched_group_options options = {});

    /// `redis+sentinel://…/MASTER`; `more`: what follows, as in "?replicas=2".
    std::string url(std::string const& more = "") const;

    /// The URL of a subset of the Sentinels.
    std::string url_of(std::vector<std::size_t> const& which, std::string const& more = "") const;

    /// The port of the primary, as a Sentinel says.
    std::uint16_t primary_port(std::size_t sentinel = 0) const;

    /// The server with that port.
    redis_server& server(std::uint16_t port);
    redis_server& primary() { return server(primary_port()); }

    /// What a Sentinel says of the master: the value of a field of SENTINEL MASTER.
    std::string field(std::size_t sentinel, std::string const& name) const;

    std::deque<redis_server> servers;
    std::deque<redis_server> sentinels;

private:
    bool is_complete() const;
    void wait_until_complete() const;

    watched_group_options options_;
};

}  // namespace redlock::testing

#endif
