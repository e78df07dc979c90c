// A simulated Redis server: its memory, its wall clock, and what can be wrong with it.
#ifndef REDLOCK_TESTS_SIMULATION_SERVER_HPP
#define REDLOCK_TESTS_SIMULATION_SERVER_HPP

#include "clocks.hpp"
#include "event.hpp"
#include "testing/redis_model.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::simulation {

class link;
class universe;

// What a server answers instead of doing as it is told.
enum class complaint : std::uint8_t {
    none,
    loading,    // LOADING: it reads its data set
    read_only,  // READONLY: it is a replica now
    misconf,    // MISCONF: it cannot save
    oom,        // OOM: commands that need memory are refused, others are not
};

char const* to_string(complaint c) noexcept;

// What is left of a server's memory.
enum class keeps : std::uint8_t { everything, nothing, an_older_state };

char const* to_string(keeps what) noexcept;

class server {
public:
    server(universe& in, std::size_t index, machine_clock const& clock);

    std::size_t index() const noexcept { return index_; }

    // As if it had been admitted long ago.
    void begin_admitted(std::chrono::milliseconds max_ttl, testing::token_number high_water);

    // Whatever it loses, its record goes on showing which ttl was allowed: for worlds with leases that some clients' max_ttl is too short for.
    bool shows_longest_ttl{false};

    // What is lost while it runs: the node's record, or everything.
    void lose_record();
    void flush_all();

    // Executes a command now, or says why not. `learned`: the id that the sender has learned. `of_nobody`: the sender cannot know
    // that it got here.
    detail::reply execute(detail::command const& c, std::string_view learned, bool of_nobody);

    // Says when this key has expired, if it does, and is still there and watched.
    void say_expiry_of(std::string const& key);

    // Does `f` now, or when the server goes on.
    void when_it_runs(event f);

    void stop() noexcept { stopped_ = true; }
    void go_on();

    // The connections between a client and this server; to be told once, and they live as long as the server.
    void add_link(link& l) { links_.push_back(&l); }

    // A crash ends all connections. When the server starts again it has a new id, and of its memory what it could keep.
    void crash(keeps what);
    void start();

    // A replica takes over and knows less, or the server was one for a while. Its connections last.
    void fail_over(keeps what);

    // What a later loss may bring back.
    void take_snapshot() { older_state_ = memory; }

    // Enough other servers to tell this one what it knew.
    bool others_remember() const;

    // The network has kept a copy of what last admitted it.
    void admit_again();

    // The network has kept a copy of the first request to mark it.
    void mark_again();

    // READONLY: it is a replica, and has a new id when it is promoted.
    void complain(complaint c);
    complaint complains() const noexcept { return complains_; }
    bool up() const noexcept { return up_; }
    bool running() const noexcept { return up_ && !stopped_; }

    // SCRIPT FLUSH, or a restart: EVALSHA is answered with NOSCRIPT until somebody has loaded the scripts again.
    void forget_scripts() noexcept { knows_scripts_ = false; }
    bool knows_scripts() const noexcept { return knows_scripts_; }
    void load_scripts() noexcept { knows_scripts_ = true; }

    testing::redis_model memory;
    machine_clock wall;

    // In a group (replica_group): what is called after each command that may have written something; and what makes a write of its own, and calls
    // back when so many replicas have acknowledged it, or not in time.
    std::function<void()> on_write;
    std::function<void(std::uint16_t replicas, duration patience, std::function<void(bool enough)> done)> replicate;
    bool is_replica{false};

    time_point time() const noexcept;
    testing::redis_model::entry const* find(std::string const& key) { return memory.find(key, time()); }

    // Whether the key is there with this value; or, if it is a set of readers, with this reader, whose time is not over.
    bool has(std::string const& key, std::string const& value);

    // A reader that got into the set in a way that its client cannot know of.
    bool is_stray(std::string const& key, std::string const& value) const { return strays_.contains({key, value}); }

private:
    struct before;

    std::optional<detail::reply> refusal(detail::command const& c);
    void note_reader(detail::command const& c, before const& was, bool of_nobody);
    void count(detail::command const& c, detail::reply const& answer, before const& was, bool was_admitted);
    void evict(std::string_view key);
    void lose(keeps what);
    void on_change(std::string_view key);
    bool is_watched(std::string_view key) const;
    void become_another();

    universe& universe_;
    std::size_t index_;
    std::vector<link*> links_;  // to all clients
    bool up_{true};
    bool stopped_{false};
    std::set<std::pair<std::string, std::string>> strays_;  // key and value
    bool knows_scripts_{true};
    complaint complains_{complaint::none};
    testing::redis_model older_state_;
    detail::command last_admission_{detail::verb::admit, {}, {}, {}};
    std::array<std::string, 2> last_admission_text_;
    std::array<std::string, 2> first_mark_;  // its id, and what it asked for
    std::size_t lives_{0};
    duration marked_{};  // when it got the mark of its present quarantine
    std::vector<event> inbox_;
    std::map<std::string, duration, std::less<>> looks_;  // when it is going to look whether a watched key has expired
};

}  // namespace redlock::simulation

#endif
