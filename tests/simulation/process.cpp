#include "process.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>

namespace redlock::simulation {

process::process(std::size_t index, machine_clock const& c)
    : clock{c}, index_{index}, timers_{asio::use_service<testing::virtual_time>(*this)}
{
}

process::~process()
{
    gone_ = true;
    inside_ = false;
    shutdown();
    // Destroying a handler may post another one, which is then destroyed at once.
    while (!ready_.empty()) {
        task* const last = ready_.back();
        ready_.pop_back();
        delete last;
    }
    destroy();
}

void process::enter(duration world) noexcept
{
    time_.boot = clock.at(world);
    show(&time_);
    behind_ = time_.boot - simulated_clock::now();
    inside_ = true;
}

void process::leave() noexcept
{
    inside_ = false;
    show(nullptr);
}

void process::run_one(random& chance, duration world)
{
    std::size_t const place = ready_.size() == 1 ? 0 : chance.below(ready_.size());
    task* const chosen = ready_[place];
    ready_[place] = ready_.back();
    ready_.pop_back();
    enter(world);
    chosen->run();
    leave();
}

duration process::next_timer() const { return std::max(clock.when(timers_.next() + behind_), no_timer_before_); }

void process::ring(random& chance, duration world)
{
    visit(world, [&] { timers_.ring_one(simulated_clock::now(), [&](std::size_t due) { return chance.below(due); }); });
}

asio::awaitable<void> sleep(duration d)
{
    timer t{co_await asio::this_coro::executor, d};
    auto wait = t.async_wait(asio::use_awaitable);
    co_await std::move(wait);
}

}  // namespace redlock::simulation
