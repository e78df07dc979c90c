// Makes the strand of a client. All the client's work runs on it, one handler at a time, however many threads there are.
#ifndef REDLOCK_BASE_STRAND_HPP
#define REDLOCK_BASE_STRAND_HPP

#include "base/implicit_strand.hpp"

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

namespace redlock::detail {

namespace asio = boost::asio;

// The types of strands that an any_io_executor usually contains here. They wrap the io_context's own executor type, not any_io_executor: a
// strand<any_io_executor> is too large for the buffer in an any_io_executor. Asio and Boost.Redis would allocate each time that they copy or query
// such an executor, some forty times a command.
using strand_of_io_context = asio::strand<asio::io_context::executor_type>;
using implicit_strand_of_io_context = implicit_strand<asio::io_context::executor_type>;

// Whether the type of an executor says that no two handlers run on it at the same time.
inline bool is_a_strand(asio::any_io_executor const& executor) noexcept
{
    return executor.target<strand_of_io_context>() || executor.target<implicit_strand_of_io_context>() ||
           executor.target<asio::strand<asio::thread_pool::executor_type>>() || executor.target<asio::strand<asio::any_io_executor>>();
}

// The executor itself where it is a strand: another strand above it would allocate for each handler, and separate nothing more.
// `implicit`: no two handlers ever run on `of` at the same time (config::implicit_strand).
inline asio::any_io_executor make_client_strand(asio::any_io_executor const& of, bool implicit = false)
{
    auto const* const plain = of.target<asio::io_context::executor_type>();
    if (implicit && plain) return make_implicit_strand(*plain);
    if (implicit || is_a_strand(of)) return of;
    if (plain) return asio::make_strand(*plain);
    return asio::make_strand(of);
}

// The executor for the inside of a connection, which queries its executor some forty times a command. It needs only that no two handlers run at the
// same time, so an implicit strand is left out.
inline asio::any_io_executor inner_executor(asio::any_io_executor const& strand)
{
    if (auto const* const plain = strand.target<implicit_strand_of_io_context>()) return plain->get_inner_executor();
    return strand;
}

// The executor to bind to a handler, in the type that completions keep. From an any_io_executor they would have to wrap it once more.
inline asio::any_completion_executor completion_executor(asio::any_io_executor const& strand)
{
    if (auto const* const plain = strand.target<strand_of_io_context>()) return *plain;
    if (auto const* const plain = strand.target<implicit_strand_of_io_context>()) return *plain;
    return strand;
}

// Handlers of inner_executor() that belong to the strand announce that with a strand_presence of this. Null: they are in the strand anyway.
inline strand_depth* depth_beside_inner_executor(asio::any_io_executor const& strand)
{
    auto const* const plain = strand.target<implicit_strand_of_io_context>();
    return plain ? &plain->depth() : nullptr;
}

}  // namespace redlock::detail

#endif
