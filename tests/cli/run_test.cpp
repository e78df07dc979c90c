// redlock run, while nothing goes wrong with the lease: what the command gets, and what comes back.
#include "program.hpp"
#include "support/command_stats.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

double now() { return std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count(); }

// Says `ready` once it has set its traps.
arguments trapping(std::string const& traps) { return {"sh", "-c", traps + "; echo ready; while :; do sleep 0.01; done"}; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(run, three_servers)

BOOST_AUTO_TEST_CASE(the_exit_code_is_the_commands)
{
    for (int const code : {0, 1, 7, 200}) {
        program p{run("job", {}, {"sh", "-c", "exit " + std::to_string(code)}), environment()};
        BOOST_TEST(p.wait() == code, p.errors());
        BOOST_TEST(p.errors() == "");
    }
    program killed{run("job", {}, {"sh", "-c", "kill -KILL $$"}), environment()};
    BOOST_TEST(killed.wait() == 128 + SIGKILL);
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(the_command_finds_name_token_and_end_of_its_lease)
{
    auto const before = now();
    arguments const show{"sh", "-c", "printf '%s\\n%s\\n%s\\n' \"$REDLOCK_NAME\" \"$REDLOCK_TOKEN\" \"$REDLOCK_VALID_UNTIL\""};
    program first{run("a name, \xc3\xa4\xe2\x82\xac", {"--ttl", "20s"}, show), environment()};
    BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    auto const said = lines_of(first.output());
    BOOST_TEST_REQUIRE(said.size() == 3u);
    BOOST_TEST(said[0] == "a name, \xc3\xa4\xe2\x82\xac");
    BOOST_TEST(std::stod(said[2]) > before + 15);
    BOOST_TEST(std::stod(said[2]) < now() + 20);

    program second{run(said[0], {"--ttl", "20s"}, show), environment()};
    BOOST_TEST(second.wait() == 0);
    BOOST_TEST(std::stoull(lines_of(second.output()).at(1)) > std::stoull(said[1]));

    auto around = environment();
    around.environment.emplace_back("REDLOCK_TOKEN", "from elsewhere");
    program plain{run("p", {"--no-fencing"}, {"sh", "-c", "echo \"<${REDLOCK_TOKEN-none}>\""}), around};
    BOOST_TEST(plain.wait() == 0);
    BOOST_TEST(plain.output() == "<none>\n");
}

BOOST_AUTO_TEST_CASE(input_output_and_arguments_pass_through)
{
    program p{run("job", {}, {"sh", "-c", "cat; echo \"$1|$2\" >&2", "sh", "--json", "a b"}), environment("one\ntwo\n")};
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(p.output() == "one\ntwo\n");
    BOOST_TEST(p.errors() == "--json|a b\n");
}

BOOST_AUTO_TEST_CASE(descriptors_of_ours_are_closed_and_those_of_others_are_not)
{
    int ends[2];
    BOOST_REQUIRE(::pipe(ends) == 0);  // inherited by the program, since nothing says otherwise
    BOOST_REQUIRE(::dup2(ends[1], 60) == 60);  // ours come between
    ::close(ends[1]);
    ends[1] = 60;
    program p{run("job", {}, {"ls", "/proc/self/fd"}), environment()};
    BOOST_TEST(p.wait() == 0);
    std::size_t others = 0;
    for (std::string const& fd : lines_of(p.output())) others += ::fcntl(std::stoi(fd), F_GETFD) < 0 ? 1 : 0;
    BOOST_TEST(others <= 1u, p.output());  // ls's own
    for (int const fd : ends) BOOST_TEST(contains('\n' + p.output(), '\n' + std::to_string(fd) + '\n'), p.output());
    ::close(ends[0]);
    ::close(ends[1]);
}

BOOST_AUTO_TEST_CASE(a_closed_stderr_is_no_connection)
{
    std::string const own = command_under_test() + " run --bootstrap job -v -- sh -c 'exit 4' <&- >&- 2>&-";
    program p{run("outer", {}, {"sh", "-c", own}), environment()};
    BOOST_TEST(p.wait() == 4);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_executed_ends_as_in_shells)
{
    program missing{run("job", {}, {"no-such-program-at-all"}), environment()};
    BOOST_TEST(missing.wait() == 127);
    BOOST_TEST(missing.errors() == "redlock: no-such-program-at-all: command not found\n");

    auto const file = folder.path() / "data";
    std::ofstream{file} << "not a program";
    ::chmod(file.c_str(), 0600);
    program data{run("job", {}, {file.string()}), environment()};
    BOOST_TEST(data.wait() == 126);
    BOOST_TEST(contains(data.errors(), "Permission denied"), data.errors());
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(signals_reach_the_command)
{
    for (auto const& [number, name] :
         {std::pair{SIGINT, "INT"}, {SIGTERM, "TERM"}, {SIGHUP, "HUP"}, {SIGQUIT, "QUIT"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}}) {
        program p{run("job", {}, trapping(std::string{"trap 'echo got; exit 3' "} + name)), environment()};
        BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }), p.errors());
        p.send(number);
        BOOST_TEST(p.wait() == 3, name);
        BOOST_TEST(contains(p.output(), "got"), name);
    }
    program p{run("job", {}, trapping(":")), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }));
    p.send(SIGTERM);
    BOOST_TEST(p.wait() == 128 + SIGTERM);
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(what_nohup_ignores_stays_ignored)
{
    auto around = environment();
    around.ignore_hangup = true;
    program p{run("job", {}, {"sh", "-c", "echo ready; kill -HUP $$; sleep 0.2; echo alive"}), around};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }));
    p.send(SIGHUP);
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(contains(p.output(), "alive"));

    set_everywhere("busy", "foreign");
    program waits{run("busy", {"--wait", "600ms"}, {"true"}), around};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(all[0].command({"CLIENT", "LIST"}), "name=redlock"); }));
    waits.send(SIGHUP);
    BOOST_TEST(waits.wait() == 75);
}

BOOST_AUTO_TEST_CASE(somebody_elses_lock_is_75)
{
    program holder{run("job", {"--label", "nightly"}, trapping("trap 'exit 0' TERM")), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(holder.output(), "ready"); }));
    program once{run("job", {"--no-wait"}, {"echo", "never"}), environment()};
    BOOST_TEST(once.wait() == 75);
    auto const by = ", process " + std::to_string(holder.pid()) + ", label nightly, since ";
    BOOST_TEST(once.errors().starts_with("redlock: job is held by "), once.errors());
    BOOST_TEST(contains(once.errors(), by), once.errors());
    program patient{run("job", {"--wait", "100ms"}, {"echo", "never"}), environment()};
    BOOST_TEST(patient.wait() == 75);
    BOOST_TEST(contains(patient.errors(), by), patient.errors());
    BOOST_TEST(contains(patient.errors(), "not free for all the time of --wait"), patient.errors());
    BOOST_TEST(once.output() + patient.output() == "");

    program third{run("job", {"--wait", "10s"}, {"echo", "at last"}), environment()};
    holder.send(SIGTERM);
    BOOST_TEST(holder.wait() == 0);
    BOOST_TEST(third.wait() == 0);
    BOOST_TEST(third.output() == "at last\n");
}

// Others have one node each, so nobody has a majority: as after several hosts asked at the same moment. An attempt and its rollback are two
// scripts on the third node.
BOOST_AUTO_TEST_CASE(split_votes_are_asked_for_again)
{
    {
        program admits{run("other", {}, {"true"}), environment()};
        BOOST_TEST(admits.wait() == 0, admits.errors());
    }
    all[0].command({"SET", "job", "one of them"});
    all[1].command({"SET", "job", "another one"});
    auto const scripts_of = [&](arguments const& words) {
        all[2].command({"CONFIG", "RESETSTAT"});
        program p{words, environment()};
        BOOST_TEST(p.wait() == 75, p.errors());
        BOOST_TEST(p.output() == "");
        BOOST_TEST(all[2].command({"EXISTS", "job"}) == "0");
        return calls_of(all[2], "evalsha");
    };
    constexpr std::size_t to_begin_with = 2, of_an_attempt = 2, runs = 20;
    // Two refusals are a majority: the votes are split where the third server could be asked in time.
    for (auto const& words : {run("job", {"--no-wait"}, {"echo", "never"}), arguments{"acquire", "job", "--no-wait"}}) {
        std::size_t scripts = 0;
        for (std::size_t i = 0; i < runs && scripts <= to_begin_with + 2 * of_an_attempt; ++i) scripts = scripts_of(words);
        BOOST_TEST(scripts > to_begin_with + 2 * of_an_attempt);
    }
    // Somebody holds it.
    all[1].command({"SET", "job", "one of them"});
    BOOST_TEST(scripts_of(run("job", {"--no-wait"}, {"echo", "never"})) <= to_begin_with + of_an_attempt);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_waiting_and_leaves_nothing_behind)
{
    set_everywhere("job", "foreign");
    program p{run("job", {"-v"}, {"echo", "never"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.errors(), "waiting"); }), p.errors());
    p.send(SIGTERM);
    BOOST_TEST(p.wait() == 128 + SIGTERM);
    BOOST_TEST(p.output() == "");
    for (auto& s : all) BOOST_TEST(s.command({"GET", "job"}) == "foreign");
}

BOOST_AUTO_TEST_CASE(too_few_nodes_are_69_and_each_is_named)
{
    {
        program admits{run("job", {}, {"true"}), environment()};
        BOOST_TEST(admits.wait() == 0);
    }
    all[0].kill();
    {
        program two{run("job", {}, {"true"}), environment()};
        BOOST_TEST(two.wait() == 0, two.errors());
    }
    all[1].kill();
    program p{run("job", {"--wait", "300ms"}, {"echo", "never"}), environment()};
    BOOST_TEST(p.wait() == 69);
    BOOST_TEST(p.output() == "");
    BOOST_TEST(contains(p.errors(), "127.0.0.1:" + std::to_string(all[0].port()) + ": Connection refused"), p.errors());
    BOOST_TEST(contains(p.errors(), "127.0.0.1:" + std::to_string(all[1].port())), p.errors());
}

// Not a terminal, and nobody asked for words.
BOOST_AUTO_TEST_CASE(whoever_waits_says_after_a_while_why)
{
    program holder{run("job", {"--label", "nightly"}, {"sh", "-c", "echo ready; exec sleep 60"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(holder.output(), "ready"); }));
    all[0].restart();  // it is not admitted, and that is not what is waited for
    program waits{run("job", {}, {"true"}), environment()};
    program quiet{run("job", {"--quiet", "--wait", "4s"}, {"true"}), environment()};
    BOOST_TEST(eventually([&] { return contains(waits.errors(), "redlock: waiting for job for 3."); }), waits.errors());
    BOOST_TEST(contains(waits.errors(), "it is held by "), waits.errors());
    BOOST_TEST(contains(waits.errors(), ", process " + std::to_string(holder.pid()) + ", label nightly, since "), waits.errors());
    BOOST_TEST(lines_of(waits.errors()).size() == 1u, waits.errors());
    BOOST_TEST(quiet.wait() == 75);
    BOOST_TEST(!contains(quiet.errors(), "waiting"), quiet.errors());
}

BOOST_AUTO_TEST_CASE(dead_and_new_servers_are_named_by_whoever_waits)
{
    program new_ones{{"run", "job", "--", "true"}, environment()};
    BOOST_TEST(eventually([&] { return contains(new_ones.errors(), "waiting for job for 3."); }), new_ones.errors());
    BOOST_TEST(contains(new_ones.errors(), "only 0 of 3 nodes have a vote, and a majority is 2"), new_ones.errors());
    BOOST_TEST(contains(new_ones.errors(), "s left until"), new_ones.errors());
    BOOST_TEST(!contains(new_ones.errors(), "bootstrap"), new_ones.errors());

    for (auto& s : all) s.kill();
    program dead{run("job", {}, {"true"}), environment()};
    BOOST_TEST(eventually([&] { return contains(dead.errors(), "waiting for job for 3."); }), dead.errors());
    for (auto& s : all)
        BOOST_TEST(contains(dead.errors(), "\n  127.0.0.1:" + std::to_string(s.port()) + ": Connection refused"), dead.errors());
    dead.send(SIGTERM);
    BOOST_TEST(dead.wait() == 128 + SIGTERM);
}

// Holders change, and servers go away: words of three seconds ago would mislead.
BOOST_AUTO_TEST_CASE(a_new_reason_to_wait_is_said_when_it_is_one)
{
    program holder{run("job", {"--label", "first"}, {"sh", "-c", "echo ready; exec sleep 60"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(holder.output(), "ready"); }));
    program waits{run("job", {}, {"true"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(waits.errors(), ", label first, since "); }), waits.errors());
    for (std::size_t const i : {1U, 2U}) all[i].kill();
    auto const is_said = [&] { return contains(waits.errors(), "only 1 of 3 nodes has a vote, and a majority is 2"); };
    BOOST_TEST((eventually(is_said) || eventually(is_said)), waits.errors());
}

// As where a terminal is stopped with Ctrl-S, or nobody reads a pipe.
BOOST_AUTO_TEST_CASE(words_that_nobody_reads_keep_no_signal)
{
    full_pipe const stuck;
    auto options = environment();
    options.errors = stuck.end();
    program p{run("job", {"-v"}, {"sh", "-c", "echo ready; exec sleep 60"}), options};
    BOOST_TEST(eventually([&] { return contains(p.output(), "ready"); }));
    p.send(SIGTERM);
    BOOST_TEST(p.wait() == 128 + SIGTERM);
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(a_command_that_is_stopped_is_told_of)
{
    program p{run("job", {}, {"sh", "-c", "kill -STOP $$; exit 5"}), environment()};
    BOOST_TEST(eventually([&] { return contains(p.errors(), "the command is stopped (SIGSTOP; kill -CONT "); }), p.errors());
    BOOST_TEST(contains(p.errors(), "job is held meanwhile"), p.errors());
    p.send(SIGCONT);
    BOOST_TEST(p.wait() == 5);
}

BOOST_AUTO_TEST_CASE(a_name_may_begin_with_a_dash)
{
    for (arguments const& name : {arguments{"--name=-job"}, {"--name", "-job"}}) {
        arguments words{"run", "--bootstrap"};
        words.insert(words.end(), name.begin(), name.end());
        words.insert(words.end(), {"--", "sh", "-c", "echo \"<$REDLOCK_NAME>\""});
        program p{words, environment()};
        BOOST_TEST(p.wait() == 0, p.errors());
        BOOST_TEST(p.output() == "<-job>\n");
    }
    set_everywhere("-job", "foreign");
    program seen{{"inspect", "job", "--", "-job", "--json"}, environment()};
    BOOST_TEST(seen.wait() == 0, seen.errors());
    BOOST_TEST(contains(seen.output(), "job: free"), seen.output());
    BOOST_TEST(contains(seen.output(), "\n-job: held"), seen.output());
    BOOST_TEST(contains(seen.output(), "\n--json: free"), seen.output());
}

BOOST_AUTO_TEST_CASE(the_command_can_be_kept_from_our_variables)
{
    auto around = environment();
    around.environment.emplace_back("REDLOCK_MORE", "1");
    program with{run("job", {}, {"env"}), around};
    BOOST_TEST(with.wait() == 0);
    BOOST_TEST(contains(with.output(), "REDLOCK_NODES="), with.output());
    program without{run("job", {"--no-env"}, {"env"}), around};
    BOOST_TEST(without.wait() == 0);
    BOOST_TEST(!contains(without.output(), "REDLOCK_NODES="), without.output());
    BOOST_TEST(!contains(without.output(), "REDLOCK_MORE="), without.output());
    for (char const* ours : {"REDLOCK_NAME=job\n", "REDLOCK_TOKEN=", "REDLOCK_VALID_UNTIL="}) BOOST_TEST(contains(without.output(), ours));
}

BOOST_AUTO_TEST_CASE(a_lock_of_other_software_is_respected)
{
    for (auto& s : all) s.command({"HSET", "job", "a", "b"});
    program p{run("job", {"--no-wait"}, {"true"}), environment()};
    BOOST_TEST(p.wait() == 75, p.errors());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(run_passwords)

BOOST_AUTO_TEST_CASE(a_wrong_password_is_said_and_never_told)
{
    redis_server const server{{.requirepass = "right"}};
    auto const url = [&](std::string const& password) {
        return "redis://default:" + password + "@127.0.0.1:" + std::to_string(server.port());
    };
    program wrong{{"run", "--bootstrap", "job", "--wait", "300ms", "--nodes", url("wr0ng"), "--", "true"}};
    BOOST_TEST(wrong.wait() == 69);
    BOOST_TEST(contains(wrong.errors(), "wrong user name or password"), wrong.errors());
    BOOST_TEST(!contains(wrong.errors(), "wr0ng"), wrong.errors());
    program right{{"run", "--bootstrap", "job", "--nodes", url("right"), "--", "true"}};
    BOOST_TEST(right.wait() == 0, right.errors());
}

// Its name does not say whose it is: the address does.
BOOST_AUTO_TEST_CASE(a_variable_with_a_password_can_be_kept_from_the_command)
{
    redis_server const server{{.requirepass = "right"}};
    auto const url = "redis://default@127.0.0.1:" + std::to_string(server.port()) + "?password_env=LOCK_SECRET";
    program_options around;
    around.environment.emplace_back("LOCK_SECRET", "right");
    program with{{"run", "--bootstrap", "job", "--nodes", url, "--", "env"}, around};
    BOOST_TEST(with.wait() == 0, with.errors());
    BOOST_TEST(contains(with.output(), "LOCK_SECRET=right"), with.output());
    program without{{"run", "--bootstrap", "--no-env", "job", "--nodes", url, "--", "env"}, around};
    BOOST_TEST(without.wait() == 0, without.errors());
    BOOST_TEST(contains(without.output(), "REDLOCK_NAME=job"), without.output());
    BOOST_TEST(!contains(without.output(), "LOCK_SECRET"), without.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
