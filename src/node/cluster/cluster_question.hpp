// Asks one server of a Redis Cluster for the map of slots, over a connection that is open, or over one of its own that ends with the answer. There it can
// keep the number of shards in the same breath, if the server has the slot of that key.
#ifndef REDLOCK_NODE_CLUSTER_CLUSTER_QUESTION_HPP
#define REDLOCK_NODE_CLUSTER_CLUSTER_QUESTION_HPP

#include "node/cluster/cluster_map.hpp"
#include "node/connection/node_login.hpp"
#include "node/connection/redis_connection.hpp"
#include "node/redis_node.hpp"

#include <redlock/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/request.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace redlock::detail {

// The number of shards that the cluster shall keep, and for how many replicas that has to wait.
struct shards_to_keep {
    std::uint16_t shards;
    std::uint16_t replicas;
};

struct cluster_answer {
    error_code why;  // why there is no map
    std::string words;
    cluster_map map{};
    std::string shards_kept{};  // the number that the cluster keeps; empty: it could not be kept, and shards_error says why
    std::string shards_error{};
};

class cluster_question final : public connection_owner, public std::enable_shared_from_this<cluster_question> {
public:
    using handler = std::function<void(cluster_answer)>;

    // `server` has a host and a port.
    cluster_question(asio::any_io_executor strand, node_address const& server, config const& settings, std::optional<shards_to_keep> keep,
                     std::shared_ptr<tls_files> files = {});

    // The handler is called once, unless stop() comes first: in config::connect_timeout and some at the latest, which begins when the program has said with
    // what to log in.
    void ask(handler done);

    // The same over the connection of a node that is up.
    void ask_over(redis_node& open, handler done);
    void stop();

    std::string const& server() const noexcept { return name_; }

    void on_open(redis_connection& from) override;
    void on_closed(redis_connection& from, error_code why, std::string const& words) override;
    void on_push(redis_connection&, boost::redis::resp3::node_view const&) override {}
    void on_pushed(redis_connection&) override {}
    void on_time(redis_connection&, quorum::wall_time, quorum::time_point, quorum::time_point) override {}

private:
    void connect();
    void limit();
    void on_node(std::size_t call, boost::redis::resp3::node_view const& node);
    void conclude();
    void finish(cluster_answer answer);

    asio::any_io_executor strand_;
    std::string name_;
    std::string host_;
    std::optional<shards_to_keep> keep_;
    connection_settings settings_;
    handshake greeting_;
    std::shared_ptr<node_login> login_;
    boost::redis::request request_;
    node_sink sink_;
    asio::steady_timer timer_;
    std::shared_ptr<redis_connection> connection_;  // none: not connected
    handler done_;  // none: nobody waits
    std::string text_;
    std::string error_;
    cluster_answer answer_;
    std::uint64_t acknowledged_{0};
};

}  // namespace redlock::detail

#endif
