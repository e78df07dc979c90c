// What the scripts of fence_scripts.hpp answer if they fail. Other scripts about tokens use the same numbers.
#ifndef REDLOCK_PROTOCOL_FENCE_ANSWERS_HPP
#define REDLOCK_PROTOCOL_FENCE_ANSWERS_HPP

namespace redlock::detail {

// Nothing was written for that lease.
enum fence_answer : int {
    fence_refused = 0,  // the key does not contain the client's value
    fence_not_admitted = -1,  // the node has no record, or a record with another id, or no high-water mark
    fence_overtaken = -2,  // the counter or the base is above the token
    fence_ttl_too_long = -3,  // the ttl is above the record's MAXTTL
    fence_no_counter = -4,  // the key of the counter contains something else
    fence_used_up = -5,  // acquire of one lock: there is no larger token; the scripts for several locks and adopt answer an error instead
    fence_needs_guard =
        -100,  // extend: the answer is -100 - N, where N is the larger of counter and base. N is above the guard; all else is as needed
};

}  // namespace redlock::detail

#endif
