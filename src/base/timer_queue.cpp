#include "base/timer_queue.hpp"

#include <cassert>

namespace redlock::detail {

void timer_queue::set(timer& t, time_point at)
{
    cancel(t);
    t.at_ = at;
    if (!join_a_row(t)) {
        heap_.push_back(&t);
        t.where_ = timer::in_heap;
        t.heap_index_ = heap_.size() - 1;
        rise(t.heap_index_);
    }
    ++size_;
}

// The timer joins, of the rows that end with an earlier timer, the one that ends latest. The other rows stay free for earlier timers.
// Under high contention timers with the same duration come one after the other, so the row that was joined last is looked at first.
bool timer_queue::join_a_row(timer& t) noexcept
{
    constexpr duration close{std::chrono::milliseconds{1}};
    timer const* const latest = rows_[joined_last_].back;
    row* best = latest && latest->at_ <= t.at_ && t.at_ - latest->at_ < close ? &rows_[joined_last_] : nullptr;
    if (!best) {
        for (row& each : rows_) {
            if (each.back && each.back->at_ > t.at_) continue;
            if (!best || (each.back && (!best->back || each.back->at_ > best->back->at_))) best = &each;
        }
        if (!best) return false;
        joined_last_ = static_cast<std::size_t>(best - rows_.data());
    }
    t.where_ = static_cast<std::uint8_t>(joined_last_);
    t.before_ = best->back;
    t.behind_ = nullptr;
    (best->back ? best->back->behind_ : best->front) = &t;
    best->back = &t;
    return true;
}

void timer_queue::take_out(timer& t) noexcept
{
    t.where_ == timer::in_heap ? leave_the_heap(t) : leave_its_row(t);
    t.where_ = timer::nowhere;
    --size_;
}

void timer_queue::leave_its_row(timer& t) noexcept
{
    row& from = rows_[t.where_];
    (t.before_ ? t.before_->behind_ : from.front) = t.behind_;
    (t.behind_ ? t.behind_->before_ : from.back) = t.before_;
}

void timer_queue::leave_the_heap(timer& t) noexcept
{
    std::size_t const index = t.heap_index_;
    assert(index < heap_.size() && heap_[index] == &t);
    timer* const last = heap_.back();
    heap_.pop_back();
    if (last == &t) return;
    put(index, last);
    rise(index);
    sink(last->heap_index_);
}

timer* timer_queue::first() const noexcept
{
    timer* found = heap_.empty() ? nullptr : heap_.front();
    for (row const& each : rows_)
        if (each.front && (!found || each.front->at_ < found->at_)) found = each.front;
    return found;
}

timer* timer_queue::take(timer* t) noexcept
{
    cancel(*t);
    return t;
}

timer* timer_queue::pop_due(time_point now) noexcept
{
    timer* const t = first();
    return t && t->at_ <= now ? take(t) : nullptr;
}

timer* timer_queue::pop_early(time_point now) noexcept
{
    timer* const t = first();
    return t && t->may_come_early(now) ? take(t) : nullptr;
}

void timer_queue::clear() noexcept
{
    while (timer* const t = first()) cancel(*t);
}

void timer_queue::put(std::size_t index, timer* t) noexcept
{
    heap_[index] = t;
    t->heap_index_ = index;
}

void timer_queue::rise(std::size_t index) noexcept
{
    timer* const t = heap_[index];
    while (index > 0) {
        std::size_t const parent = (index - 1) / 2;
        if (heap_[parent]->at_ <= t->at_) break;
        put(index, heap_[parent]);
        index = parent;
    }
    put(index, t);
}

void timer_queue::sink(std::size_t index) noexcept
{
    timer* const t = heap_[index];
    for (;;) {
        std::size_t child = 2 * index + 1;
        if (child >= heap_.size()) break;
        if (child + 1 < heap_.size() && heap_[child + 1]->at_ < heap_[child]->at_) ++child;
        if (t->at_ <= heap_[child]->at_) break;
        put(index, heap_[child]);
        index = child;
    }
    put(index, t);
}

}  // namespace redlock::detail
