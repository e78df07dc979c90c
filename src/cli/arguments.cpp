#include "cli/arguments.hpp"

#include "cli/exit_codes.hpp"
#include "cli/help_texts.hpp"
#include "cli/signal_names.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

#include <redlock/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redlock::cli {

namespace {

// Help pages without the parts of CLI11 that do not fit: the types of options, and "[NAME]" in the usage of `run`.
class help_formatter final : public CLI::Formatter {
public:
    std::string make_option_opts(CLI::Option const* option) const override
    {
        return option->get_type_size() == 0 ? "" : ' ' + option->get_type_name() + (option->get_expected_max() > 1 ? " ..." : "");
    }
    std::string make_usage(CLI::App const* app, std::string name) const override
    {
        auto text = CLI::Formatter::make_usage(app, std::move(name));
        if (app->get_name() != "run") return text;
        if (auto const at = text.find("[NAME]"); at != std::string::npos) text.replace(at, 6, "NAME");
        text.insert(text.find_last_not_of('\n') + 1, " -- COMMAND [ARG...]");
        return text;
    }
};

// Quotes a word for a shell, where that is necessary.
std::string quoted_for_shell(std::string const& word)
{
    std::string shown = printable(word);
    auto const is_plain = [](unsigned char c) {
        return std::isalnum(c) != 0 || std::string_view{"_-./:=@,+%"}.find(static_cast<char>(c)) != std::string_view::npos;
    };
    if (!shown.empty() && std::all_of(shown.begin(), shown.end(), is_plain)) return shown;
    std::string quoted = "'";
    for (char const c : shown) quoted += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
    return quoted + '\'';
}

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

struct bounds {
    std::int64_t min;
    std::int64_t max;
};

// A whole number within bounds. `means` says what it is, as in "descriptor".
template <class Into>
CLI::Option* add_number(CLI::App& to, std::string const& name, Into& into, bounds within, std::string const& means, std::string const& help)
{
    auto read = [name, &into, within, means](std::string const& text) {
        std::int64_t value{-1};
        auto const end = text.data() + text.size();
        auto const [stop, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc{} || stop != end || value < within.min || value > within.max)
            throw CLI::ValidationError{name, name_in_words(text) + " is no " + means + "; write a whole number from " +
                                                 std::to_string(within.min) + " to " + std::to_string(within.max)};
        if constexpr (std::is_arithmetic_v<Into>) into = static_cast<Into>(value);
        else into = static_cast<typename Into::value_type>(value);
    };
    return to.add_option_function<std::string>(name, read, help)->type_name("N");
}

constexpr bounds descriptor_bounds{0, 1'048'575}, exit_code_bounds{0, 255}, limit_bounds{1, 1'000'000}, count_bounds{1, 1'000'000'000},
    caller_bounds{1, 10'000};

// The signals that stop a process: they would keep the command from ending.
bool stops(int signal) { return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

void add_signal(CLI::App& to, std::string const& name, int& into, std::string const& help)
{
    auto read = [name, &into](std::string const& text) {
        auto const number = signal_of(text);
        if (!number)
            throw CLI::ValidationError{name, name_in_words(text) +
                                                 " is no signal; write for instance TERM, INT, USR1 or KILL (kill -l lists them)"};
        if (stops(*number))
            throw CLI::ValidationError{name, name_of_signal(*number) +
                                                 " would stop the command, which is to end; write for instance TERM, INT, USR1 or KILL"};
        into = *number;
    };
    to.add_option_function<std::string>(name, read, help)->type_name("SIGNAL");
}

void add_nodes(CLI::App& to, node_options& into, bool with_timeout)
{
    to.add_option(
          "--nodes", into.urls,
          "The nodes, with commas between them: redis://[[user]:password@]host[:port][/db], rediss:// for TLS, or unix:///path; without it "
          "and --config: the environment variable REDLOCK_NODES")
        ->type_name("URL,URL,...");
    to.add_option("--config", into.config_file, "A JSON file that says which nodes, and defaults for locks (redlock/json.hpp)")
        ->type_name("FILE");
    if (with_timeout)
        add_duration(
            to, "--timeout", [&into](milliseconds d) { into.timeout = d; }, "For a node to connect, and for an answer; default 2s");
}

void add_ticket(CLI::App& to, ticket_option& into, std::string const& help)
{
    to.add_option("--ticket", into.text, help + "; - reads it from the input")->type_name("TICKET");
}

class parser {
public:
    parser()
    {
        app_.formatter(std::make_shared<help_formatter>());
        app_.footer(overview);
        app_.require_subcommand(1);
        app_.set_version_flag("--version", "redlock " REDLOCK_VERSION_STRING, "Prints the version");
        app_.get_help_ptr()->description("Prints this help");
        run();
        acquire();
        extend();
        inspect();
        list();
        release();
        watch();
        admit();
        doctor();
        bench();
        completion();
    }

    request parse(std::vector<std::string> arguments)
    {
        // For `run`, all words behind the first "--" belong to the user's command, even if they look like options of redlock. For the other
        // subcommands these words are names of locks.
        auto const dashes = std::find(arguments.begin(), arguments.end(), "--");
        bool const separated = dashes != arguments.end();
        std::vector<std::string> behind(separated ? dashes + 1 : dashes, arguments.end());
        arguments.erase(dashes, arguments.end());
        if (!behind.empty())
            for (CLI::Option* const names : names_) names->required(false);
        try {
            app_.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // CLI11 expects the words in reverse order
        } catch (CLI::CallForVersion const& version) {
            terminal{}.write(std::string{version.what()} + '\n');
            return nothing_to_do{};
        } catch (CLI::Success const& help) {
            std::ostringstream text;
            app_.exit(help, text, text);
            terminal{}.write(text.str());
            return nothing_to_do{};
        } catch (CLI::ExtrasError const&) {
            throw failure{exit_code::usage, unexpected_words(arguments, separated)};
        } catch (CLI::RequiredError const& error) {
            if (!app_.remaining(true).empty()) throw failure{exit_code::usage, unexpected_words(arguments, separated)};
            throw failure{exit_code::usage, std::string{error.what()} + "; see redlock " + chosen() + "--help"};
        } catch (CLI::ParseError const& error) {
            throw failure{exit_code::usage, std::string{error.what()} + "; see redlock " + chosen() + "--help"};
        }
        return std::visit([&](auto& options) { return finish(std::move(options), separated, std::move(behind)); }, result_);
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

    template <class Options>
    request finish(Options&& options, bool separated, std::vector<std::string>&& behind)
    {
        if constexpr (std::is_same_v<Options, run_options>) {
            bool const named = run_name_->count() + run_name_option_->count() > 0;
            if (named && !options.ticket.text.empty())
                throw failure{exit_code::usage, "a ticket names its lock: --ticket goes without NAME"};
            if (!named && options.ticket.text.empty()) throw failure{exit_code::usage, "NAME is required; see redlock run --help"};
            if (behind.empty())
                throw failure{exit_code::usage, "there is no command to run: write it behind --, as in redlock run NAME -- COMMAND"};
            options.command = std::move(behind);
        } else if constexpr (std::is_same_v<Options, acquire_options>) {
            if (behind.size() + acquire_name_->count() != 1)
                throw failure{exit_code::usage,
                              behind.empty() ? "NAME is required; see redlock acquire --help" : one_too_many(behind.back())};
            if (!behind.empty()) options.name = behind.front();
        } else if constexpr (requires { options.names; }) {
            options.names.insert(options.names.end(), behind.begin(), behind.end());
            if constexpr (std::is_same_v<Options, release_options>) check_release(options);
        } else if constexpr (requires { options.pattern; }) {
            if (behind.size() + list_pattern_->count() > 1) throw failure{exit_code::usage, one_too_many(behind.back())};
            if (!behind.empty()) options.pattern = behind.front();
        } else if (separated) {
            throw failure{exit_code::usage, "redlock " + chosen() + "takes nothing behind --"};
        }
        return std::forward<Options>(options);
    }

    static void check_release(release_options const& options)
    {
        bool const by_ticket = !options.ticket.text.empty();
        if (options.names.empty() && !by_ticket) throw failure{exit_code::usage, "NAME is required; see redlock release --help"};
        if (by_ticket && (!options.names.empty() || options.force || options.yes || options.json))
            throw failure{exit_code::usage,
                          "a ticket names its lock, and its holder agrees: --ticket goes without NAME, --force, --yes and --json"};
    }

    std::string one_too_many(std::string const& word) const
    {
        return "one argument too many: " + name_in_words(word) + "; see redlock " + chosen() + "--help";
    }

    // The error text for words that CLI11 could not use. Names the first of them in the order of the command line, and says what to write instead.
    std::string unexpected_words(std::vector<std::string> const& arguments, bool separated) const
    {
        auto const subs = app_.get_subcommands();
        auto const rest = app_.remaining(true);
        auto const is_rest = [&](std::string const& word) { return std::find(rest.begin(), rest.end(), word) != rest.end(); };
        auto const first = std::find_if(arguments.begin(), arguments.end(), is_rest);
        std::string const word = first == arguments.end() ? rest.front() : *first;
        bool const runs = !subs.empty() && subs.front() == run_sub_;
        bool const could_be_name = !word.starts_with("--") && !subs.empty() && subs.front()->get_option_no_throw("NAME") != nullptr;
        if (word.starts_with('-'))
            return "there is no option " + name_in_words(word) + "; see redlock " + chosen() + "--help" +
                   (could_be_name ? ". A lock of that name: " + (runs ? "--name=" + quoted_for_shell(word) : "-- " + quoted_for_shell(word))
                                  : "");
        if (subs.empty()) return "there is no command " + name_in_words(word) + "; see redlock --help";
        if (!runs || separated) return one_too_many(word);
        std::string text = "the command must stand behind --; write redlock";
        for (auto a = arguments.begin(); a != arguments.end(); ++a) text += (a == first ? " -- " : " ") + quoted_for_shell(*a);
        return text;
    }

    void run()
    {
        CLI::App& sub = add("run", "Runs a command while holding a lock", run_examples, run_);
        run_sub_ = &sub;
        run_name_ = sub.add_option("NAME", run_.name, "The lock: the key on the servers")->type_name("");
        run_name_option_ = sub.add_option("--name", run_.name, "The same, for a name with a leading dash: --name=-x")
                               ->type_name("NAME")
                               ->excludes(run_name_);
        add_nodes(sub, run_.from, false);
        add_duration(sub, "--ttl", run_.ttl,
                     "How long the lock outlives a holder that is not heard of any more; default 30s, with --config what it says");
        auto* const wait = add_duration(sub, "--wait", run_.wait, "How long to wait for the lock at most; default: as long as it takes");
        sub.add_flag("--no-wait", run_.no_wait, "Does not wait for a lock that somebody else holds")->excludes(wait);
        add_duration(sub, "--kill-grace", run_.kill_grace,
                     "From SIGTERM to SIGKILL, when the lease is about to be lost; default: a sixth of the ttl");
        sub.add_option("--label", run_.label, "A word for redlock inspect, beside host and process")->type_name("TEXT");
        auto* const no_fencing = sub.add_flag("--no-fencing", run_.no_fencing,
                                              "Without a fencing token: cheaper, for work that may be done twice once in a while");
        sub.add_flag("--shared", run_.shared, "Holds the lock together with others that say --shared, and with nobody else: a reader")
            ->excludes(no_fencing);
        sub.add_flag("--bootstrap", run_.bootstrap,
                     "Nothing was ever locked on these nodes: does not wait for what they may have forgotten");
        sub.add_flag("--no-env", run_.no_env,
                     "The command does not find the variables REDLOCK_* of this process: passwords in REDLOCK_NODES");
        add_number(sub, "--events-fd", run_.events_fd, descriptor_bounds, "descriptor",
                   "Writes to this open descriptor what happens, a line of JSON for each event; the command does not inherit it");
        add_signal(sub, "--on-lost", run_.on_lost, "What the command gets when the lease is lost, before SIGKILL; default TERM");
        add_number(sub, "--conflict-exit-code", run_.conflict_exit_code, exit_code_bounds, "exit code",
                   "The exit code when somebody else holds the lock; default 75");
        sub.add_flag("--pass-notify", run_.pass_notify, "The command finds NOTIFY_SOCKET and tells systemd itself when it is ready");
        add_ticket(sub, run_.ticket, "Instead of NAME: goes on with the lock that redlock acquire acquired");
        auto* const verbose = sub.add_flag("--verbose,-v", run_.verbose, "Says on stderr when the lock is acquired and released");
        sub.add_flag("--quiet,-q", run_.quiet, "Does not say on stderr what it waits for, and which processes left the command's group")
            ->excludes(verbose);
    }

    void acquire()
    {
        CLI::App& sub = add("acquire", "Acquires a lock and prints its ticket, with which others go on", acquire_examples, acquire_);
        acquire_name_ = sub.add_option("NAME", acquire_.name, "The lock; behind -- it may begin with a dash")->type_name("");
        add_nodes(sub, acquire_.from, false);
        add_duration(sub, "--ttl", acquire_.ttl,
                     "How long the lock is held; nobody extends it before the ticket is used; default 30s, with --config what it says");
        auto* const wait = add_duration(sub, "--wait", acquire_.wait,
                                        "How long to wait for the lock at most; default: as long as it takes");
        sub.add_flag("--no-wait", acquire_.no_wait, "Does not wait for a lock that somebody else holds")->excludes(wait);
        sub.add_option("--label", acquire_.label, "A word for redlock inspect, beside host and process")->type_name("TEXT");
        sub.add_flag("--no-fencing", acquire_.no_fencing, "Without a fencing token");
        sub.add_flag("--bootstrap", acquire_.bootstrap,
                     "Nothing was ever locked on these nodes: does not wait for what they may have forgotten");
        add_number(sub, "--conflict-exit-code", acquire_.conflict_exit_code, exit_code_bounds, "exit code",
                   "The exit code when somebody else holds the lock; default 75");
        sub.add_flag("--quiet,-q", acquire_.quiet, "Does not say on stderr what it waits for");
    }

    void extend()
    {
        CLI::App& sub = add("extend", "Extends a lock by its ticket, and prints the next ticket", extend_examples, extend_);
        add_ticket(sub, extend_.ticket, "What redlock acquire printed, or this command the last time");
        sub.get_option("--ticket")->required();
        add_nodes(sub, extend_.from, false);
        add_duration(sub, "--ttl", extend_.ttl, "How long the lock is held from now on; default: the ttl of the ticket");
    }

    void inspect()
    {
        CLI::App& sub = add("inspect", "Says who holds locks, on which nodes, and how safely", inspect_examples, inspect_);
        names_.push_back(
            sub.add_option("NAME", inspect_.names, "The locks; behind -- they may begin with a dash")->required()->type_name(""));
        add_nodes(sub, inspect_.from, true);
        sub.add_flag("--json", inspect_.json, "Prints JSON");
    }

    void list()
    {
        CLI::App& sub = add("list", "Says which locks are held, and by whom, without knowing their names", list_examples, list_);
        list_pattern_ = sub.add_option(
                               "PATTERN", list_.pattern,
                               "Names as the servers match them, such as orders:*; behind -- it may begin with a dash; default: all")
                            ->type_name("");
        add_nodes(sub, list_.from, true);
        add_duration(sub, "--time", [this](milliseconds d) { list_.time = d; }, "How long to search at most; default 10s");
        add_number(sub, "--limit", list_.limit, limit_bounds, "number of locks", "How many locks to find at most; default 10000");
        sub.add_flag("--foreign", list_.foreign, "Also keys whose values are not of this library: locks of others, or no locks at all");
        auto* const watch = sub.add_flag("--watch", list_.watch, "Searches again and again");
        add_duration(
            sub, "--interval", [this](milliseconds d) { list_.interval = d; }, "With --watch: between two searches; default 2s")
            ->needs(watch);
        add_number(sub, "--count", list_.count, count_bounds, "number of searches",
                   "With --watch: ends after so many searches; default: with Ctrl-C")
            ->needs(watch);
        sub.add_flag("--json", list_.json, "Prints JSON; with --watch a line for each search");
    }

    void release()
    {
        CLI::App& sub = add("release", "Gives a lock back by its ticket, or takes locks away from their holders", release_examples,
                            release_);
        sub.add_option("NAME", release_.names, "The locks; behind -- they may begin with a dash")->type_name("");
        add_ticket(sub, release_.ticket, "Instead of NAME: gives back the lock that redlock acquire acquired");
        add_nodes(sub, release_.from, true);
        sub.add_flag("--force", release_.force, "Needed: the holder is not told, and may go on working");
        sub.add_flag("--yes", release_.yes, "Does not ask");
        sub.add_flag("--json", release_.json, "Prints JSON");
    }

    void watch()
    {
        CLI::App& sub = add("watch", "Shows holders of locks again and again", watch_examples, watch_);
        names_.push_back(
            sub.add_option("NAME", watch_.names, "The locks; behind -- they may begin with a dash")->required()->type_name(""));
        add_nodes(sub, watch_.from, true);
        add_duration(sub, "--interval", [this](milliseconds d) { watch_.interval = d; }, "Between two looks; default 1s");
        add_number(sub, "--count", watch_.count, count_bounds, "number of looks", "Ends after so many looks; default: with Ctrl-C");
        sub.add_flag("--json", watch_.json, "Prints a line of JSON for each look and lock");
    }

    void admit()
    {
        CLI::App& sub = add("admit", "Waits until all nodes may vote on locks with fencing", admit_examples, admit_);
        add_nodes(sub, admit_.from, false);
        add_duration(sub, "--timeout", admit_.timeout, "How long to wait at most; default: as long as it takes");
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
        add_number(sub, "--callers", bench_.callers, caller_bounds, "number of callers",
                   "How many acquire at the same time, after one alone; default 16");
        add_duration(sub, "--ttl", bench_.ttl, "The ttl of the locks; default 10s, with --config what it says");
        sub.add_flag("--no-fencing", bench_.no_fencing, "Locks without fencing tokens");
        sub.add_flag("--bootstrap", bench_.bootstrap,
                     "Nothing was ever locked on these nodes: does not wait for what they may have forgotten");
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
    acquire_options acquire_;
    extend_options extend_;
    inspect_options inspect_;
    list_options list_;
    release_options release_;
    watch_options watch_;
    admit_options admit_;
    doctor_options doctor_;
    bench_options bench_;
    completion_options completion_;
    request result_;
    std::vector<CLI::Option*> names_;  // options for names of locks, which may also stand behind --
    CLI::App* run_sub_{nullptr};
    CLI::Option* run_name_{nullptr};
    CLI::Option* run_name_option_{nullptr};
    CLI::Option* list_pattern_{nullptr};
    CLI::Option* acquire_name_{nullptr};
};

}  // namespace

request parse(std::vector<std::string> arguments) { return parser{}.parse(std::move(arguments)); }

}  // namespace redlock::cli
