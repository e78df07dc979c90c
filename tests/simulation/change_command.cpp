#include "change_command.hpp"

#include "simulated_client.hpp"

#include "redis/node.hpp"

#include <utility>

namespace redlock::simulation {

namespace {

constexpr int looks_max = 20;

}  // namespace

change_command::change_command(universe& in, std::size_t leaves, std::size_t joins, ending ends)
    : world_{in}, leaves_{leaves}, joins_{joins}, ends_{std::move(ends)}
{
}

duration change_command::delay()
{
    auto const& w = world_.weather;
    return world_.chance.between(w.delay_min, w.delay_max) +
           (world_.chance.percent(w.slow_percent) ? world_.chance.scaled(w.slow_max) : 0ns);
}

void change_command::look()
{
    if (++looks_ > looks_max) return end(outcome::gave_up);
    seen_.clear();
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
        if (s.running() && s.complains() == complaint::none) v.facts = s.memory.facts();
        self->seen_.push_back(std::move(v));
        self->ask(server + 1);
    });
}

void change_command::decide()
{
    using refusal = quorum::set_change::refusal;
    quorum::set_change const plan{seen_, member_name(leaves_), member_name(joins_)};
    switch (plan.refused()) {
    case refusal::none: break;
    case refusal::request: return end(outcome::refused, plan.why());
    case refusal::too_few: return end(outcome::too_few, plan.why());
    case refusal::outrun: return end(outcome::outrun, plan.why());
    }
    if (plan.finishes_another()) ++world_.covered->change_finished_for_another;
    if (plan.moved() > 0 && !plan.steps().empty()) ++world_.covered->change_resumed;
    if (plan.steps().empty() && !plan.finishes_another()) return end(outcome::moved);
    take(plan, 0);
}

void change_command::take(quorum::set_change const& plan, std::size_t step)
{
    if (step == plan.steps().size()) return look();
    world_.after(delay(), [self = shared_from_this(), plan, step] {
        auto const& what = plan.steps()[step];
        auto& s = *self->world_.servers()[what.server];
        bool done = false;
        if (s.running()) {
            detail::command c{detail::verb::claim, {}, what.text, {}};
            c.id = what.id;
            c.former = what.expected;
            c.stays = true;
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
