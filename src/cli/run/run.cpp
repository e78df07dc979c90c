// redlock run: a command that runs while a lock is held; redlock hold: the same without a command.
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"
#include "cli/run/session.hpp"
#include "cli/run/tickets.hpp"
#include "cli/servers/settings.hpp"

#include <csignal>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <unistd.h>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

end_times times_of(milliseconds ttl, std::optional<milliseconds> grace)
{
    if (ttl < min_run_ttl)
        throw failure{exit_code::usage, "a ttl of " + in_words(ttl) + " leaves no time for ending a command; it must be " +
                                            in_words(min_run_ttl) + " or more"};
    if (auto const times = make_end_times(ttl, grace)) return *times;
    throw failure{exit_code::usage, "--kill-grace must not be above " + in_words(max_grace(ttl)) + " with a ttl of " + in_words(ttl) +
                                        ": the command would be ended before the lease could be extended"};
}

// A descriptor that is not open would soon be that of a connection.
void check_descriptor(int descriptor)
{
    auto const problem = problem_of_descriptor(descriptor);
    if (problem.empty()) return;
    auto const number = std::to_string(descriptor);
    throw failure{exit_code::usage, "--events-fd " + number + " cannot be written to: " + problem +
                                        "; open it in the shell, as in redlock run NAME --events-fd " + number + " -- COMMAND " + number +
                                        ">events.jsonl"};
}

plan plan_of(run_options const& options)
{
    plan p;
    p.name = options.name;
    if (!options.ticket.text.empty()) {
        p.ticket = read(options.ticket);
        p.name = p.ticket->what.text;
    }
    auto const from = p.ticket ? settings_of_keys(options.from, p.ticket->what.keys) : settings_of(options.from, {p.name});
    p.nodes = from.client;
    p.options = from.lock;
    p.once = options.no_wait || options.wait == 0ms;
    p.verbose = options.verbose;
    p.quiet = options.quiet;
    if (p.ticket && options.wait_servers)
        throw failure{exit_code::usage, "--wait-servers is for a lock that is to be acquired; that of a --ticket is held"};
    p.wait_servers = options.wait_servers;
    if (options.no_env) p.hidden = password_variables(options.from);
    p.pass_notify = options.pass_notify;
    p.events_fd = options.events_fd;
    if (options.pass_lease) p.passing = std::make_unique<lease_passing>(*options.pass_lease);
    p.on_lost = options.on_lost;
    if (options.conflict_exit_code) p.conflict_code = *options.conflict_exit_code;
    p.command = options.command;
    p.publish = options.publish;
    if (options.bootstrap) p.nodes.bootstrap = true;
    if (!options.label.empty()) p.nodes.label = options.label;

    lock_options& lock = p.options;
    if (options.from.config_file.empty()) lock.ttl = 30s;
    if (p.ticket) lock.ttl = p.ticket->what.ttl;
    if (options.ttl) lock.ttl = *options.ttl;
    if (options.no_fencing) lock.fencing = false;
    if (p.ticket) lock.fencing = p.ticket->what.fenced;
    p.shared = options.shared;
    p.permits = options.permits;
    p.take = options.take.value_or(1);
    p.times = times_of(lock.ttl, options.kill_grace);
    lock.stop_margin = p.times.grace + p.times.margin;
    lock.auto_extend = true;
    lock.max_handoffs = 0;  // nobody else is in this process
    lock.max_attempts = 0;
    if (options.wait && !p.once) lock.acquire_timeout = *options.wait;
    return p;
}

struct session_end {
    int code;
    bool ctrl_c;
    bool may_campaign_again;
};

session_end run_session(plan what, inheritance const& inherited)
{
    offspring const started{::getpid()};
    guardian guard{started};
    session s{std::move(what), inherited, guard, started};
    int const code = s.run();
    return {code, s.ended_by_ctrl_c(), s.may_campaign_again()};
}

// So that others come first.
void pause_before_campaign()
{
    std::uniform_int_distribution<int> length{100, 1'000};
    std::random_device random;
    std::this_thread::sleep_for(milliseconds{length(random)});
}

// `terms`: the command is started again when the lease was lost, as soon as the lock is acquired again.
int run(run_options const& options, bool terms)
{
    if (options.ticket.text.empty()) check_name(options.name);
    if (options.publish && options.publish->empty())
        throw failure{exit_code::usage, "--publish: the address is empty, and nobody could find the leader by it"};
    if (options.publish && options.publish->size() > max_state_size)
        throw failure{exit_code::usage, "--publish takes up to " + std::to_string(max_state_size) + " bytes"};
    inheritance const inherited;
    if (options.events_fd) check_descriptor(*options.events_fd);
    try {
        auto first = plan_of(options);
        ::signal(SIGPIPE, SIG_IGN);
        auto end = run_session(std::move(first), inherited);
        while (terms && end.may_campaign_again) {
            pause_before_campaign();
            end = run_session(plan_of(options), inherited);
        }
        if (end.ctrl_c) {
            // A shell goes on with its script unless it hears of Ctrl-C itself, and sees that we died of it.
            ::signal(SIGINT, SIG_DFL);
            ::kill(0, SIGINT);
        }
        return end.code;
    } catch (std::invalid_argument const& error) {
        throw failure{exit_code::usage, in_terms_of_options(error.what(), options.from)};
    }
}

}  // namespace

int execute(run_options const& options) { return run(options, false); }
int execute(hold_options const& options) { return run(options.held, false); }
int execute(lead_options const& options) { return run(options.term, true); }

}  // namespace redlock::cli
