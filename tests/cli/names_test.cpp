// A name of a node that is never resolved: the command works with the others, and ends when it is told to.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <string>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

// Two nodes have addresses, the third a name.
struct one_hung_name : servers {
    program_options hung_environment() const
    {
        auto const urls = all[0].url() + ',' + all[1].url() + ",redis://hung.test:" + std::to_string(all[2].port());
        return {{{"REDLOCK_NODES", urls}, {"LD_PRELOAD", REDLOCK_NAME_SERVICE}, {"REDLOCK_TEST_NAMES", "hung.test=hang"}}};
    }

    std::chrono::milliseconds took() const
    {
        return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
    }

    std::chrono::steady_clock::time_point const began{std::chrono::steady_clock::now()};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(names, one_hung_name)

BOOST_AUTO_TEST_CASE(a_command_runs_under_the_votes_of_the_others_and_ends_at_once)
{
    program p{run("job", {"--no-fencing"}, {"echo", "done"}), hung_environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(p.output() == "done\n");
    BOOST_TEST(took().count() < 3'000);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_a_command_that_waits)
{
    set_everywhere("job", "foreign");
    program p{run("job", {"-v", "--no-fencing"}, {"echo", "never"}), hung_environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.errors(), "waiting"); }), p.errors());
    auto const before = took();
    p.send(SIGTERM);
    BOOST_TEST(p.wait() == 128 + SIGTERM);
    BOOST_TEST((took() - before).count() < 2'000);
}

BOOST_AUTO_TEST_CASE(inspect_shows_the_others_and_why_one_is_missing)
{
    program p{{"inspect", "job", "--timeout", "300ms"}, hung_environment()};
    p.wait();
    BOOST_TEST(contains(p.output(), "job: free"), p.output() << p.errors());
    BOOST_TEST(contains(p.output(), "no connection within"), p.output());
    BOOST_TEST(took().count() < 3'000);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
