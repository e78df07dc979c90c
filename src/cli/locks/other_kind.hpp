// A lock and a semaphore of one name have different keys, so that they do not exclude each other: the user of one of them is told of the other. No I/O.
#ifndef REDLOCK_CLI_LOCKS_OTHER_KIND_HPP
#define REDLOCK_CLI_LOCKS_OTHER_KIND_HPP

#include "cli/servers/node_link.hpp"

#include <redlock/config.hpp>

#include <string>
#include <vector>

namespace redlock::cli {

enum class kind_of_name : bool { lock, semaphore };

// One command, of those that a user who may lock may call: whether there is one of the other kind.
std::vector<words> question_about_other_kind(config const& settings, std::string const& name, kind_of_name own);

// Whether a node knows of one, from the answers to that.
bool is_of_both_kinds(std::vector<answers> const& all, kind_of_name own);

// What that means, and what to do.
std::string warning_of_both_kinds(std::string const& name, kind_of_name own);

}  // namespace redlock::cli

#endif
