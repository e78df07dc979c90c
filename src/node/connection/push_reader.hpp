// Reads pushes: messages that a server sends without being asked. Only those about changed keys matter. No I/O.
#ifndef REDLOCK_NODE_CONNECTION_PUSH_READER_HPP
#define REDLOCK_NODE_CONNECTION_PUSH_READER_HPP

#include <boost/redis/resp3/node.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace redlock::detail {

class push_reader {
public:
    // Takes one RESP3 node of any push. Returns a key that has changed, as in node_listener::on_changed (empty: all keys).
    std::optional<std::string_view> on_node(boost::redis::resp3::node_view const& node);

private:
    std::size_t element_{0};  // of the push itself
    bool invalidates_{false};
};

}  // namespace redlock::detail

#endif
