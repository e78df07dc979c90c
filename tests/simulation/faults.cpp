#include "faults.hpp"

#include "link.hpp"
#include "restores.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace redlock::simulation {

namespace {

enum class fault {
    // of the network
    cut,
    silence,
    partition,
    isolation,
    slow_link,
    // of servers
    stop,
    complain,
    crash_remembering,
    forget_scripts,
    foreign_holder,
    // of processes
    pause,
    suspend,
    // which break an assumption
    crash_forgetting,
    crash_with_older_state,
    fail_over_empty,
    fail_over_to_older_state,
    flush,
    flush_twice,
    forget_twice,
    lose_record,
    lose_high_water,
    lose_counter,
    restore_all,
    early_expiry,
    delete_key,
    eviction,
    clock_rate,
    step_forward,
    step_back,
};

constexpr std::array harmless{
    fault::cut,       fault::cut,   fault::silence,  fault::partition,         fault::isolation,      fault::isolation,
    fault::slow_link, fault::stop,  fault::complain, fault::crash_remembering, fault::forget_scripts, fault::foreign_holder,
    fault::pause,     fault::pause, fault::suspend};
constexpr std::array forgetting{fault::crash_forgetting,
                                fault::crash_with_older_state,
                                fault::crash_with_older_state,
                                fault::fail_over_empty,
                                fault::fail_over_to_older_state,
                                fault::fail_over_to_older_state,
                                fault::flush,
                                fault::flush_twice,
                                fault::flush_twice,
                                fault::forget_twice,
                                fault::lose_record,
                                fault::lose_high_water,
                                fault::lose_counter,
                                fault::restore_all};
constexpr std::array losing_keys{fault::early_expiry, fault::delete_key, fault::eviction};
constexpr std::array wrong_clocks{fault::clock_rate, fault::step_forward, fault::step_back};

class planner {
public:
    planner(universe& u, fault_range const& range)
        : u_{u},
          chance_{u.chance},
          range_{range},
          begin_{chance_.between(0ns, range.horizon)},
          end_{std::max(begin_ + 1us, std::min(range.horizon, begin_ + chance_.scaled(3 * range.ttl)))},
          server_{chance_.below(u.servers().size())},
          client_{chance_.below(u.processes().size())}
    {
    }

    void plan(fault what)
    {
        switch (what) {
        case fault::cut: return plan_cut();
        case fault::silence: return plan_silence();
        case fault::partition: return plan_partition();
        case fault::isolation: return plan_isolation();
        case fault::slow_link: return plan_slow_link();
        case fault::stop: return plan_stop();
        case fault::complain: return plan_complaint();
        case fault::crash_remembering: return plan_crash(keeps::everything);
        case fault::crash_forgetting: return plan_crash(keeps::nothing);
        case fault::crash_with_older_state: return plan_crash(keeps::an_older_state);
        case fault::fail_over_empty: return plan_failover(keeps::nothing);
        case fault::fail_over_to_older_state: return plan_failover(keeps::an_older_state);
        case fault::forget_scripts:
            return on_server(begin_, [](universe& u, server& s) {
                s.forget_scripts();
                if (u.records) u.records->server_fault(s.index(), "SCRIPT FLUSH", u.now());
            });
        case fault::foreign_holder: return plan_foreign_holder();
        case fault::pause: return plan_pause(false);
        case fault::suspend: return plan_pause(true);
        case fault::flush: return plan_flush(begin_);
        case fault::flush_twice:  // the second one when it has just been admitted, or is about to be
            begin_ = chance_.between(0ns, std::max<duration>(1ns, range_.horizon - 2 * range_.ttl));
            plan_flush(begin_);
            end_ = begin_ + range_.ttl + chance_.between(0ns, range_.ttl);
            for (int i = 0; i < 3; ++i)
                on_server(std::min(range_.horizon, end_ + chance_.between(0ns, range_.ttl)), [](universe&, server& s) { s.admit_again(); });
            plan_flush(end_);
            if (chance_.one_in(2)) on_server(std::min(end_ + 1us, range_.horizon), [](universe&, server& s) { s.mark_again(); });
            return;
        case fault::forget_twice:  // the second time it comes back as it was while it waited for the end of the first quarantine
            begin_ = chance_.between(0ns, std::max<duration>(1ns, range_.horizon - 2 * range_.ttl));
            end_ = begin_ + chance_.scaled(range_.ttl / 4) + 1us;
            plan_crash(keeps::nothing);
            on_server(end_ + chance_.between(0ns, range_.ttl), [](universe&, server& s) { s.take_snapshot(); });
            on_server(std::min(range_.horizon, end_ + range_.ttl + chance_.between(0ns, 2 * range_.ttl)),
                      [ahead = range_.tokens_ahead](universe& u, server& s) {
                          if (!s.up() || (ahead && !s.others_remember())) return;
                          ++u.covered->older_state;
                          if (u.records) u.records->server_fault(s.index(), "restarted, as it was in its quarantine", u.now());
                          s.crash(keeps::an_older_state);
                          s.start();
                      });
            return;
        case fault::lose_record:
            return on_server(begin_, [](universe& u, server& s) {
                s.lose_record();
                ++u.covered->record_lost;
                if (u.records) u.records->server_fault(s.index(), "node record lost", u.now());
            });
        case fault::lose_high_water:
            return on_server(begin_, [ahead = range_.tokens_ahead](universe& u, server& s) {
                if (ahead && !s.others_remember()) return;
                s.memory.high_water.reset();
                ++u.covered->high_water_lost;
                if (u.records) u.records->server_fault(s.index(), "high-water mark lost", u.now());
            });
        case fault::lose_counter:
            return on_server(begin_, [name = some_name()](universe& u, server& s) {
                if (!s.memory.find_counter(name, s.time())) return;
                s.memory.del_counter(name);
                ++u.covered->counter_lost;
                if (u.records) u.records->server_fault(s.index(), "counter lost", u.now());
            });
        case fault::restore_all: return plan_restores(u_, range_);
        case fault::early_expiry: return plan_removal(true);
        case fault::delete_key: return plan_removal(false);
        case fault::eviction: return plan_eviction();
        case fault::clock_rate: return plan_clock_rate();
        case fault::step_forward: return plan_step(1);
        case fault::step_back: return plan_step(-1);
        }
    }

private:
    template <class F>
    void on_server(duration when, F f)
    {
        u_.at(when, [&u = u_, index = server_, f] { f(u, *u.servers()[index]); });
    }

    // The link between a process and a server that are both there.
    template <class F>
    void on_link(duration when, F f)
    {
        u_.at(when, [&u = u_, client = client_, s = server_, f] {
            if (u.processes()[client]) f(u, u.between(*u.processes()[client], *u.servers()[s]));
        });
    }

    void plan_cut()
    {
        on_link(begin_, [](universe& u, link& l) {
            if (u.records) u.records->link_fault(l.client(), l.to().index(), "cut", u.now());
            l.cut();
        });
    }

    // Half open: one side has gone, the other does not know.
    void plan_silence()
    {
        bool const heals = chance_.one_in(2);
        on_link(begin_, [to = end_, heals](universe& u, link& l) {
            if (u.records) u.records->link_fault(l.client(), l.to().index(), "silent", u.now(), heals ? std::optional{to} : std::nullopt);
            l.go_silent(true);
        });
        on_link(heals ? end_ : range_.horizon, [](universe&, link& l) { l.heal(); });
    }

    // Some clients cannot reach some servers.
    void plan_partition()
    {
        ++u_.covered->partition;
        auto const clients = 1 + chance_.below((std::size_t{1} << u_.processes().size()) - 1);
        auto const servers = 1 + chance_.below((std::size_t{1} << u_.servers().size()) - 1);
        separate(clients, servers);
    }

    // One client is left with no server, or with one, for long enough to lose what it holds.
    void plan_isolation()
    {
        ++u_.covered->isolation;
        auto const all = (std::size_t{1} << u_.servers().size()) - 1;
        end_ = std::min(range_.horizon, begin_ + chance_.between(range_.ttl / 2, 2 * range_.ttl));
        separate(std::size_t{1} << client_, chance_.one_in(2) ? all : all & ~(std::size_t{1} << server_));
    }

    // Sets of clients and servers, a bit each.
    void separate(std::size_t clients, std::size_t servers)
    {
        for (client_ = 0; client_ < u_.processes().size(); ++client_) {
            for (server_ = 0; server_ < u_.servers().size(); ++server_) {
                if ((clients >> client_ & 1) == 0 || (servers >> server_ & 1) == 0) continue;
                on_link(begin_, [to = end_](universe& u, link& l) {
                    if (u.records) u.records->link_fault(l.client(), l.to().index(), "partition", u.now(), to);
                    l.unreachable = true;
                    l.go_silent(true);
                });
                on_link(end_ + 1us, [](universe&, link& l) { l.heal(); });
            }
        }
    }

    void plan_slow_link()
    {
        ++u_.covered->slow_server;
        auto const extra = chance_.scaled(range_.ttl);
        on_link(begin_, [extra, to = end_](universe& u, link& l) {
            if (u.records) u.records->link_fault(l.client(), l.to().index(), "slow", u.now(), to);
            l.extra_delay = extra;
        });
        on_link(end_, [](universe&, link& l) { l.extra_delay = {}; });
    }

    void plan_stop()
    {
        ++u_.covered->server_stopped;
        on_server(begin_, [to = end_](universe& u, server& s) {
            if (u.records) u.records->server_fault(s.index(), "stopped", u.now(), to);
            s.stop();
        });
        on_server(end_, [](universe&, server& s) { s.go_on(); });
    }

    void plan_complaint()
    {
        auto const what = chance_.pick(std::array{complaint::loading, complaint::read_only, complaint::misconf, complaint::oom});
        on_server(begin_, [what, to = end_](universe& u, server& s) {
            if (!s.up()) return;
            ++u.covered->complaint;
            if (u.records) u.records->server_fault(s.index(), to_string(what), u.now(), to);
            s.complain(what);
        });
        on_server(end_, [](universe&, server& s) { s.complain(complaint::none); });
    }

    void plan_flush(duration when)
    {
        on_server(std::min(when, range_.horizon), [ahead = range_.tokens_ahead](universe& u, server& s) {
            if (ahead && !s.others_remember()) return;
            s.flush_all();
            ++u.covered->flushed;
            if (u.records) u.records->server_fault(s.index(), "FLUSHALL", u.now());
        });
    }

    void plan_snapshot()
    {
        on_server(std::max<duration>(0ns, begin_ - chance_.between(0ns, 3 * range_.ttl)), [](universe&, server& s) { s.take_snapshot(); });
    }

    void plan_crash(keeps what)
    {
        if (what == keeps::an_older_state) plan_snapshot();
        on_server(begin_, [what, to = end_, ahead = range_.tokens_ahead](universe& u, server& s) {
            if (ahead && what != keeps::everything && !s.others_remember()) return;
            auto& c = *u.covered;
            ++(what == keeps::everything ? c.crash_remembering : what == keeps::nothing ? c.crash_forgetting : c.older_state);
            if (u.records) u.records->server_fault(s.index(), std::string{"crashed, "} + to_string(what), u.now(), to);
            s.crash(what);
        });
        on_server(end_, [](universe&, server& s) { s.start(); });
    }

    // Nobody's connection notices.
    void plan_failover(keeps what)
    {
        if (what == keeps::an_older_state) plan_snapshot();
        bool const to_another_process = chance_.one_in(2);
        on_server(begin_, [what, to_another_process, ahead = range_.tokens_ahead](universe& u, server& s) {
            if (!s.up() || (ahead && !s.others_remember())) return;
            ++u.covered->failover;
            if (u.records) u.records->server_fault(s.index(), std::string{"failover, "} + to_string(what), u.now());
            s.fail_over(what);
            if (to_another_process) s.forget_scripts();
        });
    }

    // Another library, or an operator at a terminal, takes the lock.
    void plan_foreign_holder()
    {
        auto const stays = chance_.scaled(2 * range_.ttl);
        on_server(begin_, [name = some_name(), stays](universe& u, server& s) {
            if (!s.up() || s.find(name)) return;
            ++u.covered->taken_by_foreigner;
            s.memory.set(name, "foreign", stays + 1ms, s.time());
            s.memory.find(name, s.time())->of_nobody = true;
        });
    }

    void plan_pause(bool whole_machine)
    {
        auto const d = std::max<duration>(1us, end_ - begin_);
        u_.at(begin_, [&u = u_, client = client_, d, whole_machine] {
            auto const& p = u.processes()[client];
            if (!p) return;
            ++(whole_machine ? u.covered->suspended : u.covered->paused);
            whole_machine ? u.suspend(*p, d) : u.pause(*p, d);
        });
    }

    void plan_removal(bool expires)
    {
        on_server(begin_, [name = some_name(), expires](universe& u, server& s) {
            if (!s.find(name)) return;
            ++(expires ? u.covered->early_expiry : u.covered->key_deleted);
            if (u.records) u.records->server_fault(s.index(), expires ? "key expired early" : "key deleted", u.now());
            s.memory.del(name);
        });
    }

    // Keys go one after the other, on all servers.
    void plan_eviction()
    {
        for (std::size_t n = 4 + chance_.below(20); n > 0; --n) {
            server_ = chance_.below(u_.servers().size());
            auto const when = chance_.between(begin_, end_);  // before the lambda's: arguments are evaluated in any order
            on_server(when, [name = some_name(), counter = chance_.one_in(8)](universe& u, server& s) {
                if (counter) s.memory.del_counter(name);
                if (!s.find(name)) return;
                ++u.covered->evicted;
                if (u.records) u.records->server_fault(s.index(), "key evicted", u.now());
                s.memory.del(name);
            });
        }
    }

    void plan_clock_rate()
    {
        auto const ppm = chance_.between(-100'000, 100'000);
        on_server(begin_, [ppm](universe& u, server& s) {
            ++u.covered->clock_fast;
            if (u.records) u.records->server_fault(s.index(), "clock at " + std::to_string(ppm / 10'000) + " %", u.now());
            s.wall.run_at(ppm, u.now());
        });
    }

    void plan_step(int sign)
    {
        auto const d = sign * chance_.scaled(2 * range_.ttl);
        on_server(begin_, [d](universe& u, server& s) {
            ++(d > 0ns ? u.covered->clock_step_forward : u.covered->clock_step_back);
            if (u.records) u.records->server_fault(s.index(), "clock stepped by " + std::to_string(d / 1ms) + " ms", u.now());
            s.wall.step(d);
        });
    }

    std::string const& some_name() { return range_.names[chance_.below(range_.names.size())]; }

    universe& u_;
    random& chance_;
    fault_range const& range_;
    duration begin_;
    duration end_;
    std::size_t server_;
    std::size_t client_;
};

}  // namespace

void plan_blind_spots(universe& u, fault_range const& range)
{
    auto const first = u.chance.below(u.servers().size());
    for (std::size_t i = 0; i + 1 < u.processes().size(); ++i) {
        link& l = u.between(*u.processes()[i], *u.servers()[(first + i) % u.servers().size()]);
        ++u.covered->blind_spot;
        if (u.records) u.records->link_fault(l.client(), l.to().index(), "unreachable", 0ns, range.horizon);
        l.unreachable = true;
        u.at(range.horizon, [&l] { l.heal(); });
    }
}

void plan_fault(universe& u, fault_range const& range)
{
    auto& chance = u.chance;
    planner p{u, range};
    if (!range.assumed.memory_kept && chance.one_in(2)) return p.plan(chance.pick(forgetting));
    if (!range.assumed.keys_kept && chance.one_in(2)) return p.plan(chance.pick(losing_keys));
    if (!range.assumed.clocks_within_drift && chance.one_in(2)) return p.plan(chance.pick(wrong_clocks));
    p.plan(chance.pick(harmless));
}

void plan_a_link_fault(universe& u, duration horizon, duration ttl)
{
    auto& chance = u.chance;
    auto& l = *u.links()[chance.below(u.links().size())];
    auto const at = chance.between(0ns, horizon);
    switch (chance.below(3)) {
    case 0: return u.at(at, [&l] { l.cut(); });
    case 1: return u.at(at, [&l] { l.go_silent(true); });
    default: u.at(at, [&l, d = chance.scaled(ttl)] { l.extra_delay = d; }); u.at(at + 2 * ttl, [&l] { l.extra_delay = {}; });
    }
}

}  // namespace redlock::simulation
