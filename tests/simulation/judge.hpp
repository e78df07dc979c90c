// What must hold, whatever happens. It sees what nobody inside can see: all clocks, all memories, all leases.
//
// The judge itself sees to exclusion, max_hold and releases, and that every operation ends; its parts see to the rest. The first violation
// is the verdict.
#ifndef REDLOCK_TESTS_SIMULATION_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_JUDGE_HPP

#include "assumptions.hpp"
#include "key_judge.hpp"
#include "lease_facts.hpp"
#include "resource_judge.hpp"
#include "slot_judge.hpp"
#include "ticket_judge.hpp"
#include "token_judge.hpp"
#include "turn_judge.hpp"
#include "universe.hpp"

#include <redlock/lease.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

class judge {
public:
    judge(universe& in, assumptions const& a);
    judge(judge const&) = delete;
    judge& operator=(judge const&) = delete;

    token_judge& tokens() noexcept { return tokens_; }
    turn_judge& turns() noexcept { return turns_; }
    slot_judge& slots() noexcept { return slots_; }
    ticket_judge& tickets() noexcept { return tickets_; }
    key_judge& keys() noexcept { return keys_; }
    resource_judge& resources() noexcept { return resources_; }

    // After every step of the world.
    void check();

    // Whether a lease of somebody who is not looked at is valid, and at the same time another one on the name.
    bool are_two(process const& p, lease const& held, std::string const& name);

    // Nothing goes on any more.
    void at_the_end();

    void violation(std::string what);
    std::optional<std::string> const& verdict() const noexcept { return verdict_; }

    universe& world() const noexcept { return universe_; }
    assumptions const& assumes() const noexcept { return assumes_; }

    // Every operation that a user starts ends once, unless its process is killed.
    void started(process const& p) { ++balance(p); }
    void ended(process const& p) { --balance(p); }

    // The leases that are looked at (watched_lease).
    std::vector<lease_facts*> const& leases() const noexcept { return leases_; }
    void add(lease_facts& w) { leases_.push_back(&w); }
    void remove(lease_facts& w) { std::erase(leases_, &w); }

    // As its holder would find it now.
    bool valid(lease_facts const& w) { return valid(w.process, *w.held); }
    bool valid(std::size_t process, lease const& held);

    // By its token, or else by what most servers have stored.
    std::string find_value(lease_facts& w) const;

    // Another lease of the same owner, of the same lock.
    lease_facts const* find_outer(lease_facts const& w) const;

private:
    void note_side(lease_facts& w);
    void check_max_hold(lease_facts const& w);
    void check_exclusion();
    void check_release(process const& p, detail::command const& c);

    int& balance(process const& p)
    {
        if (open_.size() <= p.index()) open_.resize(p.index() + 1);
        return open_[p.index()];
    }

    universe& universe_;
    assumptions assumes_;
    token_judge tokens_{*this};
    turn_judge turns_{*this};
    slot_judge slots_{*this};
    ticket_judge tickets_{*this};
    key_judge keys_{*this};
    resource_judge resources_{*this};
    std::vector<lease_facts*> leases_;
    std::optional<std::string> verdict_;
    std::vector<int> open_;  // operations, for each process
};

}  // namespace redlock::simulation

#endif
