#include <redlock/clock.hpp>

#include <boost/test/unit_test.hpp>

namespace redlock {

BOOST_AUTO_TEST_SUITE(clock)

BOOST_AUTO_TEST_CASE(the_clock_never_goes_back)
{
    boot_clock::time_point last = boot_clock::now();
    bool moved = false;
    for (int i = 0; i < 100'000; ++i) {
        auto const now = boot_clock::now();
        BOOST_TEST_REQUIRE((now >= last));
        moved = moved || now > last;
        last = now;
    }
    BOOST_TEST(moved);
}

BOOST_AUTO_TEST_CASE(the_epoch_is_in_the_past) { BOOST_TEST((boot_clock::now() > boot_clock::time_point{})); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
