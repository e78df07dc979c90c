#include "summary.hpp"

#include "text.hpp"

#include <algorithm>
#include <limits>

namespace demo {
namespace {

std::chrono::nanoseconds ns(std::int64_t count) { return std::chrono::nanoseconds{count}; }

struct totals {
    std::uint64_t overlaps{0};
    std::uint64_t late{0};
    std::uint64_t cancelled{0};
    std::uint64_t beyond_ttl{0};
    std::uint64_t extensions{0};
    std::uint64_t tokens{0};
    std::uint64_t stale_tokens{0};
    std::uint64_t writes{0};
    std::uint64_t refused_inside{0};
    std::uint64_t refused{0};
    std::uint64_t restarts{0};
    std::uint64_t quarantines{0};
    std::uint64_t admissions{0};
    bool all_are_back{true};
    std::int64_t admitted_after_min_ns{std::numeric_limits<std::int64_t>::max()};
    std::int64_t margin_min_ns{std::numeric_limits<std::int64_t>::max()};
    std::int64_t margin_max_ns{std::numeric_limits<std::int64_t>::min()};

    explicit totals(board const& shared)
    {
        for (auto const& record : shared.locks) {
            overlaps += record.overlaps;
            late += record.late;
            cancelled += record.cancelled;
            beyond_ttl += record.beyond_ttl;
            tokens += record.sections;
            stale_tokens += record.stale_tokens;
            writes += record.resource.accepted();
            refused_inside += record.refused;
            refused += record.resource.refused();
            margin_min_ns = std::min(margin_min_ns, record.margin_min_ns.load());
            margin_max_ns = std::max(margin_max_ns, record.margin_max_ns.load());
        }
        for (auto const& node : shared.nodes) {
            restarts += node.restarts;
            quarantines += node.quarantines;
            admissions += node.admissions;
            all_are_back = all_are_back && node.is_back();
            admitted_after_min_ns = std::min(admitted_after_min_ns, node.admitted_after_min_ns.load());
        }
        for (auto const& worker : shared.workers) extensions += worker.extensions;
    }
};

std::string table(terminal const& out, board const& shared)
{
    constexpr char const* heading = "  lock       sections   longest wait   longest hold   cancelled   overlaps";
    std::string text = out.paint(tone::strong, heading) + "\n";
    for (std::size_t i = 0; i < lock_count; ++i) {
        auto const& record = shared.locks[i];
        auto const number = [](std::uint64_t value) { return grouped(static_cast<std::int64_t>(value)); };
        text += "  " + left(lock_names[i], 9) + right(number(record.sections), 10) + right(milliseconds(ns(record.wait_max_ns)), 15) +
                right(milliseconds(ns(record.held_max_ns)), 15) + right(number(record.cancelled), 12) + right(number(record.overlaps), 11) +
                "\n";
    }
    return text;
}

}  // namespace

std::vector<std::string> complaints(board const& shared, bool workers_succeeded)
{
    std::vector<std::string> wrong;
    auto const expect = [&](bool good, char const* otherwise) {
        if (!good) wrong.emplace_back(otherwise);
    };
    totals const sum{shared};
    expect(sum.overlaps == 0, "two workers were in the same critical section at once");
    expect(sum.late == 0, "a critical section was not over at the end of its lease's validity");
    expect(sum.stale_tokens == 0, "a new holder's token was not larger than all before");
    expect(sum.refused_inside == 0, "a holder's write came after that of a larger token");
    expect(sum.quarantines >= sum.restarts, "nobody quarantined a node that had lost its data");
    expect(sum.all_are_back, "not every process let a node vote again that had lost its data");
    expect(ns(sum.admitted_after_min_ns) >= ttl, "a node was admitted while leases that it had lost could be valid");
    expect(sum.cancelled > 0, "no scope was cancelled, although a majority was stopped");
    expect(sum.extensions > 0, "the watchdog extended nothing");
    expect(sum.beyond_ttl > 0, "no section lasted longer than the ttl");
    for (std::size_t i = 0; i < lock_count; ++i) {
        if (shared.locks[i].sections == 0) wrong.push_back(std::string{"nobody acquired "} + lock_names[i]);
        if (shared.locks[i].inside != 0) wrong.push_back(std::string{"somebody never left "} + lock_names[i]);
    }
    expect(workers_succeeded, "a worker failed or did not finish");
    return wrong;
}

void print_summary(terminal const& out, board const& shared, std::chrono::nanoseconds elapsed, std::vector<std::string> const& wrong)
{
    totals const sum{shared};
    std::string text{"\n"};
    text.append(table(out, shared)).append("\n");
    auto const line = [&](char const* label, std::string const& value) {
        text.append("  ").append(left(label, 20)).append(value).append("\n");
    };
    line("extensions",
         std::to_string(sum.extensions) + " by the watchdog; " + std::to_string(sum.beyond_ttl) + " sections outlasted the ttl");
    if (sum.cancelled > 0)
        line("scopes cancelled", std::to_string(sum.cancelled) + ", from " + tenths_of_ms(ns(sum.margin_min_ns)) + " to " +
                                     tenths_of_ms(ns(sum.margin_max_ns)) + " before the end of validity");
    else line("scopes cancelled", "0");
    line("late cancellations", std::to_string(sum.late));
    line("overlaps", std::to_string(sum.overlaps) + " (measured in shared memory, without Redis)");
    line("tokens", std::to_string(sum.tokens) + " handed out, " +
                       (sum.stale_tokens == 0 ? "strictly increasing on every lock"
                                              : std::to_string(sum.stale_tokens) + " NOT LARGER than all before on their lock"));
    line("fenced writes",
         std::to_string(sum.writes) + " accepted; " + std::to_string(sum.refused) + " refused that came after a newer holder's");
    line("quarantines", std::to_string(sum.quarantines) + " seen, " + std::to_string(sum.admissions) + " admissions" +
                            (sum.admissions > 0 ? ", " + milliseconds(ns(sum.admitted_after_min_ns)) + " or more after a restart" : ""));
    if (shared.events.dropped() > 0) line("events not shown", std::to_string(shared.events.dropped()));
    line("run time", seconds(elapsed));
    text += "\n";
    for (auto const& complaint : wrong) text += "  " + out.paint(tone::alarm, "FAILED") + "  " + complaint + "\n";
    if (wrong.empty()) text += "  " + out.paint(tone::good, "passed") + "\n";
    out.write(text);
}

}  // namespace demo
