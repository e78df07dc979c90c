// Ports and blocking sockets on this machine's loopback addresses and those of other network namespaces, with a limit on every wait.
#ifndef REDLOCK_TESTS_SUPPORT_LOOPBACK_HPP
#define REDLOCK_TESTS_SUPPORT_LOOPBACK_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::testing {

enum class loopback : std::uint8_t { ipv4, ipv6 };

/// A port that nobody uses at the moment. No other call of this function, in any process, returns it before this process has ended: a test can stop a
/// server and start it again there. Any other program may take the port before the caller does, so be ready to ask again.
///
/// It is below the range from which the kernel takes the local ports of outgoing connections. Inside that range a client
/// that keeps knocking at a dead server's port is sooner or later connected to itself, and then the server cannot come back.
/// Throws `std::runtime_error` when no port is found.
std::uint16_t free_port(loopback family = loopback::ipv4);

/// A TCP connection with one deadline for all that is done with it.
class loopback_socket {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// Connects. Throws `std::system_error`; after the deadline with `std::errc::timed_out`.
    loopback_socket(loopback family, std::uint16_t port, time_point deadline);

    /// The same to another address, as in "10.97.0.1" or "::1".
    loopback_socket(std::string const& host, std::uint16_t port, time_point deadline);
    loopback_socket(loopback_socket const&) = delete;
    loopback_socket& operator=(loopback_socket const&) = delete;
    ~loopback_socket();

    /// Writes everything. Throws `std::system_error`.
    void write(std::string_view bytes);

    /// Reads at least one byte; returns how many. Throws `std::system_error`, also when the peer has closed.
    std::size_t read(char* buffer, std::size_t size);

private:
    void wait_for(short events) const;

    int fd_;
    time_point deadline_;
};

}  // namespace redlock::testing

#endif
