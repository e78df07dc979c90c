// A model of a Redis server in memory: keys, values, expiry in whole milliseconds, and what the library's commands and scripts do to them.
// memory_node and the servers of the simulation execute commands with it; an integration test compares it with a real server.
#ifndef REDLOCK_TESTING_REDIS_MODEL_HPP
#define REDLOCK_TESTING_REDIS_MODEL_HPP

#include "base/timer_queue.hpp"
#include "redis/node.hpp"

#include <chrono>
#include <cstddef>
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

class redis_model {
public:
    // Who reads, of a read-write lock: on a real server, a sorted set. shared_model.hpp says what is done to it.
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
        bool marked{false};  // by a climb (redis/fence_scripts.hpp)
    };

    // The key redlock:node.
    struct node_record {
        std::string id;
        token_number base{0};
        std::chrono::milliseconds max_ttl{};
        std::string mark;  // empty: "-"
    };
    // The id of a record that a mark has begun: no server was admitted yet.
    static constexpr std::string_view no_id = "0000000000000000000000000000000000000000";

    // `now` is the server's wall clock. `learned` is the id that commands with tokens are bound to.
    detail::reply execute(detail::command const& c, time_point now, std::string_view learned = {});

    // Whether this is the server `learned`, and a master. A message ends with this question, since votes with tokens count only if it is.
    bool is_still(std::string_view learned) const noexcept { return master && id == learned; }

    // The facts that a handshake reads.
    quorum::node_facts facts() const;
    bool admitted() const noexcept { return master && remembers(id); }

    // Whether the record says that `server` was admitted, and nothing of the record was lost.
    bool remembers(std::string_view server) const noexcept { return record && high_water && record->id == server; }
    // Deletes the key if it has expired.
    void notice(std::string_view key, time_point now);
    bool floor_counts(token_number floor, time_point now) const;

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

private:
    time_point gone_at(time_point expires) const { return expires_early ? expires : expires + std::chrono::milliseconds{1}; }
    bool has_expired(std::optional<time_point> const& expires, time_point now) const { return expires && now >= gone_at(*expires); }

    void renew(entry& e, duration ttl, time_point now);
    void changed(std::string_view key) const;
    detail::reply watch(detail::command const& c, time_point now);
    detail::reply of_readers(detail::command const& c, time_point now, std::string_view learned);
    detail::reply acquire_with_tokens(detail::command const& c, time_point now);
    detail::reply confirm(detail::command const& c, time_point now);
    detail::reply adopt(detail::command const& c, time_point now);
    detail::reply extend(detail::command const& c, std::string_view key, time_point now);
    detail::reply extend_with_token(detail::command const& c, std::string_view key, time_point now);
    detail::reply climb(detail::command const& c, std::string_view key, time_point now);
    template <class F>
    detail::reply worst_of_all(detail::command const& c, F one);
    detail::reply mark(detail::command const& c, time_point now);
    detail::reply admit(detail::command const& c);
    bool is_ours(detail::command const& c, std::string_view key, time_point now);
    bool are_all_ours(detail::command const& c, time_point now);
    bool is_any_there(detail::command const& c, time_point now);
    void set_all(detail::command const& c, time_point now);

    struct extremes {
        token_number lowest;
        token_number highest;
    };
    std::optional<extremes> counters_of(detail::command const& c, time_point now);

    std::vector<entry> entries_;  // few: a scan beats a tree
    std::vector<counter> counters_;
};

}  // namespace redlock::testing

#endif
