// A request that is sent, and what becomes of its answers.
#ifndef REDLOCK_NODE_CONNECTION_EXCHANGE_HPP
#define REDLOCK_NODE_CONNECTION_EXCHANGE_HPP

#include "node/connection/reply_bounds.hpp"

#include <redlock/detail/recycling.hpp>
#include <redlock/error.hpp>

#include <boost/redis/resp3/node.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace redlock::detail {

class redis_connection;

// Exists from the request to the last answer, or to the loss of the connection. It is all that the handler of Boost.Redis keeps, which
// Boost.Redis moves some fifty times for a request.
class exchange {
public:
    exchange() = default;
    exchange(exchange const&) = delete;
    exchange& operator=(exchange const&) = delete;
    virtual ~exchange() = default;

    // One RESP3 node of the answer to call number `call`. Must not throw and has no error to report: that would end the connection.
    virtual void on_node(std::size_t call, boost::redis::resp3::node_view const& node) = 0;

    // All answers have come, or none will. Called at most once; the exchange is destroyed after it.
    virtual void on_answered(error_code ec) = 0;

    static void* operator new(std::size_t size) { return recycled_block(size); }
    static void operator delete(void* what, std::size_t size) noexcept { recycle_block(what, size); }

    // What redis_connection notes of it, from the request on.
    struct notes {
        std::shared_ptr<redis_connection> over;
        std::optional<reply_bounds::question> asked;  // none: a part of the handshake
        std::size_t longer{0};  // see reply_bounds::question
    };
    notes of_connection;
};

}  // namespace redlock::detail

#endif
