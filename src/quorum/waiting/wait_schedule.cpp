#include "quorum/waiting/wait_schedule.hpp"

#include <algorithm>
#include <array>

namespace redlock::quorum {

namespace {

constexpr time_point never = time_point::max();
constexpr time_point awake = time_point::min();

}  // namespace

void wait_schedule::begin(time_point at) noexcept
{
    attempting();
    retry_at_ = at;
    probing(never, never);
    head_start_ = {};
    asleep_until_ = awake;
}

void wait_schedule::attempting() noexcept
{
    free_at_.fill(never);
    known_ = {};
    watching_ = {};
}

void wait_schedule::failed(time_point now, time_point retry_at, duration head_start) noexcept
{
    retry_at_ = retry_at;
    head_start_ = head_start;
    rely_on_nodes(now);
}

void wait_schedule::sleep(time_point until) noexcept
{
    asleep_until_ = until;
    retry_at_ = never;
}

void wait_schedule::probing(time_point if_told, time_point if_not) noexcept
{
    asleep_until_ = awake;
    poll_if_told_ = if_told;
    poll_if_not_ = std::min(if_told, if_not);
}

void wait_schedule::on_probe(std::size_t node, time_point now, std::optional<time_point> free_at, bool watching) noexcept
{
    free_at_[node] = free_at.value_or(std::min(free_at_[node], now));  // a free key may be known to have been free for longer
    known_.add(node);
    watching ? watching_.add(node) : watching_.remove(node);
    rely_on_nodes(now);
}

// When a majority of nodes told until when the key is held, no attempt after a random delay is needed.
void wait_schedule::rely_on_nodes(time_point now) noexcept
{
    if (known_.size() >= needed_ && majority_free_at() > now) retry_at_ = never;
}

void wait_schedule::on_changed(std::size_t node, time_point now) noexcept
{
    free_at_[node] = std::min(free_at_[node], now);
    known_.add(node);
}

void wait_schedule::on_silence(std::size_t node) noexcept
{
    free_at_[node] = never;
    known_.remove(node);
    watching_.remove(node);
}

time_point wait_schedule::majority_free_at() const noexcept
{
    if (needed_ > free_at_.size()) return never;
    std::array<time_point, max_nodes> sorted;
    auto const end = std::copy(free_at_.begin(), free_at_.end(), sorted.begin());
    auto const nth = sorted.begin() + (needed_ - 1);
    std::nth_element(sorted.begin(), nth, end);
    return *nth;
}

time_point wait_schedule::due() const noexcept
{
    if (asleep_until_ != awake) return asleep_until_;
    if (retry_at_ != never) return retry_at_;
    auto const free = majority_free_at();
    return std::min(free == never ? never : free + head_start_, is_told() ? poll_if_told_ : poll_if_not_);
}

next_step wait_schedule::step(time_point now) const noexcept
{
    if (asleep_until_ != awake) return next_step::probe;
    if (retry_at_ != never) return next_step::attempt;
    auto const free = majority_free_at();
    return free != never && free + head_start_ <= now ? next_step::race : next_step::probe;
}

}  // namespace redlock::quorum
