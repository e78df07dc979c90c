// The connection to one Sentinel of a group. It answers questions about the group, and hears of failovers by a subscription. After a loss it connects
// again, with pauses that grow.
#ifndef REDLOCK_NODE_SENTINEL_SENTINEL_LINK_HPP
#define REDLOCK_NODE_SENTINEL_SENTINEL_LINK_HPP

#include "node/connection/redis_connection.hpp"
#include "node/sentinel/sentinel_answers.hpp"
#include "quorum/waiting/backoff.hpp"

#include <redlock/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/request.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>

namespace redlock::detail {

class sentinel_link final : public connection_owner, public std::enable_shared_from_this<sentinel_link> {
public:
    using report_handler = std::function<void(sentinel_report)>;

    // `on_switched` is called whenever the Sentinel says that a failover of the group has ended. Whether that is true is for others to find out.
    sentinel_link(asio::any_io_executor strand, node_address const& sentinel, std::string const& master, config const& settings,
                  std::function<void()> on_switched);

    // Asks the Sentinel, and connects first if necessary. The handler is called once, unless the next ask() or stop() comes first.
    void ask(report_handler handler);

    // The connection ends, `stopped` is called after that, and nothing else any more.
    void stop(std::function<void()> stopped);

    std::string const& name() const noexcept { return name_; }

    void on_open(redis_connection& from) override;
    void on_closed(redis_connection& from, error_code why, std::string const& words) override;
    void on_push(redis_connection& from, boost::redis::resp3::node_view const& node) override;
    void on_pushed(redis_connection& from) override;
    void on_time(redis_connection&, quorum::wall_time, quorum::time_point, quorum::time_point) override {}

private:
    void connect();
    void send_question();
    void answered(sentinel_report report);
    void subscribe();
    void report(sentinel_report report);

    asio::any_io_executor strand_;
    std::string name_;
    connection_settings settings_;
    handshake greeting_;
    boost::redis::request question_;
    boost::redis::request subscription_;
    asio::steady_timer timer_;  // the pause
    quorum::backoff pause_;
    std::minstd_rand random_;
    std::function<void()> on_switched_;
    std::string master_;

    std::shared_ptr<redis_connection> connection_;
    bool open_{false};
    bool asking_{false};  // a question is on its way
    report_handler handler_;  // none: nobody waits for an answer
    node_sink no_sink_{[](std::size_t, boost::redis::resp3::node_view const&) {}};
    switch_reader pushes_;
    bool switched_{false};
    bool subscribed_{false};  // the subscription was sent
    bool subscribing_{false};  // and is not confirmed
    bool forbidden_{false};  // this user may not subscribe
    bool stopping_{false};
    std::function<void()> stopped_;
};

}  // namespace redlock::detail

#endif
