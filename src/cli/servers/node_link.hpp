// Sends commands to one server, over a connection as the library's own: to the primary if the node is a group, and to the primary of the shard
// config::place if it is a Redis Cluster. server_group has one for each node. A link connects at the first ask(), and again at an ask() after the
// connection has ended.
#ifndef REDLOCK_CLI_SERVERS_NODE_LINK_HPP
#define REDLOCK_CLI_SERVERS_NODE_LINK_HPP

#include "cli/servers/reply.hpp"
#include "node/sentinel/primary_finder.hpp"

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::cli {

// The answers to some commands, or why there are none.
struct answers {
    error_code why;
    std::string problem;  // in words; empty: all commands were answered
    std::vector<reply> replies;
    std::chrono::nanoseconds asked{};  // when they were sent, or a little earlier, by the wall clock: since 1970
    std::chrono::nanoseconds took{};  // from a moment before that one until the last byte was read, without the time to connect

    bool ok() const noexcept { return problem.empty(); }
};

class node_link {
public:
    using handler = std::function<void(answers)>;

    node_link(asio::any_io_executor executor, node_address const& address, config const& settings);
    node_link(node_link&&) noexcept = default;
    ~node_link();

    // Sends the commands together. Calls `done` once, from the executor, when all commands were answered (errors are answers), when the server cannot
    // be reached, or when it has not answered within `patience` of being connected.
    void ask(std::vector<words> const& commands, std::chrono::milliseconds patience, handler done);

    void close();

    // What the Sentinels of a group said; without a group, or before the first ask(), nothing.
    detail::primary_finder::result const& group() const noexcept;

private:
    class session;
    std::shared_ptr<session> session_;
};

}  // namespace redlock::cli

#endif
