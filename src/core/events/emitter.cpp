#include "core/events/emitter.hpp"

#include "quorum/lease_machine.hpp"

#include <cassert>
#include <utility>

namespace redlock::detail {

using quorum::extend_outcome;

namespace {

void keep_votes(kept_event& in, quorum::ballot const& votes)
{
    in.votes_count = static_cast<std::uint8_t>(votes.nodes());
    for (std::size_t node = 0; node < votes.nodes(); ++node) in.votes[node] = votes.of(node);
}

}  // namespace

std::unique_ptr<events> events::make(std::shared_ptr<observer> to, asio::any_io_executor const& fallback,
                                     std::vector<node_status> const& nodes, clock_function now, std::function<std::uint64_t()> wall_clock,
                                     counters& count)
{
    if (!to) return nullptr;
    std::vector<std::string> names;
    for (node_status const& n : nodes) names.push_back(n.node);
    auto queue = std::make_shared<event_queue>(std::move(to), fallback, std::move(names), count.events_dropped);
    return std::unique_ptr<events>{new events{std::move(queue), nodes.size(), now, std::move(wall_clock)}};
}

events::events(std::shared_ptr<event_queue> queue, std::size_t nodes, clock_function now, std::function<std::uint64_t()> wall_clock)
    : queue_{std::move(queue)}, now_{now}, wall_clock_{std::move(wall_clock)}, nodes_(nodes)
{
    assert(wall_clock_);
}

void events::acquired(told_lease const& what, time_point started, std::uint32_t attempts)
{
    auto const votes = std::exchange(won_, std::nullopt);
    what.marks = {.from = now_(), .token = what.token};
    add_acquired(what, votes ? event::origin::nodes : event::origin::handoff, started, attempts, votes ? &*votes : nullptr);
}

void events::nested(told_lease const& what, time_point started, std::uint32_t attempts)
{
    add_acquired(what, event::origin::nested, started, attempts, nullptr);
}

void events::adopted(told_lease const& what, time_point started, std::uint32_t attempts)
{
    what.marks = {.from = now_(), .token = what.token};
    add_acquired(what, event::origin::adopted, started, attempts, nullptr);
}

void events::add_acquired(told_lease const& what, event::origin from, time_point started, std::uint32_t attempts,
                          quorum::ballot const* votes)
{
    auto const now = now_();
    event::acquired e{.at = at()};
    e.token = what.token;
    e.origin = from;
    e.waited = now - started;
    e.attempts = attempts;
    e.valid_for = what.valid_until - now;
    e.nodes_held = what.nodes_held;
    e.mode = what.mode;
    kept_event kept{.what = e, .lock = what.lock};
    if (votes) keep_votes(kept, *votes);
    queue_->add(std::move(kept));
}

void events::rejected_locally(lock_name const& lock, time_point started, std::uint32_t attempts)
{
    event::contended e{.at = at()};
    e.by_this_client = true;
    e.waited = now_() - started;
    e.attempts = attempts;
    e.mode = lock->mode();
    queue_->add({.what = e, .lock = lock});
}

void events::attempt_failed(lock_name const& lock, quorum::ballot const& votes, error_code why, time_point started, std::uint32_t attempts)
{
    auto const waited = now_() - started;
    auto const mode = lock->mode();
    kept_event kept{.what = event::contended{.at = at(), .waited = waited, .attempts = attempts, .mode = mode}, .lock = lock};
    if (why != errc::contended)
        kept.what = event::attempt_failed{.at = at(), .why = why, .waited = waited, .attempts = attempts, .mode = mode};
    keep_votes(kept, votes);
    queue_->add(std::move(kept));
}

void events::not_acquired(lock_name const& lock, error_code why, time_point started, std::uint32_t attempts)
{
    event::not_acquired e{.at = at(), .why = why, .waited = now_() - started, .attempts = attempts};
    e.mode = lock->mode();
    queue_->add({.what = e, .lock = lock});
}

void events::self_deadlock(lock_name const& lock) { queue_->add({.what = event::self_deadlock{.at = at()}, .lock = lock}); }

void events::extension_decided(told_lease const& what, extend_outcome outcome, time_point sent)
{
    auto const now = now_();
    auto const left = what.valid_until - now;
    auto const held = what.nodes_held;
    auto const failed = [&](event::extension_outcome how) {
        queue_->add({.what = event::extension_failed{.at = at(),
                                                     .token = what.marks.token,
                                                     .outcome = how,
                                                     .took = now - sent,
                                                     .valid_for = left,
                                                     .nodes_held = held,
                                                     .mode = what.mode},
                     .lock = what.lock});
    };
    switch (outcome) {
    case extend_outcome::renewed:
        return queue_->add({.what = event::extended{.at = at(),
                                                    .token = what.marks.token,
                                                    .took = now - sent,
                                                    .valid_for = left,
                                                    .nodes_held = held,
                                                    .mode = what.mode},
                            .lock = what.lock});
    case extend_outcome::held: return failed(event::extension_outcome::held);
    case extend_outcome::unknown: return failed(event::extension_outcome::unknown);
    case extend_outcome::lost: return failed(event::extension_outcome::lost);
    case extend_outcome::pending: break;
    }
    assert(false);
}

void events::lost(told_lease const& what, errc why)
{
    auto const now = now_();
    what.marks.until = now;
    what.marks.was_lost = true;
    event::lost e{.at = at(),
                  .token = what.marks.token,
                  .why = why,
                  .held_for = now - what.marks.from,
                  .valid_for = what.valid_until - now,
                  .mode = what.mode};
    queue_->add({.what = e, .lock = what.lock});
}

void events::handed_over(told_lease const& what)
{
    queue_->add({.what = event::handoff{.at = at(), .token = what.marks.token, .held_for = now_() - what.marks.from}, .lock = what.lock});
}

void events::detached(told_lease const& what)
{
    queue_->add({.what = event::detached{.at = at(), .token = what.marks.token, .held_for = now_() - what.marks.from}, .lock = what.lock});
}

void events::release_begins(told_lease const& what)
{
    what.marks.given_back = now_();
    if (!what.marks.was_lost) what.marks.until = what.marks.given_back;
}

void events::released(told_lease const& what, error_code result)
{
    event_marks const& seen = what.marks;
    event::released e{.at = at(), .token = seen.token, .held_for = seen.until - seen.from};
    e.took = now_() - seen.given_back;
    e.result = result;
    e.was_lost = seen.was_lost;
    e.mode = what.mode;
    queue_->add({.what = e, .lock = what.lock});
}

void events::overrun(lock_name const& lock, std::uint64_t token, duration by)
{
    queue_->add({.what = event::overrun{.at = at(), .token = token, .by = by}, .lock = lock});
}

void events::watchdog_late(told_lease const& what)
{
    auto const by = now_() - what.valid_until;
    queue_->add({.what = event::watchdog_late{.at = at(), .token = what.marks.token, .by = by}, .lock = what.lock});
}

void events::late_grant_undone(lock_name const& lock, std::size_t node)
{
    queue_->add({.what = event::late_grant_undone{.at = at()}, .lock = lock, .node = node});
}

void events::node_up(std::size_t node, std::string const& text)
{
    nodes_[node].down.reset();
    queue_->add({.what = event::node_up{.at = at()}, .node = node, .text = text});
}

void events::node_down(std::size_t node, error_code why, std::string const& text)
{
    node_memory& said = nodes_[node];
    if (said.down == why && said.text == text) return;
    said.down = why;
    said.text = text;
    queue_->add({.what = event::node_down{.at = at(), .why = why}, .node = node, .text = text});
}

void events::admission(std::size_t node, redlock::admission_state state, std::function<std::string()> const& text)
{
    if (std::exchange(nodes_[node].admission, state) == state) return;
    if (state == redlock::admission_state::unknown) return;  // it is not connected, which is told already
    if (state == redlock::admission_state::admitted) return queue_->add({.what = event::node_admitted{.at = at()}, .node = node});
    queue_->add({.what = event::node_excluded{.at = at(), .admission = state}, .node = node, .text = text()});
}

void events::clock_stepped(std::size_t node, duration by, std::string text)
{
    queue_->add({.what = event::clock_stepped{.at = at(), .by = by}, .node = node, .text = std::move(text)});
}

void events::recovered(std::size_t node) { queue_->add({.what = event::node_recovered{.at = at()}, .node = node}); }

}  // namespace redlock::detail
