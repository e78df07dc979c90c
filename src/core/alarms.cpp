#include "core/alarms.hpp"

#include <cassert>

namespace redlock::detail {

void alarms::set(alarm& a, time_point at)
{
    if (!a.is_set()) {
        heap_.push_back(&a);
        a.place_ = heap_.size() - 1;
    }
    a.at_ = at;
    rise(a.place_);
    sink(a.place_);
}

void alarms::cancel(alarm& a) noexcept
{
    if (!a.is_set()) return;
    std::size_t const place = a.place_;
    assert(place < heap_.size() && heap_[place] == &a);
    alarm* const last = heap_.back();
    heap_.pop_back();
    a.place_ = alarm::none;
    if (last == &a) return;
    put(place, last);
    rise(place);
    sink(last->place_);
}

alarm* alarms::pop_due(time_point now) noexcept { return !empty() && next() <= now ? pop() : nullptr; }

alarm* alarms::pop_early(time_point now) noexcept
{
    return !empty() && heap_.front()->may_come_early(now) ? pop() : nullptr;
}

void alarms::clear() noexcept
{
    for (alarm* a : heap_) a->place_ = alarm::none;
    heap_.clear();
}

alarm* alarms::pop() noexcept
{
    alarm* const first = heap_.front();
    cancel(*first);
    return first;
}

void alarms::put(std::size_t place, alarm* a) noexcept
{
    heap_[place] = a;
    a->place_ = place;
}

void alarms::rise(std::size_t place) noexcept
{
    alarm* const a = heap_[place];
    while (place > 0) {
        std::size_t const parent = (place - 1) / 2;
        if (heap_[parent]->at_ <= a->at_) break;
        put(place, heap_[parent]);
        place = parent;
    }
    put(place, a);
}

void alarms::sink(std::size_t place) noexcept
{
    alarm* const a = heap_[place];
    for (;;) {
        std::size_t child = 2 * place + 1;
        if (child >= heap_.size()) break;
        if (child + 1 < heap_.size() && heap_[child + 1]->at_ < heap_[child]->at_) ++child;
        if (a->at_ <= heap_[child]->at_) break;
        put(place, heap_[child]);
        place = child;
    }
    put(place, a);
}

}  // namespace redlock::detail
