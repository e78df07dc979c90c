// The lost update on a real PostgreSQL server, and what prevents it. Holders of one lock, one after the other, are modelled by their
// tokens; a pause past the end of a lease is a write that comes late. docs/fenced-writes.md refers to these cases.
#include "support/postgres_client.hpp"
#include "support/postgres_server.hpp"

#include <redlock/fence_guard.hpp>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <string>

#include <poll.h>

namespace redlock::testing {
namespace {

std::string const first = "33";   // the token of the holder that pauses
std::string const second = "34";  // the token of the next one

constexpr char const* schema = "CREATE TABLE accounts (id text PRIMARY KEY, balance bigint NOT NULL, version bigint NOT NULL DEFAULT 1,"
                               " fence bigint NOT NULL DEFAULT 1)";  // tokens are larger, and 0, which is none, is refused
constexpr char const* fences = "CREATE TABLE fences (resource text PRIMARY KEY, token bigint NOT NULL CHECK (token > 0))";

constexpr char const* plain_write = "UPDATE accounts SET balance = $2, version = version + 1 WHERE id = $1";
constexpr char const* fenced_write = "UPDATE accounts SET balance = $2, fence = $3 WHERE id = $1 AND fence <= $3";
constexpr char const* fenced_read = "UPDATE accounts SET fence = $2 WHERE id = $1 AND fence <= $2 RETURNING balance";
constexpr char const* versioned_write = "UPDATE accounts SET balance = $2, version = version + 1 WHERE id = $1 AND version = $3";
constexpr char const* raise_fence =
    "INSERT INTO fences VALUES ($1, $2) ON CONFLICT (resource) DO UPDATE SET token = excluded.token WHERE fences.token <= excluded.token";

// Of read-write locks: the largest token of a writer, and of a reader.
constexpr char const* shared_fences =
    "CREATE TABLE shared_fences (resource text PRIMARY KEY, writer bigint NOT NULL, reader bigint NOT NULL, CHECK (writer + reader > 0))";
constexpr char const* enter_to_write =
    "INSERT INTO shared_fences AS f VALUES ($1, $2, 0) ON CONFLICT (resource) DO UPDATE SET writer = excluded.writer"
    " WHERE f.writer <= excluded.writer AND f.reader < excluded.writer";
constexpr char const* enter_to_read =
    "INSERT INTO shared_fences AS f VALUES ($1, 0, $2) ON CONFLICT (resource) DO UPDATE SET reader = greatest(f.reader, excluded.reader)"
    " WHERE f.writer <= excluded.reader";

// One server, and a session for each holder. Account a holds 100.
struct bank {
    postgres_server server;
    postgres_client holder_1{server.where()};
    postgres_client holder_2{server.where()};
    postgres_client onlooker{server.where()};

    bank()
    {
        onlooker.command(schema);
        onlooker.command(fences);
        onlooker.command(shared_fences);
        onlooker.command("INSERT INTO accounts VALUES ('a', 100), ('b', 100)");
    }

    std::string balance(std::string const& id) { return onlooker.command("SELECT balance FROM accounts WHERE id = $1", {id}); }

    // Until the session is waiting for another one. Bounded.
    bool waits(postgres_client const& session)
    {
        constexpr int pause_ms = 2;
        auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds{5};
        while (onlooker.command("SELECT cardinality(pg_blocking_pids($1))", {session.server_pid()}) == "0") {
            if (std::chrono::steady_clock::now() >= deadline) return false;
            ::poll(nullptr, 0, pause_ms);
        }
        return true;
    }
};

std::string read(postgres_client& session, std::string const& column = "balance")
{
    return session.command("SELECT " + column + " FROM accounts WHERE id = 'a'");
}

std::string sum(std::string const& balance, long change) { return std::to_string(std::stol(balance) + change); }

bool wrote(postgres_reply const& reply)
{
    BOOST_TEST(!reply.is_error(), reply.message);
    return reply.affected == 1;
}

bool enter(postgres_client& session, bool writes, std::string const& token, std::string const& resource = "accounts")
{
    return wrote(session.ask(writes ? enter_to_write : enter_to_read, {resource, token}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fenced_writes)

BOOST_FIXTURE_TEST_CASE(without_a_guard_the_update_is_lost, bank)
{
    auto const seen_1 = read(holder_1);  // then it pauses past the end of its lease
    auto const seen_2 = read(holder_2);
    BOOST_TEST(wrote(holder_2.ask(plain_write, {"a", sum(seen_2, -30)})));
    BOOST_TEST(balance("a") == "70");
    BOOST_TEST(wrote(holder_1.ask(plain_write, {"a", sum(seen_1, +50)})));
    BOOST_TEST(balance("a") == "150");  // not 120: the 30 were never taken
}

BOOST_FIXTURE_TEST_CASE(a_fence_refuses_the_late_write, bank)
{
    auto const seen_1 = holder_1.command(fenced_read, {"a", first});
    auto const seen_2 = holder_2.command(fenced_read, {"a", second});
    BOOST_TEST(wrote(holder_2.ask(fenced_write, {"a", sum(seen_2, -30), second})));
    BOOST_TEST(!wrote(holder_1.ask(fenced_write, {"a", sum(seen_1, +50), first})));
    BOOST_TEST(balance("a") == "70");
}

BOOST_FIXTURE_TEST_CASE(a_version_refuses_it_too, bank)
{
    auto const seen_1 = read(holder_1);
    auto const version_1 = read(holder_1, "version");
    auto const seen_2 = read(holder_2);
    auto const version_2 = read(holder_2, "version");
    BOOST_TEST(wrote(holder_2.ask(versioned_write, {"a", sum(seen_2, -30), version_2})));
    BOOST_TEST(!wrote(holder_1.ask(versioned_write, {"a", sum(seen_1, +50), version_1})));
    BOOST_TEST(balance("a") == "70");
}

BOOST_FIXTURE_TEST_CASE(a_holder_writes_as_often_as_it_likes, bank)
{
    BOOST_TEST(wrote(holder_1.ask(fenced_write, {"a", "110", first})));
    BOOST_TEST(wrote(holder_1.ask(fenced_write, {"a", "120", first})));
    BOOST_TEST(balance("a") == "120");
}

BOOST_FIXTURE_TEST_CASE(no_token_writes_nothing, bank)
{
    BOOST_TEST(!wrote(holder_1.ask(fenced_write, {"a", "110", "0"})));
    BOOST_TEST(holder_1.ask(raise_fence, {"accounts", "0"}).sqlstate == "23514");  // check_violation
    BOOST_TEST(balance("a") == "100");
}

// What is written was decided before the pause; the version is read with the row just before it is written, as mappers of objects do.
BOOST_FIXTURE_TEST_CASE(a_late_blind_write_passes_a_version_but_no_fence, bank)
{
    BOOST_TEST(wrote(holder_2.ask(versioned_write, {"a", "70", read(holder_2, "version")})));
    BOOST_TEST(wrote(holder_1.ask(versioned_write, {"a", "150", read(holder_1, "version")})));
    BOOST_TEST(balance("a") == "150");

    BOOST_TEST(wrote(holder_2.ask(fenced_write, {"b", "70", second})));
    BOOST_TEST(!wrote(holder_1.ask(fenced_write, {"b", "150", first})));
    BOOST_TEST(balance("b") == "70");
}

// Holder 2 wrote another row under the same lock. Nothing changed in this one, neither its version nor a fence of its own.
BOOST_FIXTURE_TEST_CASE(a_late_write_to_another_row_needs_a_fence_of_the_lock, bank)
{
    auto const version_1 = read(holder_1, "version");
    BOOST_TEST(wrote(holder_2.ask(fenced_write, {"b", "70", second})));
    BOOST_TEST(wrote(holder_1.ask(versioned_write, {"a", "150", version_1})));
    BOOST_TEST(wrote(holder_1.ask(fenced_write, {"a", "150", first})));

    holder_2.command("BEGIN");
    BOOST_TEST(wrote(holder_2.ask(raise_fence, {"accounts", second})));
    BOOST_TEST(wrote(holder_2.ask(plain_write, {"b", "60"})));
    holder_2.command("COMMIT");

    holder_1.command("BEGIN");
    BOOST_TEST(!wrote(holder_1.ask(raise_fence, {"accounts", first})));
    holder_1.command("ROLLBACK");
}

// A fence knows only the tokens that have come to it.
BOOST_FIXTURE_TEST_CASE(a_fence_must_be_raised_before_reading, bank)
{
    auto const seen_2 = read(holder_2);
    BOOST_TEST(wrote(holder_1.ask(fenced_write, {"a", "150", first})));  // late, but nobody newer has been here
    BOOST_TEST(wrote(holder_2.ask(fenced_write, {"a", sum(seen_2, -30), second})));
    BOOST_TEST(balance("a") == "70");  // not 120: the update of holder 1 is lost

    auto const fenced_2 = holder_2.command(fenced_read, {"b", second});
    BOOST_TEST(!wrote(holder_1.ask(fenced_write, {"b", "150", first})));
    BOOST_TEST(wrote(holder_2.ask(fenced_write, {"b", sum(fenced_2, -30), second})));
    BOOST_TEST(balance("b") == "70");
}

BOOST_FIXTURE_TEST_CASE(a_check_apart_from_the_write_is_none, bank)
{
    BOOST_TEST(wrote(holder_1.ask(raise_fence, {"accounts", first})));  // a transaction of its own; then it pauses
    BOOST_TEST(wrote(holder_2.ask(raise_fence, {"accounts", second})));
    BOOST_TEST(wrote(holder_2.ask(plain_write, {"a", "70"})));
    BOOST_TEST(wrote(holder_1.ask(plain_write, {"a", "150"})));
    BOOST_TEST(balance("a") == "150");
}

// In one transaction, the row of the fence stays locked until the end of it: the next holder waits, and reads what was written.
BOOST_FIXTURE_TEST_CASE(the_next_holder_waits_for_a_transaction_that_has_passed_the_fence, bank)
{
    holder_1.command("BEGIN");
    BOOST_TEST(wrote(holder_1.ask(raise_fence, {"accounts", first})));
    BOOST_TEST(wrote(holder_1.ask(plain_write, {"a", "150"})));

    holder_2.command("BEGIN");
    holder_2.send(raise_fence, {"accounts", second});
    BOOST_TEST_REQUIRE(waits(holder_2));
    holder_1.command("COMMIT");
    BOOST_TEST(wrote(holder_2.receive()));
    BOOST_TEST(read(holder_2) == "150");
    holder_2.command("COMMIT");
}

// The row is locked by the other transaction, and is looked at again when that has committed.
BOOST_FIXTURE_TEST_CASE(read_committed_compares_with_what_was_committed_meanwhile, bank)
{
    holder_2.command("BEGIN");
    BOOST_TEST(wrote(holder_2.ask(fenced_write, {"a", "70", second})));
    holder_1.send(fenced_write, {"a", "150", first});
    BOOST_TEST_REQUIRE(waits(holder_1));
    holder_2.command("COMMIT");
    BOOST_TEST(!wrote(holder_1.receive()));
    BOOST_TEST(balance("a") == "70");
}

BOOST_FIXTURE_TEST_CASE(repeatable_read_fails_instead, bank)
{
    holder_1.command("BEGIN ISOLATION LEVEL REPEATABLE READ");
    BOOST_TEST(read(holder_1) == "100");  // takes its snapshot
    BOOST_TEST(wrote(holder_2.ask(fenced_write, {"a", "70", second})));
    BOOST_TEST(holder_1.ask(fenced_write, {"a", "150", first}).sqlstate == "40001");  // serialization_failure
    holder_1.command("ROLLBACK");
    BOOST_TEST(balance("a") == "70");
}

// Somebody who takes no lock, by hand for instance.
BOOST_FIXTURE_TEST_CASE(a_writer_without_a_token_is_seen_by_a_version_only, bank)
{
    auto const version_1 = read(holder_1, "version");
    BOOST_TEST(wrote(onlooker.ask(plain_write, {"a", "10"})));
    BOOST_TEST(!wrote(holder_1.ask(versioned_write, {"a", "150", version_1})));
    BOOST_TEST(wrote(holder_1.ask(fenced_write, {"a", "150", first})));
    BOOST_TEST(balance("a") == "150");
}

// What a read-write lock protects keeps two numbers. A reader that was paused, and comes when a writer has been here, is refused.
BOOST_FIXTURE_TEST_CASE(a_late_reader_is_refused_behind_a_writer, bank)
{
    BOOST_TEST(enter(holder_1, false, "33"));
    BOOST_TEST(enter(holder_2, true, "34"));
    BOOST_TEST(!enter(holder_1, false, "33"));
}

// A reader of a later group has read what a writer left that was paused: its write would change what was read.
BOOST_FIXTURE_TEST_CASE(a_late_writer_is_refused_behind_readers, bank)
{
    BOOST_TEST(enter(holder_1, true, "33"));
    BOOST_TEST(enter(holder_2, false, "34"));
    BOOST_TEST(!enter(holder_1, true, "33"));
    BOOST_TEST(!enter(holder_1, true, "34"));  // not above the reader
    BOOST_TEST(enter(holder_1, true, "35"));
}

// With one number, the reader with the smaller token would be refused, though no writer was here.
BOOST_FIXTURE_TEST_CASE(groups_of_readers_that_overlap_are_both_served, bank)
{
    BOOST_TEST(enter(holder_1, false, "34"));
    BOOST_TEST(enter(holder_2, false, "33"));
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
            BOOST_TEST(enter(onlooker, writes, std::to_string(token), name) == admitted);
        }
    }
}

// A semaphore's slots have a guard each: the late holder of one is refused, and tokens of another slot say nothing of it.
BOOST_FIXTURE_TEST_CASE(each_slot_of_a_semaphore_has_a_fence_of_its_own, bank)
{
    BOOST_TEST(wrote(holder_1.ask(raise_fence, {"exports#0", first})));
    BOOST_TEST(wrote(holder_2.ask(raise_fence, {"exports#1", "90"})));
    BOOST_TEST(wrote(holder_1.ask(raise_fence, {"exports#0", first})));
    BOOST_TEST(wrote(holder_2.ask(raise_fence, {"exports#0", second})));
    BOOST_TEST(!wrote(holder_1.ask(raise_fence, {"exports#0", first})));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
