// One connection to a server over Boost.Redis, from the first byte to its end: the handshake, a watch over stalls, and at the end
// the reason in words. It is made for one time; whoever wants to stay connected makes the next one.
#ifndef REDLOCK_REDIS_REDIS_CONNECTION_HPP
#define REDLOCK_REDIS_REDIS_CONNECTION_HPP

#include "redis/handshake.hpp"
#include "redis/node_sink.hpp"
#include "redis/reply_bounds.hpp"

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/request.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace boost::redis {
struct config;
}  // namespace boost::redis

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::detail {

class bounded_connection;
class tls_session;

// The same for each connection to a server. Files and variables that the address names are read for each.
struct connection_settings {
    connection_settings(node_address const& node, config const& settings);

    node_address address;
    std::string client_name;
    std::chrono::steady_clock::duration connect_timeout;
    std::chrono::steady_clock::duration stall_timeout;
    std::size_t answer_max{reply_bounds::answer_max};  // bytes, for each command
};

class redis_connection;

// Whose connection it is. `from` tells one of several from the others.
class connection_owner {
public:
    virtual void on_open(redis_connection& from) = 0;

    // Exactly once, and the last event. What was sent and not answered fails soon after.
    virtual void on_closed(redis_connection& from, error_code why, std::string const& words) = 0;

    // One RESP3 node of a push, in its place between the answers; and that there were some.
    virtual void on_push(redis_connection& from, boost::redis::resp3::node_view const& node) = 0;
    virtual void on_pushed(redis_connection& from) = 0;

    // The server's clock showed this at a moment between these: an answer to the question whether it is still there.
    virtual void on_time(redis_connection& from, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) = 0;

protected:
    ~connection_owner() = default;
};

class redis_connection final : public std::enable_shared_from_this<redis_connection> {
public:
    using strand_type = asio::any_io_executor;
    using answered_handler = asio::any_completion_handler<void(error_code)>;

    // The settings must live as long as the owner, which is kept until the end.
    redis_connection(strand_type strand, connection_settings const& settings, handshake const& asks);
    ~redis_connection();

    void open(std::shared_ptr<connection_owner> owner);
    void close();

    // What the server said at the handshake.
    handshake_reader& server() noexcept { return server_; }

    // Requests are executed in the order of these calls. Fails with node_unreachable when the connection is not open, or is lost before
    // all is answered. `what` and `sink` must live until then.
    void send(boost::redis::request const& what, node_sink& sink, answered_handler handler);

private:
    enum class state { connecting, open, closed };

    bool prepare(boost::redis::config& wanted);
    void on_handshake(error_code ec);
    void on_run_ended(error_code ec);
    void explain(error_code ec);
    void explain_end(error_code ec);
    bool waits_for_tls();
    char const* hint_at_tls() const noexcept;
    void mind_stalls();
    void ping();
    void receive();
    void give_up();
    void cancel();

    void progress() noexcept { quiet_quarters_ = 0; }

    template <class Handler>
    void after(std::chrono::steady_clock::duration delay, Handler handler);

    strand_type strand_;
    asio::any_completion_executor bound_;  // the same
    connection_settings const& settings_;
    handshake asks_;
    asio::steady_timer timer_;  // connect timeout, then stalls
    std::unique_ptr<tls_session> tls_;  // none: without TLS
    reply_bounds bounds_{settings_.answer_max};
    std::shared_ptr<bounded_connection> connection_;  // none: it could not be begun
    connection_owner* owner_{nullptr};  // while it is not closed; the handler for its end keeps it
    handshake_reader server_{asks_};
    node_sink handshake_sink_;
    node_sink push_sink_;
    boost::redis::request ping_{one_connection_only()};
    state state_{state::connecting};
    error_code refused_with_;  // what we found wrong with it
    std::string server_words_;
    std::size_t outstanding_{0};
    unsigned quiet_quarters_{0};  // of the stall_timeout, without any answer
};

}  // namespace redlock::detail

#endif
