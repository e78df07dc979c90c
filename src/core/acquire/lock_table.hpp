// The table of a client's wait queues and leases, found by the names of their locks. `acquisitions` owns it.
//
// Most leases have no wait queue: it exists only while an acquisition waits, or while contention by other clients is recorded. A lock of several
// names has a wait queue of its own, which competes on the nodes with the wait queues of the single names.
#ifndef REDLOCK_CORE_ACQUIRE_LOCK_TABLE_HPP
#define REDLOCK_CORE_ACQUIRE_LOCK_TABLE_HPP

#include "base/name_table.hpp"
#include "core/acquire/wait_queue.hpp"
#include "core/environment.hpp"
#include "core/lease/lease_record.hpp"

#include <redlock/detail/resource.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace redlock::detail {

class acquisitions;

class lock_table {
public:
    lock_table(environment& env, acquisitions& owner, lock_kinds all) : env_{env}, owner_{owner}, kinds_{all} {}
    ~lock_table() { clear(); }

    wait_queue* find(resource const& what) const noexcept { return detail::find(queues_, what); }
    wait_queue& make(resource_ptr const& what, time_point now);  // precondition: there is none

    // The lease that this client has of the lock, or null. `in`: the wait queue of the lock, or null.
    lease_record* lease_of(resource const& what, wait_queue const* in) const noexcept
    {
        return in ? in->here() : detail::find(leases_, what);
    }

    // Calls `f` for each lease that shares some names with `what`, but not all. At least one of the two has several names.
    template <class F>
    void each_overlapping(resource const& what, F f) const
    {
        for (lease_record const* const lease : of_several_)
            if (shares_a_name(*lease->what, what)) f(*lease);
        if (!what.others().empty()) each_of_one_name(what, f);
    }

    // Calls `f` for each lease of this client that has the name among its names: the exclusive ones, and those of readers.
    template <class F>
    void each_on(std::string_view key, F f) const
    {
        for (lease_record* const lease : of_several_)
            if (shares_a_name(*lease->what, resource{key})) f(*lease);
        each_of_one_key(key, f);
        each_reader_of(resource{key}, f);
    }

    // Calls `f` for each lease to read one of the names.
    template <class F>
    void each_reader_of(resource const& what, F f) const
    {
        each_beside_others(what.first(), f);
        for (std::string const& name : what.others()) each_beside_others(name, f);
    }

    // The wait queue of the acquisitions that want the lease next, or null.
    wait_queue* behind(lease_record const& lease) const noexcept { return lease.is_current ? find(lease.what->asked()) : nullptr; }

    // Calls `f` for each lease of this client that it may have beside others: those to read, by their name, and those that are counted, by
    // resource::counted_as().
    template <class F>
    void each_beside_others(std::string_view key, F f) const
    {
        for (auto it = beside_others_.lower_bound({key, nullptr}); it != beside_others_.end() && it->first == key; ++it) f(*it->second);
    }
    bool has_any_beside_others() const noexcept { return !beside_others_.empty(); }

    // The kind of a lock; null: it is exclusive.
    lock_kind const* kind_of(resource const& what) const noexcept { return kinds_.of(what); }

    // A lease was won on the nodes. `in`: the wait queue whose first acquisition won it; null if that acquisition waited in none.
    void won(lease_record& lease, wait_queue* in, time_point now);

    // The lease is lost, or its release is on the way to the nodes.
    void vacated(lease_record& lease, bool released, time_point now);

    // The holder of the lease is about to become a reader.
    void downgraded(lease_record& lease, time_point now);

    // A node tells that a key has changed. An empty key: any key may have.
    void on_changed(std::size_t node, std::string_view key, time_point now);

    // The connection to a node is lost.
    void on_down(std::size_t node, time_point now);

    // This client itself frees keys on the nodes `on`; the nodes do not tell a client of its own changes. The wait queues for these keys consider at
    // once what to do next, except `busy`, whose caller does that itself (null: no exception).
    void freed_by_us(resource const& what, quorum::node_set const& on, wait_queue const* busy, time_point now);

    // Tells how long an attempt took that was decided at `now`.
    void observe_round_trip(duration round_trip, time_point now) noexcept;
    // The unit of head starts between competing clients: the time of about two attempts.
    duration slot() const noexcept;
    // Attempts take so much longer than the fastest of the last moments that the nodes have too much to do.
    bool nodes_are_crowded() const noexcept;

    // A random number between 0 and 1.
    double chance();
    // One of 0 … n - 1. Precondition: n is not 0.
    std::size_t random_below(std::size_t n);

    // The client stops: no lock is acquired any more.
    void close() noexcept { closed_ = true; }
    void clear() noexcept;
    bool is_closed() const noexcept { return closed_; }

    // Called by wait queues. A listed one is told of changes of its keys; one that retires is empty, and is removed when what it has recorded is old.
    void list(wait_queue& l);
    void unlist(wait_queue& l) noexcept;
    void retire(wait_queue& l, time_point now);

    environment& env() const noexcept { return env_; }
    acquisitions& owner() const noexcept { return owner_; }

private:
    void forget_old(time_point now);
    void detach(lease_record& lease) noexcept;
    void vacated_beside_others(lease_record& lease, bool released, time_point now);
    static bool shares_a_name(resource const& a, resource const& b);

    // Calls `f` for the leases of locks that have just one of the names.
    template <class F>
    void each_of_one_name(resource const& what, F f) const
    {
        each_of_one_key(what.first(), f);
        for (std::string const& name : what.others()) each_of_one_key(name, f);
    }
    template <class F>
    void each_of_one_key(std::string_view key, F f) const
    {
        if (lease_record* const lease = detail::find(leases_, resource{key})) f(*lease);
    }

    template <class F>
    void each_listed(std::string_view key, F f);
    template <class F>
    void each_listed(F f);

    environment& env_;
    acquisitions& owner_;
    lock_kinds const kinds_;
    name_table<wait_queue> queues_;
    name_table<lease_record> leases_;  // the leases that this client has
    std::vector<lease_record*> of_several_;  // those of leases_ whose locks have several names
    std::set<std::pair<std::string_view, lease_record*>> beside_others_;  // one key may have thousands
    std::unordered_multimap<std::string_view, wait_queue*> by_key_;  // the wait queues that are told of changes
    std::deque<std::shared_ptr<wait_queue>> retiring_;  // empty wait queues, the oldest first
    time_point oldest_kept_until_{};  // until then the first of retiring_ stays, and the others behind it
    duration round_trip_{std::chrono::milliseconds{1}};  // of an attempt, smoothed
    duration fastest_{std::chrono::milliseconds{100}};  // of the attempts since `fastest_since_`
    duration fastest_before_{fastest_};  // of those of the time before
    time_point fastest_since_{};
    bool closed_{false};
};

}  // namespace redlock::detail

#endif
