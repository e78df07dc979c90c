// One value on the nodes: an attempt's, then the lease's, then the release's.
#ifndef REDLOCK_CORE_HOLD_HPP
#define REDLOCK_CORE_HOLD_HPP

#include "core/alarms.hpp"
#include "node/node.hpp"
#include "quorum/lease_machine.hpp"

#include <redlock/detail/completion.hpp>
#include <redlock/detail/lease_state.hpp>

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
class leases;
class release;

// Somebody who waits for a lease's loss, a release or a drain. Kept by pointer, so that a cancellation can find it.
struct waiter {
    completion<error_code> done;
};

// What an attempt asks for besides the lock.
struct tokens_wanted {
    bool fenced{false};
    std::uint32_t block{1};
    std::chrono::milliseconds retention{};
};

class hold final : public lease_state, public alarm, public std::enable_shared_from_this<hold> {
public:
    hold(std::shared_ptr<core> from, std::string of, std::string fresh_value, quorum::timing const& t, tokens_wanted k)
        : lease_state{std::move(from), std::move(of)}, value{std::move(fresh_value)}, times{t}, tokens{k}
    {
    }

    std::string const value;
    quorum::timing const times;
    tokens_wanted const tokens;

    command request(verb what) const noexcept
    {
        command c{what, name, value, std::chrono::duration_cast<std::chrono::milliseconds>(times.ttl)};
        c.fenced = tokens.fenced;
        c.block = tokens.block;
        c.retention = tokens.retention;
        c.token = last_token;
        return c;
    }

    // A quarter of the retention at a time is often enough, and spares the nodes the work.
    bool wants_refresh(time_point now) const noexcept { return tokens.fenced && now >= refreshed + tokens.retention / 4; }

    // The token is known: the last of the block.
    void own(quorum::token_number last) noexcept
    {
        if (!tokens.fenced) return;
        last_token = last;
        token.store(last - tokens.block + 1, std::memory_order_relaxed);
    }

    // A request that may set or renew the key goes to a node.
    void touch(std::size_t node) noexcept { touched = static_cast<std::uint16_t>(touched | (1u << node)); }
    bool has_touched(std::size_t node) const noexcept { return (touched >> node & 1u) != 0; }
    void may_live_until(time_point t) noexcept { expires = std::max(expires, t); }

    void publish(time_point now) noexcept
    {
        // Keys that turn out to be gone took the lease with them at a moment that nobody knows: now, at the latest.
        time_point const until = machine->valid_until();
        time_point const end = until < valid_until() && until < now ? std::min(valid_until(), now) : until;
        valid_until_ns.store(end.time_since_epoch().count(), std::memory_order_release);
        nodes_held.store(static_cast<std::uint32_t>(machine->held_on(now)), std::memory_order_relaxed);
    }

    void on_alarm(time_point now) override;
    bool may_come_early(time_point now) const override;

    leases* keeper{nullptr};                       // while registered there
    std::list<std::shared_ptr<hold>>::iterator place;
    std::optional<quorum::lease_machine> machine;  // from the majority on
    std::vector<std::shared_ptr<waiter>> waiters;
    std::vector<std::weak_ptr<extension>> asked_for;  // by callers of lease::extend(), so that they can stop waiting
    bool release_started{false};
    std::weak_ptr<release> giving_back;            // while nodes are still to answer
    error_code release_result;                     // once it is decided
    time_point refreshed{};                        // when the nodes were last told to keep the counter for its retention
    std::uint16_t touched{0};
    time_point expires{};                          // when the last node forgets the key, if nothing else removes it
};

}  // namespace redlock::detail

#endif
