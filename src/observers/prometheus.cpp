#include <redlock/prometheus.hpp>

#include "observers/exposition.hpp"
#include "observers/json_words.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <mutex>
#include <set>
#include <stdexcept>
#include <variant>

namespace redlock {

using detail::counters_and_gauges;
using detail::histograms;
using detail::label_values;
using detail::name_of;

namespace {

constexpr char const* other = "other";

double in_seconds(event::duration d) { return std::chrono::duration<double>(d).count(); }

[[noreturn]] void refuse(std::string const& why) { throw std::invalid_argument{"redlock::prometheus_options: " + why}; }

void check_buckets(std::vector<double> const& bounds, char const* name)
{
    if (!std::all_of(bounds.begin(), bounds.end(), [](double d) { return std::isfinite(d); }))
        refuse(std::string{name} + " has a bound that is no number");
    if (std::adjacent_find(bounds.begin(), bounds.end(), std::greater_equal<>{}) != bounds.end())
        refuse(std::string{name} + " does not grow");
}

void check_labels(detail::fixed_labels const& labels)
{
    std::set<std::string> taken{"le", "lock", "node", "outcome", "reason", "vote"};
    for (auto const& [name, value] : labels) {
        if (!detail::is_label_name(name)) refuse("labels: \"" + name + "\" is no name of a label");
        if (!taken.insert(name).second) refuse("labels: \"" + name + "\" is already taken");
    }
}

prometheus_options checked(prometheus_options options)
{
    check_buckets(options.acquire_buckets, "acquire_buckets");
    check_buckets(options.hold_buckets, "hold_buckets");
    check_labels(options.labels);
    for (auto& [name, value] : options.labels) value = detail::valid_utf8(value);
    return options;
}

counters_and_gauges counter(char const* name, char const* help, std::vector<std::string> labels = {})
{
    return {counters_and_gauges::kind::counter, {name, help, std::move(labels)}};
}
counters_and_gauges gauge(char const* name, char const* help, std::vector<std::string> labels = {})
{
    return {counters_and_gauges::kind::gauge, {name, help, std::move(labels)}};
}

}  // namespace

struct prometheus::metrics {
    explicit metrics(prometheus_options given)
        : options{checked(std::move(given))}, per_lock{options.lock_label ? std::vector<std::string>{"lock"} : std::vector<std::string>{}}
    {
        // What has not happened yet is zero: an alert on a series that is not there never fires.
        if (per_lock.empty()) {
            for (char const* outcome : {"acquired", "handoff", "nested", "adopted", "contended", "split_votes", "no_majority",
                                        "acquire_timed_out", "acquire_timed_out_no_majority", "client_cancelled"})
                acquisitions[{outcome}];
            for (errc each : {errc::lease_lost, errc::max_hold_exceeded, errc::client_cancelled}) lost[{to_string(each)}];
            acquire.begin_at_zero({});
            hold.begin_at_zero({});
        }
        for (errc each : {errc::contended, errc::split_votes, errc::no_majority, errc::validity_exhausted})
            attempts_failed[{to_string(each)}];
        for (char const* outcome : {"renewed", "held", "unknown", "lost"}) extensions[{outcome}];
        for (char const* outcome : {"released", "lease_lost", "release_unconfirmed"}) releases[{outcome}];
        for (counters_and_gauges* each : {&leases, &overruns, &late, &self_deadlocks, &dropped}) (*each)[{}];
    }

    // The values of a family's labels, and that of the lock.
    label_values with_lock(label_values first, std::string_view lock)
    {
        if (!options.lock_label) return first;
        std::string label = detail::valid_utf8(options.lock_label(lock));
        if (!locks.contains(label)) {
            if (locks.size() < options.max_lock_labels) locks.insert(label);
            else label = other;
        }
        first.push_back(std::move(label));
        return first;
    }

    std::vector<std::string> labels_with_lock(std::vector<std::string> first) const
    {
        first.insert(first.end(), per_lock.begin(), per_lock.end());
        return first;
    }

    void count_votes(std::span<event::node_vote const> all)
    {
        for (auto const& each : all)
            if (each.vote != vote::pending) ++votes[{std::string{each.node}, to_string(each.vote)}];
    }

    void count(event::acquired const& e)
    {
        ++acquisitions[with_lock({e.origin == event::origin::nodes ? "acquired" : to_string(e.origin)}, e.lock)];
        acquire.observe(with_lock({}, e.lock), in_seconds(e.waited));
        if (e.origin != event::origin::nested) ++leases[{}];
        count_votes(e.votes);
    }

    void count(event::contended const& e)
    {
        ++attempts_failed[{to_string(errc::contended)}];
        count_votes(e.votes);
    }

    void count(event::attempt_failed const& e)
    {
        ++attempts_failed[{name_of(e.why)}];
        count_votes(e.votes);
    }

    void count(event::not_acquired const& e)
    {
        bool const ours = e.why.category() == error_category();
        ++acquisitions[with_lock({ours ? name_of(e.why) : "cancelled"}, e.lock)];
    }

    void count(event::self_deadlock const&) { ++self_deadlocks[{}]; }

    void count(event::extended const&) { ++extensions[{"renewed"}]; }

    void count(event::extension_failed const& e) { ++extensions[{to_string(e.outcome)}]; }

    void count(event::lost const& e)
    {
        ++lost[with_lock({name_of(e.why)}, e.lock)];
        hold.observe(with_lock({}, e.lock), in_seconds(e.held_for));
        --leases[{}];
    }

    void count(event::released const& e)
    {
        ++releases[{e.result ? name_of(e.result) : "released"}];
        if (e.was_lost) return;  // which ended it
        hold.observe(with_lock({}, e.lock), in_seconds(e.held_for));
        --leases[{}];
    }

    void count(event::handoff const& e)
    {
        hold.observe(with_lock({}, e.lock), in_seconds(e.held_for));
        --leases[{}];
    }

    void count(event::detached const& e)
    {
        hold.observe(with_lock({}, e.lock), in_seconds(e.held_for));
        --leases[{}];
    }

    void count(event::overrun const&) { ++overruns[{}]; }

    void count(event::watchdog_late const&) { ++late[{}]; }

    void count(event::late_grant_undone const& e) { ++undone[{std::string{e.node}}]; }

    void count(event::node_up const& e)
    {
        label_values const node{std::string{e.node}};
        up[node] = 1;
        admitted[node];
        ++connects[node];
    }

    void count(event::node_down const& e)
    {
        label_values const node{std::string{e.node}};
        up[node] = 0;
        admitted[node] = 0;
        connects[node];
    }

    void count(event::node_excluded const& e) { admitted[{std::string{e.node}}] = 0; }

    void count(event::node_admitted const& e) { admitted[{std::string{e.node}}] = 1; }

    void count(event::node_recovered const& e) { ++recoveries[{std::string{e.node}}]; }
    void count(event::clock_stepped const& e) { ++steps[{std::string{e.node}}]; }

    void count(event::dropped const& e) { dropped[{}] += static_cast<std::int64_t>(e.events); }

    std::string text() const
    {
        std::string all;
        for (counters_and_gauges const* each : {&acquisitions, &attempts_failed}) each->append_to(all, options.labels);
        acquire.append_to(all, options.labels);
        hold.append_to(all, options.labels);
        for (counters_and_gauges const* each : {&leases, &lost, &extensions, &releases, &overruns, &late, &self_deadlocks, &undone, &votes,
                                                &up, &admitted, &connects, &recoveries, &steps, &dropped})
            each->append_to(all, options.labels);
        return all;
    }

    mutable std::mutex mutex;
    prometheus_options options;
    std::vector<std::string> per_lock;
    std::set<std::string> locks;

    counters_and_gauges acquisitions = counter("redlock_acquisitions_total",
                                               "Calls of acquire() and try_acquire(), by what they completed with.",
                                               labels_with_lock({"outcome"}));
    counters_and_gauges attempts_failed = counter("redlock_attempts_failed_total",
                                                  "Attempts to acquire that did not succeed; acquire() makes several.", {"reason"});
    histograms acquire{{"redlock_acquire_seconds", "From the call of acquire() or try_acquire() to the lease.", labels_with_lock({})},
                       options.acquire_buckets};
    histograms hold{{"redlock_hold_seconds", "From the lease to its release, hand-over or loss.", labels_with_lock({})},
                    options.hold_buckets};
    counters_and_gauges leases = gauge("redlock_leases", "Leases that are held now.");
    counters_and_gauges lost = counter("redlock_leases_lost_total", "Leases that ended before they were released.",
                                       labels_with_lock({"reason"}));
    counters_and_gauges extensions = counter("redlock_extensions_total", "Extensions of leases.", {"outcome"});
    counters_and_gauges releases = counter("redlock_releases_total", "Leases that were released on the nodes.", {"outcome"});
    counters_and_gauges overruns = counter("redlock_overruns_total", "Bodies of with_lock that went on after their lease had ended.");
    counters_and_gauges late = counter("redlock_watchdog_late_total", "Leases that had ended when the watchdog came to extend them.");
    counters_and_gauges self_deadlocks = counter("redlock_self_deadlocks_total",
                                                 "Acquisitions that would have waited for the scope that they run in.");
    counters_and_gauges undone = counter("redlock_late_grants_undone_total", "Grants that came after their attempt was over.", {"node"});
    counters_and_gauges votes = counter("redlock_node_votes_total", "Votes of a node on attempts to acquire, when they were decided.",
                                        {"node", "vote"});
    counters_and_gauges up = gauge("redlock_node_up", "Whether the node is connected and is asked for its vote.", {"node"});
    counters_and_gauges admitted = gauge("redlock_node_admitted", "Whether the node votes on locks with fencing.", {"node"});
    counters_and_gauges connects = counter("redlock_node_connects_total", "How often a connection to the node became usable.", {"node"});
    counters_and_gauges recoveries = counter("redlock_node_recoveries_total",
                                             "How often this client let the node vote again after most nodes had lost their data.",
                                             {"node"});
    counters_and_gauges steps = counter("redlock_node_clock_steps_total",
                                        "How often the wall clock of the node was found to have been set.", {"node"});
    counters_and_gauges dropped = counter("redlock_events_dropped_total",
                                          "Events that were not counted here, as the observer did not keep up.");
};

prometheus::prometheus(prometheus_options options, asio::any_io_executor executor)
    : metrics_{std::make_unique<metrics>(std::move(options))}, executor_{std::move(executor)}
{
}

prometheus::~prometheus() = default;

std::string prometheus::text() const
{
    std::lock_guard const guard{metrics_->mutex};
    return metrics_->text();
}

void prometheus::on(event::any const& what)
{
    std::lock_guard const guard{metrics_->mutex};
    std::visit([this](auto const& e) { metrics_->count(e); }, what);
}

}  // namespace redlock
