#include "lasting_clients.hpp"

#include "link.hpp"

#include <algorithm>
#include <utility>

namespace redlock::simulation {

void lasting_clients::add(std::shared_ptr<client> connected)
{
    members_.emplace_back();
    members_.back().connected = std::move(connected);
}

void lasting_clients::start(process& p)
{
    auto const i = members_.size() - 1;
    p.visit(world_.now(), [&] { members_[i].connected->run([this, i](error_code) { members_[i].stopped = true; }); });
}

void lasting_clients::add_user(process& p)
{
    users_.push_back(std::make_unique<user>(on_, p, members_.back().connected));
    members_.back().users.push_back(users_.back().get());
}

// Some clients do not stay to the end.
void lasting_clients::plan_an_early_end(duration latest)
{
    auto const who = world_.chance.below(members_.size());
    auto const how = world_.chance.below(3);
    world_.at(world_.chance.between(0ns, latest), [this, who, how] {
        auto const& p = world_.processes()[who];
        member& m = members_[who];
        rules_.keys().excuse("p" + std::to_string(who) + "-");
        auto const leave = [&] {
            for (user* const each : m.users) each->client_gone();
            m.connected.reset();
        };
        switch (how) {
        case 0:
            ++world_.covered->client_cancelled;
            p->visit(world_.now(), [&] { m.connected->cancel(); });
            break;
        case 1:
            ++world_.covered->client_destroyed;
            p->visit(world_.now(), leave);
            break;
        default:
            ++world_.covered->process_killed;
            on_.at_work -= static_cast<std::size_t>(
                std::count_if(m.users.begin(), m.users.end(), [](user* each) { return each->is_at_work(); }));
            note_counters(who);
            leave();
            world_.kill(*p);
        }
    });
}

// All connections come back, every release that is owed goes out, the clients end.
void lasting_clients::close(duration end)
{
    auto const quiet = [&] {
        auto const& links = world_.links();
        return std::all_of(links.begin(), links.end(), [](auto const& l) { return !l->in_use() || (l->up() && l->quiet()); });
    };
    if (!world_.run_until(quiet, end)) return rules_.violation("a connection does not come back");
    for_each_client([](member& m) { m.connected->drain([&m](error_code) { m.drained = true; }); });
    auto const drained = [this] { return every_member([](member const& m) { return m.drained || m.stopped || !m.connected; }); };
    if (!world_.run_until(drained, end)) return rules_.violation("a client cannot be drained");
    constexpr duration max_pause = 6s;  // before a release that was answered with an error is repeated
    static_cast<void>(world_.run_until([&] { return !rules_.keys().without_an_owner(); }, world_.now() + max_pause));  // judged at the end
    if (!world_.run_until(quiet, end)) return rules_.violation("a drained client is not quiet");
    for_each_client([this](member& m) {
        auto const s = m.connected->status();
        if (s.leases + s.waiting + s.releases_pending > 0) rules_.violation("a drained client still counts leases, callers or releases");
    });
    note_all_counters();
    stop(end);
}

void lasting_clients::stop(duration end)
{
    for_each_client([](member& m) { m.connected->cancel(); });
    auto const stopped = [this] { return every_member([](member const& m) { return m.stopped; }); };
    if (!world_.run_until(stopped, end)) return rules_.violation("a client does not stop");
    for (std::size_t i = 0; i < members_.size(); ++i) {
        auto const& p = world_.processes()[i];
        if (!p) continue;
        p->visit(world_.now(), [&] {
            for (user* const each : members_[i].users) each->client_gone();
            members_[i].connected.reset();
        });
    }
    auto const idle = [this] {
        return std::all_of(world_.processes().begin(), world_.processes().end(),
                           [](auto const& p) { return !p || (p->ready() == 0 && p->running()); });
    };
    if (!world_.run_until(idle, end)) rules_.violation("a stopped client does not come to rest");
}

void lasting_clients::note_all_counters()
{
    for (std::size_t i = 0; i < members_.size(); ++i) note_counters(i);
}

void lasting_clients::note_counters(std::size_t i)
{
    if (!members_[i].connected) return;
    auto const c = members_[i].connected->status().counters;
    auto& covered = *world_.covered;
    covered.acquired += c.acquired;
    covered.contended += c.contended;
    covered.no_majority += c.no_majority;
    covered.validity_exhausted += c.validity_exhausted;
    covered.late_grant_undone += c.late_grants_undone;
    covered.renewed += c.extensions_renewed;
    covered.held_by_parts += c.extensions_held;
    covered.unknown += c.extensions_unknown;
    covered.extension_lost += c.extensions_lost;
    covered.lease_lost += c.leases_lost;
    covered.released += c.released;
    covered.release_unconfirmed += c.releases_unconfirmed;
    covered.watchdog_late += c.watchdog_late;
    covered.step_noticed += c.clock_steps;
    if (c.clock_steps > 0 && rules_.assumes().clocks_within_drift) rules_.violation("a clock that was not set is said to have been");
    covered.wakeup += c.wakeups;
    covered.poll += c.polls;
    covered.permit_moves += c.permit_moves;
}

}  // namespace redlock::simulation
