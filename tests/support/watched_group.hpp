// A primary with replicas, and Sentinels that watch them: a group, and the real failovers of it.
#ifndef REDLOCK_TESTS_SUPPORT_WATCHED_GROUP_HPP
#define REDLOCK_TESTS_SUPPORT_WATCHED_GROUP_HPP

#include "redis_server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace redlock::testing {

/// Where a server runs: at an address of its own, in a network namespace.
struct machine {
    std::string address;
    std::vector<std::string> under;  ///< The command that runs a program in that namespace, as `redis_server_options::under`.
};

struct watched_group_options {
    std::size_t replicas{2};
    std::size_t sentinels{3};
    std::string master{"mymaster"};
    std::string sentinel_password{};  ///< Empty: the Sentinels want none.
    redis_server_options server{};    ///< Of all servers.
    std::vector<std::string> sentinel_tls{};  ///< Not empty: Sentinels listen with TLS as well, as in `redis_server_options::tls`.
    std::chrono::milliseconds answer_timeout{5'000};  ///< Of questions to Sentinels.
    std::vector<machine> machines{};  ///< Server i and Sentinel i run on machine i; empty: all of them here.
};

inline constexpr std::chrono::milliseconds hasty_publish_period{200};
inline constexpr std::chrono::milliseconds own_publish_period{2'000};  ///< A Sentinel's own.

/// Servers and Sentinels on loopback, or on `machines`; gone with the object. A server that is silent for a second is down.
class watched_group {
public:
    /// Returns when all Sentinels know each other and all replicas. Throws `std::runtime_error` if that takes too long.
    explicit watched_group(watched_group_options options = {});

    /// `redis+sentinel://…/MASTER`; `more`: what follows, as in "?replicas=2".
    std::string url(std::string const& more = "") const;

    /// The URL of a subset of the Sentinels.
    std::string url_of(std::vector<std::size_t> const& which, std::string const& more = "") const;

    /// The URL with the ports for TLS, which is for the Sentinels alone.
    std::string url_with_tls(std::string const& more) const;

    /// The port of the primary, as a Sentinel says.
    std::uint16_t primary_port(std::size_t sentinel = 0) const;

    /// The server with that port.
    redis_server& server(std::uint16_t port);
    redis_server& primary() { return server(primary_port()); }

    /// Makes a Sentinel ask and tell more often than it does by itself. A Sentinel that was restarted has to be hastened again. It takes back a
    /// promotion that it has not been told of for four of its `publish_period`s.
    void hasten(std::size_t sentinel, std::chrono::milliseconds publish_period = hasty_publish_period) const;

    /// Whether all Sentinels see all servers and each other, with nothing that is amiss.
    bool is_complete() const;

    /// What a Sentinel says of the master: the value of a field of SENTINEL MASTER.
    std::string field(std::size_t sentinel, std::string const& name) const;

    std::deque<redis_server> servers;  ///< servers[0] is the first primary.
    std::deque<redis_server> sentinels;

private:
    redis_server_options on_machine(std::size_t i, redis_server_options options) const;
    void wait_until_complete() const;

    watched_group_options options_;
};

}  // namespace redlock::testing

#endif
