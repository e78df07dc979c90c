#include "slot_judge.hpp"

#include "judge.hpp"
#include "link.hpp"

#include <algorithm>
#include <utility>

namespace redlock::simulation {

// Whatever an attempt got beside what became its lease goes back at once, and not when it expires.
void slot_judge::check()
{
    if (!left_at_most) return;
    // Clients hear of an admission late, and until then an attempt may wait for that server.
    auto const& servers = rules_.world().servers();
    if (!std::all_of(servers.begin(), servers.end(), [](auto const& s) { return s->memory.admitted(); })) return left_at_most.reset();
    decltype(left_) left;
    for (auto const& s : servers) {
        for (auto const& e : s->memory.entries(s->time())) {
            if (e.of_nobody || is_needed(e.key, e.value)) continue;
            std::tuple const which{s->index(), e.key, e.value};
            auto const before = left_.find(which);
            auto const since = before == left_.end() ? rules_.world().now() : before->second;
            if (rules_.world().now() - since > *left_at_most)
                rules_.violation("server " + std::to_string(s->index()) + " keeps a slot that nobody needs: " + e.key + " = " + e.value);
            left.emplace(which, since);
        }
    }
    left_ = std::move(left);
}

// Whether a lease, or an attempt to acquire permits, still needs the slot. The attempt may be undecided until every server has answered its
// client.
bool slot_judge::is_needed(std::string const& slot, std::string const& value) const
{
    if (!rules_.tokens().is_of_permits(value)) return true;
    for (auto const& l : rules_.world().links()) {
        bool const is_its = value.starts_with("p" + std::to_string(l->client()) + "-");
        if (is_its && (!l->up() || !l->quiet() || !l->to().memory.admitted())) return true;
    }
    return std::ranges::any_of(rules_.leases(), [&](lease_facts const* const w) { return w->value == value && w->is_of(slot); });
}

void slot_judge::check_numbers(lease_facts const& a, lease_facts const& b)
{
    auto const semaphore = [](lease_facts const& w) { return w.names.front().substr(0, w.names.front().find('#')); };
    if (semaphore(a) != semaphore(b) || !rules_.valid(a) || !rules_.valid(b)) return;
    ++rules_.world().covered->permits_at_once;
    if (a.permits == b.permits) return;
    rules_.violation("one holds permits of \"" + semaphore(a) + "\" who says " + std::to_string(a.permits) + ", and one who says " +
                     std::to_string(b.permits));
}

}  // namespace redlock::simulation
