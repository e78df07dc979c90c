// What client::status() says of the nodes, and which server each of them is. Written on the strand, read in any thread.
#ifndef REDLOCK_CLIENT_STATUS_BOARD_HPP
#define REDLOCK_CLIENT_STATUS_BOARD_HPP

#include "base/timer_queue.hpp"
#include "core/admission/admission_picture.hpp"
#include "quorum/clocks/node_clock.hpp"

#include <redlock/error.hpp>
#include <redlock/status.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace redlock::detail {

class status_board {
public:
    // One more node, before the client runs. `clock_drift`: as of the client.
    void add(std::string name, bool is_group, double clock_drift);

    // The client runs: all nodes are being connected.
    void starts();

    void up(std::size_t node, std::string const& server);
    void down(std::size_t node, error_code why, std::string const& text);
    void primary(std::size_t node, std::string const& server);
    void login(std::size_t node, std::string const& why_not);
    bool several_servers(std::size_t node, std::string const& words);  // false: that was said already
    void admission(std::size_t node, admission_picture const& now);
    void clock(std::size_t node, node_clock const& now);

    // For any thread.
    std::vector<node_status> status(time_point now) const;
    std::vector<std::uint32_t> fingerprints() const;  // of the servers that are connected

    // The following are for the strand. The servers that the nodes are connected to; empty: none, or unknown. (Their number is for any thread.)
    std::vector<std::string> const& servers() const noexcept { return servers_; }
    std::vector<node_status> const& nodes() const noexcept { return nodes_; }

    // The node that is connected to this server; nothing: none is, or the server is unknown.
    std::optional<std::size_t> node_of(std::string const& server) const;

private:
    mutable std::mutex mutex_;
    std::vector<node_status> nodes_;
    std::vector<admission_picture> admissions_;
    std::vector<node_clock> clocks_;
    std::vector<std::string> servers_;
};

}  // namespace redlock::detail

#endif
