// A group whose Sentinels and servers the test plays: what one Sentinel says does not take it away from a client.
#include "base/strand.hpp"
#include "node/connection/node_address.hpp"
#include "node/redis_node.hpp"
#include "node/sentinel/group_node.hpp"
#include "unit/node/cluster/played_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace redlock::detail {
namespace {

using namespace std::chrono_literals;
using testing::list;
using testing::map;
using testing::played_redis;
using testing::played_server;
using testing::text;

// What a Sentinel says of the group.
struct played_view {
    std::uint64_t epoch{4};
    std::vector<std::uint16_t> servers{};  // the primary first; empty: it knows no such master
    bool answers{true};
};

std::string said_by(played_view const& view, played_server::words const& command)
{
    if (command.front() == "HELLO") return map({{"server", "redis"}, {"version", "7.0.15"}, {"proto", "3"}, {"mode", "sentinel"}});
    if (command.front() == "SUBSCRIBE") return ">3\r\n" + text("subscribe") + text(command.at(1)) + ":1\r\n";
    if (command.front() != "SENTINEL") return "+OK\r\n";
    if (!view.answers) return "";
    bool const wants_address = command.at(1) == "GET-MASTER-ADDR-BY-NAME";
    if (view.servers.empty()) return wants_address ? "_\r\n" : "-ERR No such master with that name\r\n";
    auto const port = [](std::uint16_t p) { return std::to_string(p); };
    if (wants_address) return list({text("127.0.0.1"), text(port(view.servers.front()))});
    if (command.at(1) == "MASTER")
        return map({{"ip", "127.0.0.1"}, {"port", port(view.servers.front())}, {"config-epoch", std::to_string(view.epoch)}});
    std::vector<std::string> replicas;
    for (std::size_t i = 1; i < view.servers.size(); ++i) replicas.push_back(map({{"ip", "127.0.0.1"}, {"port", port(view.servers[i])}}));
    return list(replicas);
}

struct watcher final : node_listener {
    void on_up(std::size_t, std::string const&, quorum::node_facts const&) override { up = true; }
    void on_down(std::size_t, error_code why, std::string const& words) override
    {
        up = false;
        ++downs;
        said = words.empty() ? why.message() : words;
    }
    void on_stopped(std::size_t) override { stopped = true; }
    void on_changed(std::size_t, std::string_view) override {}
    void on_time(std::size_t, quorum::wall_time, quorum::time_point, quorum::time_point) override {}
    void on_primary(std::size_t, std::string const& server) override { primary = server; }

    bool up{false};
    bool stopped{false};
    std::size_t downs{0};
    std::string said;
    std::string primary;
};

constexpr std::uint16_t ghost = 1, another_ghost = 2, foreign = 3;  // nothing listens there

struct played_group {
    played_group()
    {
        for (auto& v : views) v.servers = as_begun();
    }

    ~played_group()
    {
        if (!node) return;
        node->stop();
        BOOST_TEST(until([&] { return listener->stopped; }));
    }

    std::vector<std::uint16_t> as_begun() const { return {first.port(), second.port(), third.port()}; }
    std::vector<std::uint16_t> after_a_failover() const { return {second.port(), first.port(), third.port()}; }

    void connect()
    {
        node_address group;
        group.sentinel.emplace();
        group.sentinel->master = "m";
        for (auto const& s : sentinels) group.sentinel->addresses.push_back({"127.0.0.1", s->port()});
        node = std::make_unique<group_node>(make_client_strand(io.get_executor()), group, settings);
        node->start(0, listener);
    }

    template <class Condition>
    bool until(Condition const& holds, std::chrono::steady_clock::duration time = 8s)
    {
        auto const end = std::chrono::steady_clock::now() + time;
        while (!holds() && std::chrono::steady_clock::now() < end) io.run_one_for(10ms);
        return holds();
    }

    bool is_on(played_server const& server) const
    {
        return listener->up && listener->primary == "127.0.0.1:" + std::to_string(server.port());
    }

    void say_switched(std::size_t sentinel)
    {
        sentinels[sentinel]->push(">3\r\n" + text("message") + text("+switch-master") + text("m 127.0.0.1 1 127.0.0.1 2"));
    }

    std::unique_ptr<played_server> sentinel(std::size_t i)
    {
        return std::make_unique<played_server>(io, [this, i](auto const& command) { return said_by(views[i], command); });
    }

    asio::io_context io{1};
    config settings{};
    played_redis at_first{.run_id = "a"}, then{.run_id = "b"}, last{.run_id = "c"};
    played_server first{io, [this](auto const& command) { return at_first.answer(command); }};
    played_server second{io, [this](auto const& command) { return then.answer(command); }};
    played_server third{io, [this](auto const& command) { return last.answer(command); }};
    std::array<played_view, 3> views{};
    std::array<std::unique_ptr<played_server>, 3> sentinels{sentinel(0), sentinel(1), sentinel(2)};
    std::shared_ptr<watcher> const listener{std::make_shared<watcher>()};
    std::unique_ptr<group_node> node;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(group_nodes, played_group)

BOOST_AUTO_TEST_CASE(a_failover_is_followed_although_one_sentinel_watches_another_group)
{
    views[2].servers.clear();
    connect();
    BOOST_TEST_REQUIRE(until([&] { return is_on(first); }), listener->said);
    views[2] = {9, {foreign, ghost}};
    views[0] = views[1] = {5, after_a_failover()};
    say_switched(0);
    BOOST_TEST(until([&] { return is_on(second); }), listener->said);
    BOOST_TEST(listener->downs == 1u);
}

BOOST_AUTO_TEST_CASE(a_sentinel_that_watches_another_group_and_one_of_two_that_know_of_a_failover)
{
    connect();
    BOOST_TEST_REQUIRE(until([&] { return is_on(first); }), listener->said);
    sentinels[0].reset();
    views[1] = {5, after_a_failover()};
    views[2] = {9, {foreign, ghost}};
    auto const asked = sentinels[1]->heard("SENTINEL");
    say_switched(1);
    BOOST_TEST_REQUIRE(until([&] { return sentinels[1]->heard("SENTINEL") > asked + 3; }), "asked, and asked again");
    BOOST_TEST(is_on(first));
    views[2] = {5, after_a_failover()};
    BOOST_TEST(until([&] { return is_on(second); }), listener->said);
}

BOOST_AUTO_TEST_CASE(the_group_of_the_others_stays_where_one_sentinel_lists_servers_that_are_gone_or_foreign)
{
    views[0].servers.insert(views[0].servers.end(), {ghost, another_ghost, foreign});
    connect();
    BOOST_TEST_REQUIRE(until([&] { return is_on(first); }), listener->said);
    BOOST_TEST(listener->downs == 0u);
    BOOST_TEST(first.accepted() == 2u, "one that waits for one of two replicas");

    // They are asked again after a message.
    views[0] = {9, {foreign, ghost, another_ghost}};
    auto const asked = sentinels[0]->heard("SENTINEL");
    say_switched(0);
    BOOST_TEST_REQUIRE(until([&] { return sentinels[0]->heard("SENTINEL") > asked + 3; }));
    BOOST_TEST(is_on(first));
    BOOST_TEST(listener->downs == 0u, listener->said);
}

BOOST_AUTO_TEST_CASE(a_client_that_begins_is_not_kept_away_by_a_sentinel_of_another_group)
{
    views[1] = {9, {foreign, ghost}};
    connect();
    BOOST_TEST(until([&] { return is_on(first); }), listener->said);
    BOOST_TEST(listener->downs == 0u);
}

BOOST_AUTO_TEST_CASE(a_client_that_was_on_a_group_does_not_follow_the_only_sentinel_that_answers_to_another_one)
{
    played_redis stranger{.run_id = "d"};
    played_server elsewhere{io, [&](auto const& command) { return stranger.answer(command); }};
    settings.connect_timeout = 300ms;
    connect();
    BOOST_TEST_REQUIRE(until([&] { return is_on(first); }), listener->said);
    sentinels[0].reset();
    sentinels[1].reset();
    views[2] = {9, {elsewhere.port(), ghost, another_ghost}};
    first.vanish();
    BOOST_TEST(until([&] { return listener->said.find("watch another master of the name \"m\"") != std::string::npos; }), listener->said);
    BOOST_TEST(elsewhere.accepted() == 0u);
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_lost_while_the_sentinels_are_asked_is_followed_by_others_that_ask_them)
{
    settings.connect_timeout = 300ms;
    connect();
    BOOST_TEST_REQUIRE(until([&] { return is_on(first); }), listener->said);
    for (auto& v : views) v.answers = false;
    auto const asked = sentinels[0]->heard("SENTINEL");
    say_switched(0);
    BOOST_TEST_REQUIRE(until([&] { return sentinels[0]->heard("SENTINEL") > asked; }));
    first.drop_connections();
    BOOST_TEST_REQUIRE(until([&] { return !listener->up; }));
    for (auto& v : views) v.answers = true;
    BOOST_TEST_REQUIRE(until([&] { return is_on(first); }), listener->said);
    for (auto& v : views) v = {5, after_a_failover()};
    say_switched(0);
    BOOST_TEST(until([&] { return is_on(second); }), listener->said);
}

// Not only the first time.
BOOST_AUTO_TEST_CASE(a_sentinel_that_is_silent_is_not_waited_for_for_long)
{
    settings.connect_timeout = 6s;
    connect();
    BOOST_TEST_REQUIRE(until([&] { return is_on(first); }), listener->said);
    views[0].answers = false;
    views[1] = views[2] = {5, after_a_failover()};
    say_switched(1);
    BOOST_TEST(until([&] { return is_on(second); }, 4s), listener->said);
}

// It was left for another one at once. From then on there are pauses again.
BOOST_AUTO_TEST_CASE(a_server_that_was_followed_and_is_gone_is_looked_for_with_pauses)
{
    settings.min_reconnect_delay = 100ms;
    connect();
    BOOST_TEST_REQUIRE(until([&] { return is_on(first); }), listener->said);
    for (auto& v : views) v = {5, after_a_failover()};
    say_switched(0);
    BOOST_TEST_REQUIRE(until([&] { return is_on(second); }), listener->said);
    second.vanish();
    BOOST_TEST_REQUIRE(until([&] { return !listener->up; }));
    auto const downs = listener->downs;
    until([] { return false; }, 1s);
    BOOST_TEST(listener->downs - downs <= 10u);
}

// A server that could not be used is no worse than others once it was followed by one that could.
BOOST_AUTO_TEST_CASE(a_primary_that_could_not_be_used_is_tried_first_again_after_another_one)
{
    views[0] = {5, after_a_failover()};
    then.replicas = 0;
    connect();
    BOOST_TEST_REQUIRE(until([&] { return is_on(first); }), listener->said);
    BOOST_TEST(listener->downs == 1u);
    then.replicas = 2;
    first.drop_connections();
    BOOST_TEST_REQUIRE(until([&] { return !listener->up; }));
    BOOST_TEST_REQUIRE(until([&] { return listener->up; }), listener->said);
    BOOST_TEST(is_on(second), listener->primary);
}

// Nor when the Sentinels had nothing to say meanwhile.
BOOST_AUTO_TEST_CASE(a_primary_that_could_not_be_used_is_tried_first_again_after_a_time_without_any)
{
    settings.min_reconnect_delay = 200ms;
    settings.connect_timeout = 1s;
    views[0] = {5, after_a_failover()};
    then.replicas = 0;
    connect();
    BOOST_TEST_REQUIRE(until([&] { return listener->downs == 1; }));
    for (auto& v : views) v.answers = false;
    BOOST_TEST_REQUIRE(until([&] { return listener->downs == 2; }));
    BOOST_TEST(listener->said.find("no Sentinel of \"m\" answered") != std::string::npos, listener->said);
    then.replicas = 2;
    for (auto& v : views) v.answers = true;
    BOOST_TEST_REQUIRE(until([&] { return listener->up; }), listener->said);
    BOOST_TEST(is_on(second), listener->primary);
}

// One of its servers alone.
BOOST_AUTO_TEST_CASE(why_a_server_was_rejected_is_not_said_of_a_later_loss)
{
    at_first.replicas = 0;
    node_address address;
    address.host = "127.0.0.1";
    address.port = first.port();
    redis_node one{make_client_strand(io.get_executor()), address, settings};
    one.start(0, listener);
    BOOST_TEST_REQUIRE(until([&] { return listener->up; }), listener->said);
    one.reject(errc::node_duplicate, "there are two");
    BOOST_TEST_REQUIRE(until([&] { return !listener->up; }));
    BOOST_TEST(listener->said == "there are two");
    BOOST_TEST_REQUIRE(until([&] { return listener->up; }), listener->said);
    first.drop_connections();
    BOOST_TEST_REQUIRE(until([&] { return !listener->up; }));
    BOOST_TEST(listener->said != "there are two");
    one.stop();
    BOOST_TEST(until([&] { return listener->stopped; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
