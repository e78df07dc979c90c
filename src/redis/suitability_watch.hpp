// Whether a server that became a node still can be one: its policy of eviction and its role can be changed under a connection, and
// no message would show the first. Asked every two seconds, in a message of its own, so that no other one costs more.
#ifndef REDLOCK_REDIS_SUITABILITY_WATCH_HPP
#define REDLOCK_REDIS_SUITABILITY_WATCH_HPP

#include "redis/node_sink.hpp"
#include "redis/redis_connection.hpp"
#include "redis/redis_replies.hpp"
#include "redis/server_facts.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/request.hpp>
#include <boost/redis/resp3/node.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace redlock::detail {

// INFO memory, INFO replication and TIME. Where rules forbid INFO, nothing is found.
boost::redis::request suitability_request();

// Its answers. No I/O.
class suitability_reader {
public:
    // One RESP3 node of the answer to call `index`.
    void on_node(std::size_t index, boost::redis::resp3::node_view const& node);

    std::optional<std::string> objection() const { return objection_to(facts_); }
    quorum::wall_time clock() const noexcept { return time_.clock(); }

private:
    server_facts facts_;
    time_reader time_;
};

class suitability_watch final : public std::enable_shared_from_this<suitability_watch> {
public:
    static constexpr std::chrono::seconds interval{2};

    struct listener {
        std::function<void(std::string const& words)> on_objection;
        // The server's clock showed this at a moment between these. A server that is asked so often is not asked by the connection.
        std::function<void(quorum::wall_time clock, quorum::time_point sent, quorum::time_point received)> on_time;
    };

    suitability_watch(asio::any_io_executor const& strand, std::shared_ptr<redis_connection> connection, listener tells);

    void start();

    // Nothing is told any more.
    void stop();

private:
    void ask();
    void answered(error_code ec);

    std::shared_ptr<redis_connection> connection_;
    listener tells_;
    asio::steady_timer timer_;
    boost::redis::request request_{suitability_request()};
    suitability_reader reader_;
    node_sink sink_;
    quorum::time_point sent_{};
    bool stopped_{false};
};

}  // namespace redlock::detail

#endif
