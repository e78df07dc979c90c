// A node over Boost.Redis: one connection, or two where votes have to be durable; made anew after each loss, usable only after the
// handshake.
#ifndef REDLOCK_NODE_REDIS_NODE_HPP
#define REDLOCK_NODE_REDIS_NODE_HPP

#include "node/node.hpp"
#include "protocol/node_sink.hpp"

#include <redlock/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/redis/request.hpp>

#include <memory>

namespace redlock::detail {

class tls_files;

class redis_node final : public node {
public:
    redis_node(asio::any_io_executor strand, node_address address, config const& settings);

    // A primary of a Redis Cluster with so many shards. Its facts have to be asked for shard by shard (verb::inspect), those of on_up are
    // empty, and keys that have changed are told with their prefix.
    redis_node(asio::any_io_executor strand, node_address address, config const& settings, std::uint16_t shards,
               std::shared_ptr<tls_files> files);
    ~redis_node() override;

    std::string const& name() const noexcept override;
    void start(std::size_t index, std::weak_ptr<node_listener> listener) override;
    void stop() override;
    void reject(error_code why, std::string words) override;
    void check_address() override;
    void exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler) override;

    // Sends what is no batch, on the connection that is open. Precondition: as for exec(). `what` and `sink` must live until the handler is called. `longer`: bytes
    // by which one of the answers may be longer than those to commands.
    void ask(boost::redis::request const& what, node_sink& sink, std::size_t longer, exec_handler handler);

    // exec() of a shard, whose keys have this prefix. The prefix must live until it completes.
    void exec_in(std::string_view prefix, batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler);

private:
    class impl;
    std::shared_ptr<impl> impl_;
};

}  // namespace redlock::detail

#endif
