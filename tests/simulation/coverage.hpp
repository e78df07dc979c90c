// How often each interesting thing happened. What never happens was never tested: a long run fails when a counter is zero.
#ifndef REDLOCK_TESTS_SIMULATION_COVERAGE_HPP
#define REDLOCK_TESTS_SIMULATION_COVERAGE_HPP

#include <array>
#include <cstdint>
#include <string_view>

namespace redlock::simulation {

struct coverage {
    using count = std::uint64_t;

    // Acquisitions.
    count acquired, acquired_on_retry, acquired_with_a_failed_node, contended, split_votes, no_majority, validity_exhausted;
    count acquire_timed_out, acquire_timed_out_no_majority, late_grant_undone, cancelled_total, cancelled_partial, cancelled_terminal,
        cancelled_but_won;
    // Leases.
    count renewed, held_by_parts, unknown, unknown_then_renewed, extended_by_caller, extension_lost, lease_lost, max_hold_exceeded;
    count watchdog_late, released, release_unconfirmed, released_by_destructor, waited_for_loss;
    // Leases that travel.
    count detached, adopted, adopted_late, adoption_over, adoption_unknown, adoption_cancelled;
    // State that goes with a lock.
    count published, publication_unknown, inherited, peeked, change_seen;
    // Tokens.
    count confirmed, overtaken, floor_reached, recreated, climbed, climbed_again, extended_at_a_mark, block, next_token, plain, written,
        write_refused;
    // Read-write locks.
    count read, read_together, downgraded, downgrade_unconfirmed, access_of_reader, reading_refused, let_in_beside_a_waiting_writer;
    // Semaphores.
    count permit, several_permits, permits_at_once, permits_differ, permit_moves;
    // Admission.
    count not_admitted, vote_dropped, quarantine, admission, admission_repeated, founding, founding_by_uptime, recovery, mark_repeated;
    // Sets of nodes.
    count set_claimed, set_completed, stranger_refused;
    // Groups.
    count group_failover, laggard_promoted, old_primary_voted, not_durable, extension_waited_on, left_old_primary, sentinels_disagreed,
        other_k_refused, group_acquired, group_lease_lost;
    // Sets of nodes that are changed.
    count set_changed, change_killed, change_resumed, change_finished_for_another, change_outrun, change_refused, change_waited,
        member_returned, set_grown, set_shrunk, held_through_a_change;
    // Processes that live for a moment.
    count visitor, visitor_acquired, visitor_contended, wait_carried;
    // Scopes.
    count scope_finished, scope_cancelled, scope_cancelled_by_caller, scope_cancelled_while_releasing, body_outlived_lease, body_threw;
    // Waiting.
    count push, push_lost, wakeup, poll, passed_on, nested, outer_left_first, several_names, gave_up_in_line, rejected_locally,
        started_by_caller;
    // Ends.
    count client_destroyed, client_cancelled, process_killed;
    // Faults.
    count cut, ghost, duplicate, silent, partition, isolation, noscript, complaint, slow_server, server_stopped, crash_forgetting,
        crash_remembering;
    count evicted, blind_spot, older_state, all_restored, failover, promoted, record_lost, high_water_lost, counter_lost;
    count clock_fast, clock_step_forward, clock_step_back, step_noticed, early_expiry, key_deleted, flushed, paused, suspended,
        taken_by_foreigner;

    // A counter by its name. Schedules that are written as transitions have no leases that travel, no readers and no permits, and none of the
    // other worlds (schedule.cpp), so what happens there only is not missing there.
    struct row {
        std::string_view name;
        count coverage::* member;
        bool in_transitions{true};
    };

    template <class F>
    static void each(F&& f)
    {
        using c = coverage;
        constexpr bool elsewhere = false;
        constexpr auto all = std::to_array<row>({
            {"acquired", &c::acquired},
            {"acquired on a retry", &c::acquired_on_retry},
            {"acquired with a failed node", &c::acquired_with_a_failed_node},
            {"contended", &c::contended},
            {"votes split between clients", &c::split_votes},
            {"no majority", &c::no_majority},
            {"validity exhausted", &c::validity_exhausted},
            {"deadline exceeded", &c::acquire_timed_out},
            {"deadline without a majority", &c::acquire_timed_out_no_majority},
            {"late grant undone", &c::late_grant_undone},
            {"acquire cancelled, total", &c::cancelled_total},
            {"acquire cancelled, partial", &c::cancelled_partial},
            {"acquire cancelled, terminal", &c::cancelled_terminal},
            {"acquire cancelled but won", &c::cancelled_but_won},
            {"extension renewed", &c::renewed},
            {"extension held by parts", &c::held_by_parts},
            {"extension unknown", &c::unknown},
            {"extension unknown, then renewed", &c::unknown_then_renewed},
            {"extended by its holder", &c::extended_by_caller},
            {"extension lost", &c::extension_lost},
            {"lease lost", &c::lease_lost},
            {"max_hold exceeded", &c::max_hold_exceeded},
            {"watchdog late", &c::watchdog_late},
            {"released", &c::released},
            {"release unconfirmed", &c::release_unconfirmed},
            {"released by a destructor", &c::released_by_destructor},
            {"loss noticed by wait_lost", &c::waited_for_loss},
            {"lease detached", &c::detached, elsewhere},
            {"lease adopted", &c::adopted, elsewhere},
            {"adopted after a while without answers", &c::adopted_late, elsewhere},
            {"ticket that was over", &c::adoption_over, elsewhere},
            {"adoption without a majority", &c::adoption_unknown, elsewhere},
            {"adoption cancelled", &c::adoption_cancelled, elsewhere},
            {"state published", &c::published, elsewhere},
            {"state published, and no majority says so", &c::publication_unknown, elsewhere},
            {"state of a former holder inherited", &c::inherited, elsewhere},
            {"looked at a lock", &c::peeked, elsewhere},
            {"saw a lock change", &c::change_seen, elsewhere},
            {"confirmed in a second round", &c::confirmed},
            {"refused by the guard", &c::overtaken},
            {"token is the client's clock", &c::floor_reached},
            {"key recreated again", &c::recreated},
            {"climbed", &c::climbed},
            {"climbed from the mark of a climb that failed", &c::climbed_again},
            {"extended at the mark of a climb that failed", &c::extended_at_a_mark},
            {"block of tokens", &c::block},
            {"moved to the next token", &c::next_token},
            {"lease without tokens", &c::plain},
            {"write accepted", &c::written},
            {"write refused: a larger token was there", &c::write_refused},
            {"lease to read", &c::read, elsewhere},
            {"two read at once", &c::read_together, elsewhere},
            {"writer became a reader", &c::downgraded, elsewhere},
            {"writer became a reader, and no majority says so yet", &c::downgrade_unconfirmed, elsewhere},
            {"access of a reader", &c::access_of_reader, elsewhere},
            {"access refused to a reader: a writer with a larger token was there", &c::reading_refused, elsewhere},
            {"reader let in beside a writer who waits", &c::let_in_beside_a_waiting_writer, elsewhere},
            {"permit", &c::permit, elsewhere},
            {"several permits", &c::several_permits, elsewhere},
            {"permits held at once", &c::permits_at_once, elsewhere},
            {"another number of permits refused", &c::permits_differ, elsewhere},
            {"permits asked for in a second round", &c::permit_moves, elsewhere},
            {"script refused: not admitted", &c::not_admitted},
            {"vote dropped: another server by then", &c::vote_dropped},
            {"quarantine begun", &c::quarantine},
            {"server admitted", &c::admission},
            {"admission executed again, later", &c::admission_repeated},
            {"cluster founded", &c::founding},
            {"cluster founded by the uptime of its servers", &c::founding_by_uptime},
            {"server admitted, since most servers had lost their data", &c::recovery},
            {"record of a set written", &c::set_claimed, elsewhere},
            {"record of a set completed", &c::set_completed, elsewhere},
            {"refused with another list of nodes", &c::stranger_refused, elsewhere},
            {"mark written again, later", &c::mark_repeated},
            {"process that lives for a moment", &c::visitor},
            {"lock of such a process", &c::visitor_acquired},
            {"such a process found a lock taken", &c::visitor_contended},
            {"node admitted after a wait that another process began", &c::wait_carried},
            {"scope finished", &c::scope_finished},
            {"scope cancelled before its lease ended", &c::scope_cancelled},
            {"scope cancelled by its caller", &c::scope_cancelled_by_caller},
            {"scope cancelled while it releases", &c::scope_cancelled_while_releasing},
            {"body outlived its lease", &c::body_outlived_lease},
            {"body threw", &c::body_threw},
            {"push", &c::push},
            {"push lost", &c::push_lost},
            {"attempt after a push or an expiry", &c::wakeup},
            {"look after a poll interval", &c::poll},
            {"lease passed on", &c::passed_on},
            {"nested lease", &c::nested},
            {"outer lease given back before a nested one", &c::outer_left_first},
            {"lease of several names", &c::several_names},
            {"gave up behind others in the line", &c::gave_up_in_line},
            {"refused while the same client holds it", &c::rejected_locally},
            {"operation started by its caller", &c::started_by_caller},
            {"failover of a group", &c::group_failover, elsewhere},
            {"replica promoted that was behind", &c::laggard_promoted, elsewhere},
            {"vote at an old primary", &c::old_primary_voted, elsewhere},
            {"vote that too few replicas acknowledged", &c::not_durable, elsewhere},
            {"extension that waited once more for replicas", &c::extension_waited_on, elsewhere},
            {"primary left as the Sentinels name another one", &c::left_old_primary, elsewhere},
            {"Sentinels that disagreed", &c::sentinels_disagreed, elsewhere},
            {"client with another k refused", &c::other_k_refused, elsewhere},
            {"lock of a group acquired", &c::group_acquired, elsewhere},
            {"lease of a group lost", &c::group_lease_lost, elsewhere},
            {"set of nodes changed", &c::set_changed, elsewhere},
            {"set has got a member more", &c::set_grown, elsewhere},
            {"set has got a member less", &c::set_shrunk, elsewhere},
            {"command that changes a set killed", &c::change_killed, elsewhere},
            {"change that was begun went on", &c::change_resumed, elsewhere},
            {"change that was begun finished by another command", &c::change_finished_for_another, elsewhere},
            {"command outrun by another change", &c::change_outrun, elsewhere},
            {"change refused: too few servers have a vote", &c::change_refused, elsewhere},
            {"set waited for leases of before to end, and became smaller", &c::change_waited, elsewhere},
            {"member that had left came back", &c::member_returned, elsewhere},
            {"lease held through a change", &c::held_through_a_change, elsewhere},
            {"client destroyed at work", &c::client_destroyed},
            {"client cancelled at work", &c::client_cancelled},
            {"process killed", &c::process_killed},
            {"connection cut", &c::cut},
            {"executed after its connection's end", &c::ghost},
            {"duplicate executed", &c::duplicate},
            {"connection went silent", &c::silent},
            {"partition", &c::partition},
            {"client isolated", &c::isolation},
            {"NOSCRIPT", &c::noscript},
            {"error replies", &c::complaint},
            {"server slow", &c::slow_server},
            {"server stopped", &c::server_stopped},
            {"server crashed, forgetting", &c::crash_forgetting},
            {"server crashed, remembering", &c::crash_remembering},
            {"key evicted", &c::evicted},
            {"server out of a client's reach", &c::blind_spot},
            {"server came back with an older state", &c::older_state},
            {"all servers restored from one backup", &c::all_restored},
            {"failover on a live connection", &c::failover},
            {"replica promoted", &c::promoted},
            {"node record lost", &c::record_lost},
            {"high-water mark lost", &c::high_water_lost},
            {"counter lost", &c::counter_lost},
            {"server clock beyond drift", &c::clock_fast},
            {"server clock stepped forward", &c::clock_step_forward},
            {"server clock stepped back", &c::clock_step_back},
            {"wrong clock noticed", &c::step_noticed},
            {"key expired early", &c::early_expiry},
            {"key deleted by an operator", &c::key_deleted},
            {"server flushed", &c::flushed},
            {"process paused", &c::paused},
            {"machine suspended", &c::suspended},
            {"lock taken by a foreigner", &c::taken_by_foreigner},
        });
        for (auto const& each : all) f(each);
    }

    coverage& operator+=(coverage const& other)
    {
        each([&](row const& r) { this->*r.member += other.*r.member; });
        return *this;
    }
};

}  // namespace redlock::simulation

#endif
