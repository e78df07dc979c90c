// A real Redis Cluster on loopback: primaries with replicas, migrations of slots, failovers.
#ifndef REDLOCK_TESTS_SUPPORT_REDIS_CLUSTER_HPP
#define REDLOCK_TESTS_SUPPORT_REDIS_CLUSTER_HPP

#include "redis_server.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace redlock::testing {

struct redis_cluster_options {
    std::size_t primaries{3};
    std::size_t replicas{1};  ///< Of each primary.
    redis_server_options server{};
};

/// Made by `redis-cli --cluster create`, and gone with the object. A server that is silent for a second is down.
class redis_cluster {
public:
    /// Returns when all servers know each other, serve all slots, and have their replicas. Throws `std::runtime_error` if that takes too long.
    explicit redis_cluster(redis_cluster_options options = {});

    /// `redis-cluster://…`, with the first servers; `more`: what follows, as in "?shards=4".
    std::string url(std::string const& more = "") const;

    /// The server that serves a slot: the claim with the newest epoch of all that the running servers know. Throws `std::runtime_error` if nobody does.
    redis_server& owner_of(std::uint16_t slot);

    /// A primary that does not serve the slot.
    redis_server& another_primary_than(std::uint16_t slot);

    /// Replicas of a primary, as they say themselves.
    std::vector<redis_server*> replicas_of(redis_server const& primary);

    std::string id_of(redis_server const& server) const { return server.command({"CLUSTER", "MYID"}); }

    /// Begins the migration of a slot: from now on keys that are not there are asked for elsewhere.
    void begin_to_move(std::uint16_t slot, redis_server const& to);

    /// Moves its keys.
    void move_keys(std::uint16_t slot, redis_server const& to);

    /// Gives it to the other server.
    void finish_moving(std::uint16_t slot, redis_server const& to);

    /// All of that.
    void move(std::uint16_t slot, redis_server const& to);

    /// Takes a slot from its primary, until no server says that anybody serves it.
    void drop(std::uint16_t slot);

    /// Starts one more server without slots.
    redis_server& join();

    /// Whether all servers that run, replicas too, say that all slots are served, and know as many servers as there are here.
    bool is_complete();

    static constexpr std::chrono::seconds patience{40};

    /// Runs `redis-cli --cluster` with these words, and returns its exit code; -1: it did not end in time.
    int manage(std::vector<std::string> words, std::chrono::milliseconds at_most = patience) const;

    std::deque<redis_server> servers;

private:
    redis_server& launch();
    void be_patient(bool are);
    bool all_know_all_replicas() const;
    std::string place_of(std::size_t i) const;
    redis_server& with_id(std::string const& id);

    redis_cluster_options options_;
    std::deque<std::uint16_t> bus_ports_;
    temporary_folder folder_{"redlock-cluster-"};
};

}  // namespace redlock::testing

#endif
