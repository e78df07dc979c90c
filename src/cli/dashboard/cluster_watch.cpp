#include "cli/dashboard/cluster_watch.hpp"

#include "cli/doctor/votes.hpp"

#include <boost/asio/detached.hpp>

#include <algorithm>
#include <utility>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto asks_again_after = 10ms;

config with_connect_timeout(config settings, std::chrono::milliseconds timeout)
{
    settings.connect_timeout = timeout;
    return settings;
}

}  // namespace

cluster_watch::cluster_watch(boost::asio::io_context& io, config const& settings, std::chrono::milliseconds interval,
                             std::chrono::milliseconds timeout, handler tell)
    : client_{io.get_executor(), with_connect_timeout(settings, timeout)},
      timer_{io},
      interval_{interval},
      first_ends_{std::chrono::steady_clock::now() + timeout},
      tell_{std::move(tell)}
{
    client_.run(boost::asio::detached);
    look();
}

void cluster_watch::look()
{
    auto const seen = client_.status().nodes;
    bool const all = std::all_of(seen.begin(), seen.end(), [](node_status const& n) { return has_spoken(n, true); });
    has_told_ = has_told_ || all || std::chrono::steady_clock::now() >= first_ends_;
    if (has_told_) tell_(seen);
    timer_.expires_after(has_told_ ? std::chrono::steady_clock::duration{interval_} : asks_again_after);
    timer_.async_wait([this](error_code ec) {
        if (!ec) look();
    });
}

}  // namespace redlock::cli
