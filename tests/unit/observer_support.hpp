// One event of each kind, for the ready-made observers.
#ifndef REDLOCK_TESTS_UNIT_OBSERVER_SUPPORT_HPP
#define REDLOCK_TESTS_UNIT_OBSERVER_SUPPORT_HPP

#include <redlock/observer.hpp>

#include <array>
#include <chrono>
#include <string_view>
#include <variant>

namespace redlock::testing {

using namespace std::chrono_literals;

inline constexpr event::time noon = std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h + 412us;

inline constexpr std::array<event::node_vote, 3> some_votes{
    {{"10.0.0.1:6379", vote::granted}, {"10.0.0.2:6379", vote::failed}, {"10.0.0.3:6379", vote::pending}}};

inline constexpr std::size_t kinds_of_events = std::variant_size_v<event::any>;

inline void tell_everything(observer& o, std::string_view lock = "resource", std::string_view node = "10.0.0.1:6379")
{
    o.on(event::acquired{.at = noon,
                         .lock = lock,
                         .token = 7,
                         .origin = event::origin::nodes,
                         .waited = 1500us,
                         .attempts = 2,
                         .valid_for = 9s,
                         .nodes_held = 2,
                         .votes = some_votes});
    o.on(event::contended{.at = noon, .lock = lock, .by_this_client = true, .waited = 1ms, .attempts = 1});
    o.on(event::attempt_failed{.at = noon, .lock = lock, .why = errc::no_majority, .waited = 1ms, .attempts = 1, .votes = some_votes});
    o.on(event::not_acquired{.at = noon, .lock = lock, .why = errc::acquire_timed_out, .waited = 3s, .attempts = 4});
    o.on(event::self_deadlock{.at = noon, .lock = lock});
    o.on(event::extended{.at = noon, .lock = lock, .token = 7, .took = 2ms, .valid_for = 9s, .nodes_held = 3});
    o.on(event::extension_failed{.at = noon,
                                 .lock = lock,
                                 .token = 7,
                                 .outcome = event::extension_outcome::unknown,
                                 .took = 500ms,
                                 .valid_for = 2s,
                                 .nodes_held = 1});
    o.on(event::lost{.at = noon, .lock = lock, .token = 7, .why = errc::lease_lost, .held_for = 20s, .valid_for = 900ms});
    o.on(event::released{.at = noon, .lock = lock, .token = 7, .held_for = 20s, .took = 1ms, .result = errc::lease_lost, .was_lost = true});
    o.on(event::handoff{.at = noon, .lock = lock, .token = 7, .held_for = 2s});
    o.on(event::overrun{.at = noon, .lock = lock, .token = 7, .by = 1s});
    o.on(event::watchdog_late{.at = noon, .lock = lock, .token = 7, .by = 1s});
    o.on(event::late_grant_undone{.at = noon, .lock = lock, .node = node});
    o.on(event::node_up{.at = noon, .node = node});
    o.on(event::node_down{.at = noon, .node = node, .why = errc::node_unreachable, .text = "refused"});
    o.on(event::node_excluded{.at = noon, .node = node, .admission = admission_state::quarantined, .text = "3 s left"});
    o.on(event::node_admitted{.at = noon, .node = node});
    o.on(event::clock_stepped{.at = noon, .node = node, .by = -40s, .text = "its clock was set back"});
    o.on(event::dropped{.at = noon, .events = 3});
    o.on(event::detached{.at = noon, .lock = lock, .token = 7, .held_for = 2s});
    o.on(event::node_recovered{.at = noon, .node = node});
}

}  // namespace redlock::testing

#endif
