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

}  // namespace redlock
