#include "base/timer_queue.hpp"

#include <cassert>

namespace redlock::detail {

void timer_queue::set(timer& a, time_point at)
{
    cancel(a);
    a.at_ = at;
    if (!join_a_row(a)) {
        heap_.push_back(&a);
        a.where_ = timer::in_heap;
        a.place_ = heap_.size() - 1;
        rise(a.place_);
    }
    ++size_;
}

// The row whose last timer is the closest before it: the others stay free for earlier ones. Those of a crowd come one after the other,
// with the same duration.
bool timer_queue::join_a_row(timer& a) noexcept
{
    constexpr duration close{std::chrono::milliseconds{1}};
    timer const* const latest = rows_[joined_last_].back;
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

void timer_queue::take_out(timer& a) noexcept
{
    a.where_ == timer::in_heap ? leave_the_heap(a) : leave_its_row(a);
    a.where_ = timer::nowhere;
    --size_;
}

void timer_queue::leave_its_row(timer& a) noexcept
{
    row& from = rows_[a.where_];
    (a.before_ ? a.before_->behind_ : from.front) = a.behind_;
    (a.behind_ ? a.behind_->before_ : from.back) = a.before_;
}

void timer_queue::leave_the_heap(timer& a) noexcept
{
    std::size_t const place = a.place_;
    assert(place < heap_.size() && heap_[place] == &a);
    timer* const last = heap_.back();
    heap_.pop_back();
    if (last == &a) return;
    put(place, last);
    rise(place);
    sink(last->place_);
}

timer* timer_queue::first() const noexcept
{
    timer* found = heap_.empty() ? nullptr : heap_.front();
    for (row const& each : rows_)
        if (each.front && (!found || each.front->at_ < found->at_)) found = each.front;
    return found;
}

timer* timer_queue::take(timer* a) noexcept
{
    cancel(*a);
    return a;
}

timer* timer_queue::pop_due(time_point now) noexcept
{
    timer* const a = first();
    return a && a->at_ <= now ? take(a) : nullptr;
}

timer* timer_queue::pop_early(time_point now) noexcept
{
    timer* const a = first();
    return a && a->may_come_early(now) ? take(a) : nullptr;
}

void timer_queue::clear() noexcept
{
    while (timer* const a = first()) cancel(*a);
}

void timer_queue::put(std::size_t place, timer* a) noexcept
{
    heap_[place] = a;
    a->place_ = place;
}

void timer_queue::rise(std::size_t place) noexcept
{
    timer* const a = heap_[place];
    while (place > 0) {
        std::size_t const parent = (place - 1) / 2;
        if (heap_[parent]->at_ <= a->at_) break;
        put(place, heap_[parent]);
        place = parent;
    }
    put(place, a);
}

void timer_queue::sink(std::size_t place) noexcept
{
    timer* const a = heap_[place];
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
