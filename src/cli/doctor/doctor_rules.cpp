#include "cli/doctor/doctor_rules.hpp"

#include "cli/doctor/doctor_admission.hpp"
#include "cli/doctor/doctor_clocks.hpp"
#include "cli/doctor/doctor_group.hpp"
#include "cli/doctor/grants.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/set_views.hpp"
#include "protocol/fence_keys.hpp"
#include "protocol/server_facts.hpp"
#include "protocol/server_id.hpp"
#include "protocol/server_kind.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace redlock::cli {

namespace {

constexpr double full_memory = 0.9;

// HELLO was accepted, so the server is at least Redis 6, which knows all commands but WAITAOF: the configuration must have renamed the
// others.
std::string remedy_of_unknown(std::string const& command)
{
    std::string name = command.substr(0, command.find('|'));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return (name == "WAITAOF" ? "use Redis >= 7.2 or Valkey, and " : "") + ("take rename-command " + name) +
           " out of its configuration, and restart it";
}

// Of a server that answers, but not what it was asked.
char const* remedy_of_error(std::string const& problem)
{
    if (problem.find("max number of clients") != std::string::npos)
        return "CONFIG SET maxclients with a larger number, or end the clients that are not needed: CLIENT LIST shows them";
    if (problem.find("protected mode") != std::string::npos)
        return "give its users passwords (ACL SETUSER, requirepass), or CONFIG SET protected-mode no where only trusted machines reach it";
    return "see what the server says, and its log";
}

// Of a server that answers each command that writes with this error.
char const* remedy_of_no_writes(std::string_view error)
{
    if (error.starts_with("NOREPLICAS")) return "bring its replicas back, or CONFIG SET min-replicas-to-write 0";
    if (error.starts_with("MISCONF"))
        return "make space, or mend what its log says of the snapshots; or CONFIG SET stop-writes-on-bgsave-error no";
    if (error.starts_with("BUSY")) return "wait, or SCRIPT KILL; a script that has written something ends with SHUTDOWN NOSAVE only";
    return "see what the server says, and its log";
}

class doctor_rules {
public:
    doctor_rules(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock)
        : nodes_{nodes}, settings_{settings}, lock_{lock}, majority_{quorum::majority(nodes.size())}
    {
    }

    std::vector<finding> make()
    {
        number_of_nodes();
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            doctor_probe const& n = nodes_[i];
            if (n.group) take_over(diagnose_group(n, settings_, lock_));
            if (!n.problem.empty()) {
                unreachable(n);
                continue;
            }
            kind_of_server(n);
            several_behind_one_address(n);
            if (n.is_sentinel()) continue;
            memory(n);
            writes(n);
            persistence(n, settings_.nodes[i]);
            replicas(n, settings_.nodes[i]);
            permissions(n);
            take_over(diagnose_time(n, lock_));
        }
        twins();
        if (are_of_this_set()) take_over(diagnose_admission(nodes_, settings_, lock_));
        take_over(diagnose_clocks(nodes_));
        merge();
        return gravest_first(std::move(found_));
    }

private:
    void add(severity is, std::string where, std::string what, std::string remedy, std::string since = {})
    {
        found_.push_back({is, std::move(where), std::move(what), std::move(remedy), std::move(since)});
    }

    void take_over(std::vector<finding> more)
    {
        for (finding& f : more) found_.push_back(std::move(f));
    }

    // A finding that is the same for several nodes becomes one that names them all.
    void merge()
    {
        std::vector<finding> merged;
        for (finding& f : found_) {
            auto const is_same = [&](finding const& m) { return m.what == f.what && m.remedy == f.remedy; };
            auto const same = std::find_if(merged.begin(), merged.end(), is_same);
            if (same == merged.end()) {
                merged.push_back(std::move(f));
                continue;
            }
            same->where += ", " + f.where;
            if (!f.since.empty() && (same->since.empty() || f.since < same->since)) same->since = f.since;  // of times, the earliest
        }
        std::string all;
        for (doctor_probe const& n : nodes_) all += (all.empty() ? "" : ", ") + n.node;
        for (finding& f : merged)
            if (f.where == all && nodes_.size() > 1) f.where.clear();
        found_ = std::move(merged);
    }

    void number_of_nodes()
    {
        auto const count = nodes_.size();
        if (count == 1 && !nodes_.front().group)
            add(severity::note, "", "there is one node only: when it is down, nobody can acquire a lock",
                "use three or five independent servers");
        if (count % 2 == 0)
            add(severity::warning, "",
                "a majority of " + count_of(count, "node") + " survives " + count_of(count - majority_, "failure") +
                    ", as many as one of " + std::to_string(count - 1) + " does; the additional node only adds one that can fail",
                "use an odd number of nodes");
    }

    void unreachable(doctor_probe const& n)
    {
        std::string remedy = "start the server, or correct its address";
        bool const is_refused = n.why == errc::handshake_refused || n.why == errc::server_error;  // which servers do not log
        if (n.why == errc::handshake_refused || n.problem.find("NOPERM") != std::string::npos)
            remedy = "correct the user or the password in the configuration, or ACL SETUSER on the server";
        if (n.why == errc::server_error) remedy = remedy_of_error(n.problem);
        if (n.why == errc::node_timeout) remedy = "look whether the server hangs, is stopped, or is behind a firewall";
        if (n.why == errc::not_a_redis_server || n.why == errc::unexpected_reply)
            remedy = "correct the address: something else listens there";
        if (n.group && n.group->primary.empty())
            remedy = "correct the Sentinels or the name of the master in the configuration, or start the Sentinels";
        else if (n.group && n.group->size > 1 && n.why == errc::node_unreachable)
            remedy = "wait: " + in_words(n.group->down_after) +
                     " and a few seconds after it failed, the Sentinels promote a replica that answers; if none does, start the servers";
        if (n.why == errc::handshake_refused && is_unknown_command(n.problem))
            remedy = "use Redis >= 6 or Valkey; if it is one, " + remedy_of_unknown("hello");
        add(severity::warning, n.node, "it has no vote at the moment: " + n.problem, remedy,
            now_or_earlier(is_refused ? "a dashboard that ran before knows" : "its log may know, or a dashboard that ran before"));
    }

    void kind_of_server(doctor_probe const& n)
    {
        if (n.info.empty() && is_unknown_command(n.info_refused))
            return add(lock_.fencing ? severity::danger : severity::warning, n.node,
                       "it does not know INFO: it cannot be told whether it is suitable, or lost its data, and with fencing nobody can "
                       "admit it",
                       remedy_of_unknown("info"));
        if (n.info.empty() && !n.info_refused.empty() && n.info_refused.find("NOPERM") == std::string::npos)
            return add(severity::warning, n.node, "it answers INFO with an error: " + printable(n.info_refused),
                       remedy_of_no_writes(n.info_refused));
        if (n.info.empty())
            return add(severity::warning, n.node, "its rules forbid INFO: it cannot be told whether it is suitable, or lost its data",
                       "ACL SETUSER " + (n.user.empty() ? "<user>" : n.user) + " +info");
        if (n.field("cluster_enabled") == "1" || n.field("redis_mode") == "cluster")
            add(severity::danger, n.node,
                "it is a member of a Redis Cluster, which moves keys between servers and fails over asynchronously",
                "give the cluster as the node, redis-cluster://host:port,host:port, or use independent servers (cluster-enabled no)");
        if (n.is_sentinel())
            return add(severity::danger, n.node, "this is a Sentinel, which keeps no keys",
                       "use the address of an independent server, or redis+sentinel://host:port/MASTER for the group that it watches");
        if (n.field("role") == "slave")
            add(severity::danger, n.node, "it is a replica: it would lose locks that its primary granted",
                "use independent masters (REPLICAOF NO ONE)");
        identity(n);
        if (n.field("loading") == "1")
            add(severity::warning, n.node,
                "it is loading its data, and answers nothing until that is done" +
                    (n.field("loading_eta_seconds").empty()
                         ? ""
                         : ", in about " + in_words(std::chrono::seconds{n.number("loading_eta_seconds")})),
                "wait");
    }

    // Each of them grants the same lock.
    void several_behind_one_address(doctor_probe const& n)
    {
        auto const others = std::count_if(n.met_again.begin(), n.met_again.end(), [&](auto const& id) { return id != n.field("run_id"); });
        if (others == 0) return;
        add(severity::danger, n.node,
            "several servers answer at this address: of " + std::to_string(n.met_again.size()) + " further connections " +
                std::to_string(others) + " led to another server, which grants the same lock to another client",
            "give each server an address of its own, without a load balancer and without a name that has several addresses");
    }

    // A server whose id may stay the same after a loss of data gets no vote with tokens from the client.
    void identity(doctor_probe const& n)
    {
        if (!lock_.fencing || settings_.trust_server_identity) return;
        auto const begin = n.info.find("# Server");
        if (begin == std::string::npos) return;
        detail::server_kind kind;
        kind.read_info(std::string_view{n.info}.substr(begin, n.info.find("\n# ", begin) - begin));
        if (kind.takes_new_ids()) return;
        add(severity::danger, n.node,
            "it is " + kind.foreign() + ", of which it is not known that it takes another id with each loss of its data",
            "use Redis or Valkey, or locks without fencing (--no-fencing)");
    }

    // Managed services forbid CONFIG, and most of them evict by default (docs/managed.md).
    static std::string how_to_stop_evictions(doctor_probe const& n)
    {
        if (!n.config_refused) return "CONFIG SET maxmemory-policy noeviction, and the same in its configuration file";
        return "CONFIG is refused here, so set maxmemory-policy to noeviction where the server is managed: in the parameter group of "
               "ElastiCache or MemoryDB, with "
               "gcloud redis instances update NAME --update-redis-config maxmemory-policy=noeviction for Memorystore for Redis, with "
               "gcloud memorystore instances update NAME --update-engine-configs=maxmemory-policy=noeviction for Memorystore for Valkey, "
               "in Azure's portal, as the data eviction policy of Redis Cloud";
    }

    void memory(doctor_probe const& n)
    {
        if (n.evicts()) return add(severity::danger, n.node, it_evicts(n), how_to_stop_evictions(n), since_its_start(n));
        auto const used = n.memory_used();
        if (used >= 1)
            add(severity::danger, n.node, memory_is_full(n), "raise maxmemory, or keep other data elsewhere", since_its_start(n));
        else if (used > full_memory)
            add(severity::warning, n.node,
                "its memory is " + std::to_string(static_cast<int>(used * 100)) + " % full; when it is, it grants no locks",
                "raise maxmemory, or keep other data elsewhere");
    }

    void writes(doctor_probe const& n)
    {
        if (!n.takes_no_writes.empty() && n.field("role") != "slave")
            add(severity::danger, n.node, it_takes_no_writes(n), remedy_of_no_writes(n.takes_no_writes),
                now_or_earlier("its log may know"));
        if (n.has_foreign_record() && lock_.fencing)
            add(severity::danger, n.node, its_record_is_foreign,
                "DEL redlock:node there, if nothing else needs it; it votes after a wait, as a new one");
    }

    void persistence(doctor_probe const& n, node_address const& address)
    {
        bool const appends = n.field("aof_enabled") == "1";
        if (address.fsync && !n.info.empty() && !appends)
            add(severity::danger, n.node, keeps_no_file, "CONFIG SET appendonly yes, and the same in its configuration file");
        for (char const* status : {"aof_last_write_status", "rdb_last_bgsave_status"})
            if (n.field(status) == "err" && n.takes_no_writes.empty())
                add(severity::warning, n.node,
                    std::string{"it could not write to its disk ("} + status + "), and may refuse to grant locks",
                    "look into its log; make space");
        if (n.info.empty() || address.fsync) return;

        bool const always = n.append_fsync == "always";
        if (appends && always) return;
        bool const saves = n.save && !n.save->empty();
        std::string what = "it loses its data when it restarts";
        if (appends)
            what = "it can lose what it granted in the last moments before a crash (appendfsync " +
                   (n.append_fsync.empty() ? "unknown" : n.append_fsync) + ')';
        else if (saves) what = "it loses everything since its last snapshot when it crashes";
        if (lock_.fencing) {
            return add(severity::note, n.node,
                       what + "; with fencing it then has no vote until old leases are over (" + in_words(settings_.max_ttl) + ')',
                       "nothing has to be done");
        }
        bool const little = appends && n.append_fsync == "everysec";
        add(little ? severity::warning : severity::danger, n.node, what + ", and without fencing grants locks again that are held",
            "use fencing (the default), or appendonly yes with appendfsync always");
    }

    void replicas(doctor_probe const& n, node_address const& address)
    {
        auto const connected = n.number("connected_slaves");
        if (n.info.empty() || n.field("role") == "slave") return;
        auto const waits_for = n.group ? static_cast<std::uint16_t>(n.group->acknowledgements) : address.replicas;
        bool const are_attached = connected >= waits_for;
        if (auto why = why_votes_do_not_count(n, address); !why.empty() && (!n.group || are_attached))
            return add(severity::danger, n.node, std::move(why),
                       are_attached ? "look at the replicas: what hangs, and whether the network is slow; one that is new needs a moment"
                                    : "start the replicas (REPLICAOF), or configure the node with fewer",
                       are_attached ? since_replicas_were_heard(n) : since_its_start(n));
        if (auto const why_not = detail::objection_to_group(static_cast<std::uint32_t>(connected), waits_for))
            add(severity::danger, n.node, *why_not, "or detach the replicas that are too many");
        auto const theirs = detail::replicas_in_id(n.record.substr(0, detail::record_id_size));
        bool const is_known = !n.group || waits_for > 0;  // without its Sentinels a group has no number
        bool const by_size = n.group && address.replicas == 0;  // k follows from how many servers there are
        if (theirs > 0 && is_known && theirs != waits_for && by_size)
            add(severity::danger, n.node,
                "the Sentinels know S = " + std::to_string(n.group->size) +
                    " servers of the group, which takes k = " + std::to_string(waits_for) +
                    ", and clients have admitted it for k = " + std::to_string(theirs) + ": nobody gets a vote with tokens",
                "if all of these servers stay, delete redlock:node on the primary, and nobody acquires for max_ttl; if not, detach what is "
                "too much, and SENTINEL RESET on one Sentinel after the other");
        else if (theirs > 0 && is_known && theirs != waits_for)
            add(severity::danger, n.node,
                "clients have admitted it for replicas=" + std::to_string(theirs) + ", and this configuration says " +
                    std::to_string(waits_for) + ", which gets no vote with tokens",
                "use replicas=" + std::to_string(theirs) +
                    " in every client; to change the number for all, delete redlock:node on the primary");
        if (!n.group && connected > 0 && address.replicas == 0)
            add(severity::note, n.node,
                "it has " + count_of(connected, "replica") +
                    ", for which its votes do not wait: a failover to one loses "
                    "locks",
                "promote none by itself, or configure the node with ?replicas=" + std::to_string(connected));
    }

    void permissions(doctor_probe const& n)
    {
        for (refusal const& r : n.refused) {
            bool const no_key = r.words.find("key") != std::string::npos && r.words.find("NOPERM") != std::string::npos;
            std::string const user = n.user.empty() ? "<user>" : n.user;
            std::string remedy = "ACL SETUSER " + user + (no_key ? " ~<pattern of the names>" : " +" + r.command);
            if (is_unknown_command(r.words)) remedy = remedy_of_unknown(r.command);
            add(r.needed_by_all ? severity::danger : severity::warning, n.node,
                r.command + " is refused, so that " + r.costs + " (" + r.words + ')', remedy);
        }
    }

    void twins()
    {
        for (std::size_t later = 1; later < nodes_.size(); ++later) {
            auto const id = nodes_[later].field("run_id");
            auto const same = [&](doctor_probe const& n) { return n.field("run_id") == id; };
            auto const end = nodes_.begin() + static_cast<std::ptrdiff_t>(later);
            auto const twin = id.empty() ? end : std::find_if(nodes_.begin(), end, same);
            if (twin != end)
                add(severity::danger, nodes_[later].node, "this is the same server as " + twin->node + ", which can have one vote only",
                    "give each node a server of its own");
        }
    }

    // If they are not, nothing follows from which of them have their data: others are the members.
    bool are_of_this_set()
    {
        std::vector<set_view> all;
        for (doctor_probe const& n : nodes_) all.push_back({n.node, n.problem, n.set});
        judge_sets(all, settings_);
        for (set_view const& v : all) {
            auto const end = v.objection.find("; ");
            if (!v.objection.empty())
                add(severity::danger, v.node, v.objection.substr(0, end),
                    end == std::string::npos ? "see redlock nodes show" : v.objection.substr(end + 2));
            else if (v.problem.empty() && v.is_forbidden() && lock_.fencing)
                add(severity::warning, v.node,
                    "its user may not read which set of nodes the server belongs to, so that a client with another list of nodes would not "
                    "be noticed",
                    "allow the key: ACL SETUSER ... ~redlock:set");
        }
        return std::all_of(all.begin(), all.end(), [](set_view const& v) { return v.objection.empty(); });
    }

    std::vector<doctor_probe> const& nodes_;
    config const& settings_;
    lock_options const& lock_;
    std::size_t majority_;
    std::vector<finding> found_;
};

}  // namespace

char const* to_string(severity s) noexcept
{
    switch (s) {
    case severity::note: return "note";
    case severity::warning: return "warning";
    case severity::danger: return "danger";
    }
    return "";
}

// Not with std::stable_sort: with that of libstdc++ 12, clang warns of libstdc++.
std::vector<finding> gravest_first(std::vector<finding> found)
{
    std::vector<finding> sorted;
    auto graver = [](finding const& a, finding const& b) { return a.is > b.is; };
    for (finding& f : found) {
        auto const place = std::upper_bound(sorted.begin(), sorted.end(), f, graver);
        sorted.insert(place, std::move(f));
    }
    return sorted;
}

std::vector<finding> diagnose(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock)
{
    return doctor_rules{nodes, settings, lock}.make();
}

}  // namespace redlock::cli
