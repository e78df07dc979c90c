// The type of our connections, which read within bounds (bounded_stream.hpp) and resolve without a thread of the context
// (bounded_resolver.hpp). Slow to compile: only for what talks to servers itself.
#ifndef REDLOCK_NODE_CONNECTION_BOUNDED_CONNECTION_HPP
#define REDLOCK_NODE_CONNECTION_BOUNDED_CONNECTION_HPP

#include "node/connection/boost_redis_compat.hpp"
#include "node/connection/bounded_resolver.hpp"
#include "node/connection/bounded_stream.hpp"

#include <boost/redis/connection.hpp>

namespace redlock::detail {

class bounded_connection final : public redis::basic_connection<bounded_executor> {
public:
    using basic_connection::basic_connection;
};

}  // namespace redlock::detail

#endif
