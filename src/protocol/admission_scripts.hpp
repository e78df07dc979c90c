// The Lua scripts for the admission of nodes, and for the record of their set. fence_scripts.hpp says what the keys are.
#ifndef REDLOCK_PROTOCOL_ADMISSION_SCRIPTS_HPP
#define REDLOCK_PROTOCOL_ADMISSION_SCRIPTS_HPP

#include "protocol/scripts.hpp"

namespace redlock::detail {

// Reads the node's facts, for a handshake. KEYS: record, hw. Answers {replication id, role, seconds, microseconds, record, hw, version, cluster (0
// or 1), maxmemory, maxmemory's policy, append-only file (0 or 1), set's record, Valkey's version, seconds since its start ("" if it may have lost
// something since, or is admitted)}. A field is "" if the server does not have it, or if the permissions forbid INFO. In place of a set's record that cannot be read stands "!" and the server's error.
script const& inspect_script();

// Writes the record of the server's set, if there is the text that the client expects. KEYS: record; the key of the set's record is made of it. ARGV: the id
// that was seen, the text that is expected ("": none), the new text, whether the server stays a member (0 or 1): if not, its admission and its mark end
// with a new text of another generation; and a token (0, or left out: none) that new ones have to be above from that moment on. The id in answers to later
// questions is that of the new text.
// Answers {1, text} if the server has the new text now, {0, text} if it has another one, {-1, ""} the server has another id, or is no master.
script const& claim_script();

// Writes a mark into the record of a node that lost its data, unless the record has one already. The quarantine counts from the answer.
// KEYS: record, hw. ARGV: the id that was seen, a random text of letters and digits to make a new mark of.
// Answers {1, mark} written, {0, mark} there was one, {2, ""} the node is admitted, {-1, ""} the server has another id, belongs to
// another generation of its set, or is no master.
script const& mark_script();

// Admits a node after its quarantine. KEYS: record, hw. ARGV: the id that was seen, base, maxttl in ms, mark. MAXTTL of the record never falls.
// BASE becomes the largest of the old BASE, the old high-water mark and the given base.
// Answers 1 admitted, 2 admitted already, 0 the mark is gone (another quarantine is needed), -1 the server has another id, or is no master.
script const& admit_script();

}  // namespace redlock::detail

#endif
