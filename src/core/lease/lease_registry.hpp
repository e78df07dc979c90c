// The leases of a client: their extensions, their loss, and the callers that wait for either. The watchdog's timers call it.
#ifndef REDLOCK_CORE_LEASE_LEASE_REGISTRY_HPP
#define REDLOCK_CORE_LEASE_LEASE_REGISTRY_HPP

#include "core/environment.hpp"
#include "core/lease/extension.hpp"
#include "core/lease/lease_record.hpp"
#include "core/lease/losses.hpp"
#include "core/lease/releases.hpp"
#include "quorum/acquire_machine.hpp"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace redlock::detail {

class lease_registry {
public:
    lease_registry(environment& env, releases& given_back) : env_{env}, releases_{given_back} {}

    // A majority granted: the record is a lease from now on. False: so many nodes' clocks were set since the request that no validity is left.
    bool adopt(std::shared_ptr<lease_record> const& what, quorum::acquire_machine const& won, time_point now)
    {
        return adopt(what, won.holders(), won.sent(), now);
    }
    // The same for an adoption of a detached lease. `sent`: when the first request that may count was sent.
    bool adopt(std::shared_ptr<lease_record> const& what, quorum::tenure const& holders, time_point sent, time_point now);

    // A node granted after the majority had.
    void late_grant(lease_record& what, std::size_t node, time_point until, time_point now);

    // A node that granted has answered a confirmation since: the key is gone there.
    void late_refusal(lease_record& what, std::size_t node, time_point now);

    // Does what is due for this lease now (extends it, sets missing keys again, ends it), and sets its next timer.
    void on_timer(lease_record& what, time_point now);

    // For lease::extend(). Always starts an extension, since the caller wants the full ttl from now on.
    void extend(lease_handle const& by, std::shared_ptr<waiter> who);
    void abandon_extend(lease_record const& what, waiter const* who);

    // Makes a reader of the writer of a read-write lock. The first extension as a reader does it on the nodes, and `who` is told when a majority has
    // answered. Returns false, and tells `who` why, if it does nothing.
    bool downgrade(lease_handle const& by, std::shared_ptr<waiter> who);

    // For simulations: extends all leases on that name now, due or not.
    void extend_all_on(std::string_view name, time_point now);

    // For simulations: the token of the lease on that name; 0: there is no lease, or no token.
    quorum::token_number token_on(std::string_view name) const noexcept;

    void wait_lost(lease_handle& who, std::shared_ptr<waiter> what);
    void abandon_wait(lease_handle& who, waiter const* what);

    // The lease goes on under another holder.
    void hand_over(lease_record& what, time_point now);

    // A lease object was released or destroyed.
    void leave(lease_handle& who);

    // Ends a lease that was not released. Does nothing when it has ended already.
    void lose(lease_record& what, errc why);
    void lose_all(errc why);

    // Ends a lease whose time has passed, if no timer has done so yet.
    void lose_if_over(lease_record& what, time_point now);

    // A node's clock was set forward, so its keys expire so much earlier.
    void on_step(std::size_t node, duration by, time_point now);

    // The client's nodes are of another generation of their set.
    void on_generation(time_point now);

    // lease::detach(): nothing is due for the lease any more, and it is not released. Other handles of its owner lose it.
    void detach(lease_record& what);

    // The lease is being released on the nodes: nothing is due for it any more.
    void let_go(lease_record& what);

    // Called when a lease is lost.
    std::function<void(lease_record& what)> on_lost;

    // Called when nodes should get once more what a lease has published: one has its key again, or all begin to keep it anew.
    std::function<void(lease_record& what, time_point now)> on_publish_again;

    bool empty() const noexcept { return held_.empty(); }

    void clear() noexcept;

    // Called by extensions, climbs and records.
    void set_timer(lease_record& what);
    void recreate_if_needed(lease_record& what, time_point now);
    void start_climb(std::shared_ptr<lease_record> const& what, quorum::token_number needed, time_point now);
    void publish_again(lease_record& what, time_point now)
    {
        if (what.published() && what.is_lease() && on_publish_again) on_publish_again(what, now);
    }
    void climb_ended(lease_record& what, quorum::token_number guard, time_point now);  // 0: it has failed
    std::shared_ptr<lease_record> const& held_at(std::size_t index) const noexcept { return held_[index]; }
    environment& env() const noexcept { return env_; }
    releases& all_releases() const noexcept { return releases_; }

private:
    void note_if_late(lease_record& what, time_point now) const;
    static errc end_of(lease_record const& what, time_point now);
    void follow_set(lease_record& what) const;
    bool is_held(lease_handle const& by, waiter& who, time_point now);
    void extend_where_possible(lease_record& what, time_point now);
    void start_extension(std::shared_ptr<lease_record> const& what, time_point now, std::shared_ptr<waiter> who, bool after_climb = false,
                         quorum::node_set const& not_at = {});

    environment& env_;
    releases& releases_;
    losses losses_{env_};
    executor_watch executor_watch_{env_};
    std::vector<std::shared_ptr<lease_record>> held_;  // each record keeps its index here
};

}  // namespace redlock::detail

#endif
