// Readers of a read-write lock beside locks of other libraries of the same name, which know nothing of readers.
#include "peers.hpp"

#include <redlock/rw_lock.hpp>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <string>

namespace redlock::testing {
namespace {

namespace data = boost::unit_test::data;

auto const all_peers = data::make({node_redlock, ioredis, redis_py, redlock_net});

// What its release says where the key is a set of readers: some throw the server's error, others only count that it was no vote.
std::string answer_to_wrong_type(peer const& of) { return of.servers == 1 ? "wrongtype" : "unconfirmed"; }

}  // namespace

BOOST_AUTO_TEST_SUITE(peers_and_readers)

BOOST_DATA_TEST_CASE(its_lock_keeps_readers_out, all_peers, other)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        rw_lock const resource{both.nodes, "r", quick};
        co_await both.expect(*theirs, "acquire r 20000", "held");
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire_shared(report, asio::as_tuple);
        BOOST_TEST(ec == condition::contended, verdicts(report));
        co_await both.expect(*theirs, "release", "released");
        lease const one = co_await resource.acquire_shared();
        lease const two = co_await resource.acquire_shared();
        BOOST_TEST((one.valid() && two.valid()));
    });
}

// Until the last of them has ended.
BOOST_DATA_TEST_CASE(readers_keep_its_lock_out, all_peers, other)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        rw_lock const resource{both.nodes, "r", quick};
        lease one = co_await resource.acquire_shared();
        lease two = co_await resource.acquire_shared();
        co_await both.expect(*theirs, "acquire r 20000", "refused");
        co_await one.release();
        co_await both.nodes.drain();
        co_await both.expect(*theirs, "acquire r 20000", "refused");
        BOOST_TEST(two.valid());
        co_await two.release();
        co_await both.nodes.drain();
        co_await both.expect(*theirs, "acquire r 20000", "held");
        co_await both.expect(*theirs, "release", "released");
    });
}

// Its own lock has expired, and readers hold the name: its scripts meet WRONGTYPE, and nothing happens to the readers.
BOOST_DATA_TEST_CASE(its_late_release_does_nothing_to_readers, all_peers, other)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        rw_lock const resource{both.nodes, "r", quick};
        co_await both.expect(*theirs, "acquire r 300", "held");
        lease one = co_await resource.acquire_shared();
        lease two = co_await resource.acquire_shared();
        co_await both.expect(*theirs, "release", answer_to_wrong_type(other));
        co_await one.extend();
        co_await two.extend();
        BOOST_TEST(both.servers_with(both.key_of("r")) > other.servers / 2);
        for (auto& server : both.servers)
            if (server.command({"EXISTS", both.key_of("r")}) == "1") BOOST_TEST(server.command({"ZCARD", both.key_of("r")}) == "3");
        co_await one.release();
        co_await two.release();
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
