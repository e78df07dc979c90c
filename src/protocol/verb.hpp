// What a request asks of a node, and what kinds of votes the answers are.
#ifndef REDLOCK_PROTOCOL_VERB_HPP
#define REDLOCK_PROTOCOL_VERB_HPP

#include <cstdint>

namespace redlock::detail {

enum class verb : std::uint8_t {
    acquire,  // set the key if it is free; with tokens, raise the counter
    confirm,  // tokens: raise the counter to the token if the value is ours and no other token is above it
    extend,   // set the key's expiry if the value is ours; with tokens, also set a key again that is missing
    climb,    // tokens: raise the counter above the token if the value is ours and no other token is above the guard
    release,  // delete the key if the value is ours
    watch,    // be told of the next change of the key; and how long is the node going to keep it?
    inspect,  // what the node says of itself
    claim,    // keep a record of the set that the node belongs to
    mark,     // leave a mark in the record of a node that lost its data
    admit,    // let it vote again
    adopt,    // a lease goes on under a new value: replace the former value; with tokens, raise the counter above the guard
    publish,  // tokens: keep a state of the holder if the value is ours and nothing newer is known
    inherit,  // tokens: say which state is kept, if the value is ours, and take none of an older holder from then on
    peek,     // say whose value the key has, for how long, and which state is kept
    want,     // leave the wish of a writer, so that no new readers come
    keep,     // keep the number of permits of a semaphore
    look,     // how many permits a semaphore has, and which of its slots are free
};

// A vote that gives away the lock, if it is one.
constexpr bool may_grant(verb what) noexcept { return what == verb::acquire || what == verb::confirm; }

// A vote that a lease goes on, if it is one.
constexpr bool may_renew(verb what) noexcept { return what == verb::extend || what == verb::climb || what == verb::adopt; }

// A vote about the state that goes with the lock.
constexpr bool is_about_state(verb what) noexcept { return what == verb::publish || what == verb::inherit; }

// The node's vote counts only if it is admitted, where the command has tokens.
constexpr bool may_vote_with_tokens(verb what) noexcept
{
    return may_grant(what) || may_renew(what) || is_about_state(what) || what == verb::keep;
}

}  // namespace redlock::detail

#endif
