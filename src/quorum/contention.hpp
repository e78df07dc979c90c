// Waiting for one lock within a client: what is known of others who want it, and what the first of those who wait does next. wait_schedule says
// when a majority could be free, fairness whose turn it is; together they come to one of five moves.
//
// Pure, like all of quorum/: randomness and times are given, and the wait queue of the lock carries the moves out.
#ifndef REDLOCK_QUORUM_CONTENTION_HPP
#define REDLOCK_QUORUM_CONTENTION_HPP

#include "quorum/fairness.hpp"
#include "quorum/node_facts.hpp"
#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"
#include "quorum/wait_schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace redlock::quorum {

// What the nodes said last.
enum class lock_outlook : std::uint8_t {
    unknown,  // nothing yet
    held,  // somebody else has the lock
    no_majority,  // too few answer to know
};

enum class wait_move : std::uint8_t {
    wait,  // until the moment, or until something changes
    attempt,  // nothing is known that speaks against it
    race,  // an attempt: a majority has just become free, and others want the lock, too
    poll,  // a probe: a message of the nodes may have been lost
    probe,  // what changed looks like an extension of the holder's lease
};

struct wait_decision {
    wait_move what;
    time_point at;  // of `wait`: when to ask again; the far future: when something has changed
};

// An attempt that was not won.
struct lost_attempt {
    lock_outlook outlook;
    bool refused;  // by some node
    token_number counter;  // the largest in a refusal; 0 without tokens
    node_set granted;  // which is being rolled back
};

// What chance and the nodes' load come to.
struct wait_odds {
    duration slot;  // what one attempt takes
    bool crowded;  // the nodes have more to do than is good
    duration delay;  // until the next attempt where the nodes tell nothing
    double head_start;  // between 0 and 1, as are
    double back_off;
};

struct probe_answer {
    bool failed;
    bool watching;  // the node says when a key changes
    std::optional<time_point> ends;  // of the last key; the far future: never by itself; none: all are free
};

class contention {
public:
    // Which probe an answer belongs to.
    class probe_stamp {
    public:
        probe_stamp(std::uint64_t wait, per_node<std::uint32_t> freed) : wait_{wait}, freed_{freed} {}

    private:
        friend contention;
        std::uint64_t wait_;
        per_node<std::uint32_t> freed_;  // how often we had freed the key on each node, when they were asked
    };

    // What an answer to a probe has made known.
    enum class learned : std::uint8_t {
        nothing,
        held,
        no_majority,
        outdated,  // it was asked in an earlier wait
    };

    explicit contention(std::size_t nodes) noexcept : nodes_{nodes} {}

    lock_outlook outlook() const noexcept { return outlook_; }

    // Somebody begins to wait, and was not preceded by others. `here`: this client itself has the lock.
    void begin(bool here) noexcept;

    // This client won the lock on the nodes; and its own lease ended, with or without a release.
    void won(time_point now, duration slot) noexcept;
    void vacated() noexcept { wait_.reset(); }
    void released(time_point now, fairness_limits const& limits, duration slot) noexcept { fairness_.released(now, limits, slot); }

    bool may_hand_over(time_point now, fairness_limits const& limits) const noexcept { return fairness_.may_hand_over(now, limits); }
    void handed_over() noexcept { fairness_.handed_over(); }

    // What the first of those who wait does now. `ttl`: of the lock.
    wait_decision next(time_point now, duration ttl) const noexcept;

    // It does: an attempt goes out. Returns whether a probe goes with it, as the attempt will probably be refused again.
    bool attempting(wait_move how, time_point now) noexcept;

    // It does: the nodes are to be asked how long they keep the keys. The next poll is at `if_told` from now where nodes tell of changes,
    // otherwise at `if_not`.
    void probing(wait_move why, time_point now, duration if_told, duration if_not) noexcept;

    // The questions go out, of a probe or along with an attempt.
    probe_stamp probed();

    // An attempt was not won. Returns whether the nodes are to be asked, for the first time, how long they keep the keys.
    bool failed(lost_attempt const& what, time_point now, wait_odds const& odds, duration poll_interval, bool may_probe);

    // What nodes say: a key has changed; the connection is gone, and what was asked for with it; an answer to a probe, which is about
    // `our_own` attempt where that was granted by the node.
    void changed(std::size_t node, time_point now);
    void silent(std::size_t node);
    learned answered(probe_stamp const& asked, std::size_t node, probe_answer const& answer, bool our_own, time_point now) noexcept;

    // Nodes that the last probe has not reached.
    node_set silent_nodes() const noexcept { return wait_ ? wait_->silent : node_set{}; }

    // This client itself is about to free a key on a node.
    void freed_by_us(std::size_t node, time_point now);

    // Something that is worth remembering of others, or of this client's own turn. With a lease: that does not follow from the lease.
    bool has_news(time_point now) const noexcept { return !fairness_.is_over(now); }
    bool has_news_beside(time_point acquired, duration slot) const noexcept;
    time_point over_at() const noexcept { return fairness_.over_at(); }

private:
    // What is known of others who have the lock, in the wait of the first.
    struct wait {
        wait(std::size_t nodes, std::uint64_t n) : schedule{nodes}, freed{nodes}, number{n} {}

        wait_schedule schedule;
        per_node<std::uint32_t> freed;  // how often by this client itself
        std::uint64_t number;  // of all waits for this lock
        time_point expires{};  // the last key, as the last probe says
        std::optional<duration> left_when_extended{};  // how much before that the holder extended, the last time that it was seen to
        duration left{};  // the same, at the race under way
        node_set answering;  // nodes that answered the last probe
        node_set silent;  // or failed it
        bool racing{false};  // the attempt under way was made because a majority had become free
        bool probed{false};  // the nodes were asked how long they keep the key
        bool backed_off{false};  // and has not looked since
    };

    wait& this_wait();
    bool looks_like_an_extension(wait const& in, time_point now, duration ttl) const noexcept;
    learned learn(wait& in, std::size_t node, bool answered, time_point now) noexcept;

    std::size_t nodes_;
    std::unique_ptr<wait> wait_;  // none: as far as is known, nobody has it
    std::uint64_t waits_{0};
    fairness fairness_;
    token_number seen_{0};  // the largest counter in a refusal: another one, another holder
    lock_outlook outlook_{lock_outlook::unknown};
};

}  // namespace redlock::quorum

#endif
