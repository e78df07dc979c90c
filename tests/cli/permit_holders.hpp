// A semaphore that others hold permits of, by redlock run --permits.
#ifndef REDLOCK_TESTS_CLI_PERMIT_HOLDERS_HPP
#define REDLOCK_TESTS_CLI_PERMIT_HOLDERS_HPP

#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

namespace redlock::testing {

inline arguments const holds_permit{"sh", "-c", "echo \"slot $REDLOCK_SLOT token $REDLOCK_TOKEN of $REDLOCK_NAME\"; exec sleep 60"};

inline arguments permits(std::string const& number, arguments more = {})
{
    arguments all{"--permits", number};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

// The slot that a holder's command has said; empty: it does not run yet.
inline std::string slot_of_holder(program const& holder)
{
    auto const text = holder.output();
    return text.starts_with("slot ") && text.ends_with('\n') ? text.substr(5, text.find(" token") - 5) : "";
}

// Two that hold permits of the semaphore "exports", which has three.
struct two_holders : servers {
    two_holders()
        : servers{3},
          one{run("exports", permits("3", {"--label", "first"}), holds_permit), environment()},
          two{run("exports", permits("3", {"--ttl", "3s"}), holds_permit), environment()}
    {
        for (program* each : {&one, &two}) BOOST_TEST_REQUIRE(eventually([&] { return !slot_of_holder(*each).empty(); }), each->errors());
        for (program* each : {&one, &two})
            BOOST_TEST_REQUIRE(eventually([&] { return count_with("exports#" + slot_of_holder(*each)) == 3u; }));
    }

    nlohmann::json seen()
    {
        program p{{"semaphore", "exports", "--json"}, environment()};
        BOOST_TEST(p.wait() == 0, p.errors());
        return p.json();
    }

    program one;
    program two;
};

}  // namespace redlock::testing

#endif
