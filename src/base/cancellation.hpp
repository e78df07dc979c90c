// Which types of cancellation end an operation.
#ifndef REDLOCK_BASE_CANCELLATION_HPP
#define REDLOCK_BASE_CANCELLATION_HPP

#include <boost/asio/cancellation_type.hpp>

namespace redlock::detail {

namespace asio = boost::asio;

// A `total` cancellation promises that nothing has happened. Requests to the nodes cannot be taken back, so it is ignored.
inline bool gives_up(asio::cancellation_type_t type)
{
    auto const heeded = asio::cancellation_type::terminal | asio::cancellation_type::partial;
    return (type & heeded) != asio::cancellation_type::none;
}

inline bool at_any(asio::cancellation_type_t) { return true; }

}  // namespace redlock::detail

#endif
