#include "meter.hpp"

#include "allocations.hpp"

#include <algorithm>
#include <stdexcept>

#include <sys/resource.h>

namespace bench {

cpu_time cpu_used()
{
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    auto const us = [](timeval const& t) { return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec); };
    return {us(used.ru_utime), us(used.ru_stime)};
}

meter::meter() { waits_ns_.reserve(std::size_t{1} << 22); }

void meter::begin()
{
    pairs_ = confirmations_ = 0;
    waits_ns_.clear();
    measuring_ = true;
    allocations_before_ = allocations();
    used_before_ = cpu_used();
    began_ = steady::now();
    instructions_.resume();
}

void meter::pause() noexcept
{
    instructions_.pause();
    allocations_paused_at_ = allocations();
}

void meter::resume() noexcept
{
    allocations_before_ += allocations() - allocations_paused_at_;
    instructions_.resume();
}

sample meter::end()
{
    instructions_.pause();
    sample s;
    auto const instructions = instructions_.total();
    if (instructions_.counts() && !instructions) throw std::runtime_error{"instructions could not be counted all the time"};
    s.instructions = static_cast<double>(instructions.value_or(0));
    s.seconds = std::chrono::duration<double>{steady::now() - began_}.count();
    cpu_time const used = cpu_used();
    s.user_us = used.user_us - used_before_.user_us;
    s.system_us = used.system_us - used_before_.system_us;
    s.allocations = static_cast<double>(allocations() - allocations_before_);
    measuring_ = false;
    s.pairs = static_cast<double>(pairs_);
    s.confirmations = static_cast<double>(confirmations_);
    if (pairs_ == 0) throw std::runtime_error{"nothing was measured"};
    auto const at = [&](double fraction) {
        if (waits_ns_.empty()) return 0.0;
        auto const rank = static_cast<std::ptrdiff_t>(fraction * static_cast<double>(waits_ns_.size() - 1));
        std::nth_element(waits_ns_.begin(), waits_ns_.begin() + rank, waits_ns_.end());
        return static_cast<double>(waits_ns_[static_cast<std::size_t>(rank)]) / 1e3;
    };
    s.acquire_p50_us = at(0.5);
    s.acquire_p99_us = at(0.99);
    return s;
}

double median(std::vector<double> values)
{
    if (values.empty()) throw std::runtime_error{"the median of nothing"};
    std::ranges::sort(values);
    auto const middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace bench
