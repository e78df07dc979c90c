// `redlock dashboard`: a page that shows nodes, locks and their last minutes to a browser. node_watch (or cluster_watch) and lock_watch look at the nodes, picture keeps what
// they see, web_answers and web_server tell it to others.
#include "cli/dashboard/cluster_watch.hpp"
#include "cli/dashboard/listen_address.hpp"
#include "cli/dashboard/lock_watch.hpp"
#include "cli/dashboard/node_watch.hpp"
#include "cli/dashboard/page.hpp"
#include "cli/dashboard/picture.hpp"
#include "cli/dashboard/web_server.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

void check(dashboard_options const& options)
{
    auto const within = [](char const* option, milliseconds value, milliseconds least, milliseconds most) {
        if (value < least || value > most)
            throw failure{exit_code::usage, std::string{option} + " must be from " + in_words(least) + " to " + in_words(most)};
    };
    if (options.pattern.empty()) throw failure{exit_code::usage, "--pattern is empty, and matches no name; leave it out for all locks"};
    within("--interval", options.interval, 100ms, 60s);
    within("--history", options.history, 1min, 60min);
    within("--timeout", options.from.timeout, 10ms, 60s);
}

moment now() { return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()); }

history_limits limits_of(dashboard_options const& options)
{
    history_limits limits;
    limits.window = options.history;
    return limits;
}

class dashboard {
public:
    dashboard(dashboard_options const& options, config const& nodes, tcp::endpoint const& at, std::optional<access_token> token)
        : picture_{nodes, options.interval, limits_of(options)},
          answers_{std::string{dashboard_page()}, [this](list_part const& part) { return picture_.json(now(), part); }, options.hosts,
                   token},
          server_{io_, at, {}, [this](web_request const& request) { return answers_.to(request); }},
          locks_{nodes, locks_of(options), [this](lock_watch::found found) { take(std::make_shared<lock_watch::found>(std::move(found))); }}
    {
        if (nodes.nodes.front().cluster) {
            clusters_.emplace(io_, nodes, options.interval, options.from.timeout,
                              [this](std::vector<node_status> const& shards) { picture_.add(shards, now()); });
            return;
        }
        nodes_.emplace(io_, nodes, options.interval, options.from.timeout, [this](std::size_t node, doctor_probe const& looked) {
            picture_.add(node, looked, now());
            locks_.problems(picture_.problems());
        });
    }

    tcp::endpoint endpoint() const { return server_.endpoint(); }

    // Until SIGINT or SIGTERM.
    void run()
    {
        asio::signal_set signals{io_, SIGINT, SIGTERM};
        signals.async_wait([this](boost::system::error_code, int) { io_.stop(); });
        io_.run();
    }

private:
    static lock_watch_settings locks_of(dashboard_options const& options)
    {
        lock_watch_settings how;
        how.pattern = options.pattern;
        how.limits.names = static_cast<std::size_t>(options.limit);
        how.interval = options.interval;
        how.timeout = options.from.timeout;
        return how;
    }

    // On the thread of lock_watch.
    void take(std::shared_ptr<lock_watch::found> found)
    {
        asio::post(io_, [this, found = std::move(found)] { picture_.add(std::move(*found)); });
    }

    asio::io_context io_{1};
    picture picture_;
    web_answers answers_;
    web_server server_;
    lock_watch locks_;
    std::optional<node_watch> nodes_;
    std::optional<cluster_watch> clusters_;  // instead of nodes_
};

}  // namespace

int execute(dashboard_options const& options)
{
    check(options);
    auto const at = parse_listen_address(options.listen);
    auto const token = token_from(options.token_file);
    if (!is_loopback(at) && !token)
        throw failure{exit_code::usage, "--listen " + options.listen +
                                            ": other machines can reach this address, so a token is needed: give --token-file FILE, or " +
                                            token_variable + " in the environment"};
    auto const nodes = settings_of_searched(options.from).client;
    ::signal(SIGPIPE, SIG_IGN);
    dashboard shows{options, nodes, at, token};
    if (!is_loopback(at))
        std::fprintf(
            stderr,
            "redlock: warning: HTTP is not encrypted: who listens on the network can read the token; see docs/dashboard.md for TLS\n");
    terminal{}.write("the dashboard is at " + url_of(shows.endpoint()) + '\n');
    shows.run();
    return to_int(exit_code::success);
}

}  // namespace redlock::cli
