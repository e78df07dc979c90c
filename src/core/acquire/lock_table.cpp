#include "core/acquire/lock_table.hpp"

#include "core/acquire/acquisitions.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <random>
#include <vector>

namespace redlock::detail {

namespace {

// The bounds of slot(). On a fast network the pauses of the scheduler are longer than an attempt, and order the competitors; on a slow network a
// head start must not become as long as a poll.
constexpr duration min_slot = std::chrono::microseconds{200};
constexpr duration max_slot = std::chrono::milliseconds{10};

// The nodes have too much to do when attempts take so many times as long as the fastest one, which met no other client. One of long ago says nothing: the
// network may be another one since.
constexpr int crowded = 32;
constexpr duration fastest_counts = std::chrono::milliseconds{500};

// Of a lease that this client may have beside others of the same lock; otherwise empty.
std::string_view key_beside_others(lease_record const& lease) noexcept
{
    return lease.reads() ? lease.what->first() : lease.what->counted_as();
}

}  // namespace

wait_queue& lock_table::make(resource_ptr const& what, time_point now)
{
    forget_old(now);
    auto const made = make_recycled<wait_queue>(*this, what, kind_of(*what), detail::find(leases_, *what));
    made->in_table.self = made;
    queues_.insert(made.get());
    return *made;
}

void lock_table::won(lease_record& lease, wait_queue* in, time_point now)
{
    if (auto const key = key_beside_others(lease); !key.empty()) {
        beside_others_.emplace(key, &lease);
        if (!in) in = find(lease.what->asked());
        if (in) in->won_beside_others(now);
        // Nobody finds a reader as the lease of the lock: each one has one of its own.
        if (lease.reads()) return void(lease.is_current = true);
        lease.turn() = {now, 0};
        in = nullptr;  // what was counted is a lock that somebody may wait for as such
    }
    bool const winner_waits = in != nullptr;
    if (!in) in = find(*lease.what);
    if (lease_record* const before = lease_of(*lease.what, in)) detach(*before);  // lost, or about to be: two cannot be valid
    leases_.insert(&lease);
    if (!lease.what->others().empty()) of_several_.push_back(&lease);
    lease.is_current = true;
    if (in) in->won(lease, winner_waits, now);
}

// Writers of this client that wait ask the nodes from now on, and leave their wish.
void lock_table::downgraded(lease_record& lease, time_point now)
{
    leases_.erase(&lease);
    beside_others_.emplace(key_beside_others(lease), &lease);
    if (wait_queue* const in = find(*lease.what); in && in->here() == &lease) in->vacated(lease, false, now);
}

void lock_table::vacated(lease_record& lease, bool released, time_point now)
{
    if (!lease.is_current) return;
    if (lease.reads()) return detach(lease);
    if (lease.what->is_of_slots()) return vacated_beside_others(lease, released, now);
    wait_queue* in = find(*lease.what);
    if (!in && released) in = &make(lease.what, now);
    detach(lease);
    if (in) in->vacated(lease, released, now);
}

void lock_table::vacated_beside_others(lease_record& lease, bool released, time_point now)
{
    resource_ptr const& asked = lease.what->shared_asked();
    wait_queue* in = find(*asked);
    if (!in && released) in = &make(asked, now);
    detach(lease);
    auto const keeps = in ? in->shared_from_this() : nullptr;
    if (in) in->vacated_beside_others(lease, released, now);
    // Those who want another number of them may have waited because too many were here.
    each_listed(asked->counted_as(), [&](wait_queue& l) {
        if (&l != in) l.consider(now);
    });
    if (wait_queue* const on_it = find(*lease.what); on_it && on_it->here() == &lease) on_it->vacated(lease, released, now);
}

void lock_table::detach(lease_record& lease) noexcept
{
    if (auto const key = key_beside_others(lease); !key.empty()) beside_others_.erase({key, &lease});
    lease.is_current = false;
    if (lease.reads()) return;
    leases_.erase(&lease);
    if (!lease.what->others().empty()) std::erase(of_several_, &lease);
}

bool lock_table::shares_a_name(resource const& a, resource const& b)
{
    auto const has = [&](std::string_view name) {
        auto const others = b.others();
        return b.first() == name || std::find(others.begin(), others.end(), name) != others.end();
    };
    auto const others = a.others();
    return has(a.first()) || std::any_of(others.begin(), others.end(), has);
}

void lock_table::retire(wait_queue& l, time_point now)
{
    if (!std::exchange(l.in_table.is_retiring, true)) retiring_.push_back(l.shared_from_this());
    forget_old(now);
}

// Removes old wait queues, two at the most: each call adds one at the most, so there is no backlog.
void lock_table::forget_old(time_point now)
{
    for (int i = 0; i < 2 && now >= oldest_kept_until_ && !retiring_.empty(); ++i) {
        wait_queue& oldest = *retiring_.front();
        bool const keeps = oldest.has_news(now);
        if (keeps && oldest.empty() && !oldest.here()) {
            oldest_kept_until_ = oldest.over_at();
            return;
        }
        oldest.in_table.is_retiring = false;
        auto const gone = std::move(retiring_.front());
        retiring_.pop_front();
        if (keeps || !oldest.empty()) continue;
        queues_.erase(&oldest);
        oldest.in_table.self.reset();
    }
}

void lock_table::list(wait_queue& l)
{
    if (std::exchange(l.in_table.is_listed, true)) return;
    by_key_.emplace(l.what->first(), &l);
    if (auto const key = l.what->counted_as(); !key.empty()) by_key_.emplace(key, &l);
    for (std::string const& name : l.what->watched()) by_key_.emplace(name, &l);
}

void lock_table::unlist(wait_queue& l) noexcept
{
    if (!std::exchange(l.in_table.is_listed, false)) return;
    auto const remove = [&](std::string_view key) {
        auto const [begin, end] = by_key_.equal_range(key);
        auto const it = std::find_if(begin, end, [&](auto const& e) { return e.second == &l; });
        assert(it != end);
        by_key_.erase(it);
    };
    remove(l.what->first());
    if (auto const key = l.what->counted_as(); !key.empty()) remove(key);
    for (std::string const& name : l.what->watched()) remove(name);
}

template <class F>
void lock_table::each_listed(std::string_view key, F f)
{
    if (by_key_.empty()) return;
    std::vector<std::shared_ptr<wait_queue>> found;  // `f` may list and unlist wait queues
    auto const [begin, end] = by_key_.equal_range(key);
    for (auto it = begin; it != end; ++it) found.push_back(it->second->shared_from_this());
    for (auto const& l : found)
        if (l->in_table.is_listed) f(*l);
}

template <class F>
void lock_table::each_listed(F f)
{
    std::vector<std::string_view> keys;
    for (auto const& listed : by_key_) keys.push_back(listed.first);
    std::sort(keys.begin(), keys.end());  // sorted, since the order of hashes differs between standard libraries
    std::vector<std::string> const owned{keys.begin(), std::unique(keys.begin(), keys.end())};
    for (std::string const& each : owned) each_listed(each, f);
}

void lock_table::on_changed(std::size_t node, std::string_view key, time_point now)
{
    auto const tell = [&](wait_queue& l) { l.changed(node, now); };
    key.empty() ? each_listed(tell) : each_listed(key, tell);
}

void lock_table::on_down(std::size_t node, time_point now)
{
    each_listed([&](wait_queue& l) { l.silent(node, now); });
}

void lock_table::freed_by_us(resource const& what, quorum::node_set const& on, wait_queue const* busy, time_point now)
{
    auto const tell = [&](wait_queue& l) {
        for (std::size_t node = 0; node < env_.to_nodes->nodes(); ++node)
            if (on.has(node)) l.freed_by_us(node, now);
        if (&l != busy) l.consider(now);
    };
    each_listed(what.first(), tell);
    for (std::string const& name : what.others()) each_listed(name, tell);
}

// A time that is much longer than the others counts for little: the process may have been paused.
void lock_table::observe_round_trip(duration round_trip, time_point now) noexcept
{
    if (now - fastest_since_ >= fastest_counts) {
        fastest_before_ = now - fastest_since_ < 2 * fastest_counts ? fastest_ : round_trip;
        fastest_ = round_trip;
        fastest_since_ = now;
    }
    fastest_ = std::min(fastest_, round_trip);
    round_trip_ = (round_trip_ * 7 + std::min(round_trip, 4 * round_trip_)) / 8;
}

bool lock_table::nodes_are_crowded() const noexcept { return round_trip_ > crowded * std::min(fastest_, fastest_before_); }

double lock_table::chance() { return std::uniform_real_distribution<double>{}(env_.jitter); }

std::size_t lock_table::random_below(std::size_t n) { return std::min(static_cast<std::size_t>(chance() * static_cast<double>(n)), n - 1); }

duration lock_table::slot() const noexcept { return std::clamp<duration>(2 * round_trip_, min_slot, max_slot); }

void lock_table::clear() noexcept
{
    by_key_.clear();
    retiring_.clear();
    leases_.clear();
    beside_others_.clear();
    of_several_.clear();
    for (wait_queue* const each : std::exchange(queues_, {})) {
        auto const last = std::move(each->in_table.self);
        each->in_table.is_listed = false;
        each->abandon();
    }
}

}  // namespace redlock::detail
