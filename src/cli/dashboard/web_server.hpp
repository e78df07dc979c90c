// A small HTTP/1.1 server on Boost.Beast, for pages that are made in memory: no request body, and a bound for whatever a client may send, keep or wait
// for. Only web_server.cpp includes Beast.
#ifndef REDLOCK_CLI_DASHBOARD_WEB_SERVER_HPP
#define REDLOCK_CLI_DASHBOARD_WEB_SERVER_HPP

#include "cli/dashboard/web_answers.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::cli {

struct web_limits {
    std::size_t connections{64};  // at one time; a further one gets 503
    std::size_t header_bytes{8'192};
    std::size_t requests{10'000};  // of one connection
    std::chrono::milliseconds request{5'000};  // from the connection to the end of its first request
    std::chrono::milliseconds idle{30'000};  // the same for each further one: the time between two is in it
    std::chrono::milliseconds answer{10'000};  // until the client has read the answer
};

class web_server {
public:
    using responder = std::function<web_answer(web_request const&)>;

    // Listens at once. Throws `failure` when the address cannot be had. `responder` is called on `io`, and must outlive its last handler.
    web_server(asio::io_context& io, asio::ip::tcp::endpoint const& at, web_limits limits, responder answer);
    web_server(web_server const&) = delete;
    web_server& operator=(web_server const&) = delete;
    ~web_server();

    // Where it listens: the port is known even if 0 was asked for.
    asio::ip::tcp::endpoint endpoint() const;

private:
    struct state;
    struct loops;
    std::shared_ptr<state> state_;
};

}  // namespace redlock::cli

#endif
