// Everything that waits for a moment, ordered by it. One timer serves them all (the watchdog coroutine in basic_core).
//
// Most timers never ring: they are cancelled long before their moment, and they are set in the order of their moments, since the same
// few durations are counted from a clock that moves on. So they stand in a few rows, each sorted because only later ones join it, where to join
// and to leave costs a few pointers. What fits in no row goes into a binary heap whose entries know their place.
#ifndef REDLOCK_BASE_TIMER_QUEUE_HPP
#define REDLOCK_BASE_TIMER_QUEUE_HPP

#include <redlock/clock.hpp>

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace redlock::detail {

using time_point = boot_clock::time_point;
using duration = boot_clock::duration;

class timer_queue;

class timer {
public:
    timer() = default;
    timer(timer const&) = delete;
    timer& operator=(timer const&) = delete;

    bool is_set() const noexcept { return where_ != nowhere; }

    // The moment has come; the timer is no longer set.
    virtual void on_timer(time_point now) = 0;

    // Whether it makes sense to call on_timer a little early, together with one whose moment has come.
    virtual bool may_come_early(time_point) const { return false; }

protected:
    ~timer() { assert(!is_set()); }

private:
    friend class timer_queue;

    // The row, or the heap.
    static constexpr std::uint8_t nowhere = 255;
    static constexpr std::uint8_t in_heap = 254;

    time_point at_{};
    union {
        timer* before_{nullptr};  // in its row
        std::size_t place_;  // in the heap
    };
    timer* behind_{nullptr};
    std::uint8_t where_{nowhere};
};

class timer_queue {
public:
    bool empty() const noexcept { return size_ == 0; }
    std::size_t size() const noexcept { return size_; }

    // Precondition: not empty.
    time_point next() const noexcept { return first()->at_; }

    // Sets a timer, or moves it when it is set already.
    void set(timer& a, time_point at);

    // Does nothing when it is not set.
    void cancel(timer& a) noexcept
    {
        if (a.is_set()) take_out(a);
    }

    // Takes out the earliest timer whose moment has come, or null.
    timer* pop_due(time_point now) noexcept;

    // Takes out the earliest timer if it may come early, or null.
    timer* pop_early(time_point now) noexcept;

    void clear() noexcept;

private:
    struct row {
        timer* front{nullptr};
        timer* back{nullptr};
    };

    timer* first() const noexcept;
    timer* take(timer* a) noexcept;
    bool join_a_row(timer& a) noexcept;
    void take_out(timer& a) noexcept;
    void leave_its_row(timer& a) noexcept;
    void leave_the_heap(timer& a) noexcept;
    void put(std::size_t place, timer* a) noexcept;
    void rise(std::size_t place) noexcept;
    void sink(std::size_t place) noexcept;

    std::array<row, 8> rows_{};
    std::size_t joined_last_{0};
    std::vector<timer*> heap_;
    std::size_t size_{0};
};

}  // namespace redlock::detail

#endif
