// What has to be warned of, and what must not: unit/dropped_results compiles this. A line with "dropped" does nothing, or loses what protects.
// Behind co_await, g++ 12 says nothing, whatever a type or a function is declared as.
#include <redlock/redlock.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <string>

namespace asio = boost::asio;

asio::awaitable<void> use(redlock::client& nodes, redlock::lock& lock, redlock::lease& lease)
{
    auto body = [](redlock::lease&) -> asio::awaitable<void> { co_return; };
    redlock::rw_lock const both{nodes, "both"};
    redlock::semaphore const permits{nodes, "permits", {.permits = 4}};
    redlock::election const race{nodes, "race"};
    nodes.run();  // dropped
    nodes.drain();  // dropped
    nodes.adopt("");  // dropped
    lock.acquire();  // dropped
    lock.try_acquire();  // dropped
    lock.peek();  // dropped
    both.acquire_shared();  // dropped
    permits.available();  // dropped
    lease.release();  // dropped
    lease.extend();  // dropped
    lease.downgrade();  // dropped
    lease.publish("x");  // dropped
    lease.inherited();  // dropped
    lease.wait_lost();  // dropped
    lease.detach();  // dropped
    lease.valid();  // dropped
    lease.lost_error();  // dropped
    redlock::with_lock(lock, body);  // dropped
    redlock::with_lock(permits, 2, body);  // dropped
    redlock::with_shared_lock(both, body);  // dropped
    race.lead(body);  // dropped
    race.leader();  // dropped
    redlock::change_permits(nodes, "permits", 2);  // dropped

    co_await lock.acquire();  // dropped behind co_await
    co_await lock.try_acquire(asio::use_awaitable);  // dropped behind co_await
    co_await both.acquire_shared();  // dropped behind co_await

    nodes.run(asio::detached);
    lease.release([](redlock::error_code) {});
    co_await lease.release();
    co_await redlock::with_lock(lock, body);
    nodes.cancel();
}
