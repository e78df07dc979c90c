// A run of faults in a group: what happens, how long nobody could acquire, and whether that was too long.
#ifndef REDLOCK_TESTS_FAULTS_GROUP_RUN_HPP
#define REDLOCK_TESTS_FAULTS_GROUP_RUN_HPP

#include "runner.hpp"

#include <filesystem>

namespace redlock::faults {

/// Prints progress, the table and the verdict; returns whether all was well. Logs go to `folder`.
bool run_group_faults(run_options const& options, std::filesystem::path const& folder);

}  // namespace redlock::faults

#endif
