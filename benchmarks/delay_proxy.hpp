// A network in between: each byte arrives so much later, in both directions. On loopback a round trip takes less than everything else.
#ifndef REDLOCK_BENCHMARKS_DELAY_PROXY_HPP
#define REDLOCK_BENCHMARKS_DELAY_PROXY_HPP

#include "support.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <thread>

namespace bench {

/// Listens on a loopback port for each server, and passes everything on. It has a thread of its own.
class delay_proxy {
public:
    delay_proxy(bench::ports const& servers, std::chrono::nanoseconds each_way);
    ~delay_proxy();

    bench::ports const& ports() const noexcept { return ports_; }

private:
    asio::awaitable<void> listen(std::size_t index, std::uint16_t server);

    std::chrono::nanoseconds each_way_;
    asio::io_context io_{1};
    std::deque<asio::ip::tcp::acceptor> acceptors_;
    bench::ports ports_;
    std::jthread thread_;
};

}  // namespace bench

#endif
