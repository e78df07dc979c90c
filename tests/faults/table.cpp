#include "table.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <map>
#include <ostream>
#include <string_view>
#include <utility>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;

struct span_of_time {
    moment from;
    moment until;

    bool holds(moment at) const noexcept { return from <= at && at <= until; }
};

std::size_t count(std::vector<finding> const& all, span_of_time when)
{
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](finding const& f) { return when.holds(f.at); }));
}

// What the client had counted by then.
std::uint64_t extended_by(worker_record const& worker, moment at)
{
    auto const after = std::ranges::upper_bound(worker.samples, at, {}, &sample_record::at);
    return after == worker.samples.begin() ? 0 : std::prev(after)->extended;
}

// How often a node that was admitted was no more, as one worker saw it.
std::size_t quarantines_of(worker_record const& worker, std::size_t node, span_of_time when)
{
    constexpr std::array<std::string_view, 5> out{"uninitialized", "quarantined", "catching_up", "needs_operator", "not_primary"};
    std::size_t times = 0;
    bool was_in = true;
    for (auto const& s : worker.samples) {
        if (node >= s.admission.size()) continue;  // a worker that does not know it
        bool const is_out = std::ranges::find(out, s.admission[node]) != out.end();
        if (is_out && was_in && when.holds(s.at)) ++times;
        if (is_out || s.admission[node] == "admitted") was_in = !is_out;
    }
    return times;
}

figures figures_within(history const& what, verdict const& found, span_of_time when)
{
    figures f;
    std::vector<moment> acquired{when.from};
    for (auto const& worker : what.workers) {
        for (auto const& lease : worker.leases) {
            if (when.holds(lease.held)) acquired.push_back(lease.held);
            if (lease.lost && lease.over && when.holds(*lease.over)) ++f.lost;
        }
        f.extended += extended_by(worker, when.until) - extended_by(worker, when.from);
    }
    f.acquired = acquired.size() - 1;
    acquired.push_back(when.until);
    std::ranges::sort(acquired);
    for (std::size_t i = 1; i < acquired.size(); ++i) f.max_unavailable = std::max(f.max_unavailable, acquired[i] - acquired[i - 1]);
    for (std::size_t node = 0; node < node_count; ++node) {
        std::size_t seen = 0;
        for (auto const& worker : what.workers) seen = std::max(seen, quarantines_of(worker, node, when));
        f.quarantines += seen;
    }
    f.violations = count(found.violations, when);
    f.overlaps = count(found.overlaps, when);
    f.overlaps_outside = count(found.overlaps_outside, when);
    return f;
}

void row(std::ostream& out, std::string_view name, figures const& f)
{
    out << std::left << std::setw(22) << name << std::right << std::setw(6) << f.times << std::setw(10) << f.acquired << std::setw(9)
        << f.extended << std::setw(6) << f.lost << std::setw(13) << f.quarantines << std::setw(13)
        << std::chrono::duration_cast<milliseconds>(f.max_unavailable).count() << std::setw(12) << f.violations << std::setw(10)
        << f.overlaps << std::setw(10) << f.overlaps_outside << '\n';
}

struct usage {
    std::size_t rss_kb_before;
    std::size_t rss_kb_after;
    std::size_t descriptors_before;
    std::size_t descriptors_after;
};

// The second quarter of a life and its last: medians of memory, and the most descriptors.
usage usage_of(worker_record const& worker)
{
    auto const quarter = static_cast<std::ptrdiff_t>(worker.samples.size() / 4);
    auto const part = [&](std::ptrdiff_t from) {
        std::vector<std::size_t> rss;
        std::size_t descriptors = 0;
        for (auto s = worker.samples.begin() + from; s != worker.samples.begin() + from + quarter; ++s) {
            rss.push_back(s->rss_kb);
            descriptors = std::max(descriptors, s->descriptors);
        }
        std::ranges::nth_element(rss, rss.begin() + quarter / 2);
        return std::pair{rss[static_cast<std::size_t>(quarter / 2)], descriptors};
    };
    auto const before = part(quarter);
    auto const after = part(3 * quarter);
    return {before.first, after.first, before.second, after.second};
}

bool lived_long(worker_record const& worker)
{
    return worker.samples.size() >= 100 && worker.samples.back().at - worker.samples.front().at >= 60s;
}

}  // namespace

std::vector<figures> figures_by_kind(history const& what, verdict const& found)
{
    std::vector<figures> kinds(fault_kind_count);
    for (auto const& f : what.faults) {
        auto const one = figures_within(what, found, {f.injected, f.settled});
        auto& sum = kinds[static_cast<std::size_t>(f.what.kind)];
        ++sum.times;
        sum.acquired += one.acquired;
        sum.extended += one.extended;
        sum.lost += one.lost;
        sum.quarantines += one.quarantines;
        sum.max_unavailable = std::max(sum.max_unavailable, one.max_unavailable);
        sum.violations += one.violations;
        sum.overlaps += one.overlaps;
        sum.overlaps_outside += one.overlaps_outside;
    }
    return kinds;
}

figures figures_of_all(history const& what, verdict const& found)
{
    span_of_time when{moment::max(), moment::min()};
    for (auto const& worker : what.workers) {
        for (auto const& s : worker.samples) when = {std::min(when.from, s.at), std::max(when.until, s.at)};
    }
    auto f = figures_within(what, found, when);
    f.times = what.faults.size();
    f.violations = found.violations.size();
    f.overlaps = found.overlaps.size();
    f.overlaps_outside = found.overlaps_outside.size();
    return f;
}

void print_table(std::ostream& out, std::vector<fault_kind> const& shown, std::vector<figures> const& kinds, figures const& all)
{
    out << "fault                  times  acquired extended  lost  quarantines  longest gap  violations  overlaps   outside\n"
        << "                                                                      (ms)\n";
    for (auto const kind : all_fault_kinds())
        if (std::ranges::find(shown, kind) != shown.end()) row(out, traits(kind).name, kinds[static_cast<std::size_t>(kind)]);
    row(out, "the whole run", all);
}

namespace {

// `counts`: what a lease is of, and how much of it; empty: of nothing that counts.
template <class Counts>
company company_of(history const& what, Counts counts)
{
    company c;
    std::map<std::string, std::vector<std::pair<moment, int>>> changes;  // of the number that is held, by name
    for (auto const& worker : what.workers) {
        for (auto const& lease : worker.leases) {
            auto const [name, weight] = counts(lease);
            if (name.empty()) continue;
            ++c.leases;
            auto& of_name = changes[name];
            of_name.emplace_back(lease.held, weight);
            of_name.emplace_back(std::max(lease.held, believed_until(lease, worker)), -weight);
        }
    }
    for (auto& [name, list] : changes) {
        std::ranges::sort(list);  // who leaves at an instant leaves before others come
        std::ptrdiff_t together = 0;
        for (auto const& [at, change] : list) {
            together += change;
            c.max_together = std::max(c.max_together, static_cast<std::size_t>(std::max<std::ptrdiff_t>(together, 0)));
        }
    }
    return c;
}

}  // namespace

company readers_of(history const& what, bool downgraded)
{
    return company_of(what, [=](lease_record const& l) {
        bool const counts = l.reads && (l.downgraded || !downgraded);
        return std::pair{counts ? l.names.front() : std::string{}, 1};
    });
}

company permits_of(history const& what)
{
    return company_of(what, [](lease_record const& l) {
        bool const counts = l.permits > 0;
        return std::pair{counts ? l.names.front().substr(0, l.names.front().find('#')) : std::string{}, static_cast<int>(l.names.size())};
    });
}

void print_writes(std::ostream& out, history const& what)
{
    std::map<std::string, std::size_t> answers;
    std::map<std::string, std::size_t> looks;
    for (auto const& w : what.writes) ++(w.reads ? looks : answers)[w.answer];
    out << "the register accepted " << answers["ok"] << " writes, and refused " << answers["stale"] << " as stale and "
        << answers["conflict"] << " as conflicts; it answered " << looks["ok"] << " readers, and refused " << looks["stale"] << '\n';
}

void print_failures(std::ostream& out, history const& what)
{
    std::map<std::string, std::uint64_t> all;
    for (auto const& worker : what.workers)
        for (auto const& [why, times] : worker.failures) all[why] += times;
    for (auto const& [why, times] : all) out << "operations that failed: " << times << " (" << why << ")\n";
}

std::map<std::string, std::uint64_t> counters_of(history const& what)
{
    std::map<std::string, std::uint64_t> all;
    for (auto const& worker : what.workers)
        for (auto const& [name, times] : worker.counters) all[name] += times;
    return all;
}

void print_counters(std::ostream& out, std::map<std::string, std::uint64_t> const& all)
{
    out << "the clients counted:";
    char const* separator = " ";
    for (auto const& [name, times] : all) out << std::exchange(separator, ", ") << times << ' ' << name;
    out << '\n';
}

std::vector<std::string> growth(history const& what)
{
    constexpr std::size_t slack_kb = 4'096;
    constexpr std::size_t slack_descriptors = 8;
    std::vector<std::string> grown;
    for (auto const& worker : what.workers) {
        if (!lived_long(worker)) continue;
        auto const u = usage_of(worker);
        if (u.rss_kb_after > u.rss_kb_before + u.rss_kb_before / 10 + slack_kb)
            grown.push_back(worker.name + " grew from " + std::to_string(u.rss_kb_before) + " to " + std::to_string(u.rss_kb_after) +
                            " kB");
        if (u.descriptors_after > u.descriptors_before + slack_descriptors)
            grown.push_back(worker.name + " had up to " + std::to_string(u.descriptors_before) + " descriptors, and then " +
                            std::to_string(u.descriptors_after));
    }
    return grown;
}

void print_usage(std::ostream& out, history const& what)
{
    for (auto const& worker : what.workers) {
        if (!lived_long(worker)) continue;
        auto const u = usage_of(worker);
        out << worker.name << ": " << u.rss_kb_before << " kB and up to " << u.descriptors_before
            << " descriptors in the second quarter of its life, " << u.rss_kb_after << " kB and " << u.descriptors_after
            << " in the last\n";
    }
}

}  // namespace redlock::faults
