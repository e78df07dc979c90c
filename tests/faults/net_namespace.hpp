// A network namespace for one machine of a simulated network, and the device that its packets come out of.
#ifndef REDLOCK_TESTS_FAULTS_NET_NAMESPACE_HPP
#define REDLOCK_TESTS_FAULTS_NET_NAMESPACE_HPP

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace redlock::faults {

/// The largest packet that a device gives.
inline constexpr std::size_t max_packet_bytes = 65'536;

/// Packets that a network keeps on their way. More than that are lost, as in any router.
inline constexpr std::size_t max_packets_under_way = 10'000;

/// A network device of this process's namespace, whose packets this process reads and writes.
///
/// Thread safety: none; reading and writing `fd()` may go on at the same time.
class tun_device {
public:
    /// Throws `std::system_error` where it is not allowed.
    explicit tun_device(std::string const& name);
    tun_device(tun_device const&) = delete;
    tun_device& operator=(tun_device const&) = delete;
    ~tun_device();

    int fd() const noexcept { return fd_; }

    /// The next IP packet; empty: there is none.
    std::vector<std::uint8_t> read() const;

    /// A full queue loses it.
    void write(std::vector<std::uint8_t> const& packet) const;

private:
    int fd_;
};

/// A namespace that lives as long as the object.
///
/// Preconditions: this process may make one (namespaces.hpp).
class net_namespace {
public:
    /// Throws `std::runtime_error`.
    net_namespace();
    net_namespace(net_namespace const&) = delete;
    net_namespace& operator=(net_namespace const&) = delete;

    /// What executes a program in it: these words, and then the program's.
    std::vector<std::string> under() const;

    /// Moves a device of this process's namespace there, and gives it its address, as in "10.97.0.1/24".
    void take(std::string const& device, std::string const& address) const;

private:
    testing::temporary_folder folder_{"redlock-namespace-"};
    testing::child_process process_;
};

}  // namespace redlock::faults

#endif
