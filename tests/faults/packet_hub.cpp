#include "packet_hub.hpp"

#include "programs.hpp"

#include <algorithm>

#include <poll.h>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t nobody = static_cast<std::size_t>(-1);

// The machine that an IPv4 packet goes to.
std::size_t destination_of(std::vector<std::uint8_t> const& packet)
{
    constexpr std::size_t last_byte_at = 19;
    if (packet.size() <= last_byte_at || packet[0] >> 4 != 4 || packet[last_byte_at] == 0) return nobody;
    return packet[last_byte_at] - 1U;
}

}  // namespace

packet_hub::packet_hub(std::size_t machines, std::uint64_t seed) : rules_((machines + 1) * (machines + 1)), random_{seed}
{
    run_program({"ip", "link", "set", "lo", "up"});
    for (std::size_t i = 0; i <= machines; ++i) {
        auto const name = "machine" + std::to_string(i);
        auto const address = address_of(i) + "/24";
        devices_.emplace_back(name);
        if (i > 0) {
            namespaces_.emplace_back().take(name, address);
        } else {
            run_program({"ip", "addr", "add", address, "dev", name});
            run_program({"ip", "link", "set", name, "up"});
        }
    }
    thread_ = std::jthread{[this](std::stop_token stop) { carry(stop); }};
}

packet_hub::~packet_hub() = default;

std::vector<std::string> packet_hub::under(std::size_t machine) const
{
    return machine == 0 ? std::vector<std::string>{} : namespaces_[machine - 1].under();
}

void packet_hub::block(std::size_t a, std::size_t b)
{
    std::lock_guard const guard{mutex_};
    between(a, b).blocked = between(b, a).blocked = true;
}

void packet_hub::delay(std::size_t a, std::size_t b, std::chrono::milliseconds longest)
{
    std::lock_guard const guard{mutex_};
    between(a, b).max_delay = between(b, a).max_delay = longest;
}

void packet_hub::heal()
{
    std::lock_guard const guard{mutex_};
    std::ranges::fill(rules_, rule{});
}

void packet_hub::carry(std::stop_token stop)
{
    constexpr auto look_again = 20ms;  // whether to stop
    std::vector<pollfd> ends;
    for (auto const& device : devices_) ends.push_back({device.fd(), POLLIN, 0});
    while (!stop.stop_requested()) {
        auto wait = std::chrono::nanoseconds{look_again};
        if (!under_way_.empty())
            wait = std::clamp<std::chrono::nanoseconds>(under_way_.top().due - std::chrono::steady_clock::now(), 0ns, look_again);
        timespec const limit{0, static_cast<long>(wait.count())};
        ::ppoll(ends.data(), ends.size(), &limit, nullptr);
        for (std::size_t i = 0; i < ends.size(); ++i)
            if ((ends[i].revents & POLLIN) != 0) take(i);
        deliver();
    }
}

void packet_hub::take(std::size_t from)
{
    auto bytes = devices_[from].read();
    auto const to = destination_of(bytes);
    if (to >= devices_.size() || under_way_.size() >= max_packets_under_way) return;
    rule now;
    {
        std::lock_guard const guard{mutex_};
        now = between(from, to);
    }
    if (now.blocked) return;
    under_way_.push(
        {std::chrono::steady_clock::now() + random_.between(0ns, std::chrono::nanoseconds{now.max_delay}), to, std::move(bytes)});
}

void packet_hub::deliver()
{
    while (!under_way_.empty() && under_way_.top().due <= std::chrono::steady_clock::now()) {
        devices_[under_way_.top().to].write(under_way_.top().bytes);
        under_way_.pop();
    }
}

}  // namespace redlock::faults
