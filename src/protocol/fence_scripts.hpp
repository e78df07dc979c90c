// The Lua scripts for fencing tokens. redis_request encodes the calls, and redis_replies reads the answers. docs/proof.md shows why the scripts are
// correct. fence_keys.hpp says what the keys contain, and fence_answers.hpp what the numbers below one mean.
//
// The scripts compare the id in the record with the id that the client knows, and not with the server's present id, since INFO costs more. Therefore
// the last command of a message is INFO replication. The votes in the message count only if INFO shows the id that the client knows, and the role
// "master".
#ifndef REDLOCK_PROTOCOL_FENCE_SCRIPTS_HPP
#define REDLOCK_PROTOCOL_FENCE_SCRIPTS_HPP

#include "protocol/scripts.hpp"

namespace redlock::detail {

// Acquires one lock for each of several leases in one call. KEYS: record, hw, then lock and fence of each lease. ARGV: id, ttl in ms, block,
// retention in ms, then value and lower bound of each lease. `block` is the number of tokens that each lease gets. Without a lower bound, the last of
// them is the larger of counter and base, plus the block. A bound that is above that, and no more than a day ahead of the server's clock, is the last token
// instead; quorum/clocks/token_clock.hpp says why clients give one.
// Answers a text with two numbers for each lease:
//   "1 COUNTER"            acquired; COUNTER is the last token of the block. A repeated call finds its own value, answers the same, and leaves the
//                          key's expiry as it is, since the lease counts from the first call.
//   "0 COUNTER"            another value is in the key
//   "-3 MAXTTL"            see fence_answer, like the next ones
//   "-1 0" "-4 0" "-5 0"
script const& fence_acquire_script();

// Confirms the token of one lease: raises the counter to the token, if the key contains the client's value. KEYS: lock, fence, record, hw. ARGV: id,
// value, token, retention in ms.
// Answers 1 confirmed, 0, -1, -2 or -4.
script const& fence_confirm_script();

// The two scripts above for one lease on several locks: all of them or none, with one token above all their counters. KEYS: record, hw, then lock
// and fence of each lock. ARGV of acquire: id, value, ttl in ms, lower bound, block, retention in ms. ARGV of confirm: as above. The answer is as above,
// for all locks together; COUNTER is the largest of their counters. Where there is no larger token, acquire answers an error, "FENCE tokens are used up",
// instead of "-5 0". An acquire is also refused if only some of the locks contain the client's value,
// or if all of them do and their counters differ.
script const& fence_acquire_several_script();
script const& fence_confirm_several_script();

// Extends many leases in one call. KEYS: record, hw, then lock and fence of each lease. ARGV: id, retention in ms, recreate (0 or 1), refresh (0 or
// 1), then value, guard and ttl in ms of each lease. The guard of a lease is its token until it climbs. A counter above the guard does no harm where
// the lock has the value and the counter the mark of a climb, and stays as it is.
// `recreate`: set missing keys again. `refresh`: begin the retention of all counters anew. Without
// `refresh` that happens only to counters that are raised, which saves a quarter of the work. To refresh once in a quarter of the retention is often
// enough.
// Answers for each lease: 1 extended, 2 recreated, 0, -1, -3, -4, or -100 - N.
script const& fence_extend_script();

// Raises the counters of many leases from their guards to larger ones, so that they can be recreated on nodes whose counter or base is above
// the guard (docs/proof.md, "Leases that outlive restarts"). KEYS: record, hw, then lock and fence of each lease. ARGV: id, retention in ms, then value,
// guard, new guard and ttl in ms of each lease. A counter that was raised has the mark of a climb. One that has this mark already may be above the
// guard, but not above the new one: so a climb whose answer was lost can be repeated.
// Answers for each lease: 1 climbed, 0, -1, -2, -3 or -4.
script const& fence_climb_script();

// Adopts a lease: replaces its value, and raises its counters to the guard plus one, so that nothing that carries the former value or guard counts here
// any more. KEYS: record, hw, then lock and fence of each lock of the lease. ARGV: id, former value, new value, guard, ttl in ms, retention in ms.
// Answers 1 adopted, 0, -1, -2, -3 or -4, or, where there is no larger token, the error "FENCE tokens are used up". Adopted means: all
// locks contained the former value and no counter was above the guard; or all locks contained the new value already, which is a repeated
// call and extends them. The base must not be above the guard in either case. A lock that is missing is not set again.
script const& fence_adopt_script();

}  // namespace redlock::detail

#endif
