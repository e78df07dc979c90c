#include "cli/server_group.hpp"

#include "cli/ending_signals.hpp"
#include "cli/settings.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <csignal>
#include <utility>

namespace redlock::cli {

namespace {

config with_connect_timeout(config settings, std::chrono::milliseconds timeout)
{
    settings.connect_timeout = timeout;
    return settings;
}

}  // namespace

server_group::server_group(config const& settings, std::chrono::milliseconds timeout) : timeout_{timeout}
{
    auto const own_settings = with_connect_timeout(settings, timeout);
    own_settings.validate();
    keys_ = keys_of(own_settings);
    for (node_address const& address : own_settings.nodes) {
        names_.push_back(address.to_string());
        links_.emplace_back(io_.get_executor(), address, own_settings);
    }
}

server_group::~server_group()
{
    signals_.reset();
    links_.clear();
    io_.restart();
    io_.run_for(timeout_);  // ends as soon as the connections are closed, which usually takes no time
}

std::vector<answers> server_group::ask(std::vector<words> const& commands)
{
    return ask_each([&](std::size_t) { return commands; });
}

std::vector<answers> server_group::ask_each(std::function<std::vector<words>(std::size_t)> const& commands)
{
    std::vector<answers> all(size());
    std::size_t unanswered = 0;
    for (std::size_t node = 0; node < size(); ++node) {
        auto const for_node = commands(node);
        all[node].problem = "not asked";
        if (for_node.empty() || interrupted_) continue;
        ++unanswered;
        links_[node].ask(for_node, timeout_, [&, node](answers a) {
            all[node] = std::move(a);
            --unanswered;
        });
    }
    io_.restart();
    while (unanswered > 0 && io_.run_one() > 0)
        if (interrupted_)
            for (node_link& link : links_) link.close();
    return all;
}

bool server_group::pause(std::chrono::milliseconds time)
{
    if (interrupted_) return false;
    asio::steady_timer timer{io_, time};
    bool over = false;
    timer.async_wait([&](error_code) { over = true; });
    io_.restart();
    while (!over && !interrupted_ && io_.run_one() > 0) {}
    timer.cancel();
    while (!over && io_.run_one() > 0) {}
    return !interrupted_;
}

void server_group::interrupt()
{
    asio::post(io_, [this] { interrupted_ = true; });
}

void server_group::stop_on_signals()
{
    auto const signals = std::make_shared<asio::signal_set>(io_);
    add_unless_ignored(*signals, {SIGINT, SIGTERM});
    signals->async_wait([this](error_code ec, int) {
        if (!ec) interrupted_ = true;
    });
    signals_ = signals;
}

}  // namespace redlock::cli
