// The page of one schedule: its data are those of the schedule, no text in it can break out, and recording changes nothing.
#include "page.hpp"

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

using namespace redlock::simulation;

namespace {

std::string between(std::string const& text, std::string_view begin, std::string_view end)
{
    auto const from = text.find(begin);
    BOOST_TEST_REQUIRE(from != std::string::npos);
    auto const to = text.find(end, from + begin.size());
    BOOST_TEST_REQUIRE(to != std::string::npos);
    return text.substr(from + begin.size(), to - from - begin.size());
}

// As a browser finds it: up to the first end of a script.
nlohmann::json data_of(std::string const& page)
{
    return nlohmann::json::parse(between(page, R"(<script type="application/json" id="data">)", "</script"));
}

std::size_t count(std::string_view text, std::string_view what)
{
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++n;
    return n;
}

result of(std::uint64_t seed, recorder& records)
{
    coverage covered{};
    return run_schedule(seed, covered, &records);
}

constexpr std::string_view nasty = "</script><script>alert('\"{{data}}\" & <!--')</script>";

}  // namespace

BOOST_AUTO_TEST_SUITE(page_of_a_schedule)

BOOST_AUTO_TEST_CASE(shows_what_was_recorded)
{
    recorder records;
    auto const r = of(42, records);
    auto const text = page(42, r, records);
    auto const data = data_of(text);
    BOOST_TEST(text.starts_with("<!doctype html>"));
    BOOST_TEST(between(text, "<title>", "</title>").find("seed 42") != std::string::npos);
    BOOST_TEST(data["seed"] == "42");
    BOOST_TEST(data["steps"] == r.steps);
    BOOST_TEST(data["end"] == r.virtual_time.count());
    BOOST_TEST(data["messages"].size() == records.messages.size());
    BOOST_TEST(data["leases"].size() == records.leases.size());
    BOOST_TEST(data["keys"].size() == records.keys.size());
    BOOST_TEST(data["faults"].size() == records.faults.size());
    BOOST_TEST(data["notes"].size() == records.notes.size());
    BOOST_TEST(!records.messages.empty());
    BOOST_TEST(!data["clientClocks"].empty());
    BOOST_TEST(!data["serverClocks"].empty());
    BOOST_TEST(text.find("{{") == std::string::npos);
}

// Nothing is fetched: what a page of a failed night contains is still there years later.
BOOST_AUTO_TEST_CASE(needs_nothing_else)
{
    recorder records;
    auto const text = page(1, of(1, records), records);
    for (auto const what : {"http:", "https:", " src=", "<link", "@import", "url("}) BOOST_TEST(text.find(what) == std::string::npos, what);
}

BOOST_AUTO_TEST_CASE(says_what_was_violated)
{
    recorder records;
    auto r = of(7, records);
    r.violation = "two leases on \"a\" are valid at once";
    auto const text = page(7, r, records);
    BOOST_TEST(between(text, "<h1>", "</h1>") == "Violation: two leases on &quot;a&quot; are valid at once");
    BOOST_TEST(data_of(text)["violation"] == *r.violation);
    r.violation.reset();
    auto const quiet = page(7, r, records);
    BOOST_TEST(between(quiet, "<h1>", "</h1>") == "No violation");
    BOOST_TEST(data_of(quiet)["violation"].is_null());
}

BOOST_AUTO_TEST_CASE(no_text_breaks_out)
{
    recorder records;
    auto r = of(7, records);
    auto const scripts = count(page(7, r, records), "<script");
    r.violation = nasty;
    records.say(0, 1ms, std::string{nasty});
    records.server_fault(0, std::string{nasty}, 1ms);
    records.setting(std::string{nasty}, std::string{nasty});
    auto const text = page(7, r, records);
    BOOST_TEST(count(text, "<script") == scripts);
    BOOST_TEST(count(text, "</script") == scripts);
    BOOST_TEST(text.find("<!--") == std::string::npos);
    auto const data = data_of(text);
    BOOST_TEST(data["violation"] == nasty);
    BOOST_TEST(data["notes"].back()["text"] == nasty);
    BOOST_TEST(data["faults"].back()["what"] == nasty);
    BOOST_TEST(data["settings"].back()[1] == nasty);
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_text_are_replaced)
{
    recorder records;
    auto const r = of(7, records);
    records.say(0, 1ms, "\xff\xfe");
    BOOST_TEST(data_of(page(7, r, records))["notes"].back()["text"] == "\xef\xbf\xbd\xef\xbf\xbd");
}

// 64 bits are more than a number of JavaScript keeps.
BOOST_AUTO_TEST_CASE(the_largest_seed_is_kept)
{
    recorder records;
    auto const r = of(7, records);
    BOOST_TEST(data_of(page(UINT64_MAX, r, records))["seed"] == "18446744073709551615");
}

// What a violation stops has not been given back.
BOOST_AUTO_TEST_CASE(a_lease_that_was_only_cleared_away_is_open)
{
    recorder records;
    auto const lease = records.lease_begins(0, "a", 1ms, 30ms);
    records.lease_ends(lease, 5ms, "given back");
    result r{"two leases", 0, 0, 5ms};
    BOOST_TEST(data_of(page(1, r, records))["leases"][0]["ended"].is_null());
    r.violation.reset();
    BOOST_TEST(data_of(page(1, r, records))["leases"][0]["ended"] == 5'000'000);
}

BOOST_AUTO_TEST_CASE(recording_changes_nothing)
{
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        coverage covered{};
        auto const alone = run_schedule(seed, covered);
        recorder records;
        auto const recorded = of(seed, records);
        BOOST_TEST(alone.hash == recorded.hash, "seed " << seed);
        BOOST_TEST(alone.steps == recorded.steps, "seed " << seed);
        BOOST_TEST((alone.violation == recorded.violation), "seed " << seed);
    }
}

BOOST_AUTO_TEST_SUITE_END()
