// Everything that waits for a moment, ordered by it: a binary heap whose entries know their place, so that an alarm is
// moved or cancelled in O(log n). One timer serves them all (the watchdog coroutine in basic_core).
#ifndef REDLOCK_CORE_ALARMS_HPP
#define REDLOCK_CORE_ALARMS_HPP

#include <redlock/clock.hpp>

#include <cassert>
#include <cstddef>
#include <vector>

namespace redlock::detail {

using time_point = boot_clock::time_point;
using duration = boot_clock::duration;

class alarms;

class alarm {
public:
    alarm() = default;
    alarm(alarm const&) = delete;
    alarm& operator=(alarm const&) = delete;

    bool is_set() const noexcept { return place_ != none; }

    // The moment has come; the alarm is no longer set.
    virtual void on_alarm(time_point now) = 0;

    // Whether it makes sense to call on_alarm a little early, together with one whose moment has come.
    virtual bool may_come_early(time_point) const { return false; }

protected:
    ~alarm() { assert(!is_set()); }

private:
    friend class alarms;
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    time_point at_{};
    std::size_t place_{none};
};

class alarms {
public:
    bool empty() const noexcept { return heap_.empty(); }
    std::size_t size() const noexcept { return heap_.size(); }

    // Precondition: not empty.
    time_point next() const noexcept { return heap_.front()->at_; }

    // Sets an alarm, or moves it when it is set already.
    void set(alarm& a, time_point at);

    // Does nothing when it is not set.
    void cancel(alarm& a) noexcept;

    // Takes out the earliest alarm whose moment has come, or null.
    alarm* pop_due(time_point now) noexcept;

    // Takes out the earliest alarm if it may come early, or null.
    alarm* pop_early(time_point now) noexcept;

    void clear() noexcept;

private:
    alarm* pop() noexcept;
    void put(std::size_t place, alarm* a) noexcept;
    void rise(std::size_t place) noexcept;
    void sink(std::size_t place) noexcept;

    std::vector<alarm*> heap_;
};

}  // namespace redlock::detail

#endif
