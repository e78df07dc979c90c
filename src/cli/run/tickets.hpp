// Tickets of leases in a shell: `redlock acquire` prints one, and `extend`, `release` and `run` take it. The lease is held while no process of redlock
// runs; docs/tickets.md says what a ticket is.
#ifndef REDLOCK_CLI_RUN_TICKETS_HPP
#define REDLOCK_CLI_RUN_TICKETS_HPP

#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"

#include "core/lease/ticket.hpp"

#include <redlock/error.hpp>

#include <string>

namespace redlock::cli {

// A ticket that was read.
struct known_ticket {
    std::string text;
    detail::ticket what;
};

// Throws `failure` with `usage` when it is no ticket.
known_ticket read(ticket_option const& option);

// What a command ends with whose ticket could not be adopted, and why, in a sentence.
failure not_adopted(error_code why, known_ticket const& ticket);

// `redlock release --ticket`.
int release_by(release_options const& options);

}  // namespace redlock::cli

#endif
