// The strand of a client: everything that it does runs there, one thing at a time, whatever threads there are.
#ifndef REDLOCK_NODE_STRAND_HPP
#define REDLOCK_NODE_STRAND_HPP

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

namespace redlock::detail {

namespace asio = boost::asio;

// Its type is erased around that of the context, which most often is known: a strand<any_io_executor> does not fit into an any_io_executor,
// so that Asio and Boost.Redis would ask for memory each time that they keep it or want something of it, some forty times a command.
inline asio::any_io_executor make_client_strand(asio::any_io_executor const& of)
{
    if (auto const* const plain = of.target<asio::io_context::executor_type>()) return asio::make_strand(*plain);
    return asio::make_strand(of);
}

// For what is bound to a handler: the type that completions are erased to, or each of them would be wrapped once more.
inline asio::any_completion_executor bindable(asio::any_io_executor const& strand)
{
    if (auto const* const plain = strand.target<asio::strand<asio::io_context::executor_type>>()) return *plain;
    return strand;
}

}  // namespace redlock::detail

#endif
