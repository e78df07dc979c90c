#include "packet_wire.hpp"

#include "programs.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
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
using steady = std::chrono::steady_clock;

constexpr std::size_t packet_bytes_max = 65'536;
constexpr std::size_t under_way_max = 10'000;  // then packets are lost, as in any router

int open_tun(char const* name)
{
    int const fd = ::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) throw std::system_error{errno, std::generic_category(), "/dev/net/tun"};
    ifreq request{};
    std::strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    if (::ioctl(fd, TUNSETIFF, &request) != 0) {
        int const error = errno;
        ::close(fd);
        throw std::system_error{error, std::generic_category(), "a TUN device"};
    }
    return fd;
}

std::string namespace_of(pid_t process) { return std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/ns/net").string(); }

// The node that an IPv4 packet comes from or goes to.
std::size_t node_of(std::vector<std::uint8_t> const& packet)
{
    constexpr std::size_t source_at = 12;
    constexpr std::size_t destination_at = 16;
    constexpr std::size_t address_bytes = 4;
    if (packet.size() < destination_at + address_bytes || packet[0] >> 4 != 4) return node_count;
    auto const last_byte = std::min(packet[source_at + 3], packet[destination_at + 3]);  // the far side has a large one
    return last_byte >= 1 && last_byte <= node_count ? last_byte - 1U : node_count;
}

}  // namespace

packet_wire::descriptor::~descriptor()
{
    if (fd >= 0) ::close(fd);
}

packet_wire::packet_wire(std::uint64_t seed)
    : far_namespace_{testing::find_program("unshare"), {"-n", "sleep", "infinity"}, folder_.path() / "log"}, random_{seed}
{
    auto const deadline = steady::now() + 5s;
    while (namespace_of(far_namespace_.pid()) == namespace_of(::getpid())) {
        if (!far_namespace_.running() || steady::now() > deadline) throw std::runtime_error{"unshare -n: no network namespace"};
        ::poll(nullptr, 0, 2);
    }
    run_program({"ip", "link", "set", "lo", "up"});
    near_.fd = open_tun("near");
    for (std::size_t i = 0; i < node_count; ++i) run_program({"ip", "addr", "add", address_of_node(i) + "/24", "dev", "near"});
    run_program({"ip", "addr", "add", address_of_others() + "/24", "dev", "near"});
    run_program({"ip", "link", "set", "near", "up"});

    auto const there = std::to_string(far_namespace_.pid());
    far_.fd = open_tun("far");
    run_program({"ip", "link", "set", "far", "netns", there});
    for (auto const* words : {"link set lo up", "addr add 10.97.0.200/24 dev far", "link set far up"}) {
        auto command = under();
        command.push_back("ip");
        std::istringstream in{words};
        for (std::string word; in >> word;) command.push_back(word);
        run_program(command);
    }
    thread_ = std::jthread{[this](std::stop_token stop) { carry(stop); }};
}

packet_wire::~packet_wire() = default;

std::vector<std::string> packet_wire::under() const
{
    return {testing::find_program("nsenter").string(), "--net=/proc/" + std::to_string(far_namespace_.pid()) + "/ns/net"};
}

void packet_wire::set(std::size_t node, packet_rule const& rule)
{
    std::lock_guard const guard{mutex_};
    rules_[node] = rule;
}

void packet_wire::carry(std::stop_token stop)
{
    constexpr auto look_again = 20ms;  // whether to stop
    while (!stop.stop_requested()) {
        auto wait = std::chrono::nanoseconds{look_again};
        if (!under_way_.empty()) wait = std::clamp<std::chrono::nanoseconds>(under_way_.top().due - steady::now(), 0ns, look_again);
        timespec const limit{0, static_cast<long>(wait.count())};
        pollfd ends[] = {{near_.fd, POLLIN, 0}, {far_.fd, POLLIN, 0}};
        ::ppoll(ends, 2, &limit, nullptr);
        if ((ends[0].revents & POLLIN) != 0) take(near_.fd, far_.fd);
        if ((ends[1].revents & POLLIN) != 0) take(far_.fd, near_.fd);
        deliver();
    }
}

void packet_wire::take(int from, int to)
{
    std::vector<std::uint8_t> bytes(packet_bytes_max);
    auto const size = ::read(from, bytes.data(), bytes.size());
    if (size <= 0 || under_way_.size() >= under_way_max) return;
    bytes.resize(static_cast<std::size_t>(size));
    packet_rule rule;
    if (auto const node = node_of(bytes); node < node_count) {
        std::lock_guard const guard{mutex_};
        rule = rules_[node];
    }
    if (rule.blocked || random_.percent(rule.loss_percent)) return;
    under_way_.push({steady::now() + random_.between(0ns, std::chrono::nanoseconds{rule.delay_max}), to, std::move(bytes)});
}

void packet_wire::deliver()
{
    while (!under_way_.empty() && under_way_.top().due <= steady::now()) {
        auto const& next = under_way_.top();
        [[maybe_unused]] auto const written = ::write(next.to, next.bytes.data(), next.bytes.size());  // a full queue loses it
        under_way_.pop();
    }
}

}  // namespace redlock::faults
