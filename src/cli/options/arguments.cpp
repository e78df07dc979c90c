#include "cli/options/arguments.hpp"

#include "cli/options/argument_kinds.hpp"
#include "cli/options/argument_parser.hpp"
#include "cli/options/help_texts.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/text.hpp"

#include <redlock/version.hpp>

#include <algorithm>
#include <cctype>
#include <memory>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redlock::cli {

namespace {

constexpr std::size_t help_columns = 80;

// Help pages without the parts of CLI11 that do not fit: the types of options, and "[NAME]" in the usage of `run`.
class help_formatter final : public CLI::Formatter {
public:
    std::string make_option_opts(CLI::Option const* option) const override
    {
        return option->get_type_size() == 0 ? "" : ' ' + option->get_type_name() + (option->get_expected_max() > 1 ? " ..." : "");
    }
    std::string make_option_desc(CLI::Option const* option) const override { return described(option->get_description()); }
    std::string make_subcommand(CLI::App const* sub) const override
    {
        std::ostringstream text;
        CLI::detail::format_help(text, sub->get_display_name(true), described(sub->get_description()), get_column_width());
        return text.str();
    }
    std::string make_usage(CLI::App const* app, std::string name) const override
    {
        auto text = CLI::Formatter::make_usage(app, std::move(name));
        if (app->get_name() != "run" && app->get_name() != "hold") return text;
        if (auto const at = text.find("[NAME]"); at != std::string::npos) text.replace(at, 6, "NAME");
        if (app->get_name() == "run") text.insert(text.find_last_not_of('\n') + 1, " -- COMMAND [ARG...]");
        return text;
    }

private:
    // Beside the names, on a terminal of 80 columns.
    std::string described(std::string const& text) const { return wrapped(text, help_columns - get_column_width(), 0); }
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

// A script's variable that was never set: CLI11 takes the next word as the value of `--option=`.
void refuse_options_without_value(std::vector<std::string> const& arguments)
{
    for (std::string const& word : arguments)
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
            throw failure{exit_code::usage, printable(word) + " has no value behind the \"=\""};
}

void check_release(release_options const& options)
{
    bool const by_ticket = !options.ticket.text.empty();
    bool const is_searched = !options.host.empty() || !options.pattern.empty();
    if (is_searched && !options.names.empty())
        throw failure{exit_code::usage, "--host and --pattern look for the locks: they go without NAME"};
    if (options.names.empty() && !by_ticket && !is_searched)
        throw failure{exit_code::usage, "NAME is required; see redlock release --help"};
    if (by_ticket && (!options.names.empty() || is_searched || options.force || options.yes))
        throw failure{exit_code::usage,
                      "a ticket names its lock, and its holder agrees: --ticket goes without NAME, --host, --pattern, --force and --yes"};
}

}  // namespace

argument_parser::argument_parser()
{
    app_.formatter(std::make_shared<help_formatter>());
    app_.footer(overview);
    app_.require_subcommand(1);
    app_.set_version_flag("--version,-V", "redlock " REDLOCK_VERSION_STRING, "Prints the version");
    app_.get_help_ptr()->description("Prints this help");
    run();
    hold();
    acquire();
    extend();
    inspect();
    semaphore();
    list();
    lead();
    leader();
    release();
    watch();
    admit();
    nodes();
    doctor();
    bench();
    dashboard();
    completion();
}

std::string argument_parser::chosen() const
{
    auto const subs = app_.get_subcommands();
    return subs.empty() ? "" : subs.front()->get_name() + ' ';
}

void argument_parser::finish_hold(run_options& options, CLI::App const& sub)
{
    bool const by_ticket = !options.ticket.text.empty();
    if (options.shared && by_ticket)
        throw failure{exit_code::usage, "a ticket is of a lock that one holds alone: --ticket goes without --shared"};
    check_semaphore(options);
    bool const named = sub.get_option("NAME")->count() + sub.get_option("--name")->count() > 0;
    if (named && by_ticket) throw failure{exit_code::usage, "a ticket names its lock: --ticket goes without NAME"};
    if (!named && !by_ticket) throw failure{exit_code::usage, "NAME is required; see redlock " + sub.get_name() + " --help"};
}

void argument_parser::finish(run_options& options, std::vector<std::string>&& behind) const
{
    finish_hold(options, *run_sub_);
    if (behind.empty())
        throw failure{exit_code::usage, "there is no command to run: write it behind --, as in redlock run NAME -- COMMAND"};
    options.command = std::move(behind);
}

void argument_parser::finish_name(std::string& name, CLI::Option const* option, std::vector<std::string> const& behind) const
{
    if (behind.size() + option->count() != 1)
        throw failure{exit_code::usage,
                      behind.empty() ? "NAME is required; see redlock " + chosen() + "--help" : one_too_many(behind.back())};
    if (!behind.empty()) name = behind.front();
}

template <class Options>
request argument_parser::finish(Options&& options, bool separated, std::vector<std::string>&& behind)
{
    using kind = std::decay_t<Options>;
    if constexpr (std::is_same_v<kind, run_options>) {
        finish(options, std::move(behind));
    } else if constexpr (std::is_same_v<kind, hold_options>) {
        if (separated) throw failure{exit_code::usage, "redlock hold runs no command: write redlock run NAME -- COMMAND"};
        finish_hold(options.held, *app_.get_subcommand("hold"));
    } else if constexpr (std::is_same_v<kind, lead_options>) {
        if (behind.empty())
            throw failure{exit_code::usage,
                          "there is no command to run: write it behind --, as in redlock lead NAME --publish ADDRESS -- COMMAND"};
        options.term.command = std::move(behind);
    } else if constexpr (std::is_same_v<kind, leader_options>) {
        finish_name(options.name, leader_name_, behind);
    } else if constexpr (std::is_same_v<kind, acquire_options>) {
        finish_name(options.name, acquire_name_, behind);
    } else if constexpr (std::is_same_v<kind, semaphore_command_options>) {
        finish_name(options.name, semaphore_name_, behind);
        check_semaphore(options);
    } else if constexpr (requires { options.names; }) {
        options.names.insert(options.names.end(), behind.begin(), behind.end());
        if constexpr (std::is_same_v<kind, release_options>) check_release(options);
    } else if constexpr (std::is_same_v<kind, list_options>) {
        if (behind.size() + list_pattern_->count() > 1) throw failure{exit_code::usage, one_too_many(behind.back())};
        if (!behind.empty()) options.pattern = behind.front();
    } else if (separated) {
        throw failure{exit_code::usage, "redlock " + chosen() + "takes nothing behind --"};
    } else if constexpr (std::is_same_v<kind, completion_options>) {
        options.script = completion_script(options.shell, app_, choices_);
    }
    if constexpr (requires { options.from.quiet = options.quiet; }) options.from.quiet = options.quiet;
    else if constexpr (std::is_same_v<kind, hold_options>) options.held.from.quiet = options.held.quiet;
    else if constexpr (std::is_same_v<kind, lead_options>) options.term.from.quiet = options.term.quiet;
    return std::forward<Options>(options);
}

request argument_parser::parse(std::vector<std::string> arguments)
{
    // As git and others have it.
    if (!arguments.empty() && arguments.front() == "help") {
        arguments.erase(arguments.begin());
        auto const is_named = [&](CLI::App* sub) { return sub->get_name() == arguments.front(); };
        if (!arguments.empty() && app_.get_subcommands(is_named).empty())
            throw failure{exit_code::usage, "there is no command " + name_in_words(arguments.front()) + "; see redlock --help"};
        if (arguments.size() > 1) throw failure{exit_code::usage, one_too_many(arguments[1])};
        arguments.emplace_back("--help");
    }
    // For `run`, all words behind the first "--" belong to the user's command, even if they look like options of redlock. For the other
    // subcommands these words are names of locks.
    auto const dashes = std::find(arguments.begin(), arguments.end(), "--");
    bool const separated = dashes != arguments.end();
    std::vector<std::string> behind(separated ? dashes + 1 : dashes, arguments.end());
    arguments.erase(dashes, arguments.end());
    refuse_options_without_value(arguments);
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

std::string argument_parser::one_too_many(std::string const& word) const
{
    return "one argument too many: " + name_in_words(word) + "; see redlock " + chosen() + "--help";
}

// The error text for words that CLI11 could not use. Names the first of them in the order of the command line, and says what to write instead.
std::string argument_parser::unexpected_words(std::vector<std::string> const& arguments, bool separated) const
{
    auto const subs = app_.get_subcommands();
    auto const rest = app_.remaining(true);
    auto first = arguments.end();
    auto left = rest.rbegin();
    for (auto a = arguments.end(); a != arguments.begin() && left != rest.rend();)  // from the end: a lock may be called like its command
        if (*--a == *left) {
            first = a;
            ++left;
        }
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

request parse(std::vector<std::string> arguments) { return argument_parser{}.parse(std::move(arguments)); }

}  // namespace redlock::cli
