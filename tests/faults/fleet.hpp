// Five real servers, each with a wall clock of its own and a proxy in front of it.
#ifndef REDLOCK_TESTS_FAULTS_FLEET_HPP
#define REDLOCK_TESTS_FAULTS_FLEET_HPP

#include "clock_file.hpp"
#include "fault.hpp"

#include "support/redis_server.hpp"
#include "support/tcp_proxy.hpp"
#include "support/temporary_folder.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace redlock::faults {

/// Thread safety: none.
class fleet {
public:
    /// Starts them; the proxy listens on `address`.
    fleet(std::string const& binary, std::string const& address);

    testing::redis_server& server(std::size_t node) { return servers_[node]; }
    clock_file& clock(std::size_t node) { return clocks_[node]; }
    testing::tcp_proxy& proxy() { return *proxy_; }

    /// A sixth server, which nobody locks on: a replica, or a master without data.
    testing::redis_server& spare() { return servers_[node_count]; }

    /// What the servers call themselves.
    std::string version() const;

    /// Whether a node may vote: its record names the server that it is.
    bool admitted(std::size_t node) const;

    /// What an operator does when too many nodes lost their memory at once.
    void begin_anew();

    /// The locks that a node has keys of.
    std::vector<std::string> locks(std::size_t node) const;

private:
    testing::temporary_folder folder_{"redlock-clocks-"};
    std::deque<clock_file> clocks_;
    std::deque<testing::redis_server> servers_;
    std::optional<testing::tcp_proxy> proxy_;
};

}  // namespace redlock::faults

#endif
