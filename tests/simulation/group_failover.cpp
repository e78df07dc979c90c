// Failovers of a replica_group, and what goes wrong around them.
#include "link.hpp"
#include "replica_group.hpp"
#include "universe.hpp"

#include <array>

namespace redlock::simulation {

// Some time later the Sentinels promote a replica, any one; the others are told to follow it, and then the old primary.
void replica_group::fail_over(duration most)
{
    if (std::exchange(changing_, true)) return;
    auto& chance = universe_.chance;
    auto const old = newest_;
    auto const next = (old + 1 + chance.below(members_.size() - 1)) % members_.size();
    auto const what = chance.pick(std::array{trouble::cut_off_with_clients, trouble::cut_off_with_clients, trouble::cut_off_from_servers,
                                             trouble::crash, trouble::crash_forgetting, trouble::stop, trouble::none});
    auto const part = most / 6;
    if (chance.one_in(2)) laggard_ = next;  // it hears nothing of the last votes
    auto const begins = chance.scaled(part);
    auto const promotes = begins + chance.scaled(part);
    auto const ends = promotes + (chance.one_in(2) ? chance.between(0ns, 3 * part) : chance.scaled(part));
    universe_.after(begins, [this, what, old] { begin_trouble(what, old); });
    universe_.after(promotes, [this, old, next, part] {
        ++universe_.covered->group_failover;
        if (members_[next].offset < members_[old].offset) ++universe_.covered->laggard_promoted;
        tell(name_ + ": member " + std::to_string(next) + " is promoted, " +
             std::to_string(members_[old].offset - std::min(members_[old].offset, members_[next].offset)) + " writes behind member " +
             std::to_string(old));
        promote(next);
        laggard_.reset();
        newest_ = next;
        ++epoch_;
        spread_the_news(part);
        for (std::size_t i = 0; i < members_.size(); ++i) {
            if (i == next || i == old) continue;
            universe_.after(universe_.chance.scaled(part), [this, i, next] {
                tell(name_ + ": member " + std::to_string(i) + " is told to follow member " + std::to_string(next));
                follow(i, next);
            });
        }
    });
    universe_.after(ends, [this, what, old] { end_trouble(what, old); });
    universe_.after(std::max(ends, promotes) + chance.scaled(part), [this, old, next] {
        tell(name_ + ": member " + std::to_string(old) + " is demoted");
        demote(old, next);
    });
    universe_.after(most, [this] { changing_ = false; });
}

// Each Sentinel hears of it some time; the one that is cut off, when it is no more.
void replica_group::spread_the_news(duration most)
{
    auto const leader = universe_.chance.below(sentinels);
    for (std::size_t i = 0; i < sentinels; ++i) {
        if (sentinel_apart_ && i == 0) continue;
        universe_.after(i == leader ? 0ns : universe_.chance.scaled(most), [this, i, news = view{epoch_, newest_}] {
            if (views_[i].epoch < news.epoch) views_[i] = news;
        });
    }
}

void replica_group::begin_trouble(trouble what, std::size_t old)
{
    auto& s = *members_[old].is;
    switch (what) {
    case trouble::cut_off_with_clients: return separate(old, true);
    case trouble::cut_off_from_servers: return separate(old, false);
    case trouble::crash:
    case trouble::crash_forgetting:
        tell(name_ + ": member " + std::to_string(old) + " crashes" + (what == trouble::crash ? "" : ", and loses everything"));
        members_[old].waiting.clear();
        s.crash(what == trouble::crash ? keeps::everything : keeps::nothing);
        rename(s);
        for (std::size_t i = 0; i < members_.size(); ++i) {
            auto& r = members_[i];
            if (r.follows != old) continue;
            ++r.attachment;
            r.in_step = false;
            r.held.clear();
            if (what == trouble::crash) synchronise(i, r.attachment);  // it goes on trying
        }
        return;
    case trouble::stop: tell(name_ + ": member " + std::to_string(old) + " is stopped"); return s.stop();
    case trouble::none: return;
    }
}

// A primary that crashed is one again when it is back: until it is demoted.
void replica_group::end_trouble(trouble what, std::size_t old)
{
    auto& s = *members_[old].is;
    tell(name_ + ": the trouble of member " + std::to_string(old) + " is over");
    apart_.reset();
    clients_apart_.clear();
    if (std::exchange(sentinel_apart_, false)) views_[0] = {epoch_, newest_};
    if (what == trouble::crash || what == trouble::crash_forgetting) s.start();
    if (what == trouble::stop) s.go_on();
    if (what == trouble::cut_off_with_clients)
        for (auto const& l : universe_.links()) l->heal();
    let_through();
}

void replica_group::separate(std::size_t old, bool with_clients)
{
    auto& chance = universe_.chance;
    apart_ = old;
    sentinel_apart_ = chance.one_in(2);
    tell(name_ + ": member " + std::to_string(old) + " is cut off" + (with_clients ? " with clients" : " from the others"));
    if (!with_clients) return;
    clients_apart_.assign(universe_.processes().size(), false);
    for (std::size_t i = 0; i < clients_apart_.size(); ++i) clients_apart_[i] = chance.one_in(2);
    for (auto const& p : universe_.processes()) {
        if (!p) continue;
        for (std::size_t i = 0; i < members_.size(); ++i) {
            if (clients_apart_[p->index()] == (i == old)) continue;
            auto& l = universe_.between(*p, *members_[i].is);
            l.unreachable = true;
            l.go_silent(true);
        }
    }
}

// It comes back with what it had, since its acknowledgements of the past stand.
void replica_group::crash_replica(duration for_so_long)
{
    if (std::exchange(changing_, true)) return;
    auto const which = (newest_ + 1 + universe_.chance.below(members_.size() - 1)) % members_.size();
    auto& r = members_[which];
    tell(name_ + ": member " + std::to_string(which) + ", a replica, crashes");
    r.is->crash(keeps::everything);
    ++r.attachment;
    r.in_step = false;
    r.held.clear();
    universe_.after(for_so_long, [this, which] {
        auto& back = members_[which];
        back.is->start();
        back.is->memory.master = false;
        back.is->is_replica = true;
        if (back.follows) synchronise(which, back.attachment);
        changing_ = false;
    });
}

void replica_group::hold_back(duration for_so_long)
{
    held_back_ = true;
    universe_.after(for_so_long, [this] {
        held_back_ = false;
        let_through();
    });
}

}  // namespace redlock::simulation
