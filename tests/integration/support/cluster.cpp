#include "cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>

#include <algorithm>
#include <exception>
#include <sstream>
#include <thread>

namespace redlock::testing {
namespace {

constexpr auto max_usable_time = 10s;
constexpr auto max_empty_time = 3s;

config with_servers(config settings, std::deque<redis_server> const& servers)
{
    for (auto const& server : servers) settings.nodes.push_back(node_address::from_url(server.url()));
    return settings;
}

std::deque<redis_server> start_servers(std::size_t size, redis_server_options const& options, beginning how)
{
    std::deque<redis_server> servers;
    for (std::size_t i = 0; i < size; ++i) {
        servers.emplace_back(options);
        if (how == beginning::admitted) admit(servers.back());
    }
    return servers;
}

}  // namespace

std::vector<std::string> lock_keys(redis_server const& server)
{
    std::vector<std::string> found;
    for (auto const& item : server.ask({"KEYS", "*"}).items)
        if (!item.ends_with(":fence") && !item.ends_with(":permits") && !item.ends_with(":published") && item != "redlock:node" &&
            item != "redlock:hw" && item != "redlock:set" && item != "redlock:wait")
            found.push_back(item);
    return found;
}

config quick_config()
{
    config c;
    c.min_reconnect_delay = 10ms;
    c.max_reconnect_delay = 100ms;
    c.max_ttl = 60s;
    return c;
}

cluster::cluster(std::size_t size, config settings, redis_server_options const& options, beginning how)
    : servers{start_servers(size, options, how)},
      nodes{io.get_executor(), with_servers(settings, servers)},
      usable_at_start{size},
      settings_{std::move(settings)}
{
}

cluster::~cluster() = default;

void cluster::start(redlock::client& c)
{
    ++running_;
    c.run([this](error_code ec) {
        if (ec != errc::client_cancelled) ++odd_ends_;
        --running_;
    });
}

std::unique_ptr<redlock::client> cluster::another_client(config settings) { return another_client(io.get_executor(), std::move(settings)); }

std::unique_ptr<redlock::client> cluster::another_client(asio::any_io_executor on, config settings)
{
    auto c = std::make_unique<redlock::client>(std::move(on), with_servers(std::move(settings), servers));
    start(*c);
    return c;
}

asio::awaitable<void> cluster::play(story_teller const& tell)
{
    auto ready = eventually([this] { return usable() >= usable_at_start; }, max_usable_time);
    bool const is_ready = co_await std::move(ready);
    BOOST_REQUIRE_MESSAGE(is_ready, "the nodes did not become usable: " << picture());
    auto telling = tell();
    co_await std::move(telling);
}

void cluster::run(story_teller const& tell)
{
    bool told = false;
    std::exception_ptr failure;
    start(nodes);
    asio::co_spawn(asio::make_strand(io), play(tell), [&](std::exception_ptr thrown) {
        told = true;
        failure = thrown;
        nodes.cancel();
    });
    run_to_the_end();
    if (failure) std::rethrow_exception(failure);
    BOOST_REQUIRE_MESSAGE(told, "the story did not end: " << picture());
    finish();
}

void cluster::finish()
{
    nodes.cancel();
    run_to_the_end();
    BOOST_REQUIRE_MESSAGE(io.stopped(), "something goes on after the end: " << picture());
    BOOST_TEST(running_ == 0u);
    BOOST_TEST(odd_ends_ == 0u);
    auto const state = nodes.status();
    BOOST_TEST(state.leases == 0u);
    BOOST_TEST(state.waiting == 0u);
    BOOST_TEST(state.releases_pending == 0u);
    if (!keys_may_stay) check_servers_are_empty();
}

void cluster::run_to_the_end()
{
    if (io.stopped()) io.restart();
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back([this] { io.run_for(max_story_time); });
    io.run_for(max_story_time);
}

// A server that was stopped until now answers what it still finds in its sockets, in its own time.
void cluster::check_servers_are_empty()
{
    asio::io_context waiting;
    auto const look = [&]() -> asio::awaitable<void> {
        for (auto& server : servers) {
            if (server.pid() == -1) continue;
            server.resume();
            auto empty = eventually([&] { return lock_keys(server).empty(); }, max_empty_time);
            bool const is_empty = co_await std::move(empty);
            BOOST_TEST(is_empty, "keys stayed on " << server.url() << ": " << server.command({"KEYS", "*"}));
        }
    };
    asio::co_spawn(waiting, look(), [](std::exception_ptr thrown) {
        if (thrown) std::rethrow_exception(thrown);
    });
    waiting.run();
}

std::size_t cluster::usable() const
{
    auto const all = nodes.status().nodes;
    auto const count = std::count_if(all.begin(), all.end(), [](auto const& n) { return n.state == node_state::usable; });
    return static_cast<std::size_t>(count);
}

std::size_t cluster::servers_with(std::string const& key) const
{
    auto const count = std::count_if(servers.begin(), servers.end(), [&](redis_server const& server) {
        return server.pid() != -1 && server.command({"EXISTS", key}) == "1";
    });
    return static_cast<std::size_t>(count);
}

std::string cluster::value(std::size_t server, std::string const& key) const { return servers[server].command({"GET", key}); }

std::chrono::milliseconds cluster::ttl_left(std::size_t server, std::string const& key) const
{
    return std::chrono::milliseconds{std::stoll(servers[server].command({"PTTL", key}))};
}

void cluster::on_all(std::vector<std::string> const& command)
{
    for (auto const& server : servers)
        if (server.pid() != -1) server.command(command);
}

std::string cluster::picture() const
{
    auto const state = nodes.status();
    std::ostringstream text;
    text << running_ << " clients running, " << state.leases << " leases, " << state.waiting << " waiting, " << state.releases_pending
         << " releases pending";
    for (auto const& n : state.nodes)
        text << "\n  " << n.node << ' ' << to_string(n.state) << ' ' << n.last_error_text << ' ' << n.admission_text;
    return text.str();
}

std::string short_name(error_code ec)
{
    switch (static_cast<errc>(ec.category() == error_category() ? ec.value() : 0)) {
    case errc::node_unreachable: return "node_unreachable";
    case errc::node_timeout: return "node_timeout";
    case errc::node_unsuitable: return "node_unsuitable";
    case errc::node_duplicate: return "node_duplicate";
    case errc::node_not_admitted: return "node_not_admitted";
    case errc::ttl_too_long: return "ttl_too_long";
    case errc::not_durable: return "not_durable";
    case errc::node_queue_full: return "node_queue_full";
    case errc::handshake_refused: return "handshake_refused";
    case errc::not_a_redis_server: return "not_a_redis_server";
    case errc::server_error: return "server_error";
    case errc::unexpected_reply: return "unexpected_reply";
    case errc::tls_failed: return "tls_failed";
    case errc::credentials_unavailable: return "credentials_unavailable";
    default: return ec.message();
    }
}

std::string verdicts(attempt_report const& report)
{
    std::string words;
    for (auto const& verdict : report.nodes) {
        if (!words.empty()) words += ' ';
        words += verdict.vote == vote::failed ? short_name(verdict.error) : to_string(verdict.vote);
    }
    return words;
}

}  // namespace redlock::testing
