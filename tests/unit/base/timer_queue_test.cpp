#include "base/timer_queue.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <vector>

namespace {

using namespace redlock::detail;
using namespace std::chrono_literals;

struct bell final : redlock::detail::timer {
    void on_timer(time_point now) override { rang_at = now; }
    bool may_come_early(time_point) const override { return flexible; }
    time_point rang_at{};
    bool flexible{false};
};

time_point const start{1h};

}  // namespace

BOOST_AUTO_TEST_SUITE(alarms_heap)

BOOST_AUTO_TEST_CASE(come_in_the_order_of_their_moments)
{
    timer_queue heap;
    bell late, early, middle;
    heap.set(late, start + 3s);
    heap.set(early, start + 1s);
    heap.set(middle, start + 2s);
    BOOST_TEST((heap.next() == start + 1s));
    BOOST_TEST(heap.pop_due(start) == nullptr);
    BOOST_TEST(heap.pop_due(start + 5s) == &early);
    BOOST_TEST(heap.pop_due(start + 5s) == &middle);
    BOOST_TEST(heap.pop_due(start + 5s) == &late);
    BOOST_TEST(heap.pop_due(start + 5s) == nullptr);
    BOOST_TEST(!late.is_set());
}

BOOST_AUTO_TEST_CASE(can_be_moved_and_cancelled)
{
    timer_queue heap;
    bell a, b;
    heap.set(a, start + 1s);
    heap.set(b, start + 2s);
    heap.set(a, start + 3s);
    BOOST_TEST(heap.size() == 2u);
    BOOST_TEST((heap.next() == start + 2s));
    heap.cancel(b);
    heap.cancel(b);
    BOOST_TEST(!b.is_set());
    BOOST_TEST(heap.pop_due(start + 2s) == nullptr);
    BOOST_TEST(heap.pop_due(start + 3s) == &a);
    BOOST_TEST(heap.empty());
}

BOOST_AUTO_TEST_CASE(only_flexible_ones_come_early)
{
    timer_queue heap;
    bell first, second;
    first.flexible = true;
    heap.set(first, start + 1s);
    heap.set(second, start + 2s);
    BOOST_TEST(heap.pop_early(start) == &first);
    BOOST_TEST(heap.pop_early(start) == nullptr);
    heap.clear();
    BOOST_TEST(!second.is_set());
}

BOOST_AUTO_TEST_CASE(agree_with_a_sorted_list_after_any_mixture_of_changes)
{
    std::minstd_rand random{7};
    timer_queue heap;
    std::vector<std::unique_ptr<bell>> bells;
    std::vector<time_point> expected(200, time_point::max());  // the maximum: not set
    for (std::size_t i = 0; i < expected.size(); ++i) bells.push_back(std::make_unique<bell>());
    for (int change = 0; change < 20'000; ++change) {
        std::size_t const i = random() % bells.size();
        if (random() % 3 == 0) {
            heap.cancel(*bells[i]);
            expected[i] = time_point::max();
        } else {
            // Those of a crowd are close together, others are not.
            bool const with_a_crowd = change / 1'000 % 2 == 0;
            expected[i] = with_a_crowd ? start + std::chrono::microseconds{(random() % 3) * 300'000 + static_cast<unsigned>(change)}
                                       : start + std::chrono::milliseconds{random() % 1000};
            heap.set(*bells[i], expected[i]);
        }
        auto const earliest = *std::min_element(expected.begin(), expected.end());
        bool const none = earliest == time_point::max();
        BOOST_REQUIRE(heap.empty() == none);
        if (!none) BOOST_REQUIRE((heap.next() == earliest));
    }
    heap.clear();
}

BOOST_AUTO_TEST_SUITE_END()
