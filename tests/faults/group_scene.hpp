// Three servers, three Sentinels and the network between them and the workers; and what is done to them.
#ifndef REDLOCK_TESTS_FAULTS_GROUP_SCENE_HPP
#define REDLOCK_TESTS_FAULTS_GROUP_SCENE_HPP

#include "crew.hpp"
#include "group_fault.hpp"
#include "packet_hub.hpp"

#include "simulation/random.hpp"
#include "support/watched_group.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace redlock::faults {

inline constexpr std::size_t group_size = 3;

/// With a network, server i and Sentinel i have a machine, and each half of the workers has one. Without one, all are on loopback.
///
/// Thread safety: none.
class group_scene {
public:
    group_scene(std::string const& binary, std::uint64_t seed, bool has_network);

    /// Where the workers work. They find the register on `register_address()`.
    std::vector<work_place> places(work_kind kind) const;
    std::string register_address() const { return hub_ ? packet_hub::address_of(0) : "127.0.0.1"; }

    /// Precondition: all is well, `is_whole`. A worker's fault hits worker `worker` of `workers`.
    void inject(group_fault kind, crew& workers, std::size_t worker);
    void heal(group_fault kind, crew& workers, std::size_t worker);

    /// Since the last fault was injected: another server is a primary, and it is not one that came back.
    bool has_failed_over() const;

    /// A Sentinel names a primary that can be reached, and a replica follows it in time: acquisitions can go on after max_ttl. The primary's replication
    /// id; empty: there is none.
    std::string who_can_go_on() const;

    /// All servers and Sentinels see each other; and the primary votes, if locks have tokens.
    bool is_whole(bool with_tokens) const;

    /// The locks that the primary has keys of.
    std::vector<std::string> locks() const;

    /// Which server it was when the last fault was injected.
    std::size_t old_primary() const noexcept { return old_; }

    std::string version() const { return group_->servers[0].command({"INFO", "server"}); }

private:
    enum class health : std::uint8_t { well, gone, cut_off };

    std::size_t primary() const;
    std::string replication_of(std::size_t server) const;
    void kill_server(std::size_t server);
    void restart_servers(bool empty);
    void restart_sentinel(std::size_t sentinel);
    void make_patient(std::size_t sentinel);
    void cut_off(std::size_t server, bool with_clients);
    void delay_replicas(milliseconds lag);
    void leave_behind();

    simulation::random random_;
    std::optional<packet_hub> hub_;
    std::optional<testing::watched_group> group_;
    std::array<health, group_size> servers_{};
    std::array<health, group_size> sentinels_{};
    std::array<bool, group_size> patient_{};  // Sentinels that are not hastened until the next fault
    std::size_t old_{0};
    bool votes_may_be_late_{false};  // acknowledgements take as long as clients wait for them
};

}  // namespace redlock::faults

#endif
