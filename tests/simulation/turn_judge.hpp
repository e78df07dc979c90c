// What must hold of those who wait: who asked first is served first, a free lock is taken, and what is passed on is passed on in time.
#ifndef REDLOCK_TESTS_SIMULATION_TURN_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_TURN_JUDGE_HPP

#include "lease_facts.hpp"
#include "process.hpp"
#include "server.hpp"

#include <redlock/lease.hpp>
#include <redlock/options.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::simulation {

class judge;

class turn_judge {
public:
    // What somebody wants who waits: a lock; or a read-write lock, to read or to write. Each has a line of its own.
    enum class wants : std::uint8_t { a_lock, to_write, to_read };

    // Somebody who waits as long as it takes: whoever asked before him for the same, through the same client, is served before him; but not
    // readers.
    class place {
    public:
        place(judge& by, process const& p, std::string name, wants what = wants::a_lock);
        ~place();
        place(place const&) = delete;
        place& operator=(place const&) = delete;

        void served(lease const& with);

    private:
        friend class turn_judge;

        judge& judge_;
        std::size_t process_;
        std::string name_;
        std::vector<std::string> names_;
        wants what_;
        duration since_;
        bool overtaken_{false};
        std::optional<duration> free_since_{};  // while he waits
    };

    explicit turn_judge(judge& rules) : rules_{rules} {}

    // Where nothing goes wrong, except that pushes are lost: a lock is not free for longer than this while somebody waits for it.
    std::optional<duration> free_at_most;

    // Where nothing goes wrong: a reader who asks so long after a writer began to wait does not come before him.
    std::optional<duration> wish_known_after;

    // A reader who had asked at that time has the lock.
    void reader_served(std::string const& name, duration asked);

    // A writer was granted something, has the lock, leaves it or gives up.
    void writer_moved(std::string const& name);
    void writer_moved(lease_facts const& w);

    // Nobody sees the lease of a scope that is cancelled before its body begins.
    void scope_waits(process const& p) { ++unseen(p).scopes; }
    void scope_begins(process const& p) { --unseen(p).scopes; }
    void scope_gives_up(process const& p);

    // A lease begins, by an attempt or because another one was passed on; or it is given back, valid or not.
    void begins(lease_facts const& w);
    void ends(lease_facts const& w, bool valid);

    // After every step of the world.
    void check();

private:
    // What a client does with a lock before it gives others their turn.
    struct turn {
        lock_options rules;  // of its first lease
        duration began{};
        std::uint32_t passed_on{0};
        std::string value{};
        std::optional<duration> left{};  // when its last lease was given back, valid
    };
    // Leases that nobody sees, of a process.
    struct unseen_leases {
        int scopes{0};
        duration latest{-1};
    };

    bool is_kept_out(place const& who, server& s) const;
    unseen_leases& unseen(process const& p) { return unseen_[p.index()]; }

    judge& rules_;
    std::map<std::string, duration> writers_moved_;  // by name
    std::map<std::pair<std::size_t, std::string>, turn> turns_;  // by process and name
    std::map<std::size_t, unseen_leases> unseen_;
    std::vector<place*> in_line_;  // who asked first is first
};

}  // namespace redlock::simulation

#endif
