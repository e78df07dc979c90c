#include "transition_log.hpp"

#include "universe.hpp"

namespace redlock::simulation {

void transition_log::begin(std::uint64_t seed, bool bootstrap)
{
    text_.line("schedule " + text_of(seed) + " " + text_of(universe_.servers().size()) + (bootstrap ? " bootstrap" : ""));
    for (auto const& s : universe_.servers()) servers_.begin(*s);
}

void transition_log::sent(process const& p, server const& to, detail::command const& c, std::string_view learned, bool is_on_its_way)
{
    if (c.what == detail::verb::acquire && c.fenced) servers_.add_names(c);
    clients_.sent(p, to, c, learned, is_on_its_way);
}

}  // namespace redlock::simulation
