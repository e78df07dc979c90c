#include "support/instruction_counter.hpp"
#include "support/skipped.hpp"

#include <boost/test/unit_test.hpp>

using redlock::testing::instruction_counter;

BOOST_AUTO_TEST_SUITE(instruction_counter_tests)

namespace {

// At least two instructions each time.
void work(int times)
{
    for (int i = 0; i < times; ++i) asm volatile("" ::: "memory");
}

}  // namespace

BOOST_AUTO_TEST_CASE(it_counts_what_lies_between_resume_and_pause)
{
    instruction_counter const counter;
    if (!counter.counts()) {
        BOOST_TEST(!counter.total());
        return redlock::testing::skipped("instructions cannot be counted by perf_event_open");
    }
    work(1'000'000);
    BOOST_TEST(counter.total().value() == 0);
    counter.resume();
    work(1'000'000);
    counter.pause();
    auto const once = counter.total().value();
    BOOST_TEST(once >= 2'000'000);
    BOOST_TEST(once < 20'000'000);
    work(1'000'000);
    BOOST_TEST(counter.total().value() == once);
    counter.resume();
    work(1'000'000);
    counter.pause();
    BOOST_TEST(counter.total().value() >= 2 * once - once / 10);
}

BOOST_AUTO_TEST_SUITE_END()
