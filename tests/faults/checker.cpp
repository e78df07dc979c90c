#include "checker.hpp"

#include "timing.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace redlock::faults {
namespace {

// One name of a lease, and what its holder believed.
struct belief {
    lease_record const* lease;
    moment from;
    moment until;
};

using beliefs = std::map<std::string, std::vector<belief>>;

std::string describe(lease_record const& l)
{
    std::string const who = l.reads ? l.worker + ", who reads," : l.worker;
    return who + (l.fenced ? " with token " + std::to_string(l.token) : " without a token");
}

std::string describe(write_record const& w)
{
    return w.worker + (w.reads ? "'s look at " : "'s write of ") + w.name + " = " + std::to_string(w.value) + " with token " +
           std::to_string(w.token);
}

beliefs by_name(history const& what)
{
    beliefs all;
    for (auto const& worker : what.workers) {
        for (auto const& lease : worker.leases) {
            for (auto const& name : lease.names) all[name].push_back({&lease, lease.held, believed_until(lease, worker)});
        }
    }
    for (auto& [name, list] : all) std::ranges::sort(list, {}, &belief::from);
    return all;
}

// All slots of each semaphore together. Whoever has a slot as a lock knows nothing of the others.
beliefs by_semaphore(beliefs const& of_slots)
{
    beliefs all;
    for (auto const& [slot, list] : of_slots) {
        auto const end = slot.find('#');
        if (end == slot.npos) continue;
        auto& of_all = all[slot.substr(0, end)];
        of_all.insert(of_all.end(), list.begin(), list.end());
    }
    for (auto& [name, list] : all) std::ranges::sort(list, {}, &belief::from);
    return all;
}

class judgement {
public:
    explicit judgement(history const& what) : what_{what}, beliefs_{by_name(what)} {}

    verdict pass()
    {
        order_of_writes();
        acknowledged_writes();
        refused_writes();
        for (auto const& [name, list] : beliefs_) {
            unique_tokens(name, list);
            rising_tokens(name, list);
            overlaps(name, list);
        }
        for (auto const& [semaphore, list] : by_semaphore(beliefs_)) at_most_so_many(semaphore, list);
        return std::move(found_);
    }

private:
    void violation(moment at, std::string text) { found_.violations.push_back({at, std::move(text)}); }

    // Whether an assumption that such locks are built on did not hold when it led to two owners at `at`. Whoever believes in a lease at that
    // time was granted it by a majority no longer than a ttl ago. So the node that both majorities share granted both within that
    // time, and forgot the first in between.
    bool excused(bool fenced, moment at) const
    {
        return std::ranges::any_of(what_.faults, [&](fault_record const& f) {
            auto const broken = traits(f.what.kind).assumptions;
            return broken != breaks::nothing && (broken == breaks::all_locks || !fenced) && f.injected <= at &&
                   at - on_servers.ttl <= f.healed;
        });
    }

    void overlap(bool fenced, moment at, std::string text)
    {
        (excused(fenced, at) ? found_.overlaps_outside : found_.overlaps).push_back({at, std::move(text)});
    }

    void order_of_writes()
    {
        struct state {
            std::uint64_t writer{0};  // the largest token
            std::uint64_t reader{0};
            std::uint64_t value{0};
        };
        std::map<std::string, state> names;
        for (auto const& w : what_.writes) {
            if (!w.accepted()) continue;
            auto& last = names[w.name];
            if (w.token < last.writer) violation(w.at, describe(w) + " was accepted after token " + std::to_string(last.writer));
            if (!w.reads && w.token <= last.reader && last.reader > 0)
                violation(w.at, describe(w) + " was accepted after a reader with token " + std::to_string(last.reader));
            if (w.value != last.value + (w.reads ? 0 : 1))
                violation(w.at, describe(w) + " was accepted after the value " + std::to_string(last.value));
            auto& seen = w.reads ? last.reader : last.writer;
            seen = std::max(seen, w.token);
            last.value = w.value;
        }
    }

    void acknowledged_writes()
    {
        using key = std::tuple<std::string, std::uint64_t, std::uint64_t>;
        std::set<key> accepted;
        for (auto const& w : what_.writes)
            if (w.accepted() && !w.reads) accepted.emplace(w.name, w.token, w.value);
        for (auto const& worker : what_.workers) {
            for (auto const& w : worker.acknowledged)
                if (!accepted.contains(key{w.name, w.token, w.value})) violation(w.at, describe(w) + " was acknowledged, and is lost");
        }
    }

    // Whoever holds a valid lease has the largest token, and nobody else writes.
    void refused_writes()
    {
        for (auto const& w : what_.writes) {
            if (w.accepted()) continue;
            auto const& list = beliefs_[w.name];
            bool const valid = std::ranges::any_of(list, [&](belief const& b) {
                auto const& l = *b.lease;
                return l.fenced && l.token == w.token && l.worker == w.worker && l.reads == w.reads && b.from <= w.at && w.at < b.until;
            });
            if (valid) overlap(true, w.at, describe(w) + " was refused as " + w.answer + " while its lease was valid");
        }
    }

    void unique_tokens(std::string const& name, std::vector<belief> const& list)
    {
        std::map<std::uint64_t, lease_record const*> seen;
        for (auto const& b : list) {
            if (!b.lease->fenced || b.lease->downgraded) continue;
            auto const [other, fresh] = seen.emplace(b.lease->token, b.lease);
            if (fresh || (other->second->reads && b.lease->reads)) continue;
            violation(b.from, name + ": one token for " + describe(*other->second) + " and " + describe(*b.lease));
        }
    }

    void rising_tokens(std::string const& name, std::vector<belief> const& list)
    {
        std::vector<belief> asked;
        for (auto const& b : list)
            if (b.lease->fenced) asked.push_back(b);
        auto const held = asked;  // in the order in which they were acquired
        std::ranges::sort(asked, [](belief const& a, belief const& b) { return a.lease->asked < b.lease->asked; });
        lease_record const* writer = nullptr;  // with the largest token of those that were held before
        lease_record const* reader = nullptr;
        auto next = held.begin();
        for (auto const& b : asked) {
            for (; next != held.end() && next->from < b.lease->asked; ++next) {
                auto& largest = next->lease->reads ? reader : writer;
                if (largest == nullptr || next->lease->token > largest->token) largest = next->lease;
            }
            for (auto const* before : {writer, b.lease->reads ? nullptr : reader}) {
                if (before == nullptr || b.lease->token > before->token || excused(true, before->held)) continue;
                violation(b.from, name + ": " + describe(*b.lease) + " asked after " + describe(*before) + " held it");
            }
        }
    }

    void overlaps(std::string const& name, std::vector<belief> const& list)
    {
        std::vector<belief> active;
        for (auto const& b : list) {
            std::erase_if(active, [&](belief const& a) { return a.until <= b.from; });
            if (b.until <= b.from) continue;
            for (auto const& a : active) {
                if (a.lease->reads && b.lease->reads) continue;
                overlap(a.lease->fenced && b.lease->fenced, b.from,
                        name + ": " + describe(*b.lease) + " while " + describe(*a.lease) + " held it, for " +
                            std::to_string(
                                std::chrono::duration_cast<std::chrono::microseconds>(std::min(a.until, b.until) - b.from).count()) +
                            " us");
            }
            active.push_back(b);
        }
    }

    // As many as there are, by whatever names. Says nothing of which slot is whose.
    void at_most_so_many(std::string const& semaphore, std::vector<belief> const& list)
    {
        std::uint32_t permits = 0;
        std::vector<belief> active;
        for (auto const& b : list) {
            if (b.lease->permits > 0 && permits > 0 && b.lease->permits != permits)
                violation(b.from, semaphore + ": " + describe(*b.lease) + " believes in " + std::to_string(b.lease->permits) +
                                      " permits, and others in " + std::to_string(permits));
            permits = std::max(permits, b.lease->permits);
            std::erase_if(active, [&](belief const& a) { return a.until <= b.from; });
            if (b.until > b.from) active.push_back(b);
            if (permits > 0 && active.size() > permits)
                overlap(true, b.from, semaphore + ": " + std::to_string(active.size()) + " permits are held of " + std::to_string(permits));
        }
    }

    history const& what_;
    beliefs beliefs_;
    verdict found_;
};

}  // namespace

moment believed_until(lease_record const& lease, worker_record const& worker)
{
    auto end = lease.valid_until;
    if (lease.over) end = std::min(end, *lease.over);
    else if (worker.killed) end = std::min(end, *worker.killed);
    return end;
}

verdict judge(history const& what) { return judgement{what}.pass(); }

}  // namespace redlock::faults
