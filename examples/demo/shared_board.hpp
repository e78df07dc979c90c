// Memory that all processes of the demo share. It judges the locks without asking any server.
#ifndef REDLOCK_DEMO_SHARED_BOARD_HPP
#define REDLOCK_DEMO_SHARED_BOARD_HPP

#include "cast.hpp"
#include "event_ring.hpp"
#include "fenced_register.hpp"

#include <redlock/clock.hpp>
#include <redlock/status.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

#include <sys/types.h>

namespace demo {

// What the workers are to do.
enum class phase : std::uint32_t {
    contend,    // sections of ordinary length
    hold_long,  // sections that end by cancellation only
    finish,     // no new sections
};

struct lock_record {
    std::atomic<std::uint32_t> inside{0};  // how many are in the critical section: never more than one
    std::atomic<std::uint32_t> holder{0};  // worker + 1, for the display
    std::atomic<std::uint32_t> long_sections{0};  // entered in phase hold_long
    std::atomic<std::uint64_t> sections{0};
    std::atomic<std::uint64_t> beyond_ttl{0};  // sections that lasted longer than the ttl
    std::atomic<std::uint64_t> overlaps{0};
    std::atomic<std::uint64_t> cancelled{0};
    std::atomic<std::uint64_t> late{0};  // sections that were not over at the end of validity
    std::atomic<std::uint64_t> stale_tokens{0};  // of new holders, not larger than all before
    std::atomic<std::uint64_t> refused{0};       // writes of holders inside their section
    fenced_register resource;
    std::atomic<std::int64_t> wait_max_ns{0};
    std::atomic<std::int64_t> held_max_ns{0};
    std::atomic<std::int64_t> margin_min_ns{std::numeric_limits<std::int64_t>::max()};
    std::atomic<std::int64_t> margin_max_ns{std::numeric_limits<std::int64_t>::min()};
};

struct worker_record {
    std::atomic<std::uint64_t> extensions{0};  // confirmed by a majority, or by enough nodes to prolong validity
    std::array<std::atomic<redlock::admission_state>, node_count> admissions{};  // what its client says of the nodes
    std::array<char, 200> last_words{};        // why it failed; read after its end
};

// What the workers make of a node that was restarted without its data.
struct node_record {
    std::atomic<std::int64_t> restarted_at_ns{0};  // of redlock::boot_clock
    std::atomic<std::uint64_t> restarts{0};
    std::atomic<std::uint64_t> quarantines{0};
    std::atomic<std::uint64_t> admissions{0};
    std::atomic<std::int64_t> admitted_after_min_ns{std::numeric_limits<std::int64_t>::max()};

    // Whether every worker let it vote again after each restart.
    bool is_back() const noexcept { return admissions >= restarts * worker_count; }
};

struct board {
    std::atomic<phase> now{phase::contend};
    std::array<lock_record, lock_count> locks;
    std::array<worker_record, worker_count> workers;
    std::array<node_record, node_count> nodes;
    event_ring events;

    // Clears the marks of a worker that died inside a section: who enters after the end of its lease does not overlap.
    void forget(std::size_t worker);
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free &&
                  std::atomic<phase>::is_always_lock_free && std::atomic<redlock::admission_state>::is_always_lock_free,
              "an atomic with a lock inside does not work between processes");

// Maps a board that processes forked from now on share with us.
class shared_board {
public:
    shared_board();  // throws std::system_error
    shared_board(shared_board const&) = delete;
    shared_board& operator=(shared_board const&) = delete;
    ~shared_board();

    board& operator*() noexcept { return *board_; }
    board* operator->() noexcept { return board_; }

private:
    board* board_;
};

// One stay in a critical section, written down on the board from its beginning to its end.
class visit {
public:
    visit(board& shared, std::size_t worker, std::size_t lock, std::uint64_t token, redlock::boot_clock::time_point asked_at);
    visit(visit const&) = delete;
    visit& operator=(visit const&) = delete;

    std::uint64_t token() const noexcept { return token_; }

    // The section is over; what is left of its lease's validity (negative: it came too late).
    void leave(redlock::boot_clock::time_point valid_until);

    // The scope has thrown that the lease was lost: `leave` was the answer to its cancellation.
    void was_cancelled();

    // The scope has returned, and a majority has (or has not) confirmed the release.
    void was_released(bool confirmed);

private:
    void tell(event_kind kind, std::chrono::nanoseconds value = {}) const;

    board& board_;
    lock_record& record_;
    std::uint8_t worker_;
    std::uint8_t lock_;
    std::uint64_t token_;
    redlock::boot_clock::time_point entered_at_;
    std::chrono::nanoseconds held_{};
    std::chrono::nanoseconds margin_{};
};

}  // namespace demo

#endif
