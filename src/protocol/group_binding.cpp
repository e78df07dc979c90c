#include "protocol/group_binding.hpp"

#include "protocol/server_id.hpp"

#include <cstddef>
#include <utility>

namespace redlock::detail {

namespace {

constexpr std::size_t digits_of_number = 3;  // of K and of S

std::string part(char letter, std::uint16_t value)
{
    if (value == 0) return {};
    auto const number = std::to_string(value);
    return letter + std::string(digits_of_number - number.size(), '0') + number + ':';
}

}  // namespace

std::string group_binding::id_of(std::string_view replication_id) const
{
    auto id = part('k', replicas_) + part('c', shards_);
    id += replication_id;
    if (!replication_id.empty() && replicas_ > 0) id.resize(bound_id_size);
    return replication_id.empty() ? std::string{} : id;
}

// Why the records that other clients have made are not for this client; empty: they are, or there are none.
std::string group_binding::objection_to(quorum::node_facts const& facts) const
{
    std::string_view const admitted = facts.admitted;
    if (replicas_ > 0 && is_of_generation(facts.id))
        return "the set of this server was changed, and such a set cannot wait for replicas yet: use replicas=0 in every client";
    auto const theirs = replicas_in_id(admitted);
    if (auto const count = shards_in_id(admitted); count > 0 && count != shards_)
        return "clients of this cluster have " + std::to_string(count) + " shards, and this client has " + std::to_string(shards_) +
               ": use shards=" + std::to_string(count) + " in every client";
    if (theirs == 0 || theirs == replicas_) return {};
    return "clients of this group wait for " + std::to_string(theirs) + (theirs == 1 ? " replica" : " replicas") +
           ", and this client waits for " + std::to_string(replicas_) + ": use replicas=" + std::to_string(theirs) +
           ", or, to change the number for all, delete redlock:node on its primary";
}

void group_binding::apply(quorum::node_facts& facts) const
{
    if (auto why_not = objection_to(facts); !why_not.empty()) {
        facts.why_unidentified = std::move(why_not);
        facts.id.clear();
        facts.admitted.clear();
    } else if (replicas_ > 0 && replicas_in_id(facts.id) == 0) {
        facts.id = id_of(facts.id);
    }
}

void group_binding::apply(std::vector<reply>& replies) const
{
    for (reply& r : replies) {
        if (!r.facts()) continue;
        auto facts = *r.facts();
        apply(facts);
        r.set_facts(std::move(facts));
    }
}

}  // namespace redlock::detail
