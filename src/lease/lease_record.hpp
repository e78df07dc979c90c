// src/lease: what is held. A record is one value on the nodes: an attempt's, then a lease's, then the release's. And what each lease object sees of it: usually one, none
// while it is passed on, more with nested leases of an owner.
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

// An error in little space, where none is one too.
inline error_code to_error(errc e) noexcept { return e == errc{} ? error_code{} : error_code{e}; }

// What most leases do not have is apart from them, in memory that is given out again and again.
struct cold_state_base {
    static void* operator new(std::size_t size) { return recycled_block(size); }
    static void operator delete(void* what, std::size_t size) noexcept { recycle_block(what, size); }
};

// A lease object's share in a record.
class lease_handle final : public lease_state {
public:
    lease_handle(lease_record& in, std::shared_ptr<core> from) : lease_state{std::move(from)}, of{in} {}

    enum class presence : std::uint8_t {
        not_yet,
        here,
        left,  // released, or gone without
        left_as_last,  // and with it the record was given back to the nodes
    };
    presence is{presence::not_yet};

    lease_record& of;

    bool is_here() const noexcept { return is == presence::here; }

    // What ended it before it left; none: nothing did.
    errc lost_error() const noexcept { return phase.load() == lease_phase::lost ? lost_because.load() : errc{}; }

    void show(time_point until, std::size_t on_nodes) noexcept
    {
        valid_until_ns.store(until.time_since_epoch().count(), std::memory_order_release);
        nodes_held.store(static_cast<std::uint8_t>(on_nodes), std::memory_order_relaxed);
    }

    // with_lock's executors; null without it.
    scope_executors const* scope() const noexcept { return cold_ ? cold_->scope.get() : nullptr; }
    void set_scope(std::shared_ptr<scope_executors const> scope)
    {
        if (scope) cold().scope = std::move(scope);
    }

    // For its loss.
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
    bool is_current{false};  // the lease that this client has of its names
    bool release_started{false};
    quorum::node_set sent_to;  // a request that may set or renew the key went there

    std::shared_ptr<lock_descriptor const> const what;
    lock_value const value;

    // What the first lease object sees, and what all that come after it are shown. Keeps the core until the last answer about the record has
    // been filed.
    lease_handle first;

    command request(verb of) const noexcept
    {
        command c{of, what->first(), value.head(), what->under->key_ttl};
        c.value_end = value.tail();
        c.fenced = is_fenced();
        c.block = what->under->tokens.reserved;
        c.retention = what->under->tokens.retention;
        c.token = last_token;
        c.others = what->others();
        return c;
    }

    bool is_fenced() const noexcept { return what->under->tokens.fenced; }

    // A quarter of the retention at a time is often enough, and spares the nodes the work.
    bool wants_refresh(time_point now) const noexcept { return is_fenced() && now >= refreshed + what->under->tokens.retention / 4; }

    // The tokens are known, by the last of them.
    void assign_tokens(quorum::token_number last) noexcept
    {
        if (!is_fenced()) return;
        last_token = last;
        next_token = last - what->under->tokens.reserved + 1;
    }
    bool has_tokens_for_another() const noexcept { return !is_fenced() || next_token + what->under->tokens.block - 1 <= last_token; }

    void may_live_until(time_point t) noexcept { expires = std::max(expires, t); }

    bool is_lease() const noexcept { return phase == state::held; }

    // A lease object for it. The tokens of the next block are its own; those of a nested one are not. Precondition: its keeper has it.
    std::shared_ptr<lease_handle> add_handle(std::size_t nodes);
    std::shared_ptr<lease_handle> add_nested();
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

    // By callers of lease::extend(), so that they can stop waiting.
    void asked_for(std::shared_ptr<extension> const& what);
    std::vector<std::weak_ptr<extension>> extensions_asked_for() const;

    void publish(time_point now) noexcept
    {
        // Keys that turn out to be gone took the lease with them at a moment that nobody knows: now, at the latest.
        time_point const until = machine->valid_until();
        time_point const shown = first.valid_until();
        first.show(until < shown && until < now ? std::min(shown, now) : until, machine->held_on(now));
        if (cold_)
            for (auto const& h : cold_->handles) show_to(*h);
    }

    // Of the lease objects.
    owner_id owner() const noexcept { return cold_ ? cold_->owner : owner_id{}; }
    void set_owner(owner_id owner)
    {
        if (cold_ || owner != owner_id{}) with_cold().owner = owner;
    }

    // For events.
    event_marks& marks() { return with_cold().marks; }
    event_marks const& marks() const noexcept { return cold_->marks; }

    // What holds it: the keeper's.
    std::shared_ptr<lease_record> const& shared() const noexcept;

    // Its lease objects, and who waits for something of them. Nothing of it is used any more.
    void clear() noexcept;

    void on_timer(time_point now) override;
    bool may_come_early(time_point now) const override;

    lease_registry* registry{nullptr};  // while registered there
    std::uint32_t place{0};  // with it
    errc release_error{};  // once the release is decided; none: it went well
    release* giving_back{nullptr};  // while nodes are still to answer
    std::optional<quorum::lease_machine> machine;  // from the majority on
    time_point refreshed{};  // when the nodes were last told to keep the counter for its retention
    std::uint64_t asked_in{0};  // the round with the last request that may set or renew the key
    time_point expires{};  // when the last node forgets the key, if nothing else removes it

private:
    struct extra_handle;

    struct cold_state : cold_state_base {
        std::vector<std::shared_ptr<lease_handle>, recycling<std::shared_ptr<lease_handle>>> handles;  // handed over, or nested
        std::vector<std::weak_ptr<extension>> asked_for;
        owner_id owner{};
        event_marks marks;  // where there is an observer
    };

    cold_state& with_cold()
    {
        if (!cold_) cold_ = std::make_unique<cold_state>();
        return *cold_;
    }
    std::shared_ptr<lease_handle> add();
    void show_to(lease_handle& h) const noexcept { h.show(first.valid_until(), first.nodes_held.load(std::memory_order_relaxed)); }

    quorum::token_number last_token{0};  // of all that are reserved
    quorum::token_number next_token{0};  // not given to any lease yet
    std::unique_ptr<cold_state> cold_;
};

// The record of a lease object, which keeps it.
inline std::shared_ptr<lease_record> record_of(std::shared_ptr<lease_handle> const& who) noexcept { return {who, &who->of}; }

}  // namespace redlock::detail

#endif
