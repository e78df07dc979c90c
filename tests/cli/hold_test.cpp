// redlock hold: a lock without a command. And redlock bench, which holds many.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>

namespace redlock::testing {

BOOST_FIXTURE_TEST_SUITE(holding, three_servers)

BOOST_AUTO_TEST_CASE(it_is_held_until_the_input_ends)
{
    program p{{"hold", "job", "--bootstrap", "-v"}, environment("some words\n")};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(lines_of(p.output()).size() == 1u, p.output());
    BOOST_TEST(p.output().starts_with("holds job, token "), p.output());
    BOOST_TEST(contains(p.errors(), "redlock: released job"), p.errors());
    BOOST_TEST(count_with("job") == 0u);
}

// The input of a command in the background of a script is /dev/null.
BOOST_AUTO_TEST_CASE(without_an_input_it_is_held_until_a_signal_comes)
{
    program p{run("job", {},
                  {"sh", "-c", "\"$0\" hold other </dev/null & read go; kill -TERM $!; wait $!; echo \"code $?\"", command_under_test()}),
              [&] {
                  auto options = environment();
                  options.terminal = true;
                  return options;
              }()};
    BOOST_TEST(eventually([&] { return contains(p.output(), "holds other, token "); }), p.output());
    BOOST_TEST(count_with("other") == 3u);
    p.type("go\n");
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(contains(p.output(), "code 143"), p.output());
    BOOST_TEST(count_with("other") == 0u);
}

BOOST_AUTO_TEST_CASE(on_a_terminal_ctrl_d_ends_it_and_ctrl_c_does)
{
    for (auto const& [key, code] : {std::pair{"\x04", 0}, {"\x03", 128 + SIGINT}}) {
        auto options = environment();
        options.terminal = true;
        program p{{"hold", "job", "--bootstrap"}, options};
        BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "holds job"); }), p.output());
        p.type(key);
        BOOST_TEST(p.wait() == code, p.output());
        BOOST_TEST(count_with("job") == 0u);
    }
}

BOOST_AUTO_TEST_CASE(it_takes_what_run_takes_and_no_command)
{
    program held{{"hold", "job", "--bootstrap", "--shared", "--label", "a"}, environment()};
    BOOST_TEST(held.wait() == 0, held.errors());
    program permit{{"hold", "exports", "--permits", "2", "--bootstrap"}, environment()};
    BOOST_TEST(permit.wait() == 0, permit.errors());
    BOOST_TEST(contains(permit.output(), "holds exports, slot "), permit.output());
    set_everywhere("job", "foreign");
    program busy{{"hold", "job", "-n"}, environment()};
    BOOST_TEST(busy.wait() == exits::contended, busy.errors());
    BOOST_TEST(busy.output() == "");
    expect_failure({"hold", "job", "--", "true"}, exits::usage, "redlock hold runs no command", environment());
    expect_failure({"hold"}, exits::usage, "NAME is required; see redlock hold --help", environment());
}

BOOST_AUTO_TEST_CASE(a_bench_that_is_ended_leaves_nothing)
{
    for (int const signal : {SIGTERM, SIGINT, SIGHUP}) {
        program p{{"bench", "--bootstrap", "--time", "10m"}, environment()};
        BOOST_TEST_REQUIRE(eventually([&] { return all[0].command({"KEYS", "redlock:bench:*"}) != ""; }), p.errors());
        p.send(signal);
        BOOST_TEST(p.wait() == 128 + signal, p.errors());
        for (auto& s : all) BOOST_TEST(s.command({"KEYS", "redlock:bench:*"}) == "");
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
