// The configuration of a client: its nodes, and how it connects to them.
#ifndef REDLOCK_CONFIG_HPP
#define REDLOCK_CONFIG_HPP

#include <redlock/credentials.hpp>
#include <redlock/detail/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {

/// The largest number of nodes. A majority of 15 nodes tolerates the loss of 7.
inline constexpr std::size_t max_nodes = 15;

/// The largest number of shards of one client.
inline constexpr std::size_t max_shards = 64;

/// The largest value of `node_address::replicas`. A larger one is taken for a typing error.
inline constexpr std::uint16_t max_replicas = 100;

/// A configuration that cannot be used. The text says where and why, and never contains a password.
class REDLOCK_API config_error : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// The options of connections with TLS (1.2 or newer). The files are PEM. The client reads them again for each connection, so new files apply to the
/// next connection.
struct tls_options {
    std::string ca_file{};  ///< The certificates of trusted authorities.
    std::string ca_path{};  ///< The same as a folder, prepared by `openssl rehash`. Both empty: the system's store.
    std::string certificate_file{};  ///< The client's certificate, and the intermediate ones. Empty: the client shows no certificate.
    std::string key_file{};  ///< The private key of that certificate, not encrypted. Empty: the key is in `certificate_file`.

    /// The name or address that the server's certificate must be for. The client also sends it to the server (SNI). Empty: `node_address::host`.
    std::string server_name{};

    /// Whether the server's certificate is verified. If not, the client trusts every server that answers, and that server can read the password. The
    /// name of the node in reports and in the status then says so.
    bool verify{true};

    friend bool operator==(tls_options const&, tls_options const&) = default;
};

/// The largest number of Sentinels of one group.
inline constexpr std::size_t max_sentinels = 15;

/// Where one Sentinel listens.
struct sentinel_address {
    std::string host;  ///< As `node_address::host`.
    std::uint16_t port{26379};  ///< The TCP port.

    friend bool operator==(sentinel_address const&, sentinel_address const&) = default;
};

/// The Sentinels of a group of servers: one primary and its replicas. The client asks all of them which server is the primary, and follows a
/// failover.
struct sentinel_options {
    std::string master{};  ///< The name of the group, as in the Sentinels' configuration (`sentinel monitor NAME …`).
    std::vector<sentinel_address> addresses{};  ///< All Sentinels that watch this group, 1 to `max_sentinels`.
    std::string username{"default"};  ///< The ACL user on the Sentinels. The servers have `node_address::username`.
    std::string password{};  ///< Empty: the Sentinels need no password, or it is in `password_file` or `password_env`.
    std::string password_file{};  ///< As `node_address::password_file`, for the Sentinels.
    std::string password_env{};  ///< As `node_address::password_env`, for the Sentinels.

    /// The options for TLS to the Sentinels; none: without TLS. Members that are empty are as in `node_address::tls`, and then as in `config::tls`.
    std::optional<tls_options> tls{};

    friend bool operator==(sentinel_options const&, sentinel_options const&) = default;
};

/// The largest number of addresses in `cluster_options`.
inline constexpr std::size_t max_cluster_addresses = 15;

/// The largest number of shards of a Redis Cluster.
inline constexpr std::uint16_t max_cluster_shards = 256;

/// Where one server of a Redis Cluster listens.
struct cluster_address {
    std::string host;  ///< As `node_address::host`.
    std::uint16_t port{6379};  ///< The TCP port.

    friend bool operator==(cluster_address const&, cluster_address const&) = default;
};

/// A Redis Cluster (docs/redis-cluster.md). The client asks one of these servers for all others, and follows migrations of slots and failovers.
struct cluster_options {
    std::vector<cluster_address> addresses{};  ///< Some servers of the cluster, 1 to `max_cluster_addresses`.

    /// How many shards the locks are spread over: 1 to `max_cluster_shards`. The cluster keeps the number. All clients must have the same one: a client
    /// with another number gets no votes.
    std::uint16_t shards{64};

    friend bool operator==(cluster_options const&, cluster_options const&) = default;
};

/// One node: a Redis or Valkey server, or, with `sentinel`, a group of them, or, with `cluster`, a Redis Cluster.
struct REDLOCK_API node_address {
    std::string host;  ///< A host name, an IPv4 address, or an IPv6 address without brackets.
    std::uint16_t port{6379};  ///< The TCP port.
    std::string username{"default"};  ///< The ACL user.
    std::string password;  ///< Empty: the server needs no password, or it is in `password_file` or `password_env`.
    std::uint16_t database{0};  ///< The number that SELECT takes.

    /// How many replicas must have acknowledged the writes of a vote of this node, before the vote counts (WAIT): 0 to `max_replicas`. If no failover
    /// may lose a lock, give the number of all replicas that can be promoted. 0: votes count at once.
    std::uint16_t replicas{0};

    /// Whether the writes of a vote must be on the server's disk, and on those of `replicas` replicas, before the vote counts (WAITAOF). Needs Redis
    /// >= 7.2 or Valkey, with `appendonly yes`.
    bool fsync{false};

    /// A file that contains the password (an absolute path; a newline at the end of the file is not part of the password). The client reads it for
    /// each connection, so a new password applies to the next one. Give at most one of `password`, `password_file` and `password_env`.
    std::string password_file{};
    std::string password_env{};  ///< The same: an environment variable that contains the password.

    /// The options for TLS; none: without TLS. Members that are empty are as in `config::tls`. Certificates are verified unless one of the two
    /// switches that off.
    std::optional<tls_options> tls{};

    /// The absolute path of a Unix domain socket, instead of a host and a port. Needs a library that was built with Boost 1.89 or newer.
    std::string unix_socket{};

    /// The node is a group: a primary, which these Sentinels know, and its replicas. Then `host` is empty and `port` has no meaning; user, password,
    /// database, `tls` and `fsync` are for all servers of the group. `replicas` = 0 then means half of the servers (S/2 of S, the primary is one of
    /// them), so that a vote is on a majority of the group; a larger number has to be less than S.
    std::optional<sentinel_options> sentinel{};

    /// The node is a Redis Cluster. Then `host` is empty and `port` has no meaning; user, password, `tls` and `fsync` are for all its servers, and
    /// `database` is 0. `replicas` = 0 then means half of the servers of the largest group in the cluster (S/2 of S, a primary and its replicas), so that
    /// a vote is on a majority of its group. If one node of a configuration is a cluster, all are, with the same number of shards.
    std::optional<cluster_options> cluster{};

    /// Reads one of
    ///
    ///     redis://[[user]:password@]host[:port][/database][?parameters]
    ///     rediss://…                                                         with TLS
    ///     unix://[[user]:password@]/path[?db=database&parameters]
    ///     redis+sentinel://[[user]:password@]host[:port][,host[:port]…]/MASTER[?db=database&parameters]
    ///     rediss+sentinel://…                                                with TLS to the servers and to the Sentinels
    ///     redis-cluster://[[user]:password@]host[:port][,host[:port]…][?shards=S&parameters]
    ///     rediss-cluster://…                                                 with TLS
    ///
    /// The hosts behind `+sentinel` are Sentinels (port 26379 by default), and user and password are for the servers. Their Sentinels have parameters of
    /// their own: `sentinel_username`, `sentinel_password`, `sentinel_password_file`, `sentinel_password_env`, `sentinel_tls=yes` or `no`, and with
    /// TLS `sentinel_ca_file`, `sentinel_ca_path`, `sentinel_certificate_file`, `sentinel_key_file`, `sentinel_server_name`, `sentinel_verify=no`.
    ///
    /// Parameters: `replicas=K`, `fsync=yes`, `password_file=PATH`, `password_env=NAME` (with these two the URL may have a user and no password), and
    /// with TLS the members of `tls_options`: `ca_file`, `ca_path`, `certificate_file`, `key_file`, `server_name`, `verify=no`. An IPv6 address is
    /// written in brackets; user, password, path and values may be percent-encoded. Throws `config_error`, whose text repeats no part of the URL.
    static node_address from_url(std::string_view url);

    /// `host:port`, with brackets around an IPv6 address, or `unix:/path`, or of a group `host:port,host:port/MASTER`, or of a
    /// cluster `host:port,host:port`; never the credentials. If TLS
    /// verifies no certificates, the text says so.
    std::string to_string() const;

    friend bool operator==(node_address const&, node_address const&) = default;
};

/// Which of several shards a set of nodes is.
struct shard_place {
    std::size_t shard{0};  ///< Its index in `config::shards`, or among the shards of a Redis Cluster.
    std::size_t shards{1};  ///< How many there are.

    friend bool operator==(shard_place const&, shard_place const&) = default;
};

/// What a client does where a majority of the nodes has lost its data, so that the others cannot tell all of them which tokens they gave.
enum class majority_loss : std::uint8_t {
    /// When all nodes have answered, and those without data have waited until the leases that they may have granted are over, they vote again, with tokens
    /// from the client's wall clock, as after a loss of all data. Tokens stay larger than all earlier ones unless that clock is behind these, which began
    /// with a wall clock as well. Told as `event::node_recovered`.
    recover,

    /// No lock with `fencing` is granted until an operator deletes the keys `redlock:node` and `redlock:set` on every node.
    wait_for_operator,
};

/// How often a client checks that a node is still the server that was admitted, with its data. For locks with `fencing` only.
enum class identity_check : std::uint8_t {
    every_message,  ///< With each message. The client notices every loss of data, even if the connection stays.
    handshake,  ///< When a connection is made, which saves a server about a microsecond for each message. The client does not notice if a server
    ///< becomes a replica and a master again on one connection, and notices nothing on servers that forbid INFO.
};

/// Writes `redlock: ` and the sentence to stderr, as one line. Thread-safe.
REDLOCK_API void log_to_stderr(std::string_view sentence);

/// The folder that the processes of this user share, and the command `redlock` uses: `$REDLOCK_STATE_DIR/quarantine`, `$XDG_STATE_HOME/redlock/quarantine` or
/// `$HOME/.local/state/redlock/quarantine`, of the first variable that is set; of the last two only with an absolute path. Empty: there is none. `config::validate()` refuses a relative
/// `REDLOCK_STATE_DIR`.
/// Thread safety: reads the environment, which no other thread may change meanwhile.
REDLOCK_API std::string default_quarantine_folder();

/// The configuration of a `client`, whose constructor calls `validate()`.
struct REDLOCK_API config {
    /// The nodes. They are independent of each other: not replicas of each other, and not members of one cluster. Each may have replicas of its own,
    /// or be a group that Sentinels watch, or a whole Redis Cluster.
    /// One node makes a single-instance lock; two and more make Redlock, with a majority of N/2+1. Odd numbers are better: four nodes tolerate no
    /// more faults than three.
    std::vector<node_address> nodes;

    /// Several sets of nodes instead of one (`nodes` is empty then), for more locks than the servers of one set can carry. Each set is as `nodes`: it has its
    /// own majority, its own tokens and its own admission. The name of a lock decides which set looks after it, or, where the name has a part in braces
    /// as in `{order:7}:stock`, that part. A lock on several names needs all of them in one shard.
    /// The number of the sets and their order decide where a lock is. All clients must have the same list: two clients with different lists can both hold
    /// the same lock. At most `max_shards`.
    std::vector<std::vector<node_address>> shards{};

    /// The name of the connections in the servers' CLIENT LIST. Visible ASCII, no spaces.
    std::string client_name{"redlock"};

    /// How long connecting and the handshake may take, together. 10 ms to 10 min.
    std::chrono::milliseconds connect_timeout{2'000};

    /// The bounds of the pause between two attempts to connect to a node. The pause grows from `min_reconnect_delay` to `max_reconnect_delay`, with
    /// jitter. 1 ms to 1 day.
    std::chrono::milliseconds min_reconnect_delay{50};
    std::chrono::milliseconds max_reconnect_delay{2'000};  ///< See `min_reconnect_delay`.

    /// How long a server may answer nothing before the client closes the connection and connects anew. A connection that went silent (a firewall dropped
    /// it) is noticed 1 to 1.25 times this after the first request that it did not answer. So that a lease outlives that, the value should be at most 0.3
    /// of the shortest ttl; the default is for the default ttl of 10 s. Nodes with `replicas` or `fsync` get 8 times `replication_timeout` more. 100 ms to
    /// 1 day.
    std::chrono::milliseconds stall_timeout{3'000};

    /// How long a node waits at most for `replicas` or `fsync`. After that its vote has failed, and is rolled back. A vote can take twice as long,
    /// and all of that is part of `lock_options::node_timeout`: so an acquisition has no use for a value above half of `node_timeout`. While replicas
    /// acknowledge, but later than this, extensions wait for up to half of their ttl, and waits last up to eight times as long. 1 ms to 1 min.
    std::chrono::milliseconds replication_timeout{200};

    /// How many commands may wait for one slow node; further commands fail there at once. 1 to 1,000,000.
    std::size_t max_node_queue{8'192};

    /// The largest ttl of all locks with `fencing` on these nodes, of this client and of all others. 10 ms to 30 days. A node that lost its data is
    /// quarantined for this time, since it could otherwise grant a lock that a client still holds; for longer if a node's record allows a longer ttl. All
    /// clients of a set of nodes must have the same value: if most nodes lose their records, nothing else tells how long the leases of others can last.
    std::chrono::milliseconds max_ttl{30'000};

    /// Says that nothing was ever locked on these nodes. If no node has any data, as at the very first start, the client then does not wait for
    /// `max_ttl`. Meant for tests, demonstrations and the first start itself. If the option is set when all nodes have just lost their data, it can
    /// break locks.
    bool bootstrap{false};

    /// Where no node has data, or a majority has none, these wait until all leases are over that they may have lost. Whether this counts from the start of
    /// a server that shows that it has lost nothing since then (INFO of Redis up to 8.6 and Valkey up to 9.1), so that servers that have run for longer
    /// than that wait, and 2 s for rounding, vote at once. It relies on the servers' wall clocks: one that was stepped forward since the server's start, as NTP may do at boot,
    /// overstates for how long it has run; so does an address that has led to another, empty server since. False: it counts from when a client first
    /// sees the node. It does so with `trust_server_identity`, too, in a Redis Cluster, and in a set whose members were changed.
    bool trust_uptime{true};

    /// Where a majority of the nodes has lost its data, and some have theirs. Where all have lost theirs, they always vote again after the wait.
    majority_loss after_majority_loss{majority_loss::recover};

    /// A folder of this machine in which its processes note since when a node that lost its data is quarantined. So even processes that live for a
    /// moment can admit the node together (docs/fencing.md). An absolute path. The folder is made with the rights 0700 when there is something to
    /// note, and is used only while it belongs to this user and nobody else may write there. Empty: each process waits anew.
    std::string quarantine_folder{default_quarantine_folder()};

    /// How long the servers keep the token counter of a lock that no client uses. Four times `max_ttl` to 365 days.
    std::chrono::milliseconds token_retention{3'600'000};

    /// How often the client checks that a node is still the server that was admitted. Use `handshake` only if a microsecond of the servers' time for
    /// each message is worth more than the losses of data that it does not notice.
    identity_check identity{identity_check::every_message};

    /// Whether servers that are neither Redis nor Valkey are admitted for locks with `fencing`. A node is admitted under the id of its server
    /// (`master_replid` in INFO replication). Redis and Valkey take another id whenever they start and when they are promoted, so a server that lost
    /// its data has another id. Other programs may keep their id, and would then vote without a quarantine; so they get no vote, and `client_status`
    /// names the program. Set this only if you know that the ids of all nodes change with each loss of data. Locks without `fencing` do not depend on
    /// ids.
    bool trust_server_identity{false};

    /// Promises that no two handlers ever run at the same time on the client's executor, since at most one thread runs its io_context ("implicit
    /// strand" in Asio's terms). Then the client needs no strand of its own and is faster (docs/performance.md). A client whose executor is an
    /// `asio::strand` needs none anyway. Operations may still be started from any thread. If two threads run the io_context nevertheless, behaviour
    /// is undefined. A configuration file cannot set this, since it is a property of the program and not of the nodes.
    bool implicit_strand{false};

    /// For all nodes with TLS: the values of members that are empty in their own `node_address::tls`.
    tls_options tls{};

    /// A text for people who look at the servers (`redlock inspect`). The values of the locks contain it, after the host, the process and the time of
    /// the acquisition. Visible ASCII without spaces, up to 64 characters; empty: none.
    std::string label{};

    /// Makes the key of a lock on the servers from its name. `raw`: the key is the name, byte for byte. Otherwise a text in which `{0}` stands for
    /// the name, as in `redlock:{0}`, the default of RedLock.net. Clients that share locks must use the same keys. The format applies to all locks of
    /// a client; everywhere else locks go by their names. Exactly one `{0}` and no other braces, none of `:fence`, `:want`, `:published` and `:permits`
    /// at the end, up to 256 bytes.
    std::string key_format{"raw"};

    /// The name of the set of nodes: applications with different names never take each other's servers for theirs. The first client with locks with
    /// `lock_options::fencing` writes it into the record of the set (docs/operations.md, "Which servers belong together"). A client whose name is not
    /// that of the record is refused with `errc::wrong_node_set`. Empty: any set will do. Visible ASCII without spaces, up to 64 characters, not "-".
    std::string set_name{};

    /// For a program that uses one shard only, and has its nodes in `nodes`: which shard of `shards` that is, as the set's record says it; if `nodes` are
    /// Redis Clusters, which of their shards. All locks of the client are in that shard then, whatever their names: the program has to see to it that
    /// they belong there. The command `redlock` is such a program. None: `nodes` is no shard, or all shards are used. A configuration file cannot set it.
    std::optional<shard_place> place{};

    /// Gets a sentence that says why no lock can be acquired, when no acquisition could find a majority for 1.4 seconds (nodes are down, or may not
    /// vote yet; `client::run()` was not called). It comes once for each cause, and again after a minute. It does not come because another client
    /// holds a lock. There are seven more: that a lease was lost, and why; that nothing ran on the client's executor for more than a third of a lease's ttl;
    /// that a node was not usable in the first five seconds; that several servers answer at one address, as behind a load balancer; that an acquisition
    /// has waited three seconds for a lease of this same client; that `bootstrap` has spared a wait; and that this client lets nodes vote again after most
    /// had lost their data. None comes if the client has an observer. Empty: off. The sentence contains no password. Called on the client's executor;
    /// exceptions leave its `run()`. A configuration file cannot set it.
    std::function<void(std::string_view)> log{log_to_stderr};

    /// Gets the credentials for nodes that have no password of their own, for example tokens of a cloud's IAM. Asynchronous: the function starts an
    /// operation and returns; the operation calls the handler. With a coroutine `fetch_token`, which returns an `asio::awaitable<credentials>`, and an
    /// executor of the program:
    ///
    ///     settings.credentials = [executor](redlock::node_address const& node, redlock::credentials_handler handler) {
    ///         asio::co_spawn(executor, fetch_token(node.host), std::move(handler));
    ///     };
    ///
    /// The client calls it before each attempt to connect to such a node, and again before the credentials run out (`credentials::valid_for`). Then
    /// it sends AUTH on the open connections of the node, which stay open, and leases stay held. `node` lives until the function returns; the
    /// function itself lives until the client has ended. Empty: off. A configuration file cannot set it.
    ///
    /// Errors: if the function throws, if the handler gets an exception or an empty password, or if nothing comes within `credentials_timeout`, the
    /// attempt to connect has failed with `errc::credentials_unavailable`. The status then has the exception's text, so that text must not contain
    /// a secret. The client asks anew for the next attempt, after a pause as for any failed attempt. Credentials that the server refuses are asked
    /// for anew as well (`errc::handshake_refused`). If that happens on an open connection, the connection is used as long as the server keeps it
    /// open, and the client asks anew after such pauses.
    ///
    /// Thread safety: called in the client's strand, never twice at a time; the operations that it starts for several nodes overlap. It must not
    /// block.
    credentials_function credentials{};

    /// How long one call of `credentials` may take. 10 ms to 10 min.
    std::chrono::milliseconds credentials_timeout{10'000};

    /// A configuration with these nodes, and defaults for everything else. Throws `config_error`.
    static config from_urls(std::vector<std::string> const& urls);

    /// Throws `config_error`, whose text says what is wrong: for instance, if there are no nodes or too many, if a server is there twice (even with different
    /// databases), if a host, a path or a name is not valid, if a username has no password, or if a number or a duration is out of bounds.
    void validate() const;
};

}  // namespace redlock

#endif
