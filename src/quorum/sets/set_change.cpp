#include "quorum/sets/set_change.hpp"

#include "quorum/votes.hpp"

#include <algorithm>
#include <utility>

namespace redlock::quorum {

namespace {

constexpr std::size_t min_members = 3;  // of fewer no majority stays
constexpr token_number tokens_end = (token_number{1} << 53) - 1;  // scripts count in doubles

std::optional<set_record> record_of(server_view const& s)
{
    if (!s.facts) return std::nullopt;
    auto said = read_set_text(s.facts->set);
    if (said.is != set_text::kind::good || !said.record.complete) return std::nullopt;
    said.record.counts.is_of_leaver = false;
    return std::move(said.record);
}

bool shows_its_id(server_view const& s) { return s.facts && s.facts->master && !s.facts->id.empty(); }
bool is_admitted(server_view const& s) { return shows_its_id(s) && s.facts->admitted == s.facts->id; }

// The id of the server without the generation that its record names.
std::string server_of(node_facts const& f) { return f.id.substr(binding_in(f.set).size()); }

// Its id begins with "kKKK:" then (protocol/server_id.hpp). No replication id has a 'k'.
bool waits_for_replicas(node_facts const& f) { return server_of(f).starts_with('k'); }

server_view const* find(std::vector<server_view> const& all, std::string const& member)
{
    auto const found = std::find_if(all.begin(), all.end(), [&](server_view const& s) { return s.member == member; });
    return found == all.end() ? nullptr : &*found;
}

// How many of `wanted` can join a set with this N at once, so that its present members without one can tell those that join what they have to know, and all
// of them are a majority of the larger N. One node alone is no majority of two.
std::size_t may_join_at_once(std::size_t n, std::size_t wanted) { return std::min(wanted, n > 2 ? n - 2 : 1); }

set_record changed(set_record const& r, std::string const& leaves, std::vector<std::string> const& join)
{
    if (r.is_open()) return closed(r);
    if (leaves.empty()) return with_members_added(r, join);
    return join.empty() ? with_member_removed(r, leaves) : with_member_replaced(r, leaves, join.front());
}

// Whether `next` is what a command makes of `r`.
bool is_next_of(set_record const& r, set_record const& next)
{
    if (next.id != r.id || next.generation != r.generation + 1) return false;
    std::string leaves;
    std::vector<std::string> join;
    for (std::string const& m : next.members)
        if (next.joined_in(m) == next.generation) join.push_back(m);
    for (std::string const& m : r.members)
        if (!next.has(m)) leaves = m;
    if (!r.is_open() && leaves.empty() && join.empty()) return false;
    return changed(r, leaves, join).is_same_generation(next);
}

}  // namespace

// 1. find_set: the generation that counts now (before_).
// 2. choose_next: the one that comes after it, begun by another command or wanted by this one (after_).
// 3. bring_along: members that are behind get before_ first. If there are any, after_ is before_, and that is all.
// 4. list_steps: which members get after_.
set_change::set_change(views const& all, wanted_change const& wanted)
{
    find_set(all);
    if (refused_ != refusal::none) return;
    choose_next(all, wanted);
    // A generation that has won is finished also where the next one is refused.
    auto const refused = std::exchange(refused_, refusal::none);
    if (refused != refusal::none) after_ = before_;
    bring_along(all);
    if (steps_.empty()) refused_ = refused;
    if (refused_ != refusal::none) return;
    if (steps_.empty() && !before_->is_same_generation(*after_)) list_steps(all, wanted);
}

// Whether the members that stay are too few to decide anything, even if all of them are there.
bool set_change::ends_leases() const { return before_->members.size() < majority(after_->size()); }

std::vector<std::string> set_change::joining() const
{
    std::vector<std::string> all;
    for (auto const& member : after_->members)
        if (!before_->is_same_generation(*after_) && after_->joined_in(member) == after_->generation) all.push_back(member);
    return all;
}

std::string set_change::why_too_few(views const& all, wanted_change const& wanted) const
{
    if (ends_leases() && !wanted.may_end_leases)
        return "leases that are held now would end, and nobody would get a lock until " + list_of(joining()) +
               " may vote, which takes as long as the longest lease: " + in_words(*before_) + " would have " +
               std::to_string(after_->size()) + " nodes, of which a majority is " + std::to_string(majority(after_->size())) +
               "; if that may be, run the same command with --end-leases";
    std::string text = "of the members (" + list_of(before_->members) + ") only " + std::to_string(moved_ + steps_.size()) +
                       " answer and have a vote on locks with fencing, " + std::to_string(stay_) + " of them stay, and " +
                       std::to_string(needed_) + " have to move, " + std::to_string(majority(after_->size())) +
                       " of them that stay; start the others, ";
    // It has moved, and its clients have not: neither can admit it.
    for (auto const& member : after_->members) {
        auto const* const s = find(all, member);
        auto const r = s ? record_of(*s) : std::nullopt;
        if (r && !is_admitted(*s) && r->is_same_generation(*after_))
            text += "DEL redlock:node redlock:set on " + member + ", which lost its data after it had moved, ";
    }
    // N counts one that has left, so fewer can admit each other.
    if (before_->is_open()) text += "DEL redlock:node on every member if redlock admit says that the others are too few to admit them, ";
    return text + "run redlock admit, and then this command again";
}

void set_change::choose_next(views const& all, wanted_change const& wanted)
{
    bool const has_left = !wanted.leaves.empty() && !before_->has(wanted.leaves) && before_->knows(wanted.leaves);
    bool const has_joined = std::all_of(wanted.join.begin(), wanted.join.end(), [this](auto const& each) { return before_->has(each); });
    find_begun_change(all);
    bool const is_begun = begun_ || before_->is_open();
    if (has_left && !has_joined && !is_begun)
        return refuse(refusal::outrun, wanted.leaves + " has left the set already, and " + list_of(wanted.join) +
                                           " did not take its place: the nodes belong to " + in_words(*before_));
    find_unknown_members(all);
    if (refused_ != refusal::none) return;
    if (is_begun) after_ = begun_ ? begun_ : closed(*before_);
    else if (has_joined && (has_left || wanted.leaves.empty())) after_ = before_;
    else if (allows(all, wanted)) {
        auto join = wanted.join;
        if (wanted.leaves.empty()) {
            std::erase_if(join, [this](auto const& each) { return before_->has(each); });
            join.resize(may_join_at_once(before_->size(), join.size()));
        }
        after_ = changed(*before_, wanted.leaves, join);
    } else return;
    finishes_another_ = is_begun && !is_done(wanted);
}

// Whether after() is what is wanted, or a part of it.
bool set_change::is_done(wanted_change const& wanted) const
{
    bool const has_left = wanted.leaves.empty() ? !wanted.join.empty() : !after_->has(wanted.leaves);
    auto const joining = this->joining();
    auto const is_wanted = [&](auto const& each) { return std::find(wanted.join.begin(), wanted.join.end(), each) != wanted.join.end(); };
    return has_left && std::all_of(joining.begin(), joining.end(), is_wanted) && (wanted.join.empty() || !joining.empty());
}

void set_change::refuse(refusal what, std::string why)
{
    refused_ = what;
    why_ = std::move(why);
    steps_.clear();
}

// Whether a majority of the generation before has moved into that of `r`.
bool set_change::has_majority(views const& all, set_record const& r) const
{
    std::size_t carriers = 0;
    for (server_view const& each : all) {
        auto const theirs = record_of(each);
        if (!theirs || !theirs->is_same_generation(r)) continue;
        if (theirs->counts.moved) return true;
        if (r.has(each.member) || r.size_before() > r.members.size()) ++carriers;
    }
    return carriers >= majority(r.size_before());
}

// The newest generation into which a majority of the one before has moved, or from which somebody has begun another, since a command begins none before.
// Without one, the first generation, if any carries it; or what the newest tells of the one before.
void set_change::find_set(views const& all)
{
    std::optional<set_record> oldest, newest;
    for (server_view const& s : all) {
        auto const r = record_of(s);
        if (!r || !(r->has(s.member) || r->generation > 0)) continue;
        if (oldest && oldest->id != r->id)
            return refuse(refusal::request, "these servers belong to different sets: " + in_words(*oldest) + ", and " + in_words(*r) +
                                                "; name the nodes of one set (redlock nodes show)");
        if (!oldest || r->generation < oldest->generation) oldest = r;
        if (!newest || r->generation > newest->generation) newest = r;
        if ((!before_ || r->generation > before_->generation) && has_majority(all, *r)) before_ = r;
    }
    if (!oldest)
        return refuse(refusal::too_few,
                      "no server has a record of its set: run redlock admit with the present list of nodes, which writes it");
    for (server_view const& s : all) {
        auto const r = record_of(s);
        if (r && r->has(s.member) && is_next_of(*r, *newest) && (!before_ || before_->generation < r->generation)) before_ = r;
    }
    if (!before_ && oldest->generation == 0) before_ = oldest;
    // Nobody has the record of the generation in which the newest was begun any more.
    if (!before_ || newest->generation > before_->generation + 1) before_ = generation_before(*newest);
}

void set_change::find_unknown_members(views const& all)
{
    for (auto const& member : before_->members)
        if (!find(all, member))
            return refuse(refusal::request, member + " is a member of " + in_words(*before_) +
                                                ", and this command does not know it: give it all nodes of the set, with the addresses of "
                                                "the record");
}

// Of several, the one that more members can still follow. Clients follow one only when it has a majority.
void set_change::find_begun_change(views const& all)
{
    std::size_t most = 0;
    for (server_view const& s : all) {
        auto const r = record_of(s);
        if (!r || r->generation != before_->generation + 1) continue;
        auto const can_follow = [&](server_view const& each) {
            auto const theirs = record_of(each);
            bool const moves = r->has(each.member) || (r->members.size() < before_->members.size() && before_->has(each.member));
            return theirs && moves && (theirs->is_same_generation(*r) || theirs->is_same_generation(*before_));
        };
        auto const followers = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), can_follow));
        if (followers > most) most = followers, begun_ = r;
    }
}

// Refuses a change that makes no sense for this set.
bool set_change::allows(views const& all, wanted_change const& wanted)
{
    auto const& leaves = wanted.leaves;
    auto const n = before_->members.size();
    auto const is_new = [this](auto const& each) { return !before_->has(each); };
    auto const new_ones = static_cast<std::size_t>(std::count_if(wanted.join.begin(), wanted.join.end(), is_new));
    if (!leaves.empty() && !wanted.join.empty() && n < min_members)
        refuse(refusal::request,
               in_words(*before_) + " has fewer than " + std::to_string(min_members) +
                   " members, so no majority stays: add the new server (redlock nodes grow), and then let the other one leave (redlock "
                   "nodes shrink)");
    else if (!leaves.empty() && !before_->has(leaves))
        refuse(refusal::request, leaves + " is no member of " + in_words(*before_) + "; name one of these");
    else if (!leaves.empty() && wanted.join.empty() && n == 1)
        refuse(refusal::request, leaves + " is the only member of " + in_words(*before_));
    else if (leaves.empty() && n + new_ones > max_nodes)
        refuse(refusal::request,
               in_words(*before_) + " would have more than " + std::to_string(max_nodes) + " members, which no client can use");
    for (auto const& each : wanted.join) {
        if (refused_ != refusal::none) break;
        if (before_->has(each)) {
            if (leaves.empty()) continue;  // of several, it has joined already
            refuse(refusal::request, each + " is a member already, of " + in_words(*before_) + "; name a new server");
        } else if (auto why = objection_to_joining(all, *find(all, each)); !why.empty()) refuse(refusal::request, each + ' ' + why);
    }
    return refused_ == refusal::none;
}

std::string set_change::objection_to_joining(views const& all, server_view const& joins) const
{
    if (!joins.facts) return "does not answer: " + joins.problem + "; it has not joined. Start it, and run this command again";
    auto const& f = *joins.facts;
    if (!f.master) return "is a replica; use an independent primary";
    if (f.id.empty()) return "does not show its replication id: its user needs INFO, as redlock doctor says";
    auto const said = read_set_text(f.set);
    if (said.is == set_text::kind::hidden) return "does not let this user read redlock:set (ACL SETUSER ... ~redlock:set)";
    bool const was_here = said.is == set_text::kind::good && said.record.id == before_->id;
    if (said.is != set_text::kind::none && !was_here)
        return (said.is == set_text::kind::good ? "belongs to " + in_words(said.record) : "has a record of a set that is not readable") +
               "; if no client uses that set, DEL redlock:node redlock:set on the server, and run this command again";
    for (server_view const& each : all)
        if (&each != &joins && each.facts && server_of(*each.facts) == server_of(f))
            return "is the same server as " + each.member + "; each node needs a server of its own";
    return {};
}

// Members that are admitted move. Of an even set, half may do, beside members that lost their data: these move as well then, without their admission, so
// that nobody admits them to the generation of before.
void set_change::list_steps(views const& all, wanted_change const& wanted)
{
    needed_ = majority(before_->size());
    bool const shrinks = after_->members.size() < before_->members.size();
    auto const text = to_text(*after_);
    auto of_leaver = *after_;
    of_leaver.counts.is_of_leaver = true;
    std::vector<step> of_lost;
    for (auto const& member : before_->members) {
        bool const stays = after_->has(member);
        if (!stays && !shrinks) continue;  // the member that is replaced
        auto const* const s = find(all, member);
        if (!s || !shows_its_id(*s)) continue;
        auto const r = record_of(*s);
        bool const is_of_before = r && r->is_same_generation(*before_);
        step const moves{static_cast<std::size_t>(s - all.data()), s->facts->id, s->facts->set, stays ? text : to_text(of_leaver),
                         stays && is_admitted(*s)};
        if (is_of_before && waits_for_replicas(*s->facts))
            return refuse(refusal::request, member + " is a group of servers, or counts acknowledgements of replicas: such a set cannot "
                                                     "be changed yet; see docs/operations.md, \"Changing the set\"");
        longest_ttl_ = std::max(longest_ttl_, s->facts->max_ttl);
        // A member that a rival has moved follows this change when it has its majority.
        bool const follows = r && r->id == after_->id && r->generation == after_->generation;
        if (stays && is_admitted(*s) && (is_of_before || follows)) ++stay_;
        if (r && r->is_same_generation(*after_)) ++moved_;
        else if (is_of_before && is_admitted(*s)) steps_.push_back(moves);
        else if (!is_admitted(*s) && (s->facts->set.empty() || (r && r->id == after_->id && r->generation < after_->generation)))
            of_lost.push_back(moves);
    }
    if (before_->size() % 2 == 0 && moved_ + steps_.size() == before_->size() / 2)
        steps_.insert(steps_.end(), of_lost.begin(), of_lost.end());
    bool const can_move = moved_ + steps_.size() >= needed_;
    // What was begun goes on also where votes are too few until a member that lost its data is admitted, if the others can admit it.
    std::size_t const needed_to_stay = begun_ ? (after_->size() + 1) / 2 : majority(after_->size());
    bool const can_decide = stay_ >= needed_to_stay || (wanted.may_end_leases && ends_leases());
    if (!can_move || !can_decide) return refuse(refusal::too_few, why_too_few(all, wanted));
    if (closes()) read_marks(all, wanted);
}

// Members that have not moved with the others do so first: of a set that has become smaller, all may be needed. A client whose list lacks members, or
// that meets half of an even set, cannot count a majority, so members say that one has moved.
void set_change::bring_along(views const& all)
{
    auto present = *before_;
    present.counts.moved = present.generation > 0;
    bool const is_settled = has_majority(all, present);
    auto const text = to_text(present);
    for (auto const& member : present.members) {
        auto const* const s = find(all, member);
        auto const r = s && is_admitted(*s) ? record_of(*s) : std::nullopt;
        if (!r || r->id != present.id || r->generation > present.generation || s->facts->set == text) continue;
        bool const is_behind = !r->is_same_generation(present) && present.joined_in(member) <= r->generation;
        bool const is_unsure = r->is_same_generation(present) && present.counts.moved && !r->counts.moved;
        if (is_settled && (is_behind || is_unsure))
            steps_.push_back({static_cast<std::size_t>(s - all.data()), s->facts->id, s->facts->set, text, true});
    }
    if (!steps_.empty() || before_->is_same_generation(*after_)) moved_ = needed_ = majority(before_->size_before());
    if (!steps_.empty()) after_ = std::move(present);
}

// What any majority of the larger N has confirmed is known to one of ceil(N/2).
void set_change::read_marks(views const& all, wanted_change const& wanted)
{
    std::size_t read = 0;
    for (auto const& member : before_->members) {
        auto const* const s = find(all, member);
        bool const is_intact = s && is_admitted(*s);
        if (!is_intact) continue;
        if (s->facts->high_water >= tokens_end)
            return refuse(refusal::request, member +
                                                " has a number in redlock:hw that is no token: correct it, or DEL redlock:node redlock:hw "
                                                "on the server, which is quarantined then");
        ++read;
        base_ = std::max(base_, s->facts->high_water);
    }
    if (read < (before_->size() + 1) / 2) refuse(refusal::too_few, why_too_few(all, wanted));
}

duration max_look_time(std::vector<server_view> const& all, duration max_ttl, double clock_drift) noexcept
{
    for (server_view const& s : all)
        if (s.facts && s.facts->max_ttl > duration{}) max_ttl = std::min<duration>(max_ttl, s.facts->max_ttl);
    return drain_of(max_ttl, clock_drift) / 2;
}

time_point open_drain::ends(set_change const& plan, duration max_ttl, double clock_drift, time_point now) noexcept
{
    if (generation_ != plan.before().generation) {
        generation_ = plan.before().generation;
        seen_ = now;
    }
    return seen_ + drain_of(std::max(plan.longest_ttl(), max_ttl), clock_drift);
}

}  // namespace redlock::quorum
