// What a simulated server says when keys change, and how it gets to a client: asked by hand, without the library's core.
#include "link.hpp"
#include "universe.hpp"

#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace redlock;
using namespace redlock::simulation;
using detail::batch;
using detail::command;
using detail::reply;
using detail::verb;
using keys = std::vector<std::string>;

// A client's end of a connection.
struct listener final : detail::node_listener {
    listener(universe& in, process& on, server& to)
        : world{in}, way{in.between(on, to)}, node{way.front(asio::make_strand(on.get_executor()))}
    {
        node->start(0, self);
        world.advance(100ms);
    }

    void on_up(std::size_t, std::string const&, quorum::node_facts const&) override {}
    void on_down(std::size_t, error_code, std::string const&) override {}
    void on_stopped(std::size_t) override {}
    void on_time(std::size_t, quorum::wall_time, quorum::time_point, quorum::time_point) override {}
    void on_changed(std::size_t, std::string_view key) override
    {
        changed.emplace_back(key);
        order += "p";
    }

    reply ask(command const& c)
    {
        send(c);
        world.advance(10ms);
        return replies.at(0);
    }
    void send(command const& c)
    {
        work = std::make_unique<batch>();
        work->commands.push_back(c);
        node->exec(*work, {}, replies, [this](error_code ec) { order += ec ? "x" : "a"; });
    }
    reply watch(std::string const& key, keys const& others = {})
    {
        command c{verb::watch, key, {}, {}};
        c.others = others;
        return ask(c);
    }

    keys said(duration within = 10ms)
    {
        world.advance(within);
        return std::exchange(changed, {});
    }

    universe& world;
    simulation::link& way;
    std::shared_ptr<detail::node_listener> self{this, [](detail::node_listener*) {}};
    std::unique_ptr<batch> work;
    std::vector<reply> replies;
    keys changed;
    std::string order;  // a: an answer, x: none, p: a push
    std::unique_ptr<detail::node> node;
};

struct two_connections {
    two_connections() { world.covered = &covered; }

    void set(std::string const& key, std::optional<duration> ttl = {}) { there.memory.set(key, "theirs", ttl, there.time()); }

    coverage covered{};
    universe world{7};
    machine_clock const clock{time_point{1h}, 0ns, 0};
    server& there{world.add_server(clock)};
    process& a{world.add_process(clock)};
    process& b{world.add_process(clock)};
    listener one{world, a, there};
    listener two{world, b, there};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(pushes)

BOOST_FIXTURE_TEST_CASE(all_who_watch_are_told_once_except_who_did_it, two_connections)
{
    BOOST_TEST((one.watch("k").watching && two.watch("l", {"k"}).watching));
    BOOST_TEST((two.ask({verb::acquire, "k", "v", 1s}).vote == vote::granted));
    BOOST_TEST((one.said() == keys{"k"}));
    BOOST_TEST((two.said() == keys{}));
    BOOST_TEST((two.ask({verb::release, "k", "v", {}}).vote == vote::granted));
    BOOST_TEST((one.said() == keys{}));
    set("l");
    BOOST_TEST((two.said() == keys{"l"}));
    BOOST_TEST(covered.push == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_key_that_expires_is_noticed_soon, two_connections)
{
    set("k", 1s);
    BOOST_TEST((one.watch("k").expires_in > 900ms));
    BOOST_TEST((one.said(980ms) == keys{}));
    BOOST_TEST((one.said(130ms) == keys{"k"}));
    BOOST_TEST((two.said() == keys{}));
}

BOOST_FIXTURE_TEST_CASE(also_when_it_was_extended_meanwhile_or_the_clock_set_back, two_connections)
{
    set("k", 1s);
    one.watch("k");
    there.memory.execute({verb::extend, "k", "theirs", 2s}, there.time());
    BOOST_TEST((one.said() == keys{"k"}));
    one.watch("k");
    there.wall.step(-1s);
    BOOST_TEST((one.said(2'500ms) == keys{}));
    BOOST_TEST((one.said(1s) == keys{"k"}));
    one.watch("k");
    set("k", 10s);
    one.watch("k");
    set("k", 1s);  // shorter
    one.watch("k");
    one.changed.clear();
    BOOST_TEST((one.said(1'200ms) == keys{"k"}));
}

BOOST_FIXTURE_TEST_CASE(when_all_keys_go_those_who_have_watched_are_told, two_connections)
{
    one.watch("k");
    there.memory.flush_all();
    BOOST_TEST((one.said() == keys{""}));
    BOOST_TEST((two.said() == keys{}));
    there.memory.flush_all();
    set("k");
    BOOST_TEST((one.said() == keys{""}));
}

BOOST_FIXTURE_TEST_CASE(they_go_with_their_connection, two_connections)
{
    one.watch("k");
    set("k");
    one.way.cut();
    BOOST_TEST((one.said(200ms) == keys{}));
    BOOST_TEST(covered.push_lost == 1u);
    there.memory.del("k");
    BOOST_TEST((one.said() == keys{}));
    one.watch("k");
    set("k");
    BOOST_TEST((one.said() == keys{"k"}));
}

BOOST_FIXTURE_TEST_CASE(a_silent_connection_keeps_them, two_connections)
{
    one.watch("k");
    one.way.go_silent(false);
    set("k");
    BOOST_TEST((one.said(10s) == keys{}));
    one.way.heal();
    BOOST_TEST((one.said() == keys{"k"}));
}

BOOST_FIXTURE_TEST_CASE(they_keep_their_place_between_the_answers, two_connections)
{
    world.weather.max_delay = 5ms;
    std::size_t in_flight_together = 0;
    for (int i = 0; i < 100; ++i) {
        one.watch("k");
        one.order.clear();
        bool const answer_first = world.chance.one_in(2);
        if (!answer_first) set("k", 50ms);
        one.send({verb::release, "k", "nobody's", {}});
        world.advance(5ms);  // executed by now, if not answered
        if (one.order.empty()) ++in_flight_together;
        if (answer_first) set("k", 50ms);
        world.advance(20ms);
        BOOST_TEST(one.order == (answer_first ? "ap" : "pa"));
        one.watch("k");
        world.advance(200ms);
    }
    BOOST_TEST(in_flight_together > 5u);
}

BOOST_FIXTURE_TEST_CASE(a_stopped_server_says_it_later_and_a_crashed_one_never, two_connections)
{
    set("k", 1s);
    one.watch("k");
    there.stop();
    BOOST_TEST((one.said(3s) == keys{}));
    there.go_on();
    BOOST_TEST((one.said() == keys{"k"}));
    one.watch("k");
    there.crash(keeps::nothing);
    there.start();
    BOOST_TEST((one.said(1s) == keys{}));
}

BOOST_FIXTURE_TEST_CASE(a_failover_on_a_live_connection_is_said, two_connections)
{
    one.watch("k");
    there.fail_over(keeps::an_older_state);
    BOOST_TEST((one.said() == keys{""}));
    one.watch("k");
    set("k");
    BOOST_TEST((one.said() == keys{"k"}));
}

BOOST_FIXTURE_TEST_CASE(a_message_without_a_connection_watches_nothing, two_connections)
{
    command const c{verb::watch, "k", {}, {}};
    one.way.next_cut_leaves = simulation::link::leftovers{1, world.now() + 300ms};
    one.send(c);
    one.way.cut();
    world.advance(500ms);
    set("k");
    BOOST_TEST((one.said() == keys{}));
    BOOST_TEST(one.order == "x");
}

BOOST_FIXTURE_TEST_CASE(scripts_that_have_to_be_loaded_again_come_before_the_watch, two_connections)
{
    there.forget_scripts();
    one.work = std::make_unique<batch>();
    one.work->commands.push_back({verb::watch, "k", {}, {}});
    one.work->commands.push_back({verb::release, "k", "v", {}});
    one.node->exec(*one.work, {}, one.replies, [](error_code) {});
    world.advance(10ms);
    BOOST_TEST((one.replies.at(0).watching && one.replies.at(1).vote == vote::refused));
    BOOST_TEST(covered.noscript == 1u);
    set("k");
    BOOST_TEST((one.said() == keys{"k"}));
}

BOOST_FIXTURE_TEST_CASE(servers_that_may_not_say_anything_answer, two_connections)
{
    one.way.may_watch = false;
    set("k");
    auto const answer = one.watch("k");
    BOOST_TEST((answer.vote == vote::granted && !answer.watching && answer.expires_in == detail::never_expires));
    there.memory.del("k");
    BOOST_TEST((one.said() == keys{}));
}

BOOST_FIXTURE_TEST_CASE(some_are_lost, two_connections)
{
    world.weather.push_lost_percent = 30;
    for (int i = 0; i < 100; ++i) {
        one.watch("k");
        set("k");
    }
    auto const said = one.said().size();
    BOOST_TEST((said > 50 && said < 90));
    BOOST_TEST(covered.push == said);
    BOOST_TEST(covered.push_lost == 100 - said);
}

BOOST_AUTO_TEST_SUITE_END()
