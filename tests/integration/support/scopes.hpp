// What the tests of with_lock share.
#ifndef REDLOCK_TESTS_INTEGRATION_SCOPES_HPP
#define REDLOCK_TESTS_INTEGRATION_SCOPES_HPP

#include "cluster.hpp"

#include <optional>
#include <utility>

namespace redlock::testing {

/// What became of a body that waits until it is cancelled.
struct witness {
    std::optional<boot_clock::time_point> started, cancelled, valid_until;
    error_code with;

    asio::awaitable<void> wait_for_the_end(lease& held)
    {
        started = boot_clock::now();
        asio::steady_timer timer{co_await asio::this_coro::executor, 20s};
        auto [ec] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
        with = ec;
        cancelled = boot_clock::now();
        valid_until = held.valid_until();
        throw system_error{ec ? ec : error_code{asio::error::timed_out}};
    }
};

/// How a scope ended, as an error code; none when it returned.
template <class Body>
asio::awaitable<error_code> end_of_scope(lock resource, Body body)
{
    try {
        auto scope = with_lock(std::move(resource), body);
        co_await std::move(scope);
    } catch (system_error const& e) {
        co_return e.code();
    }
    co_return error_code{};
}

}  // namespace redlock::testing

#endif
