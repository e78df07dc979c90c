// The inside of redis_node: its connections come and go in redis_node.cpp, requests are sent and answered in redis_node_exec.cpp.
#ifndef REDLOCK_NODE_REDIS_NODE_IMPL_HPP
#define REDLOCK_NODE_REDIS_NODE_IMPL_HPP

#include "node/connection/address_check.hpp"
#include "node/connection/address_watch.hpp"
#include "node/connection/change_notices.hpp"
#include "node/connection/exchange.hpp"
#include "node/connection/handshake.hpp"
#include "node/connection/node_login.hpp"
#include "node/connection/reconnect_pause.hpp"
#include "node/connection/redis_connection.hpp"
#include "node/durability_waits.hpp"
#include "node/redis_node.hpp"
#include "node/request_pool.hpp"
#include "node/suitability_watch.hpp"
#include "protocol/group_binding.hpp"
#include "protocol/redis_replies.hpp"

#include <boost/asio/steady_timer.hpp>

#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

// It has a second connection where granted votes have to be durable: the second one waits for that, and the main one never does. They are
// made and lost together, as a node that can only do half of it is of no use.
class redis_node::impl final : public connection_owner, public std::enable_shared_from_this<impl> {
public:
    impl(asio::any_io_executor strand, node_address const& address, config const& settings, std::uint16_t shards,
         std::shared_ptr<tls_files> files);

    std::string const& name() const noexcept { return name_; }

    void start(std::size_t index, std::weak_ptr<node_listener> listener)
    {
        assert(state_ == state::idle);
        index_ = index;
        listener_ = std::move(listener);
        connect();
    }

    void stop()
    {
        if (stopping_) return;
        stopping_ = true;
        timer_.cancel();
        login_->stop();
        if (!main_ && !second_) return stopped();
        close_both();
    }

    void reject(error_code why, std::string words)
    {
        if (state_ != state::usable || refused_with_) return;
        refused_with_ = why;
        refused_words_ = std::move(words);
        close_both();
    }

    void check_address();
    void is_unfit(std::string const& words);

    void exec(std::string_view prefix, batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler);

    void ask(boost::redis::request const& what, node_sink& sink, std::size_t longer, exec_handler handler)
    {
        assert(state_ == state::usable);
        main_->send(what, sink, std::move(handler), longer);
    }

    void on_open(redis_connection& from) override;
    void on_closed(redis_connection& from, error_code why, std::string const& words) override;
    void on_push(redis_connection& from, boost::redis::resp3::node_view const& node) override;
    void on_pushed(redis_connection& from) override;
    void on_time(redis_connection& from, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) override;

private:
    enum class state { idle, connecting, usable, closing, pausing, stopped };

    // What exec() was called with.
    struct batch_part {
        std::string_view prefix;
        batch const& work;
        std::string_view id;
        std::vector<reply>& replies;
    };
    class message;

    void connect();
    void log_in_and_open();
    void open();
    void pause();
    void close_both();
    void watch_suitability();
    void tell(std::string_view key);

    void wait_for_durability(durability_waits& waits, batch_part const& of, quorum::time_point wait_until, exec_handler handler);
    void repeat(reply_reader::repeatable what, batch_part const& of, exec_handler handler);
    request_extras extras_for(std::string_view prefix, batch const& work) const;
    void stopped();

    template <class Handler>
    void after(std::chrono::steady_clock::duration delay, Handler handler)
    {
        timer_.expires_after(delay);
        timer_.async_wait([self = shared_from_this(), handler = std::move(handler)](error_code ec) {
            if (!ec && !self->stopping_) handler(*self);
        });
    }

    asio::any_io_executor strand_;
    std::string name_;
    durability wanted_durability_;
    group_binding binding_;
    connection_settings settings_;
    connection_settings second_settings_;
    handshake handshake_;
    handshake second_handshake_;
    std::shared_ptr<node_login> login_;
    asio::steady_timer timer_;  // the pause
    reconnect_pause pause_;
    identity_check identity_;
    bool trusts_identity_;
    bool in_cluster_;

    std::size_t index_{0};
    std::weak_ptr<node_listener> listener_;
    state state_{state::idle};
    bool stopping_{false};
    std::shared_ptr<redis_connection> main_;
    std::shared_ptr<redis_connection> second_;  // none: nothing has to be waited for
    std::shared_ptr<durability_waits> durability_waits_;
    std::shared_ptr<suitability_watch> suitability_;  // none: rules forbid what it asks
    std::shared_ptr<address_check> address_check_;  // none: no check is under way
    identity_suspicion suspicion_;
    std::size_t open_{0};
    error_code refused_with_;  // what we found wrong with both, or our owner
    std::string refused_words_;
    address_watch address_;
    change_notices changes_{[this](std::string_view key) { tell(key); }};
    request_pool requests_;
};

}  // namespace redlock::detail

#endif
