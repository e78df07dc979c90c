// A client of three nodes: two good ones, and a third that the test brings.
#ifndef REDLOCK_TESTS_INTEGRATION_TWO_NODES_AND_HPP
#define REDLOCK_TESTS_INTEGRATION_TWO_NODES_AND_HPP

#include "cluster.hpp"

#include <cstddef>
#include <utility>

namespace redlock::testing {

class two_nodes_and : public cluster {
public:
    node_status third() const { return nodes.status().nodes[2]; }

protected:
    /// `usable`: how many nodes to wait for before the story begins, 2 if the client refuses the third one.
    explicit two_nodes_and(std::size_t usable) : cluster{2} { usable_at_start = usable; }

    void make_client(node_address const& third, config settings = quick_config())
    {
        for (auto const& good : servers) settings.nodes.push_back(node_address::from_url(good.url()));
        settings.nodes.push_back(third);
        nodes = redlock::client{io.get_executor(), std::move(settings)};
    }
};

}  // namespace redlock::testing

#endif
