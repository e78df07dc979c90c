// The page of redlock dashboard in a real browser. Without Chromium these cases are skipped.
#include "permit_holders.hpp"
#include "program.hpp"
#include "web_client.hpp"

#include "support/child_process.hpp"
#include "support/skipped.hpp"
#include "support/temporary_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <optional>
#include <string>

#include <unistd.h>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

std::optional<std::filesystem::path> browser()
{
    for (char const* const name : {"chromium", "chromium-browser", "google-chrome"}) try {
            return find_program(name);
        } catch (std::runtime_error const&) {
        }
    return std::nullopt;
}

struct page : three_servers {
    // What the browser has made of the page, and below it what the browser complains of.
    std::string drawn(std::uint16_t port)
    {
        temporary_folder own{"redlock-browser-"};
        auto const log = own.path() / "log";
        arguments args{"--headless",
                       "--disable-gpu",
                       "--disable-dev-shm-usage",
                       "--no-first-run",
                       "--enable-logging=stderr",
                       "--log-level=0",
                       "--user-data-dir=" + (own.path() / "profile").string(),
                       "--virtual-time-budget=4000",
                       "--dump-dom",
                       "http://127.0.0.1:" + std::to_string(port) + "/"};
        if (::geteuid() == 0) args.insert(args.begin(), "--no-sandbox");  // which root cannot have
        child_process chromium{*browser(), args, log};
        BOOST_TEST(chromium.wait(40s).value_or(-1) == 0);
        return read_file(log);
    }
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
    if (!browser()) return skipped("there is no chromium; on Debian: apt-get install chromium");
    hold("job");
    hold("<img src=x onerror=document.title=\"broken\">");
    hold("dir\xe2\x80\xaeoce\tx");
    dashboard_program shows{environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return shows.status().at("timeline").at("locks").size() == 3; }));
    auto const text = drawn(shows.port());
    BOOST_TEST(contains(text, "data-drawn=\"true\""), text);
    BOOST_TEST(contains(text, "Locks can be acquired: all 3 nodes vote"), text);
    BOOST_TEST(contains(text, ">job</span>"), text);
    BOOST_TEST(contains(text, "&lt;img src=x onerror="), "as text");
    BOOST_TEST(!contains(text, "<img"), text);
    BOOST_TEST(!contains(text, "<i>import"), text);
    BOOST_TEST(!contains(text, "<title>broken"), text);
    BOOST_TEST(contains(text, "dir\\u202eoce\\u0009x"), "what is not seen is written out");
    for (char const* const complaint : {"Content Security Policy", "Uncaught", "SyntaxError", "TypeError"})
        BOOST_TEST(!contains(text, complaint), text);
}

BOOST_AUTO_TEST_CASE(it_draws_semaphores_with_their_slots)
{
    if (!browser()) return skipped("there is no chromium; on Debian: apt-get install chromium");
    program one{run("exports", permits("3", {"--label", "first"}), holds_permit), environment()};
    dashboard_program shows{environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return shows.status().at("timeline").at("locks").size() == 1; }), one.errors());
    auto const text = drawn(shows.port());
    BOOST_TEST(contains(text, "1 of 3 permits"), text);
    BOOST_TEST(contains(text, ">slot "), text);
    BOOST_TEST(contains(text, "first"), text);
    for (char const* const complaint : {"Uncaught", "TypeError"}) BOOST_TEST(!contains(text, complaint), text);
}

BOOST_AUTO_TEST_CASE(it_says_when_no_majority_is_left)
{
    if (!browser()) return skipped("there is no chromium; on Debian: apt-get install chromium");
    hold("job");
    dashboard_program shows{environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return shows.status().at("verdict").at("level") == "good"; }));
    all[0].kill();
    all[1].stop();
    BOOST_TEST_REQUIRE(eventually([&] { return shows.status().at("verdict").at("level") == "danger"; }));
    auto const text = drawn(shows.port());
    BOOST_TEST(contains(text, "only 1 of 3 nodes votes, and 2 are needed"), text);
    BOOST_TEST(contains(text, "Too few nodes answer to know of each lock."), text);
    BOOST_TEST(!contains(text, "Uncaught"), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
