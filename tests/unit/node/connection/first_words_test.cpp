// Servers, and other programs, that say something else than the answer to HELLO; and a system that gives no socket. Played on loopback.
#include "base/strand.hpp"
#include "node/connection/first_words.hpp"
#include "node/connection/redis_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace redlock::detail {
namespace {

using asio::ip::tcp;
using namespace std::chrono_literals;

enum class afterwards : std::uint8_t { closes, stays };

// Says something to who comes, as soon as it has come or after it has said something.
class talker {
public:
    talker(asio::io_context& io, std::string words, bool at_once, afterwards how)
        : acceptor_{io, tcp::endpoint{asio::ip::address_v4::loopback(), 0}}, client_{io}, words_{std::move(words)}, how_{how}
    {
        acceptor_.async_accept(client_, [this, at_once](error_code ec) {
            if (ec) return;
            if (at_once) return say();
            client_.async_read_some(asio::buffer(heard_), [this](error_code failed, std::size_t) {
                if (!failed) say();
            });
        });
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    void say()
    {
        error_code gone;
        asio::write(client_, asio::buffer(words_), gone);
        if (how_ == afterwards::closes) client_.close(gone);
    }

    tcp::acceptor acceptor_;
    tcp::socket client_;
    std::array<char, 4'096> heard_;
    std::string words_;
    afterwards how_;
};

struct listener final : connection_owner {
    void on_open(redis_connection&) override { opened = true; }
    void on_closed(redis_connection&, error_code ec, std::string const& text) override
    {
        closed = true;
        why = ec;
        words = text;
    }
    void on_push(redis_connection&, boost::redis::resp3::node_view const&) override {}
    void on_pushed(redis_connection&) override {}
    void on_time(redis_connection&, quorum::wall_time, quorum::time_point, quorum::time_point) override {}

    bool opened{false};
    bool closed{false};
    error_code why;
    std::string words;
};

// A connection that has ended.
struct ended {
    ended(std::string const& said, bool at_once, afterwards how, std::string const& password = {}) : server{io, said, at_once, how}
    {
        common.connect_timeout = 300ms;
        address.host = "127.0.0.1";
        address.port = server.port();
        address.password = password;
        open();
    }

    void open()
    {
        settings = std::make_unique<connection_settings>(address, common);
        connection = std::make_shared<redis_connection>(make_client_strand(io.get_executor(), true), *settings,
                                                        handshake{address, handshake::greeting_only{}});
        connection->open(owner);
        while (!owner->closed && io.run_one() == 1u) {}
        BOOST_REQUIRE(owner->closed);
        BOOST_TEST(!owner->opened);
    }

    bool says(std::string_view part) const { return owner->words.find(part) != std::string::npos; }

    std::shared_ptr<listener> const owner{std::make_shared<listener>()};
    config common;
    node_address address;
    asio::io_context io{1};
    talker server;
    std::unique_ptr<connection_settings> settings;
    std::shared_ptr<redis_connection> connection;
};

void expect(std::string const& said, errc why, std::string_view part)
{
    for (bool const at_once : {true, false}) {
        for (auto const how : {afterwards::closes, afterwards::stays}) {
            ended const c{said, at_once, how};
            BOOST_TEST((c.owner->why == why), c.owner->why.message() << ": " << c.owner->words);
            BOOST_TEST(c.says(part), c.owner->words);
            BOOST_TEST(c.says("rediss://") == (part.find("rediss://") != part.npos), c.owner->words);
        }
    }
}

// Descriptors of connections to this port.
std::vector<int> sockets_to(std::uint16_t port)
{
    std::vector<int> found;
    for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
        int const fd = std::stoi(entry.path().filename());
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0 && peer.sin_family == AF_INET && ntohs(peer.sin_port) == port)
            found.push_back(fd);
    }
    return found;
}

// The process gets no more descriptors while this lives.
class no_more_descriptors {
public:
    no_more_descriptors()
    {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        auto few = before_;
        few.rlim_cur = 256;
        ::setrlimit(RLIMIT_NOFILE, &few);
        for (int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC); fd >= 0; fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC))
            all_.push_back(fd);
    }
    no_more_descriptors(no_more_descriptors const&) = delete;
    no_more_descriptors& operator=(no_more_descriptors const&) = delete;
    ~no_more_descriptors()
    {
        for (int const fd : all_) ::close(fd);
        ::setrlimit(RLIMIT_NOFILE, &before_);
    }

private:
    rlimit before_{};
    std::vector<int> all_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(first_words)

// Redis says it as soon as it has accepted, and closes.
BOOST_AUTO_TEST_CASE(a_server_that_has_too_many_clients)
{
    expect("-ERR max number of clients reached\r\n", errc::server_error,
           "the server takes no more connections (ERR max number of clients reached); its maxclients is too small");
}

BOOST_AUTO_TEST_CASE(a_server_in_protected_mode)
{
    expect("-DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. " +
               std::string(800, 'x') + "\r\n",
           errc::server_error, "the server takes connections from its own machine only (DENIED: protected mode)");
}

BOOST_AUTO_TEST_CASE(credentials_that_are_refused)
{
    expect("-WRONGPASS invalid username-password pair or user is disabled.\r\n", errc::handshake_refused,
           "older than Redis 6 (WRONGPASS invalid username-password pair");
    expect("-NOAUTH HELLO must be called with the client already authenticated\r\n", errc::handshake_refused,
           "the server wants a password, or is older than Redis 6 (NOAUTH HELLO must");
}

// The user "default" needs no password, so all that stands behind the first HELLO is answered to that user.
BOOST_AUTO_TEST_CASE(credentials_that_are_refused_where_none_are_needed)
{
    for (std::string const rest : {"%1\r\n+proto\r\n:3\r\n", "+OK\r\n"})
        expect("-WRONGPASS invalid username-password pair or user is disabled.\r\n" + rest, errc::handshake_refused,
               "older than Redis 6 (WRONGPASS invalid username-password pair");
}

BOOST_AUTO_TEST_CASE(another_error) { expect("-LOADING Redis is busy\r\n", errc::server_error, "with an error (LOADING Redis is busy)"); }

BOOST_AUTO_TEST_CASE(programs_that_are_no_redis)
{
    expect("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n", errc::not_a_redis_server,
           "it does not speak the Redis protocol: it is a web server (HTTP/1.1 400 Bad Request)");
    expect("<!DOCTYPE HTML>\n<html>\n", errc::not_a_redis_server, "it is a web server (<!DOCTYPE HTML>)");
    expect("SSH-2.0-OpenSSH_9.2p1 Debian\r\n", errc::not_a_redis_server, "it is an SSH server (SSH-2.0-OpenSSH_9.2p1 Debian)");
    expect("220 mail.example ESMTP\r\n", errc::not_a_redis_server, "it said \"220 mail.example ESMTP\"");
    expect("ERROR\r\n", errc::not_a_redis_server, "it said \"ERROR\"");
    expect("J", errc::not_a_redis_server, "it said \"J\"");
}

BOOST_AUTO_TEST_CASE(a_server_with_tls)
{
    expect(std::string{"\x15\x03\x01\x00\x02\x02\x46", 7}, errc::not_a_redis_server,
           "it answered with TLS; a server with TLS wants rediss:// instead");
}

// Only where nothing was said at all this may be the reason.
BOOST_AUTO_TEST_CASE(silence_may_be_for_want_of_tls)
{
    ended const c{"", false, afterwards::closes};
    BOOST_TEST((c.owner->why == errc::node_unreachable));
    BOOST_TEST(c.says("a server with TLS wants rediss:// instead"), c.owner->words);
}

BOOST_AUTO_TEST_CASE(a_password_is_not_repeated)
{
    std::string const password = "a-token-that-is-secret";
    for (std::string const said :
         {"-ERR what is HELLO 3 AUTH default a-token-that-is-secret\r\n", "HELLO 3 AUTH default a-token-that-is-secret\r\n",
          "+HELLO 3 AUTH default a-token-that-is-secret\r\n", "-ERR AUTH a-token-tha...\r\n"}) {
        ended const c{said + said, false, afterwards::stays, password};
        BOOST_TEST(!c.says("a-token"), c.owner->words);
        BOOST_TEST(c.says("AUTH"), c.owner->words);
    }
}

BOOST_AUTO_TEST_CASE(a_process_that_may_open_no_more)
{
    ended c{"", false, afterwards::closes};
    *c.owner = listener{};
    c.connection.reset();  // with its descriptor, which Boost.Redis 1.92 keeps until then
    c.io.restart();
    c.io.poll();
    c.io.restart();
    no_more_descriptors const none;
    c.open();
    BOOST_TEST((c.owner->why == errc::node_unreachable));
    BOOST_TEST(c.owner->words == "the system gives no socket: Too many open files");
}

// A program that the process starts has no business with them, and would keep them open.
BOOST_AUTO_TEST_CASE(no_connection_is_inherited)
{
    asio::io_context io{1};
    talker const server{io, "", false, afterwards::stays};
    config const common;
    node_address address;
    address.host = "127.0.0.1";
    address.port = server.port();
    connection_settings const settings{address, common};
    auto const connection = std::make_shared<redis_connection>(make_client_strand(io.get_executor(), true), settings,
                                                               handshake{address, handshake::greeting_only{}});
    connection->open(std::make_shared<listener>());
    auto sockets = sockets_to(server.port());
    for (; sockets.empty(); sockets = sockets_to(server.port())) BOOST_REQUIRE(io.run_one() == 1u);
    BOOST_TEST(sockets.size() == 1u);
    BOOST_TEST((::fcntl(sockets.front(), F_GETFD) & FD_CLOEXEC) != 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
