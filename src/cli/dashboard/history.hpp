// The last minutes of the nodes and locks as spans of time, for `redlock dashboard`. Its memory is bounded by history_limits, whatever there is on the
// nodes. No I/O, and no clock: the moments are passed in.
#ifndef REDLOCK_CLI_DASHBOARD_HISTORY_HPP
#define REDLOCK_CLI_DASHBOARD_HISTORY_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

using moment = std::chrono::sys_time<std::chrono::milliseconds>;

struct history_limits {
    std::chrono::milliseconds window{std::chrono::minutes{10}};  // what ended earlier is dropped
    std::size_t lanes{100};  // locks; of more, those are dropped whose last span ended first, or that came last
    std::size_t spans{4'000};  // of all locks, and of each node a tenth of that
    std::size_t points{600};  // round trips of each node
    std::size_t events{200};
    std::size_t text{200};  // bytes of a text
};

// What is the same for as long as a span lasts.
struct turn {
    std::string state;  // of a node: "admitted", "down" and so on; of a lock: "held", "partly", "unknown"
    std::string id;  // of the holder; two turns with the same state and id are one
    std::string holder;  // in words
    std::string label;  // of the holder, if it has one
    std::optional<std::uint64_t> token;
    bool shared{false};
};

struct span {
    turn what;
    moment from;
    moment to;  // still going on: the last time that it was seen
};

class lane {
public:
    // It is so at `now`. Continues the last span if it was so the last time.
    void add(turn what, moment now);
    // Nothing is to be seen at `now`.
    void close(moment now);
    // Drops what ended before, and the oldest spans beyond `most`. Returns how many are left.
    std::size_t forget(moment before, std::size_t most);
    void forget_first() { spans_.pop_front(); }

    bool is_open() const noexcept { return open_; }
    std::deque<span> const& spans() const noexcept { return spans_; }

private:
    std::deque<span> spans_;
    bool open_{false};  // the last span goes on
};

struct point {
    moment at;
    std::chrono::nanoseconds round_trip;
};

struct past_event {
    moment at;
    std::string level;  // "good", "warning", "danger"
    std::string node;  // empty: it concerns all
    std::string text;
};

// A lock at the moment of a search.
struct lock_turn {
    std::string name;
    turn what;
};

class history {
public:
    history(std::size_t nodes, history_limits limits = {});

    void add_node(std::size_t node, turn what, std::optional<std::chrono::nanoseconds> round_trip, moment now);

    // What a search found. `complete`: a lock that is not among `found` is free; otherwise that is unknown.
    void add_locks(std::vector<lock_turn> found, bool complete, moment now);

    void add_event(past_event what);

    history_limits const& limits() const noexcept { return limits_; }
    lane const& node(std::size_t n) const { return nodes_[n].states; }
    std::deque<point> const& round_trips(std::size_t n) const { return nodes_[n].round_trips; }
    std::map<std::string, lane> const& locks() const noexcept { return locks_; }
    // Locks that the last search found, with a lane or without one, and lanes of which it does not know whether they go on.
    std::size_t seen_now() const noexcept { return seen_now_; }
    std::deque<past_event> const& events() const noexcept { return events_; }

private:
    struct node_history {
        lane states;
        std::deque<point> round_trips;
    };
    void forget(moment now);

    history_limits limits_;
    std::vector<node_history> nodes_;
    std::map<std::string, lane> locks_;
    std::size_t seen_now_{0};
    std::deque<past_event> events_;
};

}  // namespace redlock::cli

#endif
