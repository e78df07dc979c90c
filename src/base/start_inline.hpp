// Operations that start where their caller is: a trip through the loop less than by the mailbox.
//
// What completes is posted, and what is asked of nodes leaves with the next turn of the loop, so that the caller cannot tell the difference.
#ifndef REDLOCK_BASE_START_INLINE_HPP
#define REDLOCK_BASE_START_INLINE_HPP

#include "base/mailbox.hpp"
#include "base/strand.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/dispatch.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

// Tries to run the task on the strand, and returns whether it does or will; if not, the task is left alone. Keeps the engine alive until then.
using run_here_function = std::function<bool(task& what, time_point now, std::shared_ptr<void> engine)>;

// Runs the task if the caller's thread runs the io_context and is not in the strand, where the engine would be in the middle of something. If
// another thread is in the strand, that one runs it next.
template <class Strand>
run_here_function try_in_place(Strand const& strand)
{
    return [own = strand](task& what, time_point now, std::shared_ptr<void> engine) {
        if (own.running_in_this_thread() || !own.get_inner_executor().running_in_this_thread()) return false;
        asio::dispatch(own, [keeps = std::move(engine), what = std::move(what), now]() mutable { what(now); });
        return true;
    };
}

// Empty for another kind of executor, whose threads cannot be told.
inline run_here_function start_inline(asio::any_io_executor const& strand)
{
    if (auto const* const plain = strand.target<strand_of_io_context>()) return try_in_place(*plain);
    if (auto const* const plain = strand.target<implicit_strand_of_io_context>()) return try_in_place(*plain);
    return {};
}

}  // namespace redlock::detail

#endif
