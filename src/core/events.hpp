// What the core tells an observer, in the core's own terms. There is one only if there is an observer:
//
//     if (env_.observed) env_.observed->lost(what, why);
//
// On the strand, except what says otherwise. Nothing here calls the observer: event_queue does, later.
#ifndef REDLOCK_CORE_EVENTS_HPP
#define REDLOCK_CORE_EVENTS_HPP

#include "core/event_queue.hpp"
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

class hold;
class holder;
struct admission_picture;

// What a hold keeps for its events.
struct event_marks {
    time_point from{};         // its holder has had it since then
    time_point until{};        // lost, or given back
    time_point given_back{};
    std::uint64_t token{0};
    bool was_lost{false};
};

class events {
public:
    using clock_function = time_point (*)() noexcept;
    using lock_name = std::shared_ptr<resource const>;

    // None without an observer. `wall_clock`: in microseconds.
    static std::unique_ptr<events> make(std::shared_ptr<observer> to, asio::any_io_executor const& fallback,
                                        std::vector<node_status> const& nodes, clock_function now,
                                        std::function<std::uint64_t()> wall_clock, counters& count);

    // `started`: when acquire() was called. won() comes just before acquired(), if the nodes were asked.
    void won(quorum::ballot const& votes) { won_ = votes; }
    void acquired(holder const& to, time_point started, std::uint32_t attempts);
    void nested(holder const& to, time_point started, std::uint32_t attempts);
    void refused_at_home(lock_name const& lock, time_point started, std::uint32_t attempts);
    void attempt_failed(lock_name const& lock, quorum::ballot const& votes, error_code why, time_point started, std::uint32_t attempts);
    void not_acquired(lock_name const& lock, error_code why, time_point started, std::uint32_t attempts);
    void self_wait(lock_name const& lock);

    void extension_decided(hold const& what, quorum::extend_outcome outcome, time_point sent);
    void lost(hold& what, errc why);
    void handed_over(hold const& what);
    void release_begins(hold& what);
    void released(hold const& what, error_code result);
    void overrun(lease_state const& of, duration by);  // from any thread
    void watchdog_late(hold const& what);
    void late_grant_undone(hold const& what, std::size_t node);

    void node_up(std::size_t node);
    void node_down(std::size_t node, error_code why, std::string const& text);
    void admission(std::size_t node, admission_picture const& picture);  // whether it has changed or not
    void clock_stepped(std::size_t node, duration by, std::string text);

    void close() noexcept { queue_->close(); }

private:
    // What a node's last events said.
    struct node_memory {
        std::optional<error_code> down;
        std::string text;
        redlock::standing standing{redlock::standing::unknown};
    };

    events(std::shared_ptr<event_queue> queue, std::size_t nodes, clock_function now, std::function<std::uint64_t()> wall_clock);

    event::time at() const { return event::time{std::chrono::microseconds{wall_clock_()}}; }
    void got(holder const& to, event::origin from, time_point started, std::uint32_t attempts, quorum::ballot const* votes);

    std::shared_ptr<event_queue> queue_;
    clock_function now_;
    std::function<std::uint64_t()> wall_clock_;
    std::optional<quorum::ballot> won_;
    std::vector<node_memory> nodes_;
};

}  // namespace redlock::detail

#endif
