#include "cli/doctor/doctor_set.hpp"

#include "cli/doctor/doctor_admission.hpp"
#include "quorum/sets/left_set.hpp"

#include <string>
#include <utility>

namespace redlock::cli {

namespace {

constexpr char const* take_it_out = "take it out of the list before the set is changed again (redlock nodes show)";

finding about_one_that_left(set_view const& v)
{
    auto const what = v.objection.empty() ? std::string{quorum::has_left_the_set} : v.objection.substr(0, v.objection.find("; "));
    return {
        severity::warning, v.node,
        what +
            "; clients with this list get locks without it, until the set has changed so much that its members in the list are no majority",
        take_it_out};
}

}  // namespace

std::vector<set_view> sets_of(std::vector<doctor_probe> const& nodes)
{
    std::vector<set_view> all;
    for (doctor_probe const& n : nodes) all.push_back({n.node, n.problem, n.set});
    return all;
}

set_words words_of_set(std::vector<doctor_probe> const& nodes, config const& settings) { return words_of_set(sets_of(nodes), settings); }

std::vector<bool> who_left(std::vector<doctor_probe> const& nodes, config const& settings)
{
    auto sets = sets_of(nodes);
    judge_sets(sets, settings);
    std::vector<bool> left;
    for (set_view const& v : sets) left.push_back(v.has_left);
    return left;
}

std::vector<finding> diagnose_set(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock)
{
    auto sets = sets_of(nodes);
    judge_sets(sets, settings);
    std::vector<finding> found;
    std::vector<doctor_probe> members;
    bool are_of_this_set = true;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        set_view const& v = sets[i];
        if (v.has_left) {
            found.push_back(about_one_that_left(v));
            continue;
        }
        members.push_back(nodes[i]);
        are_of_this_set = are_of_this_set && v.objection.empty();
        auto const end = v.objection.find("; ");
        if (!v.objection.empty())
            found.push_back({severity::danger, v.node, v.objection.substr(0, end),
                             end == std::string::npos ? "see redlock nodes show" : v.objection.substr(end + 2)});
        else if (v.problem.empty() && v.is_forbidden() && lock.fencing)
            found.push_back({severity::warning, v.node,
                             "its user may not read which set of nodes the server belongs to, so that a client with another list of nodes "
                             "would not be noticed",
                             "allow the key: ACL SETUSER ... ~redlock:set"});
    }
    // If they are not, nothing follows from which of them have their data: others are the members.
    if (!are_of_this_set) return found;
    for (finding& f : diagnose_admission(members, settings, lock)) found.push_back(std::move(f));
    return found;
}

}  // namespace redlock::cli
