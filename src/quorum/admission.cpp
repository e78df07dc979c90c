#include "quorum/admission.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::quorum {

namespace {

// Another client, or an operator, may have admitted a node that waits. The pauses between looks at the node begin short, since clients that start
// together admit nodes for each other.
constexpr duration min_look_after = std::chrono::milliseconds{10};
constexpr duration max_look_after = std::chrono::seconds{1};

// The same pauses stand between the questions to a node whose answers contradict each other. So many make the longest one.
constexpr std::uint8_t max_contradictions = 9;
constexpr duration contradictions_forgotten_after = 8 * max_look_after;

bool is_waiting(admission_state s) noexcept
{
    return s == admission_state::quarantined || s == admission_state::catching_up || s == admission_state::needs_operator;
}
bool is_looked_at(admission_state s) noexcept
{
    return is_waiting(s) || s == admission_state::unidentified || s == admission_state::not_primary;
}

}  // namespace

admission::admission(std::size_t nodes, admission_settings settings)
    : settings_{std::move(settings)}, longest_ttl_{settings_.max_ttl}, nodes_{nodes}, size_{nodes}
{
    assert(nodes >= 1 && nodes <= max_nodes);
}

void admission::on_facts(std::size_t node, node_facts const& facts, time_point asked, time_point now)
{
    node_state& n = nodes_[node];
    bool const same_loss = n.facts.id == facts.id && !n.mark.empty() && n.mark == facts.mark;
    n.facts = facts;
    longest_ttl_ = std::max(longest_ttl_, facts.max_ttl);
    n.seen = asked;
    n.asked = n.look_again = n.gone = n.failing = false;
    n.look_after = std::clamp(2 * n.look_after, min_look_after, max_look_after);
    n.look_at = now + n.look_after;
    if (!facts.master) {
        n.state = admission_state::not_primary;
    } else if (facts.id.empty()) {
        n.state = admission_state::unidentified;
    } else if (facts.admitted == facts.id) {
        n.state = admission_state::admitted;
        n.mark.clear();
        n.look_after = {};
        seen_admitted_ = true;
        was_complete_ = was_complete_ || admitted() == nodes_.size();
    } else if (!same_loss || !is_waiting(n.state)) {
        n.state = admission_state::uninitialized;
        n.mark.clear();
    }
    // What it says of its losses holds for the present one if the mark was there.
    bool const shows = settings_.founds_by_uptime && facts.without_loss > duration::zero() && !n.mark.empty() && n.mark == facts.mark;
    if (shows) n.kept_since = std::min(n.kept_since, now - facts.without_loss);
    n.founds = n.founds && is_waiting(n.state);
}

void admission::on_marked(std::size_t node, std::optional<std::string> const& mark, time_point now,
                          std::vector<mark_sighting> const& before)
{
    node_state& n = nodes_[node];
    n.asked = false;
    if (n.state != admission_state::uninitialized) return;
    if (!mark) return on_contradiction(node, now);
    n.mark = n.facts.mark = *mark;
    n.quarantined_since = now;
    for (mark_sighting const& s : before)
        if (s.id == n.facts.id && s.mark == n.mark && s.seen < n.quarantined_since) n.quarantined_since = s.seen;
    n.state = admission_state::quarantined;
    n.marked = now;
    n.kept_since = time_point::max();
    n.look_again = has_to_show_uptime(n);
}

std::optional<mark_sighting> admission::sighting(std::size_t node) const
{
    node_state const& n = nodes_[node];
    if (!is_waiting(n.state) || n.mark.empty()) return std::nullopt;
    return mark_sighting{n.facts.id, n.mark, n.quarantined_since};
}

void admission::on_admit_answered(std::size_t node, bool admitted, time_point now)
{
    node_state& n = nodes_[node];
    n.asked = false;
    if (!is_waiting(n.state)) return;
    // Granted or refused, the facts have changed. The node may vote only when it tells the new ones itself.
    if (admitted) {
        if (now - n.contradicted > contradictions_forgotten_after) n.contradictions = 0;
        return on_suspect(node);
    }
    n.state = admission_state::uninitialized;
    n.mark.clear();
    on_contradiction(node, now);
}

void admission::on_suspect(std::size_t node) { nodes_[node].look_again = true; }

// Once is usual: another client has marked or admitted it, or it has lost its data.
void admission::on_contradiction(std::size_t node, time_point now)
{
    node_state& n = nodes_[node];
    if (n.look_again) return;
    if (now - n.contradicted > contradictions_forgotten_after) n.contradictions = 0;
    n.look_again = true;
    n.contradicted = now;
    if (n.contradictions > 0) n.look_at = now + std::min(min_look_after * (1 << (n.contradictions - 1)), max_look_after);
    if (n.contradictions < max_contradictions) ++n.contradictions;
}

void admission::on_failed(std::size_t node, time_point now)
{
    node_state& n = nodes_[node];
    if (n.gone) return;
    n.asked = false;
    n.look_again = n.failing = true;
    n.look_after = std::clamp(2 * n.look_after, min_look_after, max_look_after);
    n.look_at = now + n.look_after;
}

void admission::on_gone(std::size_t node)
{
    nodes_[node] = {};
    nodes_[node].gone = true;
}

// Before the node is asked for its facts, or to be marked.
bool admission::has_to_pause(node_state const& n) const noexcept
{
    return n.failing || (contradicts_itself(n) && (n.look_again || n.state == admission_state::uninitialized));
}

std::vector<admission_request> admission::requests(time_point now)
{
    for (node_state& n : nodes_) {
        if (is_waiting(n.state) && !n.founds && !has_waited(n, now))
            n.state = admission_state::quarantined;  // it takes longer than was known
        if (n.state == admission_state::quarantined && has_waited(n, now)) n.state = admission_state::catching_up;
        if (is_looked_at(n.state) && now >= n.look_at) n.look_again = true;
    }
    found_the_cluster_if_it_is_new(now);

    using kind = admission_request::kind;
    std::vector<admission_request> result;
    bool read_others = false;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        node_state& n = nodes_[i];
        if (n.asked || (has_to_pause(n) && now < n.look_at)) continue;
        if (n.look_again) {
            n.asked = true;
            result.push_back({kind::inspect, i, n.facts.id, {}, 0, {}});
        } else if (n.state == admission_state::uninitialized) {
            n.asked = true;
            result.push_back({kind::mark, i, n.facts.id, settings_.fresh_mark(), 0, {}});
        } else if (n.state == admission_state::catching_up || n.state == admission_state::needs_operator) {
            bool const too_few = !n.founds && admitted() < intact_needed();
            // With too few admitted nodes, or none at all, the cluster recovers, or is founded, when the last quarantine is over.
            bool const in_vain = too_few && admitted() > 0 && all_have_answered() && !recovers();
            n.state = in_vain ? admission_state::needs_operator : admission_state::catching_up;
            if (auto ready = admit(i)) {
                n.asked = true;
                result.push_back(std::move(*ready));
            }
            read_others = read_others || !(too_few || n.founds);
        }
    }
    if (!read_others) return result;
    // Only high-water marks that were read after the quarantine count: read them again from the admitted nodes.
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        node_state& n = nodes_[i];
        bool const stale = std::any_of(nodes_.begin(), nodes_.end(), [&](node_state const& waits) {
            return waits.state == admission_state::catching_up && !waits.founds && !waits.asked && n.seen < drained_at(waits);
        });
        if (n.state != admission_state::admitted || n.asked || !stale) continue;
        n.asked = true;
        result.push_back({kind::inspect, i, n.facts.id, {}, 0, {}});
    }
    return result;
}

// No node is admitted, and all members tell so: the cluster is new, or has lost everything at once. The option `bootstrap` says that it is new, and spares
// the quarantine, but only if there is no trace of an admission. While a set becomes smaller, N has one more than there are members; that one is no
// majority with those who lost their data. Or some are admitted, which are too few for the others to catch up.
void admission::found_the_cluster_if_it_is_new(time_point now)
{
    bool const is_under_way = std::none_of(nodes_.begin(), nodes_.end(),
                                           [](node_state const& n) { return is_waiting(n.state) && !n.founds; });
    if (!may_be_founded() || is_under_way) return;
    bool const no_quarantine = settings_.bootstrap && !seen_admitted_ && all_remember_nothing();
    auto const outlived = [&](node_state const& n) { return !is_waiting(n.state) || now >= outlived_at(n); };
    bool const all_wait = all_members(
        [&](node_state const& n) { return is_waiting(n.state) ? no_quarantine || outlived(n) : n.state == admission_state::admitted; });
    if (!all_wait || (!no_quarantine && !all_read_since_the_last_quarantine())) return;
    just_bootstrapped_ = !all_members(outlived);
    bool const is_recovery = admitted() > 0;
    founding_base_ = settings_.wall_clock();
    for (node_state& n : nodes_) {
        if (!is_member(n)) continue;
        founding_base_ = std::max(founding_base_, n.facts.high_water);
        if (!is_waiting(n.state)) continue;
        n.state = admission_state::catching_up;
        n.founds = true;
        if (is_recovery) just_recovered_.add(static_cast<std::size_t>(&n - nodes_.data()));
    }
}

// Where every member is one of the client's nodes. Otherwise one may have its data, also if it is none of the client's nodes.
bool admission::may_be_founded() const noexcept { return has_all_members_ && (admitted() == 0 || recovers()); }

// Each majority then has a node that is given a base, which is ahead of all tokens as in a founding. All have to answer, since the record of one that has
// its data refuses lists that are wrong.
bool admission::recovers() const noexcept
{
    if (!settings_.recovers || !has_all_members_ || !is_certain_ || admitted() == 0 || admitted() >= intact_needed()) return false;
    auto const has_lost = [](node_state const& n) { return is_waiting(n.state) || n.state == admission_state::uninitialized; };
    std::size_t lost = 0;
    for (node_state const& n : nodes_) lost += is_member(n) && has_lost(n) ? 1 : 0;
    return lost >= majority(size_) && all_members([&](node_state const& n) { return n.state == admission_state::admitted || has_lost(n); });
}

// Older facts may be out of date: another client may have founded the cluster since, and a node may have lost that again. So read them all anew.
bool admission::all_read_since_the_last_quarantine()
{
    time_point last{};
    for (node_state const& n : nodes_)
        if (is_member(n) && is_waiting(n.state)) last = std::max({last, outlived_at(n), n.marked});
    bool all = true;
    for (node_state& n : nodes_) {
        if (!is_member(n) || n.seen >= last) continue;
        n.look_again = true;
        all = false;
    }
    return all;
}

std::optional<admission_request> admission::admit(std::size_t node) const
{
    node_state const& n = nodes_[node];
    auto const drained = drained_at(n);
    if (!n.founds && read_since(drained) < intact_needed()) return std::nullopt;
    if (settings_.may_be_admitted && !settings_.may_be_admitted(node)) return std::nullopt;
    admission_request r{admission_request::kind::admit,
                        node,
                        n.facts.id,
                        n.mark,
                        n.founds ? founding_base_ : 0,
                        std::max(settings_.max_ttl, n.facts.max_ttl)};
    for (node_state const& each : nodes_) {
        if (each.state != admission_state::admitted || each.seen < drained) continue;
        r.base = std::max(r.base, each.facts.high_water);
        r.max_ttl = std::max(r.max_ttl, each.facts.max_ttl);
    }
    return r;
}

std::size_t admission::read_since(time_point drained) const noexcept
{
    return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), [drained](node_state const& n) {
        return n.state == admission_state::admitted && !n.look_again && n.seen >= drained;
    }));
}

std::optional<time_point> admission::next(time_point now) const
{
    std::optional<time_point> result;
    auto const no_later_than = [&](time_point t) { result = std::min(result.value_or(t), t); };
    time_point founded{};  // when all have waited for that
    if (may_be_founded())
        for (node_state const& n : nodes_)
            if (is_member(n) && is_waiting(n.state)) founded = std::max(founded, outlived_at(n));
    for (node_state const& n : nodes_) {
        if (n.asked) continue;
        if (n.state == admission_state::quarantined) no_later_than(std::max(now, drained_at(n)));
        if (is_waiting(n.state) && founded > now) no_later_than(founded);
        if (is_looked_at(n.state) || has_to_pause(n)) no_later_than(std::max(now, n.look_at));
    }
    return result;
}

bool admission::all_remember_nothing() const noexcept
{
    auto const nothing = [](node_state const& n) {
        return n.facts.admitted.empty() && n.facts.high_water == 0 && n.facts.max_ttl == duration::zero();
    };
    return std::all_of(nodes_.begin(), nodes_.end(), nothing);
}

bool admission::is_deciding(std::size_t node) const noexcept
{
    node_state const& n = nodes_[node];
    if (n.failing) return false;
    if (n.look_again && n.state == admission_state::admitted) return !contradicts_itself(n);
    bool const nobody_is_away = std::none_of(nodes_.begin(), nodes_.end(), [](node_state const& each) { return each.gone; });
    switch (n.state) {
    case admission_state::unknown: return !n.gone;
    case admission_state::uninitialized: return !contradicts_itself(n);
    // A new cluster is founded in a moment, by this client or by another one that started at the same time.
    case admission_state::quarantined:
        if (has_to_show_uptime(n)) return true;
        if (is_outlived(n)) return may_be_founded_soon();
        return settings_.bootstrap && !was_complete_ && nobody_is_away && n.look_after < max_look_after;
    case admission_state::catching_up: {
        auto const others = std::count_if(nodes_.begin(), nodes_.end(), [this](node_state const& each) { return may_speak_soon(each); });
        return n.founds || static_cast<std::size_t>(others) >= intact_needed() || may_be_founded_soon();
    }
    default: return false;
    }
}

// Whether the node can tell its high-water mark, or may turn out to when it connects.
bool admission::may_speak_soon(node_state const& n) const noexcept
{
    return n.state == admission_state::admitted || (n.state == admission_state::unknown && !n.gone);
}

// Whether all nodes that have answered have no data and no quarantine left. That is so if their servers have run for long enough, or if other clients have
// waited for it before this one came.
bool admission::may_be_founded_soon() const noexcept
{
    return may_be_founded() && all_members([this](node_state const& n) {
               return !n.gone && !n.failing &&
                      (n.state == admission_state::unknown || n.state == admission_state::uninitialized ||
                       n.state == admission_state::catching_up || n.state == admission_state::admitted || is_outlived(n));
           });
}

// Whether it showed for how long it has run before it had the mark, and is asked again: what is left of the quarantine is not known before.
bool admission::has_to_show_uptime(node_state const& n) const noexcept
{
    bool const showed = settings_.founds_by_uptime && n.facts.without_loss > duration::zero() && n.kept_since == time_point::max();
    return showed && may_be_founded();
}

// Whether the server has run, without a loss, for as long as the quarantine takes.
bool admission::is_outlived(node_state const& n) const noexcept
{
    return n.state == admission_state::quarantined && settings_.founds_by_uptime && n.facts.without_loss >= quarantine();
}

bool admission::all_have_answered() const noexcept
{
    return all_members([](node_state const& n) { return n.state != admission_state::unknown; });
}

admission_state admission::of(std::size_t node) const noexcept
{
    node_state const& n = nodes_[node];
    return n.state == admission_state::quarantined && waits_in_vain(n) ? admission_state::needs_operator : n.state;
}

// Some node is admitted, so that no cluster is founded, and all others have lost so much that too few nodes have their data.
bool admission::waits_in_vain(node_state const& n) const noexcept
{
    auto const is_settled = [](node_state const& each) { return each.state == admission_state::admitted || is_waiting(each.state); };
    return !n.founds && admitted() > 0 && admitted() < intact_needed() && !recovers() && all_members(is_settled);
}

std::size_t admission::admitted() const noexcept
{
    return static_cast<std::size_t>(
        std::count_if(nodes_.begin(), nodes_.end(), [](node_state const& n) { return n.state == admission_state::admitted; }));
}

time_point admission::drained_at(node_state const& n) const noexcept
{
    return n.quarantined_since + drain_of(longest_ttl_, settings_.clock_drift);
}

// When a founding may count the node: a server that has lost nothing since its start has outlived what it granted before.
time_point admission::outlived_at(node_state const& n) const noexcept
{
    return std::min(n.quarantined_since, n.kept_since) + drain_of(longest_ttl_, settings_.clock_drift);
}

bool admission::has_waited(node_state const& n, time_point now) const noexcept { return now >= drained_at(n); }

duration admission::left(std::size_t node, time_point now) const noexcept
{
    node_state const& n = nodes_[node];
    return n.state == admission_state::quarantined ? std::max(duration::zero(), drained_at(node) - now) : duration::zero();
}

}  // namespace redlock::quorum
