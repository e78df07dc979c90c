// Who waits for a lock within this client, and when the first of them asks for it.
//
// Waiters for the same resource form a line. Only the first talks to the nodes; a lease that is released goes to the next one
// without them. A line also keeps what its client has seen of others who want the lock (quorum/turn.hpp), for a while after it
// has become empty. Where that is nothing, and nobody waits, a lease needs no line: most have none. Locks of several names have lines
// of their own: against other lines they compete on the nodes.
#ifndef REDLOCK_CORE_LINES_HPP
#define REDLOCK_CORE_LINES_HPP

#include "core/acquisition.hpp"
#include "core/environment.hpp"
#include "core/hold.hpp"
#include "core/name_table.hpp"
#include "quorum/patience.hpp"
#include "quorum/per_node.hpp"
#include "quorum/turn.hpp"

#include <redlock/detail/resource.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redlock::detail {

class acquisitions;
class attempt;
class lines;

class line final : public alarm, public std::enable_shared_from_this<line> {
public:
    // `lease`: that this client has of it; may be null.
    line(lines& in, std::shared_ptr<resource const> what, hold* lease);
    ~line();

    void join(acquisition& who, time_point now);
    void leave(acquisition& who);
    bool empty() const noexcept { return queue_.empty(); }
    acquisition& first() noexcept { return queue_.front(); }
    acquisition const& first() const noexcept { return queue_.front(); }
    std::vector<std::shared_ptr<acquisition>> waiting_for(owner_id owner);

    // The lease that this client has of it, if it has one.
    hold* here() const noexcept { return here_; }

    // A lease was won on the nodes.
    void won(hold& lease, time_point now);

    // Whether it may be passed on to the next in the line.
    bool may_hand_over(hold const& lease, time_point now) const;
    void handed_over() noexcept { turn_.handed_over(); }

    // It is not here any more.
    void vacated(hold& lease, bool released, time_point now);

    // The attempt of the first was not won.
    void failed(attempt const& lost, time_point now);

    // A key has changed on a node.
    void changed(std::size_t node, time_point now);

    // This client itself is about to free a key on a node.
    void freed_by_us(std::size_t node, time_point now);

    // The connection to a node is lost, and with it what was asked for there.
    void silent(std::size_t node, time_point now);

    void on_alarm(time_point now) override;

    std::shared_ptr<resource const> const what;

private:
    friend class lines;
    class look;

    // What is known of others who have the lock, in the wait of the first.
    struct contest {
        explicit contest(std::size_t nodes, std::uint64_t n) : patience{nodes}, freed{nodes}, number{n} {}

        quorum::patience patience;
        quorum::per_node<std::uint32_t> freed;        // how often by this client itself
        std::uint64_t number;                         // of all of this line
        time_point expires{};                         // the last key, as the last look says
        std::optional<duration> left_when_extended{}; // how much before that the holder extended, the last time that it was seen to
        duration left{};                              // the same, at the race under way
        bool racing{false};                           // the attempt under way was made because a majority had become free
        bool looked{false};                           // the nodes were asked how long they keep the key
        bool napped{false};                           // and has not looked since
    };

    contest& contest_now();
    void consider(time_point now);
    void act(time_point now);
    void look_again(time_point now);
    bool looks_like_an_extension(contest const& with, time_point now) const noexcept;
    void ask_how_long(std::shared_ptr<attempt> const& along_with);
    void on_look(look const& asked, std::size_t node, reply const& answer, time_point now);
    bool has_news(time_point now) const noexcept;

    lines& in_;
    acquisition::list<hook_of_line> queue_;
    hold* here_{nullptr};
    std::unique_ptr<contest> contest_;  // none: as far as is known, nobody has it
    std::uint64_t contests_{0};
    quorum::turn turn_;
    quorum::token_number seen_{0};  // the largest counter in a refusal: another one, another holder
    bool listed_{false};            // in lines::by_key_
    bool retiring_{false};          // in lines::retiring_
};

class lines {
public:
    lines(environment& env, acquisitions& owner) : env_{env}, owner_{owner} {}

    line* find(resource const& what) const noexcept;
    line& make(std::shared_ptr<resource const> const& what, time_point now);  // precondition: there is none

    // The lease that this client has of it, if it has one. `in`: its line, if there is one.
    hold* lease_of(resource const& what, line const* in) const noexcept { return in ? in->here() : leases_.find(what); }

    // The line of those who want the lease next, if there is one.
    line* behind(hold const& lease) const noexcept { return lease.is_current ? find(*lease.what) : nullptr; }

    // A lease was won on the nodes. `in`: the line whose first has won it; null: somebody who stood in none.
    void won(hold& lease, line* in, time_point now);

    // The lease is lost, or its release is on the way to the nodes.
    void vacated(hold& lease, bool released, time_point now);

    // A node tells of a change; empty: of any key.
    void on_changed(std::size_t node, std::string_view key, time_point now);

    void on_down(std::size_t node, time_point now);

    // This client itself frees keys, of which nodes tell it nothing. `on`: the nodes. `busy`: does not go on at once, if it is one of those
    // that wait for them.
    void freed_by_us(resource const& what, std::uint16_t on, line const* busy, time_point now);

    // What an attempt takes until it is decided.
    void took(duration round_trip) noexcept;
    duration slot() const noexcept;
    bool nodes_are_crowded() const noexcept;

    // Between 0 and 1.
    double chance();

    // Nobody acquires anything any more.
    void close() noexcept { closed_ = true; }
    void clear() noexcept;

private:
    friend class line;

    // With the hash beside it, nobody has to be asked for his.
    struct entry {
        explicit entry(resource const& of) noexcept : hash{of.hash()}, names{&of} {}

        friend bool operator==(entry const& a, entry const& b) noexcept { return a.hash == b.hash && *a.names == *b.names; }

        std::size_t hash;
        resource const* names;
    };
    struct hash {
        std::size_t operator()(entry const& of) const noexcept { return of.hash; }
    };

    void list(line& l);
    void unlist(line& l) noexcept;
    void retire(line& l, time_point now);
    void forget_old(time_point now);
    void leave(hold& lease) noexcept;

    template <class F>
    void each_listed(std::string_view key, F f);
    template <class F>
    void each_listed(F f);

    environment& env_;
    acquisitions& owner_;
    std::unordered_map<entry, std::shared_ptr<line>, hash, std::equal_to<entry>, recycling<std::pair<entry const, std::shared_ptr<line>>>>
        all_;
    name_table<hold> leases_;  // that this client has
    std::unordered_multimap<std::string_view, line*> by_key_;  // those that want to know of changes
    std::deque<std::shared_ptr<line>> retiring_;
    time_point oldest_kept_until_{};  // the first of those, and with it the others
    duration round_trip_{std::chrono::milliseconds{1}};
    duration fastest_{std::chrono::milliseconds{100}};
    bool closed_{false};
};

}  // namespace redlock::detail

#endif
