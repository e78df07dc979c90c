// Which processors clients and servers use: the last one that this process may use is the clients', and servers get the others. With one processor all
// share it.
#ifndef REDLOCK_BENCHMARKS_SPEED_PROCESSORS_HPP
#define REDLOCK_BENCHMARKS_SPEED_PROCESSORS_HPP

#include "fleet.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <type_traits>

namespace bench {

/// Lets this process use all processors.
void use_all_processors();

/// Puts this process where the servers are: a helper, such as a proxy, must not take the clients' processor.
void keep_off_the_clients_processor();

/// Puts servers on processors that clients do not use. To be called before this process is pinned, since what it may use is asked then.
void pin_servers(fleet const& servers);
void pin_servers(std::deque<redlock::testing::redis_server> const& servers);

/// `body` fills `result`, in a process of its own on the clients' processor.
void fill_in_client_process(void* result, std::size_t size, std::function<void()> const& body);

/// Runs `body` in a process of its own on the clients' processor.
template <class Result>
Result run_in_client_process(std::function<Result()> const& body)
{
    static_assert(std::is_trivially_copyable_v<Result>, "it goes through a pipe");
    Result result{};
    fill_in_client_process(&result, sizeof result, [&] { result = body(); });
    return result;
}

}  // namespace bench

#endif
