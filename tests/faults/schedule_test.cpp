// The schedule: the same for the same seed, complete, and within the bounds of each fault.
#include "faults/schedule.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace redlock::faults {

BOOST_AUTO_TEST_SUITE(fault_schedule)

namespace {

std::vector<fault_kind> everything() { return {all_fault_kinds().begin(), all_fault_kinds().end()}; }

std::vector<phase> phases(std::uint64_t seed, std::size_t count)
{
    schedule s{seed, everything()};
    std::vector<phase> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(s.next());
    return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(is_a_function_of_the_seed)
{
    BOOST_TEST((phases(7, 500) == phases(7, 500)));
    BOOST_TEST((phases(7, 500) != phases(8, 500)));
}

BOOST_AUTO_TEST_CASE(begins_with_each_fault_once_and_alone)
{
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        std::set<fault_kind> seen;
        for (auto const& p : phases(seed, fault_kind_count)) {
            BOOST_TEST_REQUIRE(p.faults.size() == 1u);
            seen.insert(p.faults[0].kind);
        }
        BOOST_TEST(seen.size() == fault_kind_count);
    }
}

BOOST_AUTO_TEST_CASE(takes_so_little_time_that_a_minute_is_enough_for_each)
{
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        milliseconds sum{0};
        for (auto const& p : phases(seed, fault_kind_count)) sum += p.faults[0].length + p.settle;
        BOOST_TEST(sum < milliseconds{35'000});  // what else it takes: starts of servers, and eleven drains
    }
}

BOOST_AUTO_TEST_CASE(keeps_the_bounds_of_each_fault)
{
    std::map<fault_kind, std::set<std::size_t>> sizes;
    for (auto const& p : phases(1, 5'000)) {
        for (auto const& f : p.faults) {
            auto const& t = traits(f.kind);
            BOOST_TEST(f.nodes.size() >= t.min_nodes);
            BOOST_TEST(f.nodes.size() <= t.max_nodes);
            BOOST_TEST((f.length >= t.min_length && f.length <= t.max_length));
            BOOST_TEST((f.size >= t.min_size && f.size <= t.max_size));
            BOOST_TEST(std::ranges::is_sorted(f.nodes));
            BOOST_TEST((std::set(f.nodes.begin(), f.nodes.end()).size() == f.nodes.size()));
            BOOST_TEST(std::ranges::all_of(f.nodes, [](std::size_t n) { return n < node_count; }));
            BOOST_TEST(f.worker < worker_count);
            sizes[f.kind].insert(f.nodes.size());
        }
    }
    BOOST_TEST((sizes[fault_kind::cut] == std::set<std::size_t>{1, 2, 3, 4, 5}));
}

BOOST_AUTO_TEST_CASE(two_faults_at_once_leave_a_majority_alone)
{
    std::size_t pairs = 0;
    for (auto const& p : phases(3, 5'000)) {
        if (p.faults.size() < 2) continue;
        ++pairs;
        BOOST_TEST_REQUIRE(p.faults.size() == 2u);
        std::set<std::size_t> nodes;
        std::size_t hits = 0;
        for (auto const& f : p.faults) {
            nodes.insert(f.nodes.begin(), f.nodes.end());
            hits += f.nodes.size();
        }
        BOOST_TEST(nodes.size() == hits);
        BOOST_TEST(hits <= 2u);
        BOOST_TEST((p.faults[0].kind != p.faults[1].kind));
        BOOST_TEST(hits > 0u);  // not two of the workers' faults
        BOOST_TEST(std::ranges::count_if(p.faults, [](fault const& f) {
                       return f.kind == fault_kind::replica_attached || f.kind == fault_kind::demoted;  // there is one spare server
                   }) < 2);
    }
    BOOST_TEST(pairs > 100u);
}

BOOST_AUTO_TEST_CASE(kills_the_server_that_the_fault_is_named_after)
{
    for (auto const& p : phases(4, 3'000)) {
        for (auto const& f : p.faults) {
            if (f.kind == fault_kind::kill_without_memory) BOOST_TEST((persistence_of[f.nodes[0]] == persistence::none));
            if (f.kind == fault_kind::kill_rdb) BOOST_TEST((persistence_of[f.nodes[0]] == persistence::rdb));
            if (f.kind == fault_kind::kill_everysec) BOOST_TEST((persistence_of[f.nodes[0]] == persistence::aof_everysec));
            if (f.kind == fault_kind::kill_always) BOOST_TEST((persistence_of[f.nodes[0]] == persistence::aof_always));
        }
    }
}

BOOST_AUTO_TEST_CASE(of_some_kinds_only)
{
    schedule s{1, {fault_kind::cut, fault_kind::late}};
    for (int i = 0; i < 100; ++i) {
        for (auto const& f : s.next().faults) BOOST_TEST((f.kind == fault_kind::cut || f.kind == fault_kind::late));
    }
    BOOST_CHECK_THROW((schedule{1, {}}), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::faults
