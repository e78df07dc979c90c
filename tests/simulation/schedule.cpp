#include "schedule.hpp"

#include "faults.hpp"
#include "judge.hpp"
#include "link.hpp"
#include "simulated_client.hpp"
#include "universe.hpp"
#include "users.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace redlock::simulation {

namespace {

assumptions draw_assumptions(random& chance)
{
    assumptions a;
    if (chance.one_in(6)) a.memory_kept = false;
    if (chance.one_in(6)) a.clocks_within_drift = false;
    return a;
}

class schedule {
public:
    schedule(std::uint64_t seed, coverage& covered, recorder* records)
        : covered_{covered}, u_{seed, records}, rules_{u_, draw_assumptions(u_.chance)}
    {
        u_.covered = &covered;
        u_.after_step = [this] { rules_.look(); };
        u_.on_violation = [this](std::string what) { rules_.violation(std::move(what)); };
        set_the_stage();
        draw_weather();
        build();
        for (std::size_t n = calm_ ? 0 : chance_.below(8); n > 0; --n) plan_fault(u_, range_);
        if (!calm_ && chance_.one_in(6)) plan_an_early_end();
        u_.at(range_.horizon, [this] { clear_up(); });
        if (u_.records) describe(*u_.records);
    }

    ~schedule() { u_.destroy_processes(); }
    schedule(schedule const&) = delete;
    schedule& operator=(schedule const&) = delete;

    void run()
    {
        for (auto const& each : users_) each->go(1 + chance_.below(3));
        if (!u_.run_until([this] { return rules_.verdict() || (u_.now() >= range_.horizon && everybody_left()); }, limit()))
            rules_.violation("somebody still waits for a lock, long after all faults have ended");
        if (!rules_.verdict()) close();
        if (!rules_.verdict()) rules_.at_the_end();
    }

    result finish()
    {
        count_what_clients_saw();
        return {rules_.verdict(), u_.hash(), u_.steps(), u_.now()};
    }

private:
    struct member {
        std::shared_ptr<client> connected;
        bool stopped{false};
        bool drained{false};
        std::vector<user*> users;
    };

    void set_the_stage()
    {
        auto& usual = stage_.usual;
        usual.ttl = chance_.pick(std::array{30ms, 100ms, 1'000ms, 10'000ms});
        usual.retry_delay_min = std::max(1ms, std::chrono::duration_cast<std::chrono::milliseconds>(usual.ttl / 20));
        usual.retry_delay_max = std::max(2ms, std::chrono::duration_cast<std::chrono::milliseconds>(chance_.between(usual.ttl / 4, 2 * usual.ttl)));
        if (chance_.one_in(3)) usual.node_timeout = usual.ttl / 3;
        stage_.names = {"a"};
        if (chance_.one_in(5)) stage_.names.push_back("b");
        stage_.hold_max = chance_.between(usual.ttl / 10, 3 * usual.ttl);
        stage_.calm = calm_ = chance_.one_in(8);
        range_ = {chance_.between(usual.ttl, 6 * usual.ttl), usual.ttl, stage_.names, rules_.assumes()};
    }

    void draw_weather()
    {
        auto& w = u_.weather;
        auto const ttl = stage_.usual.ttl;
        w.delay_min = chance_.between(10us, 100us);
        w.delay_max = w.delay_min + chance_.scaled(std::min<duration>(5ms, ttl / 20));
        w.reconnect_max = ttl / 4;
        w.notices_after_max = ttl;
        w.ghost_delay_max = 2 * ttl;
        if (calm_) return;
        if (chance_.one_in(2)) w.slow_percent = 1 + chance_.below(20);
        w.slow_max = chance_.one_in(8) ? 2 * ttl : ttl / 10;
        if (chance_.one_in(4)) w.duplicate_percent = 1 + chance_.below(10);
        if (chance_.one_in(4)) u_.pause_one_in = 8 + chance_.below(256);
        u_.short_pause_max = chance_.scaled(ttl / 4) + 2us;
    }

    void describe(recorder& records) const
    {
        auto const ms = [](duration d) { return std::to_string(d / 1ms) + " ms"; };
        auto const& usual = stage_.usual;
        records.setting("retry delay", ms(usual.retry_delay_min) + " to " + ms(usual.retry_delay_max));
        if (usual.node_timeout) records.setting("node timeout", ms(*usual.node_timeout));
        records.setting("holds up to", ms(stage_.hold_max));
        records.setting("faults until", ms(range_.horizon));
        records.setting("memory", rules_.assumes().memory_kept ? "kept" : "may be lost");
        records.setting("clocks", rules_.assumes().clocks_within_drift ? "within drift" : "may run wrong");
    }

    void clear_up()
    {
        u_.pause_one_in = 0;
        u_.weather.slow_percent = 0;
        u_.weather.duplicate_percent = 0;
    }

    void build()
    {
        std::size_t const nodes = chance_.pick(std::array<std::size_t, 10>{3, 3, 3, 3, 3, 5, 5, 1, 2, 4});
        bool const early = chance_.one_in(4);
        // Between them a client and a server stay within the 1 % of lock_options::drift.
        for (std::size_t i = 0; i < nodes; ++i) {
            auto& s = u_.add_server({time_point{1h + std::chrono::seconds{i}}, 0ns, chance_.between(-9'000, 9'000)});
            s.memory.expires_early = early;
        }
        std::size_t const processes = 2 + chance_.below(2);
        for (std::size_t i = 0; i < processes; ++i) {
            auto& p = u_.add_process({time_point{1h * (i + 1)}, 0ns, chance_.between(-900, 900)});
            members_.emplace_back();
            member& m = members_.back();
            m.connected = make_client(u_, p);
            if (!calm_ && chance_.one_in(6)) live_far_away(p);
            p.visit(u_.now(), [&] { m.connected->run([this, i](error_code) { members_[i].stopped = true; }); });
            for (std::size_t n = 1 + chance_.below(2); n > 0; --n) {
                users_.push_back(std::make_unique<user>(stage_, p, m.connected));
                m.users.push_back(users_.back().get());
            }
        }
    }

    void live_far_away(process const& p)
    {
        auto const patience = stage_.usual.node_timeout ? duration{*stage_.usual.node_timeout} : duration{stage_.usual.ttl} / 20;
        auto const extra = chance_.scaled(std::max<duration>(0ns, patience / 2 - 2 * u_.weather.delay_max));
        for (auto const& s : u_.servers()) u_.between(p, *s).distance = extra;
    }

    // Some clients do not stay to the end.
    void plan_an_early_end()
    {
        auto const who = chance_.below(members_.size());
        auto const how = chance_.below(3);
        u_.at(chance_.between(0ns, range_.horizon), [this, who, how] {
            auto const& p = u_.processes()[who];
            member& m = members_[who];
            rules_.excuse("p" + std::to_string(who) + "-");
            auto const leave = [&] {
                for (user* const each : m.users) each->client_gone();
                m.connected.reset();
            };
            switch (how) {
            case 0:
                ++covered_.client_cancelled;
                p->visit(u_.now(), [&] { m.connected->cancel(); });
                break;
            case 1:
                ++covered_.client_destroyed;
                p->visit(u_.now(), leave);
                break;
            default:
                ++covered_.process_killed;
                stage_.at_work -= static_cast<std::size_t>(std::count_if(m.users.begin(), m.users.end(), [](user* each) { return each->is_at_work(); }));
                note_counters(who);
                leave();
                u_.kill(*p);
            }
        });
    }

    bool everybody_left() const { return stage_.at_work == 0; }
    duration limit() const { return range_.horizon + 300 * stage_.usual.ttl + 300 * stage_.usual.retry_delay_max; }

    template <class F>
    void for_each_client(F f)
    {
        for (std::size_t i = 0; i < members_.size(); ++i) {
            auto const& p = u_.processes()[i];
            if (p && members_[i].connected && !members_[i].stopped) p->visit(u_.now(), [&] { f(members_[i]); });
        }
    }

    // Of those whose process is alive.
    template <class Predicate>
    bool every_member(Predicate is_so) const
    {
        for (std::size_t i = 0; i < members_.size(); ++i)
            if (u_.processes()[i] && !is_so(members_[i])) return false;
        return true;
    }

    // All connections come back, every release that is owed goes out, the clients end.
    void close()
    {
        auto const end = u_.now() + limit();
        auto const quiet = [&] {
            auto const& links = u_.links();
            return std::all_of(links.begin(), links.end(), [](auto const& l) { return !l->in_use() || (l->up() && l->outstanding() == 0); });
        };
        if (!u_.run_until(quiet, end)) return rules_.violation("a connection does not come back");
        for_each_client([](member& m) { m.connected->drain([&m](error_code) { m.drained = true; }); });
        auto const drained = [this] { return every_member([](member const& m) { return m.drained || m.stopped || !m.connected; }); };
        if (!u_.run_until(drained, end)) return rules_.violation("a client cannot be drained");
        if (!u_.run_until(quiet, end)) return rules_.violation("a drained client is not quiet");
        for_each_client([this](member& m) {
            auto const s = m.connected->status();
            if (s.leases + s.waiting + s.releases_pending > 0) rules_.violation("a drained client still counts leases, callers or releases");
        });
        for (std::size_t i = 0; i < members_.size(); ++i) note_counters(i);
        for_each_client([](member& m) { m.connected->cancel(); });
        auto const stopped = [this] { return every_member([](member const& m) { return m.stopped; }); };
        if (!u_.run_until(stopped, end)) return rules_.violation("a client does not stop");
        for (std::size_t i = 0; i < members_.size(); ++i) {
            auto const& p = u_.processes()[i];
            if (!p) continue;
            p->visit(u_.now(), [&] {
                for (user* const each : members_[i].users) each->client_gone();
                members_[i].connected.reset();
            });
        }
        auto const idle = [this] {
            return std::all_of(u_.processes().begin(), u_.processes().end(), [](auto const& p) { return !p || (p->ready() == 0 && p->running()); });
        };
        if (!u_.run_until(idle, end)) rules_.violation("a stopped client does not come to rest");
    }

    void note_counters(std::size_t i)
    {
        if (!members_[i].connected) return;
        auto const c = members_[i].connected->status().counters;
        covered_.acquired += c.acquired;
        covered_.contended += c.contended;
        covered_.no_majority += c.no_majority;
        covered_.validity_exhausted += c.validity_exhausted;
        covered_.late_grant_undone += c.late_grants_undone;
        covered_.renewed += c.extensions_renewed;
        covered_.held_by_parts += c.extensions_held;
        covered_.unknown += c.extensions_unknown;
        covered_.extension_lost += c.extensions_lost;
        covered_.lease_lost += c.leases_lost;
        covered_.released += c.released;
        covered_.release_unconfirmed += c.releases_unconfirmed;
        covered_.watchdog_late += c.watchdog_late;
    }

    void count_what_clients_saw()
    {
        if (rules_.verdict())
            for (std::size_t i = 0; i < members_.size(); ++i) note_counters(i);
    }

    coverage& covered_;
    std::vector<std::unique_ptr<user>> users_;
    std::vector<member> members_;
    universe u_;
    random& chance_{u_.chance};
    judge rules_;
    stage stage_{u_, rules_, {}, {}, {}, false, 0};
    fault_range range_{};
    bool calm_{false};
};

}  // namespace

result run_schedule(std::uint64_t seed, coverage& covered, recorder* records)
{
    schedule s{seed, covered, records};
    s.run();
    return s.finish();
}

}  // namespace redlock::simulation
