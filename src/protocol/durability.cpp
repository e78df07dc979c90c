#include "protocol/durability.hpp"

#include "protocol/keys.hpp"
#include "protocol/redis_replies.hpp"
#include "protocol/server_facts.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>

namespace redlock::detail {

namespace {

// The key of the small write expires by itself, so that nothing stays when the last client has gone.
constexpr char const* small_write_ttl_ms = "60000";

// The calls of durability_request, in order.
enum durability_call : std::size_t { small_write, wait, info };

template <class Number = std::uint32_t>
Number to_number(std::string_view text)
{
    Number n{0};
    std::from_chars(text.data(), text.data() + text.size(), n);
    return n;
}

// Up to where that many replicas have acknowledged. Of lines such as "slave0:ip=10.0.0.2,port=6379,state=online,offset=1234,lag=0".
std::optional<std::uint64_t> acknowledged_by(std::size_t replicas, std::string_view replication)
{
    constexpr std::string_view name = ",offset=";
    std::vector<std::uint64_t> offsets;
    for (std::size_t i = 0;; ++i) {
        auto const replica = field_of_info(replication, "slave" + std::to_string(i));
        if (replica.empty()) break;
        if (auto const at = replica.find(name); at != std::string_view::npos)
            offsets.push_back(to_number<std::uint64_t>(replica.substr(at + name.size())));
    }
    if (replicas == 0 || offsets.size() < replicas) return std::nullopt;
    std::sort(offsets.begin(), offsets.end(), std::greater{});
    return offsets[replicas - 1];
}

// Rules 1 to 3 of "Failover of a replicated group" in docs/proof.md. Granted votes have to be durable. So has the mark of a node that lost its data,
// since a replica that acknowledges the mark does not follow the old primary any more. So has what a node tells of itself, since an old primary that is
// cut off still says that it is admitted. An admission needs no wait of its own, since a replica that acknowledges a vote has everything that
// was written before.
bool is_to_be_durable(command const& c, reply const& r) noexcept
{
    bool const matters = c.may_grant() || c.may_renew() || c.is_about_state() || c.what == verb::mark || c.what == verb::inspect ||
                         c.what == verb::claim;
    return matters && r.vote == vote::granted;
}

}  // namespace

bool has_to_be_durable(batch const& work, std::vector<reply> const& replies) noexcept
{
    for (std::size_t i = 0; i < replies.size(); ++i)
        if (is_to_be_durable(work.commands[i], replies[i])) return true;
    return false;
}

std::chrono::milliseconds longest_wait_of(batch const& work) noexcept
{
    auto shortest = std::chrono::milliseconds::max();
    for (command const& c : work.commands) {
        if (c.what != verb::extend) return {};
        shortest = std::min(shortest, c.ttl);
    }
    return shortest / 2;
}

void take_back(batch const& work, std::vector<reply>& replies, not_durable const& because)
{
    for (std::size_t i = 0; i < replies.size(); ++i) {
        if (!is_to_be_durable(work.commands[i], replies[i])) continue;
        replies[i].vote = vote::failed;
        replies[i].error = because.why;
        replies[i].set_words(because.words);
    }
}

boost::redis::request durability_request(durability const& wanted, std::string_view prefix)
{
    boost::redis::request request{one_connection_only()};
    request.push("SET", std::string{prefix}.append(wait_mark_key), "1", "PX", small_write_ttl_ms);
    auto const replicas = std::to_string(wanted.replicas);
    auto const timeout = std::to_string(wanted.timeout.count());
    if (wanted.fsync) {
        request.push("WAITAOF", "1", replicas, timeout);
    } else {
        request.push("WAIT", replicas, timeout);
    }
    request.push("INFO", "replication");  // for the text of errors; without the permission for INFO the text is shorter
    return request;
}

void durability_reader::on_node(std::size_t index, boost::redis::resp3::node_view const& node)
{
    using boost::redis::resp3::type;
    if (is_error(node)) {
        if (index == info || !error_.empty()) return;
        error_ = (index == wait ? "its votes wait for replicas or its disk, which the server refuses: " : "") + std::string{node.value};
        return;
    }
    if (index == info && node.depth == 0) {
        if (auto const count = field_of_info(node.value, "connected_slaves"); !count.empty()) connected_ = to_number(count);
        acknowledged_ = acknowledged_by(wanted_.replicas, node.value);
    }
    if (index != wait || node.data_type != type::number) return;
    if (!wanted_.fsync) {
        replicas_ = to_number(node.value);
    } else if (elements_++ == 0) {
        on_disk_ = to_number(node.value);
    } else {
        replicas_ = to_number(node.value);
    }
}

std::optional<not_durable> durability_reader::conclude() const
{
    if (!error_.empty()) return not_durable{errc::not_durable, error_};
    bool const enough = replicas_ >= wanted_.replicas;
    bool const on_disk = !wanted_.fsync || on_disk_ > 0;
    if (enough && on_disk) return std::nullopt;

    std::string words;
    if (!on_disk) words = "the server has not written it to its disk";
    if (!enough) {
        if (!on_disk) words += ", and ";
        words += std::to_string(replicas_) + " of " + std::to_string(wanted_.replicas) + " replicas acknowledged";
        if (wanted_.fsync) words += " that it is on theirs";
    }
    words += " within " + std::to_string(wanted_.timeout.count()) + " ms";
    if (!enough && connected_ && *connected_ < wanted_.replicas) words += ": " + replicas_in_words(*connected_, wanted_.replicas);
    bool const follow = before_ && acknowledged_ && *acknowledged_ > *before_;
    return not_durable{errc::not_durable, words, enough || follow};
}

std::string replicas_in_words(std::uint32_t connected, std::uint16_t wanted)
{
    if (connected == 0) return "the server has no replica";
    return "the server has " + std::to_string(connected) + " of " + std::to_string(wanted) + " replicas";
}

}  // namespace redlock::detail
