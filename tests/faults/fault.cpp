#include "fault.hpp"

#include <array>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;
using enum breaks;

// Longer than a ttl (see timing.hpp) is 600 ms and more.
constexpr std::array<fault_traits, fault_kind_count> table{{
    {"kill, no persistence", "SIGKILL and restart of a server that keeps nothing", plain_locks, 1, 1, 50ms, 400ms, 0, 0, false},
    {"kill, RDB", "SIGKILL and restart of a server with snapshots", plain_locks, 1, 1, 50ms, 400ms, 0, 0, false},
    {"kill, AOF everysec", "SIGKILL and restart of a server with appendfsync everysec", plain_locks, 1, 1, 50ms, 400ms, 0, 0, false},
    {"kill, AOF always", "SIGKILL and restart of a server with appendfsync always", nothing, 1, 1, 50ms, 400ms, 0, 0, false},
    {"kill of a majority", "SIGKILL and restart of three servers or more; then an operator deletes redlock:node on all", plain_locks, 3, 5,
     50ms, 300ms, 0, 0, false},
    {"server stopped", "SIGSTOP, SIGCONT of a minority", nothing, 1, 2, 600ms, 1000ms, 0, 0, false},
    {"majority stopped", "SIGSTOP, SIGCONT of three servers or more", nothing, 3, 5, 600ms, 1000ms, 0, 0, false},
    {"worker stopped", "SIGSTOP, SIGCONT of a process that holds locks", nothing, 0, 0, 600ms, 1300ms, 0, 0, false},
    {"worker killed", "SIGKILL of a process that holds locks, another one takes its place", nothing, 0, 0, 100ms, 300ms, 0, 0, false},
    {"connections cut", "all connections with servers are closed", nothing, 1, 5, 50ms, 200ms, 0, 0, false},
    {"half-open", "what the servers answer is lost while connections stay open, and then cut", nothing, 1, 2, 600ms, 1000ms, 0, 0, false},
    {"delayed", "bytes take longer each way (ms)", nothing, 1, 5, 300ms, 800ms, 5, 60, false},
    {"throttled", "bytes a second each way", nothing, 1, 3, 400ms, 900ms, 2'000, 20'000, false},
    {"late delivery", "requests are held back, and delivered when nobody waits for them any more", nothing, 1, 3, 700ms, 1200ms, 0, 0,
     false},
    {"packet loss", "of IP packets, each way (percent)", nothing, 1, 5, 500ms, 1000ms, 5, 40, true},
    {"packet delay", "IP packets take up to so much longer each way (ms), each another time, so that they overtake", nothing, 1, 5, 400ms,
     800ms, 5, 60, true},
    {"partition", "no IP packet passes between half of the workers and these nodes", nothing, 1, 5, 600ms, 1000ms, 0, 0, true},
    {"CLIENT PAUSE", "CLIENT PAUSE ALL", nothing, 1, 2, 300ms, 900ms, 0, 0, false},
    {"DEBUG SLEEP", "the server's only thread sleeps", nothing, 1, 1, 300ms, 900ms, 0, 0, false},
    {"CLIENT KILL", "CLIENT KILL TYPE normal", nothing, 1, 5, 50ms, 200ms, 0, 0, false},
    {"FLUSHALL", "servers lose all keys; if they are a majority, an operator deletes redlock:node on all", plain_locks, 1, 5, 50ms, 200ms,
     0, 0, false},
    {"DEL of a held lock", "an operator deletes keys of locks that are held", all_locks, 1, 4, 50ms, 200ms, 0, 0, false},
    {"SCRIPT FLUSH", "a server loses all scripts", nothing, 1, 5, 50ms, 200ms, 0, 0, false},
    {"out of memory", "maxmemory 1 under noeviction", nothing, 1, 2, 300ms, 700ms, 0, 0, false},
    {"replica attached", "a replica attaches to a server, and leaves", nothing, 1, 1, 300ms, 600ms, 0, 0, false},
    {"demoted, promoted", "a server becomes a replica of an empty one, and a master again, without its data", plain_locks, 1, 1, 100ms,
     500ms, 0, 0, false},
    {"clock forward", "servers' wall clocks are stepped (ms), and stepped back", all_locks, 1, 4, 200ms, 700ms, 1'000, 8'000, false},
    {"clock backward", "servers' wall clocks are stepped back (ms), and forward again", all_locks, 1, 4, 200ms, 700ms, -8'000, -1'000,
     false},
    {"clock slewed", "servers' wall clocks run 8.3333 % too fast, chrony's largest slew, or too slow (ppm)", all_locks, 1, 4, 500ms, 1000ms,
     -83'333, 83'333, false},
    {"clock drift", "servers' wall clocks run wrong by what the locks assume, or less (ppm)", nothing, 1, 5, 500ms, 1000ms, -9'000, 9'000,
     false},
}};

constexpr auto order = [] {
    std::array<fault_kind, fault_kind_count> all{};
    for (std::size_t i = 0; i < fault_kind_count; ++i) all[i] = static_cast<fault_kind>(i);
    return all;
}();

}  // namespace

fault_traits const& traits(fault_kind kind) noexcept { return table[static_cast<std::size_t>(kind)]; }

std::span<fault_kind const> all_fault_kinds() noexcept { return order; }

}  // namespace redlock::faults
