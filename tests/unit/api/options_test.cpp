#include "unit/message_support.hpp"

#include "quorum/timing.hpp"

#include <redlock/options.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <limits>
#include <stdexcept>

namespace redlock {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr auto largest = milliseconds::max();
constexpr auto smallest = milliseconds::min();

// The error text for the default options after one change; empty when they are fine.
template <class Change>
std::string problem_with_options(Change change)
{
    lock_options options;
    change(options);
    return message_of<std::invalid_argument>([&] { validate(options); });
}

// Each member by itself, with every value tried at its bounds and far beyond them.
template <class Member>
void check_bounds(std::string const& name, Member member, std::initializer_list<milliseconds> good, std::initializer_list<milliseconds> bad)
{
    for (milliseconds value : good) {
        auto const text = problem_with_options([&](lock_options& o) { o.*member = value; });
        BOOST_TEST(text.empty(), name << " = " << value.count() << " ms: " << text);
    }
    for (milliseconds value : bad) {
        auto const text = problem_with_options([&](lock_options& o) { o.*member = value; });
        BOOST_TEST_CONTEXT(name << " = " << value.count() << " ms")
        {
            BOOST_TEST(text.starts_with("lock_options::" + name + " is "), text);
            REDLOCK_TEST_CONTAINS(text, "; it must be ");
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(the_defaults_are_fine)
{
    BOOST_TEST(problem_with_options([](lock_options&) {}) == "");
}

BOOST_AUTO_TEST_CASE(ttl)
{
    check_bounds("ttl", &lock_options::ttl, {10ms, 11ms, 1min, 30 * 24h}, {9ms, 0ms, -1ms, 30 * 24h + 1ms, largest, smallest});
}

BOOST_AUTO_TEST_CASE(the_text_says_what_was_found_and_what_is_allowed)
{
    BOOST_TEST(problem_with_options([](lock_options& o) { o.ttl = 5ms; }) ==
               "lock_options::ttl is 5 ms; it must be between 10 ms and 30 days");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.ttl = 31 * 24h; }) ==
               "lock_options::ttl is 31 days; it must be between 10 ms and 30 days");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.node_timeout = 20s; }) ==
               "lock_options::node_timeout is 20 s; it must be between 1 ms and the ttl, which is 10 s");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.min_retry_delay = 90min; }) ==
               "lock_options::min_retry_delay is 90 min; it must be between 1 ms and max_retry_delay, which is 1 s");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.clock_drift = 0.75; }) ==
               "lock_options::clock_drift is 0.75; it must be between 0 and 0.5");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.stop_margin = 5s; }) ==
               "lock_options::stop_margin is 5 s; it must be 0 ms or more, and less than half the ttl, which is 10 s");
}

BOOST_AUTO_TEST_CASE(clock_drift)
{
    double const nan = std::numeric_limits<double>::quiet_NaN();
    double const infinity = std::numeric_limits<double>::infinity();
    for (double good : {0.0, 0.01, 0.5}) BOOST_TEST(problem_with_options([&](lock_options& o) { o.clock_drift = good; }) == "");
    for (double bad : {-0.001, 0.501, 1.0, infinity, -infinity, nan, 1e300}) {
        auto const text = problem_with_options([&](lock_options& o) { o.clock_drift = bad; });
        BOOST_TEST(text.starts_with("lock_options::clock_drift is "), "clock_drift = " << bad << ": " << text);
    }
}

BOOST_AUTO_TEST_CASE(node_timeout)
{
    check_bounds("node_timeout", &lock_options::node_timeout, {1ms, 500ms, 10s}, {0ms, -1ms, 10'001ms, largest, smallest});
}

BOOST_AUTO_TEST_CASE(acquire_timeout)
{
    check_bounds("acquire_timeout", &lock_options::acquire_timeout, {1ms, 24h, 365 * 24h}, {0ms, -1ms, 365 * 24h + 1ms, largest, smallest});
}

BOOST_AUTO_TEST_CASE(lock_delay)
{
    check_bounds("lock_delay", &lock_options::lock_delay, {0ms, 1ms, 1h}, {-1ms, 30 * 24h, largest, smallest});
    BOOST_TEST(problem_with_options([](lock_options& o) { o.ttl = 30 * 24h - 1s, o.lock_delay = 1s; }) == "");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.ttl = 30 * 24h - 1s, o.lock_delay = 1001ms; }) != "");
}

BOOST_AUTO_TEST_CASE(retry_delays)
{
    check_bounds("min_retry_delay", &lock_options::min_retry_delay, {1ms, 10ms, 1s}, {0ms, -1ms, 1'001ms, largest, smallest});
    check_bounds("max_retry_delay", &lock_options::max_retry_delay, {10ms, 1min, 24h}, {0ms, -1ms, 24h + 1ms, largest, smallest});
}

BOOST_AUTO_TEST_CASE(waiting_and_turns)
{
    check_bounds("poll_interval", &lock_options::poll_interval, {1ms, 5s, 24h}, {0ms, -1ms, 24h + 1ms, largest, smallest});
    check_bounds("max_local_hold", &lock_options::max_local_hold, {0ms, 100ms, 24h}, {-1ms, 24h + 1ms, largest, smallest});
    BOOST_TEST(problem_with_options([](lock_options& o) { o.max_handoffs = 0; }) == "");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.max_handoffs = 1'000'000; }) == "");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.max_handoffs = 1'000'001; }) ==
               "lock_options::max_handoffs is 1000001; it must be up to 1000000");
    BOOST_TEST((new_owner() != new_owner()));
    BOOST_TEST((new_owner() != owner_id{}));
}

BOOST_AUTO_TEST_CASE(a_minimum_may_equal_its_maximum_but_not_exceed_it)
{
    BOOST_TEST(problem_with_options([](lock_options& o) { o.min_retry_delay = o.max_retry_delay = 50ms; }) == "");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.min_retry_delay = 51ms, o.max_retry_delay = 50ms; }) != "");
}

BOOST_AUTO_TEST_CASE(extend_interval)
{
    check_bounds("extend_interval", &lock_options::extend_interval, {1ms, 3s, 5s}, {0ms, -1ms, 5'001ms, largest, smallest});
}

BOOST_AUTO_TEST_CASE(half_of_an_odd_ttl_is_exact)
{
    auto const with = [](milliseconds interval) {
        return problem_with_options([=](lock_options& o) { o.ttl = 1'001ms, o.extend_interval = interval; });
    };
    BOOST_TEST(with(500ms) == "");
    BOOST_TEST(with(501ms) != "");
}

BOOST_AUTO_TEST_CASE(stop_margin)
{
    check_bounds("stop_margin", &lock_options::stop_margin, {0ms, 1ms, 4'999ms}, {-1ms, 5s, 10s, 11s, largest, smallest});
}

BOOST_AUTO_TEST_CASE(a_margin_that_eats_the_whole_validity_is_refused)
{
    auto const text = problem_with_options([](lock_options& o) { o.ttl = 10ms, o.clock_drift = 0.5, o.stop_margin = 3ms; });
    BOOST_TEST(text == "lock_options::stop_margin is 3 ms; it must be less than the validity of a lease, which with this "
                       "ttl and clock_drift is 3 ms");
}

BOOST_AUTO_TEST_CASE(a_lease_that_would_be_given_up_before_its_first_extension_is_refused)
{
    auto const change = [](lock_options& o) { o.extend_interval = 5s, o.stop_margin = 4'998ms; };
    BOOST_TEST(problem_with_options(change) ==
               "lock_options::extend_interval is 5 s; it must be less than the time after which a lease is given up, which "
               "with this ttl, clock_drift and stop_margin is 4900 ms");
    BOOST_TEST(problem_with_options([&](lock_options& o) { change(o), o.auto_extend = false; }) == "");
    BOOST_TEST(problem_with_options([&](lock_options& o) { change(o), o.extend_interval = 4s; }) == "");
}

BOOST_AUTO_TEST_CASE(a_default_interval_that_comes_too_late_says_that_it_is_the_default)
{
    auto const text = problem_with_options([](lock_options& o) { o.clock_drift = 0.5, o.stop_margin = 2s; });
    REDLOCK_TEST_CONTAINS(text, "lock_options::extend_interval is 3333 ms (by default ttl/3); it must be less than");
}

BOOST_AUTO_TEST_CASE(max_hold)
{
    check_bounds("max_hold", &lock_options::max_hold, {1ms, 1h, 365 * 24h}, {0ms, -1ms, 365 * 24h + 1ms, largest, smallest});
}

BOOST_AUTO_TEST_CASE(token_block)
{
    for (std::uint32_t const good : {1u, 64u, 1'000'000u})
        BOOST_TEST(problem_with_options([=](lock_options& o) { o.token_block = good; }) == "");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.token_block = 0; }) ==
               "lock_options::token_block is 0; it must be between 1 and 1000000");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.token_block = 1'000'001; }) ==
               "lock_options::token_block is 1000001; it must be between 1 and 1000000");
}

BOOST_AUTO_TEST_CASE(any_number_of_attempts_is_fine)
{
    BOOST_TEST(problem_with_options([](lock_options& o) { o.max_attempts = 0; }) == "");
    BOOST_TEST(problem_with_options([](lock_options& o) { o.max_attempts = 0xffff'ffff; }) == "");
}

BOOST_AUTO_TEST_CASE(whatever_is_accepted_leaves_time_to_act_and_to_extend)
{
    int accepted = 0;
    for (auto ttl : {10ms, 11ms, 25ms, 100ms, 10'000ms, 2'592'000'000ms})
        for (double drift : {0.0, 0.01, 0.3, 0.5})
            for (int margin = -1; margin < 10; ++margin)
                for (int interval = -1; interval < 10; ++interval) {
                    lock_options options{.ttl = ttl, .clock_drift = drift};
                    if (margin >= 0) options.stop_margin = ttl * margin / 20;
                    if (interval >= 0) options.extend_interval = ttl * interval / 20;
                    if (message_of<std::invalid_argument>([&] { validate(options); }) != "") continue;
                    ++accepted;
                    auto const t = quorum::make_timing(options);
                    BOOST_TEST_REQUIRE((t.stop_margin < t.validity && t.validity < t.ttl));
                    BOOST_TEST_REQUIRE((t.extend_interval > 0ms && t.extend_interval < t.validity - t.stop_margin));
                }
    BOOST_TEST(accepted > 500);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
