// Locks of several keys through a node: what the codec sends, a real server executes and the reader makes of its answers.
#include "node/redis_node.hpp"
#include "support/redis_server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;
using detail::command;
using detail::reply;
using detail::verb;

struct ears final : detail::node_listener {
    void on_up(std::size_t, std::string const&, quorum::node_facts const& facts) override { id = facts.id; }
    void on_down(std::size_t, error_code, std::string const&) override {}
    void on_stopped(std::size_t) override { stopped = true; }
    void on_changed(std::size_t, std::string_view) override {}
    void on_time(std::size_t, quorum::wall_time, quorum::time_point, quorum::time_point) override {}

    std::string id;  // of the server, when it is up
    bool stopped{false};
};

struct one_node {
    redis_server server;
    asio::io_context io;
    asio::strand<asio::any_io_executor> strand{io.get_executor()};
    std::shared_ptr<ears> heard{std::make_shared<ears>()};
    detail::redis_node node{strand, node_address::from_url(server.url()), config{}};
    std::vector<std::string> const b_and_c{"b", "c"};

    // Admitted with base 1000.
    one_node()
    {
        asio::post(strand, [this] { node.start(0, heard); });
        run_until([this] { return !heard->id.empty(); });
        command mark{verb::mark, {}, "m1", 0ms};
        mark.change_more().id = heard->id;
        auto const marked = ask(mark);
        BOOST_REQUIRE(marked.vote == vote::granted);
        command admit{verb::admit, {}, marked.words(), 30s};
        admit.change_more().id = heard->id;
        admit.token = 1'000;
        BOOST_REQUIRE(ask(admit).vote == vote::granted);
    }
    ~one_node()
    {
        asio::post(strand, [this] { node.stop(); });
        run_until([this] { return heard->stopped; });
    }

    template <class F>
    void run_until(F done)
    {
        auto const end = std::chrono::steady_clock::now() + 10s;
        while (!done() && std::chrono::steady_clock::now() < end) {
            io.restart();
            io.run_one_for(100ms);
        }
        BOOST_TEST(done());
    }

    std::vector<reply> ask(std::vector<command> commands)
    {
        detail::batch work;
        work.commands = std::move(commands);
        std::vector<reply> replies;
        bool answered = false;
        asio::post(strand, [&] {
            node.exec(work, heard->id, replies, [&](error_code ec) {
                BOOST_TEST(!ec);
                answered = true;
            });
        });
        run_until([&] { return answered; });
        return replies;
    }
    reply ask(command const& c) { return ask(std::vector<command>{c}).at(0); }

    command on_all(verb what, std::string_view value = "v") const
    {
        command c{what, "a", value, 20s};
        c.others = b_and_c;
        return c;
    }
    command with_tokens(verb what, quorum::token_number token = 0) const
    {
        auto c = on_all(what);
        c.fenced = true;
        c.token = token;
        c.retention = 60s;
        return c;
    }
    std::string get(std::string const& key) const { return server.command({"GET", key}); }
    void run(std::vector<std::string> const& words) const { server.command(words); }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(several_keys)

BOOST_FIXTURE_TEST_CASE(are_one_lock_without_tokens, one_node)
{
    BOOST_TEST((ask(on_all(verb::acquire)).vote == vote::granted));
    BOOST_TEST((ask(on_all(verb::acquire, "w")).vote == vote::refused));
    BOOST_TEST((ask(on_all(verb::extend)).vote == vote::granted));
    BOOST_TEST((ask(on_all(verb::release, "w")).vote == vote::refused));
    BOOST_TEST(get("c") == "v");
    run({"DEL", "b"});
    BOOST_TEST((ask(on_all(verb::extend)).vote == vote::refused));
    BOOST_TEST((ask(on_all(verb::release)).vote == vote::refused));
    BOOST_TEST(server.command({"EXISTS", "a", "b", "c"}) == "0");
    BOOST_TEST((ask(on_all(verb::acquire)).vote == vote::granted));
    BOOST_TEST((ask(on_all(verb::release)).vote == vote::granted));
}

BOOST_FIXTURE_TEST_CASE(are_one_lock_with_one_token, one_node)
{
    auto const first = ask(with_tokens(verb::acquire));
    BOOST_TEST((first.vote == vote::granted));
    BOOST_TEST(first.counter == 1'001u);
    BOOST_TEST((ask(with_tokens(verb::confirm, 1'005)).vote == vote::granted));
    BOOST_TEST(get("c:fence") == "1005");
    auto const extended = ask(with_tokens(verb::extend, 1'005));
    BOOST_TEST((extended.vote == vote::granted && !extended.recreated));
    run({"DEL", "b"});
    auto const recreated = ask(with_tokens(verb::extend, 1'005));
    BOOST_TEST((recreated.vote == vote::granted && recreated.recreated));
    BOOST_TEST(get("b") == "v");

    run({"DEL", "a"});
    run({"SET", "b", "theirs"});
    auto const in_part = ask(with_tokens(verb::extend, 1'005));
    BOOST_TEST((in_part.vote == vote::refused && in_part.recreated));
    BOOST_TEST(get("a") == "v");
    BOOST_TEST((ask(with_tokens(verb::confirm, 1'005)).vote == vote::refused));
    BOOST_TEST((ask(on_all(verb::release)).vote == vote::refused));
    BOOST_TEST(server.command({"EXISTS", "a", "b", "c"}) == "1");
    BOOST_TEST((ask(with_tokens(verb::acquire)).vote == vote::refused));
}

BOOST_FIXTURE_TEST_CASE(stand_among_single_ones_and_outlive_the_loss_of_the_scripts, one_node)
{
    run({"SCRIPT", "FLUSH"});
    command const single{verb::acquire, "d", "v", 20s};
    auto fenced_single = with_tokens(verb::extend, 1'001);
    fenced_single.key = "e";
    fenced_single.others = {};
    auto const replies = ask({with_tokens(verb::acquire), single, with_tokens(verb::extend, 1'001), fenced_single, on_all(verb::acquire)});
    BOOST_TEST_REQUIRE(replies.size() == 5u);
    BOOST_TEST(replies[0].counter == 1'001u);
    BOOST_TEST((replies[1].vote == vote::granted));
    BOOST_TEST((replies[2].vote == vote::granted && !replies[2].recreated));
    BOOST_TEST((replies[3].vote == vote::granted && replies[3].recreated));
    BOOST_TEST((replies[4].vote == vote::refused));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
