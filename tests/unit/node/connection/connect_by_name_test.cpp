// Connections to names that the test makes up: of several addresses, some of which lead nowhere, or that are never found.
#include "greeter.hpp"
#include "support/name_service.hpp"

#include "base/strand.hpp"
#include "node/connection/redis_connection.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace redlock::detail {
namespace {

namespace name_service = redlock::testing::name_service;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr char const* server_ip = "127.0.0.1";
constexpr char const* dropping_ip = "127.0.0.2";
constexpr char const* mute_ip = "127.0.0.3";
constexpr char const* closed_ip = "127.0.0.4";

// Listens, and drops what is sent to it: its queue is full of connections that nobody accepts.
class dropping_port {
public:
    explicit dropping_port(std::uint16_t port) : listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}
    {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1);
        BOOST_REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
        BOOST_REQUIRE(::listen(listener_, 0) == 0);
        constexpr int enough = 4;
        for (int i = 0; i < enough; ++i) {
            fillers_.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
            ::connect(fillers_.back(), reinterpret_cast<sockaddr*>(&at), sizeof at);
        }
    }
    dropping_port(dropping_port const&) = delete;
    dropping_port& operator=(dropping_port const&) = delete;
    ~dropping_port()
    {
        ::close(listener_);
        for (int each : fillers_) ::close(each);
    }

private:
    int listener_;
    std::vector<int> fillers_;
};

// Connects to a name, again and again with the same settings.
struct by_name {
    explicit by_name(std::vector<std::string> const& addresses)
    {
        // Each has a name of its own, since an answer that came too late is kept for the next lookup.
        static int count = 0;
        address.host = "server" + std::to_string(++count) + ".test";
        name_service::set(address.host, addresses);
        address.port = server.port();
    }
    ~by_name() { name_service::answer_all(); }

    // Until it is open or closed.
    void connect()
    {
        if (!settings) settings = std::make_unique<connection_settings>(address, common);
        owner = std::make_shared<connection_listener>();
        connection = std::make_shared<redis_connection>(make_client_strand(io.get_executor()), *settings,
                                                        handshake{address, handshake::greeting_only{}});
        began = steady::now();
        connection->open(owner);
        run_until([&] { return owner->opened || owner->closed > 0; });
    }

    void close()
    {
        connection->close();
        run_until([&] { return owner->closed > 0; });
    }

    template <class Condition>
    void run_until(Condition so)
    {
        io.restart();
        while (!so()) BOOST_REQUIRE(io.run_one_for(10s) == 1u);
    }

    std::chrono::milliseconds took() const { return std::chrono::duration_cast<std::chrono::milliseconds>(steady::now() - began); }

    asio::io_context io;
    greeter server{io};
    node_address address;
    config common;
    std::unique_ptr<connection_settings> settings;
    std::shared_ptr<connection_listener> owner;
    std::shared_ptr<redis_connection> connection;
    steady::time_point began{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(connections_by_name)

BOOST_AUTO_TEST_CASE(an_address_that_drops_everything_costs_its_share_of_the_time)
{
    by_name c{{dropping_ip, server_ip}};
    dropping_port const hole{c.address.port};
    c.common.connect_timeout = 2s;
    c.connect();
    BOOST_TEST(c.owner->opened, c.owner->words);
    BOOST_TEST(c.took().count() >= 1'000);
    c.close();
}

BOOST_AUTO_TEST_CASE(an_address_that_refuses_costs_nothing)
{
    by_name c{{closed_ip, server_ip}};
    c.common.connect_timeout = 10s;
    c.connect();
    BOOST_TEST(c.owner->opened, c.owner->words);
    BOOST_TEST(c.took().count() < 4'000);
    c.close();
}

BOOST_AUTO_TEST_CASE(the_address_that_led_to_the_server_is_the_first_one_the_next_time)
{
    by_name c{{dropping_ip, server_ip}};
    dropping_port const hole{c.address.port};
    c.common.connect_timeout = 2s;
    c.connect();
    BOOST_REQUIRE(c.owner->opened);
    c.close();
    c.server.accept();
    c.settings->connect_timeout = 20s;
    c.connect();
    BOOST_TEST(c.owner->opened, c.owner->words);
    BOOST_TEST(c.took().count() < 9'000);
    c.close();
}

// It accepts, so the other address is not asked in the same attempt.
BOOST_AUTO_TEST_CASE(an_address_whose_server_is_mute_is_not_the_first_one_the_next_time)
{
    by_name c{{mute_ip, server_ip}};
    asio::ip::tcp::acceptor const mute{c.io, {asio::ip::make_address(mute_ip), c.address.port}};
    c.common.connect_timeout = 300ms;
    c.connect();
    BOOST_TEST(!c.owner->opened);
    c.settings->connect_timeout = 10s;
    c.connect();
    BOOST_TEST(c.owner->opened, c.owner->words);
    c.close();
}

BOOST_AUTO_TEST_CASE(no_address_answers)
{
    by_name c{{closed_ip, dropping_ip}};
    dropping_port const hole{c.address.port};
    c.common.connect_timeout = 400ms;
    c.connect();
    BOOST_TEST(!c.owner->opened);
    BOOST_TEST((c.owner->why == errc::node_timeout), c.owner->why.message() << ": " << c.owner->words);
    BOOST_TEST(c.owner->words == "no address of the name accepted a connection in its share of connect_timeout");
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_answered_ends_with_the_timeout_and_says_so)
{
    by_name c{{server_ip}};
    name_service::hang(c.address.host);
    c.common.connect_timeout = 300ms;
    c.connect();
    BOOST_TEST((c.owner->why == errc::node_timeout), c.owner->why.message() << ": " << c.owner->words);
    BOOST_TEST(c.owner->words == "the name was not looked up within connect_timeout");
    BOOST_TEST(c.took().count() < 5'000);
}

BOOST_AUTO_TEST_CASE(a_name_that_does_not_exist)
{
    by_name c{{}};
    c.connect();
    BOOST_TEST((c.owner->why == errc::node_unreachable), c.owner->why.message() << ": " << c.owner->words);
    BOOST_TEST(c.owner->words.find("not found") != std::string::npos, c.owner->words);
}

BOOST_AUTO_TEST_CASE(a_connection_that_waits_for_a_lookup_closes_at_once_and_so_does_the_context)
{
    by_name c{{server_ip}};
    name_service::hang(c.address.host);
    c.common.connect_timeout = 10min;
    c.settings = std::make_unique<connection_settings>(c.address, c.common);
    c.owner = std::make_shared<connection_listener>();
    for (bool const closes : {true, false}) {
        asio::io_context io;
        auto const connection = std::make_shared<redis_connection>(make_client_strand(io.get_executor()), *c.settings,
                                                                   handshake{c.address, handshake::greeting_only{}});
        connection->open(c.owner);
        while (name_service::hanging() == 0) io.poll();
        if (!closes) continue;
        connection->close();
        BOOST_TEST(io.run_for(10s) > 0u);
        BOOST_TEST(io.stopped());
        BOOST_TEST(c.owner->closed == 1);
    }
    BOOST_TEST(c.owner.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
