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

/// The largest number of nodes. 15 nodes tolerate the loss of 7.
inline constexpr std::size_t max_nodes = 15;

/// The largest number of shards of one client.
inline constexpr std::size_t max_shards = 64;

/// The largest value of `node_address::replicas`. A larger one is probably a typing error.
inline constexpr std::uint16_t max_replicas = 100;

/// An invalid configuration. The text says where and why, and never contains a password.
class REDLOCK_API config_error : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// The options of connections with TLS (1.2 or newer). The files are PEM. The client reads them again for each connection, so new files
/// apply from the next connection.
struct tls_options {
    std::string ca_file{};  ///< The certificates of trusted authorities.
    std::string ca_path{};  ///< The same as a folder, prepared by `openssl rehash`. Both empty: the system's store.
    std::string certificate_file{};  ///< The client's certificate and the intermediate ones. Empty: the client has none.
    std::string key_file{};  ///< The unencrypted private key of that certificate. Empty: it is in `certificate_file`.

    /// The name or address that the server's certificate must match; it is also sent to the server (SNI). Empty: `node_address::host`.
    std::string server_name{};

    /// Whether the server's certificate is verified. If not, the client trusts any server that answers, which can then read the password;
    /// the name of the node in reports and in the status shows this.
    bool verify{true};

    friend bool operator==(tls_options const&, tls_options const&) = default;
};

/// The largest number of Sentinels of one group.
inline constexpr std::size_t max_sentinels = 15;

/// The address of one Sentinel.
struct sentinel_address {
    std::string host;  ///< As `node_address::host`.
    std::uint16_t port{26379};  ///< The TCP port.

    friend bool operator==(sentinel_address const&, sentinel_address const&) = default;
};

/// The Sentinels of a group: one primary and its replicas. The client asks all Sentinels which server is the primary, and follows
/// failovers.
struct sentinel_options {
    std::string master{};  ///< The name of the group in the Sentinels' configuration (`sentinel monitor NAME …`).
    std::vector<sentinel_address> addresses{};  ///< All Sentinels that watch this group, 1 to `max_sentinels`.
    std::string username{"default"};  ///< The ACL user on the Sentinels. For the servers it is `node_address::username`.
    std::string password{};  ///< Empty: none is needed, or it is in `password_file` or `password_env`.
    std::string password_file{};  ///< As `node_address::password_file`, for the Sentinels.
    std::string password_env{};  ///< As `node_address::password_env`, for the Sentinels.

    /// TLS to the Sentinels; none: without TLS. Empty members have the value of `node_address::tls`, or else of `config::tls`.
    std::optional<tls_options> tls{};

    friend bool operator==(sentinel_options const&, sentinel_options const&) = default;
};

/// The largest number of addresses in `cluster_options`.
inline constexpr std::size_t max_cluster_addresses = 15;

/// The largest number of shards of a Redis Cluster.
inline constexpr std::uint16_t max_cluster_shards = 256;

/// The address of one server of a Redis Cluster.
struct cluster_address {
    std::string host;  ///< As `node_address::host`.
    std::uint16_t port{6379};  ///< The TCP port.

    friend bool operator==(cluster_address const&, cluster_address const&) = default;
};

/// A Redis Cluster (docs/redis-cluster.md). The client asks one of these servers for all others, and follows failovers and migrations of
/// slots.
struct cluster_options {
    std::vector<cluster_address> addresses{};  ///< Some servers of the cluster, 1 to `max_cluster_addresses`.

    /// The number of shards that the locks are spread over. 1 to `max_cluster_shards`. The cluster stores the number, and a client with
    /// another number gets no votes.
    std::uint16_t shards{64};

    friend bool operator==(cluster_options const&, cluster_options const&) = default;
};

/// One node: a Redis or Valkey server; with `sentinel`, a group of servers; with `cluster`, a Redis Cluster.
struct REDLOCK_API node_address {
    std::string host;  ///< A host name, an IPv4 address, or an IPv6 address without brackets.
    std::uint16_t port{6379};  ///< The TCP port.
    std::string username{"default"};  ///< The ACL user.
    std::string password;  ///< Empty: none is needed, or it is in `password_file` or `password_env`.
    std::uint16_t database{0};  ///< The number for SELECT.

    /// How many replicas must acknowledge the writes of a vote before the vote counts (WAIT). 0 to `max_replicas`; 0: votes count at once.
    /// If no failover may lose a lock, set the number of all replicas that can be promoted.
    std::uint16_t replicas{0};

    /// Whether the writes of a vote must be on the disks of the server and of `replicas` replicas before the vote counts (WAITAOF). Needs
    /// Redis 7.2 or newer, or Valkey, with `appendonly yes`.
    bool fsync{false};

    /// The absolute path of a file with the password; a newline at its end is ignored. The client reads the file for each connection, so a
    /// new password applies from the next connection. Set at most one of `password`, `password_file` and `password_env`.
    std::string password_file{};
    std::string password_env{};  ///< The same: the name of an environment variable.

    /// TLS; none: without TLS. Empty members have the value of `config::tls`. Certificates are verified unless either of the two sets
    /// `verify` to false.
    std::optional<tls_options> tls{};

    /// The absolute path of a Unix domain socket, instead of a host and a port. Needs a library built with Boost 1.89 or newer.
    std::string unix_socket{};

    /// The Sentinels, if the node is a group: a primary and its replicas. Then `host` is empty and `port` is ignored; user, password,
    /// database, `tls` and `fsync` apply to all servers of the group. `replicas` = 0 then means half of the servers (S/2 of S, including
    /// the primary), so that a vote is on a majority of the group; a larger number must be less than S.
    std::optional<sentinel_options> sentinel{};

    /// The Redis Cluster, if the node is one. Then `host` is empty, `port` is ignored and `database` is 0; user, password, `tls` and
    /// `fsync` apply to all its servers. `replicas` = 0 then means half of the servers of the cluster's largest group (S/2 of S, a primary
    /// and its replicas), so that a vote is on a majority of its group. If one node of a configuration is a cluster, all must be, with the
    /// same number of shards.
    std::optional<cluster_options> cluster{};

    /// Reads one of these forms:
    ///
    ///     redis://[[user]:password@]host[:port][/database][?parameters]
    ///     rediss://…                                                         with TLS
    ///     unix://[[user]:password@]/path[?db=database&parameters]
    ///     redis+sentinel://[[user]:password@]host[:port][,host[:port]…]/MASTER[?db=database&parameters]
    ///     rediss+sentinel://…                                                with TLS to the servers and to the Sentinels
    ///     redis-cluster://[[user]:password@]host[:port][,host[:port]…][?shards=S&parameters]
    ///     rediss-cluster://…                                                 with TLS
    ///
    /// Parameters: `replicas=K`, `fsync=yes`, `password_file=PATH`, `password_env=NAME` (with these two the URL may have a user without a
    /// password); with TLS the members of `tls_options`: `ca_file`, `ca_path`, `certificate_file`, `key_file`, `server_name`, `verify=no`.
    /// IPv6 addresses are in brackets; user, password, path and values may be percent-encoded.
    ///
    /// The hosts of `+sentinel` are Sentinels (default port 26379); user and password are for the servers. The Sentinels have their own
    /// parameters: `sentinel_username`, `sentinel_password`, `sentinel_password_file`, `sentinel_password_env`, `sentinel_tls=yes` or `no`,
    /// and with TLS `sentinel_ca_file`, `sentinel_ca_path`, `sentinel_certificate_file`, `sentinel_key_file`, `sentinel_server_name`,
    /// `sentinel_verify=no`.
    ///
    /// Throws `config_error`, whose text repeats no part of the URL.
    static node_address from_url(std::string_view url);

    /// The address, without credentials: `host:port` (an IPv6 address in brackets), `unix:/path`, `host:port,host:port/MASTER` of a group,
    /// or `host:port,host:port` of a cluster. If TLS does not verify certificates, the text shows it.
    std::string to_string() const;

    friend bool operator==(node_address const&, node_address const&) = default;
};

/// Identifies one shard.
struct shard_place {
    std::size_t shard{0};  ///< Its index in `config::shards`, or among the shards of a Redis Cluster.
    std::size_t shards{1};  ///< The number of shards.

    friend bool operator==(shard_place const&, shard_place const&) = default;
};

/// What a client does when a majority of the nodes has lost its data. The other nodes then cannot supply all tokens that those nodes
/// granted.
enum class majority_loss : std::uint8_t {
    /// When all nodes have answered, and those without data have waited until the leases that they may have granted are over, they vote
    /// again. Tokens then begin at the client's wall clock, as after a loss of all data. They are larger than all earlier ones unless that
    /// clock is behind the earlier tokens, which began at a wall clock as well. Reported as `event::node_recovered`.
    recover,

    /// No lock with `fencing` is granted until an operator deletes the keys `redlock:node` and `redlock:set` on every node.
    wait_for_operator,
};

/// How often a client checks that a node is still the server that was admitted, with its data. Only for locks with `fencing`.
enum class identity_check : std::uint8_t {
    every_message,  ///< With each message. The client notices every loss of data, even if the connection stays open.
    handshake,  ///< When a connection is made. This saves a server about a microsecond a message. The client does not notice if a server
    ///< becomes a replica and a master again on one connection, and notices no loss on servers that forbid INFO.
};

/// Writes `redlock: ` and the sentence to stderr, as one line. Thread-safe.
REDLOCK_API void log_to_stderr(std::string_view sentence);

/// The folder that the processes of this user share, and that the command `redlock` uses: `$REDLOCK_STATE_DIR/quarantine`, or else
/// `$XDG_STATE_HOME/redlock/quarantine`, or else `$HOME/.local/state/redlock/quarantine`. The last two count only if the variable is an
/// absolute path. Empty: there is none. `config::validate()` refuses a relative `REDLOCK_STATE_DIR`.
/// Thread safety: reads the environment; no other thread may change it meanwhile.
REDLOCK_API std::string default_quarantine_folder();

/// The configuration of a `client`, whose constructor calls `validate()`.
struct REDLOCK_API config {
    /// The nodes, 1 to `max_nodes`. They must be independent: neither replicas of each other nor members of one cluster. Each may have
    /// replicas of its own, or be a group with Sentinels, or a whole Redis Cluster. One node makes a single-instance lock; more make
    /// Redlock, with a majority of N/2 + 1. Odd numbers are better: four nodes tolerate no more faults than three.
    std::vector<node_address> nodes;

    /// Several sets of nodes, at most `max_shards`, instead of `nodes` (which is then empty): for more locks than the servers of one set
    /// can carry. Each set has its own majority, tokens and admission. A lock's name selects its set; if the name has a part in braces, as
    /// in `{order:7}:stock`, only that part does. All names of one lock must be in the same shard.
    /// The number and the order of the sets decide where a lock is. All clients must have the same list: two clients with different lists
    /// can both hold the same lock.
    std::vector<std::vector<node_address>> shards{};

    /// The name of the connections in the servers' CLIENT LIST. Visible ASCII without spaces, not empty.
    std::string client_name{"redlock"};

    /// How long connecting and the handshake may take together. 10 ms to 10 min.
    std::chrono::milliseconds connect_timeout{2'000};

    /// The bounds of the pause between two attempts to connect to a node. The pause grows from `min_reconnect_delay` to
    /// `max_reconnect_delay`, with jitter. 1 ms to 1 day.
    std::chrono::milliseconds min_reconnect_delay{50};
    std::chrono::milliseconds max_reconnect_delay{2'000};  ///< See `min_reconnect_delay`; not below it.

    /// How long a server may stay silent before the client closes the connection and connects again. A dead connection (for instance,
    /// dropped by a firewall) is noticed after 1 to 1.25 times this time, counted from the first unanswered request. To let leases outlive
    /// this, set at most 0.3 times the shortest ttl; the default suits the default ttl of 10 s. Nodes with `replicas` or `fsync` get 8
    /// times `replication_timeout` more. 100 ms to 1 day.
    std::chrono::milliseconds stall_timeout{3'000};

    /// How long a node waits for `replicas` or `fsync`; after that, its vote has failed and is rolled back. 1 ms to 1 min. A vote can take
    /// twice as long, which counts towards `lock_options::node_timeout`: values above half of `node_timeout` are of no use to an
    /// acquisition. While replicas acknowledge later than this, extensions wait for up to half of their ttl, and waits last up to eight
    /// times as long.
    std::chrono::milliseconds replication_timeout{200};

    /// How many commands may wait for one slow node; further ones fail there at once. Releases are exempt. 1 to 1,000,000.
    std::size_t max_node_queue{8'192};

    /// The largest ttl, including `lock_delay`, of all locks with `fencing` on these nodes, of all clients. 10 ms to 30 days. A node that
    /// lost its data is quarantined for this time, because it could otherwise grant a lock that is still held; for longer if a node's
    /// record allows a longer ttl. All clients must have the same value: if most nodes lose their records, nothing else shows how long the
    /// leases of other clients can last.
    std::chrono::milliseconds max_ttl{30'000};

    /// Asserts that nothing was ever locked on these nodes. If no node has any data, as at the very first start, the client then skips the
    /// wait for `max_ttl`. Meant for tests, demonstrations and the first start. If it is set when all nodes have just lost their data, a
    /// lock can have two holders.
    bool bootstrap{false};

    /// Where no node has data, or a majority has none, the nodes without data wait until all leases that they may have lost are over. If
    /// true, that time counts from the start of a server whose INFO shows that it has lost nothing since (Redis up to 8.6, Valkey up to
    /// 9.1), with 2 s for rounding, so that servers that have run long enough vote at once. Set it to false if a server's clock may be
    /// stepped forward after its start, as by NTP at boot, or if an address may lead to another, empty server. If false, and always with
    /// `trust_server_identity`, in a Redis Cluster and in a set whose members were changed, the time counts from when a client first sees
    /// the node.
    bool trust_uptime{true};

    /// What happens when a majority of the nodes has lost its data and the others have not. If all nodes have lost theirs, they vote again
    /// after the wait in any case.
    majority_loss after_majority_loss{majority_loss::recover};

    /// The absolute path of a folder in which the processes of this machine note since when a node is quarantined, so that even short-lived
    /// processes can admit the node together (docs/fencing.md). The client creates it with mode 0700 when there is something to note, and
    /// uses it only while it belongs to this user and no other user may write to it. Empty: each process starts its own wait.
    std::string quarantine_folder{default_quarantine_folder()};

    /// How long the servers keep the token counter of a lock that no client uses. Four times `max_ttl` to 365 days.
    std::chrono::milliseconds token_retention{3'600'000};

    /// How often the client checks that a node is still the server that was admitted. Use `handshake` only if a microsecond of a server's
    /// time per message is worth more than the losses of data that it misses.
    identity_check identity{identity_check::every_message};

    /// Whether servers other than Redis and Valkey are admitted for locks with `fencing`. A node is admitted under its server's id
    /// (`master_replid` in INFO replication), which Redis and Valkey change at each start and promotion, so that a loss of data shows. A
    /// server that keeps its id would vote without a quarantine; so others get no vote by default, and `client_status` names the program.
    /// Set this only if the ids of all nodes change with each loss of data. Locks without `fencing` do not depend on ids.
    bool trust_server_identity{false};

    /// Promises that at most one thread runs the client's executor (Asio's "implicit strand"). The client then needs no strand of its own
    /// and is faster (docs/performance.md); on an `asio::strand` it needs none anyway. Operations may still be started from any thread. If
    /// two threads run the executor, behaviour is undefined. Not settable in a configuration file, because it is a property of the program.
    bool implicit_strand{false};

    /// Defaults for all nodes with TLS: the values of members that are empty in their `node_address::tls`.
    tls_options tls{};

    /// A human-readable label, shown by `redlock inspect`. It is part of the values of the locks, after the host, the process and the time
    /// of the acquisition. Up to 64 characters of visible ASCII without spaces; empty: none.
    std::string label{};

    /// Makes the key of a lock from its name. `raw`: the key is the name, byte for byte. Otherwise a text in which `{0}` stands for the
    /// name, as in `redlock:{0}`, the default of RedLock.net. It applies to all locks of the client; all clients that share locks must use
    /// the same keys. Up to 256 bytes, with exactly one `{0}`, no other braces, and none of `:fence`, `:want`, `:published` and `:permits`
    /// at the end.
    std::string key_format{"raw"};

    /// The name of the set of nodes, so that an application does not use another one's servers by mistake. The first client that uses locks
    /// with `fencing` writes it into the record of the set (docs/operations.md, "Which servers belong together"). A client with another
    /// name fails with `errc::wrong_node_set`. Up to 64 characters of visible ASCII without spaces, not "-". Empty: any name is accepted.
    /// Not for Redis Clusters.
    std::string set_name{};

    /// For a program that uses only one shard and has its nodes in `nodes`: which of `shards`, as in the set's record, these nodes are; of
    /// a Redis Cluster, which of its shards. All locks of the client are then in that shard, regardless of their names: the program must
    /// ensure that they belong there. The command `redlock` is such a program. None: there are no shards, or all are used. Not settable in
    /// a configuration file.
    std::optional<shard_place> place{};

    /// Receives sentences for operators, by default on stderr. The client calls it when
    ///
    /// - no acquisition has found a majority for 1.4 seconds (nodes are down or quarantined, or `client::run()` was not called), with the
    ///   reason: once for each cause, and again after a minute. Contention never triggers it;
    /// - a lease was lost, and why (not without `auto_extend`);
    /// - nothing ran on the client's executor for about a third of a lease's ttl or longer;
    /// - a node was not usable in the first five seconds;
    /// - several servers answer at one address, as behind a load balancer;
    /// - an acquisition has waited three seconds for a lease of this same client;
    /// - `bootstrap` skipped a wait;
    /// - this client lets nodes vote again after most had lost their data.
    ///
    /// If the client has an observer, it is not called. Empty: off. The sentences contain no password. Called on the client's executor;
    /// exceptions leave its `run()`. Not settable in a configuration file.
    std::function<void(std::string_view)> log{log_to_stderr};

    /// Supplies the credentials of nodes that have no password of their own, for example tokens of a cloud's IAM. The function starts an
    /// asynchronous operation and returns; the operation calls the handler. With a coroutine `fetch_token` that returns an
    /// `asio::awaitable<credentials>`, and an executor of the program:
    ///
    ///     settings.credentials = [executor](redlock::node_address const& node, redlock::credentials_handler handler) {
    ///         asio::co_spawn(executor, fetch_token(node.host), std::move(handler));
    ///     };
    ///
    /// The client calls it before each attempt to connect to such a node, and again before the credentials expire
    /// (`credentials::valid_for`); then it sends AUTH on the open connections, and leases stay held. Empty: off. Not settable in a
    /// configuration file.
    ///
    /// Lifetimes: `node` is valid until the function returns. The client keeps the function until it has ended.
    /// Errors: the attempt to connect fails with `errc::credentials_unavailable` if the function throws, if the handler gets an exception
    /// or an empty password, or if `credentials_timeout` passes. The status shows the exception's text, so the text must not contain a
    /// secret. The next attempt, after the usual pause, asks again; so it does after the server refused the credentials
    /// (`errc::handshake_refused`). An open connection is used for as long as the server keeps it open, while the client asks again after
    /// such pauses.
    /// Thread safety: called on the client's strand, never twice at the same time; the operations that it starts for several nodes overlap.
    /// It must not block.
    credentials_function credentials{};

    /// How long one call of `credentials` may take. 10 ms to 10 min.
    std::chrono::milliseconds credentials_timeout{10'000};

    /// A configuration with these nodes and defaults for everything else. Throws `config_error`.
    static config from_urls(std::vector<std::string> const& urls);

    /// Throws `config_error` if anything is invalid; the text says what. Examples: no nodes, or too many; a server twice, even with
    /// different databases; an invalid host, path or name; a username without a password; a number or duration out of bounds.
    void validate() const;
};

}  // namespace redlock

#endif
