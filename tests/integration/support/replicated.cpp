#include "replicated.hpp"

#include "support/resp_client.hpp"

#include <stdexcept>
#include <string_view>
#include <vector>

#include <poll.h>

namespace redlock::testing {
namespace {

// Servers that start copying at once: by default they wait five seconds for more replicas to come.
redis_server_options quick_to_copy(redis_server_options options)
{
    std::vector<std::string> const at_once{"--repl-diskless-sync-delay", "0"};
    options.arguments.insert(options.arguments.begin(), at_once.begin(), at_once.end());
    return options;
}

std::size_t occurrences(std::string_view text, std::string_view what)
{
    std::size_t count = 0;
    for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++count;
    return count;
}

config with_node(config settings, redis_server const& server, std::string const& parameters)
{
    settings.nodes = {node_address::from_url(server.url() + parameters)};
    return settings;
}

}  // namespace

// A replica that has just come says that it has everything, and gets what is written from now on up to a second later. So each must
// get something that was written after it was there.
void wait_for_replicas(redis_server const& primary, std::size_t count)
{
    constexpr std::chrono::milliseconds limit = 10s;
    auto const end = boot_clock::now() + limit;
    auto const online = [&] { return occurrences(primary.command({"INFO", "replication"}), "state=online"); };
    while (online() < count && boot_clock::now() < end) ::poll(nullptr, 0, 5);
    resp_client client{loopback::ipv4, primary.port(), limit + 1s};
    client.ask({"SET", "redlock:wait", "1"});
    auto const in_step = client.ask({"WAIT", std::to_string(count), std::to_string(limit.count())}).text;
    if (online() < count || std::stoul(in_step) < count)
        throw std::runtime_error{"the replicas did not follow: " + primary.command({"INFO", "replication"})};
}

void follow(redis_server const& replica, redis_server const& primary)
{
    replica.command({"REPLICAOF", primary.host(), std::to_string(primary.port())});
}

std::size_t calls_of(redis_server const& server, std::string const& command)
{
    auto const text = server.command({"INFO", "commandstats"});
    std::string const name = "cmdstat_" + command + ":calls=";
    auto const at = text.find(name);
    return at == std::string::npos ? 0 : std::stoul(text.substr(at + name.size()));
}

replicated::replicated(std::string const& parameters, std::size_t count, config settings, redis_server_options const& options, beginning how)
    : cluster{1, settings, quick_to_copy(options), beginning::empty}
{
    for (std::size_t i = 0; i < count; ++i) follow(replicas.emplace_back(quick_to_copy(options)), primary());
    wait_for_replicas(primary(), count);
    if (how == beginning::admitted) admit(primary());  // its identity is another one since the first of them came
    nodes = redlock::client{io.get_executor(), with_node(settings, primary(), parameters)};
}

void replicated::cut_links()
{
    primary().command({"ACL", "SETUSER", "default", "-psync", "-sync"});
    primary().command({"CLIENT", "KILL", "TYPE", "replica"});
}

void replicated::fail_over_to(std::size_t replica)
{
    primary().kill();
    replicas.at(replica).command({"REPLICAOF", "NO", "ONE"});
}

std::unique_ptr<redlock::client> replicated::client_of(redis_server const& server, std::string const& parameters, config settings)
{
    auto c = std::make_unique<redlock::client>(io.get_executor(), with_node(std::move(settings), server, parameters));
    start(*c);
    return c;
}

}  // namespace redlock::testing
