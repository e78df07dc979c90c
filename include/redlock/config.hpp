// Which nodes a client talks to, and how.
#ifndef REDLOCK_CONFIG_HPP
#define REDLOCK_CONFIG_HPP

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

/// More nodes than this are refused: a majority of 15 already survives the loss of 7.
inline constexpr std::size_t max_nodes = 15;

/// A node that waits for more replicas than this is refused: it is a mistake in writing.
inline constexpr std::uint16_t max_replicas = 100;

/// A configuration that cannot be used. The text says where and why, and never contains a password.
class REDLOCK_API config_error : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// How a connection with TLS is made: 1.2 or newer. The files are PEM, and are read again for each connection, so what replaces them
/// applies at the next one.
struct tls_options {
    std::string ca_file{};           ///< Certificates of those whose signature is trusted.
    std::string ca_path{};           ///< The same as a folder, prepared by `openssl rehash`. Neither: the system's store.
    std::string certificate_file{};  ///< The client's certificate, and those between it and a trusted one. Empty: none is shown.
    std::string key_file{};          ///< Its private key, not encrypted. Empty: it is in `certificate_file`.

    /// The name that the server's certificate must be for, also sent to the server (SNI). Empty: `node_address::host`. An address works as well.
    std::string server_name{};

    /// Off: whoever answers is believed, and may read the password. The node's name in reports and in the status says so.
    bool verify{true};

    friend bool operator==(tls_options const&, tls_options const&) = default;
};

/// One Redis or Valkey server.
struct REDLOCK_API node_address {
    std::string host;  ///< A host name, an IPv4 address, or an IPv6 address without brackets.
    std::uint16_t port{6379};  ///< The TCP port.
    std::string username{"default"};  ///< The ACL user.
    std::string password;  ///< Empty: the server wants none.
    std::uint16_t database{0};  ///< The number that SELECT takes.

    /// How many replicas must have acknowledged what a vote of this node has written, before it counts (WAIT): 0 to `max_replicas`. All
    /// that can be promoted, if no lock may get lost with a failover. 0: it counts at once.
    std::uint16_t replicas{0};

    /// Whether it must have been written to the server's disk, and to those of the replicas, before it counts (WAITAOF). Needs Redis >= 7.2 or
    /// Valkey, with `appendonly yes`.
    bool fsync{false};

    /// Where the password is instead: a file (an absolute path; the newline at its end is none of it), or a variable of the environment. At
    /// most one of the three. Read for each connection, so that a changed one applies at the next.
    std::string password_file{};
    std::string password_env{};  ///< See `password_file`.

    /// With TLS. Whom to trust, what certificate to show and which name to expect are each as in `config::tls` where this says nothing;
    /// verification is on unless one of the two says otherwise. None: without TLS.
    std::optional<tls_options> tls{};

    /// The absolute path of a Unix domain socket, instead of a host and a port. Needs a library that was built with Boost 1.89 or newer.
    std::string unix_socket{};

    /// Reads one of
    ///
    ///     redis://[[user]:password@]host[:port][/database][?parameters]
    ///     rediss://…                                                         with TLS
    ///     unix://[[user]:password@]/path[?db=database&parameters]
    ///
    /// Parameters: `replicas=K`, `fsync=yes`, `password_file=PATH`, `password_env=NAME` (the user may then stand without a password), and
    /// with TLS the members of `tls_options`: `ca_file`, `ca_path`, `certificate_file`, `key_file`, `server_name`, `verify=no`. An IPv6
    /// address stands in brackets; user, password, path and values may be percent-encoded. Throws `config_error`, whose text repeats no
    /// part of the URL.
    static node_address from_url(std::string_view url);

    /// `host:port`, with brackets around an IPv6 address, or `unix:/path`; never the credentials. Where TLS verifies nothing, it says so.
    std::string to_string() const;

    friend bool operator==(node_address const&, node_address const&) = default;
};

/// How often a client makes sure that a node is still the one that it knows, with its memory. For locks with `fencing` only.
enum class identity_check : std::uint8_t {
    every_message,  ///< With each message. Nothing is missed: not even a server that loses its memory while a connection lasts.
    handshake,  ///< When a connection is made, which saves a server about a microsecond a message. A server that becomes a replica
    ///< and a master again, on one connection, is missed. So is what happens on servers that forbid INFO.
};

/// Writes `redlock: ` and the sentence to stderr, as one line. Thread-safe.
REDLOCK_API void log_to_stderr(std::string_view sentence);

/// What a `client` needs to know. `validate()` is called by the client's constructor.
struct REDLOCK_API config {
    /// The independent nodes (not replicas of each other, not members of one cluster; each may have replicas of its own). One: a single-instance lock;
    /// two and more: Redlock, majority N/2+1. Odd numbers are better: four nodes survive no more faults than three.
    std::vector<node_address> nodes;

    /// The name that the connections carry in the servers' CLIENT LIST. Visible ASCII, no spaces.
    std::string client_name{"redlock"};

    /// How long connecting and the handshake may take, together. 10 ms to 10 min.
    std::chrono::milliseconds connect_timeout{2'000};

    /// The bounds of the pause between two attempts to connect to a node. It grows from the one to the other, with jitter.
    /// 1 ms to 1 day.
    std::chrono::milliseconds min_reconnect_delay{50};
    std::chrono::milliseconds max_reconnect_delay{2'000};  ///< See `min_reconnect_delay`.

    /// A connection on which nothing was answered for so long is given up and made anew. 100 ms to 1 day.
    std::chrono::milliseconds stall_timeout{10'000};

    /// How long a node that waits for `replicas` or `fsync` does that at most; then its vote has failed, and is undone. A vote can take twice as
    /// long, and all of it is part of `lock_options::node_timeout`: more than half of that is of no use. 1 ms to 1 min.
    std::chrono::milliseconds replication_timeout{200};

    /// How many commands may wait for one slow node; further ones count as failed there at once. 1 to 1,000,000.
    std::size_t max_node_queue{8'192};

    /// The largest ttl of any lock with `fencing` that anybody has on these nodes. 10 ms to 30 days. A node that lost its memory may not
    /// vote for so long: until then it could grant what somebody still holds. Every client of a set of nodes should say the same.
    std::chrono::milliseconds max_ttl{30'000};

    /// Nothing was ever locked on these nodes: do not wait for `max_ttl` when none of them remembers anything, as at the very first
    /// start. Meant for tests, demonstrations and the first start itself; true while everything was just lost, it can break locks.
    bool bootstrap{false};

    /// A folder of this machine in which its processes tell each other since when they wait for a node that lost its memory, so that processes
    /// which live for a moment can admit it together (docs/fencing.md). An absolute path; it is made with the rights 0700 when there is
    /// something to tell, and heeded only while nobody else may write there. Empty: each process waits anew. `redlock` has one by default.
    std::string quarantine_folder{};

    /// How long the servers keep the token counter of a lock that nobody uses. Four times `max_ttl` to 365 days.
    std::chrono::milliseconds token_retention{3'600'000};

    /// How often to make sure that a node is still the server that was admitted. With every message, unless a microsecond of the servers'
    /// time for each counts more than what `handshake` misses.
    identity_check identity{identity_check::every_message};

    /// Lets servers vote on locks with `fencing` that are neither Redis nor Valkey. A node is admitted as the server that its id (`master_replid`
    /// in INFO replication) names, and a server that lost its memory is known by another id: Redis and Valkey take one whenever they start and
    /// when they are promoted. Others may keep theirs, and would then vote at once on what they have forgotten; so they get no vote, and
    /// `client_status` says which program it is. True: you know that the ids of all nodes change with each loss. Locks without `fencing` need
    /// neither.
    bool trust_server_identity{false};

    /// Promises that nothing ever runs at the same time on the client's executor: one thread at most runs its io_context ("implicit strand"
    /// in Asio's words). Then the client does without a strand of its own and is faster (docs/performance.md). A client whose executor is an
    /// `asio::strand` does without another one anyway. Operations may still be started from any thread. If two threads run the io_context all the same, behaviour is undefined. About the program and
    /// not about the nodes: no file can set it.
    bool implicit_strand{false};

    /// For all nodes with TLS: what their own `node_address::tls` leaves empty.
    tls_options tls{};

    /// Stands in the locks' values on the servers, behind the host, the process and the time of this client, for whoever looks there
    /// (`redlock inspect`). Visible ASCII without spaces, up to 64 characters; empty: none.
    std::string label{};

    /// The key of a lock on the servers: `raw`, its name byte for byte; or a text in which the name stands for `{0}`, as `redlock:{0}`, the
    /// default of RedLock.net. Whoever is to share locks must use the same keys. For all locks of a client, which are known by their names
    /// everywhere else. Exactly one `{0}` and no other braces, not `:fence` at its end, up to 256 bytes.
    std::string key_format{"raw"};

    /// Told, in a sentence, why no lock can be had: when for 3 seconds no acquisition could find a majority (nodes that are down, or may not vote
    /// yet; `client::run()` was not called), once for each cause, and again after a minute. Not told that somebody else holds a lock, and
    /// nothing at all where the client has an observer. Empty: off. The sentence contains no password. Called on the client's executor;
    /// exceptions leave its `run()`. No file can set it.
    std::function<void(std::string_view)> log{log_to_stderr};

    /// A configuration of these nodes, everything else by default. Throws `config_error`.
    static config from_urls(std::vector<std::string> const& urls);

    /// Throws `config_error` for: no nodes, too many, the same server twice (whatever the database), hosts that are none,
    /// a username without a password, paths that are not absolute, durations out of bounds, a
    /// key format that is none.
    void validate() const;
};

}  // namespace redlock

#endif
