// The lines of a client, and the leases that it has: both by their names.
//
// Where nobody waits and there is nothing to remember of others, a lease needs no line: most have none. Locks of several names have lines
// of their own: against other lines they compete on the nodes.
#ifndef REDLOCK_CORE_LINES_HPP
#define REDLOCK_CORE_LINES_HPP

#include "core/environment.hpp"
#include "core/hold.hpp"
#include "core/line.hpp"
#include "core/name_table.hpp"

#include <redlock/detail/resource.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace redlock::detail {

class acquisitions;

class lines {
public:
    lines(environment& env, acquisitions& owner) : env_{env}, owner_{owner} {}
    ~lines() { clear(); }

    line* find(resource const& what) const noexcept { return all_.find(what); }
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
    name_table<line> all_;
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
