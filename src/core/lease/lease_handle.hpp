// What a lease object sees of its lease: its place in a lease_record, which it shares with other handles where a lease is nested. Usually a record has one
// handle; it has none while it is handed over, and several with nested leases of an owner.
#ifndef REDLOCK_CORE_LEASE_LEASE_HANDLE_HPP
#define REDLOCK_CORE_LEASE_LEASE_HANDLE_HPP

#include "base/timer_queue.hpp"
#include "core/events/emitter.hpp"
#include "core/lease/waiter.hpp"

#include <redlock/detail/core.hpp>
#include <redlock/detail/lease_state.hpp>
#include <redlock/detail/recycling.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

class lease_record;
struct ticket;

// State that most leases do not need is kept in blocks of its own, so that leases stay small. The blocks are recycled.
struct cold_state_base {
    static void* operator new(std::size_t size) { return recycled_block(size); }
    static void operator delete(void* what, std::size_t size) noexcept { recycle_block(what, size); }
};

// The part of a record that one lease object sees.
class lease_handle : public lease_state {
public:
    // The first handle of a record is part of it.
    enum class place : bool { in_the_record, extra };
    lease_handle(place where, std::shared_ptr<lease_core> from) : lease_state{std::move(from)}, where_{where} {}

    enum class presence : std::uint8_t {
        not_yet,
        here,
        left,  // the lease object was released or destroyed
        left_as_last,  // the same, and no handle was left, so that the record was released on the nodes
    };
    presence is{presence::not_yet};

    lease_record& of() const noexcept;

    // What events say of it, as the lease object shows it.
    told_lease told() const;

    bool is_here() const noexcept { return is == presence::here; }

    // Why the lease was lost while this handle was here; errc{}: it was not.
    errc lost_error() const noexcept { return phase.load() == lease_phase::lost ? lost_because.load() : errc{}; }

    void show(time_point until, std::size_t on_nodes) noexcept
    {
        valid_until_ns.store(until.time_since_epoch().count(), std::memory_order_release);
        nodes_held.store(static_cast<std::uint8_t>(on_nodes), std::memory_order_relaxed);
    }

    // What another process needs to go on with the lease. `servers`: fingerprints of those that are connected. For any thread.
    ticket to_ticket(std::vector<std::uint32_t> servers) const;

    // The coroutines of the with_lock that holds the lease; null without with_lock.
    scope_coroutines const* scope() const noexcept
    {
        auto const* const state = cold_or_null();
        return state ? state->scope.get() : nullptr;
    }
    void set_scope(std::shared_ptr<scope_coroutines const> scope)
    {
        if (scope) cold().scope = std::move(scope);
    }

    // What was the matter when the lease was lost; empty: that is not known. Set before `phase` is lost, so others may read it when they have seen that it
    // is errc::lease_lost, which always has a reason.
    std::string_view loss_reason() const noexcept
    {
        auto const* const state = cold_or_null();
        return state && state->loss_reason ? std::string_view{*state->loss_reason} : std::string_view{};
    }
    void set_loss_reason(std::shared_ptr<std::string const> text)
    {
        if (text) cold().loss_reason = std::move(text);
    }

    // Callers that wait for the loss of this lease.
    waiter_list& waiters() { return cold().waiters; }
    void complete_waiters(error_code ec)
    {
        if (auto* const state = cold_or_null()) state->waiters.complete_all(ec, loss_reason());
    }
    void drop_waiters() noexcept
    {
        if (auto* const state = cold_or_null()) state->waiters.clear();
    }

    struct cold_state : cold_state_base {
        std::shared_ptr<scope_coroutines const> scope;
        std::shared_ptr<std::string const> loss_reason;
        waiter_list waiters;
    };

private:
    // The first handle's is part of the record's.
    cold_state& cold();
    cold_state* cold_or_null() const noexcept;

    place const where_;
};

// A handle after the first, which is part of the record. It keeps the record alive.
class extra_lease_handle final : public lease_handle {
public:
    explicit extra_lease_handle(std::shared_ptr<lease_record> const& in);

    std::shared_ptr<lease_record> const keeps;
    std::unique_ptr<cold_state> cold;
};

}  // namespace redlock::detail

#endif
