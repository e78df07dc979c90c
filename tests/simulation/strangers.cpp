#include "strangers.hpp"

#include <utility>

namespace redlock::simulation {

stranger::stranger(universe& in, judge& rules, std::vector<std::size_t> list, client_settings const& settings, std::string name,
                   lock_options const& options, duration until)
    : world_{in}, rules_{rules}, in_{&in.add_process({time_point{99h}, 0ns, 0})}, name_{std::move(name)}, every_{options.ttl / 4}
{
    in.nodes_known_to[in_->index()] = std::move(list);
    connected_ = make_client(in, *in_, settings);
    in_->visit(in.now(), [&] {
        lock_.emplace(*connected_, name_, options);
        connected_->run([](error_code) {});
    });
    in.at(until, [this] { leave(); });
    attempt();
}

stranger::~stranger()
{
    if (!left_) leave();
}

void stranger::attempt()
{
    if (left_) return;
    world_.after(world_.chance.between(1us, every_), [this] { attempt(); });
    if (held_ || std::exchange(tries_, true)) return;
    in_->visit(world_.now(), [this] { lock_->try_acquire([this](error_code ec, lease got) { answered(ec, std::move(got)); }); });
}

void stranger::answered(error_code ec, lease got)
{
    tries_ = false;
    if (ec == errc::wrong_node_set) ++world_.covered->stranger_refused;
    if (ec) return;
    held_.emplace(std::move(got));
    world_.after(4 * every_, [this] {
        if (!left_) in_->visit(world_.now(), [this] { held_.reset(); });
    });
}

void stranger::check()
{
    if (!left_ && held_ && rules_.overlaps_a_watched_lease(*in_, *held_, name_))
        rules_.violation("a client with another list of nodes holds \"" + name_ + "\" beside somebody else");
}

void stranger::leave()
{
    left_ = true;
    in_->visit(world_.now(), [this] {
        held_.reset();
        lock_.reset();
        connected_.reset();
    });
    world_.kill(*in_);
}

}  // namespace redlock::simulation
