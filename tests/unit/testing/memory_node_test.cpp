// Nodes in memory say what changes, as Redis does.
#include "support/printing.hpp"
#include "testing/memory_node.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;
using namespace std::chrono_literals;
using detail::batch;
using detail::reply;
using detail::verb;

struct listener final : detail::node_listener {
    void on_up(std::size_t, std::string const&, quorum::node_facts const&) override {}
    void on_down(std::size_t, error_code, std::string const&) override {}
    void on_stopped(std::size_t) override {}
    void on_time(std::size_t, quorum::wall_time, quorum::time_point, quorum::time_point) override {}
    void on_changed(std::size_t, std::string_view key) override
    {
        changed.emplace_back(key);
        at.push_back(virtual_clock::now());
    }

    std::vector<std::string> changed;
    std::vector<time_point> at;
};

struct node_in_memory {
    node_in_memory()
    {
        front = node.front(asio::make_strand(context));
        front->start(0, heard);
    }

    void advance(duration d)
    {
        auto const end = virtual_clock::now() + d;
        auto& time = asio::use_service<virtual_time>(context);
        for (;;) {
            context.restart();
            context.poll();
            if (time.empty() || time.next() > end) break;
            virtual_clock::current = std::max(virtual_clock::current, time.next());
            time.fire_due(virtual_clock::now());
        }
        virtual_clock::current = end;
    }

    reply ask(detail::command const& c)
    {
        batch work;
        work.commands.push_back(c);
        std::vector<reply> replies;
        bool answered = false;
        front->exec(work, {}, replies, [&](error_code ec) { answered = !ec; });
        advance(1ms);
        BOOST_REQUIRE(answered);
        return replies.at(0);
    }
    reply watch(std::string const& key, std::vector<std::string> const& others = {})
    {
        detail::command c{verb::watch, key, {}, {}};
        c.others = others;
        return ask(c);
    }

    std::vector<std::string> heard_by_now()
    {
        advance(1ms);
        return std::exchange(heard->changed, {});
    }

    asio::io_context context;
    memory_node node{"node"};
    std::shared_ptr<listener> heard = std::make_shared<listener>();
    std::unique_ptr<detail::node> front;
};

using keys = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(node_in_memory_says_what_changes)

BOOST_FIXTURE_TEST_CASE(a_watch_says_how_long_the_last_of_its_keys_stays, node_in_memory)
{
    BOOST_TEST(!watch("a", {"b", "c"}).expires_in);
    node.set("b", "theirs", 2s);
    node.set("c", "theirs", 5s);
    auto const answer = watch("a", {"b", "c"});
    BOOST_TEST((answer.vote == vote::granted && answer.watching));
    BOOST_REQUIRE(answer.expires_in);
    BOOST_TEST((*answer.expires_in <= 5s && *answer.expires_in >= 5s - 3ms));
    node.set("a", "theirs");
    BOOST_TEST((watch("a", {"b", "c"}).expires_in == detail::never_expires));
}

BOOST_FIXTURE_TEST_CASE(it_says_each_change_once, node_in_memory)
{
    watch("a", {"b"});
    node.set("a", "theirs", 1s);
    node.set("b", "theirs", 1s);
    node.del("a");
    node.set("unwatched", "theirs");
    BOOST_TEST((heard_by_now() == keys{"a", "b"}));
    node.del("b");
    BOOST_TEST((heard_by_now() == keys{}));
}

BOOST_FIXTURE_TEST_CASE(it_says_an_extension, node_in_memory)
{
    node.set("a", "theirs", 1s);
    watch("a");
    auto const now = virtual_clock::now();
    BOOST_TEST((node.memory().execute({verb::extend, "a", "theirs", 5s}, now).vote == vote::granted));
    BOOST_TEST((heard_by_now() == keys{"a"}));
}

BOOST_FIXTURE_TEST_CASE(it_says_that_a_key_has_expired_when_it_is_gone, node_in_memory)
{
    node.set("a", "theirs", 1s);
    auto const* const e = node.memory().stored("a");
    auto const gone = node.memory().gone_at(*e);
    watch("a");
    advance(2s);
    BOOST_TEST((heard_by_now() == keys{"a"}));
    BOOST_TEST((heard->at.at(0) == gone + node.back));
}

BOOST_FIXTURE_TEST_CASE(or_only_when_somebody_finds_out, node_in_memory)
{
    node.says_expiry = false;
    node.set("a", "theirs", 1s);
    watch("a");
    advance(2s);
    BOOST_TEST(!node.get("a"));
    BOOST_TEST((heard_by_now() == keys{}));
    node.memory().execute({verb::acquire, "a", "another", 5s}, virtual_clock::now());
    BOOST_TEST((heard_by_now() == keys{"a"}));
}

BOOST_FIXTURE_TEST_CASE(what_its_own_client_changes_it_does_not_say_and_does_not_watch_any_more, node_in_memory)
{
    watch("a");
    BOOST_TEST((ask({verb::acquire, "a", "ours", 1s}).vote == vote::granted));
    BOOST_TEST(!node.is_watching("a"));
    node.del("a");
    BOOST_TEST((heard_by_now() == keys{}));
}

BOOST_FIXTURE_TEST_CASE(when_all_keys_go_it_says_so_to_everybody, node_in_memory)
{
    node.flush_all();
    BOOST_TEST((heard_by_now() == keys{""}));
    watch("a");
    node.flush_all();
    node.set("a", "theirs");
    BOOST_TEST((heard_by_now() == keys{""}));
}

BOOST_FIXTURE_TEST_CASE(it_forgets_with_the_connection_what_it_watched, node_in_memory)
{
    watch("a");
    node.set("a", "theirs");
    node.cut();  // with the push on its way
    node.connect();
    BOOST_TEST((heard_by_now() == keys{}));
    watch("a");
    node.cut();
    node.connect();
    node.del("a");
    BOOST_TEST((heard_by_now() == keys{}));
}

BOOST_FIXTURE_TEST_CASE(pushes_and_answers_keep_their_order, node_in_memory)
{
    batch work;
    work.commands.push_back({verb::watch, "a", {}, {}});
    std::vector<reply> replies;
    std::vector<std::string> order;
    front->exec(work, {}, replies, [&](error_code) {
        order = heard->changed;
        order.push_back("answer");
    });
    virtual_clock::current += node.there;
    context.poll();
    advance(0s);
    node.set("a", "theirs");  // in the moment in which the watch is executed
    advance(1ms);
    BOOST_TEST((order == keys{"answer"}));
    BOOST_TEST((heard->changed == keys{"a"}));
}

BOOST_FIXTURE_TEST_CASE(a_stopped_node_says_it_when_it_goes_on, node_in_memory)
{
    watch("a");
    node.stop();
    node.set("a", "theirs");
    BOOST_TEST((heard_by_now() == keys{}));
    node.go_on();
    BOOST_TEST((heard_by_now() == keys{"a"}));
}

BOOST_FIXTURE_TEST_CASE(a_node_that_may_not_watch_answers_nevertheless, node_in_memory)
{
    node.watches = false;
    node.set("a", "theirs");
    auto const answer = watch("a");
    BOOST_TEST((answer.vote == vote::granted && !answer.watching && answer.expires_in == detail::never_expires));
    node.del("a");
    BOOST_TEST((heard_by_now() == keys{}));
}

BOOST_FIXTURE_TEST_CASE(pushes_can_be_lost, node_in_memory)
{
    node.loses_pushes = true;
    BOOST_TEST(watch("a").watching);
    node.set("a", "theirs");
    BOOST_TEST((heard_by_now() == keys{}));
}

BOOST_AUTO_TEST_SUITE_END()
