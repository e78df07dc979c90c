#include "node_view.hpp"

#include <redlock/status.hpp>

namespace demo {
namespace {

node_view view(server_state done, board const& shared, std::size_t node)
{
    if (done == server_state::killed) return node_view::killed;
    if (done == server_state::stopped) return node_view::stopped;
    std::size_t admitted = 0;
    std::size_t unknown = 0;
    for (auto const& worker : shared.workers) {
        auto const admission = worker.admissions[node].load();
        if (admission == redlock::admission_state::admitted) ++admitted;
        if (admission == redlock::admission_state::unknown) ++unknown;
    }
    if (admitted == worker_count) return node_view::votes;
    return admitted + unknown == worker_count ? node_view::unconnected : node_view::quarantined;
}

}  // namespace

node_views view(server_states const& done, board const& shared)
{
    node_views all{};
    for (std::size_t node = 0; node < node_count; ++node) all[node] = view(done[node], shared, node);
    return all;
}

char glyph(node_view node)
{
    switch (node) {
    case node_view::votes: return '=';
    case node_view::unconnected: return '.';
    case node_view::quarantined: return 'q';
    case node_view::stopped: return '-';
    case node_view::killed: return 'x';
    }
    return '?';
}

tone colour(node_view node)
{
    switch (node) {
    case node_view::votes: return tone::good;
    case node_view::unconnected: return tone::quiet;
    case node_view::quarantined: return tone::waiting;
    case node_view::stopped: return tone::warning;
    case node_view::killed: return tone::alarm;
    }
    return tone::plain;
}

char const* word(node_view node)
{
    switch (node) {
    case node_view::votes: return "votes";
    case node_view::unconnected: return "up";
    case node_view::quarantined: return "QUARANTINED";
    case node_view::stopped: return "STOPPED";
    case node_view::killed: return "KILLED";
    }
    return "";
}

}  // namespace demo
