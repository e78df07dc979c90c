// All timers of a client, ordered by their moments. The watchdog coroutine in basic_core sleeps until the first of them.
//
// Most timers never fire: they are cancelled long before their moment. Most are also set in the order of their moments, since the same
// few durations are counted from a clock that moves on. So the queue keeps a few rows: linked lists, each sorted because only a timer later than
// its last one joins it. To join or leave a row costs a few pointers. A timer that fits in no row goes into a binary heap and knows its index there.
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

    // Values of where_ that are no index of a row.
    static constexpr std::uint8_t nowhere = 255;
    static constexpr std::uint8_t in_heap = 254;

    time_point at_{};
    union {
        timer* before_{nullptr};  // in its row: the timer in front of this one
        std::size_t heap_index_;  // while in the heap
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
    void set(timer& t, time_point at);

    // Does nothing when the timer is not set.
    void cancel(timer& t) noexcept
    {
        if (t.is_set()) take_out(t);
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
    timer* take(timer* t) noexcept;
    bool join_a_row(timer& t) noexcept;
    void take_out(timer& t) noexcept;
    void leave_its_row(timer& t) noexcept;
    void leave_the_heap(timer& t) noexcept;
    void put(std::size_t index, timer* t) noexcept;
    void rise(std::size_t index) noexcept;
    void sink(std::size_t index) noexcept;

    std::array<row, 8> rows_{};
    std::size_t joined_last_{0};  // the row that the last timer joined; the next one often fits there
    std::vector<timer*> heap_;
    std::size_t size_{0};
};

}  // namespace redlock::detail

#endif
