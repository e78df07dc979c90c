#include "stage.hpp"

#include "interrupts.hpp"
#include "text.hpp"

#include <algorithm>
#include <utility>

namespace demo {
namespace {

constexpr auto tick_length = 40ms;

picture picture_of(board const& shared, fleet const& servers, std::chrono::nanoseconds at)
{
    picture now{.at = at, .nodes = view(servers.states(), shared)};
    for (std::size_t i = 0; i < lock_count; ++i) {
        auto const& record = shared.locks[i];
        now.holders[i] = record.holder;
        now.cancelled[i] = record.cancelled;
        now.sections += record.sections;
        now.late += record.late;
        now.overlaps += record.overlaps;
        now.stale_tokens += record.stale_tokens;
    }
    for (auto const& worker : shared.workers) now.extensions += worker.extensions;
    return now;
}

std::string name_of_node(std::size_t node) { return "node " + std::to_string(node + 1); }

std::string subject(event const& what) { return is_of_node(what.kind) ? name_of_node(what.subject) : lock_names[what.subject]; }

}  // namespace

stage::stage(board& on_board, fleet& of_servers, crew& of_workers, timeline& lines)
    : shared{on_board}, servers{of_servers}, workers{of_workers}, lines_{lines}, start_{redlock::boot_clock::now()}
{
}

void stage::wait_for(std::chrono::milliseconds length)
{
    auto const end = elapsed() + length;
    while (elapsed() < end) tick();
}

bool stage::wait_for(std::function<bool()> const& condition, std::chrono::milliseconds at_most)
{
    auto const end = elapsed() + at_most;
    while (!condition()) {
        if (elapsed() >= end) return false;
        tick();
    }
    tick();  // shows what led to it
    return true;
}

void stage::say(std::string subject, std::string words, tone what) { lines_.add({elapsed(), std::move(subject), std::move(words), what}); }

void stage::say_of_node(std::size_t node, std::string words, tone what) { say(name_of_node(node), std::move(words), what); }

void stage::tick()
{
    pause(tick_length);
    for (event what; shared.events.pop(what);) show(what);
    for (auto& failure : workers.find_failed()) say("demo", std::move(failure), tone::alarm);
    lines_.draw(picture_of(shared, servers, elapsed()));
}

void stage::show(event const& what)
{
    std::chrono::nanoseconds const value{what.value_ns};
    std::string const who(1, worker_letter(what.worker));
    auto const at = redlock::boot_clock::time_point{std::chrono::nanoseconds{what.at_ns}} - start_;
    auto const add = [&](std::string words, tone how) {
        lines_.add({std::max(at, 0ns), subject(what), who + " " + std::move(words), how});
    };
    switch (what.kind) {
    case event_kind::acquired: return add("acquired after " + milliseconds(value) + ", token " + std::to_string(what.token), tone::plain);
    case event_kind::released:
        return add("released after " + milliseconds(value) + (value > ttl ? " (extended beyond its ttl)" : ""), tone::plain);
    case event_kind::cancelled: return add("scope cancelled, " + tenths_of_ms(value) + " before the end of validity", tone::warning);
    case event_kind::late: return add("LATE: in its section " + tenths_of_ms(value) + " after the end of validity", tone::alarm);
    case event_kind::overlap: return add("OVERLAP: entered while another was inside", tone::alarm);
    case event_kind::unconfirmed: return add("release not confirmed by a majority: the keys expire", tone::warning);
    case event_kind::stale_token: return add("STALE TOKEN: " + std::to_string(what.token) + " is not larger than all before", tone::alarm);
    case event_kind::refused: return add("REFUSED: its write, since a larger token had come before", tone::alarm);
    case event_kind::quarantined: return add(std::string{"quarantines it, since "} + what.words.data(), tone::waiting);
    case event_kind::admitted: return add("lets it vote again, " + milliseconds(value) + " after its restart", tone::good);
    }
}

}  // namespace demo
