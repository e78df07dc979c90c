#include "group_scene.hpp"

#include "pace.hpp"
#include "timing.hpp"

#include "support/replication_info.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;

// Machine 0 is the runner's.
constexpr std::size_t machine_of(std::size_t server) { return 1 + server; }
constexpr std::size_t near_workers = machine_of(group_size);
constexpr std::size_t far_workers = near_workers + 1;

// Each way. Twice the longer one is the replication_timeout of the workers (timing.hpp).
constexpr auto max_lag = 50ms;
constexpr auto max_long_lag = 250ms;

testing::watched_group_options options_of(std::string const& binary, packet_hub const* hub)
{
    testing::watched_group_options options;
    options.server.binary = binary;
    options.server.start_timeout = options.answer_timeout = patience;
    options.server.arguments = {"--appendonly", "yes", "--appendfsync", "everysec"};
    for (std::size_t i = 0; hub != nullptr && i < group_size; ++i)
        options.machines.push_back({packet_hub::address_of(machine_of(i)), hub->under(machine_of(i))});
    return options;
}

// A server that is demoted closes the connections of all clients, ours too.
testing::resp_reply ask(testing::redis_server const& server, std::vector<std::string> const& words)
{
    for (auto const end = boot_clock::now() + patience;;) {
        try {
            return server.ask(words, patience);
        } catch (std::system_error const&) {
            if (boot_clock::now() > end) throw;
        }
        sleep_until(boot_clock::now() + 20ms);
    }
}

}  // namespace

group_scene::group_scene(std::string const& binary, std::uint64_t seed, bool has_network) : random_{seed}
{
    if (has_network) hub_.emplace(far_workers, seed);
    group_.emplace(options_of(binary, hub_ ? &*hub_ : nullptr));
}

std::vector<work_place> group_scene::places(work_kind kind) const
{
    std::vector<work_place> all;
    for (std::size_t worker = 0; worker < worker_count; ++worker) {
        auto const machine = worker % 2 == 1 ? far_workers : near_workers;
        all.push_back({hub_ ? hub_->under(machine) : std::vector<std::string>{}, {group_->url()}, register_address(), kind});
    }
    return all;
}

void group_scene::inject(group_fault kind, crew& workers, std::size_t worker)
{
    using enum group_fault;
    old_ = primary();
    for (std::size_t i = 0; i < group_size; ++i)
        if (std::exchange(patient_[i], false)) group_->hasten(i);
    auto const random_replica = (old_ + 1 + random_.below(group_size - 1)) % group_size;
    auto const stop = [&](testing::redis_server& server, health& is) {
        server.stop();
        is = health::gone;
    };
    switch (kind) {
    case primary_killed:
    case primary_back_at_once:
    case primary_back_empty: return kill_server(old_);
    case primary_stopped:
    case primary_stops_briefly: return stop(group_->servers[old_], servers_[old_]);
    case machine_lost:
        kill_server(old_);
        group_->sentinels[old_].kill();
        sentinels_[old_] = health::gone;
        return;
    case cut_off_with_clients: return cut_off(old_, true);
    case cut_off_from_servers: return cut_off(old_, false);
    case laggard_promoted: return leave_behind();
    case replicas_lag: return delay_replicas(max_lag);
    case replicas_lag_long: votes_may_be_late_ = true; return delay_replicas(max_long_lag);
    case replica_killed: return kill_server(random_replica);
    case replicas_killed:
        for (std::size_t i = 0; i < group_size; ++i)
            if (i != old_) kill_server(i);
        return;
    case sentinel_killed: {
        auto const which = random_.below(group_size);
        group_->sentinels[which].kill();
        sentinels_[which] = health::gone;
        return;
    }
    case sentinels_stopped: {
        auto const spared = random_.below(group_size);
        for (std::size_t i = 0; i < group_size; ++i)
            if (i != spared) stop(group_->sentinels[i], sentinels_[i]);
        return;
    }
    case failover_wanted:
        // A Sentinel refuses while it is not sure of the replicas.
        for (auto const end = boot_clock::now() + patience;
             group_->sentinels[0].ask({"SENTINEL", "FAILOVER", "mymaster"}, patience).is_error();) {
            if (boot_clock::now() > end) throw std::runtime_error{"no Sentinel fails over when it is told to"};
            sleep_until(boot_clock::now() + 100ms);
        }
        return;
    case group_worker_stopped: return workers.stop(worker);
    case group_worker_killed: return workers.kill(worker);
    }
}

void group_scene::heal(group_fault kind, crew& workers, std::size_t worker)
{
    using enum group_fault;
    switch (kind) {
    case group_worker_stopped: return workers.resume(worker);
    case group_worker_killed: return workers.replace(worker);
    default: break;
    }
    if (hub_) hub_->heal();
    votes_may_be_late_ = false;
    restart_servers(kind == primary_back_empty || kind == replica_killed);
    for (std::size_t i = 0; i < group_size; ++i) {
        if (std::exchange(sentinels_[i], health::well) != health::gone) continue;
        if (group_->sentinels[i].running()) group_->sentinels[i].resume();
        else restart_sentinel(i);
    }
}

bool group_scene::has_failed_over() const
{
    for (std::size_t i = 0; i < group_size; ++i) {
        if (i == old_ || servers_[i] != health::well) continue;
        if (testing::replication_info{replication_of(i)}.role == "master") return true;
    }
    return false;
}

std::string group_scene::who_can_go_on() const
{
    if (votes_may_be_late_) return {};
    for (std::size_t i = 0; i < group_size; ++i) {
        if (sentinels_[i] != health::well) continue;
        auto const port = group_->primary_port(i);
        for (std::size_t s = 0; s < group_size; ++s) {
            if (group_->servers[s].port() != port || servers_[s] != health::well) continue;
            auto const info = replication_of(s);
            testing::replication_info const shown{info};
            if (shown.role == "master" && info.find("state=online") != std::string::npos) return shown.id;
        }
    }
    return {};
}

bool group_scene::is_whole(bool with_tokens) const
{
    if (!group_->is_complete()) return false;
    auto const now = primary();
    auto const info = replication_of(now);
    std::size_t online = 0;
    for (auto at = info.find("state=online"); at != std::string::npos; at = info.find("state=online", at + 1)) ++online;
    auto const record = ask(group_->servers[now], {"GET", "redlock:node"}).text;
    testing::replication_info const shown{info};
    constexpr std::size_t id_end = 40;  // behind "kKKK:", as much of the id as fits
    constexpr std::size_t prefix = 5;
    if (shown.role != "master" || online != group_size - 1) return false;
    return !with_tokens ||
           (record.size() > id_end && record[0] == 'k' && record.compare(prefix, id_end - prefix, shown.id, 0, id_end - prefix) == 0);
}

std::vector<std::string> group_scene::locks() const
{
    auto keys = ask(group_->servers[primary()], {"KEYS", "*"}).items;
    std::erase_if(keys, [](std::string const& key) {
        return key.ends_with(":fence") || key.ends_with(":permits") || key.starts_with("redlock:");
    });
    return keys;
}

std::size_t group_scene::primary() const
{
    auto const port = group_->primary_port();
    for (std::size_t i = 0; i < group_size; ++i)
        if (group_->servers[i].port() == port) return i;
    throw std::runtime_error{"a Sentinel names a primary that is none of the servers"};
}

std::string group_scene::replication_of(std::size_t server) const { return ask(group_->servers[server], {"INFO", "replication"}).text; }

void group_scene::kill_server(std::size_t server)
{
    group_->servers[server].kill();
    servers_[server] = health::gone;
}

void group_scene::restart_servers(bool empty)
{
    for (std::size_t i = 0; i < group_size; ++i) {
        auto& server = group_->servers[i];
        auto const was = std::exchange(servers_[i], health::well);
        if (was != health::gone) continue;
        if (server.running()) {
            server.resume();
            continue;
        }
        if (empty) std::filesystem::remove_all(server.folder() / "appendonlydir");
        server.restart();
    }
}

void group_scene::restart_sentinel(std::size_t sentinel)
{
    group_->sentinels[sentinel].restart();
    make_patient(sentinel);
}

// One that was away takes a promotion back that it hears of too late. What is sent to make a connection is repeated after pauses that double, also across the
// end of a partition: of two connections to a server, the one by which a Sentinel sees the role may be there long before the one by which it is told of the
// promotion. With its own period it waits for 8 s, as it does outside of tests.
void group_scene::make_patient(std::size_t sentinel)
{
    group_->hasten(sentinel, testing::own_publish_period);
    patient_[sentinel] = true;
}

void group_scene::cut_off(std::size_t server, bool with_clients)
{
    for (std::size_t i = 0; i < group_size; ++i) {
        if (i == server) continue;
        hub_->block(machine_of(server), machine_of(i));
        if (with_clients) hub_->block(far_workers, machine_of(i));
    }
    if (with_clients) hub_->block(near_workers, machine_of(server));
    make_patient(server);
    servers_[server] = sentinels_[server] = health::cut_off;
}

void group_scene::delay_replicas(milliseconds lag)
{
    for (std::size_t i = 0; i < group_size; ++i)
        if (i != old_) hub_->delay(machine_of(old_), machine_of(i), lag);
}

// One replica lacks the last locks, the other one is down when the primary dies.
void group_scene::leave_behind()
{
    auto const last = (old_ + 1) % group_size;
    auto const other = (old_ + 2) % group_size;
    hub_->block(machine_of(old_), machine_of(last));
    sleep_until(boot_clock::now() + milliseconds{random_.between(300, 1'500)});
    kill_server(other);
    kill_server(old_);
}

}  // namespace redlock::faults
