// Finds out which server new connections to an address lead to, over a connection of its own that ends with the answer.
#ifndef REDLOCK_NODE_CONNECTION_ADDRESS_CHECK_HPP
#define REDLOCK_NODE_CONNECTION_ADDRESS_CHECK_HPP

#include "node/connection/redis_connection.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>
#include <string>

namespace redlock::detail {

class address_check final : public connection_owner, public std::enable_shared_from_this<address_check> {
public:
    // Empty: it could not be found out.
    using handler = std::function<void(std::string const& run_id)>;

    address_check(asio::any_io_executor strand, connection_settings const& settings, handshake const& questions);

    // The handler is called once, unless stop() comes first.
    void start(handler done);
    void stop();

    void on_open(redis_connection& from) override;
    void on_closed(redis_connection& from, error_code why, std::string const& words) override;
    void on_push(redis_connection&, boost::redis::resp3::node_view const&) override {}
    void on_pushed(redis_connection&) override {}
    void on_time(redis_connection&, quorum::wall_time, quorum::time_point, quorum::time_point) override {}

private:
    connection_settings settings_;
    std::shared_ptr<redis_connection> connection_;
    handler done_;  // none: nobody waits
};

}  // namespace redlock::detail

#endif
