// Servers that are not what their clients take them for: other programs than Redis and Valkey, and commands that were renamed away.
#include "support/disguise.hpp"
#include "support/mentions.hpp"
#include "support/two_nodes_and.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {
namespace {

constexpr lock_options without_tokens{.ttl = 20s, .fencing = false};

// The third node of a client says that it is a Dragonfly.
struct with_a_dragonfly : two_nodes_and {
    explicit with_a_dragonfly(bool trusted) : two_nodes_and{3}
    {
        admit(server);
        config settings = quick_config();
        settings.trust_server_identity = trusted;
        make_client(node_address::from_url(dragonfly.url()), settings);
    }

    redis_server server;
    disguise dragonfly{server.port(), "uptime_in_seconds:", "dragonfly_version:"};
};

struct with_a_renamed_command : two_nodes_and {
    explicit with_a_renamed_command(std::string const& command)
        : two_nodes_and{2}, server{redis_server_options{.arguments = {"--rename-command", command, ""}}}
    {
        make_client(node_address::from_url(server.url()));
    }

    void expect_refusal(std::vector<std::string> const& words)
    {
        run([&]() -> asio::awaitable<void> {
            bool const refused = co_await eventually([&] { return third().last_error == errc::node_unsuitable; });
            BOOST_TEST(refused, third().last_error.message());
            BOOST_TEST(third().connects == 0u);
            for (auto const& word : words) BOOST_TEST(mentions(third().last_error_text, word), third().last_error_text);
        });
    }

    redis_server server;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(server_kinds)

BOOST_AUTO_TEST_CASE(a_dragonfly_votes_without_tokens_only)
{
    with_a_dragonfly c{false};
    c.run([&]() -> asio::awaitable<void> {
        lock const fenced{c.nodes, "fenced", impatient};
        attempt_report report;
        lease held = co_await fenced.acquire(report);
        BOOST_TEST(held.nodes_held() == 2u);
        BOOST_TEST((c.third().admission == admission_state::unidentified));
        for (char const* word : {"it is Dragonfly ", "use Redis or Valkey", "config::trust_server_identity", "waiting does not help"})
            BOOST_TEST(mentions(c.third().admission_text, word), c.third().admission_text);
        // It is looked at again while it waits, and still is what it is.
        co_await pause(300ms);
        BOOST_TEST((c.third().admission == admission_state::unidentified));
        BOOST_TEST(mentions(c.third().admission_text, "it is Dragonfly "), c.third().admission_text);
        BOOST_TEST(c.server.command({"EXISTS", "fenced"}) == "0");

        lock const without{c.nodes, "plain", without_tokens};
        lease other = co_await without.acquire();
        bool const everywhere = co_await eventually([&] { return other.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        co_await other.release();
    });
}

BOOST_AUTO_TEST_CASE(a_dragonfly_whose_id_is_trusted_votes)
{
    with_a_dragonfly c{true};
    c.run([&]() -> asio::awaitable<void> {
        lock const fenced{c.nodes, "fenced", impatient};
        lease held = co_await fenced.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere, c.third().admission_text);
    });
}

BOOST_AUTO_TEST_CASE(evalsha_is_renamed)
{
    with_a_renamed_command{"EVALSHA"}.expect_refusal({"the server does not know EVALSHA,", "rename-command"});
}
BOOST_AUTO_TEST_CASE(script_is_renamed)
{
    with_a_renamed_command{"SCRIPT"}.expect_refusal({"the server does not know SCRIPT,", "rename-command"});
}
BOOST_AUTO_TEST_CASE(del_is_renamed) { with_a_renamed_command{"DEL"}.expect_refusal({"the server does not know DEL,", "rename-command"}); }

BOOST_AUTO_TEST_CASE(info_is_renamed)
{
    with_a_renamed_command c{"INFO"};
    c.usable_at_start = 3;  // it votes without tokens
    c.run([&]() -> asio::awaitable<void> {
        lock const fenced{c.nodes, "fenced", impatient};
        lease held = co_await fenced.acquire();
        BOOST_TEST(held.nodes_held() == 2u);
        BOOST_TEST((c.third().admission == admission_state::unidentified));
        for (char const* word : {"INFO", "rename-command", "waiting does not help"})
            BOOST_TEST(mentions(c.third().admission_text, word), c.third().admission_text);
        lock const without{c.nodes, "plain", without_tokens};
        lease other = co_await without.acquire();
        bool const everywhere = co_await eventually([&] { return other.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        co_await other.release();
    });
}

BOOST_AUTO_TEST_CASE(mget_is_renamed)
{
    with_a_renamed_command c{"MGET"};
    c.usable_at_start = 3;  // it votes without tokens
    c.run([&]() -> asio::awaitable<void> {
        bool const known = co_await eventually([&] { return c.third().admission == admission_state::unidentified; });
        BOOST_TEST(known);
        BOOST_TEST(mentions(c.third().admission_text, "INFO, MGET or TIME"), c.third().admission_text);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
