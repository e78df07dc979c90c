// Ready-made observers of several clients on several threads, while somebody reads. Also run under ThreadSanitizer.
#include "unit/observer_support.hpp"

#include <redlock/json_log.hpp>
#include <redlock/prometheus.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace redlock::testing {
namespace {

constexpr int rounds = 300;

void tell_from_three_threads(observer& o)
{
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; ++i)
        clients.emplace_back([&o] {
            for (int n = 0; n < rounds; ++n) tell_everything(o);
        });
    for (auto& each : clients) each.join();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(observer_threads)

BOOST_AUTO_TEST_CASE(metrics_are_read_while_they_grow)
{
    prometheus p;
    std::size_t read = 0;
    std::thread scraper{[&] {
        for (int n = 0; n < rounds; ++n) read += p.text().size();
    }};
    tell_from_three_threads(p);
    scraper.join();
    BOOST_TEST(read > 0u);
    BOOST_TEST(p.text().find("redlock_self_deadlocks_total " + std::to_string(3 * rounds) + "\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(lines_stay_whole)
{
    std::string told;
    json_log log{[&](std::string_view line) { told += line; }};
    tell_from_three_threads(log);
    BOOST_TEST(std::count(told.begin(), told.end(), '\n') == static_cast<std::ptrdiff_t>(3 * rounds * kinds_of_events));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
