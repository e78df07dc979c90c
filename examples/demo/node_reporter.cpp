#include "node_reporter.hpp"

#include "extremes.hpp"

#include <redlock/clock.hpp>

namespace demo {

void node_reporter::report(std::vector<redlock::node_status> const& nodes)
{
    for (std::size_t node = 0; node < node_count; ++node) {
        auto& admission = board_.workers[worker_].admissions[node];
        if (admission.exchange(nodes[node].admission) != nodes[node].admission) tell(node, nodes[node]);
    }
}

void node_reporter::tell(std::size_t node, redlock::node_status const& status)
{
    auto& record = board_.nodes[node];
    auto const now = redlock::boot_clock::now().time_since_epoch().count();
    if (record.restarts == 0) return;  // the first start: nothing is lost yet

    event what{.at_ns = now,
               .value_ns = now - record.restarted_at_ns,
               .worker = static_cast<std::uint8_t>(worker_),
               .subject = static_cast<std::uint8_t>(node)};
    if (status.admission == redlock::admission_state::quarantined) {
        record.quarantines.fetch_add(1);
        what.kind = event_kind::quarantined;
        what.say(status.admission_text);
    } else if (status.admission == redlock::admission_state::admitted) {
        record.admissions.fetch_add(1);
        lower_to(record.admitted_after_min_ns, what.value_ns);
        what.kind = event_kind::admitted;
    } else {
        return;
    }
    board_.events.push(what);
}

}  // namespace demo
