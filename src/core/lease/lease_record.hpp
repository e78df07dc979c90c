// src/core/lease: leases and their ends. A lease_record is one value on the nodes, from the attempt that sets it through the lease to its release. A
// lease_handle (lease_handle.hpp) is what a lease object sees of the record.
#ifndef REDLOCK_CORE_LEASE_LEASE_RECORD_HPP
#define REDLOCK_CORE_LEASE_LEASE_RECORD_HPP

#include "base/timer_queue.hpp"
#include "base/to_error.hpp"
#include "core/events/emitter.hpp"
#include "core/lease/lease_handle.hpp"
#include "core/lock_value.hpp"
#include "core/resolved_options.hpp"
#include "protocol/command.hpp"
#include "quorum/lease_machine.hpp"
#include "quorum/node_set.hpp"

#include <redlock/detail/completion.hpp>
#include <redlock/detail/core.hpp>
#include <redlock/detail/lease_state.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/intrusive/parent_from_member.hpp>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

class extension;
class lease_registry;
class release;
struct stamped_state;

class lease_record final : public timer {
public:
    lease_record(std::shared_ptr<lease_core> from, lock_descriptor_ptr of, lock_value fresh_value)
        : what{std::move(of)}, value{std::move(fresh_value)}, first{lease_handle::place::in_the_record, std::move(from)}
    {
    }

    enum class state : std::uint8_t { acquiring, held, lost, released };
    state phase{state::acquiring};
    bool is_current : 1 {false};  // lock_table finds this record by its names
    bool release_started : 1 {false};
    bool detached : 1 {false};  // lease::detach(): the value is somebody else's to extend and release
    quorum::node_set sent_to;  // nodes that were sent a request that may set or renew the key
    quorum::node_set extended_on;  // nodes that have an extension to answer

    lock_descriptor_ptr what;
    lock_value const value;

    // The handle of the first lease object. All handles show the same validity. Through this one the record keeps the core alive until the last
    // answer about the record has been filed.
    lease_handle first;

    // Of an attempt: it is about `part` of what it was about, from now on. `part` keeps that, since requests that are under way refer to its names.
    void narrow(resource part) { what = make_descriptor(std::move(part), what->under); }

    // A request about the value, without what only some verbs have.
    command request(verb of) const;

    // Of a reader of a read-write lock, and not of a writer, or of an exclusive lock.
    bool reads() const noexcept { return what->is_for_readers() || is_downgraded(); }
    lock_mode mode() const noexcept { return reads() ? lock_mode::shared : what->mode(); }

    // It was won by a writer that is a reader now.
    bool is_downgraded() const noexcept { return first.is_of_reader() && !what->is_for_readers(); }

    bool is_fenced() const noexcept { return what->under->tokens.fenced; }

    // Whether the next extension should renew the counter's retention. Once in a quarter of the retention is often enough, and spares the nodes work.
    bool wants_refresh(time_point now) const noexcept { return is_fenced() && now >= refreshed + what->under->tokens.retention / 4; }

    // What extensions compare the nodes' counters with: the last token, until the lease has climbed (climb.hpp). May be read in any thread.
    quorum::token_number guard() const noexcept { return guard_.load(std::memory_order_relaxed); }
    void raise_guard(quorum::token_number to) noexcept { guard_.store(to, std::memory_order_relaxed); }

    // One climb at a time, and none that goes less far than an earlier one.
    struct climb_state {
        quorum::token_number tried{0};  // the largest that was asked for
        bool is_under_way{false};
    };
    climb_state& climbs() { return with_cold().climbs; }
    // Of what is counted (resource::counted_as): how long this client has had it, and how often it was handed over. (Of a lock, its wait queue knows that.)
    struct turn_state {
        time_point began{};
        std::uint32_t handoffs{0};
    };
    turn_state& turn() { return with_cold().turn; }

    bool has_tried_to_climb() const noexcept { return cold_ && cold_->climbs.tried > 0; }

    // What this lease has published last, or inherited: nodes that come back, and those that keep it for long, get it once more. Null: nothing.
    std::shared_ptr<stamped_state const> published() const noexcept { return cold_ ? cold_->published : nullptr; }
    void set_published(std::shared_ptr<stamped_state const> text) { with_cold().published = std::move(text); }
    std::uint64_t next_publication() { return ++with_cold().publications; }

    // The attempt got its tokens; `last` is the largest of those that are reserved. The first handle has the first block of them.
    void assign_tokens(quorum::token_number last) noexcept
    {
        if (!is_fenced()) return;
        tokens_left = reads() ? 0 : what->under->tokens.reserved - what->under->tokens.block;  // readers reserve none
        first.last_token = last - tokens_left;
        first.token.store(reads() ? first.last_token : first.last_token + 1 - what->under->tokens.block, std::memory_order_relaxed);
        raise_guard(last);
    }

    // An adopted lease: extensions carry this guard. Its tokens are those of the lease that was detached, and there are no others to hand over.
    void assign_guard(quorum::token_number guard) noexcept
    {
        tokens_left = 0;
        raise_guard(guard);
    }

    bool has_tokens_for_another() const noexcept { return !is_fenced() || what->under->tokens.block <= tokens_left; }

    // A request may let the key stay on a node until `t`.
    void may_live_until(time_point t) noexcept { expires_ = std::max(expires_, t); }
    bool may_live(time_point now) const noexcept { return now < expires_; }

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

    // What most leases do not need of the first handle's.
    lease_handle::cold_state& cold_of_first() { return with_cold().of_first; }
    lease_handle::cold_state* cold_of_first_or_null() const noexcept { return cold_ ? &cold_->of_first : nullptr; }

    // The extensions that lease::extend() has started. abandon_extend() searches them for a cancelled call.
    void asked_for(std::shared_ptr<extension> const& what);
    std::vector<std::weak_ptr<extension>> extensions_asked_for() const;

    void publish(time_point now) noexcept
    {
        // If keys turn out to be gone, validity ended at an unknown moment in the past. Then go on showing the old end, but no later than now.
        time_point const until = machine.valid_until();
        time_point const shown = first.valid_until();
        first.show(until < shown && until < now ? std::min(shown, now) : until, machine.members_that_hold(now));
        if (cold_)
            for (auto const& h : cold_->handles) show_to(*h);
    }

    // The set of nodes has got another N.
    void resize(std::size_t nodes) noexcept
    {
        first.resize(nodes);
        if (cold_)
            for (auto const& h : cold_->handles) h->resize(nodes);
    }

    // The owner that all handles have (lock_options::owner).
    owner_id owner() const noexcept { return cold_ ? cold_->owner : owner_id{}; }
    void set_owner(owner_id owner)
    {
        if (cold_ || owner != owner_id{}) with_cold().owner = owner;
    }

    // What events say of it. Precondition: the client has an observer.
    told_lease told(time_point now)
    {
        auto& marks = with_cold().marks;
        return {what, marks, mode(), marks.token, machine.valid_until(), static_cast<std::uint32_t>(machine.members_that_hold(now))};
    }

    // The registry that the record is in, with all leases that are held or were not released; null: it is in none. `index`: its place there.
    lease_registry* registry() const noexcept { return index_ == no_index ? nullptr : registry_; }
    std::uint32_t index() const noexcept { return index_; }
    void set_index(std::uint32_t index) noexcept { index_ = index; }
    void enter(lease_registry& where, std::uint32_t index) noexcept
    {
        registry_ = &where;
        index_ = index;
    }
    void leave_registry() noexcept
    {
        index_ = no_index;
        pending_release_ = nullptr;
    }

    // The registry's pointer to this record. Precondition: the record is in the registry.
    std::shared_ptr<lease_record> const& shared() const noexcept;

    // The release, until all nodes have answered it. It begins when the record has left the registry.
    release* pending_release() const noexcept { return index_ == no_index ? pending_release_ : nullptr; }
    void set_pending_release(release* to) noexcept
    {
        assert(index_ == no_index);
        pending_release_ = to;
    }

    // Destroys the handles and the callers that wait, when the context is destroyed.
    void clear() noexcept;

    void on_timer(time_point now) override;
    bool may_come_early(time_point now) const override { return duty_soon(now) == quorum::lease_duty::extend; }

    // What is due now, or so soon that it may share the round of another extension.
    quorum::lease_duty duty_soon(time_point now) const;

    quorum::lease_machine machine;  // begins when a majority has granted
    time_point refreshed{};  // when the nodes were last told to keep the counter for its retention
    std::uint32_t asked_in{0};  // number of the round with the last request that may set or renew the key
    errc release_error{};  // the outcome, once the release is decided; errc{}: success

private:
    struct cold_state : cold_state_base {
        lease_handle::cold_state of_first;
        std::vector<std::shared_ptr<lease_handle>, recycling<std::shared_ptr<lease_handle>>> handles;  // handed over, or nested
        std::vector<std::weak_ptr<extension>> asked_for;
        owner_id owner{};
        event_marks marks;  // used if the client has an observer
        climb_state climbs;
        std::shared_ptr<stamped_state const> published;
        std::uint64_t publications{0};
        turn_state turn;
    };

    cold_state& with_cold()
    {
        if (!cold_) cold_ = std::make_unique<cold_state>();
        return *cold_;
    }
    std::shared_ptr<lease_handle> add();

    // The largest of the tokens that were reserved. The first handle has the first block of them.
    quorum::token_number last_reserved() const noexcept
    {
        return first.last_token + what->under->tokens.reserved - what->under->tokens.block;
    }
    void show_to(lease_handle& h) const noexcept { h.show(first.valid_until(), first.nodes_held.load(std::memory_order_relaxed)); }

    static constexpr std::uint32_t no_index = std::numeric_limits<std::uint32_t>::max();

    // In this order, so that no padding lies between them.
    std::uint32_t index_{no_index};
    std::uint32_t tokens_left{0};  // those that are reserved, and no handle has yet: the last ones
    std::atomic<quorum::token_number> guard_{0};
    time_point expires_{};  // when the key expires on the last node, if no release removes it
    union {  // a release begins when the record has left the registry
        lease_registry* registry_;
        release* pending_release_{nullptr};
    };
    std::unique_ptr<cold_state> cold_;
};

// An offset, and no pointer to the record: every lease has such a handle.
inline lease_record& lease_handle::of() const noexcept
{
    if (where_ == place::extra) return *static_cast<extra_lease_handle const*>(this)->keeps;
    return *boost::intrusive::get_parent_from_member(const_cast<lease_handle*>(this), &lease_record::first);
}

inline told_lease lease_handle::told() const
{
    auto told = of().told({});
    told.token = token.load(std::memory_order_relaxed);
    told.valid_until = valid_until();
    told.nodes_held = nodes_held.load(std::memory_order_relaxed);
    return told;
}

// The record of a handle. The pointer shares the handle's ownership, which keeps the record alive.
inline std::shared_ptr<lease_record> record_of(std::shared_ptr<lease_handle> const& who) noexcept { return {who, &who->of()}; }

}  // namespace redlock::detail

#endif
