#include <redlock/status.hpp>

namespace redlock {

char const* to_string(node_state state) noexcept
{
    switch (state) {
    case node_state::connecting: return "connecting";
    case node_state::usable: return "usable";
    case node_state::down: return "down";
    }
    return "unknown";
}

char const* to_string(standing s) noexcept
{
    switch (s) {
    case standing::unknown: return "unknown";
    case standing::admitted: return "admitted";
    case standing::no_master: return "no master";
    case standing::unidentified: return "unidentified";
    case standing::marking: return "not admitted";
    case standing::draining: return "draining";
    case standing::catching_up: return "catching up";
    case standing::stranded: return "stranded";
    }
    return "unknown";
}

}  // namespace redlock
