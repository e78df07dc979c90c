// The strand of a client: everything that it does runs there, one thing at a time, whatever threads there are.
#ifndef REDLOCK_BASE_STRAND_HPP
#define REDLOCK_BASE_STRAND_HPP

#include "base/implicit_strand.hpp"

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

namespace redlock::detail {

namespace asio = boost::asio;

// The types that a client's strand has within the erased one. They are around that of the context, which most often is known: a
// strand<any_io_executor> does not fit into an any_io_executor, so that Asio and Boost.Redis would ask for memory each time that they keep it
// or want something of it, some forty times a command.
using strand_of_io_context = asio::strand<asio::io_context::executor_type>;
using implicit_strand_of_io_context = implicit_strand<asio::io_context::executor_type>;

// `implicit`: nothing ever runs there at the same time (config::implicit_strand).
inline asio::any_io_executor make_client_strand(asio::any_io_executor const& of, bool implicit = false)
{
    auto const* const plain = of.target<asio::io_context::executor_type>();
    if (implicit && plain) return make_implicit_strand(*plain);
    if (implicit) return of;
    if (plain) return asio::make_strand(*plain);
    return asio::make_strand(of);
}

// For what only has to be kept from running at the same time as itself, as the inside of a connection, which asks its executor for something some
// forty times a command.
inline asio::any_io_executor inner_executor(asio::any_io_executor const& strand)
{
    if (auto const* const plain = strand.target<implicit_strand_of_io_context>()) return plain->get_inner_executor();
    return strand;
}

// For what is bound to a handler: the type that completions are erased to, or each of them would be wrapped once more.
inline asio::any_completion_executor completion_executor(asio::any_io_executor const& strand)
{
    if (auto const* const plain = strand.target<strand_of_io_context>()) return *plain;
    if (auto const* const plain = strand.target<implicit_strand_of_io_context>()) return *plain;
    return strand;
}

}  // namespace redlock::detail

#endif
