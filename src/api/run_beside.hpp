// A coroutine beside an operation that may cancel it.
#ifndef REDLOCK_API_RUN_BESIDE_HPP
#define REDLOCK_API_RUN_BESIDE_HPP

#include <redlock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <memory>
#include <tuple>
#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

// The end of the work ends the operation beside it. The end of the operation cancels the work if `cancels_work` says so.
struct beside_condition {
    std::shared_ptr<asio::cancellation_signal> to_work;
    bool (*cancels_work)(error_code);

    asio::cancellation_type_t operator()(std::exception_ptr const&) const noexcept { return asio::cancellation_type::all; }
    asio::cancellation_type_t operator()(error_code ec) const
    {
        if (cancels_work(ec)) to_work->emit(asio::cancellation_type::all);
        return asio::cancellation_type::none;
    }
};

// Runs both on this executor, a strand, on which the calling coroutine runs as well. Returns what the work threw.
//
// A group would forward the first cancellation of the caller only, and to both: a `total` that the work ignores would end the operation beside it, and a
// later `terminal` would be lost. So the caller's cancellations go to the work directly, each with its own type.
template <class Beside>
asio::awaitable<std::exception_ptr> run_beside(asio::any_io_executor strand, asio::awaitable<void> work, Beside beside,
                                               bool (*cancels_work)(error_code))
{
    auto const to_work = std::make_shared<asio::cancellation_signal>();
    auto const from_caller = co_await asio::this_coro::cancellation_state;
    auto slot = from_caller.slot();
    if (slot.is_connected()) slot.assign([to_work](asio::cancellation_type_t type) { to_work->emit(type); });
    auto both = asio::experimental::make_parallel_group(
        asio::co_spawn(strand, std::move(work), asio::bind_cancellation_slot(to_work->slot(), asio::bind_executor(strand, asio::deferred))),
        std::move(beside));
    auto finished = both.async_wait(beside_condition{to_work, cancels_work},
                                    asio::bind_cancellation_slot(asio::cancellation_slot{}, asio::use_awaitable));
    auto ends = co_await std::move(finished);
    if (slot.is_connected()) slot.clear();
    co_return std::get<1>(std::move(ends));
}

}  // namespace redlock::detail

#endif
