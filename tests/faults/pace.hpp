// How the runner waits: a Ctrl-C ends it, and it leaves nothing behind.
#ifndef REDLOCK_TESTS_FAULTS_PACE_HPP
#define REDLOCK_TESTS_FAULTS_PACE_HPP

#include "records.hpp"

namespace redlock::faults {

/// From now on SIGINT, SIGTERM and SIGHUP make `sleep_until` throw.
void heed_interruptions();

/// Throws `std::runtime_error` when the process was told to end.
void sleep_until(moment when);

}  // namespace redlock::faults

#endif
