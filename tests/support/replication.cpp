#include "replication.hpp"

#include "resp_client.hpp"

#include <chrono>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <poll.h>

namespace redlock::testing {
namespace {

std::size_t occurrences(std::string_view text, std::string_view what)
{
    std::size_t count = 0;
    for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++count;
    return count;
}

}  // namespace

redis_server_options quick_to_copy(redis_server_options options)
{
    std::vector<std::string> const at_once{"--repl-diskless-sync-delay", "0"};
    options.arguments.insert(options.arguments.begin(), at_once.begin(), at_once.end());
    return options;
}

// A replica that has just come says that it has everything, and gets what is written from now on up to a second later. So each must
// get something that was written after it was there.
void wait_for_replicas(redis_server const& primary, std::size_t count)
{
    constexpr std::chrono::milliseconds limit{10'000};
    auto const end = std::chrono::steady_clock::now() + limit;
    auto const online = [&] { return occurrences(primary.command({"INFO", "replication"}), "state=online"); };
    while (online() < count && std::chrono::steady_clock::now() < end) ::poll(nullptr, 0, 5);
    resp_client client{primary.host(), primary.port(), limit + std::chrono::seconds{1}};
    client.ask({"SET", "redlock:wait", "1"});
    auto const in_step = client.ask({"WAIT", std::to_string(count), std::to_string(limit.count())}).text;
    if (online() < count || std::stoul(in_step) < count)
        throw std::runtime_error{"the replicas did not follow: " + primary.command({"INFO", "replication"})};
}

void follow(redis_server const& replica, redis_server const& primary)
{
    replica.command({"REPLICAOF", primary.host(), std::to_string(primary.port())});
}

}  // namespace redlock::testing
