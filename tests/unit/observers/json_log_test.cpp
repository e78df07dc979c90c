// The log, line by line.
#include "unit/observer_support.hpp"

#include <redlock/json_log.hpp>

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace redlock::testing {
namespace {

using nlohmann::json;

std::vector<std::string> lines_of(std::string const& text)
{
    std::vector<std::string> lines;
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::vector<json> all_events()
{
    std::ostringstream stream;
    json_log log{stream};
    tell_everything(log);
    std::vector<json> events;
    for (auto const& line : lines_of(stream.str())) events.push_back(json::parse(line));
    return events;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(json_log_lines)

BOOST_AUTO_TEST_CASE(each_event_is_one_object)
{
    auto const events = all_events();
    BOOST_TEST(events.size() == kinds_of_events);
    std::set<std::string> names;
    for (auto const& e : events) {
        names.insert(e.at("event").get<std::string>());
        BOOST_TEST(e.at("at") == "2026-03-01T12:00:00.000412Z");
    }
    BOOST_TEST(names.size() == kinds_of_events);
}

BOOST_AUTO_TEST_CASE(each_line_can_have_more_members)
{
    std::ostringstream stream;
    json_log log{stream};
    log.add_fields([](event::any const& what) -> json_log::fields {
        if (!std::holds_alternative<event::acquired>(what)) return {};
        return {{"trace_id", "0af7\xff\""}, {"lock", "another"}};
    });
    tell_everything(log);
    auto const lines = lines_of(stream.str());
    auto const acquired = json::parse(lines.at(0));
    BOOST_TEST(acquired.at("trace_id") == "0af7\xef\xbf\xbd\"");
    BOOST_TEST(acquired.at("lock") == "resource", "what an event has itself is not replaced");
    BOOST_TEST(!json::parse(lines.at(1)).contains("trace_id"));
}

BOOST_AUTO_TEST_CASE(members_are_under_their_own_names)
{
    auto const events = all_events();
    json const acquired = json::parse(
        R"({"at": "2026-03-01T12:00:00.000412Z", "event": "acquired", "lock": "resource", "token": 7, "origin": "nodes",
        "waited_us": 1500, "attempts": 2, "valid_for_us": 9000000, "nodes_held": 2,
        "votes": {"10.0.0.1:6379": "granted", "10.0.0.2:6379": "failed", "10.0.0.3:6379": "pending"}, "mode": "exclusive"})");
    BOOST_TEST(events[0] == acquired);
    json const failed = json::parse(R"({"name": "no_majority", "message": "too few nodes voted to know who holds the lock"})");
    BOOST_TEST(events[2].at("why") == failed);
    BOOST_TEST(events[7].at("valid_for_us") == 900'000);
    BOOST_TEST(events[8].at("result").at("name") == "lease_lost");
    BOOST_TEST(events[8].at("was_lost") == true);
    BOOST_TEST(events[14].at("text") == "refused");
    BOOST_TEST(events[15].at("admission") == "quarantined");
    BOOST_TEST(events[17].at("by_us") == -40'000'000);
    BOOST_TEST(events[18].at("events") == 3);
}

BOOST_AUTO_TEST_CASE(no_error_is_null_and_foreign_ones_have_their_category)
{
    std::ostringstream stream;
    json_log log{stream};
    log.on(event::released{.at = noon, .lock = "r"});
    log.on(
        event::not_acquired{.at = noon, .lock = "r", .why = boost::system::errc::make_error_code(boost::system::errc::operation_canceled)});
    auto const lines = lines_of(stream.str());
    BOOST_TEST(json::parse(lines.at(0)).at("result").is_null());
    BOOST_TEST(json::parse(lines.at(1)).at("why").at("name") == "generic:125");
}

BOOST_AUTO_TEST_CASE(names_cannot_break_a_line)
{
    std::ostringstream stream;
    json_log log{stream};
    std::string const name = "a \"b\"\n{}\\ \x1b[2J \xc3\xa9";
    log.on(event::self_deadlock{.at = noon, .lock = name});
    log.on(event::self_deadlock{.at = noon, .lock = "\xff\xfe"});
    auto const lines = lines_of(stream.str());
    BOOST_REQUIRE(lines.size() == 2u);
    BOOST_TEST(json::parse(lines[0]).at("lock") == name);
    BOOST_TEST(lines[0].find('\x1b') == std::string::npos);
    BOOST_TEST(json::parse(lines[1]).at("lock") == "\xef\xbf\xbd\xef\xbf\xbd");
}

BOOST_AUTO_TEST_CASE(times_before_1970_and_leap_days)
{
    std::ostringstream stream;
    json_log log{stream};
    log.on(event::self_deadlock{.at = event::time{-1us}, .lock = "r"});
    log.on(
        event::self_deadlock{.at = std::chrono::sys_days{std::chrono::year{2028} / 2 / 29} + 23h + 59min + 59s + 999'999us, .lock = "r"});
    auto const lines = lines_of(stream.str());
    BOOST_TEST(json::parse(lines.at(0)).at("at") == "1969-12-31T23:59:59.999999Z");
    BOOST_TEST(json::parse(lines.at(1)).at("at") == "2028-02-29T23:59:59.999999Z");
}

BOOST_AUTO_TEST_CASE(goes_to_files_and_functions)
{
    std::string told;
    json_log function{[&](std::string_view line) { told += line; }};
    function.on(event::self_deadlock{.at = noon, .lock = "r"});
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const file{std::tmpfile(), &std::fclose};
    BOOST_REQUIRE(file);
    json_log to_file{file.get()};
    to_file.on(event::self_deadlock{.at = noon, .lock = "r"});
    std::rewind(file.get());
    char read[200]{};
    BOOST_REQUIRE(std::fgets(read, sizeof read, file.get()));
    BOOST_TEST(told == read);
    BOOST_TEST(told.back() == '\n');
    BOOST_TEST(to_file.lines_failed() == 0u);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_written_is_counted_or_thrown)
{
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const full{std::fopen("/dev/full", "w"), &std::fclose};
    BOOST_REQUIRE(full);
    std::setvbuf(full.get(), nullptr, _IONBF, 0);
    json_log log{full.get()};
    log.on(event::self_deadlock{.at = noon, .lock = "r"});
    BOOST_TEST(log.lines_failed() == 1u);
    std::ostringstream closed;
    closed.setstate(std::ios::badbit);
    json_log to_stream{closed};
    to_stream.on(event::self_deadlock{.at = noon, .lock = "r"});
    BOOST_TEST(to_stream.lines_failed() == 1u);
    json_log throwing{[](std::string_view) { throw std::runtime_error{"full"}; }};
    BOOST_CHECK_THROW(throwing.on(event::self_deadlock{.at = noon, .lock = "r"}), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
