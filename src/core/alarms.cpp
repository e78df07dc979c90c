#include "core/alarms.hpp"

#include <cassert>

namespace redlock::detail {

void alarms::set(alarm& a, time_point at)
{
    cancel(a);
    a.at_ = at;
    if (!join_a_row(a)) {
        heap_.push_back(&a);
        a.where_ = alarm::in_heap;
        a.place_ = heap_.size() - 1;
        rise(a.place_);
    }
    ++size_;
}

// The row whose last alarm is the closest before it: the others stay free for earlier ones. Those of a crowd come one after the other,
// with the same duration.
bool alarms::join_a_row(alarm& a) noexcept
{
    constexpr duration close{std::chrono::milliseconds{1}};
    alarm const* const latest = rows_[joined_last_].back;
    row* best = latest && latest->at_ <= a.at_ && a.at_ - latest->at_ < close ? &rows_[joined_last_] : nullptr;
    if (!best) {
        for (row& each : rows_) {
            if (each.back && each.back->at_ > a.at_) continue;
            if (!best || (each.back && (!best->back || each.back->at_ > best->back->at_))) best = &each;
        }
        if (!best) return false;
        joined_last_ = static_cast<std::size_t>(best - rows_.data());
    }
    a.where_ = static_cast<std::uint8_t>(joined_last_);
    a.before_ = best->back;
    a.behind_ = nullptr;
    (best->back ? best->back->behind_ : best->front) = &a;
    best->back = &a;
    return true;
}

void alarms::take_out(alarm& a) noexcept
{
    a.where_ == alarm::in_heap ? leave_the_heap(a) : leave_its_row(a);
    a.where_ = alarm::nowhere;
    --size_;
}

void alarms::leave_its_row(alarm& a) noexcept
{
    row& from = rows_[a.where_];
    (a.before_ ? a.before_->behind_ : from.front) = a.behind_;
    (a.behind_ ? a.behind_->before_ : from.back) = a.before_;
}

void alarms::leave_the_heap(alarm& a) noexcept
{
    std::size_t const place = a.place_;
    assert(place < heap_.size() && heap_[place] == &a);
    alarm* const last = heap_.back();
    heap_.pop_back();
    if (last == &a) return;
    put(place, last);
    rise(place);
    sink(last->place_);
}

alarm* alarms::first() const noexcept
{
    alarm* found = heap_.empty() ? nullptr : heap_.front();
    for (row const& each : rows_)
        if (each.front && (!found || each.front->at_ < found->at_)) found = each.front;
    return found;
}

alarm* alarms::take(alarm* a) noexcept
{
    cancel(*a);
    return a;
}

alarm* alarms::pop_due(time_point now) noexcept
{
    alarm* const a = first();
    return a && a->at_ <= now ? take(a) : nullptr;
}

alarm* alarms::pop_early(time_point now) noexcept
{
    alarm* const a = first();
    return a && a->may_come_early(now) ? take(a) : nullptr;
}

void alarms::clear() noexcept
{
    while (alarm* const a = first()) cancel(*a);
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
