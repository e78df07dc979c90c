#include "cli/doctor/doctor_clocks.hpp"

#include "cli/doctor/grants.hpp"
#include "cli/output/text.hpp"
#include "quorum/timing.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto max_offset = 500ms;  // clocks that a time service keeps are closer
constexpr auto min_step = 50ms;     // a busy machine can make a clock seem to move by less

// Finds a clock that moved more than the uncertain times of the messages can explain.
std::optional<finding> stepped(doctor_probe const& n)
{
    if (n.clock.size() < 2) return std::nullopt;
    auto const& [least, most] = std::minmax_element(n.clock.begin(), n.clock.end(),
                                                    [](auto const& a, auto const& b) { return a.ahead < b.ahead; });
    auto const moved = most->ahead - least->ahead;
    auto const unsure = (most->round_trip + least->round_trip) / 2;
    if (moved <= unsure + min_step) return std::nullopt;
    return finding{severity::danger, n.node,
                   "its clock moved by " + in_words(moved) +
                       " against this machine's while it was looked at: it was "
                       "set, or runs as no clock should. A clock that is set forward ends leases early",
                   "have its machine's time slewed, not stepped (chronyd without makestep)", "the last half second"};
}

std::optional<finding> offset(doctor_probe const& n)
{
    auto const clock = n.best_clock();
    if (!clock) return std::nullopt;
    auto const apart = std::chrono::abs(clock->ahead);
    if (apart <= clock->round_trip / 2 + max_offset) return std::nullopt;
    return finding{severity::warning, n.node,
                   "its clock is " + in_words(apart) + (clock->ahead > 0ns ? " ahead of" : " behind") +
                       " this machine's; a correction in one step ends leases early",
                   "have a time service keep both clocks (chronyd, ntpd)", now_or_earlier("a dashboard that ran then has the moment")};
}

}  // namespace

std::vector<finding> diagnose_time(doctor_probe const& n, lock_options const& lock)
{
    std::vector<finding> all;
    auto const timing = quorum::make_timing(lock);
    auto const rtt = n.round_trip();
    std::string const against = "a round trip takes " + in_words(rtt) + ", and with a ttl of " + in_words(lock.ttl) + " a node may take " +
                                in_words(timing.node_timeout);
    if (rtt >= timing.node_timeout)
        all.push_back({severity::danger, n.node, against + ": its votes come too late", "use a longer ttl, or a larger node_timeout"});
    else if (rtt * 2 > timing.node_timeout)
        all.push_back(
            {severity::warning, n.node, against + ": some of its votes will come too late", "use a longer ttl, or a larger node_timeout"});
    for (auto& one : {stepped(n), offset(n)})
        if (one) all.push_back(*one);
    return all;
}

std::vector<finding> diagnose_clocks(std::vector<doctor_probe> const& nodes)
{
    doctor_probe const* first = nullptr;
    doctor_probe const* last = nullptr;
    for (doctor_probe const& n : nodes) {
        if (!n.best_clock()) continue;
        if (!first || n.best_clock()->ahead < first->best_clock()->ahead) first = &n;
        if (!last || n.best_clock()->ahead > last->best_clock()->ahead) last = &n;
    }
    if (!first || first == last) return {};
    auto const apart = last->best_clock()->ahead - first->best_clock()->ahead;
    if (apart <= max_offset + (first->round_trip() + last->round_trip()) / 2) return {};
    return {{severity::note, "", "the nodes' clocks are up to " + in_words(apart) + " apart (" + first->node + ", " + last->node + ")",
             "have a time service keep them"}};
}

}  // namespace redlock::cli
