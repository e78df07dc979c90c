// Reads the keys of a lock from all nodes, and concludes whether a client holds the lock, and how safely. inspect, watch, release, glance and
// lock_search use this. Only look() does I/O.
#ifndef REDLOCK_CLI_LOCKS_LOCK_VIEW_HPP
#define REDLOCK_CLI_LOCKS_LOCK_VIEW_HPP

#include "cli/servers/server_group.hpp"
#include "cli/servers/set_views.hpp"
#include "core/lease/holder_info.hpp"
#include "quorum/state_stamp.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::cli {

// A reader of a read-write lock on one node.
struct reader_view {
    std::string value;  // as secret as that of a key
    std::optional<detail::holder_info> who;
    std::int64_t ttl_ms{0};
};

// What a holder has published with a lock (docs/published-state.md), as one node keeps it.
struct state_view {
    std::string text;  // all of it, to compare it with that of other nodes
    std::string bytes;  // what was published
    std::string writer;  // the value of the lease that published it, as secret as that of a key
    std::uint64_t token{0};  // that this lease had
    quorum::state_stamp stamp{};
};

// The key on one node.
struct key_view {
    std::string problem;  // why the key could not be read; empty: it was read
    bool present{false};
    std::string type;  // the answer to TYPE: "string" if the key can be a lock
    std::string value;  // of a string. It is never printed, since everyone who knows the value can release the lock
    std::optional<detail::holder_info> holder;  // none: the value does not describe its holder
    std::size_t readers{0};  // of a read-write lock: those whose time has not passed on this node; then the type is "zset"
    std::vector<reader_view> some_readers{};  // those who end first; of value_part::beginning none
    std::int64_t ttl_ms{-1};  // -1: the key never expires
    std::optional<std::uint64_t> counter;  // the largest fencing token that was reserved; none: there is no counter
    bool writer_waits{false};  // a writer's wish is there: readers who come now wait for that writer
    std::optional<state_view> published{};  // none: nothing, or the permissions forbid to read it

    // A short text that differs between different values, and may be printed.
    std::string id() const;
};

enum class lock_state : std::uint8_t {
    free,  // no node that answered has the key, and the others are no majority
    held,  // a majority has the same value
    partly,  // some nodes have the key, but no majority has the same value: an attempt is under way, or was not rolled back
    unknown,  // too few nodes answered
};

char const* to_string(lock_state state) noexcept;

struct lock_view {
    std::string name;
    std::vector<key_view> nodes;

    lock_state state{lock_state::unknown};
    std::size_t answered{0};
    std::size_t members{1};  // of the set, which may have others than these nodes
    std::size_t majority{1};
    // How many nodes have the most frequent value; of readers the one on the fewest nodes counts, a majority at least.
    std::size_t held_on{0};
    std::size_t readers{0};  // how many hold it together; 0: nobody reads
    bool writer_waits{false};  // on one node at least
    std::optional<std::size_t> holder;  // a node that has this value; none: no node has the key
    std::size_t faults_tolerated{0};  // how many more nodes can fail, or lose this value, and a majority still has it
    std::int64_t ttl_ms{-1};  // time until fewer than a majority have it, without an extension; -1: never
    std::optional<std::uint64_t> counter;  // the largest counter on the nodes that have it
    std::optional<std::size_t> published;  // a node that has the newest state; none: no node that answered has one
    std::size_t published_on{0};  // on how many nodes this state is

    state_view const* newest_state() const { return published ? &*nodes[*published].published : nullptr; }
    // Whether the present holder of the lock has published it.
    bool published_by_holder() const;
    // Those who read end one after the other; this is the first of them, on the node that names most. -1: unknown.
    std::int64_t first_reader_ttl_ms() const;
    std::optional<detail::holder_info> info() const { return holder ? nodes[*holder].holder : std::nullopt; }
    // Nodes have granted it to this process, which does not have it (yet): of an attempt that is under way, or whose votes do not count.
    bool is_asked_for_here{false};
};

// How much of the value is read. The beginning has all of a value of this library's, and costs little where the value is something large of others.
enum class value_part : std::uint8_t { whole, beginning };
inline constexpr std::size_t value_beginning = 512;  // bytes
// Of the whole: so many readers of a node are read one by one, and only counted beyond that.
inline constexpr std::size_t readers_read = 500;

// The commands that read one key of a lock from a node.
std::vector<words> questions_about(std::string const& key, value_part part = value_part::whole);
inline constexpr std::size_t questions_per_key = 9;
// What is read of a published state. A longer one is not of this library.
inline constexpr std::size_t state_beginning = 8'192;  // bytes

// Reads the answers to questions_about. `first`: the index of the first of these answers.
key_view read_key(answers const& from, std::size_t first);

// Concludes the state of a lock from its key on each node.
lock_view judge(std::string name, std::vector<key_view> nodes, set_words const& set = {});

// The same from the answers of all nodes to questions_about.
lock_view view_of(std::string name, std::vector<answers> const& all, std::size_t first = 0, set_words const& set = {});

// Whether a node has a key of it.
bool is_anywhere(lock_view const& lock);

// Asks all nodes about all names in one message, and blocks until they have answered or failed.
std::vector<lock_view> look(server_group& nodes, std::vector<std::string> const& names, set_words const& set = {});

}  // namespace redlock::cli

#endif
