// What a Redis server does with our commands: keys, values, expiry in whole milliseconds. Shared by the nodes of story tests and
// of the simulation; an integration test compares it with a real server.
#ifndef REDLOCK_TESTS_SUPPORT_REDIS_MODEL_HPP
#define REDLOCK_TESTS_SUPPORT_REDIS_MODEL_HPP

#include "core/alarms.hpp"
#include "node/node.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {

using detail::duration;
using detail::time_point;

class redis_model {
public:
    struct entry {
        std::string key;
        std::string value;
        std::optional<time_point> expires;  // in whole milliseconds of the server's clock; the key goes when that is over
        bool of_nobody{false};              // set by a message whose sender cannot know that it arrived
    };

    // `now` is the server's wall clock.
    detail::reply execute(detail::command const& c, time_point now);

    entry* find(std::string_view key, time_point now);
    void set(std::string_view key, std::string_view value, std::optional<duration> ttl, time_point now);
    void del(std::string_view key);
    void flush_all() { entries_.clear(); }

    // Removes what has expired, and returns what is left.
    std::vector<entry> const& entries(time_point now);

    // When a key that expires is no longer there.
    time_point gone_at(entry const& e) const { return expires_early ? *e.expires : *e.expires + std::chrono::milliseconds{1}; }

    // Redis promises expiry with an error of up to a millisecond; its own is on the late side, this one on the early.
    bool expires_early{false};

private:
    bool has_expired(entry const& e, time_point now) const;

    std::vector<entry> entries_;  // few: a scan beats a tree
};

}  // namespace redlock::testing

#endif
