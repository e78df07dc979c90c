// What is held: extensions, loss, and who waits for it. The watchdog's work, called by its alarms.
#ifndef REDLOCK_CORE_LEASES_HPP
#define REDLOCK_CORE_LEASES_HPP

#include "core/environment.hpp"
#include "core/hold.hpp"
#include "core/releases.hpp"
#include "quorum/acquire_machine.hpp"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace redlock::detail {

class leases;

// One extension of one lease; those that are due together share their round, and a script call on each node.
class extension final : public voter, public alarm, public std::enable_shared_from_this<extension> {
public:
    extension(leases& owner, std::shared_ptr<hold> what, time_point now);
    ~extension();

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    void on_sent(std::uint16_t nodes) override { hold_->touch(nodes); }
    bool wanted(std::size_t node, time_point now) const override;
    void on_alarm(time_point now) override;

private:
    friend class leases;

    void decided(quorum::extend_outcome outcome, time_point now);

    leases& owner_;
    std::shared_ptr<hold> hold_;
    quorum::extend_machine machine_;
    time_point sent_;
    bool refreshes_;
    waiter_list waiters_;  // who called lease::extend()
};

class leases {
public:
    leases(environment& env, releases& given_back) : env_{env}, releases_{given_back} {}

    // A majority granted: the hold is a lease from now on. False: clocks of nodes were set since it was asked for, and nothing is left.
    bool adopt(std::shared_ptr<hold> const& what, quorum::acquire_machine const& won, time_point now);

    // A node granted after the majority had.
    void late_grant(hold& what, std::size_t node, time_point until, time_point now);

    // Whatever is due for this lease now; sets its next alarm.
    void tend(hold& what, time_point now);

    // lease::extend(): joins no other extension, since the caller wants the full ttl from now on.
    void extend(holder const& by, std::shared_ptr<waiter> who);
    void abandon_extend(hold const& what, waiter const* who);

    // For simulations: whoever holds a lock on that name extends it now, due or not.
    void extend_all_on(std::string_view name, time_point now);

    // And with which token; 0: nobody, or without one.
    quorum::token_number token_on(std::string_view name) const noexcept;

    void wait_lost(holder& who, std::shared_ptr<waiter> what);
    void abandon_wait(holder& who, waiter const* what);

    // The lease goes on under another holder.
    void hand_over(hold& what, time_point now);

    // A lease object is released, or gone.
    void leave(holder& who);

    // Ends a lease that was not released. Does nothing when it has ended already.
    void lose(hold& what, errc why);
    void lose_all(errc why);

    // A node's clock was set forward, so that it forgets what it keeps so much earlier.
    void on_step(std::size_t node, duration by, time_point now);

    // The lease is being released on the nodes: nothing is due for it any more.
    void let_go(hold& what);

    // Called when a lease is lost.
    std::function<void(hold& what)> on_lost;

    bool empty() const noexcept { return held_.empty(); }

    void clear() noexcept;

private:
    friend class extension;
    friend class hold;

    void start_extension(std::shared_ptr<hold> const& what, time_point now, std::shared_ptr<waiter> who);
    void set_alarm(hold& what);
    void replant_if_needed(hold& what, time_point now);

    environment& env_;
    releases& releases_;
    std::vector<std::shared_ptr<hold>> held_;  // each knows its place
};

}  // namespace redlock::detail

#endif
