// `redlock semaphore`: shows a semaphore, or changes how many permits it has.
#include "cli/locks/lock_view_text.hpp"
#include "cli/locks/permit_change.hpp"
#include "cli/locks/semaphore_text.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"

#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace redlock::cli {

namespace {

int show(semaphore_command_options const& options, settings const& from)
{
    server_group nodes{from.client, options.from.timeout};
    auto const found = look_at_semaphore(nodes, options.name);
    terminal const out;
    if (options.json) out.write(dump(to_json(nodes.names(), found), 2));
    else out.write(text_of(out, nodes, found));
    if (!found.is_known() || found.held_unclearly() > 0) return to_int(exit_code::no_majority);
    return to_int(found.permits || !found.slots.empty() ? exit_code::success : exit_code::warnings);
}

}  // namespace

int execute(semaphore_command_options const& options)
{
    check_name(options.name);
    ::signal(SIGPIPE, SIG_IGN);
    auto const from = settings_of(options.from, {options.name});
    if (!options.permits) return show(options, from);
    try {
        permit_change change{options, from};
        int const code = change.run();
        if (code == to_int(exit_code::success)) return show(options, from);
        return code;
    } catch (std::invalid_argument const& error) {
        throw failure{exit_code::usage, in_terms_of_options(error.what(), options.from)};
    }
}

}  // namespace redlock::cli
