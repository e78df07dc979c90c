// Looks up host names for connections. Asio has one thread for all lookups of an execution context, its user's own among them, and the context's
// destructor waits for it; but a lookup can take half a minute, and nothing can end it. So each lookup has a thread of its own here, which nobody
// waits for: it owns nothing but the name, and may outlive the client, the context, and main().
//
// Thread-safe.
#ifndef REDLOCK_NODE_CONNECTION_NAME_LOOKUP_HPP
#define REDLOCK_NODE_CONNECTION_NAME_LOOKUP_HPP

#include <redlock/error.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/address.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace redlock::detail {

namespace asio = boost::asio;

using ip_addresses = std::vector<asio::ip::address>;
using lookup_handler = asio::any_completion_handler<void(error_code, ip_addresses)>;

// So many names are looked up at once; more than that wait for their turn. A broken name server holds threads up for a while, and not more of them.
inline constexpr std::size_t max_lookups = 64;

// An answer that comes when all waiters have given up is kept for the next waiter, for so long. Otherwise a name that takes longer than
// config::connect_timeout would never be found.
inline constexpr std::chrono::seconds late_answer_lifetime{30};

struct lookup_waiter;

// Looks up the addresses of a host, in the order of getaddrinfo. An IP address takes no thread and is never waited for. Waiters for one name
// share a lookup. The handler is posted to the executor, unless its context is destroyed first; a cancellation, by its slot or by
// give_up(), posts it at once with operation_aborted.
std::weak_ptr<lookup_waiter> look_up(asio::any_io_executor const& executor, std::string const& host, lookup_handler handler);
void give_up(std::weak_ptr<lookup_waiter> const& waiter);

}  // namespace redlock::detail

#endif
