#include "fleet.hpp"

#include <chrono>

namespace bench {

fleet::fleet(std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i) servers_.emplace_back();
}

ports fleet::ports() const
{
    bench::ports all;
    for (auto const& server : servers_) all.push_back(server.port());
    return all;
}

redlock::config bootstrap_config(ports const& at)
{
    redlock::config settings;
    for (auto const port : at) {
        auto& node = settings.nodes.emplace_back();
        node.host = "127.0.0.1";
        node.port = port;
    }
    settings.bootstrap = true;
    settings.max_ttl = longest_ttl;
    settings.connect_timeout = std::chrono::seconds{20};  // a thousand clients of one machine connect at once
    return settings;
}

}  // namespace bench
