// A network of IP packets between this process's network namespace and another one, and what happens to packets on it.
//
// The wire is a TUN device on each side; a thread carries the packets across. `tc netem` does the same to an existing network, where the
// kernel has it; this needs nothing but namespaces and TUN, and its losses come from the seed.
#ifndef REDLOCK_TESTS_FAULTS_PACKET_WIRE_HPP
#define REDLOCK_TESTS_FAULTS_PACKET_WIRE_HPP

#include "fault.hpp"
#include "net_namespace.hpp"

#include "simulation/random.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <thread>
#include <vector>

namespace redlock::faults {

/// What happens to the packets between a node and the far side.
struct packet_rule {
    std::size_t loss_percent{0};
    milliseconds max_delay{};  ///< Each packet takes up to so much longer, and may overtake others.
    bool blocked{false};
};

/// Preconditions: this process may configure the network of its namespace, which is its own (namespaces.hpp).
/// Thread safety: none.
class packet_wire {
public:
    /// Throws `std::runtime_error` or `std::system_error`, with the reason why it is not possible here.
    explicit packet_wire(std::uint64_t seed);
    packet_wire(packet_wire const&) = delete;
    packet_wire& operator=(packet_wire const&) = delete;
    ~packet_wire();

    void set(std::size_t node, packet_rule const& rule);

    /// Where the far side finds a node, and everything else, which no rule is for.
    static std::string address_of_node(std::size_t node) { return "10.97.0." + std::to_string(1 + node); }
    static std::string address_of_others() { return "10.97.0." + std::to_string(1 + node_count); }

    /// What executes a program on the far side: these words, and then the program's.
    std::vector<std::string> under() const { return far_namespace_.under(); }

private:
    struct packet {
        std::chrono::steady_clock::time_point due;
        tun_device const* to;
        std::vector<std::uint8_t> bytes;
        bool operator<(packet const& other) const noexcept { return due > other.due; }  // the next one is on top
    };

    void carry(std::stop_token stop);
    void take(tun_device const& from, tun_device const& to);
    void deliver();

    net_namespace far_namespace_;
    tun_device near_{"near"};
    tun_device far_{"far"};
    std::mutex mutex_;
    std::array<packet_rule, node_count> rules_{};
    simulation::random random_;
    std::priority_queue<packet> under_way_;
    std::jthread thread_;
};

}  // namespace redlock::faults

#endif
