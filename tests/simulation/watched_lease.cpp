#include "watched_lease.hpp"

#include "judge_arithmetic.hpp"
#include "lock_names.hpp"
#include "transition_log.hpp"

#include <utility>

namespace redlock::simulation {

namespace {

duration stop_margin_of(lock_options const& o) noexcept { return o.stop_margin.value_or(o.ttl / 10); }

}  // namespace

watched_lease::watched_lease(judge& by, process& p, lease& held, lock_options const& options, detached_lease const* adopted)
    : judge_{by}, facts_{p.index(), &held, options, std::string{held.name()}, split_names(held.name())}
{
    facts_.since = by.world().now();
    facts_.token = held.token();
    facts_.reads = held.mode() == lock_mode::shared;
    if (facts_.reads) facts_.options.token_block = 1;
    if (adopted) {
        facts_.lineage = adopted->lineage;
        facts_.value = by.tickets().value_of(facts_, *adopted);
        facts_.first = adopted->token;
        facts_.last = adopted->last;
        by.tickets().arrives(*adopted);
    } else if (auto const* const outer = by.find_outer(facts_)) {
        facts_.nested = true;
        facts_.options = outer->options;
        facts_.since = outer->since;
        facts_.value = outer->value;
    } else {
        facts_.value = by.find_value(facts_);
    }
    facts_.seen_until = held.valid_until();
    if (auto* const r = by.world().records)
        facts_.record = r->lease_begins(facts_.process, facts_.name, by.world().now(), p.clock.when(facts_.seen_until),
                                        facts_.known_value());
    by.add(facts_);
    if (facts_.reads) ++by.world().covered->read;
    by.turns().writer_moved(facts_);
    adopted ? by.tokens().check_proof(facts_) : by.tokens().begins(facts_);
    if (adopted && facts_.token != facts_.first) by.violation("an adopted lease has another token than its ticket: " + facts_.called());
    if (by.world().transitions && facts_.has_tokens() && !facts_.nested)
        by.world().transitions->clients().held(facts_.value, facts_.first, facts_.last);
    if (facts_.names.size() > 1) ++by.world().covered->several_names;
    if (facts_.nested) ++by.world().covered->nested;
    if (!facts_.nested && !facts_.reads) by.turns().begins(facts_);
    bool const at_rest = by.world().paused_between(p, by.world().now() - rounding, by.world().now()) == 0ns;
    if (at_rest && !by.valid(facts_) && held.lost_error() != errc::client_cancelled)
        by.violation("acquire handed out a lease that had ended: " + facts_.called());
}

watched_lease::~watched_lease()
{
    if (judge_.world().processes()[facts_.process]) leaves();
    judge_.turns().writer_moved(facts_);
    judge_.remove(facts_);
    if (auto* const r = judge_.world().records) r->lease_ends(facts_.record, judge_.world().now(), "given back");
}

void watched_lease::leaves(lease const& held)
{
    if (std::exchange(facts_.left, true)) return;
    judge_.turns().ends(facts_, judge_.valid(facts_.process, held));
}

void watched_lease::lost(error_code why)
{
    universe& u = judge_.world();
    if (why == errc::max_hold_exceeded) return had_its_time();
    if (u.records) u.records->lease_ends(facts_.record, u.now(), "lost");
    if (!judge_.assumes().exclusion(false) || facts_.value.empty() || !facts_.is_sure) return;
    process& p = *u.processes()[facts_.process];
    if (u.now() >= p.clock.when(facts_.seen_until - stop_margin_of(facts_.options))) return;  // it was time
    if (judge_.tokens().can_be_extended(facts_) >= most_of(u.servers().size()))
        judge_.violation("a lease was given up although it was valid and a majority of the nodes held its key");
}

// All of max_hold: also one whose lease was passed on to him.
void watched_lease::had_its_time()
{
    universe& u = judge_.world();
    if (facts_.nested || u.paused_between(*u.processes()[facts_.process], facts_.since - rounding, facts_.since) > 0ns) return;
    duration const max_hold = *facts_.options.max_hold;
    if (u.now() - facts_.since < max_hold - between_clocks(max_hold) - rounding)
        judge_.violation("a lease was ended before max_hold: " + facts_.called());
}

void watched_lease::body_ended(bool heeds_cancellation)
{
    universe& u = judge_.world();
    process& p = *u.processes()[facts_.process];
    duration const end = p.clock.when(facts_.held->valid_until());
    if (u.now() <= end) return;
    ++u.covered->body_outlived_lease;
    duration const late = u.now() - end;
    // What it could not know of, it cannot have stopped for: pauses of its own process since it should have heard.
    duration const excuse = u.paused_between(p, end - stop_margin_of(facts_.options), u.now());
    if (heeds_cancellation && late > excuse)
        judge_.violation("a scope's body ran " + std::to_string(late.count()) + " ns past its lease, and only " +
                         std::to_string(excuse.count()) + " ns of that were a pause of its process");
}

void watched_lease::next_token()
{
    bool const there_is_one = facts_.token < facts_.last;
    if (facts_.held->next_token() != there_is_one) judge_.violation("a lease has more tokens, or less, than were asked for");
    if (there_is_one) ++facts_.token;
    if (there_is_one) ++judge_.world().covered->next_token;
    if (facts_.held->token() != facts_.token) judge_.violation("the next token of a lease is not the one after the last");
}

}  // namespace redlock::simulation
