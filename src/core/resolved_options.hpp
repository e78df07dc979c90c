// The options of a lock with what follows from them. A lock_descriptor (redlock/detail/resource.hpp) has the names of a lock, and such options.
#ifndef REDLOCK_CORE_RESOLVED_OPTIONS_HPP
#define REDLOCK_CORE_RESOLVED_OPTIONS_HPP

#include "quorum/timing.hpp"
#include "quorum/waiting/fairness.hpp"

#include <redlock/detail/resource.hpp>
#include <redlock/options.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <utility>

namespace redlock::detail {

// What an attempt asks for besides the lock.
struct tokens_wanted {
    bool fenced{false};
    std::uint32_t block{1};  // for each lease
    std::uint32_t reserved{1};  // with those of the leases that it may be handed over to
    std::chrono::milliseconds retention{};

    friend bool operator==(tokens_wanted const&, tokens_wanted const&) = default;
};

// Made once for all locks of a client that have the same options.
class resolved_options {
public:
    // `retention`: how long nodes keep the counter of a lock that nobody wants.
    resolved_options(lock_options const& of, std::chrono::milliseconds retention);

    lock_options const options;
    quorum::timing const times;
    std::chrono::milliseconds const key_ttl;  // on the nodes, as it is sent
    quorum::fairness_limits const limits;
    tokens_wanted const tokens;

    // Whether a lease acquired with `others` also serves a caller with these options.
    bool compatible_with(resolved_options const& others) const noexcept
    {
        return this == &others || (times == others.times && tokens == others.tokens);
    }
};

}  // namespace redlock::detail

#endif
