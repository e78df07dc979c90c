// Passes an event to the function of `observer` for its type, and to all members of `observers`. Names the enumerators of events.
#include <redlock/observer.hpp>

#include <cassert>
#include <utility>
#include <variant>

namespace redlock {

void observer::on(event::any const& what)
{
    std::visit([this](auto const& e) { call(e); }, what);
}

observers::observers(std::vector<std::shared_ptr<observer>> all, asio::any_io_executor executor)
    : all_{std::move(all)}, executor_{std::move(executor)}
{
    for ([[maybe_unused]] auto const& each : all_) assert(each);
}

void observers::on(event::any const& what)
{
    for (auto const& each : all_) each->on(what);
}

namespace event {

char const* to_string(origin o) noexcept
{
    switch (o) {
    case origin::nodes: return "nodes";
    case origin::handoff: return "handoff";
    case origin::nested: return "nested";
    case origin::adopted: return "adopted";
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
