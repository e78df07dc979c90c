#include "redis/group_binding.hpp"

#include <charconv>
#include <memory>
#include <utility>

namespace redlock::detail {

namespace {

constexpr std::size_t digits_of_number = 3;

std::string part(char letter, std::uint16_t value)
{
    if (value == 0) return {};
    auto const number = std::to_string(value);
    return letter + std::string(digits_of_number - number.size(), '0') + number + ':';
}

std::uint16_t number_at(std::string_view id, std::size_t at) noexcept
{
    std::uint16_t number{0};
    std::from_chars(id.data() + at, id.data() + at + digits_of_number, number);
    return number;
}

}  // namespace

std::string group_binding::id_of(std::string_view replication_id) const
{
    auto id = part('k', replicas_) + part('c', shards_);
    id += replication_id;
    if (!replication_id.empty() && replicas_ > 0) id.resize(bound_id_size);
    return replication_id.empty() ? std::string{} : id;
}

// Why a record that other clients have made is not for this client; empty: it is, or there is none.
std::string group_binding::objection_to(std::string_view admitted) const
{
    auto const theirs = replicas_of(admitted);
    if (auto const count = shards_of(admitted); count > 0 && count != shards_)
        return "clients of this cluster have " + std::to_string(count) + " shards, and this client has " + std::to_string(shards_) +
               ": use shards=" + std::to_string(count) + " in every client";
    if (theirs == 0 || theirs == replicas_) return {};
    return "clients of this group wait for " + std::to_string(theirs) + (theirs == 1 ? " replica" : " replicas") +
           ", and this client waits for " + std::to_string(replicas_) + ": use replicas=" + std::to_string(theirs) +
           ", or, to change the number for all, delete redlock:node on its primary";
}

void group_binding::apply(quorum::node_facts& facts) const
{
    if (auto why_not = objection_to(facts.admitted); !why_not.empty()) {
        facts.why_unidentified = std::move(why_not);
        facts.id.clear();
        facts.admitted.clear();
    } else if (replicas_ > 0 && replicas_of(facts.id) == 0) {
        facts.id = id_of(facts.id);
    }
}

void group_binding::apply(std::vector<reply>& replies) const
{
    for (reply& r : replies) {
        if (!r.facts) continue;
        auto facts = *r.facts;
        apply(facts);
        r.facts = std::make_shared<quorum::node_facts const>(std::move(facts));
    }
}

std::uint16_t replicas_of(std::string_view bound_id) noexcept { return is_bound(bound_id) ? number_at(bound_id, 1) : std::uint16_t{0}; }

std::uint16_t shards_of(std::string_view bound_id) noexcept
{
    return is_of_cluster(bound_id) ? number_at(bound_id, bound_prefix_size + 1) : std::uint16_t{0};
}

std::optional<std::string> objection_to_group(std::uint32_t connected, std::uint16_t replicas)
{
    if (replicas == 0 || connected <= 2u * replicas) return std::nullopt;
    return "the server has " + std::to_string(connected) + " replicas and votes wait for " + std::to_string(replicas) +
           " of them, which is less than a majority of the group: after a failover the new primary might not know a lock; use replicas=" +
           std::to_string((connected + 1) / 2) + " in every client";
}

}  // namespace redlock::detail
