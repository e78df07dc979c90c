// The way of one client to a group: it asks the Sentinels, and goes to whom they call the primary. Like group_node, whose decisions it takes with the
// same functions (primary_choice), over links instead of connections.
#ifndef REDLOCK_TESTS_SIMULATION_GROUP_LINK_HPP
#define REDLOCK_TESTS_SIMULATION_GROUP_LINK_HPP

#include "replica_group.hpp"

#include "redis/node.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>

namespace redlock::simulation {

class process;
class universe;

// For how many replicas the votes of a client wait.
struct wished_acknowledgements {
    std::uint16_t replicas{0};  // 0: half of the group
    bool none{false};  // it takes the group for a single server
};

std::unique_ptr<detail::node> make_group_link(universe& in, process& p, asio::any_io_executor strand, replica_group& to,
                                              wished_acknowledgements wished);

}  // namespace redlock::simulation

#endif
