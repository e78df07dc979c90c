// What goes over the wire about semaphores: at most K leases at a time. Permit i of the semaphore NAME is the exclusive lock NAME#i, for i from 0 to K - 1,
// which this header calls a slot. Confirm, climb and release of a slot are those of fence_scripts.hpp and scripts.hpp; for a lease on several
// slots, those for several locks. docs/proof.md, "At most K", shows why the scripts are correct.
//
//   NAME#i        the slot: the value of its holder, as any lock
//   NAME#i:fence  its counter. Tokens of different slots are not ordered.
//   NAME:permits  "VERSION K": how many slots the semaphore has, in decimal. It expires after the retention, which begins anew with each permit that
//                 is granted or extended. The node grants permits only to clients that say the same K; where there is no record, a grant writes it.
//                 A record replaces one of a lower version; of two records with the same version, the first stays.
//
// The codes below zero are those of fence_answers.hpp, and:
#ifndef REDLOCK_PROTOCOL_SEMAPHORE_HPP
#define REDLOCK_PROTOCOL_SEMAPHORE_HPP

#include "protocol/call_words.hpp"
#include "protocol/command.hpp"
#include "protocol/reply.hpp"
#include "protocol/scripts.hpp"

#include <cstddef>
#include <string_view>

namespace redlock::detail {

enum semaphore_answer : int {
    semaphore_other_permits = -7,  // the node keeps another K
};

// The most slots that one call may list. A semaphore with more of them is asked for a part of its slots at a time.
inline constexpr std::size_t max_semaphore_slots = 64;

// Acquires `count` of the listed slots, or none: the first free ones from `from` on, in the order of KEYS, round the end. All of them get one token,
// above all their counters. KEYS: record, hw, permits, then the slots, then the counters of the slots in the same order. ARGV: id, value, ttl in ms,
// lower bound, block, retention in ms, K, count, from (0: the first of the listed), version. Lower bound and block as in fence_acquire_script().
// To acquire one slot and no other, list only that one. Listed slots may lie above K: so the slots that a smaller K takes away are emptied.
// Answers a text, "CODE NUMBER MAP VERSION". MAP has one digit for each listed slot: 0 free, 1 somebody else's, 2 the client's.
//   "1 COUNTER MAP VERSION"  acquired. A repeated call answers the same.
//   "0 HW MAP VERSION"       fewer slots are free, or a repeated call finds only some of its slots. HW grows when the node grants anything to anybody.
//   "-7 K VERSION"           see above
//   "-3 MAXTTL -" "-1 0 -" "-4 0 -" "-5 0 -"
script const& semaphore_acquire_script();

// Extends the slots of one lease, as fence_extend_script() extends several locks, and keeps the record: writes it where there is none or an older one,
// and begins its retention anew. A slot that is missing is set again only where the record says this K. KEYS: those of fence_extend_script(), then
// permits. ARGV: those of fence_extend_script(), then "VERSION K". Answers as that script.
script const& semaphore_extend_script();

// Keeps a number of permits. KEYS: record, hw, permits. ARGV: id, version, K, retention in ms. Version and K are between 1 and 2^53.
// Answers a text, "CODE K VERSION", with what the node keeps afterwards: "1 ..." kept, "0 ..." the other record stays, "-1 0 0", "-4 0 0" the key
// contains something else.
script const& semaphore_keep_script();

// Reads the permits, and which slots are free, for estimates and for people. It writes nothing. KEYS: permits, then slots.
// Answers a text, "K VERSION MAP"; K is 0 if there is no record. MAP has one digit for each slot: 0 free, 1 taken.
script const& semaphore_inspect_script();

// The words of a call about permits, and the reply for what the script of acquire, keep or look has answered. (An extension is answered as one of locks.)
void encode_of_permits(command_writer& to, command const& c, std::string_view id);
reply to_reply_of_permits(verb of, std::string_view text);

}  // namespace redlock::detail

#endif
