#include "cli/options/completion_scripts.hpp"

#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/terminal.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <set>
#include <utility>

namespace redlock::cli {

namespace {

constexpr char const* durations = "250ms 1s 10s 30s 1m 5m";
constexpr char const* signals = "TERM INT HUP QUIT USR1 USR2 KILL";

enum class value : std::uint8_t { none, file, duration, signal, other };

struct option {
    std::vector<std::string> names;  // -w and --wait
    std::vector<std::string> excluded;  // names of options that go without it, its own among them
    std::string means;
    std::string type;  // in small letters
    value takes;
    bool is_repeated;
};

struct argument {
    std::string name;  // in small letters
    std::vector<std::string> choices;
    bool is_repeated;
};

struct command {
    std::string name;
    std::string means;
    std::vector<option> options;
    std::vector<argument> arguments;
    bool runs_another;  // behind --
};

std::string in_small_letters(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

// The first thing that is said, but not a condition alone, as in "With --permits: ...".
std::string beginning_of(std::string const& text)
{
    constexpr std::size_t longest_condition = 20;
    auto end = std::min(text.size(), text.find(':', longest_condition));
    for (char const* const mark : {";", ". ", " ("}) end = std::min(end, text.find(mark));
    return text.substr(0, end);
}

std::vector<std::string> names_of(CLI::Option const& o)
{
    std::vector<std::string> names;
    for (auto const& name : o.get_snames()) names.push_back('-' + name);
    for (auto const& name : o.get_lnames()) names.push_back("--" + name);
    return names;
}

value value_of(CLI::Option const& o)
{
    if (o.get_items_expected_max() == 0) return value::none;
    auto const type = o.get_type_name();
    return type == file_type ? value::file : type == duration_type ? value::duration : type == signal_type ? value::signal : value::other;
}

option read(CLI::Option const& o)
{
    option result{names_of(o),
                  names_of(o),
                  beginning_of(o.get_description()),
                  in_small_letters(o.get_type_name()),
                  value_of(o),
                  o.get_expected_max() > 1};
    for (CLI::Option const* const other : o.get_excludes())
        if (!other->get_positional())
            for (auto& name : names_of(*other)) result.excluded.push_back(std::move(name));
    return result;
}

std::vector<command> commands_of(CLI::App const& app, argument_choices const& choices)
{
    std::vector<command> all;
    for (CLI::App const* const sub : app.get_subcommands([](CLI::App const*) { return true; })) {
        command c{sub->get_name(), beginning_of(sub->get_description()), {}, {}, false};
        for (CLI::Option const* const o : sub->get_options()) {
            if (o->get_group().empty()) continue;
            auto const known = choices.find(o);
            if (o->get_positional())
                c.arguments.push_back({in_small_letters(o->get_name(true)),
                                       known == choices.end() ? std::vector<std::string>{} : known->second, o->get_expected_max() > 1});
            else c.options.push_back(read(*o));
        }
        c.runs_another = c.name == "run" || c.name == "lead";
        all.push_back(std::move(c));
    }
    std::vector<std::string> names;
    for (command const& c : all) names.push_back(c.name);
    all.push_back({"help", "Prints the help of a command", {}, {{"command", std::move(names), false}}, false});
    return all;
}

std::string joined(std::vector<std::string> const& words, char between)
{
    std::string text;
    for (auto const& word : words) text += (text.empty() ? "" : std::string(1, between)) + word;
    return text;
}

std::string names_of(std::vector<command> const& all, char between)
{
    std::vector<std::string> names;
    for (command const& c : all) names.push_back(c.name);
    return joined(names, between);
}

// With the names of all options that take such a value.
std::string names_with(std::vector<command> const& all, value wanted)
{
    std::set<std::string> names;
    for (command const& c : all)
        for (option const& o : c.options)
            if (o.takes == wanted) names.insert(o.names.begin(), o.names.end());
    return joined({names.begin(), names.end()}, '|');
}

std::string for_bash(std::vector<command> const& all)
{
    std::string text = R"(# bash completion for redlock(1)
_redlock()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} word command= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
            --)
                # The words after -- are a command line of their own.
                if declare -F _command_offset > /dev/null; then _command_offset $((i + 1)); else COMPREPLY=($(compgen -c -- "$cur")); fi
                return ;;
            )" + names_of(all, '|') +
                       R"() [ -n "$command" ] || command=$word ;;
        esac
    done
    case $prev in
        )" + names_with(all, value::file) +
                       R"() COMPREPLY=($(compgen -f -- "$cur")); return ;;
        )" + names_with(all, value::signal) +
                       ") COMPREPLY=($(compgen -W '" + signals + R"(' -- "$cur")); return ;;
        )" + names_with(all, value::duration) +
                       ") COMPREPLY=($(compgen -W '" + durations + R"(' -- "$cur")); return ;;
        )" + names_with(all, value::other) +
                       R"() return ;;
    esac
    case $command in
        '') COMPREPLY=($(compgen -W ')" +
                       names_of(all, ' ') + R"( --help --version' -- "$cur")) ;;
)";
    for (command const& c : all) {
        std::vector<std::string> words;
        for (argument const& a : c.arguments) words.insert(words.end(), a.choices.begin(), a.choices.end());
        for (option const& o : c.options) words.push_back(o.names.back());
        if (c.runs_another) words.emplace_back("--");
        text += "        " + c.name + ") COMPREPLY=($(compgen -W '" + joined(words, ' ') + "' -- \"$cur\")) ;;\n";
    }
    return text + "    esac\n}\ncomplete -F _redlock redlock\n";
}

// Within single quotes.
std::string escaped(std::string const& text, std::string_view special, std::string const& for_quote)
{
    std::string result;
    for (char const c : text) {
        if (c == '\'') {
            result += for_quote;
            continue;
        }
        if (special.find(c) != special.npos) result += '\\';
        result += c;
    }
    return result;
}

std::string for_zsh(std::vector<command> const& all)
{
    auto const quoted = [](std::string const& text) { return escaped(text, "[]:\\", R"('\'')"); };
    std::string text = R"(#compdef redlock
# zsh completion for redlock(1)
_redlock() {
    local curcontext=$curcontext state line
    _arguments -C '(-h --help)'{-h,--help}'[prints help]' '(-V --version)'{-V,--version}'[prints the version]' '1:command:->command' '*::argument:->arguments'
    case $state in
        command)
            local -a commands
            commands=(
)";
    for (command const& c : all) text += "                '" + c.name + ':' + quoted(c.means) + "'\n";
    text += R"(            )
            _describe command commands ;;
        arguments)
            case $line[1] in
)";
    for (command const& c : all) {
        text += "                " + c.name + ") _arguments";
        for (option const& o : c.options) {
            std::string const action = o.takes == value::file ? "_files" : o.takes == value::signal ? '(' + std::string{signals} + ')' : "";
            text += " \\\n                    ";
            text += o.is_repeated ? "'*'" : "'(" + joined(o.excluded, ' ') + ")'";
            text += o.names.size() > 1 ? '{' + joined(o.names, ',') + '}' : o.names.front();
            text += "'[" + quoted(o.means) + ']' + (o.takes == value::none ? "" : ':' + quoted(o.type) + ':' + action) + '\'';
        }
        std::size_t place = 0;
        for (argument const& a : c.arguments)
            text += " '" + (a.is_repeated ? "*" : std::to_string(++place)) + ':' + quoted(a.name) + ':' +
                    (a.choices.empty() ? "" : '(' + joined(a.choices, ' ') + ')') + '\'';
        if (c.runs_another) text += " '*:::command:_normal'";
        text += " ;;\n";
    }
    return text + R"(            esac ;;
    esac
}
if [ "$funcstack[1]" = _redlock ]; then _redlock "$@"; else compdef _redlock redlock; fi
)";
}

std::string for_fish(std::vector<command> const& all)
{
    auto const quoted = [](std::string const& text) { return '\'' + escaped(text, "\\", R"(\')") + '\''; };
    std::string text = "# fish completion for redlock(1)\nset -l commands " + names_of(all, ' ') + "\ncomplete -c redlock -f\n";
    std::string const first = "complete -c redlock -n \"not __fish_seen_subcommand_from $commands\" ";
    for (command const& c : all) text += first + "-a " + c.name + " -d " + quoted(c.means) + '\n';
    text += first + "-s V -l version -d 'Prints the version'\ncomplete -c redlock -s h -l help -d 'Prints help'\n";
    for (command const& c : all) {
        auto const within = "complete -c redlock -n \"__fish_seen_subcommand_from " + c.name + "\" ";
        for (option const& o : c.options) {
            text += within;
            for (auto const& name : o.names) text += name.starts_with("--") ? "-l " + name.substr(2) + ' ' : "-s " + name.substr(1) + ' ';
            text += o.takes == value::none ? "" : o.takes == value::file ? "-r -F " : "-x ";
            if (o.takes == value::signal) text += '-' + std::string{"a '"} + signals + "' ";
            if (o.takes == value::duration) text += '-' + std::string{"a '"} + durations + "' ";
            text += "-d " + quoted(o.means) + '\n';
        }
        for (argument const& a : c.arguments)
            if (!a.choices.empty()) text += within + "-a '" + joined(a.choices, ' ') + "'\n";
    }
    return text;
}

}  // namespace

std::string completion_script(std::string_view shell, CLI::App const& of, argument_choices const& choices)
{
    auto const all = commands_of(of, choices);
    return shell == "bash" ? for_bash(all) : shell == "zsh" ? for_zsh(all) : for_fish(all);
}

int execute(completion_options const& options)
{
    terminal{}.write(options.script);
    return to_int(exit_code::success);
}

}  // namespace redlock::cli
