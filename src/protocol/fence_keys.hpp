// The keys of a node that decide about tokens, and what they contain. The scripts of fence_scripts.hpp write them, and so do those of
// admission_scripts.hpp, shared_scripts.hpp, semaphore.hpp and state_scripts.hpp; locks without tokens (scripts.hpp) have the first one only.
// All are strings except for the lock of readers. So one MGET reads all of them: it answers nil for a lock of readers, and SET with NX refuses it.
//
//   NAME           the lock: a string, the holder's value, as with other libraries; or the sorted set of its readers (shared_scripts.hpp)
//   NAME:fence     the counter of the lock, in decimal. It expires after the retention; a missing counter counts as the high-water mark. "N.0" is the
//                  number N with the mark of a climb: nobody has set the lock since a climb of the lease that holds it.
//   redlock:node   the node's record: "ID BASE MAXTTL MARK", or "ID BASE MAXTTL - ABOVE". BASE is padded with zeros to 16 digits, and MAXTTL to 10. ID is the server's
//                  replication id at its admission. The node grants no token up to BASE, and no ttl above MAXTTL. MARK is "-", or, during a
//                  quarantine, a text that identifies the loss of data. server_id.hpp says what else ID can be. ABOVE, in 16 digits, is written when the
//                  node's set gets a smaller N (docs/proof.md, S64): new tokens are above it, and leases of before go on.
//   redlock:hw     the high-water mark: no counter of this server was ever above it
//   redlock:set    the record of the set that the server belongs to (quorum/sets/set_record.hpp); the same text on all its servers
//
// Tokens are below 2^53, since Lua's numbers are doubles. Replication ids have 40 characters, and are never all zeros.
#ifndef REDLOCK_PROTOCOL_FENCE_KEYS_HPP
#define REDLOCK_PROTOCOL_FENCE_KEYS_HPP

#include "protocol/keys.hpp"

#include <cstddef>
#include <cstdint>

namespace redlock::detail {

// Where the parts of a node's record are.
inline constexpr std::size_t record_id_size = 40;
inline constexpr std::size_t record_base_at = 41;
inline constexpr std::size_t record_base_size = 16;
inline constexpr std::size_t record_max_ttl_at = 58;
inline constexpr std::size_t record_max_ttl_size = 10;
inline constexpr std::size_t record_mark_at = 69;

// Tokens are counted by Lua, whose numbers are doubles: exact only below this number.
inline constexpr std::int64_t script_number_end = std::int64_t{1} << 53;

}  // namespace redlock::detail

#endif
