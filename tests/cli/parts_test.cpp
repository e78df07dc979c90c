// What the command decides without I/O: words, times, what keys come to, what is wrong with nodes. And the guardian.
#include "cli/doctor/doctor_rules.hpp"
#include "cli/locks/lock_view.hpp"
#include "cli/locks/waiting.hpp"
#include "cli/nodes/vote_wait.hpp"
#include "cli/output/text.hpp"
#include "cli/run/child.hpp"
#include "cli/run/guardian.hpp"
#include "cli/run/offspring.hpp"
#include "cli/run/reminder.hpp"
#include "cli/run/times.hpp"
#include "cli/servers/node_link.hpp"
#include "protocol/fence_keys.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

std::string const digits(32, 'a');

key_view key(std::string value, std::int64_t ttl_ms = 1000)
{
    key_view k;
    k.present = true;
    k.type = "string";
    k.value = std::move(value);
    k.ttl_ms = ttl_ms;
    return k;
}

key_view silent()
{
    key_view k;
    k.problem = "Connection refused";
    return k;
}

// The set of these readers on one node.
key_view readers(std::vector<std::string> const& values, std::int64_t ttl_ms = 1000)
{
    key_view k;
    k.present = true;
    k.type = "zset";
    k.readers = values.size();
    for (std::string const& v : values) k.some_readers.push_back({v, {}, ttl_ms});
    k.ttl_ms = ttl_ms;
    return k;
}

doctor_probe healthy(std::string name)
{
    doctor_probe c;
    c.node = name;
    std::string const id(40, 'b');
    c.info = "# Server\r\nredis_version:7.0.15\r\nrun_id:" + name + "\r\nredis_mode:standalone\r\nrole:master\r\nmaster_replid:" + id +
             "\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\naof_enabled:1\r\nconnected_slaves:0\r\n";
    c.append_fsync = "always";
    c.save = "";
    c.user = "default";
    c.record = id + " 0000000000000001 0000030000 -";
    c.has_high_water = true;
    c.clock = {{200us, 0ms}, {200us, 1ms}};
    return c;
}

struct group_of_three {
    group_of_three() : settings{config::from_urls({"redis://a", "redis://b", "redis://c"})} {}

    std::vector<finding> diagnose() const { return cli::diagnose(nodes, settings, lock); }
    finding only() const
    {
        auto const all = diagnose();
        BOOST_TEST_REQUIRE(all.size() == 1u);
        return all.front();
    }

    std::vector<doctor_probe> nodes{healthy("a:6379"), healthy("b:6379"), healthy("c:6379")};
    config settings;
    lock_options lock;
};

void set_field(doctor_probe& c, std::string const& name, std::string const& value)
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
    // U+202E, U+2066, U+2028, U+200B, U+061C and U+FEFF; what comes before and behind them is harmless.
    for (std::string const hidden : {"\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\xa8", "\xe2\x80\x8b", "\xd8\x9c", "\xef\xbb\xbf"})
        BOOST_TEST(printable(hidden).starts_with("\\x"), hidden);
    for (std::string const shown :
         {"\xe2\x80\x8a", "\xe2\x80\x90", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe2\x81\xb0", "\xd8\xa7", "\xef\xbb\xbc"})
        BOOST_TEST(printable(shown) == shown);
    BOOST_TEST(printable_json("{\n  \"a\\n\": \"\xc3\xa4\xe2\x80\xae\xd8\x9c\xef\xbb\xbf\xc2\x9b\x7f\xf0\x9f\x94\x92\"\n}") ==
               "{\n  \"a\\n\": \"\xc3\xa4\\u202e\\u061c\\ufeff\\u009b\\u007f\xf0\x9f\x94\x92\"\n}");
    BOOST_TEST(printable("\xff\xc3") == "\\xff\\xc3");
    BOOST_TEST(printable("\xc0\x8a\xed\xa0\x80") == "\\xc0\\x8a\\xed\\xa0\\x80");  // overlong, surrogate
    BOOST_TEST(name_in_words("a b") == "\"a b\"");
    BOOST_TEST(name_in_words("") == "\"\"");
    BOOST_TEST(name_in_words("orders:42") == "orders:42");
    BOOST_TEST(columns_of("\xc3\xa4\xe2\x82\xac") == 2u);
    BOOST_TEST((split_list(" a, b,,c ,") == std::vector<std::string>{"a", "b", "c"}));
    BOOST_TEST((split_urls("redis://a, redis+sentinel://u:p@b, c,d:1/m?replicas=1,redis://e,f") ==
                std::vector<std::string>{"redis://a", "redis+sentinel://u:p@b,c,d:1/m?replicas=1", "redis://e", "f"}));
}

BOOST_FIXTURE_TEST_CASE(programs_that_get_no_vote_with_tokens_are_named, group_of_three)
{
    nodes[1].info.replace(nodes[1].info.find("\r\nrun_id"), 0, "\r\ndragonfly_version:df-v1.40.1");
    finding const f = only();
    BOOST_TEST((f.is == severity::danger));
    BOOST_TEST(f.where == "b:6379");
    BOOST_TEST(f.what == "it is Dragonfly df-v1.40.1, of which it is not known that it takes another id with each loss of its data");
    settings.trust_server_identity = true;
    BOOST_TEST(diagnose().empty());
    settings.trust_server_identity = false;
    lock.fencing = false;
    for (finding const& other : diagnose()) BOOST_TEST(other.what.find("Dragonfly") == std::string::npos, other.what);
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
    BOOST_TEST(make_end_times(10s, max_grace(10s)).has_value());
    BOOST_TEST(!make_end_times(10s, max_grace(10s) + 1ms).has_value());
    BOOST_TEST(!make_end_times(10s, -1ms).has_value());
    BOOST_TEST(make_end_times(10s, 0ms).has_value());
}

BOOST_AUTO_TEST_CASE(what_keys_come_to)
{
    auto const ours = digits + ":web:7:8";
    auto const held = judge("r", {key(ours, 900), key(ours, 500), key(ours, 700), {}, silent()});
    BOOST_TEST((held.state == lock_state::held));
    BOOST_TEST(held.held_on == 3u);
    BOOST_TEST(held.faults_tolerated == 0u);
    BOOST_TEST(held.ttl_ms == 500);  // when the first of the three goes, no majority is left

    auto const safe = judge("r", {key(ours, 900), key(ours, 500), key(ours, 700), key(ours, -1), key("other")});
    BOOST_TEST(safe.faults_tolerated == 1u);
    BOOST_TEST(safe.ttl_ms == 700);

    set_words const of_four{.needed = 3, .size = 4};
    auto const old_list = judge("r", {key(ours), key(ours), key(ours)}, of_four);
    BOOST_TEST((old_list.state == lock_state::held));
    BOOST_TEST(old_list.faults_tolerated == 0u);
    BOOST_TEST((judge("r", {key(ours), key(ours), {}}, of_four).state == lock_state::unknown), "the fourth may have it");
    BOOST_TEST((judge("r", {key(ours), {}, {}}, of_four).state == lock_state::partly));
    BOOST_TEST(judge("r", {key(ours), key(ours)}).faults_tolerated == 0u, "two of two");

    BOOST_TEST((judge("r", {{}, {}, {}}).state == lock_state::free));
    BOOST_TEST((judge("r", {{}, {}, silent()}).state == lock_state::free));
    BOOST_TEST((judge("r", {{}, silent(), silent()}).state == lock_state::unknown));
    BOOST_TEST((judge("r", {key("a"), key("b"), key("c")}).state == lock_state::partly));
    BOOST_TEST((judge("r", {key("a"), {}, silent()}).state == lock_state::unknown));  // the silent one can make it a majority
    BOOST_TEST((judge("r", {key("a"), key("a"), silent()}).state == lock_state::held));
    BOOST_TEST((judge("r", {key("a")}).state == lock_state::held));
}

// Each reader needs a majority of its own.
BOOST_AUTO_TEST_CASE(what_is_said_of_readers)
{
    auto const two = judge("r", {readers({"a", "b"}, 900), readers({"a", "b"}, 500), readers({"a"}, 700)});
    BOOST_TEST((two.state == lock_state::held));
    BOOST_TEST(two.readers == 2u);
    BOOST_TEST(two.held_on == 2u);
    BOOST_TEST(two.faults_tolerated == 0u);
    BOOST_TEST(two.ttl_ms == 700);
    BOOST_TEST(two.first_reader_ttl_ms() == 900);
    BOOST_TEST(!two.writer_waits);
    auto const nobody = judge("r", {readers({"a"}), readers({"b"}), readers({"c"})});
    BOOST_TEST((nobody.state == lock_state::partly));
    BOOST_TEST(nobody.readers == 0u);
    BOOST_TEST((judge("r", {readers({"a"}), readers({"b"}), silent()}).state == lock_state::unknown));
    BOOST_TEST((judge("r", {readers({"a"}), key("b"), {}}).state == lock_state::partly));

    auto many = readers({"a"});
    many.readers = 700;  // more than are read one by one
    BOOST_TEST(judge("r", {many, many, readers({"a"})}).readers == 700u);
    auto waits = readers({"a"});
    waits.writer_waits = true;
    BOOST_TEST(judge("r", {waits, readers({"a"}), readers({"a"})}).writer_waits);
}

// Whatever a server says: a reader's end is a time that a clock can have, or has passed.
BOOST_AUTO_TEST_CASE(readers_whose_ends_are_no_times)
{
    auto const text = [](std::string t) { return reply{reply::kind::text, std::move(t), {}}; };
    auto const list = [](std::vector<reply> items) { return reply{reply::kind::list, {}, std::move(items)}; };
    auto const number = [](std::string t) { return reply{reply::kind::integer, std::move(t), {}}; };
    auto const read = [&](std::string const& end, std::string const& seconds) {
        auto const members = list({text(""), text("-7"), text("a"), text("5000"), text("b"), text(end)});
        answers from;
        from.replies = {text("zset"),
                        reply{reply::kind::error, "WRONGTYPE", {}},
                        number("900"),
                        text("7"),
                        members,
                        number("3"),
                        number("-2"),
                        text(""),
                        list({text(seconds), text("0")})};
        return read_key(from, 0);
    };
    BOOST_TEST(read("6000", "1").readers == 2u);
    BOOST_TEST(read("6000", "5").readers == 1u);
    for (char const* end : {"inf", "-inf", "nan", "1e300", "-1e300", "9223372036854775808", "x", ""}) {
        auto const seen = read(end, "1");
        BOOST_TEST(seen.readers == 1u, end);
        BOOST_TEST_REQUIRE(seen.some_readers.size() == 1u, end);
        BOOST_TEST(seen.some_readers[0].ttl_ms == 4000, end);
    }
    for (char const* seconds : {"9223372036854775807", "-9223372036854775808", "x"})
        BOOST_TEST(read("6000", seconds).readers == 2u, seconds);
}

BOOST_FIXTURE_TEST_CASE(nothing_is_wrong_with_healthy_nodes, group_of_three) { BOOST_TEST(diagnose().empty()); }

// The server read its clock at some moment between question and answer, so the middle is wrong by half of that time at the most.
BOOST_AUTO_TEST_CASE(what_a_server_says_of_its_clock_is_as_uncertain_as_the_question_took_long)
{
    using kind = reply::kind;
    answers said;
    said.asked = 100s;
    said.took = 60ms;
    said.replies = {{kind::list, "", {{kind::text, "100", {}}, {kind::text, "59000", {}}}}};
    auto const sample = sample_of(said);
    BOOST_TEST_REQUIRE(sample.has_value());
    BOOST_TEST((sample->ahead == 29ms));
    BOOST_TEST((sample->round_trip == 60ms));
    for (char const* const no_clock : {"9223372036854775807", "-1", "-9223372036854775808", "noon"}) {
        said.replies = {{kind::list, "", {{kind::text, no_clock, {}}, {kind::text, "0", {}}}}};
        BOOST_TEST(!sample_of(said), no_clock);
    }
    said.replies = {{kind::error, "NOPERM", {}}};
    BOOST_TEST(!sample_of(said));
    said.problem = "no answer";
    BOOST_TEST(!sample_of(said));
}

BOOST_FIXTURE_TEST_CASE(clocks, group_of_three)
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

BOOST_FIXTURE_TEST_CASE(round_trips_against_the_ttl, group_of_three)
{
    for (auto& n : nodes) n.clock = {{300ms, 0ms}};
    auto const f = only();  // one finding for all
    BOOST_TEST((f.is == severity::warning));
    BOOST_TEST(f.where == "");
    lock.ttl = 2s;  // 100 ms a node
    BOOST_TEST((only().is == severity::danger));
}

BOOST_FIXTURE_TEST_CASE(persistence, group_of_three)
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

BOOST_FIXTURE_TEST_CASE(where_config_is_refused_the_remedy_is_one_of_the_service, group_of_three)
{
    set_field(nodes[1], "maxmemory", "1000000");
    set_field(nodes[1], "maxmemory_policy", "volatile-lru");
    BOOST_TEST(only().remedy.starts_with("CONFIG SET maxmemory-policy noeviction"), only().remedy);
    nodes[1].config_refused = true;
    BOOST_TEST((only().is == severity::danger));
    BOOST_TEST(only().remedy.find("CONFIG SET") == std::string::npos, only().remedy);
    for (char const* where : {"parameter group of ElastiCache", "--update-redis-config maxmemory-policy=noeviction"})
        BOOST_TEST(only().remedy.find(where) != std::string::npos, only().remedy);
}

BOOST_FIXTURE_TEST_CASE(replicas, group_of_three)
{
    set_field(nodes[2], "connected_slaves", "1");
    BOOST_TEST((only().is == severity::note));
    settings.nodes[2].replicas = 2;
    BOOST_TEST(only().what == "its votes are to wait for 2 replicas, and it has 1: they never count");
}

BOOST_FIXTURE_TEST_CASE(replicas_that_do_not_follow, group_of_three)
{
    settings.nodes[2].replicas = 1;
    nodes[2].record.replace(0, 5, "k001:");
    set_field(nodes[2], "connected_slaves", "2");
    auto const without_lines = nodes[2].info;
    auto const with = [&](std::string const& first, std::string const& second) {
        nodes[2].info = without_lines + "slave0:ip=10.0.0.8,port=6379,state=" + first + "\r\nslave1:ip=10.0.0.9,port=6379,state=" + second +
                        "\r\n";
    };
    with("online,offset=42,lag=1", "wait_bgsave,offset=0,lag=0");
    BOOST_TEST(diagnose().empty());
    with("online,offset=42,lag=3", "wait_bgsave,offset=0,lag=0");
    BOOST_TEST(only().what ==
               "its votes are to wait for 1 replica, and none of the 2 that it has follow it in time: they do not count now");
    BOOST_TEST((only().is == severity::danger));
    BOOST_TEST(only().remedy.starts_with("look at the replicas"), only().remedy);
    with("online,offset=42,lag=3,type=replica", "online,offset=42,lag=0,type=replica");
    BOOST_TEST(diagnose().empty());
}

BOOST_FIXTURE_TEST_CASE(memory_that_is_full_grants_nothing, group_of_three)
{
    set_field(nodes[0], "maxmemory", "1000");
    nodes[0].info += "used_memory:1200\r\nmem_not_counted_for_evict:100\r\n";
    BOOST_TEST(only().what == "its memory is full (110 % of maxmemory): it grants no locks");
    BOOST_TEST((only().is == severity::danger));
    auto const at = nodes[0].info.find("for_evict:100");
    nodes[0].info.replace(at, 13, "for_evict:290");
    BOOST_TEST(only().what == "its memory is 91 % full; when it is, it grants no locks");
    BOOST_TEST((only().is == severity::warning));
}

BOOST_FIXTURE_TEST_CASE(groups_that_are_too_large_or_were_admitted_otherwise, group_of_three)
{
    set_field(nodes[2], "connected_slaves", "3");
    settings.nodes[2].replicas = 1;
    nodes[2].record.replace(0, 5, "k001:");
    BOOST_TEST(only().what.find("less than a majority of the group") != std::string::npos);
    settings.nodes[2].replicas = 2;
    BOOST_TEST(only().what.find("clients have admitted it for replicas=1, and this configuration says 2") == 0u);
    nodes[2].record[3] = '2';
    BOOST_TEST(diagnose().empty());
}

// The number of a group comes from its Sentinels, and not from the address.
BOOST_FIXTURE_TEST_CASE(a_group_that_clients_have_admitted_for_another_number, group_of_three)
{
    std::string words = "the Sentinels know S = 3 servers of the group, which takes k = 1, and clients have admitted it for k = 2: nobody";
    auto const says_another_number = [&] {
        auto const all = diagnose();
        return std::any_of(all.begin(), all.end(), [&](finding const& f) { return f.what.find(words) != f.what.npos; });
    };
    set_field(nodes[2], "connected_slaves", "2");
    nodes[2].record.replace(0, 5, "k002:");
    nodes[2].group.emplace();
    nodes[2].group->size = 3;
    nodes[2].group->acknowledgements = 1;
    BOOST_TEST(says_another_number());
    settings.nodes[2].replicas = 1;
    BOOST_TEST(!says_another_number());
    words = "clients have admitted it for replicas=2, and this configuration says 1";
    BOOST_TEST(says_another_number());
    nodes[2].group->acknowledgements = 2;
    BOOST_TEST(!says_another_number());
    nodes[2].group->acknowledgements = 0;
    BOOST_TEST(!says_another_number(), "no Sentinel says how many there are");
}

BOOST_FIXTURE_TEST_CASE(admissions, group_of_three)
{
    nodes[0].record[0] = 'c';  // of an earlier life
    BOOST_TEST(
        only().what ==
        "it was promoted, or restarted with the data that it had stored, and is not admitted yet; whether anybody waits for it cannot "
        "be seen, as CLIENT LIST is refused");
    nodes[0].watched_from.emplace();
    BOOST_TEST(only().what.ends_with("; nobody waits for it"));
    BOOST_TEST(only().remedy == "run redlock admit now: it takes 30.0 s");
    nodes[0].watched_from = {"10.0.0.7"};
    BOOST_TEST(only().what.ends_with("; clients (from 10.0.0.7) begin to wait for it with their next lock or extension"));
    nodes[0].watched_from.emplace();
    nodes[0].record.back() = 'x';
    BOOST_TEST(nodes[0].mark() == "x");
    nodes[0].waited_here = 12s;
    BOOST_TEST(only().what.ends_with("; processes of this machine have waited for 12.0 s"));
    BOOST_TEST(only().remedy.starts_with("wait for 18.0 s more; then the next process here"));
    nodes[0].waited_here = 40s;
    BOOST_TEST(only().remedy.starts_with("the next process here that wants a lock with fencing admits it"));
    nodes[0].watched_from = {"10.0.0.7", "10.0.0.8"};
    BOOST_TEST(only().what.ends_with("; clients wait for it (from 10.0.0.7, 10.0.0.8), for 30.0 s in all"));
    BOOST_TEST(only().remedy == "wait");
    nodes[0].record.replace(detail::record_mark_at, 1, "cafe-1764395538-406116");
    BOOST_TEST(only().what.ends_with(" since " + local_time(1'764'395'538) + ", for 30.0 s in all"), only().what);
    nodes[0].has_high_water = false;
    nodes[0].record.replace(0, detail::record_id_size, detail::record_id_size, '0');
    BOOST_TEST(only().what.starts_with("it is new, or lost its data, and is not admitted yet"), "it has been marked, and never admitted");
    nodes[0] = healthy("a:6379");
    nodes[0].has_high_water = false;
    BOOST_TEST((only().is == severity::warning));
    BOOST_TEST(only().what.starts_with("it restarted, or lost its data, and is not admitted yet"));
    nodes[0].record.clear();
    BOOST_TEST(only().what.starts_with("it is new, or lost its data, and is not admitted yet"));
    lock.fencing = false;
    BOOST_TEST(diagnose().empty());
    lock.fencing = true;
    nodes[0] = healthy("a:6379");
    lock.ttl = 40s;
    BOOST_TEST(only().what.starts_with("it was admitted for a max_ttl of 30.0 s, and refuses locks"));
}

// Ten digits in the record.
BOOST_FIXTURE_TEST_CASE(a_max_ttl_of_thirty_days, group_of_three)
{
    settings.max_ttl = 30 * 24h;
    for (doctor_probe& n : nodes) n.record.replace(58, 10, "2592000000");
    lock.ttl = 29 * 24h;
    BOOST_TEST(diagnose().empty());
}

// The node counts the lock_delay, and so must whoever compares.
BOOST_FIXTURE_TEST_CASE(a_ttl_that_fits_only_without_its_lock_delay, group_of_three)
{
    lock.ttl = 25s;
    lock.lock_delay = 5s;
    BOOST_TEST(diagnose().empty());
    lock.lock_delay = 5001ms;
    BOOST_TEST((only().is == severity::danger));
    BOOST_TEST(only().what == "it was admitted for a max_ttl of 30.0 s, and refuses locks with a ttl of 25.0 s and a lock_delay of 5.0 s");
}

BOOST_FIXTURE_TEST_CASE(who_can_be_no_node_is_not_told_to_wait, group_of_three)
{
    auto const waits = [](std::vector<finding> const& all) {
        return std::any_of(all.begin(), all.end(), [](finding const& f) { return f.remedy == "wait"; });
    };
    auto const danger_first = [&] { return diagnose().front().is == severity::danger && !waits(diagnose()); };
    nodes[0].record.clear();
    BOOST_TEST(!danger_first());
    std::pair<char const*, char const*> const unfit[] = {{"role", "slave"}, {"redis_mode", "cluster"}, {"redis_mode", "sentinel"}};
    for (auto const& [field, value] : unfit) {
        nodes[0] = healthy("a:6379");
        nodes[0].record.clear();
        set_field(nodes[0], field, value);
        BOOST_TEST(danger_first(), value);
    }
    nodes[0] = healthy("a:6379");
    nodes[0].record.clear();
    nodes[0].info.clear();
    nodes[0].info_refused = "ERR unknown command 'INFO', with args beginning with: ";
    BOOST_TEST(danger_first());
    BOOST_TEST(diagnose().front().remedy == "take rename-command INFO out of its configuration, and restart it");
    nodes[0] = healthy("a:6379");
    nodes[0].record.clear();
    nodes[0].refused = {{"evalsha", "ERR unknown command 'EVALSHA'", "no lock can be acquired or kept"}};
    BOOST_TEST(danger_first());
    BOOST_TEST(diagnose().front().remedy == "take rename-command EVALSHA out of its configuration, and restart it");
    nodes[1].record.clear();
    nodes[2].record.clear();
    BOOST_TEST(danger_first());
    BOOST_TEST(diagnose()[1].what.ends_with("and 1 of 3 nodes is not fit: waiting does not help"));
}

// The commands that a Sentinel lacks were not renamed.
BOOST_FIXTURE_TEST_CASE(a_sentinel_is_named_and_nothing_else_is_said_of_it, group_of_three)
{
    set_field(nodes[0], "redis_mode", "sentinel");
    set_field(nodes[0], "aof_enabled", "0");
    nodes[0].refused = {{"set", "ERR unknown command 'SET'", "no lock can be acquired or kept"}};
    auto const all = diagnose();
    auto const about_it = std::count_if(all.begin(), all.end(), [](finding const& f) { return f.where == "a:6379"; });
    BOOST_TEST(about_it == 1);
    BOOST_TEST(all.front().what == "this is a Sentinel, which keeps no keys");
}

BOOST_FIXTURE_TEST_CASE(where_too_few_remember_nobody_is_told_to_wait, group_of_three)
{
    nodes[1].record.clear();
    nodes[2].record.clear();
    std::string const few =
        "2 of 3 nodes restarted, were promoted, or lost their data since they were admitted, and the others are too few to admit them";
    BOOST_TEST((only().is == severity::danger));
    BOOST_TEST(only().what.starts_with(few));
    BOOST_TEST(only().what.ends_with("until they have waited for earlier leases; then they vote again, with tokens from the wall clock"));
    BOOST_TEST(only().remedy == "run redlock admit now: it takes 30.0 s");

    settings.after_majority_loss = majority_loss::wait_for_operator;
    finding const f = only();
    BOOST_TEST((f.is == severity::danger));
    BOOST_TEST(f.what.starts_with(few));
    BOOST_TEST(f.what.ends_with("; waiting does not help, an operator must act"));
    BOOST_TEST(f.remedy.starts_with("to begin anew, DEL redlock:node redlock:set on every node; then redlock admit waits 30.0 s"));
    auto const wants_deletion = [&] {
        auto const all = diagnose();
        return std::any_of(all.begin(), all.end(),
                           [](finding const& each) { return each.remedy.find("DEL redlock:node") != std::string::npos; });
    };
    BOOST_TEST(wants_deletion());
    set_field(nodes[1], "role", "slave");
    BOOST_TEST(!wants_deletion(), "the primary of this replica may remember");
    set_field(nodes[1], "role", "master");
    nodes[2].problem = "Connection refused";
    BOOST_TEST(!wants_deletion(), "the one that is away may remember");
}

BOOST_FIXTURE_TEST_CASE(an_even_number_of_nodes, group_of_three)
{
    nodes.push_back(healthy("d:6379"));
    settings = config::from_urls({"redis://a", "redis://b", "redis://c", "redis://d"});
    BOOST_TEST(only().what ==
               "a majority of 4 nodes survives 1 failure, as many as one of 3 does; the additional node only adds one that can fail");
}

BOOST_FIXTURE_TEST_CASE(the_worst_comes_first, group_of_three)
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

BOOST_AUTO_TEST_CASE(lines_that_fit)
{
    BOOST_TEST(wrapped("one two three", 9, 2) == "one two\n  three");
    BOOST_TEST(wrapped("  one two three", 9, 4) == "  one two\n    three");
    BOOST_TEST(wrapped("a \x1b[1mtwo\x1b[0m three", 5, 0) == "a \x1b[1mtwo\x1b[0m\nthree");
    BOOST_TEST(wrapped("abcdefgh", 3, 0) == "abc\ndef\ngh");
    BOOST_TEST(wrapped("\xc3\xa4\xc3\xa4\xc3\xa4", 2, 0) == "\xc3\xa4\xc3\xa4\n\xc3\xa4");
    BOOST_TEST(wrapped("", 5, 2) == "");
    BOOST_TEST(cut("abcdef", 6) == "abcdef");
    BOOST_TEST(cut("abcdef", 5) == "abc..");
    BOOST_TEST(cut("\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac", 3) == "\xe2\x82\xac..");
}

BOOST_AUTO_TEST_CASE(why_somebody_waits)
{
    auto const ours = digits + ":web-3:7:8:nightly";
    auto const node = [](std::string name, node_state state, std::string why, std::string admission) {
        node_status n;
        n.node = std::move(name);
        n.state = state;
        n.last_error_text = std::move(why);
        n.admission_text = std::move(admission);
        return n;
    };
    client_status nodes;
    nodes.nodes = {node("a:1", node_state::usable, "", ""), node("b:1", node_state::usable, "an old error", "it waits: 7 s left"),
                   node("c:1", node_state::usable, "", "")};
    auto ours_there = key(ours);
    ours_there.holder = detail::holder_of(ours);
    auto const held = judge("job", {ours_there, ours_there, {}});
    auto const text = waiting_in_words(held, nodes, true, 3s);
    BOOST_TEST(text.starts_with("waiting for job for 3.0 s: it is held by web-3, process 7, label nightly, since "), text);
    BOOST_TEST(text.find("b:1") == std::string::npos, text);

    auto by_this_one = held;
    by_this_one.is_asked_for_here = true;
    BOOST_TEST(waiting_in_words(by_this_one, nodes, true, 3s) ==
               "waiting for job for 3.0 s: nobody else holds it, and too few of the votes for it count so far\n  b:1: it waits: 7 s left");
    BOOST_TEST(contended_in_words(by_this_one, false) == "job is held by somebody else");
    BOOST_TEST(waiting_in_words(judge("job", {silent(), silent(), {}}), nodes, false, 3s) ==
               "waiting for job for 3.0 s: who holds it could not be read");

    auto const nobody = judge("job", {{}, {}, silent()});
    BOOST_TEST(waiting_in_words(nobody, nodes, true, 63s) ==
               "waiting for job for 1 min 3 s: it was free a moment ago\n  b:1: it waits: 7 s left");
    nodes.nodes[2] = node("c:1", node_state::down, "Connection refused", "it is not connected");
    BOOST_TEST(waiting_in_words(nobody, nodes, true, 3s) == "waiting for job for 3.0 s: only 1 of 3 nodes has a vote, and a majority is 2"
                                                            "\n  b:1: it waits: 7 s left\n  c:1: Connection refused");
    BOOST_TEST(waiting_in_words(held, nodes, true, 3s).find("; and only 1 of 3 nodes has a vote") != std::string::npos);
    BOOST_TEST(waiting_in_words(nobody, nodes, false, 3s).find("b:1") == std::string::npos);
    BOOST_TEST(contended_in_words(nobody, false) == "job is held by somebody else");
    nodes.nodes = {node("c:1", node_state::down, "Connection refused", "it is not connected")};
    BOOST_TEST(waiting_in_words(judge("job", {silent()}), nodes, true, 3s) ==
               "waiting for job for 3.0 s: the node has no vote\n  c:1: Connection refused");
    BOOST_TEST(failure_in_words(errc::no_majority, nodes, true) == "the node does not vote");
    BOOST_TEST(failure_in_words(errc::split_votes, nodes, true) == error_code{errc::split_votes}.message());
}

// A timer that expires when a test says so.
struct timer_by_hand {
    struct board {
        std::vector<std::chrono::seconds> asked_for;
        std::function<void(error_code)> waiting;
    };

    explicit timer_by_hand(board& of) : b{of} {}
    void expires_after(std::chrono::seconds time) { b.asked_for.push_back(time); }
    void async_wait(std::function<void(error_code)> handler) { b.waiting = std::move(handler); }
    void cancel() {}  // too late

    board& b;
};

BOOST_AUTO_TEST_CASE(who_waits_is_looked_after_after_three_seconds_and_then_every_ten)
{
    timer_by_hand::board timer;
    int told = 0;
    reminder<timer_by_hand> r{timer, [&] { ++told; }};
    BOOST_TEST(!timer.waiting);
    r.start();
    std::vector<std::chrono::seconds> expected{3s};
    for (int times = 1; times <= 3; ++times) {
        BOOST_TEST((timer.asked_for == expected));
        std::exchange(timer.waiting, nullptr)({});
        BOOST_TEST(told == times);
        expected.emplace_back(10s);
    }
    r.next_in(2s);
    expected.emplace_back(2s);
    BOOST_TEST((timer.asked_for == expected));
    r.stop();
    r.next_in(2s);
    BOOST_TEST((timer.asked_for == expected));
    std::exchange(timer.waiting, nullptr)({});  // it had expired when it was stopped
    BOOST_TEST(told == 3);
    BOOST_TEST(!timer.waiting);
}

BOOST_AUTO_TEST_CASE(a_reason_is_told_when_it_is_another_one_and_each_minute)
{
    told_reason told;
    boot_clock::time_point const start{5s};
    BOOST_TEST(told.is_due("", start));
    BOOST_TEST(!told.is_due("", start + 59s));
    BOOST_TEST(told.is_due("", start + 60s));
    BOOST_TEST(told.is_due("held", start + 61s));
    BOOST_TEST(!told.is_due("held", start + 119s));
    BOOST_TEST(told.is_due("", start + 120s));
}

BOOST_AUTO_TEST_CASE(another_reason_to_wait_is_another_holder_or_another_vote_and_no_other_time)
{
    auto const ours = digits + ":web-3:7:8:nightly", others = digits + ":web-4:7:8";
    client_status nodes;
    nodes.nodes.resize(3);
    for (node_status& n : nodes.nodes) n.state = node_state::usable;
    auto const reason = [&](lock_view const& lock) { return reason_to_wait(lock, nodes, true); };
    auto const held = judge("job", {key(ours), key(ours), {}});
    auto const free = judge("job", {{}, {}, {}}), partly = judge("job", {key(ours), {}, {}});
    BOOST_TEST(reason(held) == reason(judge("job", {{}, key(ours), key(ours)})));
    BOOST_TEST(reason(held) != reason(judge("job", {key(others), key(others), {}})));
    BOOST_TEST(reason(held) != reason(free));
    BOOST_TEST(reason(free) == reason(partly));
    BOOST_TEST(reason(free) != reason(judge("job", {silent(), silent(), {}})));
    auto const before = reason(held);
    nodes.nodes[0].admission_text = "26 s left";
    BOOST_TEST(reason(held) == before, "a majority has a vote");
    nodes.nodes[1].admission_text = "26 s left";
    auto const few = reason(held);
    BOOST_TEST(few != before);
    nodes.nodes[1].admission_text = "25 s left";
    BOOST_TEST(reason(held) == few);
    nodes.nodes[1].state = node_state::down;
    BOOST_TEST(reason(held) != few);
}

// The third had no time to say anything, and is as healthy as can be.
BOOST_AUTO_TEST_CASE(who_was_not_needed_is_not_reported)
{
    client_status nodes;
    attempt_report report;
    for (char const* name : {"a:1", "b:1", "c:1"}) {
        node_status n;
        n.node = name;
        n.state = node_state::usable;
        nodes.nodes.push_back(n);
        report.nodes.push_back({name, vote::failed, errc::node_timeout, "", {}});
    }
    report.nodes[2] = {"c:1", vote::pending, {}, "", {}};
    BOOST_TEST(silent_nodes_in_words(report, nodes, true) ==
               "\n  a:1: the node did not answer in time\n  b:1: the node did not answer in time");
    nodes.nodes[2].state = node_state::connecting;
    report.elapsed = 500ms;
    auto silent_one = report;
    silent_one.nodes[0].vote = vote::granted;
    BOOST_TEST(silent_nodes_in_words(silent_one, nodes, true).ends_with("\n  c:1: no connection after 500.0 ms"));
    BOOST_TEST(silent_nodes_in_words(report, nodes, true).find("c:1") == std::string::npos);
    nodes.nodes[2].state = node_state::usable;
    report.nodes[1] = {"b:1", vote::granted, {}, "", {}};
    BOOST_TEST(silent_nodes_in_words(report, nodes, true) == "\n  a:1: the node did not answer in time\n  c:1: no answer yet");
    std::swap(nodes.nodes[0], nodes.nodes[2]);  // names count, not the order
    nodes.nodes[2].clock_text = "its clock was set";
    BOOST_TEST(silent_nodes_in_words(report, nodes, true) == "\n  a:1: its clock was set\n  c:1: no answer yet");
    std::string const is_new = "it is new, or lost its data", counts_down = ": 31 s left until earlier leases have expired";
    report.nodes[0] = {"a:1", vote::failed, errc::node_not_admitted, is_new + counts_down, {}};
    BOOST_TEST(silent_nodes_in_words(report, nodes, true).starts_with("\n  a:1: " + is_new + counts_down));
    nodes.nodes[1].admission = admission_state::needs_operator;
    BOOST_TEST(
        silent_nodes_in_words(report, nodes, true).starts_with("\n  a:1: " + is_new + ", and too few nodes have their data to admit it\n"));
}

// Its Sentinels may find another one, whatever the name of its master.
BOOST_AUTO_TEST_CASE(a_server_that_was_never_fit_needs_an_operator_and_a_group_does_not)
{
    node_status n;
    n.node = "a:26379/7";
    n.state = node_state::down;
    n.last_error = errc::node_unsuitable;
    BOOST_TEST(needs_an_operator(n));
    n.is_group = true;
    BOOST_TEST(!needs_an_operator(n));
}

// A process may end between any two steps of those who read about it.
BOOST_AUTO_TEST_CASE(processes_that_end_while_they_are_looked_at_do_no_harm)
{
    std::atomic<bool> done{false};
    std::jthread const parent{[&] {
        for (int i = 0; i < 1'000; ++i) {
            pid_t const child = ::fork();
            if (child == 0) ::_exit(0);
            ::waitpid(child, nullptr, 0);
        }
        done = true;
    }};
    std::size_t looks = 0;
    while (!done) {
        BOOST_CHECK_NO_THROW(descendants_of(::getpid(), {}));
        ++looks;
    }
    BOOST_TEST(looks > 0u);
}

// Nobody tells the guardian anything after this but what the clock says.
BOOST_AUTO_TEST_CASE(the_guardian_kills_at_its_moment_and_not_before)
{
    offspring const started{::getpid()};
    guardian guard{started};
    pid_t const victim = ::fork();
    if (victim == 0) {
        ::setpgid(0, 0);
        for (;;) ::pause();
    }
    ::setpgid(victim, victim);
    auto const start = boot_clock::now();
    guard.protect(victim, start + 200ms);
    guard.put_off(start + 400ms);
    BOOST_TEST(!guard.has_killed());
    int status = 0;
    BOOST_TEST(::waitpid(victim, &status, 0) == victim);
    auto const after = boot_clock::now() - start;
    BOOST_TEST(WTERMSIG(status) == SIGKILL);
    BOOST_TEST((after >= 400ms && after < 2s), after.count());
    BOOST_TEST(guard.has_killed());
}

// Here redlock has the guardian protect the group: later, a command that ran already could outlive a redlock that is killed.
BOOST_AUTO_TEST_CASE(what_runs_before_exec_leads_the_group_and_precedes_the_command)
{
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    job_control terminal;
    auto const before_exec = [&] {
        pid_t const ids[2] = {::getpid(), ::getpgrp()};
        ::_exit(::write(ends[1], ids, sizeof ids) == sizeof ids ? 9 : 1);
    };
    child const started{{"sh", "-c", "exit 3"}, {}, inheritance{}, terminal, before_exec};
    int status = 0;
    BOOST_TEST(::waitpid(started.pid(), &status, 0) == started.pid());
    BOOST_TEST(WEXITSTATUS(status) == 9);
    pid_t ids[2] = {0, 0};
    BOOST_TEST(::read(ends[0], ids, sizeof ids) == ssize_t{sizeof ids});
    BOOST_TEST(ids[0] == started.pid());
    BOOST_TEST(ids[1] == started.pid());
    ::close(ends[0]);
    ::close(ends[1]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::cli
