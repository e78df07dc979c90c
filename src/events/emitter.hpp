// src/events: what observers are told, and what is counted. `events` makes the events: the core calls a function here for each thing that an
// observer may be told. It exists only if there is an observer:
//
//     if (env_.observed) env_.observed->lost(what, why);
//
// On the strand, except what says otherwise. Nothing here calls the observer: event_queue does, later.
#ifndef REDLOCK_EVENTS_EMITTER_HPP
#define REDLOCK_EVENTS_EMITTER_HPP

#include "events/event_queue.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <redlock/detail/lease_state.hpp>

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

class lease_record;
class lease_handle;
struct admission_picture;

// What a record keeps for its events.
struct event_marks {
    time_point from{};  // its holder has had it since then
    time_point until{};  // lost, or released
    time_point given_back{};
    std::uint64_t token{0};
    bool was_lost{false};
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
    void acquired(lease_handle const& to, time_point started, std::uint32_t attempts);
    void nested(lease_handle const& to, time_point started, std::uint32_t attempts);
    void adopted(lease_handle const& to, time_point started, std::uint32_t attempts);
    void rejected_locally(lock_name const& lock, time_point started, std::uint32_t attempts);
    // contended, or attempt_failed for any other `why`.
    void attempt_failed(lock_name const& lock, quorum::ballot const& votes, error_code why, time_point started, std::uint32_t attempts);
    void not_acquired(lock_name const& lock, error_code why, time_point started, std::uint32_t attempts);
    void self_deadlock(lock_name const& lock);

    void extension_decided(lease_record const& what, quorum::extend_outcome outcome, time_point sent);
    void lost(lease_record& what, errc why);
    void handed_over(lease_record const& what);
    void detached(lease_record const& what);
    void release_begins(lease_record& what);  // only notes the time
    void released(lease_record const& what, error_code result);
    void overrun(lease_state const& of, duration by);  // from any thread
    void watchdog_late(lease_record const& what);
    void late_grant_undone(lease_record const& what, std::size_t node);

    void node_up(std::size_t node, std::string const& text);
    void node_down(std::size_t node, error_code why, std::string const& text);
    void admission(std::size_t node, admission_picture const& picture);  // whether it has changed or not
    void clock_stepped(std::size_t node, duration by, std::string text);

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
    void add_acquired(lease_handle const& to, event::origin from, time_point started, std::uint32_t attempts, quorum::ballot const* votes);

    std::shared_ptr<event_queue> queue_;
    clock_function now_;
    std::function<std::uint64_t()> wall_clock_;
    std::optional<quorum::ballot> won_;
    std::vector<node_memory> nodes_;
};

}  // namespace redlock::detail

#endif
