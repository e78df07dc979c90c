#include "core/lines.hpp"

#include "core/acquisitions.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <random>
#include <vector>

namespace redlock::detail {

namespace {

// The bounds of what is taken for one attempt's time: a crowd on a fast network is ordered by the scheduler's pauses, and a slow network
// must not make a head start as long as a poll.
constexpr duration slot_min = std::chrono::microseconds{200};
constexpr duration slot_max = std::chrono::milliseconds{10};

// When attempts take so many times as long as one that met nobody, the nodes have more to do than is good.
constexpr int crowded = 32;

}  // namespace

line& lines::make(std::shared_ptr<resource const> const& what, time_point now)
{
    forget_old(now);
    auto const made = make_recycled<line>(*this, what, leases_.find(*what));
    made->self_ = made;
    all_.add(*made);
    return *made;
}

void lines::won(hold& lease, line* in, time_point now)
{
    if (!in) in = find(*lease.what);
    if (hold* const before = lease_of(*lease.what, in)) leave(*before);  // lost, or about to be: two cannot be held
    leases_.add(lease);
    lease.is_current = true;
    if (in) in->won(lease, now);
}

void lines::vacated(hold& lease, bool released, time_point now)
{
    if (!lease.is_current) return;
    line* in = find(*lease.what);
    if (!in && released) in = &make(lease.what, now);
    leave(lease);
    if (in) in->vacated(lease, released, now);
}

void lines::leave(hold& lease) noexcept
{
    leases_.remove(lease);
    lease.is_current = false;
}

void lines::retire(line& l, time_point now)
{
    if (!std::exchange(l.retiring_, true)) retiring_.push_back(l.shared_from_this());
    forget_old(now);
}

// A few at a time: each call brings at most one.
void lines::forget_old(time_point now)
{
    for (int i = 0; i < 2 && now >= oldest_kept_until_ && !retiring_.empty(); ++i) {
        line& oldest = *retiring_.front();
        bool const keeps = oldest.has_news(now);
        if (keeps && oldest.empty() && !oldest.here_) {
            oldest_kept_until_ = oldest.turn_.over_at();
            return;
        }
        oldest.retiring_ = false;
        auto const gone = std::move(retiring_.front());
        retiring_.pop_front();
        if (keeps || !oldest.empty()) continue;
        all_.remove(oldest);
        oldest.self_.reset();
    }
}

void lines::list(line& l)
{
    if (std::exchange(l.listed_, true)) return;
    by_key_.emplace(l.what->first(), &l);
    for (std::string const& name : l.what->others()) by_key_.emplace(name, &l);
}

void lines::unlist(line& l) noexcept
{
    if (!std::exchange(l.listed_, false)) return;
    auto const remove = [&](std::string_view key) {
        auto const [begin, end] = by_key_.equal_range(key);
        auto const it = std::find_if(begin, end, [&](auto const& e) { return e.second == &l; });
        assert(it != end);
        by_key_.erase(it);
    };
    remove(l.what->first());
    for (std::string const& name : l.what->others()) remove(name);
}

template <class F>
void lines::each_listed(std::string_view key, F f)
{
    if (by_key_.empty()) return;
    std::vector<std::shared_ptr<line>> found;  // what they do may change the list
    auto const [begin, end] = by_key_.equal_range(key);
    for (auto it = begin; it != end; ++it) found.push_back(it->second->shared_from_this());
    for (auto const& l : found)
        if (l->listed_) f(*l);
}

template <class F>
void lines::each_listed(F f)
{
    std::vector<std::string_view> keys;
    for (auto const& listed : by_key_) keys.push_back(listed.first);
    std::sort(keys.begin(), keys.end());  // not in the order of hashes, which differs between libraries
    std::vector<std::string> const owned{keys.begin(), std::unique(keys.begin(), keys.end())};
    for (std::string const& each : owned) each_listed(each, f);
}

void lines::on_changed(std::size_t node, std::string_view key, time_point now)
{
    auto const tell = [&](line& l) { l.changed(node, now); };
    key.empty() ? each_listed(tell) : each_listed(key, tell);
}

void lines::on_down(std::size_t node, time_point now)
{
    each_listed([&](line& l) { l.silent(node, now); });
}

void lines::freed_by_us(resource const& what, std::uint16_t on, line const* busy, time_point now)
{
    auto const tell = [&](line& l) {
        for (std::size_t node = 0; node < env_.to_nodes->nodes(); ++node)
            if (on >> node & 1u) l.freed_by_us(node, now);
        if (&l != busy) l.consider(now);
    };
    each_listed(what.first(), tell);
    for (std::string const& name : what.others()) each_listed(name, tell);
}

// One that is much longer than the others says little: the process may have been paused.
void lines::took(duration round_trip) noexcept
{
    fastest_ = std::min(fastest_, round_trip);
    round_trip_ = (round_trip_ * 7 + std::min(round_trip, 4 * round_trip_)) / 8;
}

bool lines::nodes_are_crowded() const noexcept { return round_trip_ > crowded * fastest_; }

double lines::chance() { return std::uniform_real_distribution<double>{}(env_.jitter); }

duration lines::slot() const noexcept { return std::clamp<duration>(2 * round_trip_, slot_min, slot_max); }

void lines::clear() noexcept
{
    by_key_.clear();
    retiring_.clear();
    leases_.clear();
    all_.clear_and_dispose([](line& each) {
        auto const last = std::move(each.self_);
        each.listed_ = false;
        each.queue_.clear();
    });
}

}  // namespace redlock::detail
