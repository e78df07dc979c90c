// What must hold, whatever happens. It sees what nobody inside can see: all clocks, all memories, all leases.
#ifndef REDLOCK_TESTS_SIMULATION_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_JUDGE_HPP

#include "universe.hpp"

#include <redlock/fence_guard.hpp>
#include <redlock/lease.hpp>
#include <redlock/options.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redlock::simulation {

using testing::token_number;

// What a schedule's faults leave to be promised. The order of tokens is promised with all of them.
struct assumptions {
    bool clocks_within_drift{true};
    bool memory_kept{true};  // if not, servers lose it in ways that admission sees
    bool keys_kept{true};    // if not, single keys go behind everybody's back

    // Locks with tokens do not mind a loss that is seen.
    bool exclusion(bool with_tokens) const noexcept { return clocks_within_drift && keys_kept && (memory_kept || with_tokens); }
};

// N/2 + 1, in the judge's own words.
std::size_t most_of(std::size_t nodes) noexcept;

class judge {
public:
    judge(universe& in, assumptions const& a);

    // A lease that was detached.
    struct ticket {
        std::string text;
        std::string lineage;  // who acquired it
        token_number token{0};
        token_number last{0};  // of its block
        lock_options options{};
        duration until{};  // its validity, in the world's time
        bool is_climbing{false};  // the nodes may have raised its counters, and the ticket does not say so
    };

    // While it lives, the lease is looked at after every step: no two valid ones on one name.
    class watched {
    public:
        // `adopted`: the ticket that it was adopted with.
        watched(judge& by, process& p, lease& held, lock_options const& options, ticket const* adopted = nullptr);
        ~watched();
        watched(watched const&) = delete;
        watched& operator=(watched const&) = delete;

        // The lease was lost: it must have been time, or its keys must be gone. To be called when the holder hears of it.
        void lost(error_code why);

        bool reads() const noexcept { return reads_; }

        // A scope's body is over.
        void body_ended(bool heeds_cancellation);

        // It is about to be given back; `held`: where it is now.
        void leaves(lease const& held);
        void leaves() { leaves(*lease_); }

        // Its holder writes to what the lock protects, which compares tokens; perhaps long after the lease has ended.
        void write();

        // Its holder moves on to the next token, if there is one.
        void next_token();

        std::string const& value() const noexcept { return value_; }

        // It is of a semaphore, whose user says that there are so many permits.
        void of_permits(std::uint32_t permits) { permits_ = permits; }

        // Who acquired it, and the tokens that are left: what stays when it travels.
        std::string lineage() const { return lineage_.empty() ? called() : lineage_; }
        token_number next_of_block() const noexcept { return token_; }
        token_number last_of_block() const noexcept { return last_; }

        // One that an owner got while it had another of the same hold.
        bool is_nested() const noexcept { return nested_; }

    private:
        friend class judge;
        void had_its_time();
        std::string called() const;
        bool has_tokens() const noexcept { return options_.fencing; }
        std::string known_value() const { return has_tokens() ? value_ : std::string{}; }  // and not guessed

        judge& judge_;
        std::size_t process_;
        lease* lease_;
        lock_options options_;            // of a nested lease: those of the hold that it is in
        std::string name_;
        std::vector<std::string> names_;
        std::string lineage_;     // of an adopted lease
        std::string value_;       // the attempt's that completed with its token; else what most servers have stored for it
        bool is_sure_{true};      // of its value: several readers of one client may have got one token at the same time
        bool reads_{false};
        bool was_writer_{false};  // and reads now
        duration since_;
        token_number token_{0};   // the one that it writes with
        token_number first_{0};   // of its block
        token_number last_{0};
        time_point seen_until_{};
        bool nested_{false};
        bool left_{false};
        std::uint32_t permits_{0};
        std::size_t record_{0};
    };

    // What somebody wants who waits: a lock; or a read-write lock, to read or to write. Each has a line of its own.
    enum class wants : std::uint8_t { a_lock, to_write, to_read };

    // Somebody who waits as long as it takes: whoever asked before him for the same, through the same client, is served before him; but not readers.
    class place {
    public:
        place(judge& by, process const& p, std::string name, wants what = wants::a_lock);
        ~place();
        place(place const&) = delete;
        place& operator=(place const&) = delete;

        void served(lease const& with);

    private:
        friend class judge;

        judge& judge_;
        std::size_t process_;
        std::string name_;
        std::vector<std::string> names_;
        wants what_;
        duration since_;
        bool overtaken_{false};
        std::optional<duration> free_since_{};  // while he waits
    };

    // Where nothing goes wrong, except that pushes are lost: a lock is not free for longer than this while somebody waits for it.
    std::optional<duration> free_at_most;

    // Where nothing goes wrong: a reader who asks so long after a writer began to wait does not come before him.
    std::optional<duration> wish_known_after;

    // Where nothing goes wrong: a slot that an attempt does not need stays no longer than this, once all servers have answered its client.
    std::optional<duration> slots_left_at_most;

    // A reader who had asked at that time was let in.
    void let_in(std::string const& name, duration asked);

    // Nobody sees the lease of a scope that is cancelled before its body begins.
    void scope_waits(process const& p) { ++unseen(p).scopes; }
    void scope_begins(process const& p) { --unseen(p).scopes; }
    void scope_gives_up(process const& p) { unseen(p) = {unseen(p).scopes - 1, universe_.now()}; }

    // After every step of the world.
    void look();

    // Whether a lease of somebody who is not looked at is valid, and at the same time another one on the name.
    bool are_two(process const& p, lease const& held, std::string const& name);

    // On how many servers the name has this value; of several names, each.
    std::size_t stored(std::string const& name, std::string const& value);

    // A lease was detached, so that its keys may stay until they expire; or adopted, which one may do once.
    void travels(std::string const& ticket);
    void arrives(ticket const& with);
    // Somebody tries to.
    void is_tried(ticket const& with) { ++tried_[with.text]; }
    int times_tried(ticket const& with) const { return tried_.at(with.text); }

    // Keys of these values may stay until they expire: nobody was left to remove them.
    void excuse(std::string const& value_prefix) { excused_.push_back(value_prefix); }

    // Nothing goes on any more.
    void at_the_end();

    // Where a key stays whose owner has gone: one that nobody was excused for, which will expire.
    std::optional<std::string> key_without_an_owner() const;

    void violation(std::string what);
    std::optional<std::string> const& verdict() const noexcept { return verdict_; }

    assumptions const& assumes() const noexcept { return assumes_; }

    // Every operation that a user starts ends once, unless its process is killed.
    void started(process const& p) { ++balance(p); }
    void ended(process const& p) { --balance(p); }

private:
    friend class watched;

    // A request to take over a lease, under a new value.
    struct adoption {
        std::size_t process;
        std::string key;
        token_number guard;
        std::string value;
    };

    // An attempt, as far as messages tell.
    struct attempt {
        duration began{};
        std::string name{};
        token_number reserved{1};
        bool reads{false};
        bool of_permits{false};  // then the name is that of all slots, and each event is about some
        struct event {
            token_number token;
            std::uint32_t servers;  // that confirmed it, a bit each
            std::string slots{};
        };
        std::vector<event> confirmed{};
        token_number guard{0};  // the largest that an extension was executed with
        std::map<token_number, std::uint32_t> climbs{};  // to that guard, and the servers that granted it, a bit each
    };
    // The tokens of a lease. What one hold passes on are leases of their own, with tokens of their own, of one attempt.
    struct owned {
        std::string by;
        token_number first;
        token_number last;
        bool reads;
        duration began;  // its attempt
        duration completed;  // at the latest
    };
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
    // What a lock protects. It keeps the largest token of a writer and that of a reader.
    struct resource {
        token_number token{0};
        std::string writer;
        token_number readers{0};
        redlock::fence guard{};  // the library's own, which must say the same
    };

    friend class place;

    bool valid(watched const& w);
    bool valid(std::size_t process, lease const& held);
    void check_max_hold(watched const& w);
    void confirm_event(server& s, detail::command const& c, token_number token);
    void check_turn(watched const& w);
    void check_waiting();
    void check_slots();
    bool is_needed(std::string const& slot, std::string const& value) const;
    void check_release(process const& p, detail::command const& c);
    void check_guard(detail::command const& extension);
    void note_adoption(process const& p, detail::command const& c);
    std::string value_of(watched const& w, ticket const& adopted) const;
    std::string find_value(watched& w) const;  // of readers, also whether it is sure
    std::string most_stored(watched const& w) const;
    watched const* find_outer(watched const& w) const;
    void check_permits(watched const& a, watched const& b);
    bool share_a_hold(watched const& a, watched const& b) const noexcept;
    void compare_tokens(std::string const& name, owned const& mine);
    void note_side(watched& w);
    void a_writer_comes_or_goes(watched const& w);
    bool is_kept_out(place const& who, server& s) const;
    bool keeps(server& s, watched const& w, std::string const& name, token_number guard) const;
    std::string value_by_token(watched& w) const;
    std::size_t servers_that_gave(attempt const& a, watched const& w) const;
    duration first_of_readers(watched const& w) const;
    token_number guard_of(std::string const& value) const;
    void take_down_tokens(watched& w);
    void check_proof(watched const& w);
    std::size_t can_be_extended(watched const& w);

    int& balance(process const& p)
    {
        if (open_.size() <= p.index()) open_.resize(p.index() + 1);
        return open_[p.index()];
    }

    unseen_leases& unseen(process const& p) { return unseen_[p.index()]; }

    universe& universe_;
    assumptions assumes_;
    std::vector<watched*> leases_;
    std::unordered_map<std::string, attempt> attempts_;  // by value
    std::map<std::string, std::vector<owned>> tokens_;  // by name
    std::map<std::string, resource> resources_;  // by name
    std::map<std::string, duration> writers_moved_;  // by name: when one was granted something, had it, left it or gave up last
    std::map<std::pair<std::size_t, std::string>, turn> turns_;  // by process and name
    std::map<std::size_t, unseen_leases> unseen_;
    std::vector<place*> in_line_;  // who asked first is first
    std::map<std::tuple<std::size_t, std::string, std::string>, duration>
        slots_left_;  // by server, slot and value: since when nobody needs it
    std::vector<std::string> excused_;
    std::set<std::string> detached_;  // values
    std::set<std::string> adopted_;  // tickets
    std::map<std::string, int> tried_;  // tickets
    std::vector<adoption> adoptions_;
    std::unordered_map<std::string, token_number> guards_;  // of adopted leases, by value
    std::optional<std::string> verdict_;
    std::vector<int> open_;  // operations, for each process
};

}  // namespace redlock::simulation

#endif
