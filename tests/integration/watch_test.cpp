// A node on a real server says when keys change: asked by hand, without a client.
#include "support/cluster.hpp"
#include "support/redis_server.hpp"
#include "support/watching_node.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;
using detail::batch;
using detail::command;
using detail::reply;
using detail::verb;

struct one_server {
    long armed() const
    {
        auto const text = server.command({"INFO", "stats"});
        constexpr std::string_view name = "tracking_total_keys:";
        return std::stol(text.substr(text.find(name) + name.size()));
    }

    redis_server server;
};

struct watched_server : one_server {
    watching_node node{server.url()};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(watch)

BOOST_FIXTURE_TEST_CASE(it_says_how_long_keys_stay, watched_server)
{
    auto const free = node.watch("a", {"b", "c"});
    BOOST_TEST((free.vote == vote::granted && free.watching && !free.expires_in));
    server.command({"SET", "b", "theirs", "PX", "20000"});
    server.command({"SET", "c", "theirs", "PX", "50000"});
    auto const held = node.watch("a", {"b", "c"});
    BOOST_TEST((held.expires_in > 40s && held.expires_in <= 50s));
    server.command({"HSET", "a", "of", "another type"});
    BOOST_TEST((node.watch("a", {"b", "c"}).expires_in == detail::never_expires));
}

BOOST_FIXTURE_TEST_CASE(it_says_what_somebody_else_changes, watched_server)
{
    node.watch("a");
    server.command({"SET", "a", "theirs", "PX", "20000"});
    BOOST_TEST((node.said(1) == keys{"a"}));
    node.watch("a");
    server.command({"PEXPIRE", "a", "30000"});
    BOOST_TEST((node.said(1) == keys{"a"}));
    node.watch("a");
    server.command({"DEL", "a"});
    BOOST_TEST((node.said(1) == keys{"a"}));
    node.watch("a", {"b"});
    server.command({"SET", "b", "theirs"});
    BOOST_TEST((node.said(1) == keys{"b"}));
}

BOOST_FIXTURE_TEST_CASE(it_says_that_a_key_has_expired, watched_server)
{
    server.command({"SET", "a", "theirs", "PX", "200"});
    auto const stays = node.watch("a").expires_in;
    auto const begin = std::chrono::steady_clock::now();
    BOOST_TEST((node.said(1) == keys{"a"}));
    BOOST_TEST((std::chrono::steady_clock::now() - begin >= *stays));
}

BOOST_FIXTURE_TEST_CASE(it_says_it_once, watched_server)
{
    node.watch("a");
    server.command({"SET", "a", "theirs"});
    server.command({"DEL", "a"});
    BOOST_TEST((node.said() == keys{"a"}));
}

BOOST_FIXTURE_TEST_CASE(it_says_that_all_keys_are_gone, watched_server)
{
    node.watch("a");
    server.command({"FLUSHALL"});
    BOOST_TEST((node.said(1) == keys{""}));
    server.command({"SET", "a", "theirs"});
    BOOST_TEST((node.said() == keys{}));
    BOOST_TEST(node.downs == 0);
}

BOOST_FIXTURE_TEST_CASE(what_we_change_ourselves_it_does_not_say_and_does_not_watch_any_more, watched_server)
{
    node.watch("a");
    BOOST_TEST((node.ask({verb::acquire, "a", "ours", 20s}).vote == vote::granted));
    server.command({"DEL", "a"});
    BOOST_TEST((node.said() == keys{}));
}

BOOST_FIXTURE_TEST_CASE(it_forgets_what_it_watched_with_the_connection, watched_server)
{
    node.watch("a");
    server.command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    BOOST_REQUIRE(node.until([&] { return node.ups == 2; }));
    server.command({"SET", "a", "theirs"});
    BOOST_TEST((node.said() == keys{}));
    BOOST_TEST(node.watch("a").watching);
    server.command({"DEL", "a"});
    BOOST_TEST((node.said(1) == keys{"a"}));
}

// The batch is long enough for the server to serve others between its commands, and so to push between its answers.
BOOST_FIXTURE_TEST_CASE(an_answer_comes_before_what_changed_after_it, watched_server)
{
    keys many;
    for (int i = 0; i < 20'000; ++i) many.push_back("key" + std::to_string(i));
    batch work;
    work.commands.push_back({verb::watch, "a", {}, {}});
    for (auto const& key : many) work.commands.push_back({verb::acquire, key, "ours", 20s});
    std::vector<reply> replies;
    bool answered = false;
    bool said_before = false;
    node.node.exec(work, node.id, replies, [&](error_code) {
        answered = true;
        said_before = !node.changed.empty();
    });
    resp_client other{loopback::ipv4, server.port(), 60s};
    BOOST_REQUIRE(node.until([&] {
        if (!answered) other.ask({"SET", "a", "theirs"});
        return answered;
    }));
    BOOST_TEST(!said_before);
    BOOST_TEST((node.said(1) == keys{"a"}));
}

BOOST_FIXTURE_TEST_CASE(more_pushes_than_boost_redis_keeps, watched_server)
{
    keys many;
    keys del{"DEL"};
    for (int i = 0; i < 2'000; ++i) many.push_back("key" + std::to_string(1'000'000 + i));
    keys set{"MSET"};
    for (auto const& key : many) {
        set.insert(set.end(), {key, "theirs"});
        del.push_back(key);
    }
    server.command(set);
    node.watch("a", many);
    server.command(del);
    auto said = node.said(many.size());
    std::sort(said.begin(), said.end());
    BOOST_TEST((said == many));
    BOOST_TEST((node.watch("a").vote == vote::granted));
}

BOOST_FIXTURE_TEST_CASE(scripts_that_have_to_be_loaded_again_do_not_disturb_a_watch, watched_server)
{
    server.command({"SCRIPT", "FLUSH"});
    batch work;
    work.commands.push_back({verb::release, "a", "ours", {}});
    work.commands.push_back({verb::watch, "a", {}, {}});
    auto const replies = node.ask(work);
    BOOST_TEST((replies[0].vote == vote::refused));
    BOOST_TEST(replies[1].watching);
    server.command({"SET", "a", "theirs"});
    BOOST_TEST((node.said(1) == keys{"a"}));
}

BOOST_FIXTURE_TEST_CASE(a_user_who_may_not_track_is_told_how_long_keys_stay, one_server)
{
    server.command({"ACL", "SETUSER", "locker", "on", ">s3cr3t", "~*", "+@all", "-client|tracking", "-client|caching"});
    watching_node node{"redis://locker:s3cr3t@127.0.0.1:" + std::to_string(server.port())};
    server.command({"SET", "a", "theirs", "PX", "20000"});
    auto const answer = node.watch("a");
    BOOST_TEST((answer.vote == vote::granted && !answer.watching && answer.expires_in > 10s));
    server.command({"DEL", "a"});
    BOOST_TEST((node.said() == keys{}));
    BOOST_TEST(node.downs == 0);
}

BOOST_FIXTURE_TEST_CASE(who_does_not_wait_arms_nothing, watched_server)
{
    admit(server);
    BOOST_TEST((node.ask({verb::acquire, "plain", "ours", 20s}).vote == vote::granted));
    BOOST_TEST((node.ask({verb::extend, "plain", "ours", 20s}).vote == vote::granted));
    BOOST_TEST((node.ask({verb::acquire, "plain", "another", 20s}).vote == vote::refused));
    BOOST_TEST((node.ask({verb::release, "plain", "ours", {}}).vote == vote::granted));
    command c{verb::acquire, "fenced", "ours", 20s};
    c.fenced = true;
    c.retention = 1h;
    auto const answer = node.ask(c);
    BOOST_TEST((answer.vote == vote::granted));
    c.token = answer.counter;
    for (auto const what : {verb::confirm, verb::extend}) {
        c.what = what;
        BOOST_TEST((node.ask(c).vote == vote::granted));
    }
    BOOST_TEST(armed() == 0);
    node.watch("fenced");
    BOOST_TEST(armed() == 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
