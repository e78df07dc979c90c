// One value on the nodes: an attempt's, then a lease's, then the release's. And what each lease object sees of it: usually one, none
// while it is passed on, more with nested leases of an owner.
#ifndef REDLOCK_CORE_HOLD_HPP
#define REDLOCK_CORE_HOLD_HPP

#include "core/alarms.hpp"
#include "core/events.hpp"
#include "core/terms.hpp"
#include "node/node.hpp"
#include "quorum/lease_machine.hpp"

#include <redlock/detail/completion.hpp>
#include <redlock/detail/core.hpp>
#include <redlock/detail/lease_state.hpp>
#include <redlock/detail/recycling.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::detail {

class extension;
class hold;
class leases;
class line;
class release;

// Somebody who waits for a lease's loss, a release or a drain. Kept by pointer, so that a cancellation can find it.
struct waiter {
    completion<error_code> done;
};

using waiter_list = std::vector<std::shared_ptr<waiter>, recycling<std::shared_ptr<waiter>>>;

// A lease object's share in a hold.
class holder final : public lease_state {
public:
    explicit holder(std::shared_ptr<hold> in);

    std::shared_ptr<hold> const of;
    owner_id by{};
    std::shared_ptr<scope_executors const> within;  // with_lock's; may be null
    waiter_list waiters;  // for its loss
    bool has_left{false};                          // released, or gone without
    bool was_last{false};                          // and with it the hold was given back to the nodes
    error_code left_with;                          // unless it was the last
};

class hold final : public alarm, public std::enable_shared_from_this<hold> {
public:
    hold(std::shared_ptr<core> from, std::shared_ptr<subject const> of, std::string fresh_value)
        : owner{std::move(from)}, what{std::move(of)}, value{std::move(fresh_value)}
    {
    }

    std::shared_ptr<core> const owner;  // lives until the last answer about it has been filed
    std::shared_ptr<subject const> const what;
    std::string const value;

    command request(verb of) const noexcept
    {
        command c{of, what->first(), value, what->under->key_ttl};
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
    void own(quorum::token_number last) noexcept
    {
        if (!is_fenced()) return;
        last_token = last;
        next_token = last - what->under->tokens.reserved + 1;
    }
    bool has_tokens_for_another() const noexcept { return !is_fenced() || next_token + what->under->tokens.block - 1 <= last_token; }

    // A request that may set or renew the key goes to a node.
    void touch(std::size_t node) noexcept { touched = static_cast<std::uint16_t>(touched | (1u << node)); }
    bool has_touched(std::size_t node) const noexcept { return (touched >> node & 1u) != 0; }
    void may_live_until(time_point t) noexcept { expires = std::max(expires, t); }

    bool is_lease() const noexcept { return phase == state::held; }

    // A lease object for it. The tokens of the next block are its own; those of a nested one are not.
    std::shared_ptr<holder> add_holder(std::size_t nodes);
    std::shared_ptr<holder> add_nested();
    void remove(holder const& who) noexcept
    {
        std::erase_if(holders, [&](auto const& h) { return h.get() == &who; });
    }

    void publish(time_point now) noexcept
    {
        // Keys that turn out to be gone took the lease with them at a moment that nobody knows: now, at the latest.
        time_point const until = machine->valid_until();
        shown_until = until < shown_until && until < now ? std::min(shown_until, now) : until;
        shown_nodes = static_cast<std::uint32_t>(machine->held_on(now));
        for (auto const& h : holders) show_to(*h);
    }

    void on_alarm(time_point now) override;
    bool may_come_early(time_point now) const override;

    enum class state : std::uint8_t { acquiring, held, lost, released };
    state phase{state::acquiring};
    errc lost_because{errc::lease_lost};           // meaningful when lost

    leases* keeper{nullptr};                       // while registered there
    recycled_list<std::shared_ptr<hold>>::iterator place;
    bool is_current{false};                        // the lease that this client has of its names
    hold* next_by_name{nullptr};                   // among those
    line* waited_for_in{nullptr};                  // the line of those who want it next, if there is one
    std::optional<quorum::lease_machine> machine;  // from the majority on
    std::vector<std::shared_ptr<holder>, recycling<std::shared_ptr<holder>>> holders;
    std::vector<std::weak_ptr<extension>> asked_for;  // by callers of lease::extend(), so that they can stop waiting
    bool release_started{false};
    std::weak_ptr<release> giving_back;            // while nodes are still to answer
    error_code release_result;                     // once it is decided
    std::unique_ptr<event_marks> seen;             // where there is an observer
    time_point refreshed{};                        // when the nodes were last told to keep the counter for its retention
    std::uint64_t asked_in{0};                     // the round with the last request that may set or renew the key
    std::uint16_t touched{0};
    time_point expires{};                          // when the last node forgets the key, if nothing else removes it

private:
    void show_to(holder& h) const noexcept
    {
        h.valid_until_ns.store(shown_until.time_since_epoch().count(), std::memory_order_release);
        h.nodes_held.store(shown_nodes, std::memory_order_relaxed);
    }

    quorum::token_number last_token{0};  // of all that are reserved
    quorum::token_number next_token{0};  // not given to any lease yet
    time_point shown_until{};
    std::uint32_t shown_nodes{0};
};

inline holder::holder(std::shared_ptr<hold> in) : lease_state{in->owner, *in->what}, of{std::move(in)} {}

}  // namespace redlock::detail

#endif
