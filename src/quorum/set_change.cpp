#include "quorum/set_change.hpp"

#include "quorum/votes.hpp"

#include <algorithm>
#include <utility>

namespace redlock::quorum {

namespace {

constexpr std::size_t members_min = 3;  // of fewer no majority stays

std::optional<set_record> record_of(server_view const& s)
{
    if (!s.facts) return std::nullopt;
    auto said = read_set_text(s.facts->set);
    if (said.is != set_text::kind::good || !said.record.complete) return std::nullopt;
    return std::move(said.record);
}

bool is_admitted(server_view const& s) { return s.facts && s.facts->master && !s.facts->id.empty() && s.facts->admitted == s.facts->id; }

// The id of the server without the generation that its record names. Of a group or a cluster it has another beginning.
std::string server_of(node_facts const& f) { return f.id.substr(binding_in(f.set).size()); }

server_view const* find(std::vector<server_view> const& all, std::string const& member)
{
    auto const found = std::find_if(all.begin(), all.end(), [&](server_view const& s) { return s.member == member; });
    return found == all.end() ? nullptr : &*found;
}

// Whether `next` is what a command makes of `r`.
bool is_next_of(set_record const& r, set_record const& next)
{
    if (next.id != r.id || next.generation != r.generation + 1 || next.members.size() != r.members.size() || next.left.empty())
        return false;
    for (std::size_t i = 0; i < r.members.size(); ++i) {
        bool const joins = next.joined_in(next.members[i]) == next.generation;
        if (r.members[i] != (joins ? next.left.back() : next.members[i])) return false;
    }
    return true;
}

std::string list_of(std::vector<std::string> const& members)
{
    std::string text;
    for (auto const& m : members) text += (text.empty() ? "" : ", ") + m;
    return text;
}

}  // namespace

set_change::set_change(std::vector<server_view> const& all, std::string const& leaves, std::string const& joins)
{
    find_set(all);
    if (refused_ != refusal::none) return;
    choose_next(all, leaves, joins);
    if (refused_ != refusal::none) return;
    list_steps(all);
    if (refused_ == refusal::none && moved_ + steps_.size() < needed_) refuse(refusal::too_few, why_too_few(all));
}

std::string set_change::why_too_few(std::vector<server_view> const& all) const
{
    std::string text = "of the members that stay (" + list_of(after_->members) + ") only " + std::to_string(moved_ + steps_.size()) +
                       " answer and have a vote on locks with fencing, and " + std::to_string(needed_) + " have to; start the others, ";
    // It has moved, and its clients have not: neither can admit it.
    for (auto const& member : after_->members) {
        auto const* const s = find(all, member);
        auto const r = s ? record_of(*s) : std::nullopt;
        if (r && !is_admitted(*s) && r->is_same_generation(*after_) && !before_->is_same_generation(*after_))
            text += "DEL redlock:node redlock:set on " + member + ", which lost its data after it had moved, ";
    }
    return text + "run redlock admit, and then this command again";
}

void set_change::choose_next(std::vector<server_view> const& all, std::string const& leaves, std::string const& joins)
{
    bool const has_left = !before_->has(leaves) && before_->knows(leaves);
    bool const is_done = has_left && before_->has(joins);
    if (has_left && !is_done)
        return refuse(refusal::outrun, leaves + " has left the set already, and " + joins +
                                           " did not take its place: the nodes belong to " + in_words(*before_));
    find_unknown_members(all);
    if (refused_ != refusal::none) return;
    find_begun_change(all);
    bool const is_begun = begun_ && begun_->has(joins) && !begun_->has(leaves);
    if (begun_) after_ = begun_;
    else if (is_done) after_ = before_;
    else if (is_new_change_possible(all, leaves, joins)) after_ = with_member_replaced(*before_, leaves, joins);
    else return;
    finishes_another_ = begun_ && !is_begun;
}

void set_change::refuse(refusal what, std::string why)
{
    refused_ = what;
    why_ = std::move(why);
    steps_.clear();
}

// The newest generation that a majority of its own members carries, or from which somebody has begun another, since a command begins none before. Without
// one, the oldest that any carries: a change of it was begun, and did not get far.
void set_change::find_set(std::vector<server_view> const& all)
{
    std::optional<set_record> oldest, newest;
    for (server_view const& s : all) {
        auto const r = record_of(s);
        if (!r || !r->has(s.member)) continue;
        auto const carries = [&](server_view const& each) {
            auto const theirs = record_of(each);
            return theirs && theirs->is_same_generation(*r) && r->has(each.member);
        };
        auto const carriers = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), carries));
        if (oldest && oldest->id != r->id)
            return refuse(refusal::request, "these servers belong to different sets: " + in_words(*oldest) + ", and " + in_words(*r) +
                                                "; name the nodes of one set (redlock nodes show)");
        if (!oldest || r->generation < oldest->generation) oldest = r;
        if (!newest || r->generation > newest->generation) newest = r;
        if (carriers >= majority(r->members.size()) && (!before_ || r->generation > before_->generation)) before_ = r;
    }
    if (!oldest)
        return refuse(refusal::too_few,
                      "no server has a record of its set: run redlock admit with the present list of nodes, which writes it");
    for (server_view const& s : all) {
        auto const r = record_of(s);
        if (r && r->has(s.member) && is_next_of(*r, *newest) && (!before_ || before_->generation < r->generation)) before_ = r;
    }
    if (!before_) before_ = oldest;
}

void set_change::find_unknown_members(std::vector<server_view> const& all)
{
    for (auto const& member : before_->members)
        if (!find(all, member))
            return refuse(refusal::request, member + " is a member of " + in_words(*before_) +
                                                ", and this command does not know it: give it all nodes of the set, with the addresses of "
                                                "the record");
}

// Of several, the one that more members can still follow. Clients follow one only when it has a majority.
void set_change::find_begun_change(std::vector<server_view> const& all)
{
    std::size_t most = 0;
    for (server_view const& s : all) {
        auto const r = record_of(s);
        if (!r || r->generation != before_->generation + 1) continue;
        auto const can_follow = [&](server_view const& each) {
            auto const theirs = record_of(each);
            return theirs && r->has(each.member) && (theirs->is_same_generation(*r) || theirs->is_same_generation(*before_));
        };
        auto const followers = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), can_follow));
        if (followers > most) most = followers, begun_ = r;
    }
}

bool set_change::is_new_change_possible(std::vector<server_view> const& all, std::string const& leaves, std::string const& joins)
{
    if (before_->members.size() < members_min)
        refuse(refusal::request,
               in_words(*before_) + " has fewer than " + std::to_string(members_min) +
                   " members, so no majority stays: move it with a pause instead (docs/operations.md, \"Changing the set\")");
    else if (!before_->has(leaves)) refuse(refusal::request, leaves + " is no member of " + in_words(*before_) + "; name one of these");
    else if (before_->has(joins))
        refuse(refusal::request, joins + " is a member already, of " + in_words(*before_) + "; name a new server");
    else if (auto why = objection_to_joining(all, *find(all, joins)); !why.empty()) refuse(refusal::request, joins + ' ' + why);
    return refused_ == refusal::none;
}

std::string set_change::objection_to_joining(std::vector<server_view> const& all, server_view const& joins) const
{
    if (!joins.facts) return "does not answer: " + joins.problem + "; nothing was changed. Start it, and run this command again";
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

void set_change::list_steps(std::vector<server_view> const& all)
{
    needed_ = majority(before_->members.size());
    auto const text = to_text(*after_);
    for (auto const& member : after_->members) {
        if (after_->joined_in(member) == after_->generation) continue;  // it joins, or would have been a member before
        auto const* const s = find(all, member);
        if (!s || !is_admitted(*s)) continue;
        auto const r = record_of(*s);
        if (r && r->is_same_generation(*after_)) ++moved_;
        else if (r && r->is_same_generation(*before_)) {
            if (server_of(*s->facts).starts_with('k'))
                return refuse(refusal::request, member +
                                                    " is a group of servers, or counts acknowledgements of replicas: such a set cannot "
                                                    "be changed yet; see docs/operations.md, \"Changing the set\"");
            steps_.push_back({static_cast<std::size_t>(s - all.data()), s->facts->id, s->facts->set, text});
        }
    }
    // Nothing has to be moved any more: those that are behind follow by themselves.
    if (before_->is_same_generation(*after_)) moved_ = needed_, steps_.clear();
}

}  // namespace redlock::quorum
