// For how long a server has certainly lost nothing. docs/proof.md, "The wait". No I/O.
#ifndef REDLOCK_PROTOCOL_WITHOUT_LOSS_HPP
#define REDLOCK_PROTOCOL_WITHOUT_LOSS_HPP

#include <chrono>
#include <string_view>

namespace redlock::detail {

// Those that can take data away, or hide that one of them was called, as a server names them where it counts calls.
inline constexpr std::string_view commands_that_lose_data =
    "flushall flushdb swapdb replicaof slaveof failover debug migrate move config config|resetstat";

// `uptime`, `redis_version` and `valkey_version` as inspect_script answers them. Zero: the server does not show it.
std::chrono::seconds time_without_loss(std::string_view uptime, std::string_view redis_version, std::string_view valkey_version);

}  // namespace redlock::detail

#endif
