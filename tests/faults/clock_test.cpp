// A server's wall clock, as the preloaded library has it.
#include "faults/clock_file.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <poll.h>

namespace redlock::faults {

namespace {

using namespace std::chrono_literals;

struct server_with_a_clock {
    testing::temporary_folder folder;
    clock_file clock{folder.path() / "clock"};
    testing::redis_server server{{.under = clock.under()}};

    // How far it is ahead of ours, give or take the time that it takes to ask.
    std::chrono::milliseconds ahead() const
    {
        auto const time = server.ask({"TIME"}).items;
        auto const theirs = std::chrono::seconds{std::stoll(time[0])} + std::chrono::microseconds{std::stoll(time[1])};
        return std::chrono::duration_cast<std::chrono::milliseconds>(theirs - std::chrono::system_clock::now().time_since_epoch());
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fault_clocks)

BOOST_FIXTURE_TEST_CASE(is_right_until_it_is_told_otherwise, server_with_a_clock) { BOOST_TEST((std::chrono::abs(ahead()) < 1s)); }

BOOST_FIXTURE_TEST_CASE(a_step_forward_ends_a_lock_early, server_with_a_clock)
{
    BOOST_TEST(server.command({"SET", "lock", "holder", "NX", "PX", "30000"}) == "OK");
    BOOST_TEST(server.command({"SET", "lock", "rival", "NX", "PX", "30000"}) == "(nil)");
    clock.step(40s);
    BOOST_TEST((std::chrono::abs(ahead() - 40s) < 1s));
    BOOST_TEST(server.command({"SET", "lock", "rival", "NX", "PX", "30000"}) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_step_back_outlives_a_restart, server_with_a_clock)
{
    clock.step(-10s);
    server.restart();
    BOOST_TEST((std::chrono::abs(ahead() + 10s) < 1s));
    clock.step(10s);
    BOOST_TEST((std::chrono::abs(ahead()) < 1s));
}

BOOST_FIXTURE_TEST_CASE(a_slewed_clock_keeps_what_it_gained, server_with_a_clock)
{
    clock.slew(9'000'000);  // ten times as fast
    ::poll(nullptr, 0, 300);
    clock.slew(0);
    auto const gained = ahead();
    BOOST_TEST((gained >= 2700ms - 1s));  // the time that ahead() takes to ask counts against it
    BOOST_TEST((std::chrono::abs(ahead() - gained) < 1s));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::faults
