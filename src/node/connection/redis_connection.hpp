// One connection to a server over Boost.Redis, from the first byte to its end. It makes the handshake, ends a connection that stalls, and reports the
// reason of the end in words. An object connects once: redis_node makes another one to connect again.
#ifndef REDLOCK_NODE_CONNECTION_REDIS_CONNECTION_HPP
#define REDLOCK_NODE_CONNECTION_REDIS_CONNECTION_HPP

#include "base/strand.hpp"
#include "node/connection/address_choice.hpp"
#include "node/connection/exchange.hpp"
#include "node/connection/handshake.hpp"
#include "node/connection/reply_bounds.hpp"
#include "node/connection/stream_access.hpp"
#include "protocol/node_sink.hpp"

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/request.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace boost::redis {
struct config;
}  // namespace boost::redis

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::detail {

class bounded_connection;
class tls_files;
class tls_session;

// The settings that all connections to one server share. Each connection reads anew the files and environment variables that the address names.
struct connection_settings {
    // `shared`: of other servers with the same options for TLS; none: it has its own.
    connection_settings(node_address const& node, config const& settings, std::shared_ptr<tls_files> shared = {});

    node_address address;
    std::shared_ptr<tls_files> files;
    std::string client_name;
    std::chrono::steady_clock::duration connect_timeout;
    std::chrono::steady_clock::duration stall_timeout;
    std::size_t max_answer{reply_bounds::default_max_answer};  // in bytes, for the answer to one command
    std::shared_ptr<address_choice> choice{std::make_shared<address_choice>()};  // of all connections with these settings, or with a copy
};

class redis_connection;

// Gets the events of a connection. An owner of several connections tells them apart by `from`.
class connection_owner {
public:
    virtual void on_open(redis_connection& from) = 0;

    // The last event; comes exactly once. Requests that are not answered fail soon after.
    virtual void on_closed(redis_connection& from, error_code why, std::string const& words) = 0;

    // One RESP3 node of a push, in its order among the answers.
    virtual void on_push(redis_connection& from, boost::redis::resp3::node_view const& node) = 0;

    // One or several pushes are complete.
    virtual void on_pushed(redis_connection& from) = 0;

    // The server's clock showed `clock` at a moment between `sent` and `received`: the answer to the connection's own ping (TIME).
    virtual void on_time(redis_connection& from, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) = 0;

protected:
    ~connection_owner() = default;
};

class redis_connection final : public std::enable_shared_from_this<redis_connection> {
public:
    using strand_type = asio::any_io_executor;
    using answered_handler = asio::any_completion_handler<void(error_code)>;

    // `settings` must live as long as the owner. open() keeps the owner alive until on_closed.
    redis_connection(strand_type strand, connection_settings const& settings, handshake const& questions);
    ~redis_connection();

    void open(std::shared_ptr<connection_owner> owner);
    void close();  // on_closed follows, and no on_open; once is enough

    // The server's answers to the handshake.
    handshake_reader& server() noexcept { return server_; }

    // The server executes requests in the order of these calls. Fails with node_unreachable if the connection is not open, or is lost before all
    // answers have come. `what` must live until then.
    void send(boost::redis::request const& what, std::unique_ptr<exchange> by);

    // The same for what need not be fast. `sink` must live until the handler is called. `longer`: bytes by which one of its answers may be longer than
    // connection_settings::max_answer.
    void send(boost::redis::request const& what, node_sink& sink, answered_handler handler, std::size_t longer = 0);

    // Sends AUTH. `refusal`: the server's words; empty: it agreed. Redis from 7.2 on does not answer AUTH at all if it refuses it behind other
    // answers (redis/redis#15640): then the connection ends before an answer to a later request is taken for one to another.
    using login_handler = std::function<void(error_code ec, std::string const& refusal)>;
    void log_in(std::string const& username, std::string password, login_handler handler);

private:
    class simple_exchange;
    class when_answered;

    void exec(boost::redis::request const& what, std::unique_ptr<exchange> by);
    void hear(exchange& by, std::size_t call, boost::redis::resp3::node_view const& error) const;
    void answered(exchange& by, error_code ec);

    enum class state { connecting, open, closed };

    bool prepare(boost::redis::config& wanted);
    void make();
    void on_handshake(error_code ec);
    void on_run_ended(error_code ec);
    void explain(error_code ec);
    void explain_end(error_code ec);
    handshake_reader::objection refusal_of_login() const;
    void lose_step();
    bool waits_for_tls();
    char const* hint_at_tls() const noexcept;
    void watch_for_stalls();
    void ping();
    void receive();
    void share_time(std::size_t addresses);
    void give_up();
    void cancel();

    void progress() noexcept { quiet_quarters_ = 0; }

    template <class Handler>
    void after(std::chrono::steady_clock::duration delay, Handler handler);

    strand_type strand_;
    strand_depth* depth_;  // for handlers that come straight from Boost.Redis
    connection_settings const& settings_;
    handshake questions_;
    asio::steady_timer timer_;  // for the connect timeout, then for stalls
    std::string secret_;  // what the server must not repeat to anybody
    std::unique_ptr<tls_session> tls_;  // none: without TLS
    reply_bounds bounds_{settings_.max_answer};
    error_code not_opened_;  // why there is no socket
    address_search search_;
    stream_access stream_;
    std::chrono::steady_clock::time_point connect_until_{};
    std::size_t skipped_{0};  // addresses that did not accept a connection in their share of the time
    std::shared_ptr<bounded_connection> connection_;  // none: prepare() has not succeeded
    connection_owner* owner_{nullptr};  // none: not opened, or closed; the handler of async_run keeps the owner alive
    handshake_reader server_{questions_};
    node_sink handshake_sink_;
    node_sink push_sink_;
    boost::redis::request ping_{one_connection_only()};
    state state_{state::connecting};
    bool closing_{false};  // close() was called
    bool out_of_step_{false};  // an answer is missing, so those that come now belong to other requests
    error_code end_reason_;  // for on_closed, as soon as the reason is known
    std::string end_words_;
    std::size_t outstanding_{0};  // requests that are sent and not answered
    unsigned quiet_quarters_{0};  // quarters of the stall_timeout that passed without an answer
};

}  // namespace redlock::detail

#endif
