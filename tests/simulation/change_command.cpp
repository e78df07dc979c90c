#include "change_command.hpp"

#include "simulated_client.hpp"

#include "node/node.hpp"

#include <utility>

namespace redlock::simulation {

namespace {

constexpr int max_looks = 20;
constexpr double command_drift = 0.01;

}  // namespace

change_command::change_command(universe& in, order const& what, duration max_ttl, ending ends)
    : world_{in}, max_ttl_{max_ttl}, ends_{std::move(ends)}
{
    if (what.leaves) wanted_.leaves = member_name(*what.leaves);
    for (auto const each : what.join) wanted_.join.push_back(member_name(each));
    wanted_.may_end_leases = true;
}

duration change_command::delay()
{
    auto const& w = world_.weather;
    return world_.chance.between(w.min_delay, w.max_delay) +
           (world_.chance.percent(w.slow_percent) ? world_.chance.scaled(w.max_slow) : 0ns);
}

void change_command::look()
{
    if (++looks_ > max_looks) return end(outcome::gave_up);
    seen_.clear();
    asked_ = world_.now();
    ask(0);
}

// One after the other, so that what it has heard of the first may be over when it hears of the last.
void change_command::ask(std::size_t server)
{
    if (server == world_.servers().size()) return decide();
    world_.after(delay(), [self = shared_from_this(), server] {
        if (self->is_over()) return;
        auto& s = *self->world_.servers()[server];
        quorum::server_view v{member_name(server), std::nullopt, "no connection"};
        if (server != self->unreachable && s.running() && s.complains() == complaint::none) v.facts = s.memory.facts(s.time());
        self->seen_.push_back(std::move(v));
        self->ask(server + 1);
    });
}

void change_command::decide()
{
    using refusal = quorum::set_change::refusal;
    if (world_.now() - asked_ >= quorum::max_look_time(seen_, max_ttl_, command_drift)) return look();
    quorum::set_change const plan{seen_, wanted_};
    switch (plan.refused()) {
    case refusal::none: break;
    case refusal::request: return end(outcome::refused, plan.why());
    case refusal::too_few: return end(outcome::too_few, plan.why());
    case refusal::outrun: return end(outcome::outrun, plan.why());
    }
    if (plan.finishes_another()) ++world_.covered->change_finished_for_another;
    if (plan.moved() > 0 && !plan.steps().empty()) ++world_.covered->change_resumed;
    if (plan.steps().empty() && !plan.finishes_another()) return end(outcome::moved);
    if (plan.is_to_be_drained() && !is_drained(plan)) return;
    take(plan, 0);
}

// The servers are asked once more when leases of before are over.
bool change_command::is_drained(quorum::set_change const& plan)
{
    detail::time_point const now{world_.now()};
    auto const ends = drain_.ends(plan, {}, command_drift, now);
    if (now >= ends) return true;
    ++world_.covered->change_waited;
    world_.after(ends - now, [self = shared_from_this()] {
        --self->looks_;
        if (!self->is_over()) self->look();
    });
    return false;
}

void change_command::take(quorum::set_change const& plan, std::size_t step)
{
    if (step == plan.steps().size()) return look();
    is_sending_ = true;
    world_.after(delay(), [self = shared_from_this(), plan, step] {
        self->is_sending_ = false;
        auto const& what = plan.steps()[step];
        auto& s = *self->world_.servers()[what.server];
        bool done = false;
        if (what.server != self->unreachable && s.running()) {
            detail::command c{detail::verb::claim, {}, what.text, {}};
            c.change_more().id = what.id;
            c.change_more().former = what.expected;
            c.stays = what.stays;
            c.token = plan.base();
            done = s.execute(c, {}, false).vote == vote::granted;
            if (done && self->on_step) self->on_step(plan.after(), what.server);
        }
        if (self->is_over()) return;
        done ? self->take(plan, step + 1) : self->look();
    });
}

void change_command::end(outcome how, std::string const& why)
{
    over_ = true;
    ends_(how, why);
}

}  // namespace redlock::simulation
