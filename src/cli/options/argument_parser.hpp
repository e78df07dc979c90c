// The parser of the redlock command: parse() in arguments.hpp uses it once. The options of the commands are in arguments_of_holders.cpp,
// arguments_of_looks.cpp and arguments_of_servers.cpp.
#ifndef REDLOCK_CLI_OPTIONS_ARGUMENT_PARSER_HPP
#define REDLOCK_CLI_OPTIONS_ARGUMENT_PARSER_HPP

#include "cli/options/arguments.hpp"
#include "cli/options/commands.hpp"
#include "cli/options/completion_scripts.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace redlock::cli {

class argument_parser {
public:
    argument_parser();

    // Throws `failure` with exit_code::usage.
    request parse(std::vector<std::string> arguments);

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

    std::string chosen() const;
    template <class Options>
    request finish(Options&& options, bool separated, std::vector<std::string>&& behind);
    void finish(run_options& options, std::vector<std::string>&& behind) const;
    // What run and hold have in common.
    static void finish_hold(run_options& options, CLI::App const& sub);
    // A command with one NAME, which may stand behind --.
    void finish_name(std::string& name, CLI::Option const* option, std::vector<std::string> const& behind) const;
    std::string one_too_many(std::string const& word) const;
    std::string unexpected_words(std::vector<std::string> const& arguments, bool separated) const;

    // Who holds locks.
    void run();
    void hold();
    static CLI::Option* add_held(CLI::App& to, run_options& into);
    void lead();
    void acquire();
    void extend();
    void release();

    // Who looks at them.
    void inspect();
    void semaphore();
    void list();
    void watch();
    void leader();

    // The nodes.
    void admit();
    void nodes();
    void doctor();
    void bench();
    void dashboard();
    void completion();

    CLI::App app_{"Locks over several Redis or Valkey servers.", "redlock"};
    run_options run_;
    hold_options hold_;
    lead_options lead_;
    leader_options leader_;
    acquire_options acquire_;
    extend_options extend_;
    semaphore_command_options semaphore_;
    inspect_options inspect_;
    list_options list_;
    release_options release_;
    watch_options watch_;
    admit_options admit_;
    nodes_options nodes_;
    doctor_options doctor_;
    bench_options bench_;
    dashboard_options dashboard_;
    completion_options completion_;
    request result_;
    std::vector<CLI::Option*> names_;  // options for names of locks, which may also stand behind --
    CLI::App* run_sub_{nullptr};
    CLI::Option* list_pattern_{nullptr};
    CLI::Option* acquire_name_{nullptr};
    CLI::Option* leader_name_{nullptr};
    CLI::Option* semaphore_name_{nullptr};
    argument_choices choices_;
};

}  // namespace redlock::cli

#endif
