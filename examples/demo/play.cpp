#include "play.hpp"

#include "text.hpp"

#include <algorithm>

namespace demo {
namespace {

// Numbered from 0; the viewer counts from 1.
constexpr std::size_t killed_node = 1;
constexpr std::size_t stopped_node = 3;
constexpr std::size_t majority[] = {0, 2, 4};

constexpr auto downtime = 2'500ms;
static_assert(downtime > ttl, "a node that forgot its locks may vote again only when all of them would have expired");

bool every_lock_is_held_long(board const& shared)
{
    return std::all_of(shared.locks.begin(), shared.locks.end(),
                       [](lock_record const& record) { return record.long_sections > 0; });
}

bool nobody_is_inside(board const& shared)
{
    return std::all_of(shared.locks.begin(), shared.locks.end(), [](lock_record const& record) { return record.inside == 0; });
}

void contention_with_faults(stage& show)
{
    show.say("demo", "contention: work up to " + milliseconds(work_max) + ", with a ttl of " + milliseconds(ttl), tone::strong);

    show.wait_until(2'500ms);
    show.servers.kill(killed_node);
    show.say_of_node(killed_node, "killed with SIGKILL: four are left, a majority is three", tone::alarm);

    // Its memory is gone with it. Until nodes have to be admitted, the remedy is the delayed restart of Redlock's page.
    show.wait_until(2'500ms + downtime);
    show.servers.restart(killed_node);
    show.say_of_node(killed_node, "back, empty, after longer than any lease could last", tone::good);

    show.wait_until(5'500ms);
    show.servers.stop(stopped_node);
    show.say_of_node(stopped_node, "stopped with SIGSTOP: connected, but silent", tone::warning);

    show.wait_until(8'000ms);
    show.servers.resume(stopped_node);
    show.say_of_node(stopped_node, "goes on: what it still grants is given back", tone::good);
    show.wait_until(9'500ms);
}

void loss_of_the_majority(stage& show)
{
    show.shared.now = phase::hold_long;
    show.say("demo", "now sections that would last " + milliseconds(long_work), tone::strong);
    show.wait_for([&] { return every_lock_is_held_long(show.shared); }, 5s);
    show.wait_for(700ms);

    for (auto const node : majority) show.servers.stop(node);
    show.say("demo", "nodes 1, 3 and 5 stopped: no majority can extend a lease", tone::alarm);
    show.wait_for([&] { return nobody_is_inside(show.shared); }, 2 * ttl);
    show.wait_for(800ms);
}

void recovery(stage& show)
{
    show.shared.now = phase::contend;
    for (auto const node : majority) show.servers.resume(node);
    show.say("demo", "all nodes go on: the locks can be had again", tone::good);
    show.wait_for(2s);

    show.shared.now = phase::finish;
    show.say("demo", "the workers finish", tone::strong);
    bool const finished = show.wait_for([&] { return show.workers.running() == 0; }, 10s);
    if (!finished) show.say("demo", "some workers did not finish in time", tone::alarm);
}

}  // namespace

void play(stage& show)
{
    contention_with_faults(show);
    loss_of_the_majority(show);
    recovery(show);
}

}  // namespace demo
