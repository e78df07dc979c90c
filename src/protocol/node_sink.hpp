// What receives the answers to a request, piece by piece.
#ifndef REDLOCK_PROTOCOL_NODE_SINK_HPP
#define REDLOCK_PROTOCOL_NODE_SINK_HPP

#include <boost/redis/resp3/node.hpp>

#include <cstddef>
#include <functional>

namespace redlock::detail {

// Receives every RESP3 node of an answer, with the number of the call that it belongs to. It never reports an error: that
// would end the connection.
using node_sink = std::function<void(std::size_t call, boost::redis::resp3::node_view const& node)>;

}  // namespace redlock::detail

#endif
