#include "turn_judge.hpp"

#include "judge.hpp"
#include "judge_arithmetic.hpp"
#include "lock_names.hpp"

#include <algorithm>

namespace redlock::simulation {

turn_judge::place::place(judge& by, process const& p, std::string name, wants what)
    : judge_{by}, process_{p.index()}, name_{std::move(name)}, names_{split_names(name_)}, what_{what}, since_{by.world().now()}
{
    by.turns().in_line_.push_back(this);
}

turn_judge::place::~place()
{
    std::erase(judge_.turns().in_line_, this);
    if (what_ == wants::to_write) judge_.turns().writer_moved(name_);
}

// Not checked for leases that are lost already, nor where exclusion is not promised: one client may have two at once then.
void turn_judge::place::served(lease const& with)
{
    if (!judge_.valid(process_, with) || !judge_.assumes().exclusion(false) || what_ == wants::to_read) return;
    if (overtaken_)
        judge_.violation("somebody who asked later was served before: client " + std::to_string(process_) + ", \"" + name_ + "\"");
    for (place* const other : judge_.turns().in_line_) {
        if (other == this) break;
        if (other->process_ == process_ && other->name_ == name_ && other->what_ == what_) other->overtaken_ = true;
    }
}

// What is passed on is passed on at once, since no message is needed for it; while enough is left of it; and neither too often nor
// for too long.
void turn_judge::begins(lease_facts const& w)
{
    auto& row = turns_[{w.process, w.name}];
    auto const now = rules_.world().now();
    auto const& p = *rules_.world().processes()[w.process];
    bool const at_once = row.left == now;  // a message takes longer
    bool const passed_on = row.value == w.known_value() && (w.has_tokens() || at_once);
    if (!passed_on) {
        row = {w.options, now, 0, w.known_value(), {}};
        return;
    }
    ++rules_.world().covered->passed_on;
    ++row.passed_on;
    bool const seen = unseen(p).scopes == 0 && unseen(p).latest < row.left.value_or(now);
    duration const paused = rules_.world().paused_between(p, row.left.value_or(row.began), now);
    if (seen && !row.left) rules_.violation("a lease was passed on after it had ended: " + w.called());
    if (seen && row.left && now - *row.left > paused) rules_.violation("passing on a lease takes time: " + w.called());
    auto const ttl = duration{w.options.ttl};
    if (paused == 0ns && p.clock.when(w.seen_until) - now < (ttl - ttl / 10) / 5)
        rules_.violation("what is passed on of a lease is not worth it: " + w.called());
    if (row.passed_on > row.rules.max_handoffs) rules_.violation("a lease is passed on more often than max_handoffs allows: " + w.called());
    auto const most = duration{row.rules.max_local_hold};
    if (now - row.began > most + between_clocks(most) + rounding + rules_.world().paused_between(p, row.began, now))
        rules_.violation("a lease is passed on after max_local_hold: " + w.called());
}

void turn_judge::check()
{
    if (!free_at_most) return;
    for (place* const each : in_line_) {
        auto const& servers = rules_.world().servers();
        bool const free = std::all_of(servers.begin(), servers.end(),
                                      [&](auto const& s) { return s->memory.admitted() && !is_kept_out(*each, *s); });
        if (!free) {
            each->free_since_.reset();
        } else if (!each->free_since_) {
            each->free_since_ = rules_.world().now();
        } else if (rules_.world().now() - *each->free_since_ > *free_at_most) {
            rules_.violation("\"" + each->name_ + "\" is free, and client " + std::to_string(each->process_) + " does not take it");
        }
    }
}

// Readers do not keep out each other, but a writer's wish does.
bool turn_judge::is_kept_out(place const& who, server& s) const
{
    return std::any_of(who.names_.begin(), who.names_.end(), [&](std::string const& name) {
        auto const* const e = s.find(name);
        if (who.what_ != wants::to_read) return e != nullptr;
        return (e && !e->readers) || s.find(name + ":want");
    });
}

// While a writer waits, and no other one has come or gone, his wish stands.
void turn_judge::reader_served(std::string const& name, duration asked)
{
    if (!wish_known_after) return;
    // Whoever waited behind a writer goes before the next one, also when his lease expired and he does not know yet.
    bool const behind_a_writer = std::ranges::any_of(rules_.leases(),
                                                     [&](lease_facts const* const w) { return !w->reads && !w->left && w->is_of(name); });
    if (behind_a_writer) return;
    for (place const* const each : in_line_) {
        if (each->what_ != wants::to_write || each->name_ != name) continue;
        if (asked > std::max(each->since_, writers_moved_[name]) + *wish_known_after)
            rules_.violation("a reader who came later was let in before a writer of client " + std::to_string(each->process_) +
                             " who waits: \"" + name + "\"");
        else ++rules_.world().covered->let_in_beside_a_waiting_writer;
    }
}

void turn_judge::ends(lease_facts const& w, bool valid)
{
    writer_moved(w);
    auto& row = turns_[{w.process, w.name}];
    if (row.value == w.known_value()) row.left = valid ? std::optional{rules_.world().now()} : std::nullopt;
}

void turn_judge::writer_moved(std::string const& name) { writers_moved_[name] = rules_.world().now(); }

void turn_judge::writer_moved(lease_facts const& w)
{
    if (w.reads) return;
    for (std::string const& name : w.names) writer_moved(name);
}

void turn_judge::scope_gives_up(process const& p) { unseen(p) = {unseen(p).scopes - 1, rules_.world().now()}; }

}  // namespace redlock::simulation
