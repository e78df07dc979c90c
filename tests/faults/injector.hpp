// Injects the faults of a schedule into the servers and the workers, and ends them.
#ifndef REDLOCK_TESTS_FAULTS_INJECTOR_HPP
#define REDLOCK_TESTS_FAULTS_INJECTOR_HPP

#include "crew.hpp"
#include "fault.hpp"
#include "fleet.hpp"
#include "packet_wire.hpp"

namespace redlock::faults {

/// Thread safety: none.
class injector {
public:
    injector(fleet& servers, crew& workers, packet_wire* wire) : servers_{servers}, workers_{workers}, wire_{wire} {}

    /// Throws `std::runtime_error` when it could not be done.
    void inject(fault const& what);

    /// Ends the fault: servers that were killed or stopped run, links are whole. Afterwards every server answers.
    void heal(fault const& what);

private:
    void delete_locks(fault const& what);
    void demote(testing::redis_server& server);
    void each_node(fault const& what, auto action)
    {
        for (auto const node : what.nodes) action(node);
    }

    fleet& servers_;
    crew& workers_;
    packet_wire* wire_;
};

}  // namespace redlock::faults

#endif
