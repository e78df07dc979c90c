#include "redis/group_binding.hpp"

#include <charconv>
#include <memory>
#include <utility>

namespace redlock::detail {

namespace {

constexpr std::size_t id_size = 40;
constexpr std::size_t prefix_size = 5;  // "k001:"
constexpr std::size_t digits_of_number = 3;

bool has_prefix(std::string_view id) noexcept { return id.size() == id_size && id[0] == 'k' && id[prefix_size - 1] == ':'; }

std::string prefix_of(std::uint16_t replicas)
{
    if (replicas == 0) return {};
    auto const number = std::to_string(replicas);
    return 'k' + std::string(digits_of_number - number.size(), '0') + number + ':';
}

}  // namespace

std::string group_binding::id_of(std::string_view replication_id) const
{
    auto id = prefix_of(replicas_);
    id += replication_id;
    if (!replication_id.empty() && replicas_ > 0) id.resize(id_size);
    return replication_id.empty() ? std::string{} : id;
}

void group_binding::apply(quorum::node_facts& facts) const
{
    auto const theirs = replicas_of(facts.admitted);
    if (theirs > 0 && theirs != replicas_) {
        facts.why_unidentified = "clients of this group wait for " + std::to_string(theirs) + " replicas, and this client waits for " +
                                 std::to_string(replicas_) + ": use replicas=" + std::to_string(theirs) +
                                 ", or, to change the number for all, delete redlock:node on its primary";
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

std::uint16_t replicas_of(std::string_view bound_id) noexcept
{
    std::uint16_t replicas{0};
    if (has_prefix(bound_id)) std::from_chars(bound_id.data() + 1, bound_id.data() + 1 + digits_of_number, replicas);
    return replicas;
}

bool names_server(std::string_view bound_id, std::string_view replication_id) noexcept
{
    if (!has_prefix(bound_id)) return bound_id == replication_id;
    bound_id.remove_prefix(prefix_size);
    return replication_id.starts_with(bound_id);
}

std::optional<std::string> objection_to_group(std::uint32_t connected, std::uint16_t replicas)
{
    if (replicas == 0 || connected <= 2u * replicas) return std::nullopt;
    return "the server has " + std::to_string(connected) + " replicas and votes wait for " + std::to_string(replicas) +
           " of them, which is less than a majority of the group: after a failover the new primary might not know a lock; use replicas=" +
           std::to_string((connected + 1) / 2) + " in every client";
}

}  // namespace redlock::detail
