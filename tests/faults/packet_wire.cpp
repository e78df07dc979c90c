#include "packet_wire.hpp"

#include "programs.hpp"

#include <algorithm>

#include <poll.h>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

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

packet_wire::packet_wire(std::uint64_t seed) : random_{seed}
{
    run_program({"ip", "link", "set", "lo", "up"});
    for (std::size_t i = 0; i < node_count; ++i) run_program({"ip", "addr", "add", address_of_node(i) + "/24", "dev", "near"});
    run_program({"ip", "addr", "add", address_of_others() + "/24", "dev", "near"});
    run_program({"ip", "link", "set", "near", "up"});
    far_namespace_.take("far", "10.97.0.200/24");
    thread_ = std::jthread{[this](std::stop_token stop) { carry(stop); }};
}

packet_wire::~packet_wire() = default;

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
        pollfd ends[] = {{near_.fd(), POLLIN, 0}, {far_.fd(), POLLIN, 0}};
        ::ppoll(ends, 2, &limit, nullptr);
        if ((ends[0].revents & POLLIN) != 0) take(near_, far_);
        if ((ends[1].revents & POLLIN) != 0) take(far_, near_);
        deliver();
    }
}

void packet_wire::take(tun_device const& from, tun_device const& to)
{
    auto bytes = from.read();
    if (bytes.empty() || under_way_.size() >= max_packets_under_way) return;
    packet_rule rule;
    if (auto const node = node_of(bytes); node < node_count) {
        std::lock_guard const guard{mutex_};
        rule = rules_[node];
    }
    if (rule.blocked || random_.percent(rule.loss_percent)) return;
    under_way_.push({steady::now() + random_.between(0ns, std::chrono::nanoseconds{rule.max_delay}), &to, std::move(bytes)});
}

void packet_wire::deliver()
{
    while (!under_way_.empty() && under_way_.top().due <= steady::now()) {
        under_way_.top().to->write(under_way_.top().bytes);
        under_way_.pop();
    }
}

}  // namespace redlock::faults
