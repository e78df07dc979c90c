#include "net_namespace.hpp"

#include "programs.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;

std::string namespace_of(pid_t process) { return std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/ns/net").string(); }

}  // namespace

tun_device::tun_device(std::string const& name) : fd_{::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC)}
{
    if (fd_ < 0) throw std::system_error{errno, std::generic_category(), "/dev/net/tun"};
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (::ioctl(fd_, TUNSETIFF, &request) == 0) return;
    int const error = errno;
    ::close(fd_);
    throw std::system_error{error, std::generic_category(), "a TUN device"};
}

tun_device::~tun_device() { ::close(fd_); }

std::vector<std::uint8_t> tun_device::read() const
{
    std::vector<std::uint8_t> packet(max_packet_bytes);
    auto const size = ::read(fd_, packet.data(), packet.size());
    packet.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return packet;
}

void tun_device::write(std::vector<std::uint8_t> const& packet) const
{
    [[maybe_unused]] auto const written = ::write(fd_, packet.data(), packet.size());
}

net_namespace::net_namespace() : process_{testing::find_program("unshare"), {"-n", "sleep", "infinity"}, folder_.path() / "log"}
{
    auto const deadline = std::chrono::steady_clock::now() + 5s;
    while (namespace_of(process_.pid()) == namespace_of(::getpid())) {
        if (!process_.running() || std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error{"unshare -n: no network namespace"};
        ::poll(nullptr, 0, 2);
    }
}

std::vector<std::string> net_namespace::under() const
{
    return {testing::find_program("nsenter").string(), "--net=/proc/" + std::to_string(process_.pid()) + "/ns/net"};
}

void net_namespace::take(std::string const& device, std::string const& address) const
{
    run_program({"ip", "link", "set", device, "netns", std::to_string(process_.pid())});
    for (auto const& words : {std::string{"link set lo up"}, "addr add " + address + " dev " + device, "link set " + device + " up"}) {
        auto command = under();
        command.emplace_back("ip");
        std::istringstream in{words};
        for (std::string word; in >> word;) command.push_back(word);
        run_program(command);
    }
}

}  // namespace redlock::faults
