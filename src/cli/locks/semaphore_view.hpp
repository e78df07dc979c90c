// Reads from all nodes what they keep of a semaphore: its number of permits, and who holds which slot. Only the functions that take a server_group do I/O.
#ifndef REDLOCK_CLI_LOCKS_SEMAPHORE_VIEW_HPP
#define REDLOCK_CLI_LOCKS_SEMAPHORE_VIEW_HPP

#include "cli/locks/lock_view.hpp"

#include "protocol/key_format.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {

// The number of permits, as one node keeps it.
struct number_view {
    std::string problem;  // why it could not be read; empty: it was read
    std::optional<std::uint32_t> permits;  // none: the node keeps none
    std::uint64_t version{0};  // how often the number was changed
    std::int64_t ttl_ms{-1};
};

// A slot of which a node has a key.
struct slot_view {
    std::uint32_t number{0};
    lock_view lock;
};

struct semaphore_view {
    std::string name;
    std::vector<number_view> nodes;
    std::vector<slot_view> slots;  // by number

    std::size_t answered{0};
    std::size_t majority{1};
    std::optional<std::uint32_t> permits;  // the number of the latest change; none: no node that answered keeps one
    std::uint64_t version{0};
    std::size_t kept_on{0};  // how many nodes keep this number
    std::size_t free{0};  // an estimate, as semaphore::available()

    bool is_known() const noexcept { return answered >= majority; }
    bool is_above(slot_view const& slot) const noexcept { return permits && slot.number >= *permits; }
    std::size_t held() const;
    // Of those, how many have slots that the number of permits does not cover: a change of it waits for them.
    std::size_t held_above() const;
    std::size_t held_unclearly() const;  // slots of which too few nodes answered to know
};

// The name of a slot: `NAME#3`.
std::string slot_name(std::string const& semaphore, std::uint32_t number);
// The semaphore and the number of the slot that this name may be of; none: it is of no slot.
std::optional<std::pair<std::string, std::uint32_t>> slot_of(std::string const& name);

// The commands that read the number of permits from a node.
std::vector<words> questions_about_number(std::string const& key);
inline constexpr std::size_t questions_per_number = 2;
// And those that read all of it.
std::vector<words> questions_about_semaphore(detail::key_format const& keys, std::string const& name);

number_view read_number(answers const& from, std::size_t first);

// Concludes what holds for all nodes. `slots` may have some of which no node has a key.
semaphore_view judge_semaphore(std::string name, std::vector<number_view> numbers, std::vector<slot_view> slots);

// From the answers of all nodes to questions_about_semaphore.
semaphore_view semaphore_in(std::string name, std::vector<answers> const& all);

// Reads a semaphore from all nodes, and blocks until they have answered or failed.
semaphore_view look_at_semaphore(server_group& nodes, std::string const& name);

// The numbers of permits that the nodes keep under these names: one element for each name, which is empty where no node keeps one. Asks the nodes
// for which `asked` is true.
std::vector<std::vector<number_view>> numbers_of(server_group& nodes, std::vector<std::string> const& names,
                                                 std::function<bool(std::size_t node)> const& asked);

// Those of these names that are semaphores: one element for each name.
std::vector<std::optional<semaphore_view>> look_for_semaphores(server_group& nodes, std::vector<std::string> const& names);

}  // namespace redlock::cli

#endif
