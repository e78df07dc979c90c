// What both floors share: callers that acquire and release all the time, as plain state machines over prepared bytes. No I/O.
//
// It is what a lock on a majority costs at least: every acquisition goes to all nodes (SET NX PX, or the script with tokens), ends when
// a majority has answered, and its release goes out at once; answers that come later are only counted. No second round, no timer, no lease,
// no retry: whatever would need one is an error. Commands are formatted once, and for each use only the digits in them are changed.
#ifndef REDLOCK_BENCHMARKS_SPEED_FLOOR_HPP
#define REDLOCK_BENCHMARKS_SPEED_FLOOR_HPP

#include "workload.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The bytes of one command, and where the changing ones are.
struct prepared {
    std::string bytes;
    std::size_t value_at{0};
    std::size_t floor_at{0};  ///< 0: it has none.
    std::size_t id_at{0};     ///< 0: it has none.
};

class floor_callers {
public:
    floor_callers(workload const& what, meter& figures);

    /// The first acquisition of everybody whose time has come; returns whether that was the last of them.
    bool start(steady::duration since_the_start);

    /// Takes in the whole answers that `bytes` begins with; returns how many bytes they are. `now` is when they were read.
    std::size_t hear(std::size_t node, std::string_view bytes, steady::time_point now);

    /// What is to be sent to this node, the same for all but for their ids. Valid until sent().
    std::string_view outgoing(std::size_t node);
    bool has_outgoing() const noexcept { return !out_.empty(); }

    /// Every node has got it.
    void sent() noexcept
    {
        out_.clear();
        ids_at_.clear();
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

    void acquire(std::uint32_t who, steady::time_point now);
    void release(std::uint32_t who);
    void send(std::uint32_t who, bool acquires, prepared const& what);
    void granted(std::size_t node, std::uint64_t token, steady::time_point now);
    std::uint64_t random() noexcept;
    void make_room();

    bool fencing_;
    std::size_t majority_;
    std::vector<std::string> ids_;
    meter& figures_;
    std::vector<caller> callers_;
    std::chrono::nanoseconds stagger_;
    std::uint32_t started_{0};
    std::vector<command> queue_;  // a ring; its size is a power of two
    std::uint64_t next_{0};
    std::uint64_t oldest_{0};
    std::vector<std::uint64_t> heads_;
    std::string out_;
    std::vector<std::size_t> ids_at_;
    std::array<std::uint64_t, 2> seed_;
};

}  // namespace bench

#endif
