// redis-plus-plus at the same work. It blocks, so that each caller is a thread.
#include "redis_plus_plus.hpp"

#include <sw/redis++/patterns/redlock.h>
#include <sw/redis++/redis++.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

namespace bench {

namespace {

using server = std::shared_ptr<sw::redis::Redis>;

std::vector<server> connect(workload const& what)
{
    std::vector<server> all;
    for (auto const port : what.at) {
        sw::redis::ConnectionOptions where;
        where.host = "127.0.0.1";
        where.port = port;
        sw::redis::ConnectionPoolOptions pool;
        pool.size = what.callers;
        all.push_back(std::make_shared<sw::redis::Redis>(where, pool));
    }
    return all;
}

}  // namespace

sample run_redis_plus_plus(workload const& what)
{
    refuse_tokens_and_rests(what, "redis-plus-plus");
    if (what.names > 1 || what.in_step || what.at_begin)
        throw std::logic_error{"redis-plus-plus knows no names in turn, no work in step and no at_begin"};
    auto const servers = connect(what);
    std::atomic<std::uint64_t> pairs{0};
    std::atomic<bool> failed{false};
    std::vector<std::jthread> callers;
    for (std::size_t i = 0; i < what.callers; ++i)
        callers.emplace_back([&, key = what.key(i)](std::stop_token const& stop) {
            try {
                sw::redis::RedLockMutex mutex{servers.begin(), servers.end(), key};
                while (!stop.stop_requested()) {
                    sw::redis::RedLock<sw::redis::RedLockMutex> lock{mutex, std::defer_lock};
                    if (!lock.try_lock(what.ttl)) throw std::runtime_error{"refused"};
                    lock.unlock();
                    ++pairs;
                }
            } catch (std::exception const&) {
                failed = true;
            }
        });
    std::this_thread::sleep_for(what.warm_up);
    auto const pairs_before = pairs.load();
    cpu_time const used_before = cpu_used();
    auto const began = steady::now();
    std::this_thread::sleep_for(what.measured);
    sample s;
    s.seconds = std::chrono::duration<double>{steady::now() - began}.count();
    cpu_time const used = cpu_used();
    s.pairs = static_cast<double>(pairs - pairs_before);
    s.user_us = used.user_us - used_before.user_us;
    s.system_us = used.system_us - used_before.system_us;
    for (auto& caller : callers) caller.request_stop();  // all stop together; ~jthread waits for one after the other
    if (failed || s.pairs == 0) throw std::runtime_error{"redis-plus-plus failed"};
    return s;
}

}  // namespace bench
