// What is asked on the connection that waits for replicas and disks, and what the answers are worth.
#include "node/connection/handshake.hpp"
#include "protocol/durability.hpp"
#include "support/mentions.hpp"
#include "support/printing.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace {

using redlock::testing::mentions;

using namespace redlock;
using namespace redlock::detail;
using boost::redis::resp3::node_view;
using boost::redis::resp3::type;
using namespace std::chrono_literals;

durability const two_replicas{.replicas = 2, .timeout = 200ms};
durability const disk_only{.fsync = true, .timeout = 200ms};
durability const disks_of_three{.replicas = 2, .fsync = true, .timeout = 200ms};

constexpr std::size_t to_write = 0, to_wait = 1, to_info = 2;  // the calls of the message

struct answer {
    std::size_t to;
    node_view node;
};

answer const written{to_write, {type::simple_string, 1, 0, "OK"}};
answer said(std::string_view number) { return {to_wait, {type::number, 1, 0, number}}; }
answer element(std::string_view number) { return {to_wait, {type::number, 1, 1, number}}; }
answer error(std::size_t to, std::string_view text) { return {to, {type::simple_error, 1, 0, text}}; }
answer info(std::string_view text) { return {to_info, {type::verbatim_string, 1, 0, text}}; }

std::optional<not_durable> read(durability const& wanted, std::vector<answer> const& answers)
{
    durability_reader reader{wanted};
    for (answer const& a : answers) reader.on_node(a.to, a.node);
    return reader.conclude();
}

std::string why_not(durability const& wanted, std::vector<answer> const& answers)
{
    auto const problem = read(wanted, answers);
    if (!problem) return "";
    BOOST_TEST((problem->why == errc::not_durable));
    return problem->words;
}

reply answered(vote v) { return {v, {}, {}}; }

// What a handshake makes of a server that answers as follows.
handshake_reader::objection shake_hands(durability const& wanted, std::string const& version, std::string const& replication,
                                        std::string const& wait_answer)
{
    handshake const asks{node_address{.host = "h", .password = ""}, wanted};
    handshake_reader reader{asks};
    using enum handshake::question;
    std::size_t infos = 0;
    for (std::size_t i = 0; i < asks.calls.size(); ++i) {
        switch (asks.calls[i].is) {
        case hello:
            for (auto const& word : {std::string{"version"}, version, std::string{"role"}, std::string{"master"}})
                reader.on_node(i, {type::blob_string, 1, 1, word});
            break;
        case info: reader.on_node(i, {type::verbatim_string, 1, 0, infos++ == 0 ? "run_id:abc\r\n" : replication}); break;
        case wait:
            reader.on_node(i, {wait_answer.starts_with("ERR") || wait_answer.starts_with("NOPERM") ? type::simple_error : type::number, 1,
                               0, wait_answer});
            break;
        default: BOOST_FAIL("another question");
        }
    }
    reader.conclude();
    BOOST_TEST(reader.run_id() == "abc");
    return reader.against();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(durable)

BOOST_AUTO_TEST_CASE(a_write_goes_before_each_wait)
{
    std::string const set = "*5\r\n$3\r\nSET\r\n$12\r\nredlock:wait\r\n$1\r\n1\r\n$2\r\nPX\r\n$5\r\n60000\r\n";
    std::string const look_at = "*2\r\n$4\r\nINFO\r\n$11\r\nreplication\r\n";
    BOOST_TEST(durability_request(two_replicas).payload() == set + "*3\r\n$4\r\nWAIT\r\n$1\r\n2\r\n$3\r\n200\r\n" + look_at);
    BOOST_TEST(durability_request(disks_of_three).payload() ==
               set + "*4\r\n$7\r\nWAITAOF\r\n$1\r\n1\r\n$1\r\n2\r\n$3\r\n200\r\n" + look_at);
    BOOST_TEST(durability_request(disk_only).payload() == set + "*4\r\n$7\r\nWAITAOF\r\n$1\r\n1\r\n$1\r\n0\r\n$3\r\n200\r\n" + look_at);
}

BOOST_AUTO_TEST_CASE(enough_replicas)
{
    BOOST_TEST(why_not(two_replicas, {written, said("2")}) == "");
    BOOST_TEST(why_not(two_replicas, {written, said("3"), info("role:master\r\nconnected_slaves:3\r\n")}) == "");
    BOOST_TEST(why_not(disks_of_three, {written, element("1"), element("2")}) == "");
    BOOST_TEST(why_not(disk_only, {written, element("1"), element("0")}) == "");
}

BOOST_AUTO_TEST_CASE(too_few_replicas)
{
    BOOST_TEST(why_not(two_replicas, {written, said("1"), info("connected_slaves:2\r\n")}) == "1 of 2 replicas acknowledged within 200 ms");
    BOOST_TEST(why_not(two_replicas, {written, said("1"), info("connected_slaves:1\r\n")}) ==
               "1 of 2 replicas acknowledged within 200 ms: the server has 1 of 2 replicas");
    BOOST_TEST(why_not(two_replicas, {written, said("0"), info("connected_slaves:0\r\n")}) ==
               "0 of 2 replicas acknowledged within 200 ms: the server has no replica");
    BOOST_TEST(why_not(two_replicas, {written, said("0"), error(to_info, "NOPERM no INFO")}) ==
               "0 of 2 replicas acknowledged within 200 ms");
}

BOOST_AUTO_TEST_CASE(not_on_disk)
{
    BOOST_TEST(why_not(disk_only, {written, element("0"), element("0")}) == "the server has not written it to its disk within 200 ms");
    BOOST_TEST(why_not(disks_of_three, {written, element("1"), element("1")}) ==
               "1 of 2 replicas acknowledged that it is on theirs within 200 ms");
    BOOST_TEST(why_not(disks_of_three, {written, element("0"), element("0")}) ==
               "the server has not written it to its disk, and 0 of 2 replicas acknowledged that it is on theirs within 200 ms");
}

BOOST_AUTO_TEST_CASE(what_is_not_said_is_not_durable)
{
    BOOST_TEST(why_not(two_replicas, {}) == "0 of 2 replicas acknowledged within 200 ms");
    BOOST_TEST(why_not(two_replicas, {written, {to_wait, {type::simple_string, 1, 0, "2"}}}) ==
               "0 of 2 replicas acknowledged within 200 ms");
    BOOST_TEST(why_not(two_replicas, {written, {to_info, {type::number, 1, 0, "2"}}}) == "0 of 2 replicas acknowledged within 200 ms");
    BOOST_TEST(why_not(disk_only, {}) == "the server has not written it to its disk within 200 ms");
}

// A write that was refused moves nothing: what WAIT says behind it is about earlier ones.
BOOST_AUTO_TEST_CASE(an_error_is_worth_nothing_whatever_follows)
{
    BOOST_TEST(why_not(two_replicas, {error(to_write, "OOM no memory"), said("2")}) == "OOM no memory");
    BOOST_TEST(why_not(two_replicas, {written, error(to_wait, "UNBLOCKED")}) ==
               "its votes wait for replicas or its disk, which the server refuses: UNBLOCKED");
    BOOST_TEST(why_not(disk_only, {error(to_write, "NOPERM a"), error(to_wait, "NOPERM b")}) == "NOPERM a");
}

BOOST_AUTO_TEST_CASE(granted_votes_marks_and_reads_are_taken_back)
{
    batch work;
    work.commands = {{verb::acquire, "a", "v", 1s}, {verb::acquire, "b", "v", 1s}, {verb::confirm, "c", "v", 1s},
                     {verb::extend, "d", "v", 1s},  {verb::release, "e", "v", 1s}, {verb::watch, "f", {}, {}},
                     {verb::inspect, {}, {}, {}},   {verb::acquire, "g", "v", 1s}, {verb::mark, {}, "m", {}},
                     {verb::admit, {}, "m", 1s},    {verb::climb, "h", "v", 1s}};
    std::vector<reply> replies(11, answered(vote::granted));
    replies[1] = answered(vote::refused);
    replies[7] = {vote::failed, errc::server_error, "MISCONF"};
    BOOST_TEST(has_to_be_durable(work, replies));
    take_back(work, replies, {errc::not_durable, "1 of 2"});
    for (std::size_t i : {0u, 2u, 3u, 6u, 8u, 10u}) {
        BOOST_TEST((replies[i].vote == vote::failed && replies[i].error == errc::not_durable), i);
        BOOST_TEST(replies[i].words() == "1 of 2");
    }
    BOOST_TEST(replies[1].vote == vote::refused);
    for (std::size_t i : {4u, 5u, 9u}) BOOST_TEST(replies[i].vote == vote::granted);
    BOOST_TEST((replies[7].error == errc::server_error));
    BOOST_TEST(!has_to_be_durable(work, replies));
}

// The two that are the farthest are at 70 at least.
BOOST_AUTO_TEST_CASE(replicas_that_are_behind_are_told_from_those_that_hang)
{
    auto const replication = info("role:master\r\nconnected_slaves:3\r\n"
                                  "slave0:ip=10.0.0.2,port=6379,state=online,offset=60,lag=0\r\n"
                                  "slave1:ip=10.0.0.3,port=6379,state=online,offset=70,lag=1\r\n"
                                  "slave2:ip=10.0.0.4,port=6379,state=online,offset=90,lag=0\r\nmaster_repl_offset:99\r\n");
    auto const is_late = [&](std::optional<std::uint64_t> before, std::vector<answer> const& answers) {
        durability_reader reader{two_replicas, before};
        for (answer const& a : answers) reader.on_node(a.to, a.node);
        auto const result = reader.conclude();
        BOOST_TEST_REQUIRE(result.has_value());
        return result->is_late;
    };
    durability_reader reader{two_replicas};
    reader.on_node(to_info, replication.node);
    BOOST_TEST_REQUIRE(reader.acknowledged().has_value());
    BOOST_TEST(*reader.acknowledged() == 70u);

    BOOST_TEST(is_late(69, {written, said("1"), replication}));
    BOOST_TEST(!is_late(70, {written, said("1"), replication}), "one of two hangs");
    BOOST_TEST(!is_late({}, {written, said("1"), replication}), "nothing to compare with");
    BOOST_TEST(!is_late(0, {written, said("1")}), "the server does not say");
    BOOST_TEST(!is_late(0, {written, said("1"), info("connected_slaves:1\r\nslave0:state=online,offset=90\r\n")}), "one is gone");
    BOOST_TEST(!is_late(0, {error(to_write, "OOM"), said("1"), replication}));
    BOOST_TEST(read(disk_only, {written, element("0"), element("0")})->is_late, "a slow disk");
}

BOOST_AUTO_TEST_CASE(extensions_may_wait_for_long_and_nothing_else_may)
{
    batch work;
    work.commands = {{verb::extend, "a", "v", 9s}, {verb::extend, "b", "v", 6s}, {verb::extend, "c", "v", 8s}};
    BOOST_TEST((longest_wait_of(work) == 3s));
    work.commands.push_back({verb::acquire, "d", "v", 8s});
    BOOST_TEST((longest_wait_of(work) == 0s));
}

BOOST_AUTO_TEST_CASE(the_handshake_sees_whether_there_is_anything_to_wait_for)
{
    BOOST_TEST(!shake_hands(two_replicas, "7.0.15", "connected_slaves:2\r\n", "2").why);
    BOOST_TEST(!shake_hands(two_replicas, "7.0.15", "", "0").why, "rules that forbid INFO");
    auto const none = shake_hands(two_replicas, "7.0.15", "connected_slaves:0\r\n", "0");
    BOOST_TEST((none.why == errc::not_durable));
    BOOST_TEST(mentions(none.words, "the server has no replica"), none.words);
    BOOST_TEST(mentions(shake_hands(two_replicas, "7.0.15", "connected_slaves:1\r\n", "0").words, "the server has 1 of 2 replicas"));
    BOOST_TEST(!shake_hands(disk_only, "7.2.4", "connected_slaves:0\r\n", "1").why);
}

BOOST_AUTO_TEST_CASE(the_handshake_sees_whether_the_server_can_wait)
{
    auto const old = shake_hands(disk_only, "7.0.15", "", "ERR unknown command 'WAITAOF', with args beginning with: '1' '0' '1'");
    BOOST_TEST((old.why == errc::node_unsuitable));
    BOOST_TEST(mentions(old.words, "since 7.2"), old.words);
    BOOST_TEST(mentions(old.words, "this server is 7.0.15"), old.words);
    auto const no_file = shake_hands(disk_only, "8.0.1", "", "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.");
    BOOST_TEST((no_file.why == errc::node_unsuitable));
    BOOST_TEST(mentions(no_file.words, "set appendonly yes"), no_file.words);
    auto const forbidden = shake_hands(two_replicas, "7.0.15", "", "NOPERM this user has no permissions to run the 'wait' command");
    BOOST_TEST((forbidden.why == errc::server_error));
    BOOST_TEST(mentions(forbidden.words, "its votes need WAIT, which the server refuses (NOPERM"), forbidden.words);
    auto const replica = shake_hands(two_replicas, "7.0.15", "", "ERR WAIT cannot be used with replica instances.");
    BOOST_TEST((replica.why == errc::node_unsuitable));
    BOOST_TEST(replica.words == why_not_a_replica());
}

BOOST_AUTO_TEST_SUITE_END()
