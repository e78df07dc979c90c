// The lost update on a real Redis server, and what prevents it. Holders of one lock, one after the other, are modelled by their tokens; a
// pause past the end of a lease is a write that comes late. docs/fenced-writes.md refers to these cases.
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

#include <redlock/fence_guard.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

std::string const first = "33";   // the token of the holder that pauses
std::string const second = "34";  // the token of the next one

// That of examples/fenced_write_redis.cpp.
std::string const fenced = R"(
    if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'fence') or 1) then return false end
    redis.call('HSET', KEYS[1], 'fence', unpack(ARGV))
    return redis.call('HGET', KEYS[1], 'value') or 0)";

// The fence of a lock, in a key beside the data.
std::string const fenced_by_lock = R"(
    if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[1]) or 1) then return false end
    redis.call('SET', KEYS[1], ARGV[1])
    redis.call('HSET', KEYS[2], 'value', ARGV[2])
    return redis.status_reply('OK'))";

// Of a read-write lock: the largest token of a writer, and of a reader. ARGV: the token, and whether it writes. Put what is read or written behind it.
std::string const two_numbers = R"(
    local seen = redis.call('HMGET', KEYS[1], 'writer', 'reader')
    local writer, reader, token = tonumber(seen[1] or 0), tonumber(seen[2] or 0), tonumber(ARGV[1])
    if token < 1 or token < writer or ARGV[2] == 'write' and token <= reader then return 0 end
    if ARGV[2] == 'write' then redis.call('HSET', KEYS[1], 'writer', ARGV[1])
    elseif token > reader then redis.call('HSET', KEYS[1], 'reader', ARGV[1]) end
    return 1)";

struct session {
    resp_client client;

    explicit session(redis_server const& server) : client{loopback::ipv4, server.port(), std::chrono::seconds{20}} {}

    std::string ask(std::vector<std::string> const& words) { return client.ask(words).to_string(); }

    std::string read(std::string const& key = "a") { return ask({"HGET", key, "value"}); }
    void plain_write(std::string const& key, std::string const& value) { ask({"HSET", key, "value", value}); }

    std::string fenced_read(std::string const& token, std::string const& key = "a") { return ask({"EVAL", fenced, "1", key, token}); }
    bool fenced_write(std::string const& token, std::string const& key, std::string const& value)
    {
        return ask({"EVAL", fenced, "1", key, token, "value", value}) == value;
    }
    bool write_under_lock(std::string const& token, std::string const& key, std::string const& value,
                          std::string const& fence = "accounts:fence")
    {
        return ask({"EVAL", fenced_by_lock, "2", fence, key, token, value}) == "OK";
    }
    bool enter(bool writes, std::string const& token, std::string const& fence = "accounts:fences")
    {
        return client.ask({"EVAL", two_numbers, "1", fence, token, writes ? "write" : "read"}).text == "1";
    }

    // Redis' own optimistic locking: the version of a key is whether it was touched since WATCH.
    void watch(std::string const& key) { ask({"WATCH", key}); }
    bool write_if_untouched(std::string const& key, std::string const& value)
    {
        ask({"MULTI"});
        ask({"HSET", key, "value", value});
        return !client.ask({"EXEC"}).is_nil();
    }
};

// One server, and a session for each holder. Account a holds 100.
struct bank {
    redis_server server;
    session holder_1{server};
    session holder_2{server};
    session onlooker{server};

    bank()
    {
        onlooker.plain_write("a", "100");
        onlooker.plain_write("b", "100");
    }
};

std::string sum(std::string const& balance, long change) { return std::to_string(std::stol(balance) + change); }

}  // namespace

BOOST_AUTO_TEST_SUITE(fenced_writes)

BOOST_FIXTURE_TEST_CASE(without_a_guard_the_update_is_lost, bank)
{
    auto const seen_1 = holder_1.read();  // then it pauses past the end of its lease
    auto const seen_2 = holder_2.read();
    holder_2.plain_write("a", sum(seen_2, -30));
    BOOST_TEST(onlooker.read() == "70");
    holder_1.plain_write("a", sum(seen_1, +50));
    BOOST_TEST(onlooker.read() == "150");  // not 120: the 30 were never taken
}

BOOST_FIXTURE_TEST_CASE(a_fence_refuses_the_late_write, bank)
{
    auto const seen_1 = holder_1.fenced_read(first);
    auto const seen_2 = holder_2.fenced_read(second);
    BOOST_TEST(holder_2.fenced_write(second, "a", sum(seen_2, -30)));
    BOOST_TEST(!holder_1.fenced_write(first, "a", sum(seen_1, +50)));
    BOOST_TEST(holder_1.fenced_read(first) == "(nil)");
    BOOST_TEST(onlooker.read() == "70");
}

BOOST_FIXTURE_TEST_CASE(a_watched_key_refuses_it_too, bank)
{
    holder_1.watch("a");
    auto const seen_1 = holder_1.read();
    holder_2.watch("a");
    auto const seen_2 = holder_2.read();
    BOOST_TEST(holder_2.write_if_untouched("a", sum(seen_2, -30)));
    BOOST_TEST(!holder_1.write_if_untouched("a", sum(seen_1, +50)));
    BOOST_TEST(onlooker.read() == "70");
}

BOOST_FIXTURE_TEST_CASE(a_holder_writes_as_often_as_it_likes, bank)
{
    BOOST_TEST(holder_1.fenced_write(first, "a", "110"));
    BOOST_TEST(holder_1.fenced_write(first, "a", "120"));
    BOOST_TEST(onlooker.read() == "120");
}

BOOST_FIXTURE_TEST_CASE(no_token_writes_nothing, bank)
{
    BOOST_TEST(!holder_1.fenced_write("0", "a", "110"));
    BOOST_TEST(!holder_1.fenced_write("", "a", "110"));
    BOOST_TEST(!holder_1.write_under_lock("0", "a", "110"));
    BOOST_TEST(onlooker.read() == "100");
}

// The largest tokens that there are: Lua's numbers are doubles, exact up to 2^53.
BOOST_FIXTURE_TEST_CASE(neighbours_among_the_largest_tokens_are_told_apart, bank)
{
    BOOST_TEST(holder_2.fenced_write("9007199254740991", "a", "70"));
    BOOST_TEST(!holder_1.fenced_write("9007199254740990", "a", "150"));
    BOOST_TEST(onlooker.ask({"HGET", "a", "fence"}) == "9007199254740991");
}

// What is written was decided before the pause, and nothing is read: there is nothing to watch from.
BOOST_FIXTURE_TEST_CASE(a_late_blind_write_passes_a_watch_but_no_fence, bank)
{
    holder_2.watch("a");
    BOOST_TEST(holder_2.write_if_untouched("a", "70"));
    holder_1.watch("a");
    BOOST_TEST(holder_1.write_if_untouched("a", "150"));
    BOOST_TEST(onlooker.read("a") == "150");

    BOOST_TEST(holder_2.fenced_write(second, "b", "70"));
    BOOST_TEST(!holder_1.fenced_write(first, "b", "150"));
    BOOST_TEST(onlooker.read("b") == "70");
}

// Holder 2 wrote another key under the same lock. Nobody touched this one, and its own fence has seen nothing.
BOOST_FIXTURE_TEST_CASE(a_late_write_to_another_key_needs_a_fence_of_the_lock, bank)
{
    holder_1.watch("a");
    BOOST_TEST(holder_2.fenced_write(second, "b", "70"));
    BOOST_TEST(holder_1.write_if_untouched("a", "150"));
    BOOST_TEST(holder_1.fenced_write(first, "a", "150"));

    BOOST_TEST(holder_2.write_under_lock(second, "b", "60"));
    BOOST_TEST(!holder_1.write_under_lock(first, "a", "160"));
}

// A fence knows only the tokens that have come to it.
BOOST_FIXTURE_TEST_CASE(a_fence_must_be_raised_before_reading, bank)
{
    auto const seen_2 = holder_2.read("a");
    BOOST_TEST(holder_1.fenced_write(first, "a", "150"));  // late, but nobody newer has been here
    BOOST_TEST(holder_2.fenced_write(second, "a", sum(seen_2, -30)));
    BOOST_TEST(onlooker.read("a") == "70");  // not 120: the update of holder 1 is lost

    auto const fenced_2 = holder_2.fenced_read(second, "b");
    BOOST_TEST(!holder_1.fenced_write(first, "b", "150"));
    BOOST_TEST(holder_2.fenced_write(second, "b", sum(fenced_2, -30)));
    BOOST_TEST(onlooker.read("b") == "70");
}

BOOST_FIXTURE_TEST_CASE(a_check_apart_from_the_write_is_none, bank)
{
    BOOST_TEST(holder_1.fenced_read(first) == "100");  // it may write; then it pauses
    BOOST_TEST(holder_2.fenced_write(second, "a", "70"));
    holder_1.plain_write("a", "150");
    BOOST_TEST(onlooker.read() == "150");
}

// Somebody who takes no lock, by hand for instance.
BOOST_FIXTURE_TEST_CASE(a_writer_without_a_token_is_seen_by_a_watch_only, bank)
{
    holder_1.watch("a");
    onlooker.plain_write("a", "10");
    BOOST_TEST(!holder_1.write_if_untouched("a", "150"));
    BOOST_TEST(holder_1.fenced_write(first, "a", "150"));
    BOOST_TEST(onlooker.read() == "150");
}

// A fence that can be forgotten is none.
BOOST_FIXTURE_TEST_CASE(a_fence_that_is_deleted_with_its_data_lets_everybody_in, bank)
{
    BOOST_TEST(holder_2.fenced_write(second, "a", "70"));
    onlooker.ask({"DEL", "a"});
    BOOST_TEST(holder_1.fenced_write(first, "a", "150"));
}

// What a read-write lock protects keeps two numbers. A reader that was paused, and comes when a writer has been here, is refused.
BOOST_FIXTURE_TEST_CASE(a_late_reader_is_refused_behind_a_writer, bank)
{
    BOOST_TEST(holder_1.enter(false, "33"));
    BOOST_TEST(holder_2.enter(true, "34"));
    BOOST_TEST(!holder_1.enter(false, "33"));
}

// A reader of a later group has read what a writer left that was paused: its write would change what was read.
BOOST_FIXTURE_TEST_CASE(a_late_writer_is_refused_behind_readers, bank)
{
    BOOST_TEST(holder_1.enter(true, "33"));
    BOOST_TEST(holder_2.enter(false, "34"));
    BOOST_TEST(!holder_1.enter(true, "33"));
    BOOST_TEST(!holder_1.enter(true, "34"));  // not above the reader
    BOOST_TEST(holder_1.enter(true, "35"));
}

// With one number, the reader with the smaller token would be refused, though no writer was here.
BOOST_FIXTURE_TEST_CASE(groups_of_readers_that_overlap_are_both_served, bank)
{
    BOOST_TEST(holder_1.enter(false, "34"));
    BOOST_TEST(holder_2.enter(false, "33"));
}

// Every order in which four accesses can come, and what fence_guard says of each.
BOOST_FIXTURE_TEST_CASE(the_two_numbers_are_those_of_fence_guard, bank)
{
    fence_guard guard;
    for (std::size_t order = 0; order < 6 * 6 * 6 * 6; ++order) {
        auto const name = "order " + std::to_string(order);
        std::size_t rest = order;
        for (int access = 0; access < 4; ++access, rest /= 6) {
            bool const writes = rest % 2 == 0;
            auto const token = 33 + rest % 6 / 2;
            bool const admitted = writes ? guard.admit(name, token) : guard.admit_shared(name, token);
            BOOST_TEST(onlooker.enter(writes, std::to_string(token), name) == admitted);
        }
    }
}

// A semaphore's slots have a guard each: the late holder of one is refused, and tokens of another slot say nothing of it.
BOOST_FIXTURE_TEST_CASE(each_slot_of_a_semaphore_has_a_fence_of_its_own, bank)
{
    BOOST_TEST(holder_1.write_under_lock(first, "a", "1", "exports#0:last"));
    BOOST_TEST(holder_2.write_under_lock("90", "b", "1", "exports#1:last"));
    BOOST_TEST(holder_1.write_under_lock(first, "a", "2", "exports#0:last"));
    BOOST_TEST(holder_2.write_under_lock(second, "a", "3", "exports#0:last"));
    BOOST_TEST(!holder_1.write_under_lock(first, "a", "4", "exports#0:last"));
    BOOST_TEST(onlooker.read("a") == "3");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
