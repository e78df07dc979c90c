// src/core/events: what observers are told, and what is counted. `events` makes the events: the core calls a function here for each thing that an
// observer may be told. It exists only if there is an observer:
//
//     if (env_.observed) env_.observed->lost(what, why);
//
// On the strand, except what says otherwise. Nothing here calls the observer: event_queue does, later.
#ifndef REDLOCK_CORE_EVENTS_EMITTER_HPP
#define REDLOCK_CORE_EVENTS_EMITTER_HPP

#include "core/events/event_queue.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::quorum {
enum class extend_outcome;
}

namespace redlock::detail {

using quorum::duration;
using quorum::time_point;

// What a lease keeps for its events.
struct event_marks {
    time_point from{};  // its holder has had it since then
    time_point until{};  // lost, or released
    time_point given_back{};
    std::uint64_t token{0};
    bool was_lost{false};
};

// What events say of a lease.
struct told_lease {
    resource_ptr lock;
    event_marks& marks;
    lock_mode mode;
    std::uint64_t token;
    time_point valid_until;
    std::uint32_t nodes_held;
};

class events {
public:
    using clock_function = time_point (*)() noexcept;
    using lock_name = resource_ptr;

    // None without an observer. `wall_clock`: in microseconds.
    static std::unique_ptr<events> make(std::shared_ptr<observer> to, asio::any_io_executor const& fallback,
                                        std::vector<node_status> const& nodes, clock_function now,
                                        std::function<std::uint64_t()> wall_clock, counters& count);

    // `started`: when acquire() was called. won() comes just before acquired(), if the nodes were asked.
    void won(quorum::ballot const& votes) { won_ = votes; }
    void acquired(told_lease const& what, time_point started, std::uint32_t attempts);
    void nested(told_lease const& what, time_point started, std::uint32_t attempts);
    void adopted(told_lease const& what, time_point started, std::uint32_t attempts);
    void rejected_locally(lock_name const& lock, time_point started, std::uint32_t attempts);
    // contended, or attempt_failed for any other `why`.
    void attempt_failed(lock_name const& lock, quorum::ballot const& votes, error_code why, time_point started, std::uint32_t attempts);
    void not_acquired(lock_name const& lock, error_code why, time_point started, std::uint32_t attempts);
    void self_deadlock(lock_name const& lock);

    void extension_decided(told_lease const& what, quorum::extend_outcome outcome, time_point sent);
    void lost(told_lease const& what, errc why);
    void handed_over(told_lease const& what);
    void detached(told_lease const& what);
    void release_begins(told_lease const& what);  // only notes the time
    void released(told_lease const& what, error_code result);
    void overrun(lock_name const& lock, std::uint64_t token, duration by);  // from any thread
    void watchdog_late(told_lease const& what);
    void late_grant_undone(lock_name const& lock, std::size_t node);

    void node_up(std::size_t node, std::string const& text);
    void node_down(std::size_t node, error_code why, std::string const& text);
    // Whether it has changed or not. `text` is asked for if somebody is told.
    void admission(std::size_t node, redlock::admission_state state, std::function<std::string()> const& text);
    void clock_stepped(std::size_t node, duration by, std::string text);
    void recovered(std::size_t node);

    void close() noexcept { queue_->close(); }

private:
    // What a node's last events said.
    struct node_memory {
        std::optional<error_code> down;
        std::string text;
        redlock::admission_state admission{redlock::admission_state::unknown};
    };

    events(std::shared_ptr<event_queue> queue, std::size_t nodes, clock_function now, std::function<std::uint64_t()> wall_clock);

    event::time at() const { return event::time{std::chrono::microseconds{wall_clock_()}}; }
    void add_acquired(told_lease const& what, event::origin from, time_point started, std::uint32_t attempts, quorum::ballot const* votes);

    std::shared_ptr<event_queue> queue_;
    clock_function now_;
    std::function<std::uint64_t()> wall_clock_;
    std::optional<quorum::ballot> won_;
    std::vector<node_memory> nodes_;
};

}  // namespace redlock::detail

#endif
