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
    lock_table(environment& env, acquisitions& owner) : env_{env}, owner_{owner} {}
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
        auto const visit = [&](std::string_view key) {
            for (auto it = readers_.lower_bound({key, nullptr}); it != readers_.end() && it->first == key; ++it) f(*it->second);
        };
        visit(what.first());
        for (std::string const& name : what.others()) visit(name);
    }
    bool has_readers() const noexcept { return !readers_.empty(); }

    // The wait queue of the acquisitions that want the lease next, or null. Of permits, it is that of the semaphore, and of as many permits.
    wait_queue* behind(lease_record const& lease) const noexcept
    {
        if (!lease.is_current) return nullptr;
        return find(lease.what->is_of_slots() ? *lease.what->permits() : *lease.what);
    }

    // Calls `f` for each lease of this client on permits of the semaphore. `record`: the key of its number of permits.
    template <class F>
    void each_of_permits(std::string_view record, F f) const
    {
        auto const [begin, end] = permits_.equal_range(record);
        for (auto it = begin; it != end; ++it) f(*it->second);
    }

    // Whether this client itself has so many permits that too few are left for what is wanted. Always false of what is not for permits.
    bool has_too_many_permits_for(resource const& wanted) const { return !permits_.empty() && leaves_too_few(wanted); }

    // How many permits of the semaphore this client has.
    std::size_t permits_here(permit_pool const& of) const;

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
    bool leaves_too_few(resource const& wanted) const;
    void forget_old(time_point now);
    void detach(lease_record& lease) noexcept;
    void add_reader(lease_record& lease);
    void won_permits(lease_record& lease, wait_queue* in, time_point now);
    void vacated_permits(lease_record& lease, bool released, time_point now);
    void tell_others(permit_pool const& of, wait_queue const* but, time_point now);
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
    name_table<wait_queue> queues_;
    name_table<lease_record> leases_;  // the leases that this client has
    std::vector<lease_record*> of_several_;  // those of leases_ whose locks have several names
    std::set<std::pair<std::string_view, lease_record*>> readers_;  // the leases to read, by their key: one may have thousands
    std::unordered_multimap<std::string_view, lease_record*> permits_;  // the leases on permits, by the key of the semaphore's record
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
