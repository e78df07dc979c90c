#include "quorum_support.hpp"

#include <boost/test/unit_test.hpp>

namespace redlock::quorum {

namespace {

timing of_ttl(std::chrono::milliseconds ttl)
{
    lock_options options;
    options.ttl = ttl;
    return make_timing(options);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(default_times)

BOOST_AUTO_TEST_CASE(the_defaults_of_ten_seconds)
{
    timing const t = make_timing({});
    BOOST_TEST(ns{t.ttl} == ns{10s});
    BOOST_TEST(ns{t.validity} == ns{9'898ms});
    BOOST_TEST(ns{t.node_timeout} == ns{500ms});
    BOOST_TEST(ns{t.extend_interval} == ns{duration{10s} / 3});
    BOOST_TEST(ns{t.stop_margin} == ns{1s});
    BOOST_TEST(!t.max_hold.has_value());
    BOOST_TEST(t.auto_extend);
}

BOOST_AUTO_TEST_CASE(the_node_timeout_is_a_twentieth_of_the_ttl_within_bounds)
{
    BOOST_TEST(ns{of_ttl(10ms).node_timeout} == ns{5ms});
    BOOST_TEST(ns{of_ttl(100ms).node_timeout} == ns{5ms});
    BOOST_TEST(ns{of_ttl(120ms).node_timeout} == ns{6ms});
    BOOST_TEST(ns{of_ttl(2s).node_timeout} == ns{100ms});
    BOOST_TEST(ns{of_ttl(9'980ms).node_timeout} == ns{499ms});
    BOOST_TEST(ns{of_ttl(10s).node_timeout} == ns{500ms});
    BOOST_TEST(ns{of_ttl(10min).node_timeout} == ns{500ms});
}

BOOST_AUTO_TEST_CASE(extensions_come_after_a_third_and_the_margin_is_a_tenth)
{
    for (auto ttl : {10ms, 90ms, 3'000ms, 30'000ms}) {
        BOOST_TEST(ns{of_ttl(ttl).extend_interval} == ns{duration{ttl} / 3});
        BOOST_TEST(ns{of_ttl(ttl).stop_margin} == ns{duration{ttl} / 10});
    }
}

BOOST_AUTO_TEST_CASE(chosen_times_replace_the_defaults)
{
    lock_options options;
    options.ttl = 20s;
    options.node_timeout = 50ms;
    options.extend_interval = 4s;
    options.stop_margin = 0ms;
    options.max_hold = 1h;
    options.auto_extend = false;
    timing const t = make_timing(options);
    BOOST_TEST(ns{t.node_timeout} == ns{50ms});
    BOOST_TEST(ns{t.extend_interval} == ns{4s});
    BOOST_TEST(ns{t.stop_margin} == ns{0ms});
    BOOST_TEST(ns{t.max_hold.value()} == ns{1h});
    BOOST_TEST(!t.auto_extend);
}

BOOST_AUTO_TEST_CASE(validity_is_the_ttl_less_drift_and_two_milliseconds)
{
    BOOST_TEST(ns{validity_of(10s, 0.0)} == ns{9'998ms});
    BOOST_TEST(ns{validity_of(10s, 0.25)} == ns{7'498ms});
    BOOST_TEST(ns{validity_of(10s, 0.5)} == ns{4'998ms});
    BOOST_TEST(ns{validity_of(10ms, 0.5)} == ns{3ms});
    BOOST_TEST(ns{validity_of(30 * 24h, 0.5)} == ns{15 * 24h - 2ms});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
