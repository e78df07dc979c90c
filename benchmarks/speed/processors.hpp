// Which processors clients and servers use: the last one is the clients'.
#ifndef REDLOCK_BENCHMARKS_SPEED_PROCESSORS_HPP
#define REDLOCK_BENCHMARKS_SPEED_PROCESSORS_HPP

#include "support.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <type_traits>

namespace bench {

/// Lets this process use all processors.
void use_all_processors();

/// Puts this process where the servers are, for what is not to be measured with a client.
void keep_off_the_clients_processor();

/// Puts servers, with size() and [], on processors that clients do not use.
void pin_apart(fleet const& servers);
void pin_apart(std::deque<redlock::testing::redis_server> const& servers);

/// Runs `body`, which fills `result`, in a process of its own on the clients' processor.
void run_apart(void* result, std::size_t size, std::function<void()> const& body);

template <class Result>
Result run_apart(std::function<Result()> const& body)
{
    static_assert(std::is_trivially_copyable_v<Result>, "it goes through a pipe");
    Result result{};
    run_apart(&result, sizeof result, [&] { result = body(); });
    return result;
}

}  // namespace bench

#endif
