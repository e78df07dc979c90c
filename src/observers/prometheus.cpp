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

namespace redlock {

using detail::histograms;
using detail::label_values;
using detail::name_of;
using detail::numbers;

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

numbers counter(char const* name, char const* help, std::vector<std::string> labels = {})
{
    return {numbers::kind::counter, {name, help, std::move(labels)}};
}
numbers gauge(char const* name, char const* help, std::vector<std::string> labels = {})
{
    return {numbers::kind::gauge, {name, help, std::move(labels)}};
}

}  // namespace

struct prometheus::metrics {
    explicit metrics(prometheus_options given)
        : options{checked(std::move(given))}, per_lock{options.lock_label ? std::vector<std::string>{"lock"} : std::vector<std::string>{}}
    {
        // What has not happened yet is zero: an alert on a series that is not there never fires.
        if (per_lock.empty()) {
            for (char const* outcome :
                 {"acquired", "handed_over", "nested", "contended", "no_majority", "deadline_exceeded", "client_cancelled"})
                acquisitions[{outcome}];
            for (errc each : {errc::lease_lost, errc::max_hold_exceeded, errc::client_cancelled}) lost[{to_string(each)}];
            acquire.make({});
            hold.make({});
        }
        for (errc each : {errc::contended, errc::no_majority, errc::validity_exhausted}) attempts_failed[{to_string(each)}];
        for (char const* outcome : {"renewed", "held", "unknown", "lost"}) extensions[{outcome}];
        for (char const* outcome : {"released", "lease_lost", "release_unconfirmed"}) releases[{outcome}];
        for (numbers* each : {&leases, &overruns, &late, &self_waits, &dropped}) (*each)[{}];
    }

    // The values of a family's labels, and that of the lock.
    label_values with_lock(label_values first, std::string_view lock)
    {
        if (!options.lock_label) return first;
        std::string label = detail::valid_utf8(options.lock_label(lock));
        if (!locks.contains(label)) {
            if (locks.size() < options.lock_labels_max) locks.insert(label);
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

    std::string text() const
    {
        std::string all;
        for (numbers const* each : {&acquisitions, &attempts_failed}) each->append_to(all, options.labels);
        acquire.append_to(all, options.labels);
        hold.append_to(all, options.labels);
        for (numbers const* each : {&leases, &lost, &extensions, &releases, &overruns, &late, &self_waits, &undone, &votes, &up, &admitted,
                                    &connects, &steps, &dropped})
            each->append_to(all, options.labels);
        return all;
    }

    mutable std::mutex mutex;
    prometheus_options options;
    std::vector<std::string> per_lock;
    std::set<std::string> locks;

    numbers acquisitions = counter("redlock_acquisitions_total", "Calls of acquire() and try_acquire(), by what they completed with.",
                                   labels_with_lock({"outcome"}));
    numbers attempts_failed = counter("redlock_attempts_failed_total", "Attempts to acquire that did not succeed; acquire() makes several.",
                                      {"reason"});
    histograms acquire{{"redlock_acquire_seconds", "From the call of acquire() or try_acquire() to the lease.", labels_with_lock({})},
                       options.acquire_buckets};
    histograms hold{{"redlock_hold_seconds", "From the lease to its release, hand-over or loss.", labels_with_lock({})},
                    options.hold_buckets};
    numbers leases = gauge("redlock_leases", "Leases that are held now.");
    numbers lost = counter("redlock_leases_lost_total", "Leases that ended before they were released.", labels_with_lock({"reason"}));
    numbers extensions = counter("redlock_extensions_total", "Extensions of leases.", {"outcome"});
    numbers releases = counter("redlock_releases_total", "Leases that were given back to the nodes.", {"outcome"});
    numbers overruns = counter("redlock_overruns_total", "Bodies of with_lock that went on after their lease had ended.");
    numbers late = counter("redlock_watchdog_late_total", "Leases that had ended when the watchdog came to extend them.");
    numbers self_waits = counter("redlock_self_waits_total", "Acquisitions that wait for the scope that they run in: deadlocks.");
    numbers undone = counter("redlock_late_grants_undone_total", "Grants that came after their attempt was over.", {"node"});
    numbers votes = counter("redlock_node_votes_total", "Votes of a node on attempts to acquire, when they were decided.",
                            {"node", "vote"});
    numbers up = gauge("redlock_node_up", "Whether the node is connected and is asked for its vote.", {"node"});
    numbers admitted = gauge("redlock_node_admitted", "Whether the node may vote on locks with fencing.", {"node"});
    numbers connects = counter("redlock_node_connects_total", "How often a connection to the node became usable.", {"node"});
    numbers steps = counter("redlock_node_clock_steps_total", "How often the wall clock of the node was found to have been set.", {"node"});
    numbers dropped = counter("redlock_events_dropped_total", "Events that were not counted here, as the observer did not keep up.");
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

void prometheus::on_acquired(event::acquired const& e)
{
    metrics& m = *metrics_;
    std::lock_guard const guard{m.mutex};
    ++m.acquisitions[m.with_lock({e.origin == event::origin::nodes ? "acquired" : to_string(e.origin)}, e.lock)];
    m.acquire.observe(m.with_lock({}, e.lock), in_seconds(e.waited));
    if (e.origin != event::origin::nested) ++m.leases[{}];
    m.count_votes(e.votes);
}

void prometheus::on_contended(event::contended const& e)
{
    metrics& m = *metrics_;
    std::lock_guard const guard{m.mutex};
    ++m.attempts_failed[{to_string(errc::contended)}];
    m.count_votes(e.votes);
}

void prometheus::on_attempt_failed(event::attempt_failed const& e)
{
    metrics& m = *metrics_;
    std::lock_guard const guard{m.mutex};
    ++m.attempts_failed[{name_of(e.why)}];
    m.count_votes(e.votes);
}

void prometheus::on_not_acquired(event::not_acquired const& e)
{
    metrics& m = *metrics_;
    std::lock_guard const guard{m.mutex};
    bool const ours = e.why.category() == error_category();
    ++m.acquisitions[m.with_lock({ours ? name_of(e.why) : "cancelled"}, e.lock)];
}

void prometheus::on_self_wait(event::self_wait const&)
{
    std::lock_guard const guard{metrics_->mutex};
    ++metrics_->self_waits[{}];
}

void prometheus::on_extended(event::extended const&)
{
    std::lock_guard const guard{metrics_->mutex};
    ++metrics_->extensions[{"renewed"}];
}

void prometheus::on_extension_failed(event::extension_failed const& e)
{
    std::lock_guard const guard{metrics_->mutex};
    ++metrics_->extensions[{to_string(e.outcome)}];
}

void prometheus::on_lost(event::lost const& e)
{
    metrics& m = *metrics_;
    std::lock_guard const guard{m.mutex};
    ++m.lost[m.with_lock({name_of(e.why)}, e.lock)];
    m.hold.observe(m.with_lock({}, e.lock), in_seconds(e.held_for));
    --m.leases[{}];
}

void prometheus::on_released(event::released const& e)
{
    metrics& m = *metrics_;
    std::lock_guard const guard{m.mutex};
    ++m.releases[{e.result ? name_of(e.result) : "released"}];
    if (e.was_lost) return;  // which ended it
    m.hold.observe(m.with_lock({}, e.lock), in_seconds(e.held_for));
    --m.leases[{}];
}

void prometheus::on_handed_over(event::handed_over const& e)
{
    metrics& m = *metrics_;
    std::lock_guard const guard{m.mutex};
    m.hold.observe(m.with_lock({}, e.lock), in_seconds(e.held_for));
    --m.leases[{}];
}

void prometheus::on_overrun(event::overrun const&)
{
    std::lock_guard const guard{metrics_->mutex};
    ++metrics_->overruns[{}];
}

void prometheus::on_watchdog_late(event::watchdog_late const&)
{
    std::lock_guard const guard{metrics_->mutex};
    ++metrics_->late[{}];
}

void prometheus::on_late_grant_undone(event::late_grant_undone const& e)
{
    std::lock_guard const guard{metrics_->mutex};
    ++metrics_->undone[{std::string{e.node}}];
}

void prometheus::on_node_up(event::node_up const& e)
{
    metrics& m = *metrics_;
    std::lock_guard const guard{m.mutex};
    label_values const node{std::string{e.node}};
    m.up[node] = 1;
    m.admitted[node];
    ++m.connects[node];
}

void prometheus::on_node_down(event::node_down const& e)
{
    metrics& m = *metrics_;
    std::lock_guard const guard{m.mutex};
    label_values const node{std::string{e.node}};
    m.up[node] = 0;
    m.admitted[node] = 0;
    m.connects[node];
}

void prometheus::on_node_excluded(event::node_excluded const& e)
{
    std::lock_guard const guard{metrics_->mutex};
    metrics_->admitted[{std::string{e.node}}] = 0;
}

void prometheus::on_node_admitted(event::node_admitted const& e)
{
    std::lock_guard const guard{metrics_->mutex};
    metrics_->admitted[{std::string{e.node}}] = 1;
}

void prometheus::on_clock_stepped(event::clock_stepped const& e)
{
    std::lock_guard const guard{metrics_->mutex};
    ++metrics_->steps[{std::string{e.node}}];
}

void prometheus::on_dropped(event::dropped const& e)
{
    std::lock_guard const guard{metrics_->mutex};
    metrics_->dropped[{}] += static_cast<std::int64_t>(e.events);
}

}  // namespace redlock
