// What the nodes hold under a lock's name, and what that comes to. No I/O.
#ifndef REDLOCK_CLI_LOCK_VIEW_HPP
#define REDLOCK_CLI_LOCK_VIEW_HPP

#include "cli/server_group.hpp"
#include "lease/holder_info.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::cli {

// The key on one node.
struct key_view {
    std::string problem;        // why the node could not say; empty: it did
    bool present{false};
    std::string type;           // of the server: "string", or something that is no lock of ours
    std::string value;          // of a string. Who knows it can release the lock, so it is not shown
    std::optional<detail::holder_info> holder;
    std::int64_t ttl_ms{-1};    // -1: it never expires
    std::optional<std::uint64_t> counter;  // of the fencing tokens: the largest that was reserved

    // Something short by which values are told apart.
    std::string id() const;
};

enum class lock_state : std::uint8_t {
    free,     // no majority holds it, and none can
    held,     // one value on a majority
    partly,   // on some nodes, but not on a majority: an attempt under way, or what is left of one
    unknown,  // too few nodes answered
};

char const* to_string(lock_state state) noexcept;

struct lock_view {
    std::string name;
    std::vector<key_view> nodes;

    lock_state state{lock_state::unknown};
    std::size_t answered{0};
    std::size_t majority{1};
    std::size_t held_on{0};             // by the value that most nodes have
    std::optional<std::size_t> holder;  // a node that has it
    std::size_t faults_tolerated{0};
    std::int64_t ttl_ms{-1};            // until fewer than a majority hold it, when nobody extends; -1: never
    std::optional<std::uint64_t> counter;  // the largest on its nodes

    std::optional<detail::holder_info> info() const { return holder ? nodes[*holder].holder : std::nullopt; }
};

// What to ask each node for one key, and how many answers that makes.
std::vector<words> questions_about(std::string const& key);
inline constexpr std::size_t questions_per_key = 4;

// `first`: where in the answers those about this key begin.
key_view read_key(answers const& from, std::size_t first);

// Puts the nodes together.
lock_view judge(std::string name, std::vector<key_view> nodes);

// Asks about all names at once.
std::vector<lock_view> look(server_group& nodes, std::vector<std::string> const& names);

}  // namespace redlock::cli

#endif
