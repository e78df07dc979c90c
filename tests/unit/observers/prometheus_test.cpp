// The metrics, read by a strict reader; and the dashboard, which may only ask for what is there.
#include "support/exposition_reader.hpp"
#include "unit/observer_support.hpp"

#include <redlock/prometheus.hpp>

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>
#include <limits>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace redlock::testing {
namespace {

using labels = exposition::labels;

exposition read(prometheus const& p) { return exposition{p.text()}; }

event::acquired after(std::chrono::nanoseconds waited, std::string_view lock = "resource")
{
    return {.at = noon, .lock = lock, .waited = waited};
}

// Every string under a key "expr", however deep.
void collect_expressions(nlohmann::json const& in, std::vector<std::string>& out)
{
    if (in.is_object() && in.contains("expr")) out.push_back(in.at("expr").get<std::string>());
    if (in.is_structured())
        for (auto const& each : in) collect_expressions(each, out);
}

std::string observing_page()
{
    std::ifstream file{REDLOCK_OBSERVING};
    BOOST_REQUIRE(file);
    return {std::istreambuf_iterator<char>{file}, {}};
}

template <class... Events>
std::vector<std::string_view> names_of(std::variant<Events...> const&)
{
    return {Events::name...};
}

bool is_name_of_an_error(std::string_view name)
{
    for (int value = 1; value < 100; ++value)
        if (char const* const known = to_string(static_cast<errc>(value)); known != nullptr && name == known) return true;
    return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prometheus_text)

BOOST_AUTO_TEST_CASE(the_reader_is_strict)
{
    std::string const head = "# HELP a_total b\n# TYPE a_total counter\n";
    BOOST_CHECK_NO_THROW(exposition{head + "a_total{x=\"1\",y=\"\\\\ \\n \\\"\"} 2.5\n"});
    for (std::string const& wrong :
         {std::string{"a_total 1\n"}, head + "a_total 1", head + "a_total{x=1} 1\n", head + "a_total{x=\"1\"}1\n", head + "a_total one\n",
          head + "b_total 1\n", head + "a_total -1\n", head + "a_total 1\na_total 1\n", head + "a_total{x=\"\\t\"} 1\n",
          head + "a_total{x=\"1\",x=\"2\"} 1\n", head + "a_total{} 1\n", head + head, std::string{"# TYPE a_total counter\n"},
          std::string{"# HELP a b\n# TYPE a counter\n"}, std::string{"# HELP a b\n"},
          std::string{"# HELP h b\n# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n"},
          std::string{"# HELP h b\n# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n"},
          std::string{"# HELP h b\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\nh_count 1\n"}})
        BOOST_CHECK_THROW(exposition{wrong}, std::runtime_error);
}

BOOST_AUTO_TEST_CASE(what_has_not_happened_is_zero)
{
    prometheus const p;
    auto const e = read(p);
    BOOST_TEST(e.value("redlock_acquisitions_total", {{"outcome", "acquired"}}) == 0);
    BOOST_TEST(e.value("redlock_leases_lost_total", {{"reason", "lease_lost"}}) == 0);
    BOOST_TEST(e.value("redlock_acquire_seconds_count") == 0);
    BOOST_TEST(e.value("redlock_leases") == 0);
    BOOST_TEST(e.value("redlock_events_dropped_total") == 0);
}

BOOST_AUTO_TEST_CASE(each_event_counts)
{
    prometheus p;
    auto const before = p.text();
    tell_everything(p);
    auto const e = read(p);
    BOOST_TEST(e.value("redlock_acquisitions_total", {{"outcome", "acquired"}}) == 1);
    BOOST_TEST(e.value("redlock_acquisitions_total", {{"outcome", "acquire_timed_out"}}) == 1);
    BOOST_TEST(e.value("redlock_attempts_failed_total", {{"reason", "contended"}}) == 1);
    BOOST_TEST(e.value("redlock_attempts_failed_total", {{"reason", "no_majority"}}) == 1);
    BOOST_TEST(e.value("redlock_self_deadlocks_total") == 1);
    BOOST_TEST(e.value("redlock_extensions_total", {{"outcome", "renewed"}}) == 1);
    BOOST_TEST(e.value("redlock_extensions_total", {{"outcome", "unknown"}}) == 1);
    BOOST_TEST(e.value("redlock_leases_lost_total", {{"reason", "lease_lost"}}) == 1);
    BOOST_TEST(e.value("redlock_releases_total", {{"outcome", "lease_lost"}}) == 1);
    BOOST_TEST(e.value("redlock_hold_seconds_count") == 3, "lost, handed over, detached; what was lost before it was released counts once");
    BOOST_TEST(e.value("redlock_hold_seconds_sum") == 24);
    BOOST_TEST(e.value("redlock_leases") == -2, "two more ended here than was acquired");
    BOOST_TEST(e.value("redlock_overruns_total") == 1);
    BOOST_TEST(e.value("redlock_watchdog_late_total") == 1);
    BOOST_TEST(e.value("redlock_late_grants_undone_total", {{"node", "10.0.0.1:6379"}}) == 1);
    BOOST_TEST(e.value("redlock_node_votes_total", {{"node", "10.0.0.1:6379"}, {"vote", "granted"}}) == 2);
    BOOST_TEST(e.value("redlock_node_votes_total", {{"node", "10.0.0.2:6379"}, {"vote", "failed"}}) == 2);
    BOOST_TEST((!e.has("redlock_node_votes_total", {{"node", "10.0.0.3:6379"}, {"vote", "pending"}})));
    BOOST_TEST(e.value("redlock_node_up", {{"node", "10.0.0.1:6379"}}) == 0);
    BOOST_TEST(e.value("redlock_node_admitted", {{"node", "10.0.0.1:6379"}}) == 1);
    BOOST_TEST(e.value("redlock_node_connects_total", {{"node", "10.0.0.1:6379"}}) == 1);
    BOOST_TEST(e.value("redlock_node_clock_steps_total", {{"node", "10.0.0.1:6379"}}) == 1);
    BOOST_TEST(e.value("redlock_node_recoveries_total", {{"node", "10.0.0.1:6379"}}) == 1);
    BOOST_TEST(e.value("redlock_events_dropped_total") == 3);
    BOOST_TEST(before != p.text());
}

BOOST_AUTO_TEST_CASE(a_lease_is_held_from_its_acquisition_to_its_one_end)
{
    prometheus p;
    auto const leases = [&] { return read(p).value("redlock_leases"); };
    p.on(after(1ms));
    p.on(event::acquired{.at = noon, .lock = "resource", .origin = event::origin::nested});
    BOOST_TEST(leases() == 1);
    p.on(event::handoff{.at = noon, .lock = "resource"});
    p.on(event::acquired{.at = noon, .lock = "resource", .origin = event::origin::handoff});
    BOOST_TEST(leases() == 1);
    p.on(event::lost{.at = noon, .lock = "resource", .why = errc::lease_lost});
    BOOST_TEST(leases() == 0);
    p.on(event::released{.at = noon, .lock = "resource", .result = errc::lease_lost, .was_lost = true});
    BOOST_TEST(leases() == 0);
    p.on(after(1ms));
    p.on(event::released{.at = noon, .lock = "resource"});
    BOOST_TEST(leases() == 0);
    BOOST_TEST(read(p).value("redlock_acquisitions_total", {{"outcome", "handoff"}}) == 1);
    p.on(event::acquired{.at = noon, .lock = "resource", .origin = event::origin::adopted});
    BOOST_TEST(leases() == 1);
    BOOST_TEST(read(p).value("redlock_acquisitions_total", {{"outcome", "adopted"}}) == 1);
    p.on(event::detached{.at = noon, .lock = "resource"});
    BOOST_TEST(leases() == 0);
}

BOOST_AUTO_TEST_CASE(nodes_that_are_down_may_not_vote)
{
    prometheus p;
    labels const node{{"node", "n"}};
    p.on(event::node_up{.at = noon, .node = "n"});
    BOOST_TEST(read(p).value("redlock_node_up", node) == 1);
    BOOST_TEST(read(p).value("redlock_node_admitted", node) == 0);
    p.on(event::node_admitted{.at = noon, .node = "n"});
    BOOST_TEST(read(p).value("redlock_node_admitted", node) == 1);
    p.on(event::node_excluded{.at = noon, .node = "n"});
    BOOST_TEST(read(p).value("redlock_node_admitted", node) == 0);
    p.on(event::node_admitted{.at = noon, .node = "n"});
    p.on(event::node_down{.at = noon, .node = "n"});
    BOOST_TEST(read(p).value("redlock_node_admitted", node) == 0);
    BOOST_TEST(read(p).value("redlock_node_up", node) == 0);
}

BOOST_AUTO_TEST_CASE(buckets_count_what_is_not_above_their_bound)
{
    prometheus p{{.acquire_buckets = {0.001, 0.5, 2}}};
    for (auto const waited : {1ms, 2ms, 500ms, 501ms, 3'000ms}) p.on(after(waited));
    auto const e = read(p);
    BOOST_TEST(e.value("redlock_acquire_seconds_bucket", {{"le", "0.001"}}) == 1);
    BOOST_TEST(e.value("redlock_acquire_seconds_bucket", {{"le", "0.5"}}) == 3);
    BOOST_TEST(e.value("redlock_acquire_seconds_bucket", {{"le", "2"}}) == 4);
    BOOST_TEST(e.value("redlock_acquire_seconds_bucket", {{"le", "+Inf"}}) == 5);
    BOOST_TEST(e.value("redlock_acquire_seconds_sum") == 4.004, boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(names_of_locks_are_no_labels_unless_asked_for)
{
    prometheus p;
    tell_everything(p, "order:4711");
    BOOST_TEST(p.text().find("4711") == std::string::npos);

    auto const prefix = [](std::string_view lock) { return std::string{lock.substr(0, lock.find(':'))}; };
    prometheus labelled{{.lock_label = prefix, .max_lock_labels = 2}};
    for (char const* lock : {"order:1", "order:2", "user:1", "invoice:1", "report:1"}) labelled.on(after(1ms, lock));
    auto const e = read(labelled);
    BOOST_TEST(e.value("redlock_acquisitions_total", {{"outcome", "acquired"}, {"lock", "order"}}) == 2);
    BOOST_TEST(e.value("redlock_acquisitions_total", {{"outcome", "acquired"}, {"lock", "user"}}) == 1);
    BOOST_TEST(e.value("redlock_acquisitions_total", {{"outcome", "acquired"}, {"lock", "other"}}) == 2);
    BOOST_TEST(e.value("redlock_acquire_seconds_count", {{"lock", "order"}}) == 2);
    tell_everything(labelled);
    BOOST_CHECK_NO_THROW(read(labelled));
}

BOOST_AUTO_TEST_CASE(values_of_labels_cannot_break_the_text)
{
    std::string const nasty = "a\"b\\c\nd} 1 \xff";
    prometheus p{{.labels = {{"client", nasty}}}};
    tell_everything(p, "resource", "[::1]:\"\\\n");
    auto const e = read(p);
    BOOST_TEST(e.value("redlock_node_clock_steps_total", {{"client", "a\"b\\c\nd} 1 \xef\xbf\xbd"}, {"node", "[::1]:\"\\\n"}}) == 1);
}

BOOST_AUTO_TEST_CASE(options_that_make_no_sense_are_refused)
{
    BOOST_CHECK_THROW(prometheus({.acquire_buckets = {1, 1}}), std::invalid_argument);
    BOOST_CHECK_THROW(prometheus({.hold_buckets = {2, 1}}), std::invalid_argument);
    BOOST_CHECK_THROW(prometheus({.hold_buckets = {1, std::numeric_limits<double>::infinity()}}), std::invalid_argument);
    for (char const* name : {"", "1a", "a-b", "__a", "le", "node", "outcome"})
        BOOST_CHECK_THROW(prometheus({.labels = {{name, "x"}}}), std::invalid_argument);
    BOOST_CHECK_THROW(prometheus({.labels = {{"a", "x"}, {"a", "y"}}}), std::invalid_argument);
    BOOST_CHECK_NO_THROW(read(prometheus({.acquire_buckets = {}, .hold_buckets = {}})));
}

BOOST_AUTO_TEST_CASE(the_dashboard_asks_only_for_what_is_there)
{
    prometheus p;
    tell_everything(p);
    auto const there = read(p).names();
    std::ifstream file{REDLOCK_DASHBOARD};
    BOOST_REQUIRE(file);
    std::vector<std::string> expressions;
    collect_expressions(nlohmann::json::parse(file), expressions);
    BOOST_TEST(expressions.size() >= 8u);
    std::set<std::string> asked;
    std::regex const word{"redlock_[a-z_]+"};
    for (auto const& text : expressions) {
        std::size_t found = 0;
        for (std::sregex_iterator it{text.begin(), text.end(), word}, end; it != end; ++it, ++found) asked.insert(it->str());
        BOOST_TEST(found > 0u, text);
    }
    for (auto const& name : asked) BOOST_TEST(there.contains(name), name);
}

BOOST_AUTO_TEST_CASE(docs_name_every_metric)
{
    prometheus p;
    tell_everything(p);
    auto const docs = observing_page();
    std::istringstream lines{p.text()};
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("# TYPE ")) continue;
        std::string const name = line.substr(7, line.find(' ', 7) - 7);
        BOOST_TEST(docs.find('`' + name + '`') != std::string::npos, name);
    }
}

// What a query compares with is as much a name as a metric is.
BOOST_AUTO_TEST_CASE(docs_name_every_outcome_that_is_no_error)
{
    prometheus p;
    tell_everything(p);
    auto const docs = observing_page();
    std::string const text = p.text();
    std::regex const outcome{"outcome=\"([a-z_]+)\""};
    std::set<std::string> found;
    for (std::sregex_iterator at{text.begin(), text.end(), outcome}; at != std::sregex_iterator{}; ++at) found.insert((*at)[1]);
    BOOST_TEST(found.contains("acquired"));
    for (std::string const& name : found)
        if (!is_name_of_an_error(name)) BOOST_TEST(docs.find('`' + name + '`') != std::string::npos, name);
}

BOOST_AUTO_TEST_CASE(docs_name_every_event)
{
    auto const docs = observing_page();
    for (std::string_view const name : names_of(event::any{}))
        BOOST_TEST(docs.find('`' + std::string{name} + '`') != std::string::npos, name);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
