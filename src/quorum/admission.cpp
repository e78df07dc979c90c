#include "quorum/admission.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::quorum {

namespace {

// Somebody else, or an operator, may have admitted a node that we cannot.
constexpr duration look_again_after = std::chrono::seconds{1};

bool is_waiting(standing s) noexcept { return s == standing::draining || s == standing::catching_up || s == standing::stranded; }

}  // namespace

admission::admission(std::size_t nodes, admission_settings settings) : settings_{std::move(settings)}, nodes_{nodes}
{
    assert(nodes >= 1 && nodes <= nodes_max);
}

void admission::on_facts(std::size_t node, node_facts const& facts, time_point now)
{
    node_state& n = nodes_[node];
    bool const same_loss = n.facts.id == facts.id && !n.mark.empty() && n.mark == facts.mark;
    n.facts = facts;
    n.seen = now;
    n.asked = n.look_again = false;
    if (!facts.master) {
        n.state = standing::no_master;
    } else if (facts.admitted == facts.id) {
        n.state = standing::admitted;
        n.mark.clear();
    } else if (!same_loss || !is_waiting(n.state)) {
        n.state = standing::marking;
        n.mark.clear();
    }
}

void admission::on_marked(std::size_t node, std::optional<std::string> const& mark, time_point now)
{
    node_state& n = nodes_[node];
    n.asked = false;
    if (n.state != standing::marking) return;
    if (!mark) {
        n.look_again = true;
        return;
    }
    n.mark = n.facts.mark = *mark;
    n.drains_from = now;
    n.state = standing::draining;
}

void admission::on_admit_answered(std::size_t node, bool admitted, time_point now)
{
    node_state& n = nodes_[node];
    n.asked = false;
    if (!is_waiting(n.state)) return;
    // Either way its facts are others now; what it may vote on must be what it says itself.
    n.look_again = true;
    n.seen = now;
    if (!admitted) {
        n.state = standing::marking;
        n.mark.clear();
    }
}

void admission::on_gone(std::size_t node) { nodes_[node] = {}; }

std::vector<admission_request> admission::requests(time_point now)
{
    for (node_state& n : nodes_)
        if (n.state == standing::draining && drained(n, now)) n.state = standing::catching_up;
    found_the_cluster_if_it_is_new(now);

    using kind = admission_request::kind;
    std::vector<admission_request> result;
    bool read_others = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        node_state& n = nodes_[i];
        if (n.asked) continue;
        if (n.look_again) {
            n.asked = true;
            result.push_back({kind::inspect, i, n.facts.id, {}, 0, {}});
        } else if (n.state == standing::marking) {
            n.asked = true;
            result.push_back({kind::mark, i, n.facts.id, settings_.fresh_mark(), 0, {}});
        } else if (n.state == standing::catching_up || n.state == standing::stranded) {
            bool const too_few = !founding_base_ && admitted() < intact_needed();
            n.state = too_few && all_have_answered() ? standing::stranded : standing::catching_up;
            if (auto ready = admit(i)) {
                n.asked = true;
                result.push_back(std::move(*ready));
            } else if (n.state == standing::stranded && now >= n.seen + look_again_after) {
                n.asked = true;
                result.push_back({kind::inspect, i, n.facts.id, {}, 0, {}});
            }
            read_others = read_others || !too_few;
        }
    }
    if (!read_others || founding_base_) return result;
    // The marks that count are read after the drain.
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        node_state& n = nodes_[i];
        bool const stale = std::any_of(nodes_.begin(), nodes_.end(), [&](node_state const& waits) {
            return waits.state == standing::catching_up && !waits.asked && n.seen < drained_at(waits);
        });
        if (n.state != standing::admitted || n.asked || !stale) continue;
        n.asked = true;
        result.push_back({kind::inspect, i, n.facts.id, {}, 0, {}});
    }
    return result;
}

// No node is admitted, and all N say so: the cluster is new, or has lost everything at once. The operator's word that it is new
// counts only where there is no trace of an admission.
void admission::found_the_cluster_if_it_is_new(time_point now)
{
    auto const waits = [](node_state const& n) { return n.state == standing::draining || n.state == standing::catching_up; };
    if (founding_base_) {
        if (std::none_of(nodes_.begin(), nodes_.end(), waits)) founding_base_.reset();
        return;
    }
    bool const no_trace = std::all_of(nodes_.begin(), nodes_.end(), [](node_state const& n) { return n.facts.admitted.empty(); });
    bool const no_drain = settings_.fresh && no_trace;
    bool const all_wait = std::all_of(nodes_.begin(), nodes_.end(), [&](node_state const& n) {
        return waits(n) && (no_drain || drained(n, now));
    });
    if (!all_wait) return;
    founding_base_ = settings_.wall_clock();
    for (node_state& n : nodes_) {
        n.state = standing::catching_up;
        founding_base_ = std::max(*founding_base_, n.facts.high_water);
    }
}

std::optional<admission_request> admission::admit(std::size_t node) const
{
    node_state const& n = nodes_[node];
    auto const drained = drained_at(n);
    if (!founding_base_ && read_since(drained) < intact_needed()) return std::nullopt;
    admission_request r{admission_request::kind::admit, node, n.facts.id, n.mark, founding_base_.value_or(0),
                        std::max(settings_.max_ttl, n.facts.max_ttl)};
    for (node_state const& each : nodes_) {
        if (each.state != standing::admitted || each.seen < drained) continue;
        r.base = std::max(r.base, each.facts.high_water);
        r.max_ttl = std::max(r.max_ttl, each.facts.max_ttl);
    }
    return r;
}

std::size_t admission::read_since(time_point drained) const noexcept
{
    return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), [drained](node_state const& n) {
        return n.state == standing::admitted && !n.look_again && n.seen >= drained;
    }));
}

std::optional<time_point> admission::next(time_point now) const
{
    std::optional<time_point> result;
    auto const no_later_than = [&](time_point t) { result = std::min(result.value_or(t), t); };
    for (node_state const& n : nodes_) {
        if (n.asked) continue;
        if (n.state == standing::draining) no_later_than(std::max(now, drained_at(n)));
        if (n.state == standing::stranded) no_later_than(std::max(now, n.seen + look_again_after));
    }
    return result;
}

bool admission::all_have_answered() const noexcept
{
    return std::none_of(nodes_.begin(), nodes_.end(), [](node_state const& n) { return n.state == standing::unknown; });
}

std::size_t admission::admitted() const noexcept
{
    return static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [](node_state const& n) { return n.state == standing::admitted; }));
}

// The largest ttl that anybody may use, on a clock that runs as fast as ours may.
time_point admission::drained_at(node_state const& n) const noexcept
{
    duration longest = settings_.max_ttl;
    for (node_state const& each : nodes_)
        if (each.state == standing::admitted) longest = std::max(longest, each.facts.max_ttl);
    auto const drift = std::chrono::duration_cast<duration>(
        std::chrono::duration<double, std::nano>{static_cast<double>(longest.count()) * settings_.drift});
    return n.drains_from + longest + drift + expiry_granularity;
}

bool admission::drained(node_state const& n, time_point now) const noexcept { return now >= drained_at(n); }

duration admission::left(std::size_t node, time_point now) const noexcept
{
    node_state const& n = nodes_[node];
    return n.state == standing::draining ? std::max(duration::zero(), drained_at(n) - now) : duration::zero();
}

}  // namespace redlock::quorum
