// The stream below a connection: what Boost.Redis has no function for. bounded_stream fills it in.
#ifndef REDLOCK_NODE_CONNECTION_STREAM_ACCESS_HPP
#define REDLOCK_NODE_CONNECTION_STREAM_ACCESS_HPP

#include "node/connection/tls.hpp"

#include <redlock/error.hpp>

#include <boost/asio/ip/tcp.hpp>

namespace redlock::detail {

// Boost.Redis makes the stream, and may make it again before it connects.
struct stream_access {
    tls_session* session{nullptr};  // what prepares each stream for TLS; none: without TLS
    asio::ip::tcp::socket* socket{nullptr};  // none: there is no stream. With a unix socket it is never connected
    SSL* tls{nullptr};

    bool is_connected() const
    {
        error_code not_connected;
        if (socket) socket->remote_endpoint(not_connected);
        return socket && !not_connected;
    }
};

}  // namespace redlock::detail

#endif
