// Fairness between clients, as far as one of them can see to it alone.
//
// A client that has a lock could keep it for ever: it passes the lease on to its own waiters, or is the first to ask after its own
// release, half a round trip before anybody else can know of it. So a turn has an end, by number and by time, and after it the
// client stays out of the race for a moment. A client that has seen others want the lock does so after each release.
//
// Between those who wait: who lost more races than a wait usually takes goes first, the others leave a head start. Where so many race
// that nearly all of them lose each time, most back off: a release then costs what a few attempts cost, however many wait.
#ifndef REDLOCK_QUORUM_WAITING_FAIRNESS_HPP
#define REDLOCK_QUORUM_WAITING_FAIRNESS_HPP

#include "quorum/timing.hpp"

#include <cstdint>

namespace redlock::quorum {

struct fairness_limits {
    std::uint32_t handoffs;
    duration time;
};

class fairness {
public:
    // Nothing was seen of others yet.
    fairness() noexcept;

    // The lock was won on the nodes.
    void won(time_point now, duration slot) noexcept;

    // Whether the lease may be passed on, once more.
    bool may_hand_over(time_point now, fairness_limits const& limits) const noexcept;
    void handed_over() noexcept { ++taken_; }

    // The nodes are told to free the lock. Returns until when the client stays out of the race.
    time_point released(time_point now, fairness_limits const& limits, duration slot) noexcept;

    // An attempt found that somebody else holds the lock.
    void refused(time_point now) noexcept;

    // Somebody else was first, when the lock had become free.
    void lost_a_race() noexcept;

    // How long to take no part in races; zero: no backoff is due. `crowded`: the nodes are slow with so many who ask. `chance` is between 0
    // and 1.
    duration back_off(duration slot, bool crowded, double chance) noexcept;

    // The lock was found to be free after a backoff: the waiters have become fewer.
    void backed_off_too_long() noexcept { backoff_window_ /= 4; }

    time_point out_until() const noexcept { return out_until_; }

    // How much later than the first chance this client should try. `slot`: what one attempt takes. `chance` is between 0 and 1, and
    // keeps apart who lost the same number of races.
    duration head_start_of_others(duration slot, double chance) const noexcept;

    // The same for the writer of a read-write lock, which loses most races to readers: writers that wait for about as long as a wait usually lasts go
    // first. Readers always do, by one slot.
    duration head_start_of_readers_and_writers(time_point now, duration slot, double chance) const noexcept;

    // Nothing is worth recording any more.
    bool is_over(time_point now) const noexcept { return now >= over_at(); }
    time_point over_at() const noexcept { return forget_at_; }

    friend bool operator==(fairness const&, fairness const&) = default;

private:
    bool others_want_it(time_point now) const noexcept;
    std::uint32_t usual() const noexcept { return usual_in_quarters_ / 4; }

    std::uint32_t taken_{0};  // leases that were passed on in this turn
    time_point began_{};
    time_point released_at_{time_point::min()};
    time_point refused_at_{time_point::min()};
    time_point out_until_{};
    time_point forget_at_{};
    std::uint32_t lost_{0};  // races, in this wait
    std::uint32_t usual_in_quarters_{0};  // races lost in a wait, on average
    bool contended_{false};  // refused since the last win
    time_point waits_since_{};  // the first of these refusals
    duration usual_wait_{};  // from there to the win, on average; of waits with a refusal
    bool new_turn_{false};  // the last one ended with the last release
    duration stay_out_;  // after a turn without any sign of others
    std::uint32_t lost_in_a_row_{0};  // races, since the last backoff
    duration backoff_window_{};  // the last one, on average
};

}  // namespace redlock::quorum

#endif
