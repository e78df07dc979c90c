// redlock admit: waits until every node is admitted for locks with fencing, and prints meanwhile what each waits for.
#include "cli/admission_wait.hpp"
#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/settings.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

namespace redlock::cli {

int execute(admit_options const& options)
{
    auto const of_clusters = settings_of_clusters(options.from);
    auto const settings = of_clusters ? of_clusters->client : settings_of(options.from).client;
    auto const count = wait_for_admission(settings, options.timeout);
    terminal{}.write("all " + count_of(count, of_clusters ? "shard" : "node") + " are admitted\n");
    return to_int(exit_code::success);
}

}  // namespace redlock::cli
