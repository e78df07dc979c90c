// src/core/acquire: acquire() and try_acquire(). This class starts, retries, cancels and completes all acquisitions of a client. engine owns it and passes
// operations and events in.
#ifndef REDLOCK_CORE_ACQUIRE_ACQUISITIONS_HPP
#define REDLOCK_CORE_ACQUIRE_ACQUISITIONS_HPP

#include "core/acquire/acquisition.hpp"
#include "core/acquire/attempt.hpp"
#include "core/acquire/lock_table.hpp"
#include "core/environment.hpp"
#include "core/lease/lease_record.hpp"
#include "core/lease/lease_registry.hpp"
#include "core/lease/releases.hpp"

#include <redlock/lease.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <memory>
#include <string_view>

namespace redlock::detail {

class acquisitions {
public:
    acquisitions(environment& env, lease_registry& leases, releases& all_releases, lock_kinds all)
        : env_{env}, leases_{leases}, releases_{all_releases}, lock_table_{env, *this, all}
    {
    }

    void start(std::shared_ptr<acquisition> const& what, time_point now);
    void refuse(acquisition& what, error_code why);
    void cancel(acquisition& what, asio::cancellation_type_t type);

    // The last lease object of a record was released. Hands the record over to the first acquisition in the wait queue of its lock. Returns false if
    // none waits, or if it is the turn of other clients.
    bool hand_over(lease_record& lease, time_point now);

    void on_changed(std::size_t node, std::string_view key) { lock_table_.on_changed(node, key, env_.now()); }
    void on_down(std::size_t node) { lock_table_.on_down(node, env_.now()); }

    void on_lost(lease_record& lease) { lock_table_.vacated(lease, false, env_.now()); }

    // The release of a lease is on its way to the nodes.
    void on_released(lease_record& lease, time_point now);

    // The holder of the lease is a reader from now on; the request that says so is on its way.
    void on_downgraded(lease_record& lease, time_point now);

    // Completes all acquisitions with `why`, and rolls their attempts back.
    void fail_all(error_code why);

    // The execution context is destroyed: destroys all acquisitions without completing them.
    void clear() noexcept;

    // acquisition calls the next three. The next attempt of an acquisition that fails fast is due.
    void try_now(acquisition& what, time_point now);

    // The error of an acquisition whose acquire_timeout is over.
    errc why_too_late(acquisition const& what) const;

    // Takes an acquisition out of its wait queue and calls its handler.
    void finish(acquisition& what, error_code ec, lease held);

    // The attempt under way, if any, no longer has a caller: all its grants, present and future, are rolled back.
    void give_up_attempt_of(acquisition& what);

    // attempt calls this when it is decided.
    void on_decided(attempt& a, quorum::acquire_outcome outcome, time_point now);

    // Rolls an attempt back. `of`: the wait queue whose first acquisition made it, or null. That queue does not consider its next step here, since
    // the outcome of the attempt may still be open.
    void undo(attempt& a, wait_queue* of);

    // wait_queue calls this: makes an attempt for its first acquisition.
    void next_attempt(acquisition& what, time_point now);

    environment& env() const noexcept { return env_; }
    lease_registry& leases() const noexcept { return leases_; }
    releases& all_releases() const noexcept { return releases_; }
    lock_table& locks() noexcept { return lock_table_; }

private:
    bool reenter(acquisition& what, lease_record& lease, time_point now);
    bool reenter_to_read(acquisition& what, time_point now);
    std::string_view why_not_now(resource const& asked) const;
    void reject_locally(acquisition& what, std::string_view why, time_point now);
    void retry_later(acquisition& what, error_code why, time_point now);
    void fail_in_self_deadlock(acquisition& what);
    void on_attempt_failed(acquisition& what, attempt const& lost, error_code why, time_point now);
    void on_won(attempt& a, acquisition& what, time_point now);
    errc why_hopeless(attempt const& lost, quorum::acquire_outcome outcome) const;
    void log_outage(attempt const& lost, quorum::acquire_outcome outcome, time_point now);
    void grant(acquisition& what, lease_record& lease);

    environment& env_;
    lease_registry& leases_;
    releases& releases_;
    acquisition::list<hook_of_all> waiting_;
    lock_table lock_table_;
};

}  // namespace redlock::detail

#endif
