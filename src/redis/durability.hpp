// Makes granted votes count only when replicas or the disk have them, on nodes configured with `replicas` or `fsync`. durability_waits sends the
// request. No I/O.
//
// WAIT and WAITAOF block their connection, so they have one of their own. They answer for what *their* connection has written: since
// Redis 7.2 and Valkey 8 one that only reads is answered at once, whatever the replicas have (measured on Valkey 8.0.1 with a stopped
// replica; Redis 7.0.15 waited for everything that was written before the connection's last command). So each stands behind a small
// write: what reaches a replica behind all that was answered before has all of that with it, as the replication stream and the
// append-only file are in the order of execution.
#ifndef REDLOCK_REDIS_DURABILITY_HPP
#define REDLOCK_REDIS_DURABILITY_HPP

#include "redis/node.hpp"

#include <boost/redis/request.hpp>
#include <boost/redis/resp3/node.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
    error_code why;
    std::string words;
};

// Whether some of it has to be durable before it counts: granted votes, the mark of a node that lost its data, and what it tells of itself.
bool has_to_be_durable(batch const& work, std::vector<reply> const& replies) noexcept;

// Makes these failures. Keys that were set stay on the node until the attempt is rolled back.
void take_back(batch const& work, std::vector<reply>& replies, not_durable const& because);

// The message that waits for durability: the small write, WAIT or WAITAOF, and INFO. It is the same each time.
boost::redis::request durability_request(durability const& wanted);

// Reads the answers to durability_request.
class durability_reader {
public:
    explicit durability_reader(durability const& wanted) : wanted_{wanted} {}

    // One RESP3 node of the answer to call `index`.
    void on_node(std::size_t index, boost::redis::resp3::node_view const& node);

    // Call this when all answers have been read. None: the votes are durable.
    std::optional<not_durable> conclude() const;

private:
    durability wanted_;
    std::uint32_t on_disk_{0};
    std::uint32_t replicas_{0};
    std::size_t elements_{0};
    std::optional<std::uint32_t> connected_;  // replicas; none: the server does not say
    std::string error_;
};

// Where a server stands that has too few replicas connected, as the end of a sentence: "the server has no replica".
std::string replicas_in_words(std::uint32_t connected, std::uint16_t wanted);

}  // namespace redlock::detail

#endif
