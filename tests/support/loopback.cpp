#include "loopback.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace redlock::testing {
namespace {

// Below Linux's default ip_local_port_range (32768 to 60999), see the header; above what well-known services use.
constexpr int min_port = 20'000;
constexpr int max_port = 29'999;

std::string text_of(loopback family) { return family == loopback::ipv4 ? "127.0.0.1" : "::1"; }

struct address {
    sockaddr_storage storage{};
    socklen_t size{};

    address(std::string const& host, std::uint16_t port)
    {
        sockaddr_in v4{};
        sockaddr_in6 v6{};
        if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
            v4.sin_family = AF_INET;
            v4.sin_port = htons(port);
            std::memcpy(&storage, &v4, size = sizeof v4);
        } else if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
            v6.sin6_family = AF_INET6;
            v6.sin6_port = htons(port);
            std::memcpy(&storage, &v6, size = sizeof v6);
        } else {
            throw std::runtime_error{host + " is no address"};
        }
    }
    address(loopback family, std::uint16_t port) : address{text_of(family), port} {}

    sockaddr const* get() const noexcept { return reinterpret_cast<sockaddr const*>(&storage); }
};

[[noreturn]] void fail(int error, char const* what) { throw std::system_error{error, std::generic_category(), what}; }

int open_socket(address const& at)
{
    int const fd = ::socket(at.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) fail(errno, "socket");
    return fd;
}

bool is_free(loopback family, std::uint16_t port)
{
    address const at{family, port};
    int const fd = open_socket(at);
    // Servers set this too; without it a port in TIME_WAIT would look taken.
    int const yes = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    bool const bound = ::bind(fd, at.get(), at.size) == 0;
    int const error = errno;
    ::close(fd);
    if (!bound && error != EADDRINUSE && error != EACCES) fail(error, "bind to loopback");
    return bound;
}

// The kernel gives an abstract Unix socket's name to one process at a time, and frees it when that process has ended. So the name of a port says that
// this process uses the port, also while no server listens there. The socket is never closed.
bool claim(std::uint16_t port)
{
    std::string const name = "redlock-tests-port-" + std::to_string(port);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::copy(name.begin(), name.end(), at.sun_path + 1);  // a first byte of 0 makes the name abstract
    int const fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail(errno, "socket");
    auto const size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    bool const is_ours = ::bind(fd, reinterpret_cast<sockaddr const*>(&at), size) == 0;
    int const error = errno;
    if (is_ours) return true;
    ::close(fd);
    if (error != EADDRINUSE) fail(error, "bind the name of a port");
    return false;
}

}  // namespace

std::uint16_t free_port(loopback family)
{
    constexpr int max_tries = 200;
    std::random_device random;
    std::uniform_int_distribution<int> pick{min_port, max_port};
    for (int tries = 0; tries < max_tries; ++tries) {
        auto const port = static_cast<std::uint16_t>(pick(random));
        if (claim(port) && is_free(family, port)) return port;
    }
    throw std::runtime_error{"no free loopback port found"};
}

loopback_socket::loopback_socket(loopback family, std::uint16_t port, time_point deadline)
    : loopback_socket{text_of(family), port, deadline}
{
}

loopback_socket::loopback_socket(std::string const& host, std::uint16_t port, time_point deadline) : fd_{-1}, deadline_{deadline}
{
    address const peer{host, port};
    fd_ = open_socket(peer);
    try {
        if (::connect(fd_, peer.get(), peer.size) == 0) return;
        if (errno != EINPROGRESS) fail(errno, "connect");
        wait_for(POLLOUT);
        int error = 0;
        socklen_t size = sizeof error;
        if (::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) != 0) fail(errno, "getsockopt");
        if (error != 0) fail(error, "connect");
    } catch (...) {
        ::close(fd_);
        throw;
    }
}

loopback_socket::~loopback_socket() { ::close(fd_); }

void loopback_socket::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        auto const n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n >= 0) bytes.remove_prefix(static_cast<std::size_t>(n));
        else if (errno == EAGAIN) wait_for(POLLOUT);
        else if (errno != EINTR) fail(errno, "send");
    }
}

std::size_t loopback_socket::read(char* buffer, std::size_t size)
{
    for (;;) {
        auto const n = ::recv(fd_, buffer, size, 0);
        if (n > 0) return static_cast<std::size_t>(n);
        if (n == 0) fail(ECONNRESET, "the server closed the connection");
        if (errno == EAGAIN) wait_for(POLLIN);
        else if (errno != EINTR) fail(errno, "recv");
    }
}

void loopback_socket::wait_for(short events) const
{
    for (;;) {
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - std::chrono::steady_clock::now());
        if (left.count() <= 0) fail(ETIMEDOUT, "no answer in time");
        pollfd poll_for{fd_, events, 0};
        int const ready = ::poll(&poll_for, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 60'000)));
        if (ready > 0) return;
        if (ready < 0 && errno != EINTR) fail(errno, "poll");
    }
}

}  // namespace redlock::testing
