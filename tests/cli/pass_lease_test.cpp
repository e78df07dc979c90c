// redlock run --pass-lease: the command asks for the ticket of the lease, and goes on with the lock itself.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <unistd.h>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

struct takeover : three_servers {
    std::string path(std::string const& name) const { return (folder.path() / name).string(); }

    // A shell that finds the program as $1 and this test's folder as $2.
    arguments shell(std::string const& script) const { return {"sh", "-c", script, "sh", command_under_test(), folder.path().string()}; }
    arguments passing(arguments options, std::string const& script) const
    {
        options.insert(options.end(), {"--pass-lease", "7"});
        return run("job", options, shell(script));
    }
    void make(std::string const& name) const { ::close(::open(path(name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); }
    bool is_there(std::string const& name) const { return ::access(path(name).c_str(), F_OK) == 0; }
};

constexpr char const* take = R"(echo ticket >&7 && IFS= read -r ticket <&7 || exit 9; )";
constexpr char const* until_told = R"(until [ -e "$2/end" ]; do sleep 0.02; done; )";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pass_lease, takeover)

BOOST_AUTO_TEST_CASE(the_command_gets_the_ticket_that_it_asks_for)
{
    program p{passing({"-v", "--events-fd", "1"}, std::string{R"([ "$REDLOCK_LEASE_FD" = 7 ] || exit 8; )"} + take +
                                                      R"("$1" release --ticket "$ticket" || exit 10; : > "$2/released"; )" + until_told +
                                                      "exit 3"),
              environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return is_there("released"); }), p.errors());
    BOOST_TEST(count_with("job") == 0u, "it was the command's to give back");
    make("end");
    BOOST_TEST(p.wait() == 3, p.errors());
    BOOST_TEST(contains(p.errors(), "redlock: the command has taken job over"), p.errors());
    BOOST_TEST(!contains(p.errors(), "lost"), p.errors());
    BOOST_TEST(contains(p.output(), R"("event":"detached")"), p.output());
    BOOST_TEST(!contains(p.output(), R"("event":"released")"), p.output());
    BOOST_TEST(contains(p.output(), R"("outcome":"completed")"), p.output());
}

BOOST_AUTO_TEST_CASE(and_keeps_the_lock_for_longer_than_its_ttl)
{
    auto const inner = R"(exec "$1" run --ticket "$ticket" -- sh -c ': > "$0/inside"; sleep 3; echo done' "$2")";
    program p{passing({"--ttl", "1s"}, std::string{take} + inner), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return is_there("inside"); }), p.errors());
    program other{{"run", "job", "--no-wait", "--", "true"}, environment()};
    BOOST_TEST(other.wait() == 75, other.errors());
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(p.output() == "done\n");
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(nobody_extends_a_lease_that_the_command_does_not_adopt)
{
    program p{passing({"--ttl", "1s"}, std::string{take} + R"(: > "$2/taken"; )" + until_told), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return is_there("taken"); }), p.errors());
    BOOST_TEST(eventually([&] { return count_with("job") == 0; }));
    BOOST_TEST(p.running(), "and nobody ends the command, which answers for it");
    make("end");
    BOOST_TEST(p.wait() == 0, p.errors());
}

BOOST_AUTO_TEST_CASE(redlock_that_is_killed_takes_the_command_with_it_only_while_it_holds_the_lease)
{
    auto const grows = [&](std::string const& name) {
        auto const before = read_file(path(name)).size();
        return eventually([&] { return read_file(path(name)).size() > before + 5; });
    };
    program keeps{passing({}, R"(echo $$ > "$2/keeps.pid"; sleep 60)"), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return lines_of(read_file(path("keeps.pid"))).size() == 1; }), keeps.errors());
    keeps.send(SIGKILL);
    keeps.wait();
    auto const pid_of = [&](std::string const& name) { return std::stoi(read_file(path(name))); };
    BOOST_TEST(eventually([&] { return ::kill(pid_of("keeps.pid"), 0) != 0; }), "the guardian has ended it");
    for (redis_server& server : all) server.command({"DEL", "job"});

    program passed{passing({}, std::string{take} +
                                   R"(echo $$ > "$2/passed.pid"; while [ ! -e "$2/end" ]; do echo >> "$2/alive"; sleep 0.02; done)"),
                   environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return is_there("alive"); }), passed.errors());
    passed.send(SIGKILL);
    passed.wait();
    BOOST_TEST(grows("alive"), "the command lives on");
    make("end");
    BOOST_TEST(eventually([&] { return ::kill(pid_of("passed.pid"), 0) != 0; }));
}

BOOST_AUTO_TEST_CASE(a_command_that_does_not_ask_is_run_as_ever)
{
    program p{passing({"-v"}, R"(echo give >&7; IFS= read -r answer <&7; echo "$answer"; exit 4)"), environment()};
    BOOST_TEST(p.wait() == 4, p.errors());
    BOOST_TEST(p.output() == "error: the only request is: ticket\n");
    BOOST_TEST(contains(p.errors(), "released job"), p.errors());
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_lost_has_no_ticket)
{
    program p{
        passing(
            {"--ttl", "2s"},
            R"(trap 'echo ticket >&7; IFS= read -r ticket <&7 || echo none; exit 0' TERM; : > "$2/started"; while :; do sleep 0.02; done)"),
        environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return is_there("started"); }), p.errors());
    for (redis_server& server : all) server.kill();
    BOOST_TEST(p.wait() == 79, p.errors());
    BOOST_TEST(p.output() == "none\n");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_passed_is_wrong_usage)
{
    expect_failure(run("job", {"--pass-lease", "2"}, {"true"}), exits::usage, "a whole number from 3 to 1023", environment());
    expect_failure(run("job", {"--pass-lease", "7", "--shared"}, {"true"}), exits::usage, "--shared", environment());
    int const open = ::open("/dev/null", O_RDONLY);
    expect_failure(run("job", {"--pass-lease", std::to_string(open)}, {"true"}), exits::usage, "is open already", environment());
    ::close(open);
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
