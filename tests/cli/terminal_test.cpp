// redlock on a terminal: who has it, and who is asked.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <string>
#include <utility>

namespace redlock::testing {
namespace {

program_options on_terminal(servers const& s)
{
    auto options = s.environment();
    options.terminal = true;
    options.environment.emplace_back("TERM", "xterm");
    return options;
}

// Without colours and movements.
program_options narrow(servers const& s, int columns)
{
    auto options = on_terminal(s);
    options.columns = columns;
    options.environment.emplace_back("NO_COLOR", "1");
    return options;
}

std::size_t widest(std::string const& text)
{
    std::size_t most = 0;
    for (std::string line : lines_of(text)) {
        while (line.ends_with('\r')) line.pop_back();
        if (auto const at = line.rfind("\x1b[J"); at != std::string::npos) line.erase(0, at + 3);
        most = std::max(most, line.size());
    }
    return most;
}

constexpr char const* ctrl_c = "\x03";
constexpr char const* ctrl_d = "\x04";
constexpr char const* ctrl_z = "\x1a";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(terminals, three_servers)

BOOST_AUTO_TEST_CASE(the_command_can_read_from_it)
{
    program p{run("job", {}, {"sh", "-c", "echo ready; cat; echo over"}), on_terminal(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }), p.output());
    p.type("hello\n");
    BOOST_TEST(eventually([&] { return contains(p.output(), "hello\r\nhello"); }), p.output());  // its echo, and cat's
    p.type(ctrl_d);
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(contains(p.output(), "over"));
}

BOOST_AUTO_TEST_CASE(ctrl_c_ends_the_command)
{
    program p{run("job", {}, {"sh", "-c", "trap 'echo caught; exit 6' INT; echo ready; while :; do sleep 0.01; done"}), on_terminal(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }), p.output());
    p.type(ctrl_c);
    BOOST_TEST(p.wait() == 6);
    BOOST_TEST(contains(p.output(), "caught"));
    BOOST_TEST(count_with("job") == 0u);
}

// As in a script: the shell must hear of it, or it would go on with the next command.
BOOST_AUTO_TEST_CASE(ctrl_c_ends_the_script_as_well)
{
    program p{run("job", {}, {"bash", "-c", "\"$0\" run other -- sh -c 'echo ready; exec sleep 60'; echo next", command_under_test()}),
              on_terminal(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }), p.output());
    p.type(ctrl_c);
    BOOST_TEST(p.wait() == 128 + SIGINT);
    BOOST_TEST(!contains(p.output(), "next"), p.output());
    BOOST_TEST(count_with("job") + count_with("other") == 0u);
}

// In a pipeline the terminal stays with the pipeline, until the command wants it.
BOOST_AUTO_TEST_CASE(a_command_whose_output_is_a_pipe_can_read_from_it)
{
    program p{run("job", {}, {"sh", "-c", "\"$0\" run other -- cat | sed s/hello/goodbye/; echo over", command_under_test()}),
              on_terminal(*this)};
    BOOST_TEST(eventually([&] { return count_with("other") == 3; }));
    p.type("hello\n");
    p.type(ctrl_d);
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(contains(p.output(), "goodbye"), p.output());
}

BOOST_AUTO_TEST_CASE(a_command_that_holds_a_lock_is_not_suspended)
{
    program p{run("job", {}, {"sh", "-c", "echo ready; read line; echo \"got $line\""}), on_terminal(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }), p.output());
    p.type(ctrl_z);
    BOOST_TEST(eventually([&] { return contains(p.output(), "not suspended"); }), p.output());
    p.type("more\n");
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(contains(p.output(), "got more"), p.output());
}

// As getpass(), ssh, sudo and gpg do.
BOOST_AUTO_TEST_CASE(a_command_that_asks_on_the_terminal_can_do_so_wherever_its_input_is)
{
    std::string const asks = "stty -echo </dev/tty; echo asks; read word </dev/tty; stty echo </dev/tty; echo \"got $word\"";
    program p{run("job", {}, {"sh", "-c", "\"$0\" run other -- sh -c \"$1\" </dev/null; echo \"code $?\"", command_under_test(), asks}),
              on_terminal(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "asks"); }), p.output());
    p.type("secret\n");
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(contains(p.output(), "got secret"), p.output());
    BOOST_TEST(contains(p.output(), "code 0"), p.output());
}

// A process that is stopped handles no signal.
BOOST_AUTO_TEST_CASE(a_command_that_waits_for_the_terminal_in_the_background_is_told_of_and_can_be_ended)
{
    for (auto const& [name, code] : {std::pair{"TERM", "143"}, {"INT", "130"}, {"HUP", "129"}}) {
        std::string const script = "\"$0\" run other -- sh -c 'read x </dev/tty' </dev/null & read go; kill -" + std::string{name} +
                                   " $!; wait $!; echo \"code $?\"";
        program p{run("job", {}, {"bash", "-mc", script, command_under_test()}), on_terminal(*this)};
        BOOST_TEST(eventually([&] { return contains(p.output(), "the command is stopped (it wants the terminal"); }), p.output());
        p.type("go\n");
        BOOST_TEST(p.wait() == 0);
        BOOST_TEST(contains(p.output(), std::string{"code "} + code), p.output());
        BOOST_TEST(count_with("other") == 0u);
    }
}

BOOST_AUTO_TEST_CASE(release_asks)
{
    set_everywhere("job", "foreign");
    program no{{"release", "--force", "job"}, on_terminal(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(no.output(), "[y/N]"); }), no.output());
    no.type("n\n");
    BOOST_TEST(no.wait() == 1);
    BOOST_TEST(count_with("job") == 3u);

    program yes{{"release", "--force", "job"}, on_terminal(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(yes.output(), "[y/N]"); }), yes.output());
    yes.type("y\n");
    BOOST_TEST(yes.wait() == 0);
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(watch_draws_again_and_ctrl_c_ends_it)
{
    set_everywhere("job", "foreign");
    program p{{"watch", "job", "--interval", "50ms"}, on_terminal(*this)};
    BOOST_TEST(eventually([&] { return contains(p.output(), "\x1b[H\x1b[J") && contains(p.output(), "held"); }), p.output());
    p.type(ctrl_c);
    BOOST_TEST(p.wait() == 0);
}

BOOST_AUTO_TEST_CASE(tables_fit_the_terminal)
{
    {
        program admits{run("job", {}, {"true"}), environment()};
        BOOST_TEST(admits.wait() == 0);
    }
    set_everywhere("job", "foreign");
    auto const at = "127.0.0.1:" + std::to_string(all[2].port());
    for (int const columns : {40, 60, 80}) {
        program doctor{{"doctor"}, narrow(*this, columns)};
        int const code = doctor.wait();
        BOOST_TEST(code == 0, "code " << code << ": " << doctor.output() << doctor.errors());
        BOOST_TEST(widest(doctor.output()) <= static_cast<std::size_t>(columns), doctor.output());
        for (char const* title : {"version", "role", "user", "up for", "persistence", "round trip", "clock"})
            BOOST_TEST(contains(doctor.output(), title), columns << doctor.output());
        program inspect{{"inspect", "job"}, narrow(*this, columns)};
        int const found = inspect.wait();
        BOOST_TEST(found == 0, "code " << found << ": " << inspect.output() << inspect.errors());
        BOOST_TEST(widest(inspect.output()) <= static_cast<std::size_t>(columns), inspect.output());
        BOOST_TEST(contains(inspect.output(), at), inspect.output());
        program watch{{"watch", "job", "--count", "1"}, narrow(*this, columns)};
        BOOST_TEST(watch.wait() == 0);
        BOOST_TEST(widest(watch.output()) <= static_cast<std::size_t>(columns), watch.output());
        for (char const* title : {"state", "holder", "nodes", "ttl", "held", "turns"}) BOOST_TEST(contains(watch.output(), title));
    }
    auto wider = narrow(*this, 60);
    wider.environment.emplace_back("COLUMNS", "200");
    program wide{{"doctor"}, wider};
    BOOST_TEST(wide.wait() == 0);
    BOOST_TEST(widest(wide.output()) > 80u, wide.output());
    auto elsewhere = environment();
    elsewhere.environment.emplace_back("COLUMNS", "40");
    program file{{"doctor"}, elsewhere};
    BOOST_TEST(file.wait() == 0);
    BOOST_TEST(widest(file.output()) > 80u, file.output());
}

BOOST_AUTO_TEST_CASE(long_errors_stand_below_the_table)
{
    all[1].command({"CONFIG", "SET", "requirepass", "a password of theirs"});
    auto const at = "127.0.0.1:" + std::to_string(all[1].port());
    program inspect{{"inspect", "job"}, narrow(*this, 60)};
    BOOST_TEST(inspect.wait() == 0);
    BOOST_TEST(widest(inspect.output()) <= 60u, inspect.output());
    BOOST_TEST(contains(inspect.output(), at + "  see below\r\n"), inspect.output());
    BOOST_TEST(contains(inspect.output(), "\r\n  " + at + ": HELLO was refused: the server"), inspect.output());
    program doctor{{"doctor"}, narrow(*this, 60)};
    doctor.wait();
    BOOST_TEST(widest(doctor.output()) <= 60u, doctor.output());

    program file{{"inspect", "job"}, environment()};
    BOOST_TEST(file.wait() == 0);
    BOOST_TEST(contains(file.output(), at + "  HELLO was refused: the server wants a password"), file.output());
}

// The question is what takes time, and meanwhile somebody else acquires the lock.
BOOST_AUTO_TEST_CASE(release_does_not_delete_what_it_did_not_show)
{
    set_everywhere("job", "foreign");
    for (auto& s : all) s.command({"HSET", "map", "a", "b"});
    program p{{"release", "--force", "job", "map"}, on_terminal(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "[y/N]"); }), p.output());
    for (auto& s : all) {
        s.command({"SET", "job", "another's"});
        s.command({"SET", "map", "another's"});
    }
    p.type("y\n");
    BOOST_TEST(p.wait() == 1);
    BOOST_TEST(contains(p.output(), "job: deleted on 0 of 3 nodes"), p.output());
    BOOST_TEST(contains(p.output(), "stays: it changed meanwhile"), p.output());
    for (auto& s : all)
        for (char const* name : {"job", "map"}) BOOST_TEST(s.command({"GET", name}) == "another's");
}

BOOST_AUTO_TEST_CASE(colours_can_be_refused)
{
    program coloured{{"inspect", "job"}, on_terminal(*this)};
    coloured.wait();
    BOOST_TEST(contains(coloured.output(), "\x1b["));
    auto plain = on_terminal(*this);
    plain.environment.emplace_back("NO_COLOR", "1");
    program p{{"inspect", "job"}, plain};
    p.wait();
    BOOST_TEST(!contains(p.output(), "\x1b["), p.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
