// What the command decides without I/O: words, times, what keys come to, what is wrong with nodes. And the guardian.
#include "cli/diagnosis.hpp"
#include "cli/guardian.hpp"
#include "cli/sight.hpp"
#include "cli/text.hpp"
#include "cli/times.hpp"

#include <boost/test/unit_test.hpp>

#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

std::string const digits(32, 'a');

key_sight key(std::string value, std::int64_t ttl_ms = 1000)
{
    key_sight k;
    k.present = true;
    k.type = "string";
    k.value = std::move(value);
    k.ttl_ms = ttl_ms;
    return k;
}

key_sight silent()
{
    key_sight k;
    k.problem = "Connection refused";
    return k;
}

checkup healthy(std::string name)
{
    checkup c;
    c.node = name;
    std::string const id(40, 'b');
    c.info = "# Server\r\nrun_id:" + name + "\r\nredis_mode:standalone\r\nrole:master\r\nmaster_replid:" + id +
             "\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\nconnected_slaves:0\r\n";
    c.append_fsync = "always";
    c.save = "";
    c.user = "default";
    c.record = id + " 0000000000000001 0000030000 -";
    c.has_high_water = true;
    c.clock = {{200us, 0ms}, {200us, 1ms}};
    return c;
}

struct fleet_of_three {
    fleet_of_three() : settings{config::from_urls({"redis://a", "redis://b", "redis://c"})} {}

    std::vector<finding> diagnose() const { return cli::diagnose(nodes, settings, lock); }
    finding only() const
    {
        auto const all = diagnose();
        BOOST_TEST_REQUIRE(all.size() == 1u);
        return all.front();
    }

    std::vector<checkup> nodes{healthy("a:6379"), healthy("b:6379"), healthy("c:6379")};
    config settings;
    lock_options lock;
};

void set_field(checkup& c, std::string const& name, std::string const& value)
{
    auto const at = c.info.find('\n' + name + ':') + name.size() + 2;
    c.info.replace(at, c.info.find('\r', at) - at, value);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(parts)

BOOST_AUTO_TEST_CASE(durations)
{
    std::pair<char const*, std::chrono::milliseconds> const good[] = {{"0", 0ms},      {"250ms", 250ms}, {"30s", 30s},
                                                                      {"1m", 60s},     {"1min", 60s},    {"1m30s", 90s},
                                                                      {"1.5h", 90min}, {"2d", 48h},      {"0.5s", 500ms}};
    for (auto const& [text, d] : good) BOOST_TEST((parse_duration(text) == d), text);
    for (char const* bad :
         {"", "30", "s", "-1s", "1 s", "1x", "1s2", "1..5s", ".5s", "1.s", "999d", "1e3s", "99999999999999999999s", "0x1s"})
        BOOST_TEST(!parse_duration(bad).has_value(), bad);

    std::pair<std::chrono::nanoseconds, char const*> const words[] = {{0ns, "0 us"},         {850us, "850 us"},    {12'340us, "12.3 ms"},
                                                                      {4500ms, "4.5 s"},     {200s, "3 min 20 s"}, {120s, "2 min"},
                                                                      {125min, "2 h 5 min"}, {76h, "3 d 4 h"},     {-5ms, "-5.0 ms"}};
    for (auto const& [d, text] : words) BOOST_TEST(in_words(d) == text);
}

BOOST_AUTO_TEST_CASE(texts_cannot_move_the_cursor)
{
    BOOST_TEST(printable("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x92") == "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x94\x92");
    BOOST_TEST(printable("\x1b[2J\n\x7f") == "\\x1b[2J\\x0a\\x7f");
    BOOST_TEST(printable("\xc2\x9b") == "\\xc2\\x9b");          // CSI in one character
    BOOST_TEST(printable("\xff\xc3") == "\\xff\\xc3");
    BOOST_TEST(printable("\xc0\x8a\xed\xa0\x80") == "\\xc0\\x8a\\xed\\xa0\\x80");  // overlong, surrogate
    BOOST_TEST(name_in_words("a b") == "\"a b\"");
    BOOST_TEST(name_in_words("") == "\"\"");
    BOOST_TEST(name_in_words("orders:42") == "orders:42");
    BOOST_TEST(columns_of("\xc3\xa4\xe2\x82\xac") == 2u);
    BOOST_TEST((split_list(" a, b,,c ,") == std::vector<std::string>{"a", "b", "c"}));
}

BOOST_AUTO_TEST_CASE(a_command_is_ended_in_this_order)
{
    for (std::chrono::milliseconds const ttl : {1s, 2s, 10s, 30s, 3600s}) {
        auto const times = make_end_times(ttl, std::nullopt);
        BOOST_TEST_REQUIRE(times.has_value());
        boot_clock::time_point const until{100h};
        BOOST_TEST((times->term_at(until) < times->kill_at(until)));
        BOOST_TEST((times->kill_at(until) < times->guard_at(until)));
        BOOST_TEST((times->guard_at(until) <= until - 25ms));
        BOOST_TEST((times->grace + times->margin < ttl / 2));  // the library's limit for stop_margin
    }
    BOOST_TEST(make_end_times(10s, grace_max(10s)).has_value());
    BOOST_TEST(!make_end_times(10s, grace_max(10s) + 1ms).has_value());
    BOOST_TEST(!make_end_times(10s, -1ms).has_value());
    BOOST_TEST(make_end_times(10s, 0ms).has_value());
}

BOOST_AUTO_TEST_CASE(what_keys_come_to)
{
    auto const ours = digits + ":web:7:8";
    auto const held = judge("r", {key(ours, 900), key(ours, 500), key(ours, 700), {}, silent()});
    BOOST_TEST((held.state == lock_state::held));
    BOOST_TEST(held.held_on == 3u);
    BOOST_TEST(held.faults_survived == 0u);
    BOOST_TEST(held.ttl_ms == 500);  // when the first of the three goes, no majority is left

    auto const safe = judge("r", {key(ours, 900), key(ours, 500), key(ours, 700), key(ours, -1), key("other")});
    BOOST_TEST(safe.faults_survived == 1u);
    BOOST_TEST(safe.ttl_ms == 700);

    BOOST_TEST((judge("r", {{}, {}, {}}).state == lock_state::free));
    BOOST_TEST((judge("r", {{}, {}, silent()}).state == lock_state::free));
    BOOST_TEST((judge("r", {{}, silent(), silent()}).state == lock_state::unknown));
    BOOST_TEST((judge("r", {key("a"), key("b"), key("c")}).state == lock_state::partly));
    BOOST_TEST((judge("r", {key("a"), {}, silent()}).state == lock_state::unknown));  // the silent one can make it a majority
    BOOST_TEST((judge("r", {key("a"), key("a"), silent()}).state == lock_state::held));
    BOOST_TEST((judge("r", {key("a")}).state == lock_state::held));
}

BOOST_FIXTURE_TEST_CASE(nothing_is_wrong_with_healthy_nodes, fleet_of_three) { BOOST_TEST(diagnose().empty()); }

BOOST_FIXTURE_TEST_CASE(clocks, fleet_of_three)
{
    nodes[0].clock = {{200us, 2s}, {200us, 2s}};
    auto const all = diagnose();
    BOOST_TEST_REQUIRE(all.size() == 2u);
    BOOST_TEST((all[0].is == severity::warning));
    BOOST_TEST(all[0].what.starts_with("its clock is 2.0 s ahead of"));
    BOOST_TEST(all[1].what.starts_with("the nodes' clocks are up to 2.0 s apart"));

    nodes[0].clock = {{200us, 0ms}, {200us, -300ms}};
    auto const f = only();
    BOOST_TEST((f.is == severity::danger));
    BOOST_TEST(f.what.starts_with("its clock moved by 300.0 ms"));

    nodes[0].clock = {{600ms, 0ms}, {600ms, 300ms}};  // a slow way explains it; but then the way is too slow
    BOOST_TEST(only().what.starts_with("a round trip takes 600.0 ms"));
}

BOOST_FIXTURE_TEST_CASE(round_trips_against_the_ttl, fleet_of_three)
{
    for (auto& n : nodes) n.clock = {{300ms, 0ms}};
    auto const f = only();  // one finding for all
    BOOST_TEST((f.is == severity::warning));
    BOOST_TEST(f.where == "");
    lock.ttl = 2s;  // 100 ms a node
    BOOST_TEST((only().is == severity::danger));
}

BOOST_FIXTURE_TEST_CASE(persistence, fleet_of_three)
{
    nodes[1].append_fsync = "everysec";
    BOOST_TEST((only().is == severity::note));
    lock.fencing = false;
    BOOST_TEST((only().is == severity::warning));
    set_field(nodes[1], "aof_enabled", "0");
    BOOST_TEST((only().is == severity::danger));
    BOOST_TEST(only().where == "b:6379");
    settings.nodes[1].fsync = true;
    BOOST_TEST(only().what.find("they never count") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(replicas, fleet_of_three)
{
    set_field(nodes[2], "connected_slaves", "1");
    BOOST_TEST((only().is == severity::note));
    settings.nodes[2].replicas = 2;
    BOOST_TEST(only().what == "its votes are to wait for 2 replicas, and it has 1: they never count");
}

BOOST_FIXTURE_TEST_CASE(admissions, fleet_of_three)
{
    nodes[0].record[0] = 'c';  // of an earlier life
    BOOST_TEST(only().what.starts_with("it restarted, or lost its memory, and is not admitted yet; its wait begins with the next lock"));
    nodes[0].record.back() = 'x';
    BOOST_TEST(only().what.find("its wait has begun") != std::string::npos);
    nodes[0] = healthy("a:6379");
    nodes[0].has_high_water = false;
    BOOST_TEST((only().is == severity::warning));
    lock.fencing = false;
    BOOST_TEST(diagnose().empty());
    lock.fencing = true;
    nodes[0] = healthy("a:6379");
    lock.ttl = 40s;
    BOOST_TEST(only().what.starts_with("it was admitted for a max_ttl of 30.0 s, and refuses locks"));
}

BOOST_FIXTURE_TEST_CASE(the_worst_comes_first, fleet_of_three)
{
    nodes[0].append_fsync = "everysec";
    nodes[1].problem = "Connection refused";
    set_field(nodes[2], "role", "slave");
    auto const all = diagnose();
    BOOST_TEST_REQUIRE(all.size() == 3u);
    BOOST_TEST((all[0].is == severity::danger));
    BOOST_TEST((all[1].is == severity::warning));
    BOOST_TEST((all[2].is == severity::note));
}

// Nobody tells the guardian anything after this but what the clock says.
BOOST_AUTO_TEST_CASE(the_guardian_kills_at_its_moment_and_not_before)
{
    guardian guard;
    pid_t const victim = ::fork();
    if (victim == 0) {
        ::setpgid(0, 0);
        for (;;) ::pause();
    }
    ::setpgid(victim, victim);
    auto const start = boot_clock::now();
    guard.protect(victim, start + 200ms);
    guard.put_off(start + 400ms);
    int status = 0;
    BOOST_TEST(::waitpid(victim, &status, 0) == victim);
    auto const after = boot_clock::now() - start;
    BOOST_TEST(WTERMSIG(status) == SIGKILL);
    BOOST_TEST((after >= 400ms && after < 2s), after.count());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::cli
