// The Lua scripts of the state that goes with a lock. docs/proof.md, "State that goes with a lock", shows why they are correct.
//
//   NAME:published   string: "RANK NUMBER TEXT". RANK is the guard of the lease that published it, NUMBER counts what that lease has published, and
//                    TEXT is what state_text.hpp makes. The larger RANK is newer; of equal ones, the larger NUMBER. Expires after the retention, as
//                    NAME:fence does.
//
// The codes below zero are those of fence_answers.hpp, and:
#ifndef REDLOCK_PROTOCOL_STATE_SCRIPTS_HPP
#define REDLOCK_PROTOCOL_STATE_SCRIPTS_HPP

#include "protocol/scripts.hpp"

namespace redlock::detail {

enum state_answer : int {
    state_no_room = -7,  // publish: NAME:published holds something that is no state
};

// Keeps a state, unless a newer one is there. KEYS: lock, fence, record, hw, state. ARGV: id, value, guard, retention in ms, rank, number,
// text. The guard is that of the lease which asks, and the rank that of the lease which published it: the former may write back what it has
// inherited. Answers 1 the state, or a newer one, is there; 0, -1, -2, -4 or -7.
script const& state_publish_script();

// Reads the state, begins its retention anew, and raises the counter to the guard: nothing that an older holder publishes is kept here from
// then on. KEYS: as above. ARGV: id, value, guard, retention in ms.
// Answers {1, state}, or {code, ""}: 0, -1, -2 or -4. The state is empty if there is none.
script const& state_inherit_script();

// Reads what there is to see of a lock. KEYS: lock, state.
// Answers {value, PTTL, state}: the value is empty if the lock is free (PTTL says -2), or its key is no string: of readers, or of another
// library.
script const& state_peek_script();

}  // namespace redlock::detail

#endif
