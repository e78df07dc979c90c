// What the command refuses, and with which code and words; and what is written about it elsewhere.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace redlock::testing {
namespace {

std::string const nowhere = "redis://127.0.0.1:1";

struct outcome {
    int code;
    std::string output, errors;
};

outcome of(arguments const& words, program_options const& options = {})
{
    program p{words, options};
    int const code = p.wait();
    return {code, p.output(), p.errors()};
}

char const* const commands[] = {"run",     "hold",  "semaphore", "lead",  "leader", "acquire", "extend",    "inspect",   "list",
                                "release", "watch", "admit",     "nodes", "doctor", "bench",   "dashboard", "completion"};

// `--ttl` and the like in a text.
std::set<std::string> options_in(std::string const& text)
{
    std::set<std::string> all;
    for (std::size_t at = 0; (at = text.find("--", at)) != std::string::npos;) {
        auto const end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", at);
        if (auto const word = text.substr(at, end - at); word.size() > 2) all.insert(word);
        at = end;
    }
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(words)

// As by >&- in a shell. Without an output nobody has been told anything.
BOOST_AUTO_TEST_CASE(an_output_that_cannot_be_written_is_no_success)
{
    servers one{1};
    auto options = one.environment();
    BOOST_TEST(of({"run", "job", "--bootstrap", "--", "true"}, options).code == 0);
    options.closed_output = true;
    std::vector<arguments> all{{"--version"},
                               {"--help"},
                               {"completion", "bash"},
                               {"list"},
                               {"list", "--json"},
                               {"inspect", "job"},
                               {"watch", "job", "--count", "1"},
                               {"leader", "job", "--json"},
                               {"leader", "job", "--watch"},
                               {"doctor"},
                               {"admit"},
                               {"bench", "--time", "100ms"},
                               {"release", "--force", "--yes", "job"},
                               {"dashboard", "--listen", "127.0.0.1:0"}};
    for (char const* const command : commands) all.push_back({command, "--help"});
    for (arguments const& words : all) {
        auto const o = of(words, options);
        BOOST_TEST(o.code == 70, words.front() << ": " << o.code << ' ' << o.errors);
        BOOST_TEST(contains(o.errors, "redlock: cannot write to the output: "), words.front() << ": " << o.errors);
    }
}

BOOST_AUTO_TEST_CASE(wrong_usage_is_64_and_says_what_is_wrong)
{
    expect_failure({}, 64, "see redlock --help");
    expect_failure({"lock"}, 64, "see redlock --help");
    expect_failure({"inspect"}, 64, "NAME is required; see redlock inspect --help");
    expect_failure({"lock"}, 64, "there is no command lock");
    expect_failure({"inspect", "job", "--nonsense", "--nodes", nowhere}, 64, "there is no option --nonsense");
    expect_failure({"-x", "run", "job"}, 64, "there is no option -x");
    expect_failure({"completion", "bash", "zsh"}, 64, "one argument too many: zsh");
    expect_failure({"run", "job", "--nodes", nowhere}, 64, "no command to run");
    expect_failure({"run", "job", "--nodes", nowhere, "--"}, 64, "no command to run");
    expect_failure({"doctor", "--nodes", nowhere, "--", "true"}, 64, "redlock doctor takes nothing behind --");
    expect_failure({"doctor", "--ttl", "0s", "--nodes", nowhere}, 64, "redlock: ttl is 0 ms");
    expect_failure({"run", "", "--nodes", nowhere, "--", "true"}, 64, "name of a lock is empty");
    expect_failure({"run", "redlock:node", "--nodes", nowhere, "--", "true"}, 64, "keeps for itself");
    expect_failure({"run", "job", "--ttl", "soon", "--nodes", nowhere, "--", "true"}, 64, "soon is no duration");
    expect_failure({"run", "job", "--ttl", "30", "--nodes", nowhere, "--", "true"}, 64, "30 is no duration");
    expect_failure({"run", "job", "--ttl", "100ms", "--nodes", nowhere, "--", "true"}, 64, "must be 1.0 s or more");
    expect_failure({"run", "job", "--ttl", "1h", "--nodes", nowhere, "--", "true"}, 64,
                   "must not be above max_ttl_ms, which is 30 s unless a --config file says otherwise");
    expect_failure({"run", "job", "--kill-grace", "29s", "--nodes", nowhere, "--", "true"}, 64, "--kill-grace must not be above");
    expect_failure({"run", "job", "--wait", "1s", "--no-wait", "--nodes", nowhere, "--", "true"}, 64, "--no-wait");
    expect_failure({"run", "job", "--label", "two words", "--nodes", nowhere, "--", "true"}, 64, "label");
    expect_failure({"watch", "job", "--count", "many", "--nodes", nowhere}, 64,
                   "--count: many is no number of looks; write a whole number from 1 to 1000000000");
    expect_failure({"bench", "--callers", "0", "--nodes", nowhere}, 64,
                   "--callers: 0 is no number of callers; write a whole number from 1 to 10000");
    expect_failure({"completion", "tcsh"}, 64, "tcsh");
    expect_failure({"list", "", "--nodes", nowhere}, 64, "PATTERN is empty");
    expect_failure({"list", "a", "b", "--nodes", nowhere}, 64, "one argument too many: b");
    expect_failure({"list", "a", "--nodes", nowhere, "--", "b"}, 64, "one argument too many: b");
    for (std::string const bad : {"0", "-1", "x", "1000001", "99999999999999999999"})
        expect_failure({"list", "--nodes", nowhere, "--limit=" + bad}, 64,
                       bad + " is no number of locks; write a whole number from 1 to 1000000");
    for (std::string const bad : {"0", "-1", "x"})
        expect_failure({"list", "--watch", "--nodes", nowhere, "--count=" + bad}, 64, "--count: " + bad + " is no number of searches");
    expect_failure({"list", "--time", "1ms", "--nodes", nowhere}, 64, "--time is shorter than 10.0 ms");
    expect_failure({"list", "--watch", "--interval", "1ms", "--nodes", nowhere}, 64, "--interval is shorter than 100.0 ms");
    expect_failure({"list", "--count", "2", "--nodes", nowhere}, 64, "--count requires --watch");
}

// Before anything runs, and before a node is asked.
BOOST_AUTO_TEST_CASE(what_run_cannot_tell_or_send_is_64)
{
    auto const with = [](arguments options) {
        arguments words{"run", "job", "--nodes", nowhere};
        words.insert(words.end(), options.begin(), options.end());
        words.insert(words.end(), {"--", "true"});
        return words;
    };
    expect_failure(with({"--events-fd", "77"}), 64, "--events-fd 77 cannot be written to: it is not open; open it in the shell");
    expect_failure(with({"--events-fd", "0"}), 64, "it is open for reading only");
    for (std::string const bad : {"three", "", "3x", "1048577", "99999999999999999999"})
        expect_failure(with({"--events-fd=" + bad}), 64, "--events-fd");
    expect_failure(with({"--events-fd", "three"}), 64, "three is no descriptor; write a whole number from 0 to 1048575");
    expect_failure(with({"--on-lost", "NONSENSE"}), 64, "NONSENSE is no signal; write for instance TERM, INT, USR1 or KILL");
    expect_failure(with({"--on-lost", "0"}), 64, "0 is no signal");
    expect_failure(with({"--on-lost", "STOP"}), 64, "SIGSTOP would stop the command, which is to end");
    for (std::string const bad : {"256", "-1", "busy", "1.5"})
        expect_failure(with({"--conflict-exit-code=" + bad}), 64, bad + " is no exit code; write a whole number from 0 to 255");
}

BOOST_AUTO_TEST_CASE(a_command_that_does_not_stand_behind_dashes_is_written_so)
{
    expect_failure({"run", "a", "sh", "-c", "echo x"}, 64, "the command must stand behind --; write redlock run a -- sh -c 'echo x'\n");
    expect_failure({"run", "--no-wait", "a", "--ttl", "5s", "echo", "it's"}, 64,
                   "write redlock run --no-wait a --ttl 5s -- echo 'it'\\''s'\n");
    expect_failure({"run", "backup", "backup"}, 64, "write redlock run backup -- backup\n");
    expect_failure({"run", "a", "b", "--", "true"}, 64, "one argument too many: b");
}

BOOST_AUTO_TEST_CASE(a_name_with_a_leading_dash_is_told_how_to_be_written)
{
    expect_failure({"run", "-job", "--nodes", nowhere, "--", "true"}, 64,
                   "there is no option -job; see redlock run --help. A lock of that name: --name=-job");
    expect_failure({"inspect", "-job", "--nodes", nowhere}, 64, "A lock of that name: -- -job");
    expect_failure({"run", "--nodes", nowhere, "--", "true"}, 64, "NAME is required");
    expect_failure({"run", "a", "--name=b", "--nodes", nowhere, "--", "true"}, 64, "excludes");
    // CLI11 would take the next word for the name.
    expect_failure({"run", "--name=", "--no-wait", "--nodes", nowhere, "--", "true"}, 64, "--name= has no value behind the \"=\"");
    expect_failure({"inspect", "a", "--nodes="}, 64, "--nodes= has no value");
}

BOOST_AUTO_TEST_CASE(a_file_with_passwords_that_everybody_may_read_is_warned_of)
{
    temporary_folder const folder;
    auto const file = folder.path() / "redlock.json";
    auto const errors_of = [&](nlohmann::json const& nodes, mode_t mode) {
        std::ofstream{file, std::ios::trunc} << nodes;
        ::chmod(file.c_str(), mode);
        return of({"inspect", "job", "--timeout", "100ms", "--config", file.string()}).errors;
    };
    auto const errors_with = [&](char const* url, mode_t mode) { return errors_of({{"nodes", {url}}}, mode); };
    auto const open = errors_with("redis://app:secret@127.0.0.1:1", 0644);
    BOOST_TEST(contains(open, "redlock: warning: " + file.string() + " holds passwords, and every user of this machine may read it"), open);
    BOOST_TEST(lines_of(open).size() == 1u, open);
    BOOST_TEST(!contains(open, "secret"), open);
    BOOST_TEST(errors_with("redis://app:secret@127.0.0.1:1", 0640) == "");
    BOOST_TEST(errors_with("redis://127.0.0.1:1", 0644) == "");
    BOOST_TEST(contains(errors_with("redis+sentinel://127.0.0.1:1/m?sentinel_password=secret", 0644), "holds passwords"));
    using list = nlohmann::json;
    auto const shards = list::array({list::array({"redis://127.0.0.1:1"}), list::array({"redis://app:secret@127.0.0.1:2"})});
    BOOST_TEST(contains(errors_of({{"shards", shards}}, 0644), "holds passwords"), "of a shard that is not asked");
}

// Every user of the machine sees a command line.
BOOST_AUTO_TEST_CASE(a_password_on_the_command_line_is_warned_of)
{
    std::string const with_password = "redis://app:secret@127.0.0.1:1";
    auto const shown = of({"inspect", "job", "--timeout", "100ms", "--nodes", with_password}).errors;
    BOOST_TEST(shown ==
               "redlock: warning: every user of this machine sees the password in --nodes (ps); put the list into REDLOCK_NODES or "
               "a --config file\n");
    BOOST_TEST(!contains(of({"acquire", "job", "-n", "-q", "--nodes", with_password}).errors, "warning"));
    BOOST_TEST(of({"inspect", "job", "--timeout", "100ms"}, {{{"REDLOCK_NODES", with_password}}}).errors == "");
    BOOST_TEST(of({"inspect", "job", "--timeout", "100ms", "--nodes", nowhere}).errors == "");
}

BOOST_AUTO_TEST_CASE(nodes_come_from_one_place)
{
    expect_failure({"inspect", "job"}, 64, "there are no nodes");
    expect_failure({"inspect", "job", "--nodes", nowhere, "--config", "x.json"}, 64, "give one of them");
    expect_failure({"inspect", "job", "--nodes", "redis://a,http://b"}, 78, "--nodes: nodes[1]: the URL's scheme must be redis://");
    expect_failure({"inspect", "job"}, 78, "REDLOCK_NODES: nodes[0]: the URL has no scheme", {{{"REDLOCK_NODES", "somewhere"}}});
    std::string const comma = "; between two URLs there must be a comma";
    expect_failure({"inspect", "job", "--nodes", "redis://a redis://b"}, 78, comma);
    auto const other = of({"inspect", "job", "--nodes", "redis://a:b c@d, http://e"});
    BOOST_TEST((other.code == 78 && !contains(other.errors, comma)), other.errors);
    auto const spaced = of({"inspect", "job", "--timeout", "200ms"},
                           {{{"REDLOCK_NODES", " redis://127.0.0.1:1 ,\n redis://127.0.0.1:2, "}}});
    BOOST_TEST(spaced.code == 69);
    BOOST_TEST(contains(spaced.output, "none of 2 nodes answered"), spaced.output);
}

BOOST_AUTO_TEST_CASE(a_configuration_file_is_refused_with_its_name_and_place)
{
    temporary_folder const folder;
    auto const file = (folder.path() / "redlock.json").string();
    auto const with = [&](std::string const& text, std::string const& says) {
        std::ofstream{file, std::ios::trunc} << text;
        expect_failure({"inspect", "job", "--config", file}, 78, file + ": " + says);
    };
    expect_failure({"inspect", "job", "--config", file}, 78, file + ": cannot be opened: No such file or directory");
    expect_failure({"inspect", "job", "--config", folder.path().string()}, 78, "this is a directory");
    with("{\n  \"nodes\": [\n}", "line 3, column 1: malformed JSON at '}'");
    with(R"({"nodes": ["redis://a"], "lock": {"ttl": 5}})", "lock: unknown key \"ttl\"; the nearest known one is \"ttl_ms\"");
    with(R"({"nodes": [{"host": "a", "port": 0}]})", "nodes[0].port: expected a whole number between 1 and 65535");
}

BOOST_AUTO_TEST_CASE(a_configuration_file_gives_nodes_and_defaults)
{
    redis_server const server;
    temporary_folder const folder;
    auto const file = (folder.path() / "redlock.json").string();
    nlohmann::json const c{{"nodes", {server.url()}}, {"bootstrap", true}, {"label", "from-the-file"}, {"lock", {{"ttl_ms", 5000}}}};
    std::ofstream{file} << "// a comment\n" << c;
    program holder{{"run", "job", "--config", file, "--", "sleep", "60"}};
    BOOST_TEST_REQUIRE(eventually([&] { return server.command({"EXISTS", "job"}) == "1"; }), holder.errors());
    BOOST_TEST(std::stoi(server.command({"PTTL", "job"})) <= 5000);
    BOOST_TEST(server.command({"GET", "job"}).ends_with(":from-the-file"));
}

BOOST_AUTO_TEST_CASE(help_and_version_are_answers)
{
    auto const version = of({"--version"});
    BOOST_TEST(version.code == 0);
    BOOST_TEST(of({"-V"}).output == version.output);
    BOOST_TEST(version.output == "redlock 0.1.0\n");
    auto const help = of({"--help"});
    BOOST_TEST(help.code == 0);
    BOOST_TEST(of({"help"}).output == help.output);
    expect_failure({"help", "nonsense"}, 64, "there is no command nonsense; see redlock --help");
    expect_failure({"help", "run", "list"}, 64, "one argument too many: list");
    for (std::string const c : commands) {
        BOOST_TEST(of({"help", c}).output == of({c, "--help"}).output);
        BOOST_TEST(contains(help.output, "  " + c + ' '), c);
        auto const its = of({c, "--help"});
        BOOST_TEST(its.code == 0);
        BOOST_TEST(contains(its.output, "Usage: redlock " + c), its.output);
        BOOST_TEST(contains(its.output, "Examples:"), its.output);
    }
}

// With JSON a command says nothing else on its output. A command that learns --json has to be added here.
BOOST_FIXTURE_TEST_CASE(each_command_whose_help_has_json_prints_json, three_servers)
{
    auto const options = environment();
    BOOST_TEST_REQUIRE(of(run("job", {}, {"true"}), options).code == 0);
    BOOST_TEST_REQUIRE(of({"run", "pool", "--permits", "2", "--", "true"}, options).code == 0);
    std::set<std::string> printed;
    auto const parsed = [&](arguments words) {
        words.emplace_back("--json");
        auto const said = of(words, options);
        printed.insert(words.front());
        BOOST_TEST_INFO_SCOPE(words.front() << ": " << said.code << ' ' << said.output << said.errors);
        BOOST_TEST_REQUIRE(nlohmann::json::accept(said.output));
        return nlohmann::json::parse(said.output);
    };
    auto const ticket = [](nlohmann::json const& from) { return from.at("ticket").get<std::string>(); };
    for (arguments const& words : {arguments{"admit"},
                                   {"inspect", "job"},
                                   {"semaphore", "pool"},
                                   {"list"},
                                   {"list", "--watch", "--count", "1"},
                                   {"watch", "job", "--count", "1"},
                                   {"leader", "job"},
                                   {"nodes", "show"},
                                   {"doctor"},
                                   {"bench", "--time", "100ms", "--callers", "1"},
                                   {"release", "--force", "--yes", "job"}})
        parsed(words);
    auto const held = parsed({"acquire", "job"});
    auto const extended = parsed({"extend", "--ticket", ticket(held)});
    BOOST_TEST(parsed({"release", "--ticket", ticket(extended)}).at("released") == true);
    for (std::string const command : commands)
        BOOST_TEST(contains(of({command, "--help"}).output, "--json") == printed.contains(command), command);
}

// A terminal is as wide as that.
BOOST_AUTO_TEST_CASE(no_line_of_help_is_longer_than_80_columns)
{
    std::vector<std::string> pages{of({"--help"}).output};
    for (std::string const c : commands) pages.push_back(of({c, "--help"}).output);
    for (std::string const& page : pages)
        for (std::string const& line : lines_of(page)) BOOST_TEST(line.size() <= 80u, line);
}

// Docs, man page and completions know each option, and no other.
BOOST_AUTO_TEST_CASE(what_is_written_elsewhere_agrees_with_help)
{
    std::string const sources = REDLOCK_SOURCES;
    std::set<std::string> known{"--help", "--version"};
    for (std::string const c : commands) {
        auto const help = of({c, "--help"}).output;
        auto const its = options_in(help.substr(0, help.find("Examples:")));
        known.insert(its.begin(), its.end());
    }
    BOOST_TEST(known.size() > 20u);

    auto man = read_file(sources + "/docs/redlock.1");
    for (std::size_t at = 0; (at = man.find("\\-", at)) != std::string::npos;) man.replace(at, 2, "-");
    std::pair<char const*, std::string> const texts[] = {{"docs/cli.md", read_file(sources + "/docs/cli.md")},
                                                         {"docs/redlock.1", man},
                                                         {"bash", of({"completion", "bash"}).output},
                                                         {"zsh", of({"completion", "zsh"}).output}};
    for (auto const& [where, text] : texts)
        for (std::string const& option : known) BOOST_TEST(options_in(text).contains(option), where << " does not know " << option);
    for (std::string const& option : options_in(man)) BOOST_TEST(known.contains(option), "docs/redlock.1 knows " << option);

    auto const fish = of({"completion", "fish"}).output;
    for (std::string const& option : known) BOOST_TEST(contains(fish, "-l " + option.substr(2)), "fish does not know " << option);
    for (std::string const c : commands)
        for (auto const& [where, text] : texts) BOOST_TEST(contains(text, c), where << " does not know " << c);
}

// Of bash, which is there: each word of a command line, and what completes the last one.
BOOST_AUTO_TEST_CASE(a_shell_completes_commands_options_and_values)
{
    temporary_folder const folder;
    std::ofstream{folder.path() / "redlock.bash"} << of({"completion", "bash"}).output;
    std::ofstream{folder.path() / "nodes.json"} << "{}";
    auto const completed = [&](std::string const& line) {
        auto const file = folder.path() / "line.bash";
        std::ofstream{file} << "cd '" << folder.path().string() << "'; . ./redlock.bash; COMP_WORDS=(" << line
                            << "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _redlock; echo ${COMPREPLY[@]}\n";
        std::unique_ptr<FILE, int (*)(FILE*)> const bash{::popen(("/bin/bash " + file.string()).c_str(), "r"), &::pclose};
        std::string said;
        for (int c; bash && (c = std::fgetc(bash.get())) != EOF;) said += static_cast<char>(c);
        return said;
    };
    BOOST_TEST(completed("redlock se") == "semaphore\n");
    BOOST_TEST(completed("redlock --v") == "--version\n");
    BOOST_TEST(completed("redlock run --wa") == "--wait --wait-servers\n");
    BOOST_TEST(completed("redlock run --bootstrap --ve") == "--verbose\n");
    BOOST_TEST(completed("redlock run job --on-lost U") == "USR1 USR2\n");
    BOOST_TEST(completed("redlock inspect --config no") == "nodes.json\n");
    BOOST_TEST(completed("redlock list --limit 1") == "\n");
    BOOST_TEST(completed("redlock run --ttl 3") == "30s\n");
    BOOST_TEST(completed("redlock nodes g") == "grow\n");
    BOOST_TEST(completed("redlock completion f") == "fish\n");
    BOOST_TEST(completed("redlock help adm") == "admit\n");
    BOOST_TEST(completed("redlock run job -- tru").starts_with("tru"));
    BOOST_TEST(completed("redlock acquire --perm") == "\n");  // it has none
}

// What is said where nothing answers, in the words for one node.
BOOST_AUTO_TEST_CASE(a_node_that_does_not_answer_is_said_to_do_so)
{
    auto const said = [](arguments words) {
        words.insert(words.end(), {"--nodes", nowhere});
        auto const is = of(words);
        return is.output + is.errors;
    };
    BOOST_TEST(contains(said({"inspect", "job"}), "job: unknown, since the node did not answer"));
    BOOST_TEST(contains(said({"inspect", "job"}), "now: the node does not vote (127.0.0.1:1: Connection refused)"));
    BOOST_TEST(contains(said({"semaphore", "job"}), "job: unknown, since the node could not be read"));
    BOOST_TEST(contains(said({"list"}), "the list may lack locks: the node was not searched to the end"));
    BOOST_TEST(!contains(said({"nodes", "show"}), "has a record"));
    auto const admit = said({"admit", "--timeout", "500ms"});
    BOOST_TEST(!contains(admit, "unknown"), admit);
    BOOST_TEST(contains(admit, "127.0.0.1:1: not connected: Connection refused"), admit);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
