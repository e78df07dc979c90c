// A network of machines, each of them a network namespace with an address, and who of them hears whom.
#ifndef REDLOCK_TESTS_FAULTS_PACKET_HUB_HPP
#define REDLOCK_TESTS_FAULTS_PACKET_HUB_HPP

#include "net_namespace.hpp"

#include "simulation/random.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <thread>
#include <vector>

namespace redlock::faults {

/// Machine 0 is this process's own namespace. A thread carries the packets between their devices.
///
/// Preconditions: this process may configure the network of its namespace, which is its own (namespaces.hpp).
/// Thread safety: none.
class packet_hub {
public:
    /// So many machines besides machine 0. Throws `std::runtime_error` or `std::system_error`, with the reason why it is not possible here.
    packet_hub(std::size_t machines, std::uint64_t seed);
    packet_hub(packet_hub const&) = delete;
    packet_hub& operator=(packet_hub const&) = delete;
    ~packet_hub();

    static std::string address_of(std::size_t machine) { return "10.97.0." + std::to_string(1 + machine); }

    /// What executes a program on a machine: these words, and then the program's.
    std::vector<std::string> under(std::size_t machine) const;

    /// Between two machines, both ways: no packet passes, or each takes up to so much longer.
    void block(std::size_t a, std::size_t b);
    void delay(std::size_t a, std::size_t b, std::chrono::milliseconds longest);

    /// All is as it was in the beginning.
    void heal();

private:
    using time_point = std::chrono::steady_clock::time_point;

    struct rule {
        bool blocked{false};
        std::chrono::milliseconds max_delay{0};
    };
    struct packet {
        time_point due;
        std::size_t to;
        std::vector<std::uint8_t> bytes;
        bool operator<(packet const& other) const noexcept { return due > other.due; }  // the next one is on top
    };

    rule& between(std::size_t a, std::size_t b) { return rules_[a * devices_.size() + b]; }
    void carry(std::stop_token stop);
    void take(std::size_t from);
    void deliver();

    std::deque<net_namespace> namespaces_;
    std::deque<tun_device> devices_;
    std::mutex mutex_;
    std::vector<rule> rules_;
    simulation::random random_;
    std::priority_queue<packet> under_way_;
    std::jthread thread_;
};

}  // namespace redlock::faults

#endif
