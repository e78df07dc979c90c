// How long nobody acquired, over a history that is made up.
#include "faults/group_table.hpp"

#include <boost/test/unit_test.hpp>

#include <sstream>

namespace redlock::faults {

namespace {

using namespace std::chrono_literals;

moment moment_of(milliseconds t) { return moment{1h + t}; }

struct a_failover {
    history what;
    group_fault_record fault{group_fault::primary_killed,
                             moment_of(1'000ms),
                             moment_of(9'000ms),
                             {{moment_of(3'000ms), moment_of(9'000ms)}}};

    a_failover() { what.workers.resize(2); }

    void acquired(std::size_t worker, milliseconds held)
    {
        lease_record l;
        l.held = moment_of(held);
        what.workers[worker].leases.push_back(l);
    }

    group_stops stops() const { return stops_by_kind(what, {fault})[static_cast<std::size_t>(group_fault::primary_killed)]; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(stops_of_a_group, a_failover)

BOOST_AUTO_TEST_CASE(the_longest_stop_is_between_acquisitions_of_anybody)
{
    acquired(0, 900ms);
    acquired(1, 1'100ms);
    acquired(0, 5'000ms);
    acquired(1, 8'500ms);
    auto const s = stops();
    BOOST_TEST(s.times == 1u);
    BOOST_TEST(s.acquired == 3u);
    BOOST_TEST((s.longest == 3'900ms));
    BOOST_TEST((s.max_without == 2'000ms));
}

BOOST_AUTO_TEST_CASE(time_without_a_primary_that_has_a_replica_does_not_count)
{
    acquired(0, 1'100ms);
    acquired(0, 5'000ms);
    acquired(0, 6'000ms);
    acquired(0, 8'000ms);
    BOOST_TEST((stops().longest_beyond == 2'000ms));
}

BOOST_AUTO_TEST_CASE(a_stop_lasts_until_the_end_when_nobody_acquires_any_more)
{
    acquired(0, 1'100ms);
    auto const s = stops();
    BOOST_TEST((s.longest == 7'900ms));
    BOOST_TEST((s.longest_beyond == 6'000ms));
}

BOOST_AUTO_TEST_CASE(a_second_failover_begins_anew)
{
    fault.could_go_on = {{moment_of(3'000ms), moment_of(4'000ms)}, {moment_of(4'500ms), moment_of(9'000ms)}};
    acquired(0, 1'100ms);
    acquired(0, 7'500ms);
    auto const s = stops();
    BOOST_TEST((s.longest_beyond == 3'000ms));
    BOOST_TEST((s.max_without == 2'500ms));
}

BOOST_AUTO_TEST_CASE(losses_count_while_it_lasts)
{
    acquired(0, 1'100ms);
    auto& l = what.workers[0].leases[0];
    l.lost = true;
    l.over = moment_of(2'000ms);
    BOOST_TEST(stops().lost == 1u);
    l.over = moment_of(9'500ms);
    BOOST_TEST(stops().lost == 0u);
}

BOOST_AUTO_TEST_CASE(the_table_has_the_rows_that_were_to_be_there)
{
    std::ostringstream out;
    print_stops(out, {group_fault::machine_lost}, stops_by_kind(what, {fault}));
    BOOST_TEST(out.str().find("machine lost") != std::string::npos);
    BOOST_TEST(out.str().find("primary killed") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::faults
