#include "testing/stepping.hpp"

#include <algorithm>
#include <stdexcept>

namespace redlock::testing {

namespace {

constexpr int max_handlers = 10'000'000;

// To the next timer, if that is not after `end`.
bool step(asio::io_context& context, time_point end)
{
    auto& time = asio::use_service<virtual_time>(context);
    if (time.empty() || time.next() > end) return false;
    virtual_clock::current = std::max(virtual_clock::current, time.next());
    time.fire_due(virtual_clock::now());
    return true;
}

}  // namespace

void settle(asio::io_context& context)
{
    context.restart();
    for (int n = 0; n < max_handlers; ++n)
        if (context.poll_one() == 0) return;
    throw std::runtime_error{"time cannot pass: something runs for ever without waiting"};
}

void advance(asio::io_context& context, duration d)
{
    auto const end = virtual_clock::now() + d;
    do settle(context);
    while (step(context, end));
    virtual_clock::current = std::max(virtual_clock::current, end);
}

bool advance_until(asio::io_context& context, std::function<bool()> const& done, duration limit)
{
    auto const end = virtual_clock::now() + limit;
    do {
        settle(context);
        if (done()) return true;
    } while (step(context, end));
    return false;
}

}  // namespace redlock::testing
