#include "cli/servers/server_group.hpp"

#include "cli/servers/ending_signals.hpp"
#include "cli/servers/settings.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cassert>
#include <csignal>
#include <string_view>
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
    bool const all_shards = own_settings.nodes.front().cluster && !own_settings.place;
    keys_ = all_shards ? detail::key_format{own_settings.key_format} : keys_of(own_settings);
    for (node_address const& address : own_settings.nodes) {
        names_.push_back(address.to_string());
        if (all_shards) clusters_.emplace_back(io_.get_executor(), address, own_settings);
        else links_.emplace_back(io_.get_executor(), address, own_settings);
    }
}

server_group::~server_group()
{
    signals_.reset();
    links_.clear();
    clusters_.clear();
    io_.restart();
    io_.run_for(timeout_);  // ends as soon as the connections are closed, which usually takes no time
}

std::vector<answers> server_group::ask(std::vector<words> const& commands)
{
    return ask_each([&](std::size_t) { return commands; });
}

std::string server_group::key_of(std::string lock) const
{
    if (!has_all_shards()) return keys_.key_of(std::move(lock));
    std::string_view rest{lock};
    auto const shard = detail::take_shard_off(rest);
    assert(shard);
    return detail::prefix_of_shard(*shard) + keys_.key_of(std::string{rest});
}

void server_group::look_for_servers()
{
    servers_.clear();
    for (std::size_t node = 0; node < clusters_.size(); ++node) {
        clusters_[node].find_primaries(timeout_);
        for (std::size_t primary = 0; primary < clusters_[node].primaries(); ++primary) servers_.emplace_back(node, primary);
    }
}

std::vector<answers> server_group::ask_each(std::function<std::vector<words>(std::size_t)> const& commands)
{
    silent_.resize(size());
    auto const asked = [&](std::size_t node) { return silent_[node].ok() ? commands(node) : std::vector<words>{}; };
    auto all = ask_some(size(), asked, [this](std::size_t node, std::vector<words> const& words_for_it, node_link::handler done) {
        has_all_shards() ? clusters_[node].ask(words_for_it, timeout_, std::move(done))
                         : links_[node].ask(words_for_it, timeout_, std::move(done));
    });
    for (std::size_t node = 0; node < size(); ++node) {
        if (!silent_[node].ok()) all[node] = silent_[node];
        else if (leaves_out_silent_ && all[node].why == errc::node_timeout) silent_[node] = all[node];
    }
    return all;
}

std::vector<answers> server_group::ask_servers(std::function<std::vector<words>(std::size_t)> const& commands)
{
    if (!has_all_shards()) return ask_each(commands);
    return ask_some(servers(), commands, [this](std::size_t server, std::vector<words> const& all, node_link::handler done) {
        auto const [node, primary] = servers_[server];
        clusters_[node].ask_primary(primary, all, timeout_, std::move(done));
    });
}

std::vector<answers> server_group::ask_some(std::size_t count, std::function<std::vector<words>(std::size_t)> const& commands,
                                            asks const& ask)
{
    std::vector<answers> all(count);
    std::size_t unanswered = 0;
    for (std::size_t i = 0; i < count; ++i) {
        auto const for_it = commands(i);
        all[i].problem = "not asked";
        if (for_it.empty() || interrupted_) continue;
        ++unanswered;
        ask(i, for_it, [&, i](answers a) {
            all[i] = std::move(a);
            --unanswered;
        });
    }
    io_.restart();
    while (unanswered > 0 && io_.run_one() > 0)
        if (interrupted_) close();
    return all;
}

void server_group::close()
{
    for (node_link& link : links_) link.close();
    for (cluster_routes& cluster : clusters_) cluster.close();
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
    signals->async_wait([this](error_code ec, int number) {
        if (ec) return;
        interrupted_ = true;
        signal_ = number;
    });
    signals_ = signals;
}

int server_group::look_for_signal()
{
    io_.restart();
    io_.poll();
    return signal_;
}

}  // namespace redlock::cli
