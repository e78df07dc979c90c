// redlock admit: waits until every node is admitted for locks with fencing, and prints meanwhile what each waits for.
#include "cli/admission_wait.hpp"
#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/settings.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <string>

namespace redlock::cli {

int execute(admit_options const& options)
{
    auto const of_clusters = settings_of_clusters(options.from);
    auto const settings = of_clusters ? of_clusters->client : settings_of(options.from).client;
    auto const count = wait_for_admission(settings, options.timeout);
    std::string const kind = of_clusters ? "shard" : "node";
    terminal{}.write(count == 1 ? "the " + kind + " is admitted\n" : "all " + count_of(count, kind) + " are admitted\n");
    return to_int(exit_code::success);
}

}  // namespace redlock::cli
