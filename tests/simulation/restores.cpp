#include "restores.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace redlock::simulation {

namespace {

class restores {
public:
    restores(universe& u, fault_range const& range)
        : u_{u}, range_{range}, left_{u.servers().size()}, next_{u.chance.below(left_)}, keeps_the_locks_{!u.chance.one_in(4)}
    {
    }

    void save() const
    {
        for (auto const& s : u_.servers()) s->take_snapshot();
    }

    // Whether there is something left to do.
    bool go_on()
    {
        if (u_.now() >= range_.horizon) return false;
        server& s = *u_.servers()[next_];
        if (!s.running() || s.complains() != complaint::none || !s.others_remember()) return true;
        restore(s);
        next_ = (next_ + 1) % u_.servers().size();
        if (--left_ > 0) return true;
        ++u_.covered->all_restored;
        return false;
    }

private:
    void restore(server& s) const
    {
        bool const restarts = u_.chance.one_in(2);
        if (u_.records) u_.records->server_fault(s.index(), restarts ? "restored, restarted" : "restored", u_.now());
        if (restarts) {
            s.crash(keeps::an_older_state);
            s.start();
        } else {
            s.fail_over(keeps::an_older_state);
        }
        if (keeps_the_locks_) keep_the_locks(s);
    }

    // Nobody is to have them before the last server is back, so that no counter moves meanwhile.
    void keep_the_locks(server& s) const
    {
        for (auto const& name : range_.names) {
            s.memory.set(name, "operator", range_.horizon - u_.now() + 1ms, s.time());
            s.memory.find(name, s.time())->of_nobody = true;
        }
    }

    universe& u_;
    fault_range range_;
    std::size_t left_;
    std::size_t next_;
    bool keeps_the_locks_;
};

void go_on(universe& u, std::shared_ptr<restores> const& all, duration look_after)
{
    if (!all->go_on()) return;
    u.after(look_after, [&u, all, look_after] { go_on(u, all, look_after); });
}

}  // namespace

void plan_restores(universe& u, fault_range const& range)
{
    auto const all = std::make_shared<restores>(u, range);
    auto const saved = u.chance.between(0ns, range.horizon / 4);
    auto const begin = saved + u.chance.between(1us, range.ttl);
    u.at(saved, [all] { all->save(); });
    u.at(begin, [&u, all, look_after = range.ttl / 16] { go_on(u, all, look_after); });
}

}  // namespace redlock::simulation
