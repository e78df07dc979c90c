#include "web_client.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace redlock::testing {

namespace {

constexpr int patience_ms = 10'000;

arguments dashboard_arguments(arguments const& more)
{
    arguments all{"dashboard", "--interval", "100ms"};
    if (std::find(more.begin(), more.end(), "--listen") == more.end()) all.insert(all.end(), {"--listen", "127.0.0.1:0"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

web_connection::web_connection(std::uint16_t port) : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}
{
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    BOOST_TEST_REQUIRE(::connect(fd_, reinterpret_cast<sockaddr const*>(&to), sizeof to) == 0);
}

web_connection::~web_connection() { ::close(fd_); }

void web_connection::send(std::string const& text) const
{
    for (std::size_t sent = 0; sent < text.size();) {
        auto const n = ::send(fd_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
        if (n <= 0) return;  // it has closed, which receive() finds
        sent += static_cast<std::size_t>(n);
    }
}

std::string web_connection::receive(std::string const& until)
{
    std::string all;
    char part[65'536];
    while (until.empty() || all.find(until) == std::string::npos) {
        pollfd event{fd_, POLLIN, 0};
        if (::poll(&event, 1, patience_ms) <= 0) {
            BOOST_ERROR("nothing more came after: " << all);
            break;
        }
        auto const n = ::recv(fd_, part, sizeof part, 0);
        if (n <= 0) break;
        all.append(part, static_cast<std::size_t>(n));
    }
    return all;
}

dashboard_program::dashboard_program(program_options const& options, arguments const& more) : program_{dashboard_arguments(more), options}
{
    BOOST_TEST_REQUIRE(eventually([&] { return contains(program_.output(), "/\n"); }), program_.errors());
    auto const text = program_.output();
    port_ = static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
}

web_reply dashboard_program::ask(std::string const& request) const
{
    web_connection with{port_};
    with.send(request);
    auto const text = with.receive();
    auto const end = text.find("\r\n\r\n");
    BOOST_TEST_REQUIRE(text.starts_with("HTTP/1.1 "), text);
    BOOST_TEST_REQUIRE(end != std::string::npos, text);
    return {std::stoi(text.substr(9)), text.substr(0, end + 2), text.substr(end + 4)};
}

web_reply dashboard_program::get(std::string const& target, std::string const& more) const
{
    return ask("GET " + target + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more + "\r\n");
}

}  // namespace redlock::testing
