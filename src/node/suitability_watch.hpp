// Asks a connected server every two seconds whether it can still be a node: an operator can change its eviction policy and its role while it is
// connected, and no other answer would show a new policy. The questions have a request of their own, so that other requests do not cost more.
// redis_node starts the watch after the handshake.
#ifndef REDLOCK_NODE_SUITABILITY_WATCH_HPP
#define REDLOCK_NODE_SUITABILITY_WATCH_HPP

#include "node/connection/redis_connection.hpp"
#include "protocol/node_sink.hpp"
#include "protocol/redis_replies.hpp"
#include "protocol/server_facts.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/resp3/node.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace redlock::detail {

// INFO memory, INFO replication and TIME. If the permissions forbid INFO, the watch never objects.
boost::redis::request suitability_request();

// Reads the answers to suitability_request. No I/O.
class suitability_reader {
public:
    // `replicas`: how many have to acknowledge each vote.
    explicit suitability_reader(std::uint16_t replicas = 0) noexcept : replicas_{replicas} {}

    // One RESP3 node of the answer to call `index`.
    void on_node(std::size_t index, boost::redis::resp3::node_view const& node);

    std::optional<std::string> objection() const;
    quorum::wall_time clock() const noexcept { return time_.clock(); }

private:
    std::uint16_t replicas_;
    server_facts facts_;
    time_reader time_;
};

class suitability_watch final : public std::enable_shared_from_this<suitability_watch> {
public:
    static constexpr std::chrono::seconds interval{2};

    struct listener {
        // The server cannot be a node any more; `words` say why. It is the last call.
        std::function<void(std::string const& words)> on_objection;

        // The server's clock showed `clock` at a moment between `sent` and `received`. While the watch runs, redis_connection is never idle for long
        // enough to ask for the time itself.
        std::function<void(quorum::wall_time clock, quorum::time_point sent, quorum::time_point received)> on_time;
    };

    suitability_watch(asio::any_io_executor const& strand, std::shared_ptr<redis_connection> connection, std::uint16_t replicas,
                      listener to);

    void start();

    // The listener is not called any more.
    void stop();

private:
    void ask();
    void answered(error_code ec);

    std::shared_ptr<redis_connection> connection_;
    std::uint16_t replicas_;
    listener listener_;
    asio::steady_timer timer_;
    boost::redis::request request_{suitability_request()};
    suitability_reader reader_;
    node_sink sink_;
    quorum::time_point sent_{};
    bool stopped_{false};
};

}  // namespace redlock::detail

#endif
