#include "ticket_judge.hpp"

#include "core/lease/ticket.hpp"
#include "judge.hpp"

namespace redlock::simulation {

void ticket_judge::sent(process const& p, detail::command const& c)
{
    adoption const a{p.index(), std::string{c.key}, c.token, std::string{c.value}};
    if (!adoptions_.empty() && adoptions_.back().value == a.value) return;  // another node is asked, or once more
    adoptions_.push_back(a);
    if (c.fenced) rules_.tokens().note_guard(a.value, a.guard + 1);
}

// Servers may have lost it again. If the process has asked twice, they can tell which one won.
std::string ticket_judge::value_of(lease_facts const& w, detached_lease const& adopted) const
{
    detail::ticket t;
    if (detail::read_ticket(adopted.text, t) != errc{}) return {};
    std::string const stored = rules_.keys().most_stored(w);
    std::string last;
    for (adoption const& a : adoptions_) {
        bool const is_it = a.process == w.process && a.guard == t.guard && w.is_of(a.key);
        if (is_it && (last.empty() || last != stored)) last = a.value;
    }
    return last;
}

void ticket_judge::travels(std::string const& text)
{
    detail::ticket t;
    if (detail::read_ticket(text, t) != errc{}) return rules_.violation("a ticket that nobody can read");
    detached_.insert(t.value);
}

// Without tokens, the nodes remember nothing of a lease that is over. A request that comes again then may bring its value back.
void ticket_judge::arrives(detached_lease const& with)
{
    if (!adopted_.insert(with.text).second && with.options.fencing) rules_.violation("two have adopted one lease: " + with.lineage);
}

}  // namespace redlock::simulation
