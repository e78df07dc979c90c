#include "simulated_client.hpp"

#include "client/basic_core.hpp"
#include "link.hpp"

#include <redlock/detail/access.hpp>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/strand.hpp>

#include <cstdint>
#include <string>

namespace redlock::simulation {

std::string member_name(std::size_t server) { return "s" + std::to_string(server); }

std::shared_ptr<client> make_client(universe& in, process& p, client_settings const& chosen)
{
    asio::any_io_executor const executor{p.get_executor()};
    asio::strand<process::executor_type> const strand{p.get_executor()};
    detail::engine_settings settings;
    settings.jitter_seed = static_cast<std::uint32_t>(in.chance.next());
    settings.fresh_value = [prefix = "p" + std::to_string(p.index()) + "-", n = 0]() mutable { return prefix + std::to_string(++n); };
    settings.wall_clock = [&in, wall = chosen.wall] {
        return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(wall + in.now()).count());
    };
    settings.max_ttl = chosen.max_ttl;
    settings.token_retention = chosen.token_retention;
    settings.bootstrap = chosen.bootstrap;
    settings.quarantines = chosen.quarantines;
    if (chosen.has_sets)
        for (auto const i : in.nodes_of(p)) settings.sets.members.push_back(member_name(i));
    settings.run_here = [strand, &in](detail::task& what, detail::time_point now, std::shared_ptr<void> engine) {
        if (strand.running_in_this_thread() || in.chance.one_in(2)) return false;
        ++in.covered->started_by_caller;
        asio::dispatch(strand, [keeps = std::move(engine), what = std::move(what), now]() mutable { what(now); });
        return true;
    };
    auto core = detail::basic_core<simulated_clock>::make(executor, strand, in.nodes_for(p, strand), std::move(settings));
    return std::make_shared<client>(detail::access::make_client(std::move(core)));
}

}  // namespace redlock::simulation
