#include "replicated.hpp"

#include <utility>

namespace redlock::testing {
namespace {

config with_node(config settings, redis_server const& server, std::string const& parameters)
{
    settings.nodes = {node_address::from_url(server.url() + parameters)};
    return settings;
}

}  // namespace

replicated::replicated(std::string const& parameters, std::size_t count, config settings, redis_server_options const& options,
                       beginning how)
    : cluster{1, settings, quick_to_copy(options), beginning::empty}
{
    for (std::size_t i = 0; i < count; ++i) follow(replicas.emplace_back(quick_to_copy(options)), primary());
    wait_for_replicas(primary(), count);
    auto const waits_for = node_address::from_url(primary().url() + parameters).replicas;
    if (how == beginning::admitted) admit(primary(), 0, waits_for);  // its identity is another one since the first of them came
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
