// What every acquisition of a lock has in common: its names and options, and what follows from them. Made once by each lock, and shared by
// all that its acquisitions, attempts and leases are made of.
#ifndef REDLOCK_CORE_TERMS_HPP
#define REDLOCK_CORE_TERMS_HPP

#include "quorum/timing.hpp"
#include "quorum/turn.hpp"

#include <redlock/detail/resource.hpp>
#include <redlock/options.hpp>

#include <chrono>
#include <cstdint>

namespace redlock::detail {

// What an attempt asks for besides the lock.
struct tokens_wanted {
    bool fenced{false};
    std::uint32_t block{1};     // for each lease
    std::uint32_t reserved{1};  // with those for whom the lease is passed on to
    std::chrono::milliseconds retention{};

    friend bool operator==(tokens_wanted const&, tokens_wanted const&) = default;
};

class terms final : public resource {
public:
    // `retention`: how long nodes keep the counter of a lock that nobody wants.
    terms(resource names, lock_options const& of, std::chrono::milliseconds retention);

    lock_options const options;
    quorum::timing const times;
    std::chrono::milliseconds const key_ttl;  // on the nodes, as it is sent
    quorum::turn_limits const limits;
    tokens_wanted const tokens;

    // A lease under these is as good for who asked under those.
    bool suit(terms const& others) const noexcept { return this == &others || (times == others.times && tokens == others.tokens); }
};

}  // namespace redlock::detail

#endif
