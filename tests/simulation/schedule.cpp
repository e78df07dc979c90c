#include "schedule.hpp"

#include "faults.hpp"
#include "judge.hpp"
#include "lasting_clients.hpp"
#include "link.hpp"
#include "simulated_client.hpp"
#include "strangers.hpp"
#include "transition_log.hpp"
#include "universe.hpp"
#include "visitors.hpp"
#include "world_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace redlock::simulation {

namespace {

class schedule {
public:
    schedule(std::uint64_t seed, coverage& covered, recorder* records, bool with_transitions)
        : covered_{covered}, u_{seed, records}, plan_{kind_of(seed, with_transitions), u_.chance}, rules_{u_, plan_.assumes}
    {
        u_.covered = &covered;
        u_.after_step = [this] {
            rules_.check();
            if (stage_.states) states_.check(stage_.names);
            if (stranger_) stranger_->check();
        };
        u_.on_violation = [this](std::string what) { rules_.violation(std::move(what)); };
        if (with_transitions) u_.transitions = &transitions_.emplace(u_);
        plan_.draw_stage(stage_);
        stage_.long_leases = seed % 32 == 10 && plan_.kind == world_kind::plain && !with_transitions && !plan_.assumes.memory_kept &&
                             stage_.of_locks == kinds::with_tokens && !plan_.begins_empty && !plan_.short_lived;
        if (plan_.has_states) stage_.states = &states_;
        states_.kept_for = 3 * stage_.usual.ttl;  // token_retention is more, and clocks are a little fast
        plan_.draw_weather(u_, rules_, stage_);
        build();
        for (std::size_t n = plan_.calm ? 0 : (plan_.storm ? 4 : 0) + chance_.below(8); n > 0; --n) plan_fault(u_, plan_.range);
        if (plan_.storm && chance_.one_in(2)) plan_blind_spots(u_, plan_.range);
        if (!plan_.calm && !plan_.short_lived && chance_.one_in(6)) clients_.plan_an_early_end(plan_.range.horizon);
        u_.at(plan_.range.horizon, [this] { clear_up(); });
        if (u_.records) plan_.describe(*u_.records, stage_);
        if (transitions_) transitions_->begin(seed, plan_.to_be_founded);
    }

    ~schedule() { u_.destroy_processes(); }
    schedule(schedule const&) = delete;
    schedule& operator=(schedule const&) = delete;

    void run()
    {
        for (auto const& each : clients_.users()) each->go(1 + chance_.below(plan_.storm ? 8 : 3));
        if (!u_.run_until([this] { return rules_.verdict() || (u_.now() >= plan_.range.horizon && everybody_left()); }, limit()))
            rules_.violation("somebody still waits for a lock, long after all faults have ended");
        if (plan_.short_lived &&
            std::none_of(visitors_.begin(), visitors_.end(), [](auto const& each) { return each->one_got_an_answer(); }))
            rules_.violation("no process that lives for a moment could acquire a lock, long after all faults have ended");
        if (!rules_.verdict()) clients_.close(u_.now() + limit());
        if (!rules_.verdict()) rules_.at_the_end();
    }

    result finish()
    {
        if (rules_.verdict()) clients_.note_all_counters();
        return {rules_.verdict(), u_.fingerprint(), u_.steps(), u_.now()};
    }

    std::string const& transitions() const noexcept { return transitions_->text(); }

private:
    void clear_up()
    {
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
            auto& s = u_.add_server({time_point{plan_.wall + std::chrono::seconds{i}}, 0ns, chance_.between(-server_drift, server_drift)});
            s.memory.expires_early = early;
            if (!plan_.begins_empty) s.begin_admitted(stage_.long_leases ? 2 * stage_.usual.ttl : stage_.usual.ttl, plan_.first_token());
            s.shows_longest_ttl = stage_.long_leases;
        }
        if (plan_.kind == world_kind::sets) begin_with_sets();
        if (plan_.short_lived) return add_visitors();
        std::size_t const processes = 2 + (plan_.storm ? 1 : chance_.below(2));
        for (std::size_t i = 0; i < processes; ++i) {
            auto& p = u_.add_process({time_point{1h * (i + 1)}, 0ns, chance_.between(-client_drift, client_drift)});
            auto settings = plan_.draw_client(stage_.usual);
            if (stage_.long_leases) settings.max_ttl = process_ttl(stage_, p.index());
            if (stage_.long_leases) settings.token_retention = std::max(settings.token_retention, 4 * settings.max_ttl);
            clients_.add(make_client(u_, p, settings));
            if (!plan_.calm && chance_.one_in(6)) live_far_away(p);
            clients_.start(p);
            if (!plan_.says_changes && chance_.one_in(plan_.calm ? 2 : 4)) forbid_watching(p);
            for (std::size_t n = 1 + chance_.below(2); n > 0; --n) clients_.add_user(p);
        }
        let_strangers_come();
    }

    // Servers of an older version have no record of a set, and one that lost its data can be founded anew by anybody: strangers come where
    // neither is so.
    void begin_with_sets()
    {
        if (plan_.begins_empty || chance_.one_in(3)) return;
        quorum::set_record set{"s0", 0, 0, true, 0, 0, {}, {}};
        for (auto const& s : u_.servers()) set.members.push_back(member_name(s->index()));
        for (auto const& s : u_.servers()) s->memory.set_record = quorum::to_text(set);
        strangers_come_ = rules_.assumes().memory_kept && !plan_.short_lived && u_.servers().size() > 1 &&
                          stage_.of_locks == kinds::with_tokens;
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
        auto settings = plan_.draw_client(stage_.usual);
        settings.has_sets = true;
        stranger_.emplace(u_, rules_, std::move(list), settings, stage_.names.front(), options, plan_.range.horizon);
        rules_.keys().excuse("p" + std::to_string(u_.processes().size() - 1) + "-");
    }

    // Instead of processes that stay: two machines or three whose processes do not.
    void add_visitors()
    {
        auto const until = plan_.range.horizon + 30 * stage_.usual.ttl;
        for (std::size_t i = 0, machines = 2 + chance_.below(2); i < machines; ++i) {
            machine_clock const clock{time_point{1h * (i + 1)}, 0ns, chance_.between(-client_drift, client_drift)};
            visitors_.push_back(std::make_unique<visitors>(stage_, clock, plan_.draw_client(stage_.usual), plan_.range.horizon, until));
        }
    }

    void live_far_away(process const& p)
    {
        auto const timeout = stage_.usual.node_timeout ? duration{*stage_.usual.node_timeout} : duration{stage_.usual.ttl} / 20;
        auto const patience = std::min<duration>(timeout, stage_.usual.ttl / 3);  // two rounds must leave something of the lease
        duration const most = std::max<duration>(0ns, patience / 2 - 2 * u_.weather.max_delay);
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

    bool everybody_left() const
    {
        if (stranger_ && !stranger_->has_left()) return false;
        return stage_.at_work == 0 && std::all_of(visitors_.begin(), visitors_.end(), [](auto const& each) { return each->are_gone(); });
    }
    duration limit() const
    {
        auto const& usual = stage_.usual;
        constexpr duration naps = 30s;  // of those who lost many races
        return plan_.range.horizon + 300 * usual.ttl + 300 * usual.max_retry_delay + 20 * usual.poll_interval + naps;
    }

    coverage& covered_;
    universe u_;
    std::optional<transition_log> transitions_{};
    random& chance_{u_.chance};
    world_plan plan_;
    judge rules_;
    state_judge states_{u_, rules_};
    stage stage_{.world = u_, .rules = rules_};
    lasting_clients clients_{u_, rules_, stage_};
    std::vector<std::unique_ptr<visitors>> visitors_;
    std::optional<stranger> stranger_;
    bool strangers_come_{false};
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
