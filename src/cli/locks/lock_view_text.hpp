// Views of locks as text and as JSON, for inspect, watch and release.
#ifndef REDLOCK_CLI_LOCKS_LOCK_VIEW_TEXT_HPP
#define REDLOCK_CLI_LOCKS_LOCK_VIEW_TEXT_HPP

#include "cli/locks/lock_view.hpp"
#include "cli/output/table.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace redlock::cli {

// `web-3, process 4711, label nightly`, `a value of somebody else's (3fa8b210)`, `a hash of somebody else's`.
std::string holder_in_words(key_view const& key);

// `since 2026-11-22 01:05:42 (3 min 20 s)`. The start is by the holder's clock, and the end of the duration by this machine's. Empty: the
// value does not describe its holder.
std::string held_for(key_view const& key);

// `, 10 readers: ...; a writer waits` ends with this; empty: no writer waits.
std::string wish_in_words(lock_view const& lock);

// "shared", "exclusive", or "" if nobody holds the lock.
std::string mode_in_words(lock_view const& lock);

// One line with the state of the lock.
std::string headline(terminal const& out, lock_view const& lock);
// Another line that tells how safe a held lock is; empty for other states.
std::string second_line(lock_view const& lock);

// `published by its holder: 10.0.0.7:8080 (13 bytes, token 12), on 3 of 3 nodes`; empty: nothing is.
std::string published_line(lock_view const& lock);
// The beginning of what was published, in so many columns, with control characters as \xNN: it may be anything.
std::string published_in_words(state_view const& state, std::size_t columns);

// `web-3 4711 nightly`, `foreign 3fa8b210`, for tables.
std::string short_holder(key_view const& key);

// A table with the key of the lock on each node.
std::string node_table(terminal const& out, server_group const& nodes, lock_view const& lock);

// The holder of a key that is there.
nlohmann::ordered_json holder_to_json(key_view const& key);

// Null: nothing is published. What is no UTF-8 is in hexadecimal digits.
nlohmann::ordered_json published_to_json(lock_view const& lock);

nlohmann::ordered_json to_json(std::vector<std::string> const& nodes, lock_view const& lock);

}  // namespace redlock::cli

#endif
