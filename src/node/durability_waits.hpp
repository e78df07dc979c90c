// Waits until what was written is on replicas or on disk (durability.hpp). WAIT blocks its connection, so this has a connection of its own, and all calls that
// are made during a wait share the next one.
#ifndef REDLOCK_NODE_DURABILITY_WAITS_HPP
#define REDLOCK_NODE_DURABILITY_WAITS_HPP

#include "node/connection/redis_connection.hpp"
#include "protocol/durability.hpp"
#include "protocol/node_sink.hpp"

#include <boost/asio/any_completion_handler.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <optional>
#include <vector>

namespace redlock::detail {

class durability_waits final : public std::enable_shared_from_this<durability_waits> {
public:
    using handler = asio::any_completion_handler<void(std::optional<not_durable>)>;

    durability_waits(std::shared_ptr<redis_connection> connection, durability const& wanted);

    // For all that any connection to this server was answered before this call. Completes within twice the time-out, or at once when
    // the connection is not open any more.
    // `key_prefix`: of keys in a slot that this server serves (Redis Cluster); it must live until `then` is called. Calls that share a wait use that of the
    // first.
    void wait(handler then, std::string_view key_prefix = {});

private:
    void start();

    std::shared_ptr<redis_connection> connection_;
    durability wanted_;
    boost::redis::request request_;
    std::string prefix_of_request_;
    std::string_view next_prefix_;
    durability_reader reader_{wanted_};
    node_sink sink_;
    std::vector<handler> next_handlers_;  // those of the wait under way are kept by the request
    bool is_waiting_{false};
};

}  // namespace redlock::detail

#endif
