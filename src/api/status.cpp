#include <redlock/status.hpp>

namespace redlock {

char const* to_string(node_state state) noexcept
{
    switch (state) {
    case node_state::idle: return "idle";
    case node_state::connecting: return "connecting";
    case node_state::usable: return "usable";
    case node_state::down: return "down";
    }
    return "unknown";
}

char const* to_string(admission_state s) noexcept
{
    switch (s) {
    case admission_state::unknown: return "unknown";
    case admission_state::admitted: return "admitted";
    case admission_state::not_primary: return "not_primary";
    case admission_state::unidentified: return "unidentified";
    case admission_state::uninitialized: return "uninitialized";
    case admission_state::quarantined: return "quarantined";
    case admission_state::catching_up: return "catching_up";
    case admission_state::needs_operator: return "needs_operator";
    }
    return "unknown";
}

}  // namespace redlock
