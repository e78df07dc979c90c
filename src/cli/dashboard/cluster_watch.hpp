// Looks at Redis Clusters again and again as a client does that locks nothing, for `redlock dashboard`: what it sees of a shard is what a lock there would get.
#ifndef REDLOCK_CLI_DASHBOARD_CLUSTER_WATCH_HPP
#define REDLOCK_CLI_DASHBOARD_CLUSTER_WATCH_HPP

#include <redlock/client.hpp>
#include <redlock/config.hpp>
#include <redlock/status.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <vector>

namespace redlock::cli {

class cluster_watch {
public:
    // `shards`: each shard of each cluster.
    using handler = std::function<void(std::vector<node_status> const& shards)>;

    // Calls `tell` on `io` when each shard has voted or said why not, or after `timeout`, and then after each interval.
    cluster_watch(boost::asio::io_context& io, config const& settings, std::chrono::milliseconds interval,
                  std::chrono::milliseconds timeout, handler tell);
    cluster_watch(cluster_watch const&) = delete;
    cluster_watch& operator=(cluster_watch const&) = delete;

private:
    void look();

    client client_;
    boost::asio::steady_timer timer_;
    std::chrono::milliseconds interval_;
    std::chrono::steady_clock::time_point first_ends_;
    bool has_told_{false};
    handler tell_;
};

}  // namespace redlock::cli

#endif
