// What the baselines share: callers that acquire and release all the time, as plain state machines over prepared bytes. No I/O.
//
// It is what a lock on a majority costs at least: every acquisition goes to all nodes (SET NX PX, or the script with tokens), ends when
// a majority has answered, and its release goes out at once; answers that come later are only counted. No second round (acquisitions that would
// need one are counted), no lease, no retry: a refusal is an error. The only timer is that of workload::rest. Commands are formatted once, and for
// each use only the digits in them are changed.
#ifndef REDLOCK_BENCHMARKS_SPEED_BASELINE_HPP
#define REDLOCK_BENCHMARKS_SPEED_BASELINE_HPP

#include "workload.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The bytes of one command, and where the changing ones are.
struct prepared {
    std::string bytes;
    std::string_view name;
    std::size_t words{0};  ///< How many, behind the name.
    std::size_t words_at{0};  ///< Where the first of them begins.
    std::size_t value_at{0};
    std::size_t lower_bound_at{0};  ///< 0: it has none.
    std::size_t id_at{0};  ///< 0: it has none.
};

class baseline_callers {
public:
    /// A command that is to be sent.
    struct outgoing_command {
        prepared const* what;
        std::size_t begin;
    };

    baseline_callers(workload const& what, meter& figures);

    /// The first acquisition of everybody whose time has come; returns whether that was the last of them.
    bool start(steady::duration since_the_start);

    /// Takes in the whole answers that `bytes` begins with; returns how many bytes they are. `now` is when they were read.
    std::size_t hear(std::size_t node, std::string_view bytes, steady::time_point now);

    /// A node has granted its next command, without a token; for who reads answers otherwise. The clock is only looked at for those who are timed.
    void hear_grant(std::size_t node);

    /// How many answers of this node were taken in.
    std::uint64_t heard(std::size_t node) const noexcept { return heads_[node]; }

    /// Acquisitions of those who have rested. Returns when the next of them will have.
    std::optional<steady::time_point> wake(steady::time_point now);

    /// From now on `then` is told whose command a majority has granted, and has to give the next.
    void on_granted(std::function<void(std::uint32_t)> then) { then_ = std::move(then); }
    void acquire(std::uint32_t who);
    void release(std::uint32_t who);
    std::size_t size() const noexcept { return callers_.size(); }

    /// What is to be sent to this node, the same for all but for their ids. Valid until sent().
    std::string_view outgoing(std::size_t node);
    std::vector<outgoing_command> const& outgoing_commands() const noexcept { return commands_; }
    bool has_outgoing() const noexcept { return !out_.empty(); }

    /// Every node has got it.
    void sent() noexcept
    {
        out_.clear();
        ids_at_.clear();
        commands_.clear();
    }

private:
    struct caller {
        std::vector<prepared> acquires;
        std::vector<prepared> releases;
        std::array<char, 32> value{};
        std::uint32_t name{0};
        steady::time_point asked_at;
        bool timed{false};
    };

    // One command on its way. All nodes get the same ones in the same order, so that this queue serves all of them.
    struct command {
        std::uint32_t caller;
        std::uint16_t granted;
        std::uint16_t acquires;
        std::uint64_t token;
    };

    template <class Clock>
    void acquire(std::uint32_t who, Clock now);
    void send(std::uint32_t who, bool acquires, prepared const& what);
    template <class Clock>
    void granted(std::size_t node, std::uint64_t token, Clock now);
    std::uint64_t random() noexcept;
    void make_room();

    std::size_t majority_;
    std::vector<std::string> ids_;
    meter& figures_;
    std::vector<caller> callers_;
    std::chrono::nanoseconds stagger_;
    std::optional<rests> rests_;
    std::set<std::pair<steady::time_point, std::uint32_t>> resting_;
    std::function<void(std::uint32_t)> then_;
    std::uint32_t started_{0};
    // The commands oldest_ to next_ - 1 are in the ring, for all nodes; heads_[node] is the next one that this node answers.
    std::vector<command> ring_;  // its size is a power of two
    std::uint64_t next_{0};
    std::uint64_t oldest_{0};
    std::vector<std::uint64_t> heads_;
    std::string out_;
    std::vector<std::size_t> ids_at_;
    std::vector<outgoing_command> commands_;
    std::array<std::uint64_t, 2> seed_;
};

}  // namespace bench

#endif
