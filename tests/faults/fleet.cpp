#include "fleet.hpp"

#include "timing.hpp"

#include "support/replication_info.hpp"

#include <boost/asio/ip/address.hpp>

#include <algorithm>

namespace redlock::faults {
namespace {

std::vector<std::string> arguments_for(persistence kind)
{
    std::vector<std::string> words{"--enable-debug-command", "yes", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"};
    auto const add = [&](std::vector<std::string> const& more) { words.insert(words.end(), more.begin(), more.end()); };
    switch (kind) {
    case persistence::none: break;
    case persistence::rdb: add({"--save", "1 1"}); break;
    case persistence::aof_everysec: add({"--appendonly", "yes", "--appendfsync", "everysec"}); break;
    case persistence::aof_always: add({"--appendonly", "yes", "--appendfsync", "always"}); break;
    }
    return words;
}

}  // namespace

fleet::fleet(std::string const& binary, std::string const& address)
{
    std::vector<std::uint16_t> ports;
    for (std::size_t i = 0; i <= node_count; ++i) {
        auto& clock = clocks_.emplace_back(folder_.path() / std::to_string(i));
        testing::redis_server_options options;
        options.binary = binary;
        options.start_timeout = patience;
        options.under = clock.under();
        options.arguments = arguments_for(i < node_count ? persistence_of[i] : persistence::none);
        auto const& server = servers_.emplace_back(options);
        if (i < node_count) ports.push_back(server.port());
    }
    proxy_.emplace(ports, boost::asio::ip::make_address(address));
}

std::string fleet::version() const
{
    auto const info = servers_[0].command({"INFO", "server"}, patience);
    auto const line = [&](std::string const& name) {
        auto const at = info.find(name);
        return at == std::string::npos ? std::string{} : info.substr(at + name.size(), info.find('\r', at) - at - name.size());
    };
    auto const valkey = line("valkey_version:");
    return valkey.empty() ? "Redis " + line("redis_version:") : "Valkey " + valkey;
}

bool fleet::admitted(std::size_t node) const
{
    testing::replication_info const shown{servers_[node].command({"INFO", "replication"}, patience)};
    auto const record = servers_[node].ask({"GET", "redlock:node"}, patience);
    return shown.role == "master" && record.text.starts_with(shown.id);
}

void fleet::begin_anew()
{
    for (std::size_t i = 0; i < node_count; ++i) servers_[i].command({"DEL", "redlock:node"}, patience);
}

std::vector<std::string> fleet::locks(std::size_t node) const
{
    auto keys = servers_[node].ask({"KEYS", "*"}, patience).items;
    std::erase_if(keys, [](std::string const& key) {
        return key.ends_with(":fence") || key.ends_with(":permits") || key == "redlock:node" || key == "redlock:hw" || key == "redlock:set";
    });
    return keys;
}

}  // namespace redlock::faults
