#include "redis_cluster.hpp"

#include "child_process.hpp"
#include "replication.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <poll.h>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

constexpr char const* node_timeout = "1000";  // ms

template <class Question>
void wait_until(Question question, char const* what)
{
    auto const end = std::chrono::steady_clock::now() + redis_cluster::patience;
    while (!question()) {
        if (std::chrono::steady_clock::now() > end) throw std::runtime_error{std::string{"redis_cluster: "} + what + " takes too long"};
        ::poll(nullptr, 0, 20);
    }
}

std::vector<std::string> words_of(std::string const& line)
{
    std::istringstream stream{line};
    return {std::istream_iterator<std::string>{stream}, {}};
}

bool is_in(std::uint16_t slot, std::string const& range)
{
    if (range.front() == '[') return false;
    auto const dash = range.find('-');
    auto const first = std::stoul(range);
    return first <= slot && slot <= (dash == range.npos ? first : std::stoul(range.substr(dash + 1)));
}

// A line of the answer to CLUSTER NODES: id, address, flags, id of the primary, ping, pong, epoch, link, and then ranges of slots.
struct cluster_line {
    explicit cluster_line(std::string const& line) : words{words_of(line)} { words.resize(std::max(words.size(), first_range)); }

    std::string const& id() const { return words[0]; }
    bool has_flag(std::string const& flag) const { return (',' + words[2] + ',').find(',' + flag + ',') != std::string::npos; }
    bool has_failed() const { return has_flag("fail") || has_flag("fail?"); }  // in the eyes of all, or of the one that says so
    bool has_primary() const { return words[3] != "-"; }
    unsigned long epoch() const { return std::stoul(words[6]); }
    bool is_connected() const { return words[7] == "connected"; }
    bool has(std::uint16_t slot) const
    {
        return std::any_of(words.begin() + first_range, words.end(), [slot](std::string const& range) { return is_in(slot, range); });
    }

    static constexpr std::size_t first_range = 8;
    std::vector<std::string> words;
};

}  // namespace

redis_cluster::redis_cluster(redis_cluster_options options) : options_{std::move(options)}
{
    std::vector<std::string> words{"create"};
    for (std::size_t i = 0; i < options_.primaries * (1 + options_.replicas); ++i) {
        launch();
        words.push_back(place_of(i));
    }
    be_patient(true);
    words.insert(words.end(), {"--cluster-replicas", std::to_string(options_.replicas), "--cluster-yes"});
    if (int const code = manage(words); code != 0) {
        std::ifstream file{folder_.path() / "redis-cli"};
        throw std::runtime_error{"redis-cli --cluster create failed:\n" + std::string{std::istreambuf_iterator<char>{file}, {}}};
    }
    be_patient(false);
    wait_until([this] { return is_complete(); }, "the beginning of a cluster");
    for (auto const& s : servers)
        if (s.command({"ROLE"}).starts_with("master")) wait_for_replicas(s, options_.replicas);
    wait_until([this] { return all_know_all_replicas(); }, "the news of the replicas");
}

// Servers hear of each other's replicas one after the other, and of servers that were silent for a while.
bool redis_cluster::all_know_all_replicas() const
{
    return std::all_of(servers.begin(), servers.end(), [this](redis_server const& s) {
        std::istringstream lines{s.command({"CLUSTER", "NODES"})};
        std::size_t replicas = 0;
        for (std::string line; std::getline(lines, line);) {
            cluster_line const other{line};
            if (other.has_failed() || !other.is_connected()) return false;
            if (other.has_flag("slave") && other.has_primary()) ++replicas;
        }
        return replicas == options_.primaries * options_.replicas;
    });
}

// A server that is slower than this time to answer a MEET is forgotten for ever.
void redis_cluster::be_patient(bool are)
{
    for (auto& s : servers)
        if (s.running()) s.command({"CONFIG", "SET", "cluster-node-timeout", are ? "15000" : node_timeout});
}

redis_server& redis_cluster::launch()
{
    auto const bus = free_port();
    bus_ports_.push_back(bus);
    auto all = quick_to_copy(options_.server);
    all.arguments.insert(all.arguments.begin(),
                         {"--cluster-enabled", "yes", "--cluster-node-timeout", node_timeout, "--cluster-port", std::to_string(bus),
                          "--cluster-allow-replica-migration", "no", "--repl-ping-replica-period", "1"});
    return servers.emplace_back(all);
}

std::string redis_cluster::place_of(std::size_t i) const
{
    return servers[i].host() + ':' + std::to_string(servers[i].port()) + '@' + std::to_string(bus_ports_[i]);
}

int redis_cluster::manage(std::vector<std::string> words, std::chrono::milliseconds at_most) const
{
    words.insert(words.begin(), "--cluster");
    child_process cli{find_program("redis-cli"), words, folder_.path() / "redis-cli"};
    return cli.wait(at_most).value_or(-1);
}

std::string redis_cluster::url(std::string const& more) const
{
    std::string hosts;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, servers.size()); ++i)
        hosts += (hosts.empty() ? "" : ",") + servers[i].host() + ':' + std::to_string(servers[i].port());
    return "redis-cluster://" + hosts + more;
}

redis_server& redis_cluster::with_id(std::string const& id)
{
    auto const found = std::find_if(servers.begin(), servers.end(), [&](redis_server& s) { return s.running() && id_of(s) == id; });
    if (found == servers.end()) throw std::runtime_error{"no running server of the cluster has the id " + id};
    return *found;
}

// The newest claim counts.
redis_server& redis_cluster::owner_of(std::uint16_t slot)
{
    std::string owner;
    unsigned long newest = 0;
    for (auto& s : servers) {
        if (!s.running()) continue;
        std::istringstream lines{s.command({"CLUSTER", "NODES"})};
        for (std::string line; std::getline(lines, line);) {
            cluster_line const claim{line};
            if (!claim.has(slot) || claim.epoch() < newest) continue;
            newest = claim.epoch();
            owner = claim.id();
        }
    }
    if (owner.empty()) throw std::runtime_error{"nobody serves slot " + std::to_string(slot)};
    return with_id(owner);
}

redis_server& redis_cluster::another_primary_than(std::uint16_t slot)
{
    auto const& owner = owner_of(slot);
    for (auto& s : servers)
        if (&s != &owner && s.running() && s.command({"ROLE"}).starts_with("master")) return s;
    throw std::runtime_error{"the cluster has no other primary"};
}

std::vector<redis_server*> redis_cluster::replicas_of(redis_server const& primary)
{
    std::vector<redis_server*> all;
    for (auto& s : servers) {
        if (!s.running()) continue;
        auto const role = s.ask({"ROLE"});
        if (role.items.size() < 3 || role.items[0] != "slave") continue;
        if (role.items[2] == std::to_string(primary.port()) || role.items[2] == std::to_string(primary.tls_port())) all.push_back(&s);
    }
    return all;
}

void redis_cluster::begin_to_move(std::uint16_t slot, redis_server const& to)
{
    auto const& from = owner_of(slot);
    auto const number = std::to_string(slot);
    to.command({"CLUSTER", "SETSLOT", number, "IMPORTING", id_of(from)});
    from.command({"CLUSTER", "SETSLOT", number, "MIGRATING", id_of(to)});
}

void redis_cluster::move_keys(std::uint16_t slot, redis_server const& to)
{
    auto const& from = owner_of(slot);
    for (;;) {
        auto const keys = from.ask({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), "100"}).items;
        if (keys.empty()) return;
        std::vector<std::string> words{"MIGRATE", to.host(), std::to_string(to.port()), "", "0", "5000", "KEYS"};
        words.insert(words.end(), keys.begin(), keys.end());
        try {
            from.command(words, 10s);
        } catch (std::runtime_error const& error) {
            // On a busy machine, servers take each other for down for a moment.
            if (std::string_view{error.what()}.find("CLUSTERDOWN") == std::string_view::npos) throw;
            wait_until([this] { return is_complete(); }, "the end of a moment in which it was down");
        }
    }
}

void redis_cluster::finish_moving(std::uint16_t slot, redis_server const& to)
{
    auto const id = id_of(to);
    to.command({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id});
    for (auto& s : servers)
        if (&s != &to && s.running() && s.command({"ROLE"}).starts_with("master"))
            s.command({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id});
}

void redis_cluster::move(std::uint16_t slot, redis_server const& to)
{
    begin_to_move(slot, to);
    move_keys(slot, to);
    finish_moving(slot, to);
}

// The owner first: its messages would give the slot back to those that dropped it before. A replica keeps what its primary once claimed.
void redis_cluster::drop(std::uint16_t slot)
{
    auto const number = std::to_string(slot);
    owner_of(slot).command({"CLUSTER", "DELSLOTS", number});
    auto const drops = [&](redis_server& s) {
        if (!s.running()) return true;
        s.ask({"CLUSTER", "DELSLOTS", number});  // answers an error where nobody has it any more
        return s.command({"CLUSTER", "INFO"}).find("cluster_slots_assigned:16383") != std::string::npos;
    };
    wait_until([&] { return std::all_of(servers.begin(), servers.end(), drops); }, "the loss of a slot");
}

redis_server& redis_cluster::join()
{
    auto& one = launch();
    be_patient(true);
    servers.front().command({"CLUSTER", "MEET", one.host(), std::to_string(one.port()), std::to_string(bus_ports_.back())});
    wait_until(
        [&] { return one.command({"CLUSTER", "INFO"}).find("cluster_known_nodes:" + std::to_string(servers.size())) != std::string::npos; },
        "the meeting with one more server");
    be_patient(false);
    wait_until([&] { return is_complete(); }, "the news of it");
    return one;
}

bool redis_cluster::is_complete()
{
    for (auto& s : servers) {
        if (!s.running()) continue;
        auto const info = s.command({"CLUSTER", "INFO"});
        for (char const* wanted : {"cluster_state:ok", "cluster_slots_ok:16384"})
            if (info.find(wanted) == std::string::npos) return false;
        if (info.find("cluster_known_nodes:" + std::to_string(servers.size())) == std::string::npos) return false;
    }
    return true;
}

}  // namespace redlock::testing
