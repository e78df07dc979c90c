// Waiting for a lock that somebody else holds: when to ask again. What the nodes tell (how long they keep the key, that it changed)
// says when a majority could be free; until then there is nothing to ask. Where they tell too little, a random delay decides.
#ifndef REDLOCK_QUORUM_WAIT_SCHEDULE_HPP
#define REDLOCK_QUORUM_WAIT_SCHEDULE_HPP

#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <redlock/config.hpp>

#include <cstddef>
#include <optional>

namespace redlock::quorum {

// What to do when the moment has come.
enum class next_step {
    attempt,  // nothing is known that speaks against it
    race,     // a majority has just become free: others want it, too
    probe,     // ask the nodes how long they keep the key; a message of theirs may have been lost
};

class wait_schedule {
public:
    explicit wait_schedule(std::size_t nodes) : free_at_{nodes} { begin(time_point{}); }

    // Nothing is known: ask at `at`.
    void begin(time_point at) noexcept;

    // What is known is about to change: an attempt goes out.
    void attempting() noexcept;

    // It was not won. The nodes are asked, or have been, how long they keep the key; as long as they have not said it: again at
    // `retry_at`. `head_start`: how much later than the first chance to race, for the benefit of those who waited longer.
    void failed(time_point now, time_point retry_at, duration head_start) noexcept;

    // When to look again: at `if_told` when nodes say what changes, otherwise at `if_not`.
    void probing(time_point if_told, time_point if_not) noexcept;

    // There are too many who race: whatever happens meanwhile, look again at `until`.
    void sleep(time_point until) noexcept;
    bool is_asleep() const noexcept { return asleep_until_ != time_point::min(); }

    // On a majority, as far as is known.
    bool is_free(time_point now) const noexcept { return majority_free_at() <= now; }

    // A node's answer: the key goes at `free_at` (none: it is free; time_point::max(): never by itself), and the node says when it
    // changes, or does not.
    void on_probe(std::size_t node, time_point now, std::optional<time_point> free_at, bool watching) noexcept;

    // A node says that the key has changed; or we have changed it there.
    void on_changed(std::size_t node, time_point now) noexcept;

    // A node that cannot be asked tells nothing either.
    void on_silence(std::size_t node) noexcept;

    // When there is something to do, and what.
    time_point due() const noexcept;
    next_step step(time_point now) const noexcept;

    // So many nodes say when the key changes that no release goes by unnoticed.
    bool is_told() const noexcept { return watching_.size() >= majority(nodes()); }

private:
    time_point majority_free_at() const noexcept;
    void rely_on_nodes(time_point now) noexcept;

    std::size_t nodes() const noexcept { return free_at_.size(); }

    per_node<time_point> free_at_;  // by itself, or since; max: not by itself, or not known
    node_set known_;
    node_set watching_;  // until the next look: what has changed once is taken to be free
    time_point retry_at_;  // max: wait for the nodes instead
    time_point poll_if_told_;
    time_point poll_if_not_;
    duration head_start_{};
    time_point asleep_until_;  // min: awake
};

}  // namespace redlock::quorum

#endif
