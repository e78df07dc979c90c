// What the workers tell the parent, in memory that they share.
#ifndef REDLOCK_DEMO_EVENT_RING_HPP
#define REDLOCK_DEMO_EVENT_RING_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace demo {

enum class event_kind : std::uint8_t {
    acquired,     // value: how long it was waited for
    released,     // value: how long it was held
    cancelled,    // value: how long before the end of validity
    late,         // value: how long after the end of validity the section ended
    overlap,      // two sections at once
    unconfirmed,  // too few nodes answered the release; the keys expire
    stale_token,  // a new holder's was not larger than all before
    refused,      // a holder's write, since one with a larger token had come before

    // of a node that was restarted
    quarantined,  // value: how long after the restart; words: why, and for how long
    admitted,     // value: how long after the restart
};

constexpr bool is_of_node(event_kind kind) { return kind >= event_kind::quarantined; }

struct event {
    std::int64_t at_ns;  // of redlock::boot_clock
    std::int64_t value_ns;
    event_kind kind{};
    std::uint8_t worker;
    std::uint8_t subject;           // the number of the lock, or of the node
    std::uint64_t token{0};
    std::array<char, 160> words{};  // ends with a zero

    void say(std::string_view text) noexcept { std::copy_n(text.begin(), std::min(text.size(), words.size() - 1), words.begin()); }
};

// A bounded queue of several producers and one consumer, after D. Vyukov: each cell carries the turn at which it may be
// written or read. A full ring drops the event: a worker never waits for the one who prints.
class event_ring {
public:
    event_ring() noexcept
    {
        for (std::size_t i = 0; i < size; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);
    }

    void push(event const& what) noexcept
    {
        std::uint64_t at = tail_.load(std::memory_order_relaxed);
        for (;;) {
            auto& cell = cells_[at % size];
            auto const turn = cell.turn.load(std::memory_order_acquire);
            if (turn == at) {
                if (!tail_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) continue;
                cell.content = what;
                cell.turn.store(at + 1, std::memory_order_release);
                return;
            }
            if (turn < at) {
                dropped_.fetch_add(1, std::memory_order_relaxed);
                return;
            }
            at = tail_.load(std::memory_order_relaxed);
        }
    }

    bool pop(event& what) noexcept
    {
        auto& cell = cells_[head_ % size];
        if (cell.turn.load(std::memory_order_acquire) != head_ + 1) return false;
        what = cell.content;
        cell.turn.store(head_ + size, std::memory_order_release);
        ++head_;
        return true;
    }

    std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

private:
    static constexpr std::size_t size = 1024;

    struct cell_type {
        std::atomic<std::uint64_t> turn;
        event content;
    };

    std::array<cell_type, size> cells_;
    std::atomic<std::uint64_t> tail_{0};
    std::atomic<std::uint64_t> dropped_{0};
    std::uint64_t head_{0};  // the consumer's own
};

}  // namespace demo

#endif
