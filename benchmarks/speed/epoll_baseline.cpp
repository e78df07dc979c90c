// The baseline over epoll, measured.
#include "epoll_loop.hpp"

namespace bench {

sample run_epoll_baseline(workload const& what)
{
    meter figures;
    epoll_loop loop{what, figures};
    loop.start();
    if (what.in_step) {
        measure_in_step(what, figures, [&] {
            while (loop.turn(0)) {}
        });
        return figures.end();
    }
    auto const begin = steady::now() + what.warm_up;
    auto const end = begin + what.measured;
    while (steady::now() < begin) loop.turn();
    if (what.at_begin) what.at_begin();
    figures.begin();
    while (steady::now() < end || (figures.has_no_pairs() && steady::now() < end + max_busy_machine)) loop.turn();
    return figures.end();
}

}  // namespace bench
