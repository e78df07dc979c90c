// What shows that several servers answer at one address.
#include "node/connection/address_watch.hpp"
#include "redlock/clock.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <string>

namespace redlock::detail {
namespace {

using namespace std::chrono_literals;

struct an_address {
    address_watch watch;
    quorum::time_point now{1h};

    void meet(std::string const& id, std::optional<std::chrono::seconds> uptime) { watch.met(id, uptime, now); }

    bool is_doubted() const { return watch.words().find("several servers answer at this address") != std::string::npos; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(addresses, an_address)

BOOST_AUTO_TEST_CASE(the_same_server_again)
{
    for (int i = 0; i < 3; ++i) {
        meet("a", 10min);
        now += 1min;
    }
    BOOST_TEST(watch.words().empty());
}

BOOST_AUTO_TEST_CASE(a_server_that_ran_beside_the_other_one)
{
    meet("a", 10min);
    now += 1min;
    watch.answered(now);
    now += 1min;
    meet("b", 70s);
    BOOST_TEST(is_doubted());
    BOOST_TEST(watch.words().find("b ran already while a answered here") != std::string::npos, watch.words());
}

// However often, and however late it is noticed that the old one is gone.
BOOST_AUTO_TEST_CASE(a_server_that_restarts)
{
    for (std::string const id : {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k"}) {
        meet(id, 0s);
        now += 1min;
        watch.answered(now);
        now += 20s;
        meet(id + " again", 19s);
        now += 1s;
    }
    BOOST_TEST(watch.words().empty(), watch.words());
}

BOOST_AUTO_TEST_CASE(clocks_that_differ_a_little)
{
    meet("a", 10min);
    now += 10s;
    watch.answered(now);
    now += 1s;
    meet("b", 2s);
    BOOST_TEST(watch.words().empty());
}

// As where the first ones had been started a moment before.
BOOST_AUTO_TEST_CASE(a_server_that_comes_back)
{
    meet("a", 0s);
    now += 1s;
    meet("b", 0s);
    BOOST_TEST(watch.words().empty());
    now += 1s;
    meet("a", std::nullopt);
    BOOST_TEST(is_doubted());
}

BOOST_AUTO_TEST_CASE(servers_that_do_not_say_who_they_are)
{
    meet("a", 10min);
    meet("", 10min);
    meet("a", 10min);
    meet("", std::nullopt);
    BOOST_TEST(watch.words().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
