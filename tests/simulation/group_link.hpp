// The node of one client that is a group: it asks the Sentinels, and connects to the server that they call the primary. Like group_node, with the same
// choice of a primary (primary_choice), over links instead of connections. It hears of a new epoch only when it connects, and does not notice that a
// group has grown.
#ifndef REDLOCK_TESTS_SIMULATION_GROUP_LINK_HPP
#define REDLOCK_TESTS_SIMULATION_GROUP_LINK_HPP

#include "replica_group.hpp"

#include "node/node.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>

namespace redlock::simulation {

class process;
class universe;

// For how many replicas the votes of a client wait.
struct wished_acknowledgements {
    std::uint16_t replicas{0};  // 0: half of the group
    bool as_single_server{false};  // votes wait for nobody
};

std::unique_ptr<detail::node> make_group_link(universe& in, process& p, asio::any_io_executor strand, replica_group& group,
                                              wished_acknowledgements wished);

}  // namespace redlock::simulation

#endif
