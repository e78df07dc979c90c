// Makes granted votes count only when replicas or the disk have them, on nodes configured with `replicas` or `fsync`. durability_waits sends the
// request. No I/O.
//
// WAIT and WAITAOF block their connection, so a second connection to the server sends them. They wait only for what *their own* connection has
// written: since Redis 7.2 and Valkey 8 a connection that has only read gets its answer at once, whatever the replicas have (measured on Valkey 8.0.1
// with a stopped replica; Redis 7.0.15 waited for everything that was written before the connection's last command). So the second connection
// makes a small write first. The server has executed the votes before that write, and the replication stream and the append-only file keep the order
// of execution. So a replica or a disk that has the small write has the votes, too.
#ifndef REDLOCK_PROTOCOL_DURABILITY_HPP
#define REDLOCK_PROTOCOL_DURABILITY_HPP

#include "protocol/command.hpp"
#include "protocol/reply.hpp"

#include <boost/redis/request.hpp>
#include <boost/redis/resp3/node.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

struct durability {
    std::uint16_t replicas{0};
    bool fsync{false};
    std::chrono::milliseconds timeout{};

    bool wanted() const noexcept { return replicas > 0 || fsync; }
};

// Why the votes are not durable.
struct not_durable {
    errc why;
    std::string words;
    bool is_late{false};  // replicas acknowledge, but are behind: a further wait may do
};

// Whether a reply among these has to be durable before it counts: a granted vote, the mark of a node that lost its data, or what a node tells of itself.
bool has_to_be_durable(batch const& work, std::vector<reply> const& replies) noexcept;

// How long the answer may wait for that, counted from the answer of the server. An extension may wait for long, as the server has executed it and the lease
// goes on: to ask again would only put more behind what the replicas have not got yet. All others: for one wait.
std::chrono::milliseconds longest_wait_of(batch const& work) noexcept;

// Turns those replies into failures. Keys that were set stay on the node until the attempt is rolled back.
void take_back(batch const& work, std::vector<reply>& replies, not_durable const& because);

// The message that waits for durability: the small write, WAIT or WAITAOF, and INFO. It is the same each time.
// `prefix`: of the key of the small write.
boost::redis::request durability_request(durability const& wanted, std::string_view prefix = {});

// Reads the answers to durability_request.
class durability_reader {
public:
    // `acknowledged`: what acknowledged() was at the end of the wait before; none: there was none.
    explicit durability_reader(durability const& wanted, std::optional<std::uint64_t> acknowledged = {})
        : wanted_{wanted}, before_{acknowledged}
    {
    }

    // One RESP3 node of the answer to call `index`.
    void on_node(std::size_t index, boost::redis::resp3::node_view const& node);

    // Call this when all answers have been read. None: the votes are durable.
    std::optional<not_durable> conclude() const;

    // Up to where as many replicas as are wanted have acknowledged; none: the server does not say, or has fewer.
    std::optional<std::uint64_t> acknowledged() const noexcept { return acknowledged_; }

private:
    durability wanted_;
    std::optional<std::uint64_t> before_;
    std::optional<std::uint64_t> acknowledged_;
    std::uint32_t on_disk_{0};  // 1: the server itself has written it to its disk
    std::uint32_t replicas_{0};  // replicas that acknowledged
    std::size_t elements_{0};  // elements of WAITAOF's answer that were read
    std::optional<std::uint32_t> connected_;  // replicas that are connected; none: the server does not say
    std::string error_;
};

// Says that a server has too few replicas connected, as the end of a sentence: "the server has no replica".
std::string replicas_in_words(std::uint32_t connected, std::uint16_t wanted);

}  // namespace redlock::detail

#endif
