// The wait queues of a client, and the leases that it has: both by their names.
//
// Where nobody waits and there is nothing to remember of others, a lease needs no wait queue: most have none. Locks of several names have wait queues
// of their own: against other wait queues they compete on the nodes.
#ifndef REDLOCK_ACQUIRE_LOCK_TABLE_HPP
#define REDLOCK_ACQUIRE_LOCK_TABLE_HPP

#include "acquire/wait_queue.hpp"
#include "base/name_table.hpp"
#include "client/environment.hpp"
#include "lease/lease_record.hpp"

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

class lock_table {
public:
    lock_table(environment& env, acquisitions& owner) : env_{env}, owner_{owner} {}
    ~lock_table() { clear(); }

    wait_queue* find(resource const& what) const noexcept { return detail::find(all_, what); }
    wait_queue& make(std::shared_ptr<resource const> const& what, time_point now);  // precondition: there is none

    // The lease that this client has of it, if it has one. `in`: its wait queue, if there is one.
    lease_record* lease_of(resource const& what, wait_queue const* in) const noexcept
    {
        return in ? in->here() : detail::find(leases_, what);
    }

    // The leases that have some of the names, and not the same ones: at least one of the two has several.
    template <class F>
    void each_overlapping(resource const& what, F f) const
    {
        for (lease_record const* const lease : of_several_)
            if (shares_a_name(*lease->what, what)) f(*lease);
        if (!what.others().empty()) each_of_one_name(what, f);
    }

    // The wait queue of those who want the lease next, if there is one.
    wait_queue* behind(lease_record const& lease) const noexcept { return lease.is_current ? find(*lease.what) : nullptr; }

    // A lease was won on the nodes. `in`: the wait queue whose first has won it; null: somebody who waited in none.
    void won(lease_record& lease, wait_queue* in, time_point now);

    // The lease is lost, or its release is on the way to the nodes.
    void vacated(lease_record& lease, bool released, time_point now);

    // A node tells of a change; empty: of any key.
    void on_changed(std::size_t node, std::string_view key, time_point now);

    void on_down(std::size_t node, time_point now);

    // This client itself frees keys, of which nodes tell it nothing. `on`: the nodes. `busy`: does not go on at once, if it is one of those
    // that wait for them.
    void freed_by_us(resource const& what, quorum::node_set const& on, wait_queue const* busy, time_point now);

    // What an attempt takes until it is decided.
    void observe_round_trip(duration round_trip) noexcept;
    duration slot() const noexcept;
    bool nodes_are_crowded() const noexcept;

    // Between 0 and 1.
    double chance();

    // Nobody acquires anything any more.
    void close() noexcept { closed_ = true; }
    void clear() noexcept;
    bool is_closed() const noexcept { return closed_; }

    // For its wait queues: one wants to know of changes of its keys, or no longer does; one is empty.
    void list(wait_queue& l);
    void unlist(wait_queue& l) noexcept;
    void retire(wait_queue& l, time_point now);

    environment& env() const noexcept { return env_; }
    acquisitions& owner() const noexcept { return owner_; }

private:
    void forget_old(time_point now);
    void detach(lease_record& lease) noexcept;
    static bool shares_a_name(resource const& a, resource const& b);

    // Those of the names' own locks.
    template <class F>
    void each_of_one_name(resource const& what, F f) const
    {
        auto const visit = [&](std::string const& key) {
            lease_record const* lease = detail::find(leases_, resource{key});
            if (!lease) lease = detail::find(leases_, resource{{key}, {}});  // whose key is not its name
            if (lease) f(*lease);
        };
        visit(std::string{what.first()});
        for (std::string const& name : what.others()) visit(name);
    }

    template <class F>
    void each_listed(std::string_view key, F f);
    template <class F>
    void each_listed(F f);

    environment& env_;
    acquisitions& owner_;
    name_table<wait_queue> all_;
    name_table<lease_record> leases_;  // that this client has
    std::vector<lease_record const*> of_several_;  // of those, the ones with several names
    std::unordered_multimap<std::string_view, wait_queue*> by_key_;  // those that want to know of changes
    std::deque<std::shared_ptr<wait_queue>> retiring_;
    time_point oldest_kept_until_{};  // the first of those, and with it the others
    duration round_trip_{std::chrono::milliseconds{1}};
    duration fastest_{std::chrono::milliseconds{100}};
    bool closed_{false};
};

}  // namespace redlock::detail

#endif
