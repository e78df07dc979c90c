// Decides what the first acquisition in the wait queue of a lock does next, from all that is known of other clients that want the lock.
// wait_schedule says when a majority of keys could be free, and fairness when it is this client's turn. contention chooses one of five moves by both.
//
// Pure, like all of quorum/: the caller passes random numbers and times in, and wait_queue carries the moves out.
#ifndef REDLOCK_QUORUM_WAITING_CONTENTION_HPP
#define REDLOCK_QUORUM_WAITING_CONTENTION_HPP

#include "quorum/node_facts.hpp"
#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"
#include "quorum/waiting/fairness.hpp"
#include "quorum/waiting/wait_schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace redlock::quorum {

// The state of the lock, as the nodes' last answers show it.
enum class lock_outlook : std::uint8_t {
    unknown,  // no node has answered yet
    held,  // another client has the lock
    no_majority,  // too few nodes answer to know
};

// The next move of the first acquisition in the wait queue.
enum class wait_move : std::uint8_t {
    wait,  // do nothing until wait_decision::at, or until a node tells of a change
    attempt,  // try to acquire: nothing is known that speaks against an attempt
    race,  // try to acquire: a majority has just become free, and other clients want the lock, too
    poll,  // ask the nodes how long they keep the keys, since a message of theirs may have been lost
    probe,  // ask the same, since the last change looks like an extension of the holder's lease
};

struct wait_decision {
    wait_move what;
    time_point at;  // for `wait`: when to call next() again; time_point::max(): only after a change
};

// An attempt that was not won.
struct lost_attempt {
    lock_outlook outlook;
    bool refused;  // at least one node refused it
    token_number counter;  // the largest counter in a refusal; 0 without tokens
    node_set granted;  // nodes that granted it; these grants are being rolled back
};

// The nodes' load and random numbers: the inputs to the decision how long to wait.
struct wait_odds {
    duration slot;  // how long one attempt takes
    bool crowded;  // the nodes are overloaded
    duration delay;  // until the next attempt, if the nodes do not tell when the keys become free
    double head_start;  // a random number between 0 and 1, for the head start of other clients
    double back_off;  // another one, for the length of a backoff
    // Of a read-write lock, or not. Readers come and go while the key stays. So a change is seldom an extension of all that is there, and races that
    // are lost to readers are no sign of high contention, and say nothing about whose turn it is: between writers, behind readers that wait, time decides.
    // What is counted, as by a semaphore, also changes while the rest stays.
    enum class of_lock : std::uint8_t { exclusive, readers, writers, counted };
    of_lock sides{of_lock::exclusive};

    bool is_shared() const noexcept { return sides == of_lock::readers || sides == of_lock::writers; }
};

// A node's answer to a probe.
struct probe_answer {
    bool failed;
    bool watching;  // the node will tell when a key changes
    std::optional<time_point> ends;  // when the last key expires; time_point::max(): never; none: all keys are free
};

class contention {
public:
    // Identifies the probe that an answer belongs to, and the state when that probe was sent.
    class probe_stamp {
    public:
        probe_stamp(std::uint64_t wait, per_node<std::uint32_t> freed) : wait_{wait}, freed_{freed} {}

    private:
        friend contention;
        std::uint64_t wait_;
        per_node<std::uint32_t> freed_;  // wait::freed at that time
    };

    // The conclusion from an answer to a probe.
    enum class learned : std::uint8_t {
        nothing,
        held,
        no_majority,
        outdated,  // the probe belongs to an earlier wait
    };

    explicit contention(electorate of) noexcept : voters_{of} {}

    // The set of nodes has other members than before, or another N.
    void set_electorate(electorate const& of) noexcept;

    lock_outlook outlook() const noexcept { return outlook_; }

    // An acquisition joins the empty wait queue. `here`: this client itself has the lock.
    void begin(bool here) noexcept;

    // This client won the lock on the nodes.
    void won(time_point now, duration slot) noexcept;

    // This client won the lock to read, beside others: the next one need not wait.
    void won_to_read(time_point now, duration slot) noexcept
    {
        won(now, slot);
        outlook_ = lock_outlook::unknown;
    }

    // This client's own lease has ended, with or without a release.
    void vacated() noexcept { wait_.reset(); }

    // This client's own lease is released; called before vacated().
    void released(time_point now, fairness_limits const& limits, duration slot) noexcept { fairness_.released(now, limits, slot); }

    bool may_hand_over(time_point now, fairness_limits const& limits) const noexcept { return fairness_.may_hand_over(now, limits); }
    void handed_over() noexcept { fairness_.handed_over(); }

    // The next move of the first acquisition. `ttl`: of the lock.
    wait_decision next(time_point now, duration ttl) const noexcept;

    // The caller carries out an attempt or a race. Returns whether a probe goes out with the attempt, since the nodes will probably refuse again.
    bool attempting(wait_move how, time_point now) noexcept;

    // The caller carries out a poll or a probe. The next poll is due after `if_told` while enough nodes tell of changes, otherwise after `if_not`.
    void probing(wait_move why, time_point now, duration if_told, duration if_not) noexcept;

    // A probe is sent, alone or along with an attempt. Every answer to it is passed in with the returned stamp.
    probe_stamp probed();

    // An attempt was not won. Returns whether the caller sends a probe now: the first one of this wait, and only if `may_probe`.
    bool failed(lost_attempt const& what, time_point now, wait_odds const& odds, duration poll_interval, bool may_probe);

    // A node tells that a key has changed.
    void changed(std::size_t node, time_point now);

    // The connection to a node is lost, so the node will neither answer nor tell of changes.
    void silent(std::size_t node);

    // A node's answer to a probe. `our_own`: the node granted the attempt that the probe went along with, so the key there is this client's.
    learned answered(probe_stamp const& asked, std::size_t node, probe_answer const& answer, bool our_own, time_point now) noexcept;

    // Nodes that failed the last probe.
    node_set silent_nodes() const noexcept { return wait_ ? wait_->silent : node_set{}; }

    // This client itself is about to free a key on a node.
    void freed_by_us(std::size_t node, time_point now);

    // Whether other clients' contention, or this client's own turn, is worth recording, so that the wait queue stays when it is empty.
    bool has_news(time_point now) const noexcept { return !fairness_.is_over(now); }

    // The same while this client has a lease since `acquired`: whether there is more to record than the moment of that win.
    bool has_news_beside(time_point acquired, duration slot) const noexcept;

    // When has_news() becomes false.
    time_point over_at() const noexcept { return fairness_.over_at(); }

private:
    // What is known of other holders during one wait: from the first news of one until begin(), won() or vacated().
    struct wait {
        wait(electorate of, std::uint64_t n) : schedule{of}, freed{of.nodes}, number{n} {}

        wait_schedule schedule;
        per_node<std::uint32_t> freed;  // how often this client itself has freed the key on each node
        std::uint64_t number;  // counts the waits for this lock
        time_point expires{};  // when the last key expires, as the last probe found
        std::optional<duration> left_when_extended{};  // time between the holder's last noticed extension and `expires`
        time_point
            short_of_votes_until{};  // the last attempt failed for lack of votes, which free keys do not bring: no other one before this
        duration left_at_race{};  // time between the start of the race under way and `expires`
        node_set answering;  // nodes that answered the last probe
        node_set silent;  // nodes that failed the last probe
        bool racing{false};  // the attempt under way was made because a majority had become free
        bool probed{false};  // the first probe was sent
        bool backed_off{false};  // the client has backed off, and no answer to a probe has come since
    };

    wait& this_wait();
    duration head_start(wait_odds const& odds, time_point now) const noexcept;
    bool looks_like_an_extension(wait const& current, time_point now, duration ttl) const noexcept;
    learned learn(wait& current, std::size_t node, bool answered, time_point now) noexcept;

    electorate voters_;
    std::unique_ptr<wait> wait_;  // none: as far as is known, no other client has the lock
    std::uint64_t waits_{0};
    fairness fairness_;
    token_number seen_{0};  // the largest counter in a refusal; a larger one means that another holder has the lock
    lock_outlook outlook_{lock_outlook::unknown};
};

}  // namespace redlock::quorum

#endif
