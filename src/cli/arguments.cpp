#include "cli/arguments.hpp"

#include "cli/exit_codes.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <redlock/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <sstream>
#include <utility>

namespace redlock::cli {

namespace {

constexpr char const* overview = R"(Examples:
  export REDLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3
  redlock run nightly-report --no-wait -- /usr/local/bin/report
  redlock inspect nightly-report
  redlock doctor

Durations are written like 250ms, 30s, 1m30s, 2h. See redlock COMMAND --help, and redlock(1).)";

constexpr char const* run_examples = R"(Examples:
  redlock run nightly-report --no-wait -- /usr/local/bin/report
  redlock run deploy --wait 5m --label "$USER" -- make deploy
  0 3 * * *  redlock run backup --config /etc/redlock.json --no-wait -- backup   (a crontab on every host)

The command finds REDLOCK_NAME, REDLOCK_TOKEN (the fencing token) and REDLOCK_VALID_UNTIL (the lease's end at the start, in
seconds since 1970) in its environment. When the lease is about to be lost, its process group gets SIGTERM, and SIGKILL
before somebody else can have the lock.

Exit code: the command's own, or 128 and the signal's number; 64 wrong usage, 69 too few nodes answered, 75 somebody else
holds the lock, 78 wrong configuration, 79 the lease was lost, 126 the command cannot be executed, 127 it was not found.)";

constexpr char const* inspect_examples = R"(Examples:
  redlock inspect nightly-report
  redlock inspect orders:42 orders:43 --json

Exit code: 0, or 69 if too few nodes answered to know.)";

constexpr char const* release_examples = R"(Examples:
  redlock release --force nightly-report
  redlock release --force --yes nightly-report --json

Exit code: 0 something was deleted, 1 nothing was, 69 too few nodes answered.)";

constexpr char const* watch_examples = R"(Examples:
  redlock watch nightly-report deploy
  redlock watch deploy --interval 200ms --json | jq -c '[.state, .holder.host]'

Exit code: 0, or 69 if too few nodes answered the last time.)";

constexpr char const* doctor_examples = R"(Examples:
  redlock doctor
  redlock doctor --config /etc/redlock.json --ttl 5s --json
  redlock doctor --name orders:42     tries the permissions on this name, without touching the lock

Exit code: 0 healthy, 1 with warnings, 2 with dangers.)";

constexpr char const* bench_examples = R"(Examples:
  redlock bench
  redlock bench --callers 256 --time 10s --no-fencing

Exit code: 0, or 69 if no lock could be acquired.)";

constexpr char const* completion_examples = R"(Examples:
  redlock completion bash > /etc/bash_completion.d/redlock
  redlock completion zsh > "${fpath[1]}/_redlock"
  redlock completion fish > ~/.config/fish/completions/redlock.fish)";

// Pages without what CLI11 says in its own words.
class page final : public CLI::Formatter {
public:
    std::string make_option_opts(CLI::Option const* option) const override
    {
        return option->get_type_size() == 0 ? "" : ' ' + option->get_type_name() + (option->get_expected_max() > 1 ? " ..." : "");
    }
    std::string make_usage(CLI::App const* app, std::string name) const override
    {
        auto text = CLI::Formatter::make_usage(app, std::move(name));
        if (app->get_name() == "run") text.insert(text.find_last_not_of('\n') + 1, " -- COMMAND [ARG...]");
        return text;
    }
};

CLI::Option* add_duration(CLI::App& to, std::string const& name, std::function<void(milliseconds)> set, std::string const& help)
{
    auto read = [name, set = std::move(set)](std::string const& text) {
        auto const d = parse_duration(text);
        if (!d) throw CLI::ValidationError{name, name_in_words(text) + " is no duration; write for instance 250ms, 30s, 1m30s or 2h"};
        set(*d);
    };
    return to.add_option_function<std::string>(name, read, help)->type_name("DURATION");
}

CLI::Option* add_duration(CLI::App& to, std::string const& name, std::optional<milliseconds>& into, std::string const& help)
{
    return add_duration(to, name, [&into](milliseconds d) { into = d; }, help);
}

void add_nodes(CLI::App& to, node_options& into, bool asks_itself)
{
    to.add_option(
          "--nodes", into.urls,
          "The nodes, with commas between them: redis://[[user]:password@]host[:port][/db], rediss:// for TLS, or unix:///path; without it "
          "and --config: the environment variable REDLOCK_NODES")
        ->type_name("URL,URL,...");
    to.add_option("--config", into.config_file, "A JSON file that says which nodes, and defaults for locks (redlock/json.hpp)")
        ->type_name("FILE");
    if (asks_itself)
        add_duration(
            to, "--timeout", [&into](milliseconds d) { into.timeout = d; }, "For a node to connect, and for an answer; default 2s");
}

class parser {
public:
    parser()
    {
        app_.formatter(std::make_shared<page>());
        app_.footer(overview);
        app_.require_subcommand(1);
        app_.set_version_flag("--version", "redlock " REDLOCK_VERSION_STRING, "Prints the version");
        app_.get_help_ptr()->description("Prints this help");
        run();
        inspect();
        release();
        watch();
        doctor();
        bench();
        completion();
    }

    request parse(std::vector<std::string> arguments)
    {
        // What stands behind the first "--" belongs to the command that is to be run, also where it looks like an option of ours.
        auto const dashes = std::find(arguments.begin(), arguments.end(), "--");
        bool const separated = dashes != arguments.end();
        std::vector<std::string> command(separated ? dashes + 1 : dashes, arguments.end());
        arguments.erase(dashes, arguments.end());
        try {
            std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants it
            app_.parse(arguments);
        } catch (CLI::CallForVersion const& version) {
            terminal{}.write(std::string{version.what()} + '\n');
            return nothing_to_do{};
        } catch (CLI::Success const& wish) {
            std::ostringstream text;
            app_.exit(wish, text, text);
            terminal{}.write(text.str());
            return nothing_to_do{};
        } catch (CLI::ParseError const& error) {
            throw failure{exit_code::usage, std::string{error.what()} + "; see redlock " + chosen() + "--help"};
        }
        bool const runs = std::holds_alternative<run_options>(result_);
        if (separated && !runs) throw failure{exit_code::usage, "only redlock run takes a command behind --"};
        if (!runs) return std::move(result_);
        if (command.empty())
            throw failure{exit_code::usage, "there is no command to run: write it behind --, as in redlock run NAME -- COMMAND"};
        std::get<run_options>(result_).command = std::move(command);
        return std::move(result_);
    }

private:
    template <class Options>
    CLI::App& add(char const* name, char const* description, char const* examples, Options& into)
    {
        CLI::App& sub = *app_.add_subcommand(name, description);
        sub.footer(examples);
        sub.get_help_ptr()->description("Prints this help");
        sub.callback([this, &into] { result_ = into; });
        return sub;
    }

    std::string chosen() const
    {
        auto const subs = app_.get_subcommands();
        return subs.empty() ? "" : subs.front()->get_name() + ' ';
    }

    void run()
    {
        CLI::App& sub = add("run", "Runs a command while holding a lock", run_examples, run_);
        sub.add_option("NAME", run_.name, "The lock: the key on the servers")->required()->type_name("");
        add_nodes(sub, run_.from, false);
        add_duration(sub, "--ttl", run_.ttl,
                     "How long the lock outlives a holder that is not heard of any more; default 30s, with --config what it says");
        auto* const wait = add_duration(sub, "--wait", run_.wait, "How long to wait for the lock at most; default: as long as it takes");
        sub.add_flag("--no-wait", run_.no_wait, "Does not wait for a lock that somebody else holds")->excludes(wait);
        add_duration(sub, "--kill-grace", run_.kill_grace,
                     "From SIGTERM to SIGKILL, when the lease is about to be lost; default: a sixth of the ttl");
        sub.add_option("--label", run_.label, "A word for redlock inspect, beside host and process")->type_name("TEXT");
        sub.add_flag("--no-fencing", run_.no_fencing, "Without a fencing token: cheaper, for work that may be done twice once in a while");
        sub.add_flag("--fresh", run_.fresh, "Nothing was ever locked on these nodes: does not wait for what they may have forgotten");
        sub.add_flag("--verbose,-v", run_.verbose, "Says on stderr when the lock is acquired and released, and what it waits for");
    }

    void inspect()
    {
        CLI::App& sub = add("inspect", "Says who holds locks, on which nodes, and how safely", inspect_examples, inspect_);
        sub.add_option("NAME", inspect_.names, "The locks")->required()->type_name("");
        add_nodes(sub, inspect_.from, true);
        sub.add_flag("--json", inspect_.json, "Prints JSON");
    }

    void release()
    {
        CLI::App& sub = add("release", "Takes a lock away from its holder", release_examples, release_);
        sub.add_option("NAME", release_.name, "The lock")->required()->type_name("");
        add_nodes(sub, release_.from, true);
        sub.add_flag("--force", release_.force, "Needed: the holder is not told, and may go on working");
        sub.add_flag("--yes", release_.yes, "Does not ask");
        sub.add_flag("--json", release_.json, "Prints JSON");
    }

    void watch()
    {
        CLI::App& sub = add("watch", "Shows holders of locks again and again", watch_examples, watch_);
        sub.add_option("NAME", watch_.names, "The locks")->required()->type_name("");
        add_nodes(sub, watch_.from, true);
        add_duration(sub, "--interval", [this](milliseconds d) { watch_.interval = d; }, "Between two looks; default 1s");
        sub.add_option("--count", watch_.count, "Ends after so many looks; default: with Ctrl-C")->type_name("N");
        sub.add_flag("--json", watch_.json, "Prints a line of JSON for each look and lock");
    }

    void doctor()
    {
        CLI::App& sub = add("doctor", "Says what endangers locks on the nodes, the worst first", doctor_examples, doctor_);
        add_nodes(sub, doctor_.from, true);
        add_duration(sub, "--ttl", doctor_.ttl,
                     "The ttl of your locks, to compare with round trips; default 10s, with --config what it says");
        sub.add_option("--name", doctor_.name, "The name of a lock, where permissions depend on names")->type_name("NAME");
        sub.add_flag("--json", doctor_.json, "Prints JSON");
    }

    void bench()
    {
        CLI::App& sub = add("bench", "Measures what locks cost on the nodes", bench_examples, bench_);
        add_nodes(sub, bench_.from, true);
        add_duration(sub, "--time", [this](milliseconds d) { bench_.time = d; }, "How long to measure; default 5s");
        sub.add_option("--callers", bench_.callers, "How many acquire at the same time, after one alone; default 16")->type_name("N");
        add_duration(sub, "--ttl", bench_.ttl, "The ttl of the locks; default 10s, with --config what it says");
        sub.add_flag("--no-fencing", bench_.no_fencing, "Locks without fencing tokens");
        sub.add_flag("--fresh", bench_.fresh, "Nothing was ever locked on these nodes: does not wait for what they may have forgotten");
        sub.add_flag("--json", bench_.json, "Prints JSON");
    }

    void completion()
    {
        CLI::App& sub = add("completion", "Prints a script that completes this command in a shell", completion_examples, completion_);
        sub.add_option("SHELL", completion_.shell, "bash, zsh or fish")
            ->required()
            ->type_name("")
            ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    }

    CLI::App app_{"Locks over several Redis or Valkey servers.", "redlock"};
    run_options run_;
    inspect_options inspect_;
    release_options release_;
    watch_options watch_;
    doctor_options doctor_;
    bench_options bench_;
    completion_options completion_;
    request result_;
};

}  // namespace

request parse(std::vector<std::string> arguments) { return parser{}.parse(std::move(arguments)); }

}  // namespace redlock::cli
