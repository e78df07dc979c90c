#include "core/admission/admission_picture.hpp"

#include "quorum/in_seconds.hpp"

#include <algorithm>
#include <string_view>

namespace redlock::detail {

namespace {

std::string of_nodes(std::size_t n, std::size_t all) { return std::to_string(n) + " of " + std::to_string(all) + " nodes"; }

constexpr std::string_view promoted = "it was promoted, or restarted with the data that it had stored";
constexpr std::string_view promoted_or_moved = "its server was promoted, was given its slot, or restarted with the data that it had stored";
constexpr std::string_view lost_or_new = "it is new, or lost its data";
constexpr std::string_view restarted = "it restarted, or lost its data";
constexpr std::string_view recovery = "; so did most nodes, so that all of these vote again together, with tokens from the wall clock";

}  // namespace

std::string admission_picture::text(quorum::time_point now) const
{
    auto left = in_seconds(std::max(quorum::duration::zero(), drained - now)) + " left until earlier leases have expired";
    if (started) left += " (its server has run for " + in_seconds(now - *started) + ")";
    std::string waits_for = silent.empty() ? "" : " (not connected: " + names_of(silent) + ")";
    if (!refused.empty()) waits_for += " (refused, which waiting does not change: " + names_of(refused) + ")";
    std::string_view const taken_over = is_shard ? promoted_or_moved : promoted;
    std::string const what_happened{is_another ? taken_over : is_empty ? lost_or_new : restarted};
    std::string const alone = not_carried.empty() ? "" : "; " + not_carried;
    switch (state) {
    case admission_state::admitted: return "";
    case admission_state::unknown: return "it is not connected, or has not said yet which data it has";
    case admission_state::not_primary:
        return "it is a replica, which would lose what its primary granted; waiting does not help: use independent primaries";
    case admission_state::unidentified:
        if (!why_unidentified.empty()) return why_unidentified;
        return "it does not tell whether it lost its data: allow +info +mget +time and the keys redlock:node and redlock:hw, rename none "
               "of these commands, or let a client that may use INFO admit it";
    case admission_state::uninitialized:
        if (!not_marked.empty())
            return std::string{is_another ? taken_over : lost_or_new} +
                   "; the wait until earlier leases have expired cannot begin: " + not_marked;
        return std::string{is_another ? taken_over : lost_or_new} +
               "; the wait until earlier leases have expired begins with the next lock";
    case admission_state::quarantined:
        if (nobody_remembers && !has_traces && !waits_for.empty())  // what the others have is not known
            return "no node that answers has data, so they are new, or lost it: " + left + waits_for + alone;
        if (nobody_remembers && !has_traces)
            return "no node has data, so this is a new set of nodes, or all lost their data: " + left +
                   (started || is_noted ? "" : "; for processes that end sooner, run redlock admit, or set config::quarantine_folder") +
                   alone;
        return what_happened + ": " + left + (recovers ? std::string{recovery} : nobody_remembers ? waits_for : "") + alone;
    case admission_state::catching_up:
        if (nobody_remembers && lacks_members)
            return "no node of this client's list has data, and the set has members that the list lacks: name all of them; if that set is "
                   "given up, start this client again" +
                   waits_for;
        if (nobody_remembers)
            return (has_traces ? "no node is admitted" : "no node has data") + std::string{"; a new beginning needs all of them"} +
                   waits_for;
        if (recovers) return what_happened + ": it has waited for earlier leases, and others have not" + std::string{recovery};
        return what_happened + ", and needs the token marks of " + of_nodes(needed, nodes) + "; " + of_nodes(admitted, nodes) +
               " have them" + waits_for;
    case admission_state::needs_operator:
        return of_nodes(nodes - admitted, nodes) +
               " restarted, were promoted, or lost their data since they were admitted, and the others are too few (" +
               std::to_string(needed) + " are needed) to admit them; " +
               (lacks_members ? "the set has members that this client's list lacks: name all of them"
                              : "to begin anew, delete the keys redlock:node and redlock:set on every node: they wait until "
                                "earlier leases have expired, and tokens go on from the wall clock");
    }
    return "";
}

std::string admission_picture::names_of(quorum::node_set const& some) const
{
    std::string text;
    for (std::size_t node = 0; node < nodes; ++node)
        if (some.has(node)) text += (text.empty() ? "" : ", ") + (*names)[node];
    return text;
}

}  // namespace redlock::detail
