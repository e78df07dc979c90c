// A network in between: bytes on their way to servers and back can be late, slow, held back, lost, and connections cut.
#ifndef REDLOCK_TESTS_SUPPORT_TCP_PROXY_HPP
#define REDLOCK_TESTS_SUPPORT_TCP_PROXY_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

namespace redlock::testing {

namespace asio = boost::asio;

/// What happens to the bytes of one direction. The default: nothing, they are passed on.
struct traffic_rule {
    std::chrono::nanoseconds delay{};  ///< Each byte arrives so much later.
    std::size_t bytes_per_second{0};   ///< No faster than this; 0: as fast as they come.
    bool held{false};     ///< They are kept until this is false again, and then delivered, even if their sender has gone meanwhile.
    bool swallowed{false};///< They are lost, and the connection stays open.
};

/// What happens to all connections with one server.
struct link_rule {
    traffic_rule to_server;
    traffic_rule to_client;
};

/// Listens on a port for each server, and passes everything on. It has a thread of its own.
///
/// Rules hold for connections that exist and for those that are yet to come; bytes that are under way keep their
/// time of arrival, unless they are held. `set` and `cut` return before they take effect.
///
/// Thread safety: members may be called from any thread.
class tcp_proxy {
public:
    /// The servers are on this machine's loopback; the proxy listens on `address`. Throws `boost::system::system_error`.
    explicit tcp_proxy(std::vector<std::uint16_t> const& servers, asio::ip::address const& address = asio::ip::address_v4::loopback());
    ~tcp_proxy();

    /// One for each server, in their order.
    std::vector<std::uint16_t> const& ports() const noexcept { return ports_; }

    void set(std::size_t server, link_rule const& rule);

    /// The same for all of them.
    void set_all(link_rule const& rule);

    /// New connections lead to another server from now on, as behind an address that moves. Those that exist stay where they are.
    void redirect(std::size_t server, std::uint16_t to);

    /// The times at which connections were accepted, oldest first.
    std::vector<std::chrono::steady_clock::time_point> connects(std::size_t server);

    /// Loses all bytes on the connections with a server that exist, and leaves them open, as a firewall that has forgotten them. New ones work.
    void forget(std::size_t server);

    /// Closes all connections with a server, and what was under way on them is lost. New ones are accepted.
    void cut(std::size_t server);

private:
    class direction;
    class connection;

    struct gate {
        std::uint16_t server;
        asio::ip::tcp::acceptor acceptor;
        link_rule rule;
        std::vector<std::weak_ptr<connection>> connections;
        std::vector<std::chrono::steady_clock::time_point> connects{};
    };

    asio::awaitable<void> listen(gate& at);
    asio::awaitable<void> connect(gate& at, std::shared_ptr<connection> pair);

    asio::io_context io_{1};
    std::deque<gate> gates_;
    std::vector<std::uint16_t> ports_;
    std::jthread thread_;
};

}  // namespace redlock::testing

#endif
