// The page of redlock dashboard in a real browser: what it shows. Without Chromium these cases are skipped.
#include "permit_holders.hpp"
#include "web_browser.hpp"
#include "web_client.hpp"

#include "support/skipped.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>

namespace redlock::testing {
namespace {

arguments const patient{"--timeout", "5s"};  // with servers that starve beside a browser

struct page : three_servers {
    void hold(std::string const& name)
    {
        program p{{"acquire", "--bootstrap", "--ttl", "30s", "--label", "<i>import</i>", "--", name}, environment()};
        BOOST_TEST(p.wait() == 0, p.errors());
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(dashboard_page, page)

BOOST_AUTO_TEST_CASE(it_draws_nodes_and_locks_and_takes_names_for_text)
{
    if (!chromium()) return skipped(no_chromium);
    hold("job");
    hold("<img src=x onerror=document.title=\"broken\">");
    hold("dir\xe2\x80\xaeoce\tx");
    dashboard_program shows{environment(), patient};
    BOOST_TEST_REQUIRE(eventually([&] { return shows.status().at("timeline").at("locks").size() == 3; }));
    web_browser browser;
    browser.open(shows.port());
    auto const text = browser.page();
    BOOST_TEST(contains(text, "Locks can be acquired: all 3 nodes vote"), text);
    BOOST_TEST(contains(text, ">job</span>"), text);
    BOOST_TEST(contains(text, "&lt;img src=x onerror="), "as text");
    BOOST_TEST(!contains(text, "<img"), text);
    BOOST_TEST(!contains(text, "<i>import"), text);
    BOOST_TEST(text.starts_with("redlock<"), text);
    BOOST_TEST(contains(text, "dir\\u202eoce\\u0009x"), "what is not seen is written out");
    BOOST_TEST(browser.complaints() == "");
}

BOOST_AUTO_TEST_CASE(it_draws_semaphores_with_their_slots)
{
    if (!chromium()) return skipped(no_chromium);
    program one{run("exports", permits("3", {"--label", "first"}), holds_permit), environment()};
    dashboard_program shows{environment(), patient};
    BOOST_TEST_REQUIRE(eventually([&] { return shows.status().at("timeline").at("locks").size() == 1; }), one.errors());
    web_browser browser;
    browser.open(shows.port());
    auto const text = browser.page();
    BOOST_TEST(contains(text, "1 of 3 permits"), text);
    BOOST_TEST(contains(text, ">slot "), text);
    BOOST_TEST(contains(text, "first"), text);
    BOOST_TEST(browser.text("$('count').textContent") == "1 lock");
    BOOST_TEST(browser.complaints() == "");
}

BOOST_AUTO_TEST_CASE(it_says_when_no_majority_is_left)
{
    if (!chromium()) return skipped(no_chromium);
    hold("job");
    dashboard_program shows{environment(), {"--timeout", "1s"}};
    BOOST_TEST_REQUIRE(eventually([&] { return shows.status().at("verdict").at("level") == "good"; }));
    web_browser browser;
    browser.open(shows.port());
    BOOST_TEST(!contains(browser.page(), "Too few nodes"));
    all[0].kill();
    all[1].stop();
    BOOST_TEST_REQUIRE(eventually([&] { return shows.status().at("verdict").at("level") == "danger"; }));
    bool const is_lost = browser.becomes("$('verdict').textContent.includes('1 of 3 nodes votes, and 2 are needed')");
    BOOST_TEST(is_lost, browser.text("$('verdict').textContent"));
    bool const is_told = browser.becomes("$('locks-note').textContent.includes('Too few nodes answer to know of each lock.')");
    BOOST_TEST(is_told, browser.text("$('locks-note').textContent + JSON.stringify(last.locks)"));
    BOOST_TEST(browser.complaints() == "");
}

// All nodes answer, and the search ends where --limit says.
BOOST_AUTO_TEST_CASE(it_says_why_locks_may_be_missing)
{
    if (!chromium()) return skipped(no_chromium);
    for (char const* const name : {"a", "b", "c"}) hold(name);
    dashboard_program shows{environment(), {"--timeout", "5s", "--limit", "2"}};
    web_browser browser;
    browser.open(shows.port());
    BOOST_TEST(browser.becomes(
                   "$('locks-note').textContent.includes('There are more locks: the search stops at as many as --limit says.')"),
               browser.page());
    BOOST_TEST(!contains(browser.page(), "Too few nodes"), browser.page());
    BOOST_TEST(browser.text("$('count').textContent") == "at least 2 locks");
}

BOOST_AUTO_TEST_CASE(a_clock_is_not_read_aloud_but_silence_is)
{
    if (!chromium()) return skipped(no_chromium);
    dashboard_program shows{environment(), patient};
    web_browser browser;
    browser.open(shows.port());
    BOOST_TEST(!browser.is("$('updated').closest('[role=status], [role=alert], [role=log], [role=timer], [aria-live]')"));
    BOOST_TEST(browser.is("$('told').matches('[role=status]')"));
    browser.see_redraw();
    BOOST_TEST(browser.text("$('told').textContent") == "");
    shows.process().send(SIGSTOP);
    BOOST_TEST(browser.becomes("$('told').textContent === 'The dashboard does not answer. What stands here is old.'"));
    shows.process().send(SIGCONT);
    BOOST_TEST(browser.becomes("$('told').textContent === 'The dashboard answers again.'"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
