// What a command plans, and does to the servers of set_clients.hpp.
#ifndef REDLOCK_TESTS_UNIT_QUORUM_SET_COMMANDS_HPP
#define REDLOCK_TESTS_UNIT_QUORUM_SET_COMMANDS_HPP

#include "set_clients.hpp"

#include "quorum/sets/set_change.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace redlock::quorum {

inline std::vector<server_view> looks(servers const& all)
{
    std::vector<server_view> views;
    for (auto const& [name, s] : all) {
        server_view v{name, node_facts{}, ""};
        v.facts->id = s.bound_id();
        v.facts->admitted = s.admitted ? s.bound_id() : "";
        v.facts->set = s.set;
        v.facts->high_water = s.high_water;
        if (!s.reachable) v.facts.reset(), v.problem = "no connection";
        views.push_back(v);
    }
    return views;
}

// Carries out so many steps of a plan.
inline void take(servers& all, set_change const& plan, std::size_t most = 10)
{
    auto const views = looks(all);
    BOOST_TEST_REQUIRE(plan.why() == "");
    for (std::size_t i = 0; i < std::min(most, plan.steps().size()); ++i) {
        auto& s = all.at(views[plan.steps()[i].server].member);
        BOOST_TEST_REQUIRE(s.set == plan.steps()[i].expected);
        s.set = plan.steps()[i].text;
        s.admitted = s.admitted && plan.steps()[i].stays;
        s.high_water = std::max(s.high_water, plan.base());
    }
}

// What the command does next, once all members are in the present generation and know it.
inline set_change planned(servers& all, wanted_change const& wanted)
{
    for (int i = 0; i < 3; ++i) {
        set_change const plan{looks(all), wanted};
        if (plan.refused() != set_change::refusal::none || plan.steps().empty() || !plan.after().is_same_generation(plan.before()))
            return plan;
        take(all, plan);
    }
    BOOST_FAIL("it does not end");
    throw 0;
}

}  // namespace redlock::quorum

#endif
