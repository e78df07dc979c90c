// Nodes that fall behind, break and come back; and the life of a client.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

struct round_world : world {
    explicit round_world(std::size_t node_count = 3, std::size_t max_queue = 8'192) : world{node_count, max_queue} { start(); }

    error_code acquire_and_release(std::string const& name, attempt_report* report = nullptr)
    {
        auto story = [&]() -> asio::awaitable<error_code> {
            redlock::lock resource{*client, name, {.ttl = 30s}};
            attempt_report ignored;
            auto trying = resource.try_acquire(report ? *report : ignored, asio::as_tuple(asio::use_awaitable));
            auto [ec, held] = co_await std::move(trying);
            if (ec) co_return ec;
            auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
            auto [ec2] = co_await std::move(releasing);
            co_return ec2;
        };
        return run(story());
    }
};

struct small_queue_world : round_world {
    small_queue_world() : round_world{3, 10} {}
};

// Keeps what it is sent, and never answers.
struct silent_node final : detail::node {
    std::string const& name() const noexcept override { return called; }
    void start(std::size_t, std::weak_ptr<detail::node_listener>) override {}
    void stop() override {}
    void reject(error_code, std::string) override {}
    void exec(detail::batch const& work, std::string_view, std::vector<detail::reply>& replies, detail::exec_handler handler) override
    {
        for (detail::command const& c : work.commands) received.push_back(c.what);
        messages.push_back(work.commands.size());
        answers.push_back(&replies);
        waiting.push_back(std::move(handler));
    }

    void answer(std::size_t message, detail::reply const& with)
    {
        *answers[message] = {with};
        std::move(waiting[message])(error_code{});
    }
    void lose(std::size_t message) { std::move(waiting[message])(errc::node_unreachable); }

    std::string called{"silent"};
    std::vector<verb> received;
    std::vector<std::size_t> messages;  // how many commands were in each
    std::vector<std::vector<detail::reply>*> answers;
    std::vector<detail::exec_handler> waiting;
};

struct vote_counter final : detail::vote_handler {
    void on_vote(std::size_t, detail::reply const& answer, detail::time_point) override
    {
        failed += answer.vote == vote::failed;
        last = answer;
    }
    bool wanted(std::size_t, detail::time_point) const override { return true; }

    int failed{0};
    detail::reply last;
};

// One silent node, which may vote, and what it was sent.
struct one_silent_node {
    one_silent_node()
    {
        auto made = std::make_unique<silent_node>();
        peer = made.get();
        std::vector<std::unique_ptr<detail::node>> nodes;
        nodes.push_back(std::move(made));
        all = std::make_shared<detail::fanout>(detail::fanout::strand_type{asio::any_io_executor{io.get_executor()}}, std::move(nodes), 10,
                                               &virtual_clock::now, detail::clock_rules{});
        all->up(0);
        all->admit(0, "server");
    }
    ~one_silent_node() { all->clear(); }

    void ask_for_a_token()
    {
        detail::command c{verb::acquire, "resource", "value", 10ms};
        c.fenced = true;
        all->add({c, who});
        all->flush();
    }

    std::vector<std::size_t> messages_with(std::size_t plain, std::size_t with_tokens)
    {
        detail::command c{verb::acquire, "resource", "value", 10ms};
        for (std::size_t i = 0; i < plain; ++i) all->add({c, who});
        c.fenced = true;
        for (std::size_t i = 0; i < with_tokens; ++i) all->add({c, who});
        peer->messages.clear();
        all->flush();
        return peer->messages;
    }

    asio::io_context io;
    silent_node* peer;
    std::shared_ptr<detail::fanout> all;
    std::shared_ptr<vote_counter> const who = std::make_shared<vote_counter>();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rounds_story)

BOOST_FIXTURE_TEST_CASE(a_stopped_node_never_slows_the_others_and_fails_fast_when_its_queue_is_full, small_queue_world)
{
    nodes[2]->stop();
    std::size_t full = 0;
    std::vector<lease> held(300);
    for (int i = 0; i < 300; ++i) {
        attempt_report report;
        std::optional<error_code> ended;
        redlock::lock{*client, "lock" + std::to_string(i), {.ttl = 30s}}.try_acquire(report, [&](error_code ec, lease got) {
            ended = ec;
            held[static_cast<std::size_t>(i)] = std::move(got);
        });
        advance(1ms);
        BOOST_REQUIRE(ended.has_value());
        BOOST_TEST(!*ended);
        full += report.nodes[2].error == errc::node_queue_full;
    }
    BOOST_TEST(full == 300u - detail::fanout::max_in_flight - 10u);
    BOOST_TEST(nodes[2]->batches <= detail::fanout::max_in_flight);
    held.clear();
    advance(1ms);
    nodes[2]->go_on();
    advance(1s);
    BOOST_TEST(keys() == 0u);  // releases were never refused
    BOOST_TEST(client->status().releases_pending == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_comes_back_gets_in_step_again, round_world)
{
    nodes[2]->stop();
    for (int i = 0; i < 100; ++i) BOOST_TEST(!acquire_and_release("lock" + std::to_string(i)));
    nodes[2]->go_on();
    advance(1s);
    auto const batches = nodes[2]->batches;
    attempt_report report;
    BOOST_TEST(!acquire_and_release("one more", &report));
    BOOST_TEST(nodes[2]->batches == batches + 2);
}

BOOST_FIXTURE_TEST_CASE(what_waited_in_a_queue_for_too_long_is_not_sent_any_more, round_world)
{
    nodes[2]->stop();
    for (int i = 0; i < 100; ++i) BOOST_TEST(!acquire_and_release("lock" + std::to_string(i)));
    nodes[2]->go_on();
    advance(1s);
    // 32 rounds were on their way; of the rest only releases without a key to release were left, and those are dropped.
    BOOST_TEST(nodes[2]->count(verb::acquire) <= detail::fanout::max_in_flight);
    BOOST_TEST(nodes[2]->keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_release_is_owed_to_a_node_that_is_away_and_paid_when_it_is_back, round_world)
{
    auto story = [&]() -> asio::awaitable<void> {
        redlock::lock resource{*client, "resource", {.ttl = 60s}};
        lease held = co_await resource.acquire();
        co_await sleep(1ms);
        nodes[2]->cut();
        auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
        auto [ec] = co_await std::move(releasing);
        BOOST_TEST(!ec);
    };
    run(story());
    BOOST_TEST(keys() == 1u);
    advance(5s);
    nodes[2]->connect();
    advance(1ms);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_release_whose_answer_was_lost_with_the_connection_is_repeated, round_world)
{
    auto story = [&]() -> asio::awaitable<void> {
        redlock::lock resource{*client, "resource", {.ttl = 60s}};
        lease held = co_await resource.acquire();
        co_await sleep(1ms);
        nodes[2]->stop();
        auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
        co_await std::move(releasing);
    };
    run(story());
    nodes[2]->cut(false);  // the bytes never got there
    BOOST_TEST(keys() == 1u);
    nodes[2]->go_on();
    nodes[2]->connect();
    advance(1ms);
    BOOST_TEST(keys() == 0u);
}

// Of a connection that ends one may hear before its last answers fail, and some of those have a release to be repeated.
BOOST_FIXTURE_TEST_CASE(a_release_that_is_asked_of_one_node_is_owed_as_well, one_silent_node)
{
    all->down(0, errc::node_unreachable, "cut");
    all->ask(0, {{verb::release, "resource", "value", 10ms}, who});
    all->ask(0, {{verb::inspect, {}, {}, {}}, who});
    BOOST_TEST(who->failed == 2);
    BOOST_TEST(peer->received.empty());
    all->up(0);
    BOOST_REQUIRE(peer->received.size() == 1u);
    BOOST_TEST((peer->received.front() == verb::release));
}

// The place for its answers has those of an earlier message, or none.
BOOST_FIXTURE_TEST_CASE(a_message_that_is_lost_shows_no_clock, one_silent_node)
{
    int steps = 0;
    all->on_step = [&](std::size_t, quorum::clock_step, detail::time_point) { ++steps; };
    detail::reply shows_time{vote::granted};
    shows_time.server_time = quorum::wall_time{1h};
    ask_for_a_token();
    peer->answer(0, shows_time);
    virtual_clock::current += 1min;
    ask_for_a_token();
    peer->lose(1);
    BOOST_TEST(who->failed == 1);
    BOOST_TEST(steps == 0, "what it said a minute ago is no news");
    ask_for_a_token();
    peer->answer(2, shows_time);
    BOOST_TEST(steps == 1, "and this is");
}

BOOST_FIXTURE_TEST_CASE(a_message_of_before_a_change_of_the_set_that_is_lost_fails_as_others_do, one_silent_node)
{
    ask_for_a_token();
    all->begin_era();
    peer->lose(0);
    BOOST_TEST(who->failed == 1);
    BOOST_TEST(who->last.error == errc::node_unreachable);
}

BOOST_FIXTURE_TEST_CASE(a_vote_of_before_a_change_of_the_set_does_not_count, one_silent_node)
{
    ask_for_a_token();
    all->begin_era();
    ask_for_a_token();
    peer->answer(0, detail::reply{vote::granted});
    BOOST_TEST(who->failed == 1);
    BOOST_TEST(who->last.error == errc::node_not_admitted);
    peer->answer(1, detail::reply{vote::granted});
    BOOST_TEST((who->last.vote == vote::granted));
}

BOOST_FIXTURE_TEST_CASE(nodes_that_were_about_to_be_rejected_when_the_client_ends_are_gone_as_all_others, one_silent_node)
{
    all->reject_later(0, errc::node_unsuitable, "it evicts keys");
    ask_for_a_token();
    BOOST_TEST(who->last.error == errc::node_unsuitable);
    all->close();
    ask_for_a_token();
    BOOST_TEST(who->last.words() == "the client was cancelled");
}

// A request that waits until it is known whether the node may vote, and a release behind it, which need not wait.
BOOST_FIXTURE_TEST_CASE(nothing_overtakes_what_waits_for_a_node, one_silent_node)
{
    detail::command acquire{verb::acquire, "resource", "value", 10ms};
    acquire.fenced = true;
    all->decide_later(0);
    all->add({acquire, who});
    all->flush();
    all->add({{verb::release, "resource", "value", 10ms}, who});
    all->flush();
    BOOST_TEST(peer->received.empty());
    all->admit(0, "server");
    BOOST_REQUIRE(peer->received.size() == 2u);
    BOOST_TEST((peer->received[0] == verb::acquire));
    BOOST_TEST((peer->received[1] == verb::release));
}

// A message is answered as a whole, so that a crowd in one message would wait for the slowest of all answers.
BOOST_FIXTURE_TEST_CASE(a_crowd_goes_in_a_few_messages, one_silent_node)
{
    using sizes = std::vector<std::size_t>;
    BOOST_TEST(messages_with(1, 0) == sizes({1}), boost::test_tools::per_element());
    BOOST_TEST(messages_with(128, 0) == sizes({128}), boost::test_tools::per_element());
    BOOST_TEST(messages_with(300, 0) == sizes({128, 128, 44}), boost::test_tools::per_element());
    BOOST_TEST(messages_with(4'001, 0) == sizes({1'001, 1'001, 1'001, 998}), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_crowd_that_wants_tokens_goes_in_more, one_silent_node)
{
    using sizes = std::vector<std::size_t>;
    BOOST_TEST(messages_with(0, 32) == sizes({32}), boost::test_tools::per_element());
    BOOST_TEST(messages_with(0, 70) == sizes({32, 32, 6}), boost::test_tools::per_element());
    BOOST_TEST(messages_with(100, 40) == sizes({128, 12}), boost::test_tools::per_element());
    BOOST_TEST(messages_with(10, 40) == sizes({42, 8}), boost::test_tools::per_element());
}

BOOST_FIXTURE_TEST_CASE(a_release_is_not_owed_for_longer_than_the_key_can_live, round_world)
{
    auto story = [&]() -> asio::awaitable<void> {
        redlock::lock resource{*client, "resource", {.ttl = 10s}};
        lease held = co_await resource.acquire();
        co_await sleep(1ms);
        nodes[2]->cut();
    };
    run(story());
    advance(60s);
    auto const before = nodes[2]->received.size();
    nodes[2]->connect();
    advance(1ms);
    BOOST_TEST(nodes[2]->received.size() == before);
}

BOOST_FIXTURE_TEST_CASE(drain_waits_for_the_releases_of_destroyed_leases, round_world)
{
    bool drained = false;
    auto story = [&]() -> asio::awaitable<void> {
        for (int i = 0; i < 100; ++i) {
            redlock::lock resource{*client, "lock" + std::to_string(i), {.ttl = 60s}};
            lease held = co_await resource.acquire();
        }
        nodes[1]->there = 100ms;
        auto draining = client->drain(asio::use_awaitable);
        co_await std::move(draining);
        drained = true;
        BOOST_TEST(keys() == 0u);
    };
    run(story());
    BOOST_TEST(drained);
}

BOOST_FIXTURE_TEST_CASE(draining_an_idle_client_completes_at_once, round_world)
{
    std::optional<error_code> drained;
    client->drain([&](error_code ec) { drained = ec; });
    settle();
    BOOST_REQUIRE(drained.has_value());
    BOOST_TEST(!*drained);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(client_life)

BOOST_FIXTURE_TEST_CASE(cancel_completes_everything, round_world)
{
    for (auto& n : nodes) n->set("taken", "foreign");
    redlock::lock taken{*client, "taken", {.ttl = 10s}};
    redlock::lock free{*client, "free", {.ttl = 10s}};
    std::optional<error_code> waiting, lost;
    lease held;
    taken.acquire([&](error_code ec, lease) { waiting = ec; });
    free.acquire([&](error_code, lease got) {
        held = std::move(got);
        held.wait_lost([&](error_code ec) { lost = ec; });
    });
    advance(1ms);
    BOOST_TEST(held.valid());
    client->cancel();
    advance(1ms);
    BOOST_REQUIRE(waiting.has_value());
    BOOST_TEST(*waiting == errc::client_cancelled);
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(*lost == errc::client_cancelled);
    BOOST_TEST(!held.valid());
    BOOST_TEST(!run_result.has_value());  // lingers for the holder
    held = lease{};
    advance(1ms);
    BOOST_REQUIRE(run_result.has_value());
    BOOST_TEST(*run_result == errc::client_cancelled);
    BOOST_TEST(!nodes[0]->get("free").has_value());
}

BOOST_FIXTURE_TEST_CASE(lingers_for_half_a_second_at_most, round_world)
{
    lease held;
    redlock::lock{*client, "free", {.ttl = 10s}}.acquire([&](error_code, lease got) { held = std::move(got); });
    advance(1ms);
    client->cancel();
    client->cancel();  // twice is as good as once
    advance(499ms);
    BOOST_TEST(!run_result.has_value());
    advance(2ms);
    BOOST_TEST(run_result.has_value());
    BOOST_TEST(nodes[0]->get("free").has_value());  // it expires by itself
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_client_refuses_new_operations, round_world)
{
    lease held;
    redlock::lock resource{*client, "free", {.ttl = 10s}};
    resource.acquire([&](error_code, lease got) { held = std::move(got); });
    advance(1ms);
    client->cancel();
    advance(1s);
    std::optional<error_code> acquired, extended, released, drained, ran;
    resource.acquire([&](error_code ec, lease) { acquired = ec; });
    held.extend([&](error_code ec) { extended = ec; });
    held.release([&](error_code ec) { released = ec; });
    client->drain([&](error_code ec) { drained = ec; });
    client->run([&](error_code ec) { ran = ec; });
    advance(1s);
    for (auto const& result : {acquired, extended, released, drained, ran}) {
        BOOST_REQUIRE(result.has_value());
        BOOST_TEST(*result == errc::client_cancelled);
    }
}

BOOST_AUTO_TEST_CASE(can_be_cancelled_before_it_runs)
{
    world w;
    std::optional<error_code> acquired;
    redlock::lock{*w.client, "resource"}.acquire([&](error_code ec, lease) { acquired = ec; });
    w.settle();
    w.client->cancel();
    w.advance(1s);
    BOOST_REQUIRE(acquired.has_value());
    BOOST_TEST(*acquired == errc::client_cancelled);
    w.start();
    BOOST_REQUIRE(w.run_result.has_value());
    BOOST_TEST(*w.run_result == errc::client_cancelled);
    BOOST_TEST(!w.nodes[0]->started);
}

BOOST_FIXTURE_TEST_CASE(destroying_the_client_cancels_and_leases_may_outlive_it, round_world)
{
    lease held;
    redlock::lock resource{*client, "resource", {.ttl = 10s}};
    resource.acquire([&](error_code, lease got) { held = std::move(got); });
    advance(1ms);
    client.reset();
    settle();
    BOOST_TEST(!held.valid());
    BOOST_TEST(held.lost_error() == errc::client_cancelled);
    held = lease{};
    advance(1s);
    BOOST_TEST(keys() == 0u);
    BOOST_TEST(run_result.has_value());
}

BOOST_FIXTURE_TEST_CASE(a_client_that_is_gone_leaves_nothing_behind_on_its_context, round_world)
{
    lease held;
    redlock::lock{*client, "resource", {.ttl = 10s}}.acquire([&](error_code, lease got) { held = std::move(got); });
    advance(1ms);
    nodes[2]->cut();
    held = lease{};  // one release is owed to a node that is away
    advance(1ms);
    BOOST_TEST(nodes[0]->owned);
    client.reset();
    advance(1s);
    BOOST_TEST(!nodes[0]->owned);
}

BOOST_FIXTURE_TEST_CASE(the_context_may_go_first, round_world)
{
    auto watch_frames = std::make_shared<int>(0);
    std::weak_ptr<int> const frames = watch_frames;
    lease held;
    redlock::lock resource{*client, "resource", {.ttl = 10s}};
    redlock::lock other{*client, "other", {.ttl = 10s}};
    resource.acquire([&](error_code, lease got) { held = std::move(got); });
    advance(1ms);
    held.wait_lost([kept = watch_frames](error_code) { BOOST_ERROR("called after its context was destroyed"); });
    resource.acquire([kept = watch_frames](error_code, lease) { BOOST_ERROR("called after its context was destroyed"); });
    other.acquire([kept = std::move(watch_frames)](error_code, lease) { BOOST_ERROR("called after its context was destroyed"); });
    settle();
    context.reset();
    BOOST_TEST(frames.expired());
    BOOST_TEST(client->status().nodes.size() == 3u);
    held = lease{};   // stays away from what is gone
    client->cancel();
}

BOOST_FIXTURE_TEST_CASE(status_says_what_the_nodes_are_doing, round_world)
{
    nodes[1]->cut();
    auto const s = client->status();
    BOOST_TEST((s.nodes[0].state == node_state::usable));
    BOOST_TEST((s.nodes[1].state == node_state::down));
    BOOST_TEST(s.nodes[1].last_error == errc::node_unreachable);
    BOOST_TEST(s.nodes[1].last_error_text == "cut");
    nodes[1]->connect();
    BOOST_TEST((client->status().nodes[1].state == node_state::usable));
    BOOST_TEST(client->status().nodes[1].connects == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
