// Network namespaces of the run's own, so that nothing outside notices, and nothing stays.
#ifndef REDLOCK_TESTS_FAULTS_NAMESPACES_HPP
#define REDLOCK_TESTS_FAULTS_NAMESPACES_HPP

#include <string>

namespace redlock::faults {

/// Executes this program again with the same arguments in a network namespace of its own, as root or as a user where the system lets users
/// do that. Returns at once when it is there already, and why not when it is not possible.
std::string enter_namespace(char** argv);

/// What the process that `enter_namespace` starts first does, with the argument "probe": tells, by its exit code, whether a packet wire can be made in
/// a namespace like this. The run itself begins only if it can.
int probe_namespace();

}  // namespace redlock::faults

#endif
