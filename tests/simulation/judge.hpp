// What must hold, whatever happens. It sees what nobody inside can see: all clocks, all memories, all leases.
#ifndef REDLOCK_TESTS_SIMULATION_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_JUDGE_HPP

#include "universe.hpp"

#include <redlock/lease.hpp>
#include <redlock/options.hpp>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace redlock::simulation {

// What a schedule's faults leave to be promised.
struct assumptions {
    bool clocks_within_drift{true};
    bool memory_kept{true};

    bool exclusion() const noexcept { return clocks_within_drift && memory_kept; }
};

// N/2 + 1, in the judge's own words.
std::size_t most_of(std::size_t nodes) noexcept;

class judge {
public:
    judge(universe& in, assumptions const& a) : universe_{in}, assumes_{a} {}

    // While it lives, the lease is looked at after every step: no two valid ones on one name.
    class watched {
    public:
        watched(judge& by, process& p, lease const& held, lock_options const& options);
        ~watched();
        watched(watched const&) = delete;
        watched& operator=(watched const&) = delete;

        // The lease was lost: it must have been time, or its keys must be gone. To be called when the holder hears of it.
        void lost();

        // A scope's body is over.
        void body_ended(bool heeds_cancellation);

        std::string const& value() const noexcept { return value_; }

    private:
        friend class judge;
        std::string called() const;

        judge& judge_;
        std::size_t process_;
        lease const* lease_;
        lock_options options_;
        std::string name_;
        std::string value_;       // what most servers have stored for it
        duration since_;
        time_point seen_until_{};
        std::size_t record_{0};
    };

    // After every step of the world.
    void look();

    // On how many servers the name has this value.
    std::size_t stored(std::string const& name, std::string const& value);

    // Keys of these values may stay until they expire: nobody was left to remove them.
    void excuse(std::string const& value_prefix) { excused_.push_back(value_prefix); }

    // Nothing goes on any more.
    void at_the_end();

    void violation(std::string what);
    std::optional<std::string> const& verdict() const noexcept { return verdict_; }

    assumptions const& assumes() const noexcept { return assumes_; }

    // Every operation that a user starts ends once, unless its process is killed.
    void started(process const& p) { ++balance(p); }
    void ended(process const& p) { --balance(p); }

private:
    friend class watched;

    bool valid(watched const& w);
    void check_max_hold(watched const& w);

    int& balance(process const& p)
    {
        if (open_.size() <= p.index()) open_.resize(p.index() + 1);
        return open_[p.index()];
    }

    universe& universe_;
    assumptions assumes_;
    std::vector<watched*> leases_;
    std::vector<std::string> excused_;
    std::optional<std::string> verdict_;
    std::vector<int> open_;  // operations, for each process
};

}  // namespace redlock::simulation

#endif
