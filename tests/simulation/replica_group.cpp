#include "replica_group.hpp"

#include "link.hpp"
#include "universe.hpp"

#include "protocol/group_binding.hpp"
#include "protocol/server_id.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace redlock::simulation {

replica_group::replica_group(universe& in, std::string name, std::vector<server*> members, duration max_delay)
    : universe_{in}, name_{std::move(name)}, views_(sentinels, view{1, 0}), max_delay_{max_delay}
{
    for (server* const s : members) members_.push_back({.is = s, .acknowledged = std::vector<std::uint64_t>(members.size())});
    for (std::size_t i = 0; i < members_.size(); ++i) {
        auto& s = *members_[i].is;
        rename(s);
        s.on_write = [this, i] { on_write(i); };
        s.replicate = [this, i](std::uint16_t replicas, duration patience, std::function<void(bool)> done) {
            replicate(i, replicas, patience, std::move(done));
        };
    }
    liar_ = in.chance.one_in(6);
}

void replica_group::begin_admitted(std::chrono::milliseconds max_ttl, testing::token_number high_water, std::uint16_t replicas)
{
    for (std::size_t i = 0; i < members_.size(); ++i) {
        auto& s = *members_[i].is;
        auto& memory = s.memory;
        memory.id = members_[0].is->memory.id;
        memory.master = i == 0;
        s.is_replica = i != 0;
        memory.record = testing::redis_model::node_record{detail::group_binding{replicas}.id_of(memory.id), high_water, max_ttl, {}};
        memory.high_water = high_water;
        if (i == 0) continue;
        members_[i].follows = 0;
        members_[i].in_step = true;
    }
}

std::size_t replica_group::member_of(detail::group_member const& named) const { return named.port; }  // as ask_sentinels() names it

std::vector<detail::sentinel_report> replica_group::ask_sentinels(process const& by)
{
    using outcome = detail::sentinel_report::outcome;
    auto const as_named = [this](std::size_t i) { return detail::group_member{name_, static_cast<std::uint16_t>(i)}; };
    std::vector<detail::sentinel_report> all;
    std::vector<std::size_t> named;
    for (std::size_t i = 0; i < views_.size(); ++i) {
        auto& r = all.emplace_back();
        r.sentinel = name_ + "-sentinel" + std::to_string(i);
        bool const client_is_apart = by.index() < clients_apart_.size() && clients_apart_[by.index()];
        bool const sentinel_is_apart = sentinel_apart_ && i == 0;
        if (!clients_apart_.empty() && client_is_apart != sentinel_is_apart) continue;  // they cannot reach each other
        if (universe_.chance.one_in(8)) continue;
        r.is = outcome::answered;
        auto seen = views_[i];
        if (liar_ && i == views_.size() - 1 && universe_.chance.one_in(2))
            seen = {seen.epoch + universe_.chance.below(3), universe_.chance.below(members_.size())};
        r.view = {seen.epoch, as_named(seen.primary), {}, {}};
        for (std::size_t m = 0; m < members_.size(); ++m) r.view.servers.push_back(as_named(m));
        named.push_back(seen.primary);
    }
    if (std::adjacent_find(named.begin(), named.end(), std::not_equal_to<>{}) != named.end()) ++universe_.covered->sentinels_disagreed;
    return all;
}

duration replica_group::lag() { return universe_.chance.between(1us, max_delay_ + 2us); }

void replica_group::on_write(std::size_t from)
{
    member& p = members_[from];
    if (!p.is->memory.master) return;
    if (from != newest_) ++universe_.covered->old_primary_voted;
    ++p.offset;
    auto copy = std::make_shared<testing::redis_model>(p.is->memory);
    copy->on_change = nullptr;
    for (std::size_t to = 0; to < members_.size(); ++to)
        if (members_[to].follows == from && members_[to].in_step) send(from, to, {p.offset, copy});
}

void replica_group::send(std::size_t from, std::size_t to, write what)
{
    member& r = members_[to];
    r.last_arrival = std::max(r.last_arrival + 1ns, universe_.now() + lag());
    universe_.at(r.last_arrival, [this, from, to, attachment = r.attachment, what] { arrive(from, to, attachment, what); });
}

void replica_group::arrive(std::size_t from, std::size_t to, std::uint64_t attachment, write what)
{
    member& r = members_[to];
    if (r.attachment != attachment) return;
    if (is_blocked(from, to) || !r.is->running() || !r.held.empty()) return r.held.push_back(std::move(what));
    take(to, what);
    universe_.after(lag(), [this, from, to, attachment] { acknowledge(from, to, attachment); });
}

// It keeps what is its own: who watches, and how it tells time.
void replica_group::take(std::size_t to, write const& what)
{
    member& r = members_[to];
    auto& memory = r.is->memory;
    auto const was = std::exchange(memory, *what.memory);
    memory.master = false;
    memory.on_change = was.on_change;
    memory.expires_early = was.expires_early;
    r.offset = what.offset;
}

void replica_group::acknowledge(std::size_t from, std::size_t to, std::uint64_t attachment)
{
    member& r = members_[to];
    if (r.attachment != attachment || is_blocked(from, to) || !r.is->running()) return;
    members_[from].acknowledged[to] = std::max(members_[from].acknowledged[to], r.offset);
    look_at_waiters(from);
}

void replica_group::replicate(std::size_t from, std::uint16_t replicas, duration patience, std::function<void(bool)> done)
{
    if (!members_[from].is->memory.master) return done(false);
    on_write(from);
    auto const number = ++waiters_;
    members_[from].waiting.push_back({number, members_[from].offset, replicas, std::move(done)});
    universe_.after(patience, [this, from, number] {
        auto& all = members_[from].waiting;
        auto const found = std::find_if(all.begin(), all.end(), [number](waiter const& each) { return each.number == number; });
        if (found == all.end()) return;
        auto const late = std::move(*found);
        all.erase(found);
        late.done(false);
    });
}

void replica_group::look_at_waiters(std::size_t where)
{
    auto& p = members_[where];
    for (std::size_t i = 0; i < p.waiting.size();) {
        auto const have = std::count_if(p.acknowledged.begin(), p.acknowledged.end(),
                                        [&](std::uint64_t offset) { return offset >= p.waiting[i].offset; });
        if (have < p.waiting[i].replicas) {
            ++i;
            continue;
        }
        auto const ready = std::move(p.waiting[i]);
        p.waiting.erase(p.waiting.begin() + static_cast<std::ptrdiff_t>(i));
        ready.done(true);
    }
}

void replica_group::follow(std::size_t which, std::size_t primary)
{
    detach(which);
    member& r = members_[which];
    r.follows = primary;
    synchronise(which, r.attachment);
}

// It gets all that the primary has, however long that takes to begin.
void replica_group::synchronise(std::size_t which, std::uint64_t attachment)
{
    universe_.after(lag() + lag(), [this, which, attachment] {
        member& r = members_[which];
        if (r.attachment != attachment || !r.follows) return;
        member const& p = members_[*r.follows];
        if (!p.is->running() || !p.is->memory.master || !r.is->running() || is_blocked(*r.follows, which))
            return synchronise(which, attachment);
        auto copy = std::make_shared<testing::redis_model>(p.is->memory);
        copy->on_change = nullptr;
        r.in_step = true;
        take(which, {p.offset, copy});
        universe_.after(lag(), [this, which, attachment] {
            if (members_[which].attachment == attachment) acknowledge(*members_[which].follows, which, attachment);
        });
    });
}

void replica_group::detach(std::size_t which)
{
    member& r = members_[which];
    ++r.attachment;
    r.follows.reset();
    r.in_step = false;
    r.held.clear();
}

void replica_group::promote(std::size_t which)
{
    detach(which);
    auto& s = *members_[which].is;
    s.is_replica = false;
    s.memory.master = true;
    s.fail_over(keeps::everything);
    rename(s);
    std::fill(members_[which].acknowledged.begin(), members_[which].acknowledged.end(), 0);
}

void replica_group::demote(std::size_t which, std::size_t primary)
{
    auto& m = members_[which];
    m.is->is_replica = true;
    m.is->memory.master = false;
    m.waiting.clear();
    for (auto const& each : universe_.links())
        if (&each->to() == m.is) each->cut();
    follow(which, primary);
}

void replica_group::rename(server& s) const { s.memory.id.resize(detail::bound_id_size, '0'); }

bool replica_group::is_blocked(std::size_t a, std::size_t b) const
{
    auto const concerns = [a, b](std::optional<std::size_t> who) { return who && (*who == a) != (*who == b); };
    return held_back_ || concerns(laggard_) || concerns(apart_);
}

// What was held gets there, in order.
void replica_group::let_through()
{
    for (std::size_t to = 0; to < members_.size(); ++to) {
        auto& r = members_[to];
        if (!r.follows || is_blocked(*r.follows, to) || !r.is->running()) continue;
        while (!r.held.empty()) {
            take(to, r.held.front());
            r.held.pop_front();
        }
        universe_.after(lag(), [this, from = *r.follows, to, attachment = r.attachment] { acknowledge(from, to, attachment); });
    }
}

}  // namespace redlock::simulation
