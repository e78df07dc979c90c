#include "play.hpp"

#include "text.hpp"

#include <algorithm>

namespace demo {
namespace {

// Numbered from 0; the viewer counts from 1.
constexpr std::size_t killed_node = 1;
constexpr std::size_t stopped_node = 3;
constexpr std::size_t minority[] = {3, 4};
constexpr std::size_t majority[] = {0, 2, 4};

constexpr auto downtime = 700ms;
static_assert(downtime < ttl, "it comes back, without its data, while leases that it granted are still held");

bool every_lock_is_held_long(board const& shared)
{
    return std::all_of(shared.locks.begin(), shared.locks.end(), [](lock_record const& record) { return record.long_sections > 0; });
}

bool nobody_is_inside(board const& shared)
{
    return std::all_of(shared.locks.begin(), shared.locks.end(), [](lock_record const& record) { return record.inside == 0; });
}

void restart_empty(stage& show)
{
    auto& record = show.shared.nodes[killed_node];
    record.restarted_at_ns = redlock::boot_clock::now().time_since_epoch().count();
    record.restarts.fetch_add(1);
    show.servers.restart(killed_node);
}

// Whether every worker's client lets every node vote.
bool all_nodes_vote(stage const& show)
{
    auto const nodes = view(show.servers.states(), show.shared);
    return std::all_of(nodes.begin(), nodes.end(), [](node_view node) { return node == node_view::votes; });
}

void opening(stage& show)
{
    show.say("demo", "five new nodes: they vote when every lease would be over that they could have lost before they started", tone::plain);
    bool const all_vote = show.wait_for([&] { return all_nodes_vote(show); }, 10s);
    if (all_vote) show.say("demo", "all of them vote", tone::good);
    else show.say("demo", "some nodes were not admitted in time", tone::alarm);
}

void wait_for_its_admission(stage& show)
{
    bool const is_back = show.wait_for([&] { return show.shared.nodes[killed_node].is_back(); }, 5s);
    if (!is_back) show.say_of_node(killed_node, "not admitted in time", tone::alarm);
}

void loss_of_memory(stage& show)
{
    show.servers.kill(killed_node);
    show.say_of_node(killed_node, "killed with SIGKILL: four are left, a majority is three", tone::alarm);
    show.wait_for(downtime);

    restart_empty(show);
    show.say_of_node(killed_node, "back, empty, while leases that it granted are still held", tone::warning);
    wait_for_its_admission(show);
}

// Three nodes hold every lease, one of them loses its data, and two go on that have not heard of it: a majority, if the first one might vote.
// With `fencing = false` this is where two workers were seen in one section.
void loss_of_memory_in_a_bare_majority(stage& show)
{
    for (auto const node : minority) show.servers.stop(node);
    show.say("demo", "nodes 4 and 5 stopped: leases stand on a bare majority", tone::warning);
    show.wait_for(std::max(ttl, max_work));  // what they know of is over by then

    show.servers.kill(killed_node);
    restart_empty(show);
    for (auto const node : minority) show.servers.resume(node);
    show.say("demo", "node 2 killed and back, empty; nodes 4 and 5 go on: three that know of no lease", tone::alarm);
    wait_for_its_admission(show);
}

void contention_with_faults(stage& show)
{
    show.say("demo", "contention: work up to " + milliseconds(max_work) + ", with a ttl of " + milliseconds(ttl), tone::strong);

    show.wait_for(2'500ms);
    loss_of_memory(show);
    show.wait_for(1s);

    show.servers.stop(stopped_node);
    show.say_of_node(stopped_node, "stopped with SIGSTOP: connected, but silent", tone::warning);

    show.wait_for(2'500ms);
    show.servers.resume(stopped_node);
    show.say_of_node(stopped_node, "goes on: what it still grants is rolled back", tone::good);
    show.wait_for(1'500ms);

    loss_of_memory_in_a_bare_majority(show);
    show.wait_for(1s);
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
    opening(show);
    contention_with_faults(show);
    loss_of_the_majority(show);
    recovery(show);
}

}  // namespace demo
