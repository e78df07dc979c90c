#include "support/admitted.hpp"

#include "support/replication_info.hpp"

namespace redlock::testing {

std::string replication_id(redis_server const& server) { return replication_info{server.command({"INFO", "replication"})}.id; }

void admit(redis_server const& server, unsigned database, std::uint16_t replicas)
{
    auto id = replication_id(server);
    auto const number = std::to_string(replicas);
    if (replicas > 0) id = ("k" + std::string(3 - number.size(), '0') + number + ':' + id).substr(0, 40);
    server.command({"EVAL", "redis.call('SELECT', ARGV[2]) redis.call('SET', KEYS[1], ARGV[1]) redis.call('SET', KEYS[2], '0')", "2",
                    "redlock:node", "redlock:hw", id + " 0000000000000000 0000060000 -", std::to_string(database)});
}

std::deque<redis_server> admitted_servers(std::size_t count)
{
    std::deque<redis_server> servers(count);
    for (redis_server const& each : servers) admit(each);
    return servers;
}

}  // namespace redlock::testing
