// src/lease: leases and their ends. A lease_record is one value on the nodes, from the attempt that sets it through the lease to its release. A
// lease_handle is what a lease object sees of the record. Usually a record has one handle; it has none while it is handed over, and several with
// nested leases of an owner.
#ifndef REDLOCK_LEASE_LEASE_RECORD_HPP
#define REDLOCK_LEASE_LEASE_RECORD_HPP

#include "base/timer_queue.hpp"
#include "client/resolved_options.hpp"
#include "events/emitter.hpp"
#include "lease/lock_value.hpp"
#include "lease/waiter.hpp"
#include "quorum/lease_machine.hpp"
#include "quorum/node_set.hpp"
#include "redis/node.hpp"

#include <redlock/detail/completion.hpp>
#include <redlock/detail/core.hpp>
#include <redlock/detail/lease_state.hpp>
#include <redlock/detail/recycling.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace redlock::detail {

class extension;
class lease_record;
class lease_registry;
class release;

// Members keep errors as errc, which is small; errc{} there means no error.
inline error_code to_error(errc e) noexcept { return e == errc{} ? error_code{} : error_code{e}; }

// State that most leases do not need is kept in blocks of its own, so that leases stay small. The blocks are recycled.
struct cold_state_base {
    static void* operator new(std::size_t size) { return recycled_block(size); }
    static void operator delete(void* what, std::size_t size) noexcept { recycle_block(what, size); }
};

// The part of a record that one lease object sees.
class lease_handle final : public lease_state {
public:
    lease_handle(lease_record& in, std::shared_ptr<core> from) : lease_state{std::move(from)}, of{in} {}

    enum class presence : std::uint8_t {
        not_yet,
        here,
        left,  // the lease object was released or destroyed
        left_as_last,  // the same, and no handle was left, so that the record was released on the nodes
    };
    presence is{presence::not_yet};

    lease_record& of;

    bool is_here() const noexcept { return is == presence::here; }

    // Why the lease was lost while this handle was here; errc{}: it was not.
    errc lost_error() const noexcept { return phase.load() == lease_phase::lost ? lost_because.load() : errc{}; }

    void show(time_point until, std::size_t on_nodes) noexcept
    {
        valid_until_ns.store(until.time_since_epoch().count(), std::memory_order_release);
        nodes_held.store(static_cast<std::uint8_t>(on_nodes), std::memory_order_relaxed);
    }

    // The executors of the with_lock that holds the lease; null without with_lock.
    scope_executors const* scope() const noexcept { return cold_ ? cold_->scope.get() : nullptr; }
    void set_scope(std::shared_ptr<scope_executors const> scope)
    {
        if (scope) cold().scope = std::move(scope);
    }

    // Callers that wait for the loss of this lease.
    waiter_list& waiters() { return cold().waiters; }
    void complete_waiters(error_code ec)
    {
        if (cold_) cold_->waiters.complete_all(ec);
    }
    void drop_waiters() noexcept
    {
        if (cold_) cold_->waiters.clear();
    }

private:
    struct cold_state : cold_state_base {
        std::shared_ptr<scope_executors const> scope;
        waiter_list waiters;
    };

    cold_state& cold()
    {
        if (!cold_) cold_ = std::make_unique<cold_state>();
        return *cold_;
    }

    std::unique_ptr<cold_state> cold_;
};

class lease_record final : public timer {
public:
    lease_record(std::shared_ptr<core> from, std::shared_ptr<lock_descriptor const> of, lock_value fresh_value)
        : what{std::move(of)}, value{std::move(fresh_value)}, first{*this, std::move(from)}
    {
    }

    enum class state : std::uint8_t { acquiring, held, lost, released };
    state phase{state::acquiring};
    bool is_current{false};  // lock_table finds this record by its names
    bool release_started{false};
    bool detached{false};  // lease::detach(): the value is somebody else's to extend and release
    quorum::node_set sent_to;  // nodes that were sent a request that may set or renew the key

    std::shared_ptr<lock_descriptor const> const what;
    lock_value const value;

    // The handle of the first lease object. All handles show the same validity. Through this one the record keeps the core alive until the last
    // answer about the record has been filed.
    lease_handle first;

    command request(verb of) const noexcept
    {
        command c{of, what->first(), value.head(), what->under->key_ttl};
        c.value_end = value.tail();
        c.fenced = is_fenced();
        c.block = what->under->tokens.reserved;
        c.retention = what->under->tokens.retention;
        c.token = guard();
        c.others = what->others();
        c.shared = reads();
        c.was_writer = is_downgraded();
        return c;
    }

    // Of a reader of a read-write lock, and not of a writer, or of an exclusive lock.
    bool reads() const noexcept { return what->is_for_readers() || is_downgraded(); }

    // It was won by a writer, who reads now.
    bool is_downgraded() const noexcept { return first.is_of_reader() && !what->is_for_readers(); }

    bool is_fenced() const noexcept { return what->under->tokens.fenced; }

    // Whether the next extension should renew the counter's retention. Once in a quarter of the retention is often enough, and spares the nodes work.
    bool wants_refresh(time_point now) const noexcept { return is_fenced() && now >= refreshed + what->under->tokens.retention / 4; }

    // What extensions compare the nodes' counters with: the last token, until the lease has climbed (climb.hpp). May be read in any thread.
    quorum::token_number guard() const noexcept { return guard_.load(std::memory_order_relaxed); }
    void raise_guard(quorum::token_number to) noexcept { guard_.store(to, std::memory_order_relaxed); }

    // One climb at a time, and none that goes less far than one that was tried before.
    struct climb_state {
        quorum::token_number tried{0};  // the largest that was asked for
        bool is_under_way{false};
    };
    climb_state& climbs() { return with_cold().climbs; }
    bool has_tried_to_climb() const noexcept { return cold_ && cold_->climbs.tried > 0; }

    // The attempt got its tokens; `last` is the largest of those that are reserved.
    void assign_tokens(quorum::token_number last) noexcept
    {
        if (!is_fenced()) return;
        last_token = last;
        next_token = reads() ? last : last - what->under->tokens.reserved + 1;  // readers share one, and reserve none
        raise_guard(last);
    }

    // An adopted lease: extensions carry this guard. Its tokens are those of the lease that was detached, and there are no others to hand over.
    void assign_guard(quorum::token_number guard) noexcept
    {
        last_token = guard;
        next_token = guard + 1;
        raise_guard(guard);
    }

    bool has_tokens_for_another() const noexcept { return !is_fenced() || next_token + what->under->tokens.block - 1 <= last_token; }

    // A request may let the key stay on a node until `t`.
    void may_live_until(time_point t) noexcept { expires = std::max(expires, t); }

    bool is_lease() const noexcept { return phase == state::held; }

    // Make the handle of another lease object: add_handle for a handoff, with the next block of tokens; add_nested for a nested lease, which shares
    // the tokens of the lease around it; add_adopted for an adopted lease, which has those of its ticket. Precondition: the record is in the registry.
    std::shared_ptr<lease_handle> add_handle(std::size_t nodes);
    std::shared_ptr<lease_handle> add_nested();
    std::shared_ptr<lease_handle> add_adopted(std::size_t nodes, quorum::token_number token, quorum::token_number last);
    void remove(lease_handle const& who) noexcept;

    bool has_handles() const noexcept { return first.is_here() || (cold_ && !cold_->handles.empty()); }

    template <class F>
    void each_handle(F f) const
    {
        if (first.is_here()) f(first);
        if (cold_)
            for (auto const& h : cold_->handles) f(*h);
    }
    template <class F>
    void each_handle(F f)
    {
        if (first.is_here()) f(first);
        if (cold_)
            for (auto const& h : cold_->handles) f(*h);
    }

    // The extensions that lease::extend() has started. abandon_extend() searches them for a cancelled call.
    void asked_for(std::shared_ptr<extension> const& what);
    std::vector<std::weak_ptr<extension>> extensions_asked_for() const;

    void publish(time_point now) noexcept
    {
        // If keys turn out to be gone, validity ended at an unknown moment in the past. Then go on showing the old end, but no later than now.
        time_point const until = machine->valid_until();
        time_point const shown = first.valid_until();
        first.show(until < shown && until < now ? std::min(shown, now) : until, machine->held_on(now));
        if (cold_)
            for (auto const& h : cold_->handles) show_to(*h);
    }

    // The owner that all handles have (lock_options::owner).
    owner_id owner() const noexcept { return cold_ ? cold_->owner : owner_id{}; }
    void set_owner(owner_id owner)
    {
        if (cold_ || owner != owner_id{}) with_cold().owner = owner;
    }

    // Times and the token that events report. Precondition of the second: the client has an observer.
    event_marks& marks() { return with_cold().marks; }
    event_marks const& marks() const noexcept { return cold_->marks; }

    // The registry's pointer to this record. Precondition: the record is in the registry.
    std::shared_ptr<lease_record> const& shared() const noexcept;

    // Destroys the handles and the callers that wait, when the context is destroyed.
    void clear() noexcept;

    void on_timer(time_point now) override;
    bool may_come_early(time_point now) const override;

    lease_registry* registry{nullptr};  // while the record is in there
    std::uint32_t index{0};  // in the registry
    errc release_error{};  // the outcome, once the release is decided; errc{}: success
    release* pending_release{nullptr};  // the release, until all nodes have answered it
    std::optional<quorum::lease_machine> machine;  // none: a majority has not granted yet
    time_point refreshed{};  // when the nodes were last told to keep the counter for its retention
    std::uint64_t asked_in{0};  // number of the round with the last request that may set or renew the key
    time_point expires{};  // when the key expires on the last node, if no release removes it

private:
    struct extra_handle;

    struct cold_state : cold_state_base {
        std::vector<std::shared_ptr<lease_handle>, recycling<std::shared_ptr<lease_handle>>> handles;  // handed over, or nested
        std::vector<std::weak_ptr<extension>> asked_for;
        owner_id owner{};
        event_marks marks;  // used if the client has an observer
        climb_state climbs;
    };

    cold_state& with_cold()
    {
        if (!cold_) cold_ = std::make_unique<cold_state>();
        return *cold_;
    }
    std::shared_ptr<lease_handle> add();
    void show_to(lease_handle& h) const noexcept { h.show(first.valid_until(), first.nodes_held.load(std::memory_order_relaxed)); }

    quorum::token_number last_token{0};  // the largest of those that are reserved
    std::atomic<quorum::token_number> guard_{0};
    quorum::token_number next_token{0};  // the first that no handle has yet
    std::unique_ptr<cold_state> cold_;
};

// The record of a handle. The pointer shares the handle's ownership, which keeps the record alive.
inline std::shared_ptr<lease_record> record_of(std::shared_ptr<lease_handle> const& who) noexcept { return {who, &who->of}; }

}  // namespace redlock::detail

#endif
