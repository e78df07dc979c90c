#include "cli/dashboard/lock_watch.hpp"

#include "cli/locks/slot_search.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace redlock::cli {

lock_watch::lock_watch(config const& settings, lock_watch_settings how, handler tell)
    : how_{std::move(how)},
      nodes_{settings, how_.timeout},
      pattern_{nodes_.keys(), how_.pattern, nodes_.has_all_shards()},
      tell_{std::move(tell)},
      problems_(settings.nodes.size()),
      thread_{[this] { run(); }}
{
}

lock_watch::~lock_watch()
{
    nodes_.interrupt();
    thread_.join();
}

void lock_watch::problems(std::vector<std::string> by_node)
{
    std::lock_guard const guard{problems_mutex_};
    problems_ = std::move(by_node);
}

void lock_watch::run()
{
    using std::chrono::steady_clock;
    while (!nodes_.interrupted()) {
        auto limits = how_.limits;
        {
            std::lock_guard const guard{problems_mutex_};
            limits.problems = problems_;
        }
        auto const began = steady_clock::now();
        auto result = find_locks(nodes_, pattern_, limits);
        gather_slots(nodes_, result);
        take_shards_off(nodes_, result);
        if (nodes_.interrupted()) return;
        auto const took = std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now() - began);
        tell_({std::move(result), std::chrono::system_clock::now()});
        // Half of the time at the most, so that the servers have the other half for their clients.
        if (!nodes_.pause(std::max(took, how_.interval - std::min(took, how_.interval)))) return;
    }
}

}  // namespace redlock::cli
