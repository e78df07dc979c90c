// client::status() as JSON. The structured bindings name every member, so that a new one does not compile until it is here.
#include <redlock/json.hpp>

#include "observers/json_words.hpp"

#include <chrono>

namespace redlock {

using detail::error_to_json;
using detail::valid_utf8;
using nlohmann::json;

void to_json(json& to, node_status const& from)
{
    auto const& [node, state, last_error, last_error_text, connects, admission, admission_text, clock_steps, last_clock_step, clock_text,
                 primary, login_text, address_text, shard, is_group] = from;
    to = {
        {"node", valid_utf8(node)},
        {"state", to_string(state)},
        {"last_error", error_to_json<json>(last_error)},
        {"last_error_text", valid_utf8(last_error_text)},
        {"connects", connects},
        {"admission", to_string(admission)},
        {"admission_text", valid_utf8(admission_text)},
        {"clock_steps", clock_steps},
        {"last_clock_step_ms", last_clock_step.count()},
        {"clock_text", valid_utf8(clock_text)},
        {"primary", valid_utf8(primary)},
        {"login_text", valid_utf8(login_text)},
        {"address_text", valid_utf8(address_text)},
        {"shard", shard},
        {"is_group", is_group},
    };
}

void to_json(json& to, client_counters const& from)
{
    auto const& [acquired, handoffs, nested, confirmations, permit_moves, contended, no_majority, validity_exhausted, wakeups, polls,
                 self_deadlocks, late_grants_undone, extensions_renewed, extensions_held, extensions_unknown, extensions_lost, recreated,
                 released, releases_unconfirmed, leases_lost, clock_steps, overruns, watchdog_late, max_overrun, events_dropped] = from;
    to = {
        {"acquired", acquired},
        {"handoffs", handoffs},
        {"nested", nested},
        {"confirmations", confirmations},
        {"permit_moves", permit_moves},
        {"contended", contended},
        {"no_majority", no_majority},
        {"validity_exhausted", validity_exhausted},
        {"wakeups", wakeups},
        {"polls", polls},
        {"self_deadlocks", self_deadlocks},
        {"late_grants_undone", late_grants_undone},
        {"extensions_renewed", extensions_renewed},
        {"extensions_held", extensions_held},
        {"extensions_unknown", extensions_unknown},
        {"extensions_lost", extensions_lost},
        {"recreated", recreated},
        {"released", released},
        {"releases_unconfirmed", releases_unconfirmed},
        {"leases_lost", leases_lost},
        {"clock_steps", clock_steps},
        {"overruns", overruns},
        {"watchdog_late", watchdog_late},
        {"max_overrun_us", std::chrono::duration_cast<std::chrono::microseconds>(max_overrun).count()},
        {"events_dropped", events_dropped},
    };
}

void to_json(json& to, client_status const& from)
{
    auto const& [nodes, counters, leases, waiting, releases_pending] = from;
    to = {{"nodes", nodes}, {"counters", counters}, {"leases", leases}, {"waiting", waiting}, {"releases_pending", releases_pending}};
}

json to_json(client_status const& from) { return json(from); }

}  // namespace redlock
