// An executor that calls functions where they are passed to it.
#ifndef REDLOCK_BASE_IN_PLACE_EXECUTOR_HPP
#define REDLOCK_BASE_IN_PLACE_EXECUTOR_HPP

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/system_executor.hpp>

#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

// For handlers of an empty lease that have no executor: there is no client whose executor could serve, and a thread of the system executor would run beside
// the only thread of the program. It cannot keep the promise of `blocking.never`, but an any_io_executor wants it.
class in_place_executor {
public:
    asio::execution_context& query(asio::execution::context_t) const noexcept
    {
        return asio::query(asio::system_executor{}, asio::execution::context);
    }
    static constexpr asio::execution::blocking_t query(asio::execution::blocking_t) noexcept { return asio::execution::blocking.never; }
    in_place_executor require(asio::execution::blocking_t::never_t) const noexcept { return *this; }

    template <class Function>
    void execute(Function&& f) const
    {
        std::forward<Function>(f)();
    }

    friend bool operator==(in_place_executor, in_place_executor) noexcept { return true; }
    friend bool operator!=(in_place_executor, in_place_executor) noexcept { return false; }
};

}  // namespace redlock::detail

#endif
