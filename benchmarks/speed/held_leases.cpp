#include "held_leases.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace bench {

held_leases::held_leases(workload const& what, redlock::config const& settings, bool auto_extend, std::size_t leases)
    : what_{what},
      options_{.ttl = what.ttl, .fencing = what.fencing, .auto_extend = auto_extend},
      client_{io_.get_executor(), settings},
      leases_(leases)
{
    client_.run(asio::detached);
    run_until_usable(io_, client_);
}

void held_leases::acquire(std::size_t count)
{
    next_ = 0;
    count_ = missing_ = count;
    for (std::size_t i = 0; i < std::min(what_.callers, count); ++i) asio::co_spawn(io_, take(), rethrow);
    io_.run();
    io_.restart();
}

asio::awaitable<void> held_leases::take()
{
    while (next_ < count_) {
        std::size_t const i = next_++;
        redlock::lock const resource{client_, what_.key(i), options_};
        auto acquisition = resource.acquire(asio::use_awaitable);
        leases_[i] = co_await std::move(acquisition);
        if (--missing_ == 0) io_.stop();
    }
}

void held_leases::release()
{
    for (auto& lease : leases_) lease = {};
    redlock::error_code drained;
    client_.drain([&](redlock::error_code ec) {
        drained = ec;
        io_.stop();
    });
    io_.run();
    io_.restart();
    if (drained) throw std::runtime_error{"the releases were not awaited: " + drained.message()};
}

}  // namespace bench
