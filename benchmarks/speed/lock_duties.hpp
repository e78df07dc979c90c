// The duties that a lock has and a baseline has not, each done in the cheapest way that this library knows.
#ifndef REDLOCK_BENCHMARKS_SPEED_LOCK_DUTIES_HPP
#define REDLOCK_BENCHMARKS_SPEED_LOCK_DUTIES_HPP

#include "workload.hpp"

#include "base/timer_queue.hpp"
#include "quorum/votes.hpp"

#include <redlock/config.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

// What a lock has to remember that a baseline does not: whose votes came from which node and how long they count, when to ask again and when to extend,
// which names are held, and handlers whose types it does not know. One record for an acquisition, its lease and its release.
class lock_duties {
public:
    struct record final : redlock::detail::timer {
        explicit record(std::uint32_t caller) : who{caller} {}
        void on_timer(redlock::detail::time_point) override { throw std::runtime_error{"an answer took longer than a quarter of the ttl"}; }

        std::uint32_t who;
        redlock::quorum::node_set granted, released;
        std::array<redlock::detail::time_point, redlock::max_nodes> counts_until{};
        std::atomic<std::int64_t> valid_until{0};  // read in other threads
        std::string_view name;
    };
    using lease = std::shared_ptr<record>;
    using acquired = asio::any_completion_handler<void(boost::system::error_code, lease)>;
    using released = asio::any_completion_handler<void(boost::system::error_code)>;

    explicit lock_duties(workload const& what)
        : nodes_{what.at.size()}, ttl_{what.ttl}, leases_(what.callers), acquired_(what.callers), released_(what.callers)
    {
        for (std::size_t i = 0; i < what.callers; ++i) keys_.push_back(what.key(i));
        requests_.resize(std::max<std::size_t>(1024, 8 * std::size_t{1} << (64 - __builtin_clzll(what.callers))));
    }

    lock_duties(lock_duties const&) = delete;
    lock_duties& operator=(lock_duties const&) = delete;

    // Records may outlive it: those of leases that are held by suspended coroutines.
    ~lock_duties() { timers_.clear(); }

    void acquire(std::uint32_t who, acquired handler)
    {
        auto r = redlock::detail::make_recycled<record>(who);
        r->name = keys_[who];
        if (!names_.try_emplace(r->name, r.get()).second) throw std::logic_error{"the name is held"};
        timers_.set(*r, now_ + ttl_ / 4);
        acquired_[who] = std::move(handler);
        add(r, true);
    }

    void release(lease held, released handler)
    {
        names_.erase(held->name);
        timers_.set(*held, now_ + ttl_ / 4);
        released_[held->who] = std::move(handler);
        add(held, false);
    }

    // The requests so far leave now.
    void sent() { sent_at_ = now_ = redlock::boot_clock::now(); }

    // The answer of a node to request number `index`.
    void on_vote(std::size_t node, std::uint64_t index)
    {
        request& asked = requests_[index & (requests_.size() - 1)];
        record& r = *asked.of;
        if (asked.acquires) {
            r.counts_until[node] = asked.sent + ttl_;
            r.granted.add(node);
            if (r.granted.size() == redlock::quorum::majority(nodes_)) take(r, asked.of);
        } else {
            r.released.add(node);
            if (r.released.size() == redlock::quorum::majority(nodes_)) timers_.cancel(r);
        }
        if (++asked.answers == nodes_) asked.of.reset();
    }

    // A part of a node's answer to TIME: seconds, then microseconds. Whether the clock was set meanwhile is seen when both are there.
    void on_time(std::size_t node, std::size_t depth, std::string_view digits)
    {
        if (depth == 0) return void(clocks_[node].parts = 0);
        std::int64_t number = 0;
        if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc{}) throw std::runtime_error{"no time"};
        clock& of = clocks_[node];
        if (of.parts++ == 0) return void(of.microseconds = number * 1'000'000);
        auto const ahead = of.microseconds + number - now_.time_since_epoch() / std::chrono::microseconds{1};
        if (of.ahead != 0 && ahead - of.ahead > ttl_ / std::chrono::microseconds{1}) throw std::runtime_error{"a node's clock was set"};
        of.ahead = ahead;
    }

    void complete(std::uint32_t who)
    {
        if (acquired_[who]) {
            auto handler = std::move(acquired_[who]);
            std::move(handler)(boost::system::error_code{}, std::move(leases_[who]));
        } else {
            auto handler = std::move(released_[who]);
            std::move(handler)(boost::system::error_code{});
        }
    }

private:
    // The same index as in baseline_callers.
    struct request {
        lease of;
        redlock::detail::time_point sent;
        std::size_t answers;
        bool acquires;
    };

    void add(lease const& r, bool acquires)
    {
        if (requests_[next_ & (requests_.size() - 1)].of) make_room();
        requests_[next_++ & (requests_.size() - 1)] = {r, sent_at_, 0, acquires};
    }

    // A node is so far behind that the ring is full.
    void make_room()
    {
        std::vector<request> larger(2 * requests_.size());
        for (std::uint64_t i = next_ - requests_.size(); i != next_; ++i)
            larger[i & (larger.size() - 1)] = std::move(requests_[i & (requests_.size() - 1)]);
        requests_ = std::move(larger);
    }

    // The majority has granted: the lease counts as long as a majority of the votes do.
    void take(record& r, lease const& as)
    {
        std::array<redlock::detail::time_point, redlock::max_nodes> ends;
        auto const last = std::copy_if(r.counts_until.begin(), r.counts_until.begin() + static_cast<std::ptrdiff_t>(nodes_), ends.begin(),
                                       [](auto t) { return t != redlock::detail::time_point{}; });
        auto const until = *std::min_element(ends.begin(), last);
        if (now_ >= until) throw std::runtime_error{"the votes came too late"};
        r.valid_until.store(until.time_since_epoch().count(), std::memory_order_release);
        timers_.set(r, until - ttl_ * 2 / 3);
        leases_[r.who] = as;
    }

    struct clock {
        int parts{0};
        std::int64_t microseconds{0};
        std::int64_t ahead{0};  // of this machine's; 0: not known yet
    };

    std::size_t nodes_;
    std::array<clock, redlock::max_nodes> clocks_{};
    redlock::detail::duration ttl_;
    redlock::detail::time_point now_{redlock::boot_clock::now()};
    redlock::detail::time_point sent_at_{now_};
    redlock::detail::timer_queue timers_;
    std::vector<std::string> keys_;
    boost::unordered_flat_map<std::string_view, record*> names_;
    std::vector<lease> leases_;
    std::vector<acquired> acquired_;
    std::vector<released> released_;
    std::vector<request> requests_;  // a ring, whose size is a power of two
    std::uint64_t next_{0};
};

}  // namespace bench

#endif
