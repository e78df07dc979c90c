// redlock run: a command that runs while a lock is held.
#include "cli/commands.hpp"
#include "cli/exit_codes.hpp"
#include "cli/session.hpp"
#include "cli/settings.hpp"
#include "cli/text.hpp"

#include <csignal>
#include <stdexcept>
#include <string_view>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

end_times times_of(milliseconds ttl, std::optional<milliseconds> grace)
{
    if (ttl < run_ttl_min)
        throw failure{exit_code::usage, "a ttl of " + in_words(ttl) + " leaves no time for ending a command; it must be " + in_words(run_ttl_min) +
                                            " or more"};
    if (auto const times = make_end_times(ttl, grace)) return *times;
    throw failure{exit_code::usage, "--kill-grace must not be above " + in_words(grace_max(ttl)) + " with a ttl of " + in_words(ttl) +
                                        ": the command would be ended before the lease could be extended"};
}

plan plan_of(run_options const& options)
{
    auto const from = settings_of(options.from);
    plan p{from.client, from.lock, {}, options.no_wait || options.wait == 0ms, options.verbose, options.name, options.command};
    if (options.fresh) p.nodes.fresh = true;
    if (!options.label.empty()) p.nodes.label = options.label;

    lock_options& lock = p.options;
    if (options.from.config_file.empty()) lock.ttl = 30s;
    if (options.ttl) lock.ttl = *options.ttl;
    if (options.no_fencing) lock.fencing = false;
    p.times = times_of(lock.ttl, options.kill_grace);
    lock.stop_margin = p.times.grace + p.times.margin;
    lock.auto_extend = true;
    lock.max_handoffs = 0;  // nobody else is in this process
    lock.attempts_max = 0;
    if (options.wait && !p.once) lock.deadline = *options.wait;
    return p;
}

// The library says where it finds a mistake; here it is the user's.
std::string without_prefix(std::string_view text)
{
    for (std::string_view const prefix : {"redlock::lock: ", "lock_options::", "config::"})
        if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
    return std::string{text};
}

}  // namespace

int execute(run_options const& options)
{
    check_name(options.name);
    inheritance const inherited;
    try {
        auto what = plan_of(options);
        ::signal(SIGPIPE, SIG_IGN);
        guardian guard;
        session s{std::move(what), inherited, guard};
        return s.run();
    } catch (std::invalid_argument const& error) {
        throw failure{exit_code::usage, without_prefix(error.what())};
    }
}

}  // namespace redlock::cli
