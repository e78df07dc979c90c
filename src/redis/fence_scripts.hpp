// The Lua scripts of the fencing tokens; docs/proof.md says why they are as they are. They are the only writers of these keys,
// all of them plain strings, so that one MGET reads everything:
//
//   NAME           the lock: the holder's value; what other libraries use as well
//   NAME:fence     its counter, in decimal; gone after the retention, and then it reads as the mark
//   redlock:node   the node's record: "ID BASE MAXTTL MARK", the numbers zero-padded to 16 and 10 digits. ID is the server's
//                  replication id at its admission. MARK is "-", or names the loss that somebody waits for to drain.
//   redlock:hw     the high-water mark: no counter of this server was ever above it
//
// Scripts compare the id in the record with the one that the caller has learned, not with the server's: that costs less. So a
// message ends with a look at the server itself (INFO replication), and its votes count only if that shows the learned id and the
// role "master".
//
// Tokens are below 2^53: Lua's numbers are doubles. ids have 40 characters, and are never all zeros.
#ifndef REDLOCK_REDIS_FENCE_SCRIPTS_HPP
#define REDLOCK_REDIS_FENCE_SCRIPTS_HPP

#include "redis/keys.hpp"
#include "redis/scripts.hpp"

#include <string_view>

namespace redlock::detail {

// What the scripts below answer instead of a success. Nothing was written then.
enum fence_answer : int {
    fence_refused = 0,         // the key is not the caller's
    fence_not_admitted = -1,   // no record, or one of another id, or no high-water mark
    fence_overtaken = -2,      // the guard: the counter or the base is above the token
    fence_ttl_too_long = -3,   // above the record's maxttl
    fence_no_counter = -4,     // somebody else's data is where the counter should be
    fence_used_up = -5,        // acquire: there is no larger token
};

// Locks of many leases in one call. KEYS: record, hw, then lock, fence for each. ARGV: id, ttl in ms, block, retention in ms, then value, floor
// for each.
// Answers a text with two numbers for each. "1 COUNTER": the key is the caller's, and COUNTER is the last of `block` tokens. A repeated call, which
//   finds its own value, answers the same and leaves the ttl alone: the lease counts from the *first* sending.
// "0 COUNTER": somebody holds it. "-1 0"; "-3 MAXTTL"; "-4 0"; "-5 0".
// A floor counts if it is above the step, and no more than a day ahead of the server's clock.
script const& fence_acquire_script();

// KEYS: lock, fence, record, hw. ARGV: id, value, token, retention in ms. Answers 1 confirmed, 0, -1, -2 or -4.
script const& fence_confirm_script();

// The same two for one lease on several locks: all of them or none, and one token above all their counters. KEYS: record, hw, then lock, fence
// for each. ARGV of acquire: id, value, ttl in ms, floor, block, retention in ms; of confirm as above. Answers as above, for all together.
// A counter is the largest of all. An acquire is also refused where only some of the locks
// are the caller's, or all are and their counters differ.
script const& fence_acquire_several_script();
script const& fence_confirm_several_script();

// Many leases in one call. KEYS: record, hw, then lock, fence for each. ARGV: id, retention in ms, recreate (0 or 1), refresh (0
// or 1), then value, token, ttl in ms for each. Answers for each: 1 extended, 2 recreated again, 0, -1, -2, -3 or -4.
// Counters that need no raise keep what is left of their retention unless refresh is 1. That saves a quarter of the work; who
// refreshes once in a quarter of the retention does it often enough.
script const& fence_extend_script();

// KEYS: record, hw. For a handshake. Answers {replication id, role, seconds, microseconds, record, hw, version, cluster (0 or 1),
// maxmemory, maxmemory's policy, append-only file (0 or 1)}; "" for what there is not, or the server's rules forbid to ask.
script const& inspect_script();

// KEYS: record, hw. ARGV: the id that was seen, a fresh random mark (letters and digits). At the first sight of a loss: leaves
// the mark in the record, or adopts the one that is there. The drain runs from the answer.
// Answers {1, mark} left, {0, mark} adopted, {2, ""} the node is admitted, {-1, ""} not this id, or no master.
script const& mark_script();

// KEYS: record, hw. ARGV: the id that was seen, base, maxttl in ms, mark. After the drain.
// Answers 1 admitted, 2 it was already, 0 the mark is gone (drain again), -1 not this id, or no master.
// maxttl never falls; the base is the largest of the old base, the old high-water mark and the one given.
script const& admit_script();

}  // namespace redlock::detail

#endif
