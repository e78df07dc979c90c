#include "schedule.hpp"

#include "faults.hpp"
#include "judge.hpp"
#include "link.hpp"
#include "simulated_client.hpp"
#include "strangers.hpp"
#include "transition_log.hpp"
#include "universe.hpp"
#include "users.hpp"
#include "visitors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace redlock::simulation {

namespace {

constexpr duration half_a_day = 12h;

// Parts per million. Between them a client and a server stay within the 1 % of lock_options::clock_drift.
constexpr std::int64_t server_drift = 9'000;
constexpr std::int64_t client_drift = 900;

// In a storm keys go, servers forget and messages are late, all the time, and many want one lock.
assumptions draw_assumptions(random& chance, bool storm)
{
    assumptions a;
    if (chance.one_in(storm ? 2 : 3)) a.memory_kept = false;
    if (chance.one_in(storm ? 2 : 8)) a.keys_kept = false;
    if (chance.one_in(6)) a.clocks_within_drift = false;
    return a;
}

// Few, so that clients meet; and some of which there can be two choices of two, with one in common or none.
constexpr std::array<std::uint32_t, 8> permits_to_draw{1, 2, 2, 3, 3, 4, 5, 6};

class schedule {
public:
    schedule(std::uint64_t seed, coverage& covered, recorder* records, bool with_transitions)
        : covered_{covered},
          u_{seed, records},
          counts_{seed % 8 == 4 && !with_transitions},
          storm_{u_.chance.one_in(4)},
          rules_{u_, draw_assumptions(u_.chance, storm_)}
    {
        u_.covered = &covered;
        u_.after_step = [this] {
            rules_.look();
            if (stage_.states) states_.look(stage_.names);
            if (stranger_) stranger_->look();
        };
        u_.on_violation = [this](std::string what) { rules_.violation(std::move(what)); };
        if (with_transitions) u_.transitions = &steps_.emplace(u_);
        set_the_stage();
        stage_.travels = seed % 8 == 6 && !with_transitions;  // nothing is drawn for it, so that other seeds are what they were
        stage_.shares = seed % 8 == 7 && !with_transitions;
        if (seed % 8 == 5 && !with_transitions && stage_.of_locks != kinds::without_tokens) stage_.states = &states_;
        states_.kept_for = 3 * stage_.usual.ttl;  // token_retention is more, and clocks are a little fast
        if (counts_) stage_.permits = chance_.pick(permits_to_draw);
        has_sets_ = seed % 8 == 3 && !with_transitions;
        draw_weather();
        build();
        for (std::size_t n = calm_ ? 0 : (storm_ ? 4 : 0) + chance_.below(8); n > 0; --n) plan_fault(u_, range_);
        if (storm_ && chance_.one_in(2)) plan_blind_spots(u_, range_);
        if (!calm_ && !brief_ && chance_.one_in(6)) plan_an_early_end();
        u_.at(range_.horizon, [this] { clear_up(); });
        if (u_.records) describe(*u_.records);
        if (steps_) steps_->begin(seed, fresh_);
    }

    ~schedule() { u_.destroy_processes(); }
    schedule(schedule const&) = delete;
    schedule& operator=(schedule const&) = delete;

    void run()
    {
        for (auto const& each : users_) each->go(1 + chance_.below(storm_ ? 8 : 3));
        if (!u_.run_until([this] { return rules_.verdict() || (u_.now() >= range_.horizon && everybody_left()); }, limit()))
            rules_.violation("somebody still waits for a lock, long after all faults have ended");
        if (brief_ && std::none_of(guests_.begin(), guests_.end(), [](auto const& each) { return each->somebody_knew(); }))
            rules_.violation("no process that lives for a moment could acquire a lock, long after all faults have ended");
        if (!rules_.verdict()) close();
        if (!rules_.verdict()) rules_.at_the_end();
    }

    result finish()
    {
        count_what_clients_saw();
        return {rules_.verdict(), u_.hash(), u_.steps(), u_.now()};
    }

    std::string const& transitions() const noexcept { return steps_->text(); }

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
        if (storm_) usual.ttl = chance_.pick(std::array{30ms, 100ms});
        usual.min_retry_delay = std::max(1ms, std::chrono::duration_cast<std::chrono::milliseconds>(usual.ttl / 20));
        usual.max_retry_delay = std::max(2ms, std::chrono::duration_cast<std::chrono::milliseconds>(
                                                  chance_.between(usual.ttl / 4, 2 * usual.ttl)));
        if (chance_.one_in(3)) usual.node_timeout = usual.ttl / 3;
        if (storm_) {
            usual.min_retry_delay = 1ms;
            usual.max_retry_delay = usual.ttl / static_cast<int>(1 + chance_.below(10));
            usual.node_timeout = usual.ttl / static_cast<int>(1 + chance_.below(4));
        }
        choose_waiting();
        stage_.names = {"a"};
        if (chance_.one_in(4)) stage_.names.push_back("b");
        if (stage_.names.size() > 1 && chance_.one_in(2)) stage_.names.push_back("c");
        stage_.hold_max = chance_.between(usual.ttl / 10, storm_ && chance_.one_in(2) ? usual.ttl : 3 * usual.ttl);
        stage_.calm = calm_ = !storm_ && chance_.one_in(counts_ ? 2 : 8);  // only then it is known how soon slots are given back
        brief_ = !calm_ && !rules_.assumes().memory_kept && chance_.one_in(3);
        range_ = {chance_.between(usual.ttl, (storm_ ? 12 : 6) * usual.ttl), usual.ttl, stage_.names, rules_.assumes(), false};
        choose_tokens();
    }

    void choose_waiting()
    {
        auto& usual = stage_.usual;
        stage_.queues = chance_.one_in(4);
        usual.poll_interval = std::max(1ms, chance_.pick(std::array{usual.ttl / 4, usual.ttl, 4 * usual.ttl}));
        usual.max_handoffs = chance_.pick(std::array{64u, 64u, 3u, 1u, 0u});
        usual.max_local_hold = chance_.pick(std::array{100ms, usual.ttl / 2, 20 * usual.ttl, 0ms});
    }

    // Admitted servers, whose marks may be ahead of all clocks, so that the token clock means nothing; or a cluster that is yet to be founded.
    void choose_tokens()
    {
        stage_.of_locks = chance_.one_in(12) ? kinds::without_tokens : chance_.one_in(5) ? kinds::mixed : kinds::with_tokens;
        // Large blocks run ahead of the wall clock, from which a cluster that has forgotten everything goes on.
        stage_.block_max = !chance_.one_in(4) ? 1 : rules_.assumes().memory_kept && chance_.one_in(2) ? 3'000 : 5;
        begins_empty_ = chance_.one_in(8);
        fresh_ = begins_empty_ && calm_ && chance_.one_in(2);
        range_.tokens_ahead = !begins_empty_ && chance_.one_in(2);
        // A little ahead, and clients take it for a fast clock, which they follow; far ahead, and the token clock means nothing.
        ahead_ = chance_.one_in(4) ? 1h : 48h;
        // Close to the end of a half-day, which the token clock may not enter too early.
        wall_ = 40'000 * half_a_day + chance_.between(-2s, 2s);
    }

    token_number first_token()
    {
        auto const now = static_cast<token_number>(wall_ / 1us);
        if (range_.tokens_ahead) return now + static_cast<token_number>(ahead_ / 1us) + chance_.below(4);
        return chance_.one_in(4) ? 0 : now - chance_.below(20'000'000);
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
        if (calm_) return allow_waits();
        if (storm_ || chance_.one_in(2)) w.slow_percent = 1 + chance_.below(storm_ ? 40 : 20);
        w.push_lost_percent = w.slow_percent;
        w.slow_max = chance_.one_in(8) ? 2 * ttl : ttl / 10;
        if (storm_ && !rules_.assumes().keys_kept) w.evicted_percent = 1 + chance_.below(30);
        if (chance_.one_in(storm_ ? 2 : 4)) w.duplicate_percent = 1 + chance_.below(10);
        if (chance_.one_in(4)) u_.pause_one_in = 8 + chance_.below(256);
        u_.short_pause_max = chance_.scaled(ttl / 4) + 2us;
    }

    // Nothing goes wrong, except that pushes are lost in some schedules, or are not sent.
    void allow_waits()
    {
        auto& w = u_.weather;
        auto const& usual = stage_.usual;
        if (chance_.one_in(2)) w.push_lost_percent = 10 + chance_.below(60);
        says_changes_ = chance_.one_in(2);
        bool const told = says_changes_ && w.push_lost_percent == 0;
        constexpr duration turns = 200ms;  // for others, and the head start of others
        constexpr duration wishes = 500ms;  // until the next one
        if (told && stage_.shares && stage_.of_locks == kinds::with_tokens)
            rules_.wish_known_after = wishes + 200ms + usual.max_retry_delay + 40 * w.delay_max;
        if (stage_.permits > 0) rules_.slots_left_at_most = 1ms + 10 * w.delay_max;
        rules_.free_at_most = usual.max_retry_delay + (told ? 0ms : usual.poll_interval) + turns + 20 * w.delay_max;
    }

    void describe(recorder& records) const
    {
        auto const ms = [](duration d) { return std::to_string(d / 1ms) + " ms"; };
        auto const& usual = stage_.usual;
        records.setting("retry delay", ms(usual.min_retry_delay) + " to " + ms(usual.max_retry_delay));
        records.setting("poll interval", ms(usual.poll_interval));
        records.setting("passed on", std::to_string(usual.max_handoffs) + " times at most, for " + ms(usual.max_local_hold));
        if (usual.node_timeout) records.setting("node timeout", ms(*usual.node_timeout));
        records.setting("holds up to", ms(stage_.hold_max));
        records.setting("faults until", ms(range_.horizon));
        records.setting("memory", rules_.assumes().memory_kept ? "kept" : "may be lost");
        if (storm_) records.setting("storm", "many faults, many clients");
        records.setting("single keys", rules_.assumes().keys_kept ? "kept" : "may be lost");
        auto const locks = stage_.of_locks;
        records.setting("locks", locks == kinds::without_tokens ? "without tokens"
                                 : locks == kinds::mixed        ? "with and without tokens"
                                                                : "with tokens");
        records.setting("servers begin", begins_empty_         ? "empty"
                                         : range_.tokens_ahead ? "admitted, with tokens ahead of all clocks"
                                                               : "admitted");
        if (stage_.shares) records.setting("users", "read and write");
        if (stage_.states) records.setting("users", "publish and inherit");
        if (stage_.permits > 0) records.setting("permits", std::to_string(stage_.permits));
        if (brief_) records.setting("processes", "live for a moment");
        records.setting("clocks", rules_.assumes().clocks_within_drift ? "within drift" : "may run wrong");
    }

    void clear_up()
    {
        u_.after(4 * stage_.usual.ttl, [this] { see_whether_it_is_stranded(); });
        u_.pause_one_in = 0;
        u_.weather.slow_percent = 0;
        u_.weather.push_lost_percent = 0;
        u_.weather.evicted_percent = 0;
        u_.weather.duplicate_percent = 0;
        for (auto const& s : u_.servers())
            if (std::abs(s->wall.parts_per_million()) > server_drift) s->wall.run_at(0, u_.now());
    }

    void build()
    {
        std::size_t const nodes = chance_.pick(std::array<std::size_t, 10>{3, 3, 3, 3, 3, 5, 5, 1, 2, 4});
        bool const early = chance_.one_in(4);
        for (std::size_t i = 0; i < nodes; ++i) {
            auto& s = u_.add_server({time_point{wall_ + std::chrono::seconds{i}}, 0ns, chance_.between(-server_drift, server_drift)});
            s.memory.expires_early = early;
            if (!begins_empty_) s.begin_admitted(stage_.usual.ttl, first_token());
        }
        if (has_sets_) begin_with_sets();
        if (brief_) return invite();
        std::size_t const processes = 2 + (storm_ ? 1 : chance_.below(2));
        for (std::size_t i = 0; i < processes; ++i) {
            auto& p = u_.add_process({time_point{1h * (i + 1)}, 0ns, chance_.between(-client_drift, client_drift)});
            members_.emplace_back();
            member& m = members_.back();
            m.connected = make_client(u_, p, draw_client());
            if (!calm_ && chance_.one_in(6)) live_far_away(p);
            p.visit(u_.now(), [&] { m.connected->run([this, i](error_code) { members_[i].stopped = true; }); });
            if (!says_changes_ && chance_.one_in(calm_ ? 2 : 4)) forbid_watching(p);
            for (std::size_t n = 1 + chance_.below(2); n > 0; --n) {
                users_.push_back(std::make_unique<user>(stage_, p, m.connected));
                m.users.push_back(users_.back().get());
            }
        }
        let_strangers_come();
    }

    // Servers of an older version have no record of a set, and one that lost its data can be founded anew by anybody: strangers come where neither is so.
    void begin_with_sets()
    {
        if (begins_empty_ || chance_.one_in(3)) return;
        quorum::set_record set{"s0", 0, 0, true, 0, 0, {}, {}};
        for (auto const& s : u_.servers()) set.members.push_back(member_name(s->index()));
        for (auto const& s : u_.servers()) s->memory.set_record = quorum::to_text(set);
        strangers_come_ = rules_.assumes().memory_kept && !brief_ && u_.servers().size() > 1 && stage_.of_locks == kinds::with_tokens;
    }

    void let_strangers_come()
    {
        if (!strangers_come_) return;
        std::vector<std::size_t> list;
        for (auto const& s : u_.servers()) list.push_back(s->index());
        // So few that the others' majority may leave them free.
        std::size_t const most = u_.servers().size() == 5 ? 1 + chance_.below(3) : 1;
        while (list.size() > most) list.erase(list.begin() + static_cast<std::ptrdiff_t>(chance_.below(list.size())));
        auto options = stage_.usual;
        options.fencing = true;
        auto settings = draw_client();
        settings.has_sets = true;
        stranger_.emplace(u_, rules_, std::move(list), settings, stage_.names.front(), options, range_.horizon);
        rules_.excuse("p" + std::to_string(u_.processes().size() - 1) + "-");
    }

    // Instead of processes that stay: two machines or three whose processes do not.
    void invite()
    {
        auto const until = range_.horizon + 30 * stage_.usual.ttl;
        for (std::size_t i = 0, machines = 2 + chance_.below(2); i < machines; ++i) {
            machine_clock const clock{time_point{1h * (i + 1)}, 0ns, chance_.between(-client_drift, client_drift)};
            guests_.push_back(std::make_unique<visitors>(stage_, clock, draw_client(), range_.horizon, until));
        }
    }

    // Wall clocks differ by less than the drain takes: a cluster that has lost everything goes on from one of them.
    client_settings draw_client()
    {
        client_settings s;
        auto const ttl = stage_.usual.ttl;
        auto const skew = chance_.one_in(2) ? chance_.scaled(ttl * 9 / 20) : 0ns;
        s.wall = wall_ + (chance_.one_in(2) ? skew : -skew);
        s.max_ttl = chance_.one_in(storm_ ? 2 : 4) ? 2 * ttl : ttl;
        s.token_retention = chance_.one_in(2) ? 4 * s.max_ttl : std::chrono::milliseconds{1h};
        s.bootstrap = fresh_;
        s.has_sets = has_sets_ && !chance_.one_in(5);  // the others are of an older version
        return s;
    }

    void live_far_away(process const& p)
    {
        auto const timeout = stage_.usual.node_timeout ? duration{*stage_.usual.node_timeout} : duration{stage_.usual.ttl} / 20;
        auto const patience = std::min<duration>(timeout, stage_.usual.ttl / 3);  // two rounds must leave something of the lease
        duration const most = std::max<duration>(0ns, patience / 2 - 2 * u_.weather.delay_max);
        duration const ahead = patience * client_drift / 1'000'000;  // of a fast clock, by which a round trip must still fit
        auto const extra = std::min(chance_.scaled(most), std::max<duration>(0ns, most - ahead));
        for (auto const& s : u_.servers()) u_.between(p, *s).distance = extra;
    }

    // Some servers do not tell it what changes; if one does not, the others may.
    void forbid_watching(process const& p)
    {
        bool const all = chance_.one_in(2);
        for (auto const& s : u_.servers()) u_.between(p, *s).may_watch = !all && chance_.one_in(2);
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
                stage_.at_work -= static_cast<std::size_t>(
                    std::count_if(m.users.begin(), m.users.end(), [](user* each) { return each->is_at_work(); }));
                note_counters(who);
                leave();
                u_.kill(*p);
            }
        });
    }

    // Too few servers remember for the others to be admitted: somebody has to say that what they knew counts no more.
    void see_whether_it_is_stranded()
    {
        if (everybody_left()) return;
        auto const& servers = u_.servers();
        auto const admitted = std::count_if(servers.begin(), servers.end(), [](auto const& s) { return s->memory.admitted(); });
        if (admitted > 0 && static_cast<std::size_t>(admitted) < (servers.size() + 1) / 2) {
            ++covered_.stranded;
            for (auto const& s : servers) {
                s->memory.record.reset();
                if (u_.records) u_.records->server_fault(s->index(), "node record deleted by an operator", u_.now());
            }
        }
        u_.after(8 * stage_.usual.ttl, [this] { see_whether_it_is_stranded(); });
    }

    bool everybody_left() const
    {
        if (stranger_ && !stranger_->has_left()) return false;
        return stage_.at_work == 0 && std::all_of(guests_.begin(), guests_.end(), [](auto const& each) { return each->are_gone(); });
    }
    duration limit() const
    {
        auto const& usual = stage_.usual;
        constexpr duration naps = 30s;  // of those who lost many races
        return range_.horizon + 300 * usual.ttl + 300 * usual.max_retry_delay + 20 * usual.poll_interval + naps;
    }

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
            return std::all_of(links.begin(), links.end(), [](auto const& l) { return !l->in_use() || (l->up() && l->quiet()); });
        };
        if (!u_.run_until(quiet, end)) return rules_.violation("a connection does not come back");
        for_each_client([](member& m) { m.connected->drain([&m](error_code) { m.drained = true; }); });
        auto const drained = [this] { return every_member([](member const& m) { return m.drained || m.stopped || !m.connected; }); };
        if (!u_.run_until(drained, end)) return rules_.violation("a client cannot be drained");
        constexpr duration pause_max = 6s;  // before a release that was answered with an error is repeated
        static_cast<void>(u_.run_until([&] { return !rules_.key_without_an_owner(); }, u_.now() + pause_max));  // judged at the end
        if (!u_.run_until(quiet, end)) return rules_.violation("a drained client is not quiet");
        for_each_client([this](member& m) {
            auto const s = m.connected->status();
            if (s.leases + s.waiting + s.releases_pending > 0)
                rules_.violation("a drained client still counts leases, callers or releases");
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
            return std::all_of(u_.processes().begin(), u_.processes().end(),
                               [](auto const& p) { return !p || (p->ready() == 0 && p->running()); });
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
        covered_.step_noticed += c.clock_steps;
        if (c.clock_steps > 0 && rules_.assumes().clocks_within_drift) rules_.violation("a clock that was not set is said to have been");
        covered_.wakeup += c.wakeups;
        covered_.poll += c.polls;
        covered_.permit_moves += c.permit_moves;
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
    std::optional<transition_log> steps_{};
    random& chance_{u_.chance};
    bool const counts_;  // most users have semaphores
    bool const storm_;
    judge rules_;
    state_judge states_{u_, rules_};
    stage stage_{u_, rules_, {}, {}, {}, false, kinds::with_tokens, 1, false, 0, 0};
    fault_range range_{};
    std::vector<std::unique_ptr<visitors>> guests_;
    std::optional<stranger> stranger_;
    bool has_sets_{false};
    bool strangers_come_{false};
    bool calm_{false};
    bool brief_{false};  // no process stays
    bool begins_empty_{false};
    bool fresh_{false};
    bool says_changes_{false};  // every server, to every client
    duration ahead_{};
    duration wall_{};  // what the right wall clock shows when the world begins
};

}  // namespace

result run_schedule(std::uint64_t seed, coverage& covered, recorder* records, std::string* transitions)
{
    schedule s{seed, covered, records, transitions != nullptr};
    s.run();
    if (transitions) *transitions = s.transitions();
    return s.finish();
}

}  // namespace redlock::simulation
