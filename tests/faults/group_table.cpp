#include "group_table.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>

namespace redlock::faults {
namespace {

auto in_ms(std::chrono::nanoseconds time) { return std::chrono::duration_cast<milliseconds>(time).count(); }

void add(group_stops& sum, history const& what, group_fault_record const& f)
{
    std::vector<moment> acquired{f.injected, f.settled};
    for (auto const& worker : what.workers) {
        for (auto const& lease : worker.leases) {
            if (lease.held > f.injected && lease.held < f.settled) acquired.push_back(lease.held);
            if (lease.lost && lease.over && *lease.over > f.injected && *lease.over < f.settled) ++sum.lost;
        }
    }
    std::ranges::sort(acquired);
    ++sum.times;
    sum.acquired += acquired.size() - 2;
    std::chrono::nanoseconds without = f.settled - f.injected;
    for (auto const& good : f.could_go_on) without -= good.until - good.from;
    sum.max_without = std::max(sum.max_without, without);
    for (std::size_t i = 1; i < acquired.size(); ++i) {
        auto const from = acquired[i - 1];
        auto const until = acquired[i];
        sum.longest = std::max<std::chrono::nanoseconds>(sum.longest, until - from);
        for (auto const& good : f.could_go_on)
            sum.longest_beyond = std::max<std::chrono::nanoseconds>(sum.longest_beyond,
                                                                    std::min(until, good.until) - std::max(from, good.from));
    }
}

}  // namespace

std::vector<group_stops> stops_by_kind(history const& what, std::vector<group_fault_record> const& faults)
{
    std::vector<group_stops> kinds(group_fault_count);
    for (auto const& f : faults) add(kinds[static_cast<std::size_t>(f.kind)], what, f);
    return kinds;
}

void print_stops(std::ostream& out, std::vector<group_fault> const& shown, std::vector<group_stops> const& kinds)
{
    out << "fault                  times  acquired  lost  without a primary and  longest stop  of it with one\n"
        << "                                              a replica, max (ms)          (ms)           (ms)\n";
    for (auto const kind : all_group_faults()) {
        if (std::ranges::find(shown, kind) == shown.end()) continue;
        auto const& k = kinds[static_cast<std::size_t>(kind)];
        out << std::left << std::setw(22) << traits(kind).name << std::right << std::setw(6) << k.times << std::setw(10) << k.acquired
            << std::setw(6) << k.lost << std::setw(22) << in_ms(k.max_without) << std::setw(14) << in_ms(k.longest) << std::setw(15)
            << in_ms(k.longest_beyond) << '\n';
    }
}

}  // namespace redlock::faults
