// Users with the fewest rights that locks need, and what happens without each of them. docs/connections.md has the same lists.
#include "support/one_client.hpp"
#include "support/replication.hpp"

#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {
namespace {

using rights = std::vector<std::string>;

rights const for_plain_locks{"+set", "+get", "+del", "+pexpire", "+exists", "+evalsha", "+script|load", "+time"};
rights const for_tokens{"+mget", "+info"};
rights const for_waiting{"+pttl", "+client|tracking", "+client|caching"};
rights const plain_keys{"~lock:*"};
rights const token_keys{"~redlock:node", "~redlock:hw", "~redlock:set"};
rights const for_readers{"+zadd", "+zscore", "+zrem", "+zrange", "+zremrangebyscore", "+pexpireat"};

rights operator+(rights a, rights const& b)
{
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

redis_server_options with_user(rights const& may) { return {.arguments = rights{"--user", "locker", "on", ">s3cr3t"} + may}; }

node_address as_user(redis_server const& s) { return {.host = "127.0.0.1", .port = s.port(), .username = "locker", .password = "s3cr3t"}; }

constexpr std::string_view only_polls = "works, but polls";

// What comes of it when a user of one server does all that locks can do; "works", or where it ends and why.
class trial {
public:
    trial(rights const& may, bool fencing)
        : c_{1, with_user(may), as_user, fresh_config(), beginning::empty},
          options_{.ttl = 2s, .fencing = fencing, .node_timeout = 400ms, .poll_interval = 200ms}
    {
        c_.usable_at_start = 0;
        c_.keys_may_stay = true;
    }

    // The same of a read-write lock: two readers, a writer that waits for them and becomes a reader.
    std::string outcome_of_readers()
    {
        std::string result;
        c_.run([&]() -> asio::awaitable<void> {
            auto playing = read_and_write();
            result = co_await std::move(playing);
        });
        return result;
    }

    std::string outcome()
    {
        std::string result;
        c_.run([&]() -> asio::awaitable<void> {
            auto playing = play();
            result = co_await std::move(playing);
        });
        return result;
    }

private:
    static config fresh_config()
    {
        config settings = quick_config();
        settings.bootstrap = true;
        return settings;
    }

    asio::awaitable<std::string> play()
    {
        auto ready = eventually([&] { return c_.usable() == 1; }, 500ms);
        bool const is_ready = co_await std::move(ready);
        if (!is_ready) co_return "down: " + c_.first().last_error_text;
        for (std::vector<std::string> const& names : {std::vector<std::string>{"lock:a"}, {"lock:a", "lock:b"}}) {
            lock const resource{c_.nodes, names, options_};
            attempt_report report;
            auto attempt = one_by_one(resource, report);
            auto failure = co_await std::move(attempt);
            if (!failure.empty()) co_return (names.size() == 1 ? "one name: " : "two names: ") + failure;
        }
        // On a loaded machine the lock may be released before the nodes watch its key for the first one, who then finds out by itself.
        std::string outcome;
        for (int tries = 0; tries < 3 && (outcome.empty() || outcome == only_polls); ++tries) {
            auto waiting = wait_for_another();
            outcome = co_await std::move(waiting);
        }
        co_return outcome;
    }

    // Acquire (a new set of nodes admits itself first), extend, release.
    asio::awaitable<std::string> one_by_one(lock resource, attempt_report& report)
    {
        error_code ec;
        lease held;
        for (int tries = 0; tries < 20 && !held.valid(); ++tries) {
            auto attempt = resource.try_acquire(report, asio::as_tuple);
            auto [why, won] = co_await std::move(attempt);
            ec = why;
            held = std::move(won);
            auto pausing = pause(ec ? 20ms : 0ms);
            co_await std::move(pausing);
        }
        if (ec) co_return "acquire: " + report.nodes[0].detail;
        auto extend = held.extend(asio::as_tuple);
        auto [not_extended] = co_await std::move(extend);
        if (not_extended) co_return "extend: " + not_extended.message();
        auto release = held.release(asio::as_tuple);
        auto [not_released] = co_await std::move(release);
        co_return not_released ? "release: " + not_released.message() : "";
    }

    asio::awaitable<std::string> read_and_write()
    {
        rw_lock const both{c_.nodes, "lock:a", options_};
        attempt_report report;
        error_code ec;
        lease one;
        for (int tries = 0; tries < 20 && !one.valid(); ++tries) {
            auto attempt = both.try_acquire_shared(report, asio::as_tuple);
            auto [why, won] = co_await std::move(attempt);
            ec = why;
            one = std::move(won);
            auto pausing = pause(ec ? 20ms : 0ms);
            co_await std::move(pausing);
        }
        if (ec) co_return "acquire: " + report.nodes[0].detail;
        auto second = both.try_acquire_shared(report, asio::as_tuple);
        auto [not_second, two] = co_await std::move(second);
        if (not_second) co_return "acquire another: " + report.nodes[0].detail;
        auto extend = one.extend(asio::as_tuple);
        auto [not_extended] = co_await std::move(extend);
        if (not_extended) co_return "extend: " + not_extended.message();
        // The handler may be called after this coroutine has returned.
        auto const writer = std::make_shared<lease>();
        both.acquire([writer](error_code, lease won) { *writer = std::move(won); });
        auto seeing = eventually([&] { return c_.nodes.status().counters.contended > 0; });
        co_await std::move(seeing);
        for (lease* each : {&one, &two}) {
            auto release = each->release(asio::as_tuple);
            auto [not_released] = co_await std::move(release);
            if (not_released) co_return "release: " + not_released.message();
        }
        auto winning = eventually([&] { return writer->valid(); });
        if (!co_await std::move(winning)) co_return "the writer waits for ever";
        auto down = writer->downgrade(asio::as_tuple);
        auto [not_down] = co_await std::move(down);
        if (not_down) co_return "downgrade: " + not_down.message();
        auto last = writer->release(asio::as_tuple);
        auto [not_last] = co_await std::move(last);
        co_return not_last ? "release of the writer: " + not_last.message() : "works";
    }

    // Another client holds the lock and releases it: the first one is told, or finds out when it looks.
    asio::awaitable<std::string> wait_for_another()
    {
        auto other = c_.another();
        lock const theirs{*other, "lock:a", options_}, ours{c_.nodes, "lock:a", options_};
        auto acquire = theirs.acquire();
        lease first = co_await std::move(acquire);
        auto const before = c_.nodes.status().counters;
        // The handler may be called after this coroutine has returned.
        auto const won = std::make_shared<bool>(false);
        ours.acquire([won](error_code ec, lease second) {
            *won = !ec;
            second = lease{};
        });
        auto seeing = eventually([&] { return c_.nodes.status().counters.contended > before.contended; });
        co_await std::move(seeing);
        auto release = first.release();
        co_await std::move(release);
        auto winning = eventually([&] { return *won; });
        bool const has_won = co_await std::move(winning);
        auto const after = c_.nodes.status().counters;
        other->cancel();
        if (!has_won) co_return "never woken";
        co_return after.polls == before.polls&& after.wakeups > before.wakeups ? std::string{"works"} : std::string{only_polls};
    }

    cluster_reached c_;
    lock_options options_;
};

rights without(rights all, std::string const& right)
{
    std::erase(all, right);
    return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(access_control)

BOOST_AUTO_TEST_CASE(read_write_locks_need_more_and_no_more_than_that)
{
    rights const all = for_plain_locks + for_tokens + for_waiting + plain_keys + token_keys + for_readers;
    BOOST_TEST(trial(all, true).outcome_of_readers() == "works");
    for (std::string const& right : for_readers) {
        auto const found = trial(without(all, right), true).outcome_of_readers();
        BOOST_TEST(found != "works", "without " << right);
    }
}

// Nobody holds the lock, so nobody is told that somebody does.
BOOST_AUTO_TEST_CASE(a_reader_without_a_right_is_told_which)
{
    rights const all = for_plain_locks + for_tokens + for_waiting + plain_keys + token_keys + for_readers;
    for (std::string const right : {"+zscore", "+zadd", "+zremrangebyscore", "+pexpireat", "+pttl"}) {
        auto const found = trial(without(all, right), true).outcome_of_readers();
        BOOST_TEST(found.find("allow " + right + " to the user") != std::string::npos, "without " << right << ": " << found);
    }
}

// What a server refuses to say of a key is not that somebody else has it.
BOOST_AUTO_TEST_CASE(a_lease_outlives_a_right_that_is_taken_away_for_a_moment)
{
    auto const may = for_plain_locks + for_waiting + plain_keys;
    config settings = quick_config();
    settings.bootstrap = true;
    cluster_reached c{1, with_user(may), as_user, settings, beginning::empty};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "lock:a", {.ttl = 20s, .fencing = false}};
        auto acquire = resource.acquire();
        lease held = co_await std::move(acquire);
        c.servers[0].command({"ACL", "SETUSER", "locker", "-get"});
        auto refused = held.extend(asio::as_tuple);
        auto [not_extended] = co_await std::move(refused);
        BOOST_TEST(!!not_extended);
        BOOST_TEST(held.valid());
        c.servers[0].command({"ACL", "SETUSER", "locker", "+get"});
        auto again = held.extend(asio::as_tuple);
        auto [not_again] = co_await std::move(again);
        BOOST_TEST(!not_again, not_again.message());
        auto release = held.release(asio::as_tuple);
        auto [not_released] = co_await std::move(release);
        BOOST_TEST(!not_released, not_released.message());
    });
}

rights const of_plain_locks = for_plain_locks + for_waiting + plain_keys;
rights const of_locks_with_tokens = of_plain_locks + for_tokens + token_keys;

BOOST_AUTO_TEST_CASE(plain_locks_need_no_more) { BOOST_TEST(trial(of_plain_locks, false).outcome() == "works"); }

BOOST_AUTO_TEST_CASE(locks_with_tokens_need_no_more) { BOOST_TEST(trial(of_locks_with_tokens, true).outcome() == "works"); }

BOOST_AUTO_TEST_CASE(the_docs_have_the_same_lists)
{
    std::ifstream file{REDLOCK_CONNECTIONS_DOC};
    std::string const text{std::istreambuf_iterator<char>{file}, {}};
    for (auto const& list : {of_plain_locks, of_locks_with_tokens}) {
        std::string line = "ACL SETUSER locker on >PASSWORD";
        for (auto const& right : list) line += ' ' + right;
        BOOST_TEST(text.find(line + '\n') != std::string::npos, line);
    }
}

BOOST_AUTO_TEST_CASE(three_nodes_that_nobody_ever_used)
{
    config settings = quick_config();
    settings.bootstrap = true;
    cluster_reached c{3, with_user(of_locks_with_tokens), as_user, settings, beginning::empty};
    c.run([&]() -> asio::awaitable<void> {
        auto locking = c.lock_everywhere("lock:r");
        co_await std::move(locking);
        for (auto const& n : c.nodes.status().nodes) BOOST_TEST((n.admission == admission_state::admitted), n.admission_text);
        BOOST_TEST(c.servers[0].command({"CLIENT", "LIST"}).find(" user=locker ") != std::string::npos);
    });
}

// Operations of one turn share calls, and a name that is forbidden to one of them is nothing to the others.
BOOST_AUTO_TEST_CASE(a_forbidden_name_does_not_disturb_its_neighbours)
{
    config settings = quick_config();
    settings.bootstrap = true;
    cluster_reached c{1, with_user(of_locks_with_tokens), as_user, settings, beginning::empty};
    c.run([&]() -> asio::awaitable<void> {
        auto ready = c.lock_everywhere("lock:first");
        co_await std::move(ready);
        lock const a{c.nodes, "lock:a"}, forbidden{c.nodes, "other:b"}, d{c.nodes, "lock:d"};
        auto all = asio::experimental::make_parallel_group(a.try_acquire(asio::deferred), forbidden.try_acquire(asio::deferred),
                                                           d.try_acquire(asio::deferred))
                       .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
        auto [order, of_a, lease_a, of_b, lease_b, of_d, lease_d] = co_await std::move(all);
        BOOST_TEST(!of_a, of_a.message());
        BOOST_TEST(of_b == errc::no_majority);
        BOOST_TEST(!of_d, of_d.message());
        auto both = asio::experimental::make_parallel_group(lease_a.release(asio::deferred), lease_d.release(asio::deferred))
                        .async_wait(asio::experimental::wait_for_all(), asio::use_awaitable);
        auto [also, released_a, released_d] = co_await std::move(both);
        BOOST_TEST(!released_a, released_a.message());
        BOOST_TEST(!released_d, released_d.message());
        BOOST_TEST(c.servers[0].command({"EXISTS", "lock:a", "lock:d"}) == "0");
    });
}

// What each is there for: without it, this is where it ends.
BOOST_AUTO_TEST_CASE(each_of_them_is_needed)
{
    struct consequence {
        std::string right, plain, with_tokens;
    };
    std::string const unidentified = "one name: acquire: it does not tell whether it lost its data: allow +info +mget +time and the keys";
    auto const down = [](std::string const& right) {
        return "the user may not use commands without which a lock cannot be kept and released; allow it (ACL SETUSER) " + right;
    };
    consequence const all[] = {
        {"+set", down("+set"), down("+set")},
        {"+get", down("+get"), down("+get")},
        {"+del", down("+del"), down("+del")},
        {"+pexpire", down("+pexpire"), down("+pexpire")},
        {"+evalsha", down("+evalsha"), down("+evalsha")},
        {"+script|load", "down: NOPERM", "down: NOPERM"},
        {"~lock:*", "one name: acquire: NOPERM", "one name: acquire: NOPERM"},
        {"+exists", "allow +exists to the user",
         "works"},  // plain locks of several names; with tokens, nodes that lost a part of their memory
        {"+time", "works", unidentified},  // without it, wall clocks that are set are not noticed
        {"+client|tracking", "works, but polls", "works, but polls"},
        {"+client|caching", "works, but polls", "works, but polls"},
        {"+pttl", "works, but polls", "works, but polls"},
        {"+mget", "", unidentified},
        {"+info", "", unidentified},
        {"~redlock:node", "", unidentified},
        {"~redlock:hw", "", unidentified},
        {"~redlock:set", "", "works"},  // sets of nodes are not compared
    };
    BOOST_TEST(std::size(all) == of_locks_with_tokens.size());
    for (auto const& [right, plain, with_tokens] : all) {
        auto const found = trial(without(of_locks_with_tokens, right), true).outcome();
        BOOST_TEST(found.find(with_tokens) != std::string::npos, right << " of locks with tokens: " << found);
        BOOST_TEST((with_tokens != "works" || found == "works"), right << ": " << found);
        if (plain.empty()) continue;
        auto const found_plain = trial(without(of_plain_locks, right), false).outcome();
        BOOST_TEST(found_plain.find(plain) != std::string::npos, right << " of plain locks: " << found_plain);
    }
}

BOOST_AUTO_TEST_CASE(several_rights_that_are_missing_are_named_together)
{
    auto const found = trial(without(without(of_plain_locks, "+get"), "+pexpire"), false).outcome();
    BOOST_TEST(found.ends_with("+get +pexpire"), found);
}

// Votes that wait for a replica.
BOOST_AUTO_TEST_CASE(waiting_for_replicas_needs_two_more)
{
    auto const outcome = [](rights const& more) {
        cluster_reached c{1, quick_to_copy(with_user(of_locks_with_tokens + more)), [](redis_server const& s) {
                              auto address = as_user(s);
                              address.replicas = 1;
                              return address;
                          }};
        redis_server replica{quick_to_copy({})};
        follow(replica, c.servers[0]);
        wait_for_replicas(c.servers[0], 1);
        admit(c.servers[0], 0, 1);
        c.usable_at_start = 0;
        c.keys_may_stay = true;
        std::string result;
        c.run([&]() -> asio::awaitable<void> {
            auto ready = eventually([&] { return c.usable() == 1; }, 1s);
            bool const is_ready = co_await std::move(ready);
            if (!is_ready) {
                result = "down: " + c.first().last_error_text;
                co_return;
            }
            lock const resource{c.nodes, "lock:r", {.ttl = 20s, .node_timeout = 2s}};
            attempt_report report;
            auto attempt = resource.try_acquire(report, asio::as_tuple);
            auto [ec, held] = co_await std::move(attempt);
            result = ec ? report.nodes[0].detail : "works";
        });
        return result;
    };
    BOOST_TEST(outcome({"+wait", "~redlock:wait"}) == "works");
    auto const no_wait = outcome({"~redlock:wait"});
    BOOST_TEST(no_wait.starts_with("down: its votes need WAIT, which the server refuses (NOPERM"), no_wait);
    auto const no_key = outcome({"+wait"});
    BOOST_TEST(no_key.starts_with("NOPERM"), no_key);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
