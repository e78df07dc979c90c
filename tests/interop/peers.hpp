// The other libraries, as processes that hold locks, on the same servers as a client of ours.
#ifndef REDLOCK_TESTS_INTEROP_PEERS_HPP
#define REDLOCK_TESTS_INTEROP_PEERS_HPP

#include "node_redlock.hpp"
#include "support/cluster.hpp"
#include "support/temporary_folder.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace redlock::testing {

using steady = std::chrono::steady_clock;

struct peer {
    std::string name;
    std::string script;      // in this folder
    std::size_t servers;     // that it asks
    std::string key_format;  // of its keys

    friend std::ostream& operator<<(std::ostream& out, peer const& p) { return out << p.name; }
};

inline peer const node_redlock{"node-redlock", "holder.mjs", 3, "raw"};
inline peer const ioredis{"ioredis", "recipe.mjs", 1, "raw"};
inline peer const redis_py{"redis-py", "redis_py.py", 1, "raw"};
inline peer const redlock_net{"RedLock.net's keys and scripts", "redlock_net.mjs", 3, "redlock:{0}"};

/// Whether it can run here; says so if not. Only redis-py may be missing.
bool is_here(peer const& p);

/// A process of it that asks the servers on these ports; what it complains of is appended to `log`.
std::unique_ptr<peer_process> start_process(peer const& of, asio::any_io_executor executor, std::vector<std::uint16_t> const& ports,
                                            std::filesystem::path const& log);

/// Nothing expires by itself during a test, and a slow machine costs no votes.
inline constexpr lock_options quick{.ttl = 20s, .node_timeout = 2s, .min_retry_delay = 5ms, .max_retry_delay = 20ms};

constexpr lock_options with_fencing(lock_options options, bool fencing)
{
    options.fencing = fencing;
    return options;
}

/// What somebody does while the story goes on.
struct meanwhile {
    steady::time_point at{};  ///< When it was done.
    std::exception_ptr failure;

    bool done() const { return failure || at != steady::time_point{}; }

    /// Waits for it. Throws what went wrong.
    asio::awaitable<steady::time_point> end();
};

/// Servers, a client of ours whose keys are those of the peer, and as many processes of the peer as are started.
class two_libraries : public cluster {
public:
    explicit two_libraries(peer const& other);

    std::unique_ptr<redlock::client> another_client();
    asio::awaitable<std::unique_ptr<peer_process>> start_peer();

    /// Asks, and hears one thing. The test ends when it is another one, and shows what the peer complained of.
    asio::awaitable<steady::time_point> expect(peer_process& of, std::string line, std::string word);

    /// The same, while the story goes on.
    asio::awaitable<std::shared_ptr<meanwhile>> begin(peer_process& of, std::string line, std::string word);
    asio::awaitable<std::shared_ptr<meanwhile>> begin(asio::awaitable<steady::time_point> what);

    std::string key_of(std::string const& name) const;

private:
    static config settings_of(peer const& other);

    asio::awaitable<steady::time_point> heard(asio::awaitable<peer_process::answer> answer, std::string word);
    std::filesystem::path log() const { return folder_.path() / "errors"; }

    peer const& other_;
    temporary_folder folder_;
};

}  // namespace redlock::testing

#endif
