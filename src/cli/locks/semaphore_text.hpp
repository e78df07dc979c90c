// Views of semaphores as text and as JSON. No I/O but the clock.
#ifndef REDLOCK_CLI_LOCKS_SEMAPHORE_TEXT_HPP
#define REDLOCK_CLI_LOCKS_SEMAPHORE_TEXT_HPP

#include "cli/locks/semaphore_view.hpp"
#include "cli/output/terminal.hpp"

#include <redlock/status.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace redlock::cli {

// `exports: 4 permits, 2 held, about 2 free`.
std::string headline(terminal const& out, semaphore_view const& of);
// Another line that says where the number is kept, and what is unusual about it.
std::string second_line(semaphore_view const& of);
// A row for each slot of which a node has a key; empty: there is none.
std::string slot_table(terminal const& out, semaphore_view const& of);
// The nodes that could not be read, or keep another number; empty: there is none.
std::string node_table(terminal const& out, server_group const& nodes, semaphore_view const& of);
// All of these.
std::string text_of(terminal const& out, server_group const& nodes, semaphore_view const& of);

// `slot 0 by vm, process 12, since ...; slot 2 by ...`, ten of them; with `above` only those that the number of permits does not cover.
std::string holders_in_words(semaphore_view const& of, bool above = false);

// `2 of 4 permits`.
std::string held_in_words(semaphore_view const& of);

// The time until the last of those who hold a permit has lost it, if none is extended; -1: nobody does, or one never ends.
std::int64_t last_ttl_ms(semaphore_view const& of);
// On how many nodes the slot on the fewest nodes is, of those that are held.
std::size_t least_held_on(semaphore_view const& of);

// Why `redlock run --permits` does not have what it wants yet.
std::string waiting_for_permits_in_words(semaphore_view const& of, std::uint32_t wanted, client_status const& nodes,
                                         std::chrono::nanoseconds waited);
// A text that is another one when the reason is. Nobody reads it.
std::string reason_to_wait_for_permits(semaphore_view const& of, client_status const& nodes);
// Why it has ended without it.
std::string no_permit_in_words(semaphore_view const& of, std::uint32_t wanted, bool all_the_time);
// The same when its number of permits is not that of the nodes.
std::string other_number_in_words(semaphore_view const& of, std::uint32_t said);

nlohmann::ordered_json to_json(std::vector<std::string> const& nodes, semaphore_view const& of);

}  // namespace redlock::cli

#endif
