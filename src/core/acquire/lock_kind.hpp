// What a kind of lock does otherwise than an exclusive lock, which is of no kind and is what the rest of this folder is about. src/core/kinds/ has them all.
#ifndef REDLOCK_CORE_ACQUIRE_LOCK_KIND_HPP
#define REDLOCK_CORE_ACQUIRE_LOCK_KIND_HPP

#include "core/fanout.hpp"
#include "protocol/command.hpp"
#include "protocol/reply.hpp"
#include "quorum/waiting/contention.hpp"

#include <redlock/detail/resource.hpp>
#include <redlock/error.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

namespace redlock::detail {

class acquisition;
class acquisitions;
class attempt;
class lease_record;
class lock_table;
class wait_queue;

// What those who wait for such a lock do otherwise. Each wait queue has an object of its own.
class queue_rules {
public:
    virtual ~queue_rules() = default;

    virtual quorum::wait_odds::of_lock sides() const noexcept = 0;

    // The first acquisition begins to wait.
    virtual void begin() noexcept = 0;

    // Whether one that joins behind others makes an attempt at once. Nothing is known of other clients.
    virtual bool goes_along(acquisition const& who) const = 0;

    // A lease was won beside others.
    virtual void won() noexcept {}

    // It was told to its caller.
    virtual void granted(time_point /* now */) {}

    // When the last lease was won, nothing was left for others: they need their turn when it is released.
    bool is_scarce{false};

    // A node refused an attempt.
    virtual void refused(std::size_t /* node */, reply const& /* answer */) {}

    // The first acquisition makes an attempt because keys have become free; its attempt was not won.
    virtual void races() noexcept {}
    virtual void failed() noexcept {}

    // Whether this client has so much of the lock that the nodes cannot help.
    virtual bool is_used_up_here() const { return false; }

    // False: a probe learns too little, and an attempt takes its place.
    virtual bool may_probe() const noexcept { return true; }
    virtual void choose_keys(command& /* probe */) {}
};

class lock_kind {
public:
    // Why what is asked for can never be had; errc{}: it can.
    virtual errc why_never(resource const& /* asked */) const noexcept { return {}; }

    // Why it cannot be had now, since this client itself has so much of it; empty: it can.
    virtual std::string_view why_not_now(resource const& /* asked */, lock_table const&) const { return {}; }

    // Whether leases of this client that end only when `asking` has ended keep it from it.
    virtual bool waits_for_itself(acquisition const& asking, lock_table const& table, time_point now) const = 0;

    virtual std::shared_ptr<attempt> make_attempt(acquisitions& owner, acquisition& what, std::shared_ptr<lease_record> record,
                                                  time_point now) const = 0;

    // Sends the request of an attempt.
    virtual void send(pending_request&& asked, acquisition const& what, fanout& to) const = 0;

    virtual std::unique_ptr<queue_rules> make_rules(wait_queue& of) const = 0;

protected:
    ~lock_kind() = default;
};

// By resource::side.
struct lock_kinds {
    std::array<lock_kind const*, 4> by_side;

    lock_kind const* of(resource const& what) const noexcept { return by_side[static_cast<std::size_t>(what.which())]; }
};

}  // namespace redlock::detail

#endif
