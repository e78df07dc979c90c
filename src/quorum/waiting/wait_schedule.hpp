// When to attempt again for a lock that somebody else holds; part of contention. The nodes tell how long they keep the key, and that it has changed.
// So it is known when a majority could be free, and until then no attempt is made. If the nodes tell too little, a random delay decides.
#ifndef REDLOCK_QUORUM_WAITING_WAIT_SCHEDULE_HPP
#define REDLOCK_QUORUM_WAITING_WAIT_SCHEDULE_HPP

#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <redlock/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace redlock::quorum {

// What to do at due().
enum class next_step {
    attempt,  // nothing is known that speaks against an attempt
    race,  // an attempt, since a majority has just become free; other clients want the lock, too
    probe,  // ask the nodes how long they keep the key; one of their messages may have been lost
};

class wait_schedule {
public:
    explicit wait_schedule(electorate of) : free_at_{of.nodes}, needed_{static_cast<std::uint8_t>(of.needed)} { begin(time_point{}); }

    // So many nodes are a majority from now on.
    void needs(std::size_t nodes) noexcept { needed_ = static_cast<std::uint8_t>(nodes); }

    // Nothing is known yet: the first attempt is due at `at`.
    void begin(time_point at) noexcept;

    // An attempt goes out, so what was known about the keys is out of date.
    void attempting() noexcept;

    // The attempt was not won. The nodes are asked how long they keep the key. Unless a majority answers, the next attempt is due at `retry_at`.
    // `head_start`: how long to wait after a majority becomes free, for the benefit of clients that waited longer.
    void failed(time_point now, time_point retry_at, duration head_start) noexcept;

    // The next probe is due at `if_told` while enough nodes tell of changes, otherwise at `if_not`.
    void probing(time_point if_told, time_point if_not) noexcept;

    // Too many clients race: do nothing until `until`, whatever the nodes tell, and then probe.
    void sleep(time_point until) noexcept;
    bool is_asleep() const noexcept { return asleep_until_ != time_point::min(); }

    // Whether the key is free on a majority, as far as is known.
    bool is_free(time_point now) const noexcept { return majority_free_at() <= now; }

    // A node's answer to a probe: the key expires at `free_at` (none: it is free; time_point::max(): never). `watching`: the node will tell when the
    // key changes.
    void on_probe(std::size_t node, time_point now, std::optional<time_point> free_at, bool watching) noexcept;

    // A node tells that the key has changed, or this client has changed it. The key is taken to be free.
    void on_changed(std::size_t node, time_point now) noexcept;

    // A node cannot be asked, so it does not tell of changes either.
    void on_silence(std::size_t node) noexcept;

    // When the next step is due, and which it is.
    time_point due() const noexcept;
    next_step step(time_point now) const noexcept;

    // Whether so many nodes tell of changes that no release stays unnoticed.
    bool is_told() const noexcept { return watching_.size() >= needed_; }

private:
    time_point majority_free_at() const noexcept;
    void rely_on_nodes(time_point now) noexcept;

    per_node<time_point> free_at_;  // when the key expires, or since when it has been free; max: never, or not known
    node_set known_;  // nodes that told how long they keep the key, or that it has changed
    node_set watching_;  // nodes that tell of changes
    std::uint8_t needed_;  // nodes, for a majority
    time_point retry_at_;  // of the next attempt; max: none, the nodes tell when
    time_point poll_if_told_;
    time_point poll_if_not_;
    duration head_start_{};
    time_point asleep_until_;  // min: not asleep
};

}  // namespace redlock::quorum

#endif
