// The Lua scripts of read-write locks. A writer is the exclusive lock as it is: scripts.hpp and fence_scripts.hpp are unchanged, so an older client
// of this library, or another library, that takes the same key excludes readers, and is excluded by them, without knowing of them. docs/proof.md,
// "Readers and a writer", shows why the scripts are correct.
//
//   NAME         string: the value of the writer, as ever. Sorted set: the readers. A member is the value of a reader, and its score is the
//                millisecond of the server's clock at which its entry ends. The key expires with the largest score. The empty member is the set's
//                epoch: its score is minus one minus the counter that the set was made above. Any other type, and a sorted set without an empty
//                member, belongs to somebody else.
//   NAME:fence   the counter, as in fence_keys.hpp. The reader that makes the set raises it; readers that join the set do not.
//   NAME:want    the wish of a writer that waits, a string with an expiry. While it is there, the node accepts only those new readers that were
//                refused because of the writer before.
//
// The codes below zero are those of fence_answers.hpp, and:
#ifndef REDLOCK_PROTOCOL_SHARED_SCRIPTS_HPP
#define REDLOCK_PROTOCOL_SHARED_SCRIPTS_HPP

#include "protocol/scripts.hpp"

namespace redlock::detail {

enum shared_answer : int {
    shared_writer_waits = -6,  // acquire: a writer waits, and this reader did not wait before it
};

// Acquires locks to read, for each of several leases in one call; a name may stand in a call several times. KEYS: record, hw, then lock, fence and
// want of each lease. ARGV: id, ttl in ms, retention in ms, then value, lower bound and since of each lease. The bound as in
// fence_acquire_script(). `since`: the COUNTER of the last "0 COUNTER" that this node answered in this wait, or -1.
// Answers a text with two numbers for each lease:
//   "1 COUNTER"            reads. A repeated call answers "1" again, with the present counter.
//   "0 COUNTER"            a writer is there, or a key of somebody else
//   "-6 COUNTER"           a writer waits. The client must not take this COUNTER for `since`.
//   "-3 MAXTTL" "-1 0" "-4 0" "-5 0"
// The token of a reader is the largest COUNTER of a majority; where a node answered less, its vote needs a confirmation.
script const& shared_acquire_script();

// Confirms the token of one reader. KEYS: lock, fence, record, hw. ARGV: id, value, token, retention in ms.
// Answers 1 confirmed, 0 the reader is not in the set, -2 a writer may have had this token, -1 or -4.
script const& shared_confirm_script();

// Extends the leases of many readers in one call, and makes readers of writers: a downgrade is the first extension with `was_writer`. KEYS: record,
// hw, then lock and fence of each lease. ARGV: id, retention in ms, recreate (0 or 1), refresh (0 or 1), then value, token, ttl in ms and was_writer
// (0 or 1) of each lease. `recreate` and `refresh` as in fence_extend_script(). `was_writer`: the lease began as a writer; it keeps its token, and
// the counter becomes token + 1, so that the readers after it have another token than the writer had.
// Answers for each lease: 1 extended, or made a reader, 2 recreated, 0, -1, -2, -3 or -4.
script const& shared_extend_script();

// Ends many leases in one call, of readers and writers: after a downgrade, a node may have either. KEYS: the locks. ARGV: the value of each.
// Answers one text with a digit for each: 1 ended, 0 the lock does not contain the value.
script const& shared_release_script();

// Leaves the wish of a writer that was refused, until it is granted; a wish must be renewed before it ends. The last wish replaces the one before. A
// writer that is granted, or gives up, deletes its own with release_script(). KEYS: lock, want. ARGV: a text that identifies the writer, ttl in ms.
// Answers 1 left, 0 the lock is free, or the key of the wish contains something else.
script const& shared_want_script();

}  // namespace redlock::detail

#endif
