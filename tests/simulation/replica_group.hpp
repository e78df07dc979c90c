// A group of simulated servers: a primary, replicas that follow it with a lag, Sentinels that may disagree, and failovers to any replica.
//
// A replica has a state that the primary had: each write makes a copy of the primary's memory, which gets to each replica later, in order. WAIT counts
// replicas that said that they have a write, also if they have left since.
//
// replica_group.cpp has the replication and what Sentinels answer, group_failover.cpp failovers and faults.
#ifndef REDLOCK_TESTS_SIMULATION_REPLICA_GROUP_HPP
#define REDLOCK_TESTS_SIMULATION_REPLICA_GROUP_HPP

#include "server.hpp"

#include "node/sentinel/sentinel_answers.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

class process;
class universe;

class replica_group {
public:
    static constexpr std::size_t sentinels = 3;

    // The first of `members` is the primary. `max_delay`: of a write on its way to a replica, and of its acknowledgement.
    replica_group(universe& in, std::string name, std::vector<server*> members, duration max_delay);

    // As if its servers had been admitted long ago, by clients that wait for so many replicas.
    void begin_admitted(std::chrono::milliseconds max_ttl, testing::token_number high_water, std::uint16_t replicas);

    std::string const& name() const noexcept { return name_; }
    std::size_t size() const noexcept { return members_.size(); }
    server& at(std::size_t which) const { return *members_[which].is; }

    // The member that a Sentinel names so.
    std::size_t member_of(detail::group_member const& named) const;

    // What all Sentinels answer to this client.
    std::vector<detail::sentinel_report> ask_sentinels(process const& by);

    // The server that the newest failover promoted.
    std::size_t newest() const noexcept { return newest_; }

    // A failover, with whatever goes wrong around it, all of which is over after `most`.
    void fail_over(duration most);

    // A replica crashes, comes back with what it had, and synchronises again.
    void crash_replica(duration for_so_long);

    // Replicas get nothing for a while.
    void hold_back(duration for_so_long);

    std::function<void(std::string)> say;  // none: nobody is interested

private:
    using state = std::shared_ptr<testing::redis_model const>;

    struct write {
        std::uint64_t offset;
        state memory;
    };
    struct waiter {
        std::uint64_t number;
        std::uint64_t offset;
        std::uint16_t replicas;
        std::function<void(bool)> done;
    };
    struct member {
        server* is;
        std::optional<std::size_t> follows{};
        std::uint64_t attachment{0};  // changes with each one
        bool in_step{false};  // has got all that the primary had when it came
        std::uint64_t offset{0};  // of what was written last
        duration last_arrival{};
        std::deque<write> held{};  // on their way while nothing gets through
        std::vector<std::uint64_t> acknowledged;  // of the primary's writes, by each other member
        std::vector<waiter> waiting{};
    };
    struct view {
        std::uint64_t epoch;
        std::size_t primary;
    };

    // What goes wrong around a failover.
    enum class trouble : std::uint8_t { cut_off_with_clients, cut_off_from_servers, crash, crash_forgetting, stop, none };

    duration lag();
    void on_write(std::size_t from);
    void send(std::size_t from, std::size_t to, write what);
    void arrive(std::size_t from, std::size_t to, std::uint64_t attachment, write what);
    void take(std::size_t to, write const& what);
    void acknowledge(std::size_t from, std::size_t to, std::uint64_t attachment);
    void replicate(std::size_t from, std::uint16_t replicas, duration patience, std::function<void(bool)> done);
    void look_at_waiters(std::size_t where);
    void follow(std::size_t which, std::size_t primary);
    void synchronise(std::size_t which, std::uint64_t attachment);
    void detach(std::size_t which);
    void promote(std::size_t which);
    void demote(std::size_t which, std::size_t primary);
    void rename(server& s) const;
    bool is_blocked(std::size_t a, std::size_t b) const;
    void let_through();

    void begin_trouble(trouble what, std::size_t old);
    void end_trouble(trouble what, std::size_t old);
    void separate(std::size_t old, bool with_clients);
    void spread_the_news(duration most);
    void tell(std::string const& what) const
    {
        if (say) say(what);
    }

    universe& universe_;
    std::string name_;
    std::vector<member> members_;
    std::vector<view> views_;
    duration max_delay_;
    std::uint64_t waiters_{0};
    std::uint64_t epoch_{1};
    std::size_t newest_{0};
    bool changing_{false};
    bool held_back_{false};
    std::optional<std::size_t> laggard_;  // gets nothing
    std::optional<std::size_t> apart_;  // a member that others cannot reach
    std::vector<bool> clients_apart_;  // on its side; empty: all clients reach everybody
    bool sentinel_apart_{false};  // the first one, too
    bool liar_{false};  // the last one says what it likes
};

}  // namespace redlock::simulation

#endif
