// What a client writes into the records of its nodes: the part of set_membership that makes claims.
#include "quorum/sets/set_membership.hpp"

#include <algorithm>
#include <utility>

namespace redlock::quorum {

namespace {

using kind = set_text::kind;

}  // namespace

void set_membership::on_claimed(std::size_t node, std::optional<std::string> const& text, time_point asked, time_point now)
{
    node_state& n = nodes_[node];
    now_ = now;
    n.claim = !text || text->empty() ? claim_is::in_vain : claim_is::possible;
    if (n.claim == claim_is::in_vain || *text == n.text) return;
    n.text = *text;
    n.asked = asked;
    n.said = read_set_text(n.text);
    // In another generation the server has another id, which the next claim needs: with the one of before, the server's admission would end.
    if (!binding_in(n.text).empty()) n.server.clear();
    judge();
}

void set_membership::may_claim_again() noexcept
{
    for (node_state& n : nodes_)
        if (n.claim == claim_is::in_vain) n.claim = claim_is::possible;
}

// A claim that was not followed by others is as good as none, if it is of this list.
bool set_membership::may_be_claimed(node_state const& n) const
{
    if (n.said.is == kind::none) return true;
    if (!set_ || n.said.is != kind::good || !n.fault.empty()) return false;
    if (n.said.record.id == set_->id) return false;
    return !is_complete(n.said.record.id) && n.said.record.is_of_same_list(*set_);
}

bool set_membership::is_claiming() const noexcept
{
    return std::any_of(nodes_.begin(), nodes_.end(), [](node_state const& n) { return n.claim == claim_is::awaited; });
}

// It carries the generation, and does not know that a majority has moved. An admission that is under way would begin anew with another text.
bool set_membership::is_unsure(node_state const& n) const noexcept
{
    return carries(n) && n.admitted && set_->counts.moved && !n.said.record.counts.moved;
}

std::vector<set_claim> set_membership::claims()
{
    std::vector<set_claim> all;
    if (!is_active() || list_refused_ || waits_for_facts()) return all;
    if (!set_ || !set_->complete) {
        found(all);
        return all;
    }
    bool const was_changed = set_->generation > 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        node_state& n = nodes_[i];
        bool const lacks = was_changed ? generation_.is_settled() && set_->has(settings_.members[i]) &&
                                             (n.said.is == kind::none || is_behind(i) || is_unsure(n))
                                       : may_be_claimed(n) || (carries(n) && !n.said.record.complete);
        if (!lacks || !n.can_be_claimed()) continue;
        n.claim = claim_is::awaited;
        bool const stays = was_changed && is_of_set(n) && set_->joined_in(settings_.members[i]) <= n.said.record.generation;
        all.push_back({i, n.server, n.text, to_text(*set_), stays});
    }
    return all;
}

// Clients write the record to one node after the other, in the order of the servers' ids, and only then say that it is complete. So of two lists that
// share a server at most one gets that far.
void set_membership::found(std::vector<set_claim>& to)
{
    if (!lists_all_members_) return;  // others may have their data
    bool const ready = std::all_of(nodes_.begin(), nodes_.end(),
                                   [](node_state const& n) { return n.can_be_claimed() && n.said.is != kind::hidden; });
    auto const admitted = std::count_if(nodes_.begin(), nodes_.end(), [](node_state const& n) { return n.admitted; });
    if (!ready || (admitted > 0 && static_cast<std::size_t>(admitted) < nodes_.size())) return;
    if (!set_) {
        set_record fresh;
        fresh.id = settings_.fresh_id();
        fresh.since = settings_.wall_clock() / 1'000'000;
        fresh.shard = settings_.shard;
        fresh.shards = settings_.shards;
        fresh.name = settings_.name;
        fresh.members = settings_.members;
        set_ = std::move(fresh);
    }
    std::vector<std::size_t> order(nodes_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) { return nodes_[a].server < nodes_[b].server; });
    auto const next = std::find_if(order.begin(), order.end(), [this](std::size_t i) { return !carries(nodes_[i]); });
    if (next != order.end()) {
        nodes_[*next].claim = claim_is::awaited;
        to.push_back({*next, nodes_[*next].server, nodes_[*next].text, to_text(*set_)});
        return;
    }
    set_->complete = true;
    for (std::size_t i : order) {
        nodes_[i].claim = claim_is::awaited;
        to.push_back({i, nodes_[i].server, nodes_[i].text, to_text(*set_)});
    }
}

}  // namespace redlock::quorum
