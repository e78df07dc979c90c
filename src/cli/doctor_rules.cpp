#include "cli/doctor_rules.hpp"

#include "cli/doctor_group.hpp"
#include "cli/text.hpp"
#include "quorum/timing.hpp"
#include "redis/group_binding.hpp"
#include "redis/server_kind.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto offset_max = 500ms;          // clocks that a time service keeps are closer
constexpr auto step_min = 50ms;             // a busy machine can make a clock seem to move by less
constexpr double full_memory = 0.9;

constexpr std::size_t id_size = 40;         // the record: 40 digits, ' ', 16 digits, ' ', 10 digits, ' ', mark
constexpr std::size_t max_ttl_at = 58;
constexpr std::size_t max_ttl_size = 10;

bool is_unknown(std::string_view words)
{
    return words.find("unknown command") != std::string_view::npos || words.find("unknown subcommand") != std::string_view::npos ||
           words.find("Unknown subcommand") != std::string_view::npos;
}

// HELLO was accepted, so the server is at least Redis 6, which knows all commands but WAITAOF: the configuration must have renamed the others.
std::string remedy_of_unknown(std::string const& command)
{
    std::string name = command.substr(0, command.find('|'));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return (name == "WAITAOF" ? "use Redis >= 7.2 or Valkey, and " : "") + ("take rename-command " + name) +
           " out of its configuration, and restart it";
}

std::uint64_t to_number(std::string_view digits)
{
    std::uint64_t value{0};
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

class doctor_rules {
public:
    doctor_rules(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock)
        : nodes_{nodes}, settings_{settings}, lock_{lock}, majority_{nodes.size() / 2 + 1}
    {
    }

    std::vector<finding> make()
    {
        number_of_nodes();
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            doctor_probe const& n = nodes_[i];
            if (n.group)
                for (finding& f : diagnose_group(n, settings_, lock_)) found_.push_back(std::move(f));
            if (!n.problem.empty()) {
                unreachable(n);
                continue;
            }
            kind_of_server(n);
            if (is_a_sentinel(n)) continue;
            memory(n);
            persistence(n, settings_.nodes[i]);
            replicas(n, settings_.nodes[i]);
            permissions(n);
            time(n);
        }
        twins();
        admission();
        clocks_apart();
        merge();
        return gravest_first();
    }

private:
    void add(severity is, std::string where, std::string what, std::string remedy)
    {
        found_.push_back({is, std::move(where), std::move(what), std::move(remedy)});
    }

    // Findings of the same severity keep their order. (With std::stable_sort, libstdc++ 12 makes clang warn of libstdc++.)
    std::vector<finding> gravest_first()
    {
        std::vector<finding> sorted;
        auto graver = [](finding const& a, finding const& b) { return a.is > b.is; };
        for (finding& f : found_) {
            auto const place = std::upper_bound(sorted.begin(), sorted.end(), f, graver);
            sorted.insert(place, std::move(f));
        }
        return sorted;
    }

    // A finding that is the same for several nodes becomes one that names them all.
    void merge()
    {
        std::vector<finding> merged;
        for (finding& f : found_) {
            auto const is_same = [&](finding const& m) { return m.what == f.what && m.remedy == f.remedy; };
            auto const same = std::find_if(merged.begin(), merged.end(), is_same);
            if (same == merged.end()) merged.push_back(std::move(f));
            else same->where += ", " + f.where;
        }
        std::string all;
        for (doctor_probe const& n : nodes_) all += (all.empty() ? "" : ", ") + n.node;
        for (finding& f : merged)
            if (f.where == all && nodes_.size() > 1) f.where.clear();
        found_ = std::move(merged);
    }

    std::size_t answered() const
    {
        return static_cast<std::size_t>(
            std::count_if(nodes_.begin(), nodes_.end(), [](doctor_probe const& n) { return n.problem.empty(); }));
    }

    void number_of_nodes()
    {
        auto const count = nodes_.size();
        if (answered() < majority_)
            add(severity::danger, "",
                (answered() == 0 ? "none" : "only " + std::to_string(answered())) + " of " + count_of(count, "node") +
                    " answered, and a majority is " + std::to_string(majority_) + ": nobody can acquire a lock",
                "bring the others back; see below what is wrong with them");
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
        if (n.why == errc::handshake_refused || n.problem.find("NOPERM") != std::string::npos)
            remedy = "correct the user or the password in the configuration, or ACL SETUSER on the server";
        if (n.why == errc::node_timeout) remedy = "look whether the server hangs, is stopped, or is behind a firewall";
        if (n.why == errc::not_a_redis_server || n.why == errc::unexpected_reply)
            remedy = "correct the address: something else listens there";
        if (n.group && n.group->primary.empty())
            remedy = "correct the Sentinels or the name of the master in the configuration, or start the Sentinels";
        if (n.why == errc::handshake_refused && is_unknown(n.problem))
            remedy = "use Redis >= 6 or Valkey; if it is one, " + remedy_of_unknown("hello");
        add(severity::warning, n.node, "it has no vote at the moment: " + n.problem, remedy);
    }

    void kind_of_server(doctor_probe const& n)
    {
        if (n.info.empty() && is_unknown(n.info_refused))
            return add(lock_.fencing ? severity::danger : severity::warning, n.node,
                       "it does not know INFO: it cannot be told whether it is suitable, or lost its memory, and with fencing nobody can "
                       "admit it",
                       remedy_of_unknown("info"));
        if (n.info.empty())
            return add(severity::warning, n.node, "its rules forbid INFO: it cannot be told whether it is suitable, or lost its memory",
                       "ACL SETUSER " + (n.user.empty() ? "<user>" : n.user) + " +info");
        if (n.field("cluster_enabled") == "1" || n.field("redis_mode") == "cluster")
            add(severity::danger, n.node,
                "it is a member of a Redis Cluster, which moves keys between servers and fails over asynchronously",
                "use independent servers (cluster-enabled no)");
        if (is_a_sentinel(n))
            return add(severity::danger, n.node, "this is a Sentinel, which keeps no keys",
                       "use the address of an independent server, or redis+sentinel://host:port/MASTER for the group that it watches");
        if (n.field("role") == "slave")
            add(severity::danger, n.node, "it is a replica: it would forget locks that its master granted",
                "use independent masters (REPLICAOF NO ONE)");
        identity(n);
        if (n.field("loading") == "1")
            add(severity::warning, n.node, "it is loading its data, and answers nothing until that is done", "wait");
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
               "ElastiCache, with "
               "gcloud redis instances update NAME --update-redis-config maxmemory-policy=noeviction for Memorystore, in Azure's portal, "
               "as the data eviction policy of Redis Cloud";
    }

    void memory(doctor_probe const& n)
    {
        auto const limit = n.number("maxmemory");
        auto const policy = n.field("maxmemory_policy");
        if (limit == 0) return;
        if (!policy.empty() && policy != "noeviction")
            return add(severity::danger, n.node,
                       "it evicts keys when its memory is full (maxmemory " + std::to_string(limit) + ", maxmemory-policy " +
                           std::string{policy} + "), and with them locks that are held",
                       how_to_stop_evictions(n));
        auto const used = static_cast<double>(n.number("used_memory")) / static_cast<double>(limit);
        if (used > full_memory)
            add(severity::warning, n.node,
                "its memory is " + std::to_string(static_cast<int>(used * 100)) + " % full; when it is, it grants no locks",
                "raise maxmemory, or keep other data elsewhere");
    }

    void persistence(doctor_probe const& n, node_address const& address)
    {
        bool const appends = n.field("aof_enabled") == "1";
        if (address.fsync && !n.info.empty() && !appends)
            add(severity::danger, n.node, "its votes are to wait for the disk (fsync), but it keeps no append-only file: they never count",
                "CONFIG SET appendonly yes, and the same in its configuration file");
        for (char const* status : {"aof_last_write_status", "rdb_last_bgsave_status"})
            if (n.field(status) == "err")
                add(severity::warning, n.node,
                    std::string{"it could not write to its disk ("} + status + "), and may refuse to grant locks",
                    "look into its log; make space");
        if (n.info.empty() || address.fsync) return;

        bool const always = n.append_fsync == "always";
        if (appends && always) return;
        bool const saves = n.save && !n.save->empty();
        std::string what = "it forgets everything when it restarts";
        if (appends)
            what = "it can forget what it granted in the last moments before a crash (appendfsync " +
                   (n.append_fsync.empty() ? "unknown" : n.append_fsync) + ')';
        else if (saves) what = "it forgets everything since its last snapshot when it crashes";
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
        if (n.info.empty()) return;
        auto const waits_for = n.group ? static_cast<std::uint16_t>(n.group->acknowledgements) : address.replicas;
        if (!n.group && connected < waits_for)
            return add(severity::danger, n.node,
                       "its votes are to wait for " + count_of(address.replicas, "replica") + ", and it has " + std::to_string(connected) +
                           ": they never count",
                       "start the replicas (REPLICAOF), or configure the node with fewer");
        if (auto const why_not = detail::objection_to_group(static_cast<std::uint32_t>(connected), waits_for))
            add(severity::danger, n.node, *why_not, "");
        auto const theirs = detail::replicas_of(n.record.substr(0, id_size));
        bool const is_known = !n.group || waits_for > 0;  // without its Sentinels a group has no number
        if (theirs > 0 && is_known && theirs != waits_for)
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
            if (is_unknown(r.words)) remedy = remedy_of_unknown(r.command);
            add(r.needed_by_all ? severity::danger : severity::warning, n.node,
                r.command + " is refused, so that " + r.costs + " (" + r.words + ')', remedy);
        }
    }

    void time(doctor_probe const& n)
    {
        auto const timing = quorum::make_timing(lock_);
        auto const rtt = n.round_trip();
        std::string const against = "a round trip takes " + in_words(rtt) + ", and with a ttl of " + in_words(lock_.ttl) +
                                    " a node may take " + in_words(timing.node_timeout);
        if (rtt >= timing.node_timeout)
            add(severity::danger, n.node, against + ": its votes come too late", "use a longer ttl, or a larger node_timeout");
        else if (rtt * 2 > timing.node_timeout)
            add(severity::warning, n.node, against + ": some of its votes will come too late",
                "use a longer ttl, or a larger node_timeout");
        stepped(n);
        offset(n);
    }

    // Finds a clock that moved more than the uncertain times of the messages can explain.
    void stepped(doctor_probe const& n)
    {
        if (n.clock.size() < 2) return;
        auto const& [least, most] = std::minmax_element(n.clock.begin(), n.clock.end(),
                                                        [](auto const& a, auto const& b) { return a.ahead < b.ahead; });
        auto const moved = most->ahead - least->ahead;
        auto const unsure = (most->round_trip + least->round_trip) / 2;
        if (moved > unsure + step_min)
            add(severity::danger, n.node,
                "its clock moved by " + in_words(moved) +
                    " against this machine's while it was looked at: it was "
                    "set, or runs as no clock should. A clock that is set forward ends leases early",
                "have its machine's time slewed, not stepped (chronyd without makestep)");
    }

    void offset(doctor_probe const& n)
    {
        auto const clock = n.best_clock();
        if (!clock) return;
        auto const apart = std::chrono::abs(clock->ahead);
        if (apart <= clock->round_trip / 2 + offset_max) return;
        add(severity::warning, n.node,
            "its clock is " + in_words(apart) + (clock->ahead > 0ns ? " ahead of" : " behind") +
                " this machine's; whoever corrects that in one step ends leases early",
            "have a time service keep both clocks (chronyd, ntpd)");
    }

    void clocks_apart()
    {
        doctor_probe const* first = nullptr;
        doctor_probe const* last = nullptr;
        for (doctor_probe const& n : nodes_) {
            if (!n.best_clock()) continue;
            if (!first || n.best_clock()->ahead < first->best_clock()->ahead) first = &n;
            if (!last || n.best_clock()->ahead > last->best_clock()->ahead) last = &n;
        }
        if (!first || first == last) return;
        auto const apart = last->best_clock()->ahead - first->best_clock()->ahead;
        if (apart > offset_max + (first->round_trip() + last->round_trip()) / 2)
            add(severity::note, "", "the nodes' clocks are up to " + in_words(apart) + " apart (" + first->node + ", " + last->node + ")",
                "have a time service keep them");
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

    static bool is_a_sentinel(doctor_probe const& n) { return n.field("redis_mode") == "sentinel"; }

    // Whether something must be changed on the server before it can be a node: waiting does not help.
    static bool is_unfit(doctor_probe const& n)
    {
        bool const elsewhere = n.field("cluster_enabled") == "1" || n.field("redis_mode") == "cluster" || is_a_sentinel(n) ||
                               n.field("role") == "slave";
        auto const policy = n.field("maxmemory_policy");
        bool const evicts = n.number("maxmemory") > 0 && !policy.empty() && policy != "noeviction";
        return elsewhere || evicts || is_unknown(n.info_refused) ||
               std::any_of(n.refused.begin(), n.refused.end(), [](refusal const& r) { return r.needed_by_all; });
    }

    bool is_admitted(doctor_probe const& n) const
    {
        return n.has_high_water && n.record.size() > max_ttl_at + max_ttl_size &&
               detail::names_server(n.record.substr(0, id_size), n.field("master_replid"));
    }

    // For a node that is not admitted: a text that says who waits for it, and the remedy.
    std::pair<std::string, std::string> wait_for(doctor_probe const& n) const
    {
        if (n.watched_from && !n.watched_from->empty()) {
            std::string from;
            for (auto const& host : *n.watched_from) from += (from.empty() ? "" : ", ") + host;
            return {"clients wait for it (from " + from + "), for " + in_words(settings_.max_ttl) + " in all", "wait"};
        }
        std::string const admits = "redlock admit waits and admits it";
        if (n.waited_here) {
            auto const waited = std::chrono::ceil<std::chrono::seconds>(*n.waited_here) +
                                0ns;  // the same for nodes that were marked together
            auto const left = settings_.max_ttl - waited;
            return {"processes of this machine have waited for " + in_words(waited),
                    (left > 0ns ? "wait for " + in_words(left) + " more; then the next process" : std::string{"the next process"}) +
                        " here that wants a lock with fencing admits it, or redlock admit"};
        }
        if (!n.watched_from) return {"whether anybody waits for it cannot be seen, as CLIENT LIST is refused", admits};
        return {"nobody waits for it, which takes " + in_words(settings_.max_ttl), admits};
    }

    void admission()
    {
        if (!lock_.fencing) return;
        std::size_t admitted = 0, silent = 0, unfit = 0;
        for (doctor_probe const& n : nodes_) {
            admitted += is_admitted(n) ? 1 : 0;
            unfit += n.problem.empty() && is_unfit(n) ? 1 : 0;
            silent += n.problem.empty() && (!n.info.empty() || is_unfit(n)) ? 0 : 1;
            if (is_admitted(n)) same_max_ttl(n);
        }
        if (admitted == 0 && silent == 0 && unfit > 0)
            return add(severity::danger, "",
                       "no node was ever admitted: these nodes are new, or lost everything. A new beginning needs all of them, and " +
                           std::to_string(unfit) + " of " + count_of(nodes_.size(), "node") + (unfit == 1 ? " is" : " are") +
                           " not fit: waiting does not help",
                       "mend what is said of each, or use another server in its place; then the first lock with fencing waits " +
                           in_words(settings_.max_ttl));
        if (admitted == 0 && silent == 0) {
            for (doctor_probe const& n : nodes_) {
                auto const [who, remedy] = wait_for(n);
                add(severity::warning, n.node,
                    "no node was ever admitted: these nodes are new, or lost everything, and locks with fencing wait for all of them; " +
                        who,
                    remedy + "; where nothing was ever locked, --bootstrap (config: \"bootstrap\") spares the wait");
            }
            return;
        }
        if (admitted > 0 && silent == 0 && unfit == 0 && admitted < nodes_.size() - nodes_.size() / 2)
            return add(severity::danger, "",
                       "only " + std::to_string(admitted) + " of " + count_of(nodes_.size(), "node") +
                           " remember what they granted, which is too few to admit the others: nobody can acquire a lock with fencing, and "
                           "waiting does not help",
                       "to begin anew, DEL redlock:node on every node; then redlock admit waits " + in_words(settings_.max_ttl) +
                           " and admits them, see docs/fencing.md");
        if (admitted + silent < majority_)
            add(severity::danger, "",
                "only " + std::to_string(admitted) + " of " + count_of(nodes_.size(), "node") +
                    " remember what they granted: nobody can acquire a lock with fencing until the others were told, or an operator has "
                    "spoken",
                "bring nodes back that remember; if they are gone for ever, see docs/fencing.md on a new beginning");
        for (doctor_probe const& n : nodes_) {
            if (!n.problem.empty() || n.info.empty() || is_admitted(n) || is_unfit(n)) continue;
            auto const [who, remedy] = wait_for(n);
            add(severity::warning, n.node, "it restarted, or lost its memory, and is not admitted yet; " + who, remedy);
        }
    }

    void same_max_ttl(doctor_probe const& n)
    {
        milliseconds const theirs{to_number(n.record.substr(max_ttl_at + 1, max_ttl_size))};
        if (lock_.ttl + lock_.lock_delay > theirs)
            add(severity::danger, n.node,
                "it was admitted for a max_ttl of " + in_words(theirs) + ", and refuses locks with a ttl of " + in_words(lock_.ttl) +
                    (lock_.lock_delay > 0ms ? " and a lock_delay of " + in_words(lock_.lock_delay) : ""),
                "use a shorter ttl; a larger max_ttl needs a new admission, see docs/fencing.md");
        else if (theirs != settings_.max_ttl)
            add(severity::note, n.node,
                "it was admitted for a max_ttl of " + in_words(theirs) + "; this configuration says " + in_words(settings_.max_ttl),
                "every client of a set of nodes should say the same");
    }

    using milliseconds = std::chrono::milliseconds;

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

std::vector<finding> diagnose(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock)
{
    return doctor_rules{nodes, settings, lock}.make();
}

}  // namespace redlock::cli
