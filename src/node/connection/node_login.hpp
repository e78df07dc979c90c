// What a node is logged in to with, if the program provides it (config::credentials): asks for it before the node is connected, and again before it
// runs out. Then it sends AUTH on the open connections, which stay open. Lives in the client's strand.
#ifndef REDLOCK_NODE_CONNECTION_NODE_LOGIN_HPP
#define REDLOCK_NODE_CONNECTION_NODE_LOGIN_HPP

#include "node/connection/credentials_request.hpp"
#include "node/connection/redis_connection.hpp"
#include "quorum/waiting/backoff.hpp"

#include <redlock/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace redlock::detail {

class node_login final : public std::enable_shared_from_this<node_login> {
public:
    node_login(asio::any_io_executor strand, node_address const& node, config const& settings);

    // Whether the program is asked. Otherwise the node's address says all.
    bool asks() const noexcept { return static_cast<bool>(ask_); }

    // For a node that is not connected.
    void obtain(credentials_request::result_handler handler);

    // Keeps these connections logged in, with what obtain() got and what comes after it. `told`: is called after each attempt, with why it failed, or with
    // an empty text.
    void keep(std::vector<std::shared_ptr<redis_connection>> connections, std::function<void(std::string const& why_not)> told);

    // No handler is called any more, and the connections are dropped. obtain() may be called again.
    void stop();

private:
    using steady = std::chrono::steady_clock;
    struct reauthentication;

    void ask(credentials_request::result_handler handler);
    void renew_at(steady::time_point when);
    void renew();
    void authenticate(credentials const& with);
    void answered(std::shared_ptr<reauthentication> const& which, error_code ec);
    void retry(std::string const& why_not);

    asio::any_io_executor strand_;
    credentials_function ask_;
    node_address node_;
    steady::duration limit_;
    steady::duration min_pause_;
    quorum::backoff pause_;
    std::minstd_rand random_;
    asio::steady_timer timer_;  // until the next renewal
    std::shared_ptr<credentials_request> request_;  // none: nothing is asked
    std::optional<steady::time_point> renewal_;  // none: they do not run out
    std::vector<std::shared_ptr<redis_connection>> connections_;
    std::function<void(std::string const&)> told_;
    std::shared_ptr<reauthentication> reauthentication_;  // none: no AUTH is unanswered
};

}  // namespace redlock::detail

#endif
