// What a Redis server in memory keeps: keys, values, expiry in whole milliseconds, counters, and the record of its admission.
#ifndef REDLOCK_TESTING_REDIS_STORE_HPP
#define REDLOCK_TESTING_REDIS_STORE_HPP

#include "base/timer_queue.hpp"
#include "quorum/clocks/token_clock.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {

using detail::duration;
using detail::time_point;
using quorum::token_number;

// Rounded down, as the ends of keys are.
inline time_point in_milliseconds(time_point t) { return std::chrono::floor<std::chrono::milliseconds>(t); }

class redis_store {
public:
    // The readers of a read-write lock: on a real server, a sorted set. shared_model.hpp says what is done to it.
    struct reader_set {
        token_number epoch{0};  // the counter that the set was made above
        std::map<std::string, time_point> ends{};  // of each reader's entry
    };

    struct entry {
        std::string key;
        std::string value;
        std::optional<time_point> expires;  // in whole milliseconds of the server's clock
        bool of_nobody{false};              // for the simulation: the sender of the command cannot know that it arrived
        std::optional<reader_set> readers{};  // then the value is empty, as no lock's is
    };

    // The key NAME:fence.
    struct counter {
        std::string name;                   // of the lock
        std::optional<token_number> value;  // none: the key holds something that is no number
        std::optional<time_point> expires;
        bool marked{false};  // by a climb (protocol/fence_scripts.hpp)
    };

    // The key redlock:node.
    struct node_record {
        std::string id;
        token_number base{0};
        std::chrono::milliseconds max_ttl{};
        std::string mark;  // empty: "-"
        token_number above{0};  // new tokens are above it, too, since the set got a smaller N

        token_number new_tokens_above() const noexcept { return base > above ? base : above; }
    };

    // Whether the record says that `server` was admitted, and nothing of the record was lost.
    bool remembers(std::string_view server) const noexcept { return record && high_water && record->id == server; }
    // Deletes the key if it has expired.
    void notice(std::string_view key, time_point now);

    entry* find(std::string_view key, time_point now);
    void set(std::string_view key, std::string_view value, std::optional<duration> ttl, time_point now);
    void put(entry e);  // in the place of what is there
    void del(std::string_view key);
    counter* find_counter(std::string_view name, time_point now);
    void set_counter(std::string_view name, token_number value, duration retention, time_point now, bool marked = false);
    void del_counter(std::string_view name);
    void spoil_counter(std::string_view name);  // puts data there that is no number
    void flush_all();

    std::vector<entry> entries(time_point now) const;

    // A key that has expired stays in memory, as in Redis, until a command uses it, or expire() is called. stored() returns it also then.
    void expire(time_point now);
    entry const* stored(std::string_view key) const;

    // Called when a key of a lock was set, given another expiry, deleted, or noticed to have expired. Empty: all keys are gone.
    std::function<void(std::string_view key)> on_change;

    // From when on a key that expires is not found any more. Precondition: `e.expires` is set.
    time_point gone_at(entry const& e) const { return gone_at(*e.expires); }

    // Redis promises expiry with an error of up to a millisecond. The real server is late by so much; with this, keys expire early instead.
    bool expires_early{false};

    std::string id;  // which server it is: its replication id
    bool master{true};
    std::optional<node_record> record;
    std::optional<token_number> high_water;
    std::string set_record;  // the key redlock:set; empty: there is none
    std::optional<time_point> kept_since;  // by the server's clock: its start, if it has lost nothing since; none: it does not show it

protected:
    void renew(entry& e, duration ttl, time_point now);

private:
    time_point gone_at(time_point expires) const { return expires_early ? expires : expires + std::chrono::milliseconds{1}; }
    bool has_expired(std::optional<time_point> const& expires, time_point now) const { return expires && now >= gone_at(*expires); }

    void changed(std::string_view key) const;

    std::vector<entry> entries_;  // few: a scan beats a tree
    std::vector<counter> counters_;
};

}  // namespace redlock::testing

#endif
