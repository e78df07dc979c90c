# Votes.
redlock_mutant(half_is_a_majority "N/2 nodes are a majority"
    FILE src/quorum/votes.hpp FROM "return nodes / 2 + 1;" TO "return nodes < 2 ? 1 : nodes / 2;"
    SOURCES ${core_sources})
redlock_mutant(silence_is_consent "a node that did not answer in time counts as granted"
    FILE src/quorum/acquire_machine.cpp
    FROM "        votes_.cast(node, vote::failed);
" TO "        if (votes_.of(node) == vote::pending) { held_.add(node); confirmed_.add(node); token_ = token_.value_or(1); }
        votes_.cast(node, vote::granted);
")

# Validity.
redlock_mutant(validity_from_the_reply "validity is counted from the reply, not from before the request"
    FILE src/quorum/acquire_machine.cpp FROM "        held_.add(node);" TO "        held_.add(node); sent_ = now;")
redlock_mutant(no_drift "validity leaves nothing for clocks that run at different rates"
    FILE src/quorum/timing.cpp FROM "return ttl - allowance - expiry_granularity;" TO "return ttl - 0 * allowance - expiry_granularity;")
redlock_mutant(no_granularity "validity leaves nothing for servers that count in milliseconds"
    FILE src/quorum/timing.cpp FROM "return ttl - allowance - expiry_granularity;" TO "return ttl - allowance;")
redlock_mutant(largest_deadline "a lease is valid until the last node's deadline, not the M-th largest"
    FILE src/quorum/tenure.cpp FROM "until_.latest(needed_)" TO "until_.latest(1)"
    FILE2 src/quorum/tenure.cpp FROM2 ">= needed_) count_anew();" TO2 ">= 1) count_anew();")
redlock_mutant(steady_clock "leases are measured with CLOCK_MONOTONIC, which stops while a machine is suspended"
    FILE src/api/clock.cpp FROM "constexpr clockid_t clock = CLOCK_BOOTTIME;" TO "constexpr clockid_t clock = CLOCK_MONOTONIC;")
redlock_mutant(valid_without_a_look "lease::valid() believes that a timer would have fired"
    FILE src/api/lease.cpp FROM "return state_->owner->now() < state_->valid_until() - min_left;" TO "return true;")
redlock_mutant(exhausted_is_acquired "an attempt that took longer than its validity is a lease"
    FILE src/quorum/acquire_machine.cpp FROM "now < deadline() - timing_->stop_margin" TO "now < now + timing_->ttl")

# Undo and release.
redlock_mutant(no_undo "what a failed attempt was granted is not given back"
    FILE src/core/acquire/acquisitions.cpp FROM "    releases_.start(a.record(), now, errc{}, a.refused());
" TO "")
redlock_mutant(undo_only_granters "only nodes that are known to have granted are asked to undo"
    FILE src/core/acquire/acquisitions.cpp FROM "releases_.start(a.record(), now, errc{}, a.refused());"
    TO "quorum::node_set others; for (std::size_t node = 0; node < env_.to_nodes->nodes(); ++node) if (!a.granted().has(node)) others.add(node); releases_.start(a.record(), now, errc{}, others);"
    FILE2 src/core/lease/releases.cpp FROM2 "    if (r && r->is_pending(node)) return;" TO2 "    return;")
redlock_mutant(cancelled_is_not_undone "an acquisition whose caller gave up is forgotten"
    FILE src/core/acquire/acquisitions.cpp FROM "    give_up_attempt_of(what);
    finish(what, asio::error::operation_aborted, {});" TO "    if (auto const a = std::exchange(what.current, nullptr)) { a->leave_caller(); env_.cancel_timer(*a); }
    finish(what, asio::error::operation_aborted, {});")
redlock_mutant(owed_releases_forgotten "a release that a lost connection left unanswered is not repeated"
    FILE src/core/fanout_lagging.cpp FROM "if (has_room && t.asked_by->wanted(node, now)) l.queue.push_back(t);" TO "static_cast<void>(has_room);")
redlock_mutant(destructor_forgets "a destroyed lease is not released"
    FILE src/api/lease.cpp FROM "owner->let_go(std::move(state_));" TO "state_.reset();")
redlock_mutant(release_not_shielded "a cancellation reaches the release of a scope"
    FILE src/api/scope.cpp FROM "asio::disable_cancellation()" TO "asio::enable_total_cancellation()")
redlock_mutant(value_reused "a client uses one value for all its attempts"
    FILE src/core/acquire/acquisitions.cpp FROM "env_.fresh_value()" TO "env_.fresh_value().text().substr(0, 3) + \"same\"")
redlock_mutant(release_deletes_anything "the release script does not compare values"
    FILE src/testing/redis_model.cpp FROM "            if (!is_ours(c, key, now)) return refused();
            del(key);" TO "            if (!find(key, now)) return refused();
            del(key);")

# Extension.
redlock_mutant(extension_of_anything "the extension script does not compare values"
    FILE src/testing/redis_model.cpp FROM "    if (!is_ours(c, key, now)) return refused();
    renew(" TO "    if (!find(key, now)) return refused();
    renew("
    FILE2 src/testing/redis_model.cpp FROM2 "    entry* const holder = find(key, now);
    if (holder && holder->value != c.value) return refused();" TO2 "    entry* const holder = find(key, now);")
redlock_mutant(unknown_is_renewed "an extension that too few nodes answered counts as renewed"
    FILE src/quorum/lease_machine.cpp FROM "    } else if (votes_.pending() == 0) {" TO "    } else if (votes_.pending() == 0) {
        for (std::size_t node = 0; node < votes_.nodes(); ++node) lease.holders().holds(node, renewed_until_[node]);")
redlock_mutant(unknown_is_lost "an extension that too few nodes answered counts as lost"
    FILE src/quorum/lease_machine.cpp FROM "extend_outcome::held : extend_outcome::unknown;" TO "extend_outcome::held : extend_outcome::lost;")
redlock_mutant(renewed_from_the_reply "a renewal is counted from its reply"
    FILE src/quorum/lease_machine.cpp FROM "renewed_until_.set(node, now + validity_)" TO "renewed_until_.set(node, now + validity_ + node_timeout_)")
redlock_mutant(extends_after_the_end "a lease whose end has passed is extended"
    FILE src/core/lease/lease_registry.cpp FROM "if (what.is_lease() && now >= what.machine.stops_at()) lose(what, end_of(what, now));" TO "")

# The end of a lease.
redlock_mutant(scope_cancelled_late "a scope is cancelled after the validity of its lease"
    FILE src/quorum/lease_machine.cpp FROM "time_point const at = holders_.valid_until() - timing_->stop_margin;" TO "time_point const at = holders_.valid_until() + timing_->stop_margin;")
redlock_mutant(loss_is_not_told "who waits for the loss of a lease is not told"
    FILE src/core/lease/lease_registry.cpp FROM "        h.complete_waiters(why);
" TO "")
redlock_mutant(max_hold_ignored "max_hold does not end a lease"
    FILE src/quorum/lease_machine.cpp FROM "return timing_->max_hold ? std::min(at, acquired_ + *timing_->max_hold) : at;" TO "return at;")
redlock_mutant(deadline_ignored "acquire() goes on after its deadline"
    FILE src/core/acquire/acquisition.cpp FROM "    if (now >= deadline) {" TO "    if (now >= never) {")

# Tokens.
redlock_mutant(one_round "a lease has the largest token of one round, and nobody confirms it"
    FILE src/quorum/acquire_machine.cpp FROM "        confirmed_ = {};
" TO "")
redlock_mutant(confirm_without_guard "confirm counts also where a larger token was given"
    FILE src/testing/redis_model.cpp FROM "    if (before->highest > c.token || record->base > c.token) return refused();  // the guard
" TO "")
redlock_mutant(late_grants_above_the_token "a grant that arrived after the token was chosen counts though it is larger"
    FILE src/quorum/acquire_machine.cpp FROM "if (v == vote::granted && !fits(counter)) v = vote::refused;" TO ""
    FILE2 src/quorum/acquire_machine.cpp FROM2 "    if (counter > largest_) {
        assert(!token_);" TO2 "    if (token_ && counter > largest_) confirmed_.add(node);
    if (!token_ && counter > largest_) {")
redlock_mutant(extend_without_guard "a lease is extended also where a larger token was given"
    FILE src/testing/redis_model.cpp FROM "    if (record->base > c.token || (before > c.token && !marked)) return needs_guard(std::max(before, record->base));
    bool const was_there" TO "    if (!holder && (before > c.token || record->base > c.token)) return needs_guard(std::max(before, record->base));
    bool const was_there")
redlock_mutant(recreate_without_guard "a key is recreated again also where a larger token was given"
    FILE src/testing/redis_model.cpp FROM "    if (record->base > c.token || (before > c.token && !marked)) return needs_guard(std::max(before, record->base));
    bool const was_there" TO "    if (holder && (before > c.token || record->base > c.token)) return needs_guard(std::max(before, record->base));
    bool const was_there")
redlock_mutant(climb_without_the_old_guard "a lease climbs also where a larger token was given"
    FILE src/testing/redis_model.cpp FROM "    if (record->base > c.token || (before > c.token && !marked)) return refused();  // the guard
    set_counter(key, c.more().goal, c.retention, now, true);" TO "    set_counter(key, std::max(before, c.more().goal), c.retention, now, true);"
    FILE2 src/core/lease/extension.cpp FROM2 "if (is_kept) owner_" TO2 "static_cast<void>(is_kept), owner_")
redlock_mutant(climb_on_a_minority "a lease has climbed as soon as one node has granted it"
    FILE src/core/lease/climb.cpp FROM "if (votes_.majority_granted()) return end(true, now);" TO "if (answer.vote == vote::granted) return end(true, now);")
redlock_mutant(acquire_ignores_base "acquire counts on from the counter, and not from what the server was told at its admission"
    FILE src/testing/redis_model.cpp FROM "token_number const last = std::max(before->highest, record->new_tokens_above());" TO "token_number const last = before->highest;")
redlock_mutant(lost_counter_is_zero "a counter that is gone reads as zero"
    FILE src/testing/redis_model.cpp FROM "token_number const one = fence ? *fence->value : *high_water;" TO "token_number const one = fence ? *fence->value : 0;")
redlock_mutant(mark_lags_behind "confirm does not raise the high-water mark"
    FILE src/testing/redis_model.cpp FROM "    for (std::size_t i = 0; i < c.key_count(); ++i) set_counter(c.key_at(i), c.token, c.retention, now);
" TO "    auto const kept = high_water;
    for (std::size_t i = 0; i < c.key_count(); ++i) set_counter(c.key_at(i), c.token, c.retention, now);
    high_water = kept;
"
    FILE2 src/testing/redis_model.cpp FROM2 "        set_counter(key, c.token, c.retention, now);" TO2 "        auto const kept = high_water;
        set_counter(key, c.token, c.retention, now);
        high_water = kept;")
redlock_mutant(block_is_one_step "acquire raises the counter by one for a block of tokens"
    FILE src/testing/redis_model.cpp FROM "token_number token = last + c.block;" TO "token_number token = last + 1;")
redlock_mutant(floor_into_the_block "a floor counts also if it makes the step smaller than the block"
    FILE src/testing/redis_model.cpp FROM "if (c.token > token && floor_counts" TO "if (c.token > last && floor_counts")

# Admission. That leases as long as a node's own record allows are waited for, also where no node is admitted, is held by admission_test: of 15,000
# schedules with leases that are longer than some client's max_ttl (every 32nd seed) none needs it. That a recovery begins with the wall clock is held by
# recovery_test: the lower bounds that clients send cover for it in 40,000 schedules.
redlock_mutant(no_drain "a node votes again without waiting for what it forgot"
    FILE src/quorum/admission.cpp FROM "return n.quarantined_since + drain_of(longest_ttl_, settings_.clock_drift);" TO "return n.quarantined_since + 0 * longest_ttl_;")
redlock_mutant(no_catch_up "a node votes again without hearing what the others remember"
    FILE src/quorum/admission.cpp FROM "        r.base = std::max(r.base, each.facts.high_water);
" TO "")
redlock_mutant(one_too_few "a node is admitted on what one node too few remembers"
    FILE src/quorum/admission.hpp FROM "return (size_ + 1) / 2;" TO "return (size_ + 1) / 2 - 1;" SOURCES ${core_sources})
redlock_mutant(marks_of_before "the others' marks may have been read before the drain was over"
    FILE src/quorum/admission.cpp FROM "!n.look_again && n.seen >= drained;" TO "!n.look_again;"
    FILE2 src/quorum/admission.cpp FROM2 "each.state != admission_state::admitted || each.seen < drained" TO2 "each.state != admission_state::admitted")
redlock_mutant(founded_on_old_facts "a cluster is founded on what its nodes said before the last drain was over"
    FILE src/quorum/admission.cpp FROM "(!no_quarantine && !all_read_since_the_last_quarantine())" TO "(!no_quarantine && never())"
    FILE2 src/quorum/admission.cpp FROM2 "constexpr duration min_look_after" TO2 "constexpr bool never() { return false; }
constexpr duration min_look_after")
redlock_mutant(recovery_without_wait "where most nodes have lost their data, they vote again before earlier leases are over"
    FILE src/quorum/admission.cpp FROM "return !is_waiting(n.state) || now >= outlived_at(n);" TO "return admitted() > 0 || now >= outlived_at(n);"
    FILE2 src/quorum/admission.cpp FROM2 "last = std::max({last, outlived_at(n), n.marked});" TO2 "last = std::max({last, admitted() > 0 ? n.marked : outlived_at(n), n.marked});")
redlock_mutant(mark_not_compared "an admission counts for any loss"
    FILE src/testing/redis_model.cpp FROM "    if (record->mark.empty() || record->mark != c.value) return refused();
" TO "")
redlock_mutant(carried_without_mark "a wait goes on that was for another loss of the same server"
    FILE src/quorum/admission.cpp FROM "if (s.id == n.facts.id && s.mark == n.mark && " TO "if (s.id == n.facts.id && ")
redlock_mutant(uptime_of_before "where no node has data, what a server said before it had its mark counts"
    FILE src/quorum/admission.cpp FROM "facts.without_loss > duration::zero() && !n.mark.empty() && n.mark == facts.mark;" TO "facts.without_loss > duration::zero();"
    FILE2 src/quorum/admission.cpp FROM2 "    n.kept_since = time_point::max();
" TO2 "")
redlock_mutant(flush_does_not_show "a server that was flushed says that it has lost nothing since its start"
    FILE src/testing/redis_store.cpp FROM "    kept_since.reset();
" TO "")
redlock_mutant(no_trailing_check "grants count though the look behind them shows another server"
    FILE tests/simulation/link.cpp FROM "        m.answers[i] = reply{vote::failed," TO "        if (m.answers[i].vote != vote::granted) m.answers[i] = reply{vote::failed,")
redlock_mutant(any_record_will_do "scripts do not compare the id in the record"
    FILE src/testing/redis_model.cpp FROM "!remembers(learned)) return not_admitted();" TO "!(record && high_water)) return not_admitted();")

# Lines: who waits within one client.
redlock_mutant(passed_on_too_late "a lease is passed on however little of it is left"
    FILE src/core/acquire/wait_queue.cpp FROM "    if (lease.machine.left(now) < lease.what->under->times.validity / worth_passing_on) return false;
" TO "")
redlock_mutant(passed_on_with_its_token "a lease is passed on without tokens of its own"
    FILE src/core/lease/lease_record.cpp FROM "        h->last_token = last_reserved() - tokens_left;" TO "        h->last_token = first.last_token;")
redlock_mutant(passed_on_to_anybody "a lease is passed on to somebody who asked with other options"
    FILE src/core/acquire/wait_queue.cpp FROM "    if (!next.takes_what_is_held(lease)) return false;
" TO "")
redlock_mutant(passed_on_too_often "passing on does not heed max_handoffs"
    FILE src/quorum/waiting/fairness.cpp FROM "return taken_ < limits.handoffs && now < began_ + limits.time;" TO "return now < began_ + limits.time;")
redlock_mutant(passed_on_too_long "passing on does not heed max_local_hold"
    FILE src/quorum/waiting/fairness.cpp FROM "return taken_ < limits.handoffs && now < began_ + limits.time;" TO "return taken_ < limits.handoffs;")
redlock_mutant(max_hold_of_the_first "max_hold of a lease that was passed on is counted from the first holder"
    FILE src/core/lease/lease_registry.cpp FROM "    what.machine.handed_over(now);
" TO "")
redlock_mutant(last_is_first "who asks last is served first"
    FILE src/core/acquire/wait_queue.cpp FROM "queue_.push_back(who);" TO "queue_.push_front(who);")
redlock_mutant(cancelled_first_wakes_nobody "when the first in the line gives up, the next does not know that it is his turn"
    FILE src/core/acquire/wait_queue.cpp FROM "    } else if (was_first && !here_) {
        consider(in_.env().now());
    }" TO "    }")
redlock_mutant(line_forgets_who_waits "when a lease is over, nobody tells the line of those who wait for it"
    FILE src/core/acquire/wait_queue.cpp FROM "    if (queue_.empty()) return in_.retire(*this, now);
    consider(now);
}
" TO "    if (queue_.empty()) return in_.retire(*this, now);
}
")
redlock_mutant(undo_wakes_its_own_line "an attempt that is undone wakes the line whose first has made it"
    FILE src/core/acquire/lock_table.cpp FROM "if (&l != busy) l.consider(now);" TO "l.consider(now);")

# Waiting for what nodes tell.
redlock_mutant(no_fallback_poll "who is told of changes never looks by himself"
    FILE src/quorum/waiting/wait_schedule.cpp FROM "is_told() ? poll_if_told_ : poll_if_not_" TO "is_told() ? never : poll_if_not_")
redlock_mutant(push_ignored "what nodes tell is not heard"
    FILE src/client/engine.cpp FROM "    acquisitions_.on_changed(node, key);
" TO "    static_cast<void>(node);
")
redlock_mutant(own_key_is_a_holder "who looks takes a key of his own, which is about to be undone, for another holder's"
    FILE src/quorum/waiting/contention.cpp FROM "    } else if (our_own) {" TO "    } else if (false) {"
    FILE2 src/quorum/waiting/contention.cpp FROM2 "if (what.granted.has(node)) current.schedule" TO2 "if (false) current.schedule"
    FILE3 src/core/acquire/lock_table.cpp FROM3 "if (on.has(node)) l.freed_by_us" TO3 "if (false) l.freed_by_us")
redlock_mutant(free_again_and_again "each look at a free lock puts off the race for it"
    FILE src/quorum/waiting/wait_schedule.cpp FROM "free_at.value_or(std::min(free_at_[node], now));" TO "free_at.value_or(now);")

# Owners.
redlock_mutant(released_with_the_first "the lock is given back with the first of several nested leases"
    FILE src/client/lease_operations.cpp FROM "    if (what->has_handles()) return;  // of nested leases
" TO "")
redlock_mutant(nested_for_ever "a nested lease that is given back still counts"
    FILE src/core/lease/lease_registry.cpp FROM "    who.is = lease_handle::presence::left;
    who.of().remove(who);" TO "    std::size_t handles = 0;
    who.of().each_handle([&](lease_handle const&) { ++handles; });
    if (handles == 2) return;
    who.is = lease_handle::presence::left;
    who.of().remove(who);")
redlock_mutant(nested_for_anybody "whoever has an owner gets a nested lease of whatever is held"
    FILE src/core/acquire/acquisitions.cpp FROM "lease.owner() != options.owner ||" TO "")
redlock_mutant(nested_in_what_is_lost "a nested lease is given while the outer one is ending"
    FILE src/core/acquire/acquisitions.cpp FROM "    if (!lease.is_lease() || now >= lease.machine.stops_at()) return false;
" TO "")
redlock_mutant(nested_while_asking "an owner that gets a nested lease while it asks the nodes goes on asking"
    FILE src/core/acquire/acquisitions.cpp FROM "    what.last_outcome = {};
    give_up_attempt_of(what);
    finish(what, {}, redlock::lease{inner});" TO "    what.last_outcome = {};
    finish(what, {}, redlock::lease{inner});")

# Locks of several names.
redlock_mutant(several_but_what_is_free "a lock of several names takes what it can get"
    FILE src/testing/redis_model.cpp FROM "        if (find(c.key_at(i), now)) return true;
    return false;" TO "        if (find(c.key_at(i), now)) return i == 0;
    return false;"
    FILE2 src/testing/redis_model.cpp FROM2 "++i) set(c.key_at(i), c.value, c.ttl, now);" TO2 "++i)
        if (!find(c.key_at(i), now)) set(c.key_at(i), c.value, c.ttl, now);")
redlock_mutant(several_but_one_counter "the token of a lock of several names is above the first name's counter"
    FILE src/testing/redis_model.cpp FROM "        all = {std::min(all.lowest, one), std::max(all.highest, one)};" TO "        if (i == 0) all = {one, one};")
redlock_mutant(several_but_one_released "a lock of several names gives back the first"
    FILE src/testing/redis_model.cpp FROM "            if (!is_ours(c, key, now)) return refused();
            del(key);" TO "            if (!is_ours(c, key, now)) return refused();
            if (key == c.key) del(key);")

# Clocks.
redlock_mutant(drift_taken_for_a_step "a clock that runs a little fast is said to have been set"
    FILE src/quorum/clocks/clock_step_detector.cpp FROM "* drift_});" TO "* 0.0});")
redlock_mutant(suspended_for_ever "a node whose clock was set never votes again"
    FILE src/quorum/clocks/node_clock.cpp FROM "std::max(suspended_until_, received + lasts)" TO "time_point::max() - lasts")

# Leases that travel.
redlock_mutant(adoption_by_one_node "the vote of one node adopts a lease"
    FILE src/quorum/adopt_machine.cpp FROM "if (now < holders_.valid_until() - timing_->stop_margin) {" TO "if (!granted_.empty()) {"
    FILE2 src/core/lease/lease_registry.cpp FROM2 "    if (now >= what->machine.stops_at()) {" TO2 "    if (false) {")
redlock_mutant(adoption_keeps_the_value "nodes leave the value of the ticket where it is"
    FILE src/testing/redis_model.cpp FROM "    set_all(c, now);
    return granted();
}

// Like the script for extensions" TO "    set_all(former, now);
    return granted();
}

// Like the script for extensions")
redlock_mutant(adoption_of_anything "nodes do not compare the value of the ticket"
    FILE src/testing/redis_model.cpp FROM "if (!again && !are_all_ours(former, now)) return refused();" TO "if (!again && !is_any_there(c, now)) return refused();")
redlock_mutant(adopted_under_the_old_guard "an adopted lease extends with the guard of its ticket"
    FILE src/core/acquire/adoptions.cpp FROM "record_->assign_guard(ticket_.guard + 1)" TO "record_->assign_guard(ticket_.guard)")
redlock_mutant(adoption_is_not_undone "what nodes had replaced for an adoption that failed is not given back"
    FILE src/core/acquire/adoptions.cpp FROM "    owner_.releases_.start(record_, now, errc{}, machine_->refused());
" TO "")
redlock_mutant(detached_and_released "a lease that is detached is released"
    FILE src/client/lease_operations.cpp FROM "    on_strand([this, h] { detach_handle(h); });" TO "    on_strand([this, h](time_point t) { release_handle(h, t); });")
redlock_mutant(detached_and_extended "the watchdog goes on extending a lease that is detached"
    FILE src/client/lease_operations.cpp FROM "    leases_.detach(*what);
    stop_nodes_when_quiet();" TO "    what->detached = true;
    stop_nodes_when_quiet();")

# Read-write locks.
redlock_mutant(reader_beside_a_writer "a reader is granted where a writer has the key"
    FILE src/testing/shared_model.cpp FROM "    if (there && !there->readers) return {fence_refused, *counter};
    auto set" TO "    if (there && !there->readers && there->value == r.value) return {fence_refused, *counter};
    auto set"
    FILE2 src/testing/shared_model.cpp FROM2 "    auto set = there ? *there->readers : redis_model::reader_set{};" TO2 "    auto set = there && there->readers ? *there->readers : redis_model::reader_set{};"
    FILE3 src/testing/shared_model.cpp FROM3 "*r.since == (there ? set.epoch : *counter)" TO3 "*r.since == (there && there->readers ? set.epoch : *counter)")
redlock_mutant(writer_beside_readers "a writer is granted where readers are"
    FILE src/testing/redis_model.cpp FROM "        if (find(c.key_at(i), now)) return true;
    return false;" TO "        if (auto const* const e = find(c.key_at(i), now); e && !e->readers) return true;
    return false;")
redlock_mutant(reader_waits_for_no_writer "the client's readers do not look at the answers of nodes where somebody writes"
    FILE src/core/acquire/attempt.cpp FROM "machine_.on_vote(node, answer.vote, now, answer.counter);" TO "machine_.on_vote(node, record_->reads() && answer.vote == vote::refused && !answer.writer_waits ? vote::granted : answer.vote, now, answer.counter);")
redlock_mutant(late_reader_unconfirmed "a grant to a reader that arrived after the token was chosen counts unconfirmed"
    FILE src/quorum/acquire_machine.cpp FROM "if (counter == largest_ && !(to_read_ && token_)) confirmed_.add(node);" TO "if (counter == largest_ || (to_read_ && token_)) confirmed_.add(node);")
redlock_mutant(reader_of_one_round "a reader has the largest token of one round, and nobody confirms it"
    FILE src/quorum/acquire_machine.cpp FROM "        confirmed_ = {};
" TO "        if (!to_read_) confirmed_ = {};
")
redlock_mutant(first_reader_raises_nothing "the first reader does not raise the counter"
    FILE src/testing/shared_model.cpp FROM "        token = std::max(last, server_.record->new_tokens_above()) + 1;" TO "        token = last;")
redlock_mutant(reader_confirms_without_counting "a reader's confirmation does not raise the counter"
    FILE src/testing/shared_model.cpp FROM "    if (*counter < l.token) server_.set_counter(l.name, l.token, l.retention, now);
    return 1;" TO "    return 1;")
redlock_mutant(reader_extends_behind_a_writer "a reader's extension does not look at the tokens of the writers since"
    FILE src/testing/shared_model.cpp FROM "    if (server_.record->base > l.token || (is_set ? there->readers->epoch : *counter) > l.token) return fence_overtaken;
" TO "")
redlock_mutant(reader_deletes_the_set "a reader's release deletes the other readers, too"
    FILE src/testing/shared_model.cpp FROM "    if (left.readers->ends.empty()) {
        server_.del(name);" TO "    if (true) {
        server_.del(name);")
redlock_mutant(set_ends_with_the_last_comer "the set of readers ends with the reader that came last"
    FILE src/testing/shared_model.cpp FROM "bool const longer = before && before->readers && before->expires && *before->expires > ends;" TO "bool const longer = false && before;")
redlock_mutant(readers_never_end "the time of each reader is not looked at: readers that are over keep the key"
    FILE src/testing/shared_model.cpp FROM "    left.expires = std::max_element(left.readers->ends.begin(), left.readers->ends.end(), later)->second;
    bool const is_over = *left.expires <= in_milliseconds(now);" TO "    left.expires.reset();
    bool const is_over = left.readers->ends.size() > 99 && later(*left.readers->ends.begin(), *left.readers->ends.begin());")
redlock_mutant(downgrade_releases_first "a downgrade gives the lease back, and goes on as a reader"
    FILE src/core/lease/lease_registry.cpp FROM "    what.first.becomes_reader();
    what.each" TO "    env_.to_nodes->add({what.request(verb::release), make_recycled<extension>(*this, what.shared(), now, true)});
    what.first.becomes_reader();
    what.each")
redlock_mutant(downgrade_keeps_the_counter "a downgrade does not raise the counter above the writer's token"
    FILE src/testing/shared_model.cpp FROM "    token_number const least = l.token + (l.was_writer ? 1 : 0);" TO "    token_number const least = l.token;")
redlock_mutant(wish_ignored "nodes let readers in although a writer waits"
    FILE src/testing/shared_model.cpp FROM "    if (find(want_key(r.name), now) && " TO "    if (false && ")
redlock_mutant(wish_never_ends "a node keeps a writer's wish for ever"
    FILE src/testing/shared_model.cpp FROM "    server_.set(want_key(name), who, ttl, now);" TO "    server_.set(want_key(name), who, 60 * ttl, now);")
redlock_mutant(everybody_was_in_line "a reader that no writer had refused goes before the wish"
    FILE src/testing/shared_model.cpp FROM "    bool const is_in_line = r.since && *r.since" TO "    bool const is_in_line = !r.since || *r.since")
redlock_mutant(readers_fence_forgets_readers "what checks tokens does not keep those of readers"
    FILE include/redlock/fence_guard.hpp FROM "        if (token > highest_reader) highest_reader = token;
" TO ""
    SOURCES tests/simulation/resource_judge.cpp src/api/fence_guard.cpp)

# State that goes with a lock.
redlock_mutant(published_on_a_minority "a state counts as published when one node keeps it"
    FILE src/core/lease/state_rounds.cpp FROM "if (votes_.majority_granted()) return end({});" TO "if (votes_.granted() > 0) return end({});")
redlock_mutant(inherited_from_one_node "the first node that answers says what is inherited"
    FILE src/quorum/inherit_machine.hpp FROM "if (votes_.majority_granted()) {" TO "if (votes_.granted() > 0) {"
    SOURCES src/core/lease/state_rounds.cpp)
redlock_mutant(inherited_and_not_written_back "what only a minority keeps is inherited as it is"
    FILE src/quorum/inherit_machine.hpp FROM "return safe ? " TO "return true ? "
    FILE2 src/core/lease/state_rounds.cpp FROM2 "if (machine_.holders().size() < env_.to_nodes->nodes()) back->send();" TO2 ""
    SOURCES src/core/lease/state_rounds.cpp)
# That an answer during the write-back changes nothing is held by publication_story_test: too few schedules need it.
redlock_mutant(published_without_fence "a former holder publishes where a later one has inherited, if its value is there again"
    FILE src/testing/redis_model.cpp FROM "    if (auto const objection = objection_to_state(c, now)) return *objection;
    std::string const key = state_key(c);" TO "    if (!is_ours(c, c.key, now)) return refused();
    std::string const key = state_key(c);")
redlock_mutant(inherited_without_fence "who inherits does not raise the counter"
    FILE src/testing/redis_model.cpp FROM "    if ((fence ? *fence->value : *high_water) < c.token) set_counter(c.key, c.token, c.retention, now);
    entry const* const kept" TO "    static_cast<void>(fence);
    entry const* const kept")
redlock_mutant(state_of_the_last_writer "a node keeps the state that came last"
    FILE src/testing/redis_model.cpp FROM "if (*kept > stamp) return granted();" TO "")

# Groups.
redlock_mutant(votes_not_acknowledged "votes of a group wait for no replica"
    FILE src/protocol/durability.cpp FROM "c.may_grant() || c.may_renew() || c.is_about_state() || c.what == verb::mark" TO "c.what == verb::mark")
redlock_mutant(old_primary_extends "an extension by a primary that no replica follows any more counts"
    FILE src/protocol/durability.cpp FROM "c.may_grant() || c.may_renew() || " TO "c.may_grant() || ")
redlock_mutant(quarantine_at_first_sight "the quarantine of a promoted server begins when it is seen, and not when replicas have its mark"
    FILE src/protocol/durability.cpp FROM " || c.what == verb::mark || " TO " || ")
redlock_mutant(votes_with_another_k "a client that waits for no replica has votes in a group whose clients do"
    FILE src/protocol/group_binding.cpp FROM "if (theirs == 0 || theirs == replicas_) return {};" TO "if (theirs < 1000) return {};")

# Semaphores.
redlock_mutant(slots_are_added_up "grants of different slots are added up to a majority"
    FILE src/quorum/permit_choice.cpp FROM "    return static_cast<std::size_t>(std::count(ours_.begin(), ours_.end(), what));" TO "    static_cast<void>(what);
    return static_cast<std::size_t>(std::count_if(ours_.begin(), ours_.end(), [](slot_set ours) { return ours != 0; }));"
    FILE2 src/core/kinds/permit_attempt.cpp FROM2 "if (has_chosen_ && choice_.gave_chosen(node)) {" TO2 "if (has_chosen_ && choice_.given_by(node) != 0) {")
redlock_mutant(permit_of_one_node "one node less than a majority is enough for a slot"
    FILE src/quorum/permit_choice.cpp FROM "        if (count < needed_) continue;
" TO "        if (count + 1 < needed_) continue;
"
    FILE2 src/core/kinds/permit_attempt.cpp FROM2 "            count(node, {vote::refused, {}, {}}, now);
        } else if (failed_" TO2 "            reply said{has_chosen_ ? vote::granted : vote::refused};
            said.counter = has_chosen_ ? counter_ : 0;
            count(node, said, now);
        } else if (failed_")
redlock_mutant(chosen_is_given_back "all slots of the value are released where one of them was not chosen"
    FILE src/core/kinds/permit_attempt.cpp FROM "    auto of = make_descriptor(resource{record_->what->shared_asked(), indices_of(slots)}, under);" TO "    lock_descriptor_ptr of{static_cast<lock_descriptor const*>(&record_->what->asked())};"
    FILE2 src/core/kinds/permit_attempt.cpp FROM2 "    elsewhere.remove(node);
" TO2 "    elsewhere = {};
")
redlock_mutant(any_number_of_permits "nodes do not compare the number of permits"
    FILE src/testing/shared_model.cpp FROM "    if (k && k->permits != r.permits && !newer) return" TO "    if (false) return")
redlock_mutant(number_is_not_kept "a grant does not write the number of permits"
    FILE src/testing/shared_model.cpp FROM "    if (newer && (ours || free >= r.count)) keep(r.name, {r.version, r.permits}, r.retention, now);
" TO "")
redlock_mutant(permit_over_a_lock "a slot that somebody has is given once more"
    FILE src/testing/shared_model.cpp FROM "        if (map[slot] != '0') continue;
" TO "        if (map[slot] == '2') continue;
")
redlock_mutant(permit_token_of_its_node "the token of a permit is not confirmed"
    FILE src/quorum/acquire_machine.cpp FROM "    wants_confirmation_ = confirmed_.size() < votes_.needed();" TO "    confirmed_ = held_;")
redlock_mutant(permits_wake_nobody "who waits for a permit does not hear that this client has one less"
    FILE src/core/acquire/wait_queue.cpp FROM "    queue_.empty() ? in_.retire(*this, now) : consider(now);
" TO "    if (queue_.empty()) in_.retire(*this, now);
"
    FILE2 src/core/acquire/lock_table.cpp FROM2 "        if (&l != in) l.consider(now);
" TO2 "        static_cast<void>(l);
")
redlock_mutant(slots_stay_until_their_ttl "slots that an attempt does not need are not given back"
    FILE src/core/kinds/permit_attempt.cpp FROM "            if (has_chosen_) give_back(node, choice_.given_by(node), now);
" TO "")
redlock_mutant(late_slots_stay "a slot that a node gave when others had been chosen is not given back"
    FILE src/core/kinds/permit_attempt.cpp FROM "        give_back(node, answer.slots()->ours, now);
" TO "")
redlock_mutant(node_gives_halves "a node that has too few free slots gives those"
    FILE src/testing/shared_model.cpp FROM "    if (chosen.size() < r.count || r.count == 0) return {0, *server_.high_water, map};
" TO "    if (chosen.empty() || r.count == 0) return {0, *server_.high_water, map};
"
    FILE2 src/testing/shared_model.cpp FROM2 "chosen.size() < r.count && chosen.size() + free >= r.count; ++i) {" TO2 "chosen.size() < r.count; ++i) {")
redlock_mutant(permits_by_halves "of several permits, a node counts for all that gave one of them"
    FILE src/quorum/permit_choice.cpp FROM "    return static_cast<std::size_t>(std::count(ours_.begin(), ours_.end(), what));" TO "    return static_cast<std::size_t>(std::count_if(ours_.begin(), ours_.end(), [&](slot_set ours) { return (ours & what) != 0; }));"
    FILE2 src/core/kinds/permit_attempt.cpp FROM2 "if (has_chosen_ && choice_.gave_chosen(node)) {" TO2 "if (has_chosen_ && (choice_.given_by(node) & choice_.chosen()) != 0) {")
redlock_mutant(slot_of_two_choices_stays "a roll-back does not go to a node that gave some of the chosen slots and some others"
    FILE src/core/kinds/permit_attempt.cpp FROM " && (choice_.given_by(node) & about) == 0) refused_.add(node);" TO " && !choice_.gave_chosen(node) && (has_chosen_ || choice_.given_by(node) == 0)) refused_.add(node);"
    FILE2 src/core/kinds/permit_attempt.cpp FROM2 "        if ((answer.slots()->ours & chosen) == 0) refused_.add(node);
" TO2 "        if (true) refused_.add(node);
")
redlock_mutant(own_slot_is_given_back "what is given back at a node may be a slot that was chosen"
    FILE src/core/kinds/permit_attempt.cpp FROM " & ~choice_.chosen();" TO ";")

# Sets of nodes.
redlock_mutant(lists_not_compared "a node whose set is another one than the client's list votes"
    FILE src/quorum/sets/set_membership.cpp FROM "    if (!may_name(r, settings_.members))" TO "    if (r.members.empty())"
    FILE2 src/quorum/sets/set_membership.cpp FROM2 "        return object_to_all(why);" TO2 "")
redlock_mutant(wrong_set_only_said "a client with another list of nodes is told so, and asks the nodes all the same"
    FILE src/client/engine.cpp
    FROM "    if (auto const why = admissions_->meet(node, facts); !why.empty()) return turn_away(node, errc::wrong_node_set, why);
" TO "    static_cast<void>(admissions_->meet(node, facts));
"
    FILE2 src/client/engine.cpp FROM2 "{ turn_away(node, errc::wrong_node_set, why); };"
    TO2 "{ static_cast<void>(this), static_cast<void>(node), static_cast<void>(why); };")

# Changes of a set of nodes. That a lease is told who is a member is held by set_change_story_test: of 34,000 schedules about one needs it.
redlock_mutant(first_mover_is_followed "a client follows its set into a generation as soon as one node carries it"
    FILE src/quorum/sets/set_generation.cpp FROM "carriers_of(r, carried) >= majority(r.size_before())" TO "carriers_of(r, carried) >= 1")
redlock_mutant(list_is_the_set "a client counts a majority of its list, though its set has grown"
    FILE src/client/engine.cpp FROM "        env_.voters = news.voters;
" TO "")
# Each of the two is enough in nearly all worlds; set_change_story_test.cpp and set_numbers_test.cpp are about each alone.
redlock_mutant(eras_are_mixed "votes of two generations are added up, also those of members that left"
    FILE src/client/engine.cpp FROM "        if (!news.is_first) env_.to_nodes->begin_era();
" TO ""
    FILE2 src/quorum/acquire_machine.cpp FROM2 "    members_ = members;
    for (std::size_t node = 0; node < votes_.nodes(); ++node) {
        if (members.has(node)) continue;" TO2 "    for (std::size_t node = 0; node < votes_.nodes(); ++node) {
        if (members.has(node) || true) continue;")
redlock_mutant(shrinks_at_once "a set of an odd N has the smaller N as soon as a member leaves"
    FILE src/quorum/sets/set_record.cpp FROM "r.size() % 2 == 1 ? r.size() : next.members.size()" TO "next.members.size()")
redlock_mutant(closes_at_once "a set has the smaller N before leases of before are over"
    FILE src/quorum/sets/set_change.cpp FROM "return seen_ + drain_of(std::max(plan.longest_ttl(), max_ttl), clock_drift);" TO "return seen_ + 0 * drain_of(max_ttl, clock_drift);")
redlock_mutant(former_generation_votes "a node of another generation has a vote"
    FILE src/core/admission/admission_driver.cpp FROM "if (!sets_.is_active() || !sets_.is_apart(node)) return facts;" TO "return facts;")
redlock_mutant(returned_member_remembers "a member that had left and joins again keeps its admission"
    FILE src/testing/redis_model.cpp FROM "bool const stays = c.stays && record->id == c.more().id;" TO "bool const stays = detail::names_server(record->id, id);")
redlock_mutant(command_moves_anybody "a command moves members that lost their data as well"
    FILE src/quorum/sets/set_change.cpp FROM "else if (is_of_before && is_admitted(*s)) steps_" TO "else if (is_of_before) steps_")
redlock_mutant(command_moves_too_few "a command begins with fewer than a majority of members that can move"
    FILE src/quorum/sets/set_change.cpp FROM "bool const can_move = moved_ + steps_.size() >= needed_;" TO "bool const can_move = true;"
    FILE2 src/quorum/sets/set_change.cpp FROM2 "bool const can_decide = stay_ >= needed_to_stay" TO2 "bool const can_decide = stay_ >= 0 * needed_to_stay")
