// What the fuzzers of leases on three servers in memory share: the servers, and what a client knows of an attempt and the lease that becomes of it.
#ifndef REDLOCK_TESTS_FUZZ_THREE_SERVERS_HPP
#define REDLOCK_TESTS_FUZZ_THREE_SERVERS_HPP

#include "node/node.hpp"
#include "testing/redis_model.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace redlock::fuzz {

inline constexpr std::size_t nodes = 3;
inline constexpr std::size_t needed = 2;
inline constexpr std::size_t max_events = 400;
inline constexpr std::size_t max_attempts = 24;
inline constexpr char const* id = "0123456789012345678901234567890123456789";
inline constexpr std::chrono::milliseconds ttl{100};
inline constexpr std::chrono::hours retention{24};

/// All are admitted, and empty.
class three_servers {
public:
    three_servers()
    {
        for (auto& server : all_) {
            server.id = id;
            server.record = testing::redis_model::node_record{id, 0, ttl, {}};
            server.high_water = 0;
        }
    }

    testing::redis_model& operator[](std::size_t node) noexcept { return all_[node]; }

private:
    std::array<testing::redis_model, nodes> all_;
};

/// What a client knows of one server.
struct known_part {
    bool granted{false};
    bool stands{false};  // behind the token
    quorum::token_number counter{0};
    detail::time_point until{};

    void grants(quorum::token_number said, detail::time_point sent)
    {
        granted = true;
        counter = said;
        until = std::max(until, sent + ttl);
    }

    void is_extended(vote said, detail::time_point sent)
    {
        if (said == vote::granted) until = std::max(until, sent + ttl);
        else if (said == vote::refused) until = {};
    }
};

/// `Part`: a known_part, and what is known besides.
template <class Part>
struct known_attempt {
    std::string value;
    bool ended{false};
    quorum::token_number floor{0};
    quorum::token_number token{0};
    std::size_t began{0};  // at which event
    std::size_t complete{0};  // likewise; 0: not yet
    detail::time_point sent{};
    std::array<Part, nodes> at{};

    detail::time_point valid_until() const
    {
        std::array<detail::time_point, nodes> all{};
        std::ranges::transform(at, all.begin(), &Part::until);
        std::ranges::sort(all, std::greater<>{});
        return all[needed - 1];
    }
    bool is_held(detail::time_point now) const { return complete > 0 && !ended && now < valid_until(); }

    /// The largest counter of the first majority is the token. Who answered less has to confirm it; who answers more is no part of the attempt.
    void choose_token()
    {
        if (token == 0 && count(&Part::granted) >= needed)
            for (auto const& p : at) token = std::max(token, p.granted ? p.counter : 0);
        for (auto& p : at) p.stands = p.stands || (token > 0 && p.granted && p.counter == token);
    }
    bool can_complete(detail::time_point now) const { return complete == 0 && count(&Part::stands) >= needed && now < valid_until(); }

    std::size_t count(bool known_part::* what) const { return static_cast<std::size_t>(std::ranges::count(at, true, what)); }
};

}  // namespace redlock::fuzz

#endif
