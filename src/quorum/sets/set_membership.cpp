#include "quorum/sets/set_membership.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::quorum {

namespace {

using kind = set_text::kind;

constexpr char const* begin_anew = "; if the record is wrong, and no client uses that set, DEL redlock:node redlock:set on the server: it "
                                   "is quarantined, and then joins the others";

constexpr char const* use_one_list =
    "; use the same list of nodes in every client (redlock nodes show; docs/operations.md says how a set is changed)";

std::string count_of_nodes(std::size_t n) { return std::to_string(n) + (n == 1 ? " node" : " nodes"); }

std::string place_of(std::size_t shard, std::size_t shards)
{
    return shards == 0 ? "as no shard" : "as shard " + std::to_string(shard) + " of " + std::to_string(shards);
}

// A list with as many names as the set has members, or had at some time; then all of them must be known to it.
bool may_name(set_record const& r, std::vector<std::string> const& list)
{
    if (list.size() == r.members.size()) return true;
    return r.had(list.size()) && std::all_of(list.begin(), list.end(), [&](std::string const& m) { return r.knows(m); });
}

}  // namespace

set_membership::set_membership(set_settings settings)
    : settings_{std::move(settings)},
      nodes_{settings_.members.size()},
      voters_{settings_.members.size()},
      members_{node_set::all(settings_.members.size())}
{
}

void set_membership::on_facts(std::size_t node, node_facts const& facts, time_point asked, time_point now)
{
    if (!is_active()) return;
    node_state& n = nodes_[node];
    now_ = now;
    n.is = facts.master ? contact::primary : contact::replica;
    if (n.claim == claim_is::in_vain && (n.server != facts.id || n.text != facts.set)) n.claim = claim_is::possible;
    n.server = facts.id;
    n.admitted = !facts.id.empty() && facts.admitted == facts.id;
    // A replica has a copy of what its primary has, and is no node. Who may not ask for anything knows nothing.
    if (!facts.master || (facts.id.empty() && facts.set.empty())) return;
    auto const before = std::exchange(n.facts, facts_are::fresh);
    n.looked_at = false;
    n.asked = asked;
    n.max_ttl = facts.max_ttl;
    if (before == facts_are::fresh && n.text == facts.set && !is_undecided() && !is_apart(node)) return;
    bool const is_new = before == facts_are::unknown || n.text != facts.set;
    n.text = facts.set;
    n.said = read_set_text(n.text);
    // Nobody knows how old this is, and of a set that was changed it may be over.
    bool const is_of_changed_set = n.said.is == kind::good && n.said.record.generation > 0;
    if (asked == time_point{} && settings_.max_ttl > duration{} && is_of_changed_set) n.becomes_old();
    if (is_new) doubt_what_contradicts(node);
    judge();
}

void set_membership::on_gone(std::size_t node, bool rejected) noexcept
{
    if (!is_active()) return;
    node_state& n = nodes_[node];
    n.is = contact::away;
    n.looked_at = false;
    if (n.claim == claim_is::awaited) n.claim = claim_is::possible;
    if (!rejected) n.becomes_old();
}

// Servers that lost their data are founded anew by others. Who heard of it from one node has not heard of it from all, so records of the same list
// that contradict each other are read again before they count.
void set_membership::doubt_what_contradicts(std::size_t node)
{
    node_state& n = nodes_[node];
    n.fault = fault_of(n);
    if (!is_of_this_list(n)) return;
    for (node_state& each : nodes_)
        if (is_of_this_list(each) && each.said.record.id != n.said.record.id) each.becomes_old();
}

std::vector<std::size_t> set_membership::looks()
{
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        node_state& n = nodes_[i];
        bool const is_late = is_outrun_ && is_apart(i) && !is_of_this_moment(n);
        if (!n.is_connected() || n.looked_at || !(is_doubtful(n) || is_late)) continue;
        n.looked_at = true;
        all.push_back(i);
    }
    return all;
}

// Whether it has a record of the servers that this client names, by their addresses.
bool set_membership::is_of_this_list(node_state const& n) const noexcept
{
    return n.said.is == kind::good && n.fault.empty() &&
           std::all_of(settings_.members.begin(), settings_.members.end(), [&](std::string const& m) { return n.said.record.knows(m); });
}

bool set_membership::waits_for_facts() const noexcept
{
    return std::any_of(nodes_.begin(), nodes_.end(), [this](node_state const& n) { return n.is_connected() && is_doubtful(n); });
}

std::string set_membership::fault_of(set_record const& r) const
{
    if (!may_name(r, settings_.members))
        return "this server belongs to " + in_words(r) + ", and this client names " + count_of_nodes(settings_.members.size()) +
               use_one_list;
    if (!settings_.name.empty() && r.name.empty())
        return "this server belongs to " + in_words(r) + ", which was founded without a name, and this client's set_name is \"" +
               settings_.name + "\"; leave set_name out, or name the nodes that are meant";
    if (!settings_.name.empty() && r.name != settings_.name)
        return "this server belongs to " + in_words(r) + ", and this client's set_name is \"" + settings_.name +
               "\"; name the nodes that are meant, or correct set_name";
    if (r.shard != settings_.shard || r.shards != settings_.shards)
        return "this server belongs to " + in_words(r) + ", and this client uses it " + place_of(settings_.shard, settings_.shards) +
               "; config::shards must have the same sets in the same order in every client";
    return "";
}

std::string set_membership::fault_of(node_state const& n) const
{
    switch (n.said.is) {
    case kind::none:
    case kind::hidden: return "";
    case kind::too_new:
        return "a newer version of redlock has written which set this server belongs to (the key redlock:set), and this version cannot "
               "read "
               "that: update this client";
    case kind::foreign:
        return "the key redlock:set holds something that is no record of a set; if no other program uses this key, DEL redlock:node "
               "redlock:set "
               "on the server: it is quarantined, and then joins the others";
    case kind::good: return fault_of(n.said.record);
    }
    return "";
}

bool set_membership::is_complete(std::string const& id) const noexcept
{
    return std::any_of(nodes_.begin(), nodes_.end(), [&](node_state const& n) {
        return n.said.is == kind::good && n.fault.empty() && n.said.record.complete && n.said.record.id == id;
    });
}

// The complete set that most nodes are of. Where none is complete: the list that most claims are of, and of its claims the one with the smallest id, so that
// all clients of a list choose the same one. None: two have equally many.
void set_membership::choose_set()
{
    set_.reset();
    std::size_t most = 0;
    bool tie = false;
    auto const is_good = [](node_state const& n) { return n.said.is == kind::good && n.fault.empty(); };
    bool const some_are_fresh = std::any_of(nodes_.begin(), nodes_.end(),
                                            [&](node_state const& n) { return is_good(n) && !is_doubtful(n); });
    auto const counts = [&](node_state const& n) { return is_good(n) && !(some_are_fresh && is_doubtful(n)); };
    for (node_state const& n : nodes_) {
        if (!counts(n)) continue;
        auto const& r = n.said.record;
        bool const complete = is_complete(r.id);
        auto const is_alike = [&](node_state const& each) {
            if (!counts(each)) return false;
            auto const& other = each.said.record;
            return other.id == r.id || (!complete && !is_complete(other.id) && r.is_of_same_list(other));
        };
        auto const weight = static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), is_alike)) +
                            (complete ? nodes_.size() : 0);
        bool const same_list = set_ && !complete && !set_->complete && set_->is_of_same_list(r);
        if (set_ && (set_->id == r.id || (same_list && set_->id < r.id))) continue;
        if (weight < most) continue;
        if (weight > most) tie = false;
        else if (!same_list) tie = true;
        most = weight;
        set_ = r;
        set_->complete = complete;
    }
    if (tie) set_.reset();
    if (!set_) return;
    // What a server said before its connection was lost does not count: it may have lost its data.
    std::vector<set_record const*> carried, told;
    for (node_state const& n : nodes_) {
        if (!is_of_set(n)) continue;
        told.push_back(&n.said.record);
        auto const& r = n.said.record;
        if (r.generation == 0 || r.counts.moved || (!n.is_old() && is_of_this_moment(n))) carried.push_back(&r);
    }
    set_ = generation_.choose(*set_, carried);
    is_outrun_ = generation_.is_outrun_by(told);
    lists_all_members_ = members_in_list().size() >= set_->members.size();
    excuse_older_records();
}

// Whether it has not lost its data since, and been admitted to an older generation: that takes a drain.
bool set_membership::is_of_this_moment(node_state const& n) const noexcept
{
    auto shortest = settings_.max_ttl;
    for (node_state const& each : nodes_)
        if (each.max_ttl > duration{}) shortest = std::min(shortest, each.max_ttl);
    return shortest == duration{} || now_ - n.asked < shortest / 2;
}

// A member that has not moved yet says that the list is another one, where the set has grown or shrunk since.
void set_membership::excuse_older_records()
{
    if (!fault_of(*set_).empty()) return;
    for (node_state& n : nodes_)
        if (n.said.is == kind::good && n.said.record.id == set_->id && n.said.record.generation < set_->generation) n.fault.clear();
}

// Of a set that was never changed, all: a server may have another address than in the record, which is known only when it is met.
node_set set_membership::members_in_list() const noexcept
{
    if (set_->generation == 0) return node_set::all(nodes_.size());
    node_set members;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if ((is_member(i) || carries(nodes_[i])) && !has_left(i)) members.add(i);
    return members;
}

// A generation into which no majority was seen to move decides nothing: another one may be made of the one before.
void set_membership::count_voters()
{
    if (!set_) return;
    members_ = members_in_list();
    voters_ = {nodes_.size(), members_.size(), is_decided() ? majority(set_->size()) : nodes_.size() + 1};
}

bool set_membership::is_of_set(node_state const& n) const noexcept
{
    return set_ && n.said.is == kind::good && n.fault.empty() && n.said.record.id == set_->id;
}

bool set_membership::carries(node_state const& n) const noexcept
{
    return is_of_set(n) && n.said.record.is_same_generation(*set_) && !n.said.record.counts.is_of_leaver;
}

bool set_membership::is_apart(std::size_t node) const noexcept { return is_of_set(nodes_[node]) && !carries(nodes_[node]); }

// Of two commands that make one generation of different members, one has won: a node of the other follows.
bool set_membership::is_behind(std::size_t node) const noexcept
{
    return is_apart(node) && nodes_[node].said.record.generation <= set_->generation;
}

bool set_membership::has_left(std::size_t node) const noexcept
{
    if (!set_) return false;
    auto const& n = nodes_[node];
    bool const says_so = is_of_set(n) && n.said.record.counts.is_of_leaver && n.said.record.is_same_generation(*set_);
    return says_so || (!set_->has(settings_.members[node]) && set_->knows(settings_.members[node]));
}

std::string set_membership::why_apart(std::size_t node) const
{
    if (was_left_by(node)) return "this server has left the set";
    auto const& theirs = nodes_[node].said.record;
    if (theirs.counts.is_of_leaver) return "this server has left its set, and no other node has told yet which members that has now";
    std::string const text = "this server's record is of generation " + std::to_string(theirs.generation) +
                             " of its set, and other nodes of this client's list are in generation " + std::to_string(set_->generation);
    if (is_behind(node) && is_decided()) return text + ": it follows in a moment";
    return text + ": a change of the set was begun; if it does not go on, run the command again that changes it (redlock nodes show)";
}

// By its address, or because this client has found it to be one.
bool set_membership::is_member(std::size_t node) const noexcept
{
    auto const& before = nodes_[node].carried;
    return set_->has(settings_.members[node]) || (before && before->is_same_generation(*set_));
}

void set_membership::object_to_all(std::string const& why)
{
    for (node_state& n : nodes_) {
        bool const is_asked_again = n.is_connected() && is_doubtful(n);
        n.objection = is_asked_again ? "" : n.fault.empty() ? why : n.fault;
    }
}

// Why no node has a vote, with `set_` or without; empty: some may have.
std::string set_membership::why_all_are_refused() const
{
    bool const any = std::any_of(nodes_.begin(), nodes_.end(),
                                 [](node_state const& n) { return n.said.is != kind::none && n.said.is != kind::hidden; });
    if (!any) return "";
    // What is no record tells nothing of other nodes, unless a set is known that the server should be of. So one server that answers anything costs its own
    // vote only.
    auto const is_foreign = [](node_state const& n) { return n.said.is == kind::foreign; };
    auto const foreign = static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), is_foreign));
    bool const foreign_are_few = !set_ && foreign <= nodes_.size() - majority(nodes_.size());
    std::string what;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        node_state const& n = nodes_[i];
        if (foreign_are_few && is_foreign(n)) continue;
        if (!n.has_told() || n.said.is == kind::hidden || is_doubtful(n) || (is_of_this_list(n) && waits_for_facts()) || carries(n) ||
            (n.said.is != kind::none && may_be_claimed(n)) || is_apart(i) || (set_ && has_left(i)))
            continue;
        bool const has_record = n.said.is != kind::none;
        if (set_ && is_member(i) && (set_->complete || !has_record)) continue;
        if (!n.fault.empty()) return "this client's list of nodes is another one, as " + settings_.members[i] + " says: " + n.fault;
        if (!what.empty()) continue;
        if (set_ && !is_member(i))
            what = settings_.members[i] + " is not a member of " + in_words(*set_) + ", to which other nodes of this client's list belong" +
                   use_one_list;
        else if (has_record)
            what = "the nodes of this client's list belong to different sets: " + settings_.members[i] + " to " + in_words(n.said.record) +
                   "; a set was founded twice, or the list is wrong" + begin_anew;
    }
    if (what.empty() && set_ && generation_.is_settled() && members_.size() < majority(set_->size()))
        return "this client names " + count_of_nodes(members_.size()) + " of " + in_words(*set_) + ", which are no majority" + use_one_list;
    return what;
}

// Whether some node is of a set with other members than the list has. Behind a claim that nobody has completed there are no data.
bool set_membership::names_others() const
{
    auto const is_in_list = [this](std::string const& m) {
        return std::find(settings_.members.begin(), settings_.members.end(), m) != settings_.members.end();
    };
    return std::any_of(nodes_.begin(), nodes_.end(), [&](node_state const& n) {
        auto const& members = n.said.record.members;
        return n.said.is == kind::good && n.said.record.complete && !std::all_of(members.begin(), members.end(), is_in_list);
    });
}

void set_membership::judge()
{
    for (node_state& n : nodes_) {
        n.objection.clear();
        n.fault = fault_of(n);
    }
    choose_set();
    count_voters();
    for (node_state& n : nodes_)
        if (carries(n)) n.carried = set_;
    auto const why = why_all_are_refused();
    list_refused_ = !why.empty();
    if (list_refused_) {
        lists_all_members_ = lists_all_members_ && !names_others();
        return object_to_all(why);
    }
    if (!set_) {
        for (node_state& n : nodes_) n.objection = n.fault;
        return;
    }
    // The list is right. A member that was given to another set has no vote.
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        node_state& n = nodes_[i];
        if (n.has_told() && was_left_by(i)) {
            n.objection = "this server has left the set: the nodes of this client's list belong to " + in_words(*set_) +
                          "; take it out of the list (redlock nodes show)";
            continue;
        }
        if (n.said.is == kind::none || n.said.is == kind::hidden || carries(n) || may_be_claimed(n) || is_apart(i)) continue;
        if (is_doubtful(n) || (is_of_this_list(n) && waits_for_facts())) continue;
        n.objection = !n.fault.empty() ? n.fault
                                       : "this server belongs to " + in_words(n.said.record) + ", and the other nodes of this list to " +
                                             in_words(*set_) + begin_anew;
    }
}

bool set_membership::may_be_admitted(std::size_t node) const noexcept
{
    if (!is_active()) return true;
    node_state const& n = nodes_[node];
    if (list_refused_ || !n.objection.empty()) return false;
    auto const is_hidden = [](node_state const& each) { return each.said.is == kind::hidden; };
    if (is_hidden(n)) return true;
    if (set_ && set_->complete) return carries(n) && n.said.record.complete && is_decided();
    // Where the records of an older version are in use, or nobody can write a set's, nodes are admitted as they were before there were sets.
    return std::any_of(nodes_.begin(), nodes_.end(),
                       [&](node_state const& each) { return is_hidden(each) || (&each != &n && each.admitted); });
}

bool set_membership::is_to_be_looked_at(std::size_t node) const noexcept
{
    if (!is_active()) return false;
    node_state const& n = nodes_[node];
    bool const settled = n.said.is == kind::hidden || (n.said.is == kind::good && n.said.record.complete && !is_doubtful(n));
    return n.is == contact::primary && (!settled || is_apart(node) || is_undecided());
}

}  // namespace redlock::quorum
