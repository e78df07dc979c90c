// Several observers as one, and the words of events.
#include <redlock/observer.hpp>

#include <cassert>
#include <utility>

namespace redlock {

namespace {

template <class Event>
void tell(std::vector<std::shared_ptr<observer>> const& all, void (observer::*how)(Event const&), Event const& what)
{
    for (auto const& each : all) ((*each).*how)(what);
}

}  // namespace

observers::observers(std::vector<std::shared_ptr<observer>> all, asio::any_io_executor executor)
    : all_{std::move(all)}, executor_{std::move(executor)}
{
    for ([[maybe_unused]] auto const& each : all_) assert(each);
}

void observers::on_acquired(event::acquired const& e) { tell(all_, &observer::on_acquired, e); }
void observers::on_contended(event::contended const& e) { tell(all_, &observer::on_contended, e); }
void observers::on_attempt_failed(event::attempt_failed const& e) { tell(all_, &observer::on_attempt_failed, e); }
void observers::on_not_acquired(event::not_acquired const& e) { tell(all_, &observer::on_not_acquired, e); }
void observers::on_self_wait(event::self_wait const& e) { tell(all_, &observer::on_self_wait, e); }
void observers::on_extended(event::extended const& e) { tell(all_, &observer::on_extended, e); }
void observers::on_extension_failed(event::extension_failed const& e) { tell(all_, &observer::on_extension_failed, e); }
void observers::on_lost(event::lost const& e) { tell(all_, &observer::on_lost, e); }
void observers::on_released(event::released const& e) { tell(all_, &observer::on_released, e); }
void observers::on_handed_over(event::handed_over const& e) { tell(all_, &observer::on_handed_over, e); }
void observers::on_overrun(event::overrun const& e) { tell(all_, &observer::on_overrun, e); }
void observers::on_watchdog_late(event::watchdog_late const& e) { tell(all_, &observer::on_watchdog_late, e); }
void observers::on_late_grant_undone(event::late_grant_undone const& e) { tell(all_, &observer::on_late_grant_undone, e); }
void observers::on_node_up(event::node_up const& e) { tell(all_, &observer::on_node_up, e); }
void observers::on_node_down(event::node_down const& e) { tell(all_, &observer::on_node_down, e); }
void observers::on_node_excluded(event::node_excluded const& e) { tell(all_, &observer::on_node_excluded, e); }
void observers::on_node_admitted(event::node_admitted const& e) { tell(all_, &observer::on_node_admitted, e); }
void observers::on_clock_stepped(event::clock_stepped const& e) { tell(all_, &observer::on_clock_stepped, e); }
void observers::on_dropped(event::dropped const& e) { tell(all_, &observer::on_dropped, e); }

namespace event {

char const* to_string(origin o) noexcept
{
    switch (o) {
    case origin::nodes: return "nodes";
    case origin::handed_over: return "handed_over";
    case origin::nested: return "nested";
    }
    return "unknown";
}

char const* to_string(extension_outcome o) noexcept
{
    switch (o) {
    case extension_outcome::held: return "held";
    case extension_outcome::unknown: return "unknown";
    case extension_outcome::lost: return "lost";
    }
    return "unknown";
}

}  // namespace event
}  // namespace redlock
