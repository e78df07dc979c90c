// The proxy, between a blocking client and a server that says everything once more.
#include "support/loopback.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include <poll.h>

namespace redlock::testing {

namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;
using steady = std::chrono::steady_clock;

// Counts what it has heard, and says it again.
class echo_server {
public:
    echo_server() : acceptor_{io_, {asio::ip::address_v4::loopback(), 0}}
    {
        asio::co_spawn(io_, listen(), asio::detached);
        thread_ = std::thread{[this] { io_.run(); }};
    }
    ~echo_server()
    {
        io_.stop();
        thread_.join();
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    bool hears(std::size_t bytes, std::chrono::milliseconds within = 5s) const
    {
        for (auto const deadline = steady::now() + within; heard_ != bytes; ::poll(nullptr, 0, 2))
            if (steady::now() > deadline) return false;
        return true;
    }

private:
    asio::awaitable<void> listen()
    {
        for (;;) {
            auto accepting = acceptor_.async_accept(asio::use_awaitable);
            auto peer = co_await std::move(accepting);
            asio::co_spawn(io_, serve(std::move(peer)), asio::detached);
        }
    }

    asio::awaitable<void> serve(tcp::socket peer)
    {
        std::array<char, 4096> chunk;
        boost::system::error_code ec;
        while (!ec) {
            auto reading = peer.async_read_some(asio::buffer(chunk), asio::redirect_error(asio::use_awaitable, ec));
            std::size_t const size = co_await std::move(reading);
            heard_ += size;
            auto writing = asio::async_write(peer, asio::buffer(chunk, size), asio::redirect_error(asio::use_awaitable, ec));
            co_await std::move(writing);
        }
    }

    asio::io_context io_{1};
    tcp::acceptor acceptor_;
    std::atomic<std::size_t> heard_{0};
    std::thread thread_;
};

struct proxied {
    echo_server server;
    tcp_proxy proxy{{server.port()}};

    std::optional<loopback_socket> connect(std::chrono::milliseconds patience = 5s)
    {
        return std::optional<loopback_socket>{std::in_place, loopback::ipv4, proxy.ports()[0], steady::now() + patience};
    }

    // What comes back, or why nothing does.
    static std::string say(loopback_socket& line, std::string const& words)
    {
        try {
            line.write(words);
            std::string heard;
            std::array<char, 4096> chunk;
            while (heard.size() < words.size()) heard.append(chunk.data(), line.read(chunk.data(), chunk.size()));
            return heard;
        } catch (std::system_error const& error) {
            return error.code() == std::errc::timed_out ? "silence" : "closed";
        }
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tcp_proxies)

BOOST_FIXTURE_TEST_CASE(passes_everything_on, proxied)
{
    auto line = connect();
    BOOST_TEST(say(*line, "hello") == "hello");
    std::string const much(300'000, 'x');
    BOOST_TEST((say(*line, much) == much));
}

BOOST_FIXTURE_TEST_CASE(delays_each_way_and_no_longer_than_it_is_told, proxied)
{
    auto line = connect();
    proxy.set_all({.to_server = {.delay = 40ms}, .to_client = {.delay = 60ms}});
    auto const began = steady::now();
    BOOST_TEST(say(*line, "hello") == "hello");
    BOOST_TEST(((steady::now() - began) >= 100ms));
    proxy.set(0, {});
    BOOST_TEST(say(*line, "again") == "again");
}

BOOST_FIXTURE_TEST_CASE(lets_no_more_than_so_many_bytes_through_in_a_second, proxied)
{
    auto line = connect();
    proxy.set(0, {.to_server = {.bytes_per_second = 10'000}, .to_client = {}});
    auto const began = steady::now();
    BOOST_TEST((say(*line, std::string(3'000, 'x')) == std::string(3'000, 'x')));
    BOOST_TEST(((steady::now() - began) >= 300ms));
}

BOOST_FIXTURE_TEST_CASE(half_open_means_that_requests_arrive_and_answers_do_not, proxied)
{
    auto line = connect(500ms);
    proxy.set(0, {.to_server = {}, .to_client = {.swallowed = true}});
    BOOST_TEST(say(*line, "hello") == "silence");
    BOOST_TEST(server.hears(5));
}

BOOST_FIXTURE_TEST_CASE(what_was_held_arrives_after_its_sender_has_gone, proxied)
{
    auto line = connect(300ms);
    proxy.set(0, {.to_server = {.held = true}, .to_client = {}});
    BOOST_TEST(say(*line, "hello") == "silence");
    line.reset();
    BOOST_TEST(!server.hears(5, 100ms));
    proxy.set(0, {});
    BOOST_TEST(server.hears(5));
}

BOOST_FIXTURE_TEST_CASE(cuts_connections_and_accepts_new_ones, proxied)
{
    auto line = connect();
    BOOST_TEST(say(*line, "hello") == "hello");
    proxy.cut(0);
    BOOST_TEST(say(*line, "hello") == "closed");
    auto another = connect();
    BOOST_TEST(say(*another, "hello") == "hello");
}

// A server that a test has killed comes back on its port, though nobody listened there meanwhile.
BOOST_AUTO_TEST_CASE(no_port_is_given_out_twice)
{
    std::set<std::uint16_t> ports;
    for (int i = 0; i < 300; ++i) BOOST_TEST(ports.insert(free_port()).second);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_not_there_closes_the_connection)
{
    tcp_proxy proxy{{free_port()}};
    loopback_socket line{loopback::ipv4, proxy.ports()[0], steady::now() + 5s};
    BOOST_TEST(proxied::say(line, "hello") == "closed");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
