// Checks what must hold, whatever happens. It sees what no client and no server can see: the clocks and the data of all, and all leases.
//
// The judge itself checks exclusion, max_hold, releases, and that every operation ends. Its parts (token_judge and so on) check the rest. The first violation
// is the verdict. Users and parts know it as `rules`.
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
    // Sets the world's hooks, so there is one judge in a world.
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

    // Whether `held`, a lease without a watched_lease, is valid while a watched lease on this name is. Readers are left out.
    bool overlaps_a_watched_lease(process const& p, lease const& held, std::string const& name);

    // To be called when nothing goes on any more.
    void at_the_end();

    void violation(std::string what);
    std::optional<std::string> const& verdict() const noexcept { return verdict_; }

    universe& world() const noexcept { return universe_; }
    assumptions const& assumes() const noexcept { return assumes_; }

    // Every operation that a user starts ends once, unless its process is killed.
    void started(process const& p) { ++open_operations(p); }
    void ended(process const& p) { --open_operations(p); }

    // The leases that have a watched_lease.
    std::vector<lease_facts*> const& leases() const noexcept { return watched_; }
    void add(lease_facts& w) { watched_.push_back(&w); }
    void remove(lease_facts& w) { std::erase(watched_, &w); }

    // As its holder would find it now.
    bool valid(lease_facts const& w) { return valid(w.process, *w.held); }
    bool valid(std::size_t process, lease const& held);

    // The value of the attempt that completed with its token; without tokens, what most servers have stored.
    std::string find_value(lease_facts& w) const;

    // Another lease of the same owner, of the same lock.
    lease_facts const* find_outer(lease_facts const& w) const;

private:
    void record();
    void note_downgrade(lease_facts& w);
    void check_max_hold(lease_facts const& w);
    void check_exclusion();
    void check_release(process const& p, detail::command const& c);

    int& open_operations(process const& p)
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
    std::vector<lease_facts*> watched_;
    std::optional<std::string> verdict_;
    std::vector<int> open_;  // operations, for each process
};

}  // namespace redlock::simulation

#endif
