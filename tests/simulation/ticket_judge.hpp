// What must hold of leases that travel: they are adopted once, and by nobody else than the one who asked.
#ifndef REDLOCK_TESTS_SIMULATION_TICKET_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_TICKET_JUDGE_HPP

#include "lease_facts.hpp"
#include "process.hpp"
#include "protocol/command.hpp"

#include <redlock/options.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

class judge;

// A lease that was detached.
struct detached_lease {
    std::string text;     // the ticket
    std::string lineage;  // who acquired it
    token_number token{0};
    token_number last{0};  // of its block
    lock_options options{};
    duration until{};  // its validity, in the world's time
    bool is_climbing{false};  // the nodes may have raised its counters, and the ticket does not say so
};

class ticket_judge {
public:
    explicit ticket_judge(judge& rules) : rules_{rules} {}

    // A lease was detached, so that its keys may stay until they expire; or adopted, which one may do once.
    void travels(std::string const& ticket);
    void arrives(detached_lease const& with);
    bool is_detached(std::string const& value) const { return detached_.contains(value); }

    // Somebody tries to adopt it.
    void note_attempt(detached_lease const& with) { ++tried_[with.text]; }
    int times_tried(detached_lease const& with) const { return tried_.at(with.text); }

    // A request to adopt a lease is sent.
    void sent(process const& p, detail::command const& c);

    // What the process that adopts it has asked for with its ticket.
    std::string value_of(lease_facts const& w, detached_lease const& adopted) const;

private:
    // A request to take over a lease, under a new value.
    struct adoption {
        std::size_t process;
        std::string key;
        token_number guard;
        std::string value;
    };

    judge& rules_;
    std::set<std::string> detached_;  // values
    std::set<std::string> adopted_;   // tickets
    std::map<std::string, int> tried_;  // tickets
    std::vector<adoption> adoptions_;
};

}  // namespace redlock::simulation

#endif
