// A server's wall clock, as the preloaded library has it.
#include "faults/clock_file.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>

#include <poll.h>

namespace redlock::faults {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

void wait_for(milliseconds time) { ::poll(nullptr, 0, static_cast<int>(time.count())); }

struct server_with_a_clock {
    testing::temporary_folder folder;
    clock_file clock{folder.path() / "clock"};
    testing::redis_server server{{.under = clock.under()}};

    // How far its clock is ahead of ours; too small by at most the time that asking takes.
    milliseconds ahead() const
    {
        auto const time = server.ask({"TIME"}).items;
        auto const theirs = std::chrono::seconds{std::stoll(time[0])} + std::chrono::microseconds{std::stoll(time[1])};
        return std::chrono::duration_cast<milliseconds>(theirs - std::chrono::system_clock::now().time_since_epoch());
    }

    // Give or take the time that asking takes on a busy machine.
    bool is_ahead_by(milliseconds expected) const { return std::chrono::abs(ahead() - expected) < max_asking; }

    static constexpr milliseconds max_asking{1'000};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fault_clocks)

BOOST_FIXTURE_TEST_CASE(is_right_until_it_is_told_otherwise, server_with_a_clock) { BOOST_TEST(is_ahead_by(0s)); }

BOOST_FIXTURE_TEST_CASE(a_step_forward_ends_a_lock_early, server_with_a_clock)
{
    BOOST_TEST(server.command({"SET", "lock", "holder", "NX", "PX", "30000"}) == "OK");
    BOOST_TEST(server.command({"SET", "lock", "rival", "NX", "PX", "30000"}) == "(nil)");
    clock.step(40s);
    BOOST_TEST(is_ahead_by(40s));
    BOOST_TEST(server.command({"SET", "lock", "rival", "NX", "PX", "30000"}) == "OK");
}

BOOST_FIXTURE_TEST_CASE(a_step_back_outlives_a_restart, server_with_a_clock)
{
    clock.step(-10s);
    server.restart();
    BOOST_TEST(is_ahead_by(-10s));
    clock.step(10s);
    BOOST_TEST(is_ahead_by(0s));
}

BOOST_FIXTURE_TEST_CASE(a_slewed_clock_keeps_what_it_gained, server_with_a_clock)
{
    clock.slew(9'000'000);  // ten times as fast
    wait_for(300ms);
    clock.slew(0);
    auto const gained = ahead();
    BOOST_TEST((gained >= 2'700ms - max_asking));
    wait_for(300ms);  // in which a clock that is still fast gains 2.7 s more
    BOOST_TEST(is_ahead_by(gained));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::faults
