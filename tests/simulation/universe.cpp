#include "universe.hpp"

#include "link.hpp"
#include "transition_log.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::simulation {

universe::universe(std::uint64_t seed, recorder* r) : chance{seed}, covered{&nowhere_}, records{r} {}

universe::~universe() { destroy_processes(); }

void universe::destroy_processes()
{
    living_.clear();
    for (auto& p : processes_) p.reset();
}

server& universe::add_server(machine_clock const& clock)
{
    assert(processes_.empty());
    servers_.push_back(std::make_unique<server>(*this, servers_.size(), clock));
    return *servers_.back();
}

process& universe::add_process(machine_clock const& clock)
{
    processes_.push_back(std::make_unique<process>(processes_.size(), clock));
    living_.push_back(processes_.back().get());
    for (auto const& s : servers_) links_.push_back(std::make_unique<link>(*this, *processes_.back(), *s));
    return *processes_.back();
}

std::vector<std::unique_ptr<detail::node>> universe::nodes_for(process& p, asio::any_io_executor const& strand)
{
    if (make_nodes) return make_nodes(p, strand);
    std::vector<std::unique_ptr<detail::node>> nodes;
    for (auto const i : nodes_of(p)) nodes.push_back(between(p, *servers_[i]).front(strand));
    return nodes;
}

std::vector<std::size_t> universe::nodes_of(process const& p) const
{
    if (auto const own = nodes_known_to.find(p.index()); own != nodes_known_to.end()) return own->second;
    std::vector<std::size_t> all;
    for (auto const& s : servers_) all.push_back(s->index());
    return all;
}

void universe::kill(process& p)
{
    if (records) records->process_killed(p.index(), now_);
    if (transitions) transitions->clients().killed(p.index());
    std::erase(living_, &p);
    processes_[p.index()].reset();
}

void universe::at(duration when, event f)
{
    std::size_t place = what_.size();
    if (free_places_.empty()) {
        what_.push_back(std::move(f));
    } else {
        place = free_places_.back();
        free_places_.pop_back();
        what_[place] = std::move(f);
    }
    events_.push_back({std::max(when, now_), (chance.next() << 32) | (steps_ & 0xffffffffu), place});
    std::push_heap(events_.begin(), events_.end());
}

void universe::pause(process& p, duration d)
{
    if (!p.running()) return;
    p.stop();
    auto const from = std::max(now_, end_of_last_pause(p));
    pauses_.push_back({p.index(), from, std::max(from, now_ + d)});
    if (records) records->process_paused(p.index(), now_, now_ + d);
    at(now_ + d, [this, index = p.index()] {
        if (processes_[index]) processes_[index]->go_on();
    });
}

void universe::suspend(process& p, duration d)
{
    if (!p.running()) return;
    auto const late = chance.between(0ns, 200ms);  // as long as boot_wait_traits lets a timer sleep
    pause(p, d);
    auto& record = pauses_.back();
    record.to = std::max(record.from, now_ + d + late);
    p.suspended(d, now_ + d, late);  // nothing runs before then
}

duration universe::end_of_last_pause(process const& p) const noexcept
{
    auto const is_of_it = [&](pause_record const& each) { return each.process == p.index(); };
    auto const last = std::find_if(pauses_.rbegin(), pauses_.rend(), is_of_it);
    return last == pauses_.rend() ? duration::zero() : last->to;
}

duration universe::paused_between(process const& p, duration from, duration to) const noexcept
{
    duration sum{};
    for (auto const& each : pauses_)
        if (each.process == p.index()) sum += std::max(duration::zero(), std::min(to, each.to) - std::max(from, each.from));
    return sum;
}

bool universe::step(duration limit)
{
    ++steps_;
    bool const happened = run_a_handler() || let_time_pass(limit);
    if (happened && after_step) after_step();
    return happened;
}

void universe::advance(duration d)
{
    auto const end = now_ + d;
    while (step(end)) assert(steps_ <= max_steps);
    now_ = end;
}

bool universe::run_a_handler()
{
    std::size_t ready = 0;
    for (process const* const p : living_)
        if (p->running()) ready += p->ready();
    if (ready == 0) return false;
    std::size_t place = ready == 1 ? 0 : chance.below(ready);
    for (process* const p : living_) {
        if (!p->running()) continue;
        if (place >= p->ready()) {
            place -= p->ready();
            continue;
        }
        mix_into_fingerprint(static_cast<std::uint64_t>(now_.count()) ^ (ready << 56) ^ (p->index() << 48));
        p->run_one(chance, now_);
        if (pause_one_in > 0 && chance.one_in(pause_one_in)) pause(*p, chance.between(1us, max_short_pause));
        return true;
    }
    return false;
}

bool universe::let_time_pass(duration limit)
{
    process* rings = nullptr;
    duration next = events_.empty() ? duration::max() : events_.front().when;
    for (process* const p : living_) {
        if (!p->running() || !p->has_timers()) continue;
        if (auto const t = p->next_timer(); t < next) {
            next = t;
            rings = p;
        }
    }
    if (next == duration::max() || next > limit) return false;
    now_ = std::max(now_, next);
    if (rings) {
        mix_into_fingerprint(static_cast<std::uint64_t>(now_.count()) ^ (rings->index() << 60));
        rings->ring(chance, now_);
        return true;
    }
    std::pop_heap(events_.begin(), events_.end());
    std::size_t const place = events_.back().place;
    events_.pop_back();
    event what = std::move(what_[place]);
    free_places_.push_back(place);
    mix_into_fingerprint(static_cast<std::uint64_t>(now_.count()));
    what();
    return true;
}

}  // namespace redlock::simulation
