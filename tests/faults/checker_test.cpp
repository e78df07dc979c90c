// The checker, over histories that are made up: it must find what is wrong in them, and nothing else.
#include "faults/checker.hpp"
#include "faults/table.hpp"
#include "faults/timing.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>
#include <vector>

namespace redlock::faults {

namespace {

using namespace std::chrono_literals;

moment at(milliseconds t) { return moment{1h + t}; }

struct made_up {
    history what;

    made_up()
    {
        what.workers.resize(2);
        what.workers[0].name = "a";
        what.workers[1].name = "b";
    }

    lease_record& lease(std::size_t worker, std::uint64_t token, milliseconds held, milliseconds over, bool fenced = true)
    {
        lease_record l;
        l.worker = what.workers[worker].name;
        l.names = {"n"};
        l.fenced = fenced;
        l.token = token;
        l.asked = at(held - 1ms);
        l.held = at(held);
        l.over = at(over);
        l.valid_until = at(over + 100ms);
        return what.workers[worker].leases.emplace_back(l);
    }

    void write(std::size_t worker, std::uint64_t token, std::uint64_t value, milliseconds when, std::string const& answer = "ok")
    {
        write_record const w{what.workers[worker].name, "n", token, value, at(when), answer};
        what.writes.push_back(w);
        if (w.accepted()) what.workers[worker].acknowledged.push_back(w);
    }

    lease_record& reader(std::size_t worker, std::uint64_t token, milliseconds held, milliseconds over)
    {
        auto& l = lease(worker, token, held, over);
        l.reads = true;
        return l;
    }

    void look(std::size_t worker, std::uint64_t token, std::uint64_t value, milliseconds when, std::string const& answer = "ok")
    {
        what.writes.push_back({what.workers[worker].name, "n", token, value, at(when), answer, true});
    }

    void fault_at(fault_kind kind, milliseconds injected, milliseconds healed)
    {
        what.faults.push_back({fault{.kind = kind, .nodes = {0}}, at(injected), at(healed), at(healed)});
    }

    // "violations overlaps overlaps-outside"
    std::string verdict() const
    {
        auto const found = judge(what);
        return std::to_string(found.violations.size()) + " " + std::to_string(found.overlaps.size()) + " " +
               std::to_string(found.overlaps_outside.size());
    }
};

// Two leases in turn, with writes.
struct all_is_well : made_up {
    all_is_well()
    {
        lease(0, 5, 1000ms, 1100ms);
        lease(1, 6, 1200ms, 1300ms);
        write(0, 5, 1, 1010ms);
        write(0, 5, 2, 1020ms);
        write(1, 6, 3, 1210ms);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fault_checker)

BOOST_FIXTURE_TEST_CASE(finds_nothing_where_all_is_well, all_is_well) { BOOST_TEST(verdict() == "0 0 0"); }

BOOST_FIXTURE_TEST_CASE(a_stale_write_that_was_refused_is_well, all_is_well)
{
    write(0, 5, 4, 1400ms, "stale");
    BOOST_TEST(verdict() == "0 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_late_write_that_was_accepted_in_order_is_well, all_is_well)
{
    write(1, 6, 4, 1900ms);
    BOOST_TEST(verdict() == "0 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_smaller_token_was_accepted, all_is_well)
{
    write(0, 5, 4, 1400ms);
    BOOST_TEST(verdict() == "1 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_value_was_skipped, all_is_well)
{
    write(1, 6, 5, 1220ms);
    BOOST_TEST(verdict() == "1 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_value_was_written_twice, all_is_well)
{
    write(1, 6, 3, 1220ms);
    BOOST_TEST(verdict() == "1 0 0");
}

BOOST_FIXTURE_TEST_CASE(an_acknowledged_write_is_lost, all_is_well)
{
    what.writes.pop_back();
    BOOST_TEST(verdict() == "1 0 0");
}

BOOST_FIXTURE_TEST_CASE(two_leases_with_one_token, all_is_well)
{
    lease(0, 6, 1400ms, 1500ms);
    BOOST_TEST(verdict() == "2 0 0");  // and it is not larger than that of the lease before
}

BOOST_FIXTURE_TEST_CASE(one_token_for_two_names_is_well, all_is_well)
{
    lease(0, 7, 1400ms, 1500ms).names = {"n", "m"};
    BOOST_TEST(verdict() == "0 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_token_that_is_too_small, all_is_well)
{
    lease(0, 4, 1400ms, 1500ms);
    BOOST_TEST(verdict() == "1 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_smaller_token_of_whoever_asked_before_is_well, all_is_well)
{
    lease(0, 4, 1400ms, 1500ms).asked = at(900ms);
    BOOST_TEST(verdict() == "0 0 0");
}

BOOST_FIXTURE_TEST_CASE(two_holders, all_is_well)
{
    lease(0, 7, 1299ms, 1400ms);
    BOOST_TEST(verdict() == "0 1 0");
}

BOOST_FIXTURE_TEST_CASE(two_holders_of_locks_without_tokens, made_up)
{
    lease(0, 0, 1000ms, 1100ms, false);
    lease(1, 0, 1099ms, 1200ms, false);
    BOOST_TEST(verdict() == "0 1 0");
}

BOOST_FIXTURE_TEST_CASE(a_holder_who_overlaps_with_one_before_the_last, made_up)
{
    lease(0, 5, 1000ms, 2000ms);
    lease(1, 6, 1100ms, 1200ms);
    lease(1, 7, 1300ms, 1400ms);
    BOOST_TEST(verdict() == "0 2 0");
}

BOOST_FIXTURE_TEST_CASE(locks_of_several_names_overlap_in_one_of_them, all_is_well)
{
    lease(0, 7, 1250ms, 1400ms).names = {"m", "n"};
    BOOST_TEST(verdict() == "0 1 0");
}

BOOST_FIXTURE_TEST_CASE(nobody_believes_in_a_lease_after_its_validity, made_up)
{
    lease(0, 5, 1000ms, 2000ms).valid_until = at(1500ms);  // stopped for long, and not aware of anything
    lease(1, 7, 1600ms, 1700ms);
    BOOST_TEST(verdict() == "0 0 0");
    lease(1, 6, 1499ms, 1500ms);
    BOOST_TEST(verdict() == "0 1 0");
}

BOOST_FIXTURE_TEST_CASE(nor_when_the_process_was_killed, made_up)
{
    lease(0, 5, 1000ms, 2000ms).over.reset();
    lease(1, 6, 1300ms, 1400ms);
    BOOST_TEST(verdict() == "0 1 0");
    what.workers[0].killed = at(1200ms);
    BOOST_TEST(verdict() == "0 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_valid_holder_was_refused, all_is_well)
{
    write(1, 6, 4, 1250ms, "stale");
    BOOST_TEST(verdict() == "0 1 0");
}

BOOST_FIXTURE_TEST_CASE(a_clock_step_excuses_what_it_can_have_led_to, all_is_well)
{
    lease(0, 7, 1250ms, 1400ms);
    BOOST_TEST(verdict() == "0 1 0");
    fault_at(fault_kind::clock_forward, 1100ms, 1200ms);
    BOOST_TEST(verdict() == "0 0 1");
}

BOOST_FIXTURE_TEST_CASE(and_nothing_after_a_ttl, all_is_well)
{
    lease(0, 7, 1250ms, 1400ms);
    fault_at(fault_kind::clock_forward, 100ms, 1250ms - on_servers.ttl - 1ms);
    BOOST_TEST(verdict() == "0 1 0");
}

BOOST_FIXTURE_TEST_CASE(nor_before_it_began, all_is_well)
{
    lease(0, 7, 1250ms, 1400ms);
    fault_at(fault_kind::clock_forward, 1251ms, 1300ms);
    BOOST_TEST(verdict() == "0 1 0");
}

BOOST_FIXTURE_TEST_CASE(lost_memory_excuses_plain_locks_only, all_is_well)
{
    fault_at(fault_kind::flush_all, 1100ms, 1200ms);
    lease(0, 7, 1250ms, 1400ms);
    BOOST_TEST(verdict() == "0 1 0");
    what.workers[0].leases.back().fenced = what.workers[1].leases.back().fenced = false;
    BOOST_TEST(verdict() == "0 0 1");
}

BOOST_FIXTURE_TEST_CASE(nothing_excuses_a_violation, all_is_well)
{
    fault_at(fault_kind::clock_forward, 1000ms, 2000ms);
    write(0, 5, 4, 1400ms);
    BOOST_TEST(verdict() == "1 0 0");
}

BOOST_FIXTURE_TEST_CASE(most_faults_excuse_nothing, all_is_well)
{
    lease(0, 7, 1250ms, 1400ms);
    for (auto const kind : all_fault_kinds())
        if (traits(kind).assumptions == breaks::nothing) fault_at(kind, 1000ms, 2000ms);
    BOOST_TEST(what.faults.size() > 15u);
    BOOST_TEST(verdict() == "0 1 0");
}

// Two readers at once, behind a writer that has become one, and the next writer.
struct readers_are_well : all_is_well {
    readers_are_well()
    {
        auto& once_a_writer = reader(1, 6, 1300ms, 1380ms);
        once_a_writer.downgraded = true;
        once_a_writer.asked = at(1199ms);
        reader(0, 7, 1320ms, 1400ms);
        reader(1, 7, 1330ms, 1390ms);
        look(1, 6, 3, 1310ms);
        look(0, 7, 3, 1340ms);
        look(1, 7, 3, 1350ms);
        lease(0, 8, 1410ms, 1500ms);
        write(0, 8, 4, 1420ms);
    }
};

BOOST_FIXTURE_TEST_CASE(finds_nothing_where_readers_are_well, readers_are_well)
{
    BOOST_TEST(verdict() == "0 0 0");
    BOOST_TEST(readers_of(what).leases == 3u);
    BOOST_TEST(readers_of(what, true).leases == 1u);
    BOOST_TEST(readers_of(what).max_together == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_writer_beside_readers, readers_are_well)
{
    lease(1, 9, 1499ms, 1600ms);
    reader(0, 10, 1599ms, 1700ms);
    BOOST_TEST(verdict() == "0 2 0");
}

BOOST_FIXTURE_TEST_CASE(a_reader_with_the_token_of_a_writer, readers_are_well)
{
    reader(1, 8, 1510ms, 1600ms);
    BOOST_TEST(verdict() == "2 0 0");  // and it asked when the writer had had it
}

BOOST_FIXTURE_TEST_CASE(a_writer_with_the_token_of_a_reader, readers_are_well)
{
    reader(1, 9, 1510ms, 1600ms);
    lease(0, 9, 1610ms, 1700ms);
    BOOST_TEST(verdict() == "2 0 0");
}

BOOST_FIXTURE_TEST_CASE(readers_are_not_ordered, readers_are_well)
{
    reader(1, 10, 1510ms, 1600ms);
    reader(0, 9, 1610ms, 1700ms);
    BOOST_TEST(verdict() == "0 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_look_that_came_too_late_was_answered, readers_are_well)
{
    look(0, 7, 4, 1430ms);
    BOOST_TEST(verdict() == "1 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_look_that_came_too_late_was_refused, readers_are_well)
{
    look(0, 7, 4, 1430ms, "stale");
    BOOST_TEST(verdict() == "0 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_reader_was_told_an_old_value, readers_are_well)
{
    reader(1, 9, 1510ms, 1600ms);
    look(1, 9, 3, 1520ms);
    BOOST_TEST(verdict() == "1 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_writer_was_accepted_after_a_later_reader, readers_are_well)
{
    reader(1, 9, 1510ms, 1600ms);
    look(1, 9, 4, 1520ms);
    write(0, 8, 5, 1530ms);
    BOOST_TEST(verdict() == "1 0 0");
}

BOOST_FIXTURE_TEST_CASE(a_valid_reader_was_refused, readers_are_well)
{
    reader(1, 9, 1510ms, 1600ms);
    look(1, 9, 4, 1520ms, "stale");
    BOOST_TEST(verdict() == "0 1 0");
}

// Two permits: one is held, then both are in one lease, then one is a lock.
struct permits_are_well : made_up {
    permits_are_well()
    {
        permit(0, 5, {"h#0"}, 1000ms, 1100ms);
        permit(1, 5, {"h#1"}, 1010ms, 1100ms);
        permit(1, 7, {"h#0", "h#1"}, 1100ms, 1200ms);
        permit(0, 8, {"h#1"}, 1210ms, 1300ms).permits = 0;  // somebody who knows of no semaphore
        permit(1, 8, {"h#0"}, 1220ms, 1300ms);
    }

    lease_record& permit(std::size_t worker, std::uint64_t token, std::vector<std::string> slots, milliseconds held, milliseconds over)
    {
        auto& l = lease(worker, token, held, over);
        l.names = std::move(slots);
        l.permits = 2;
        return l;
    }
};

BOOST_FIXTURE_TEST_CASE(finds_nothing_where_permits_are_well, permits_are_well)
{
    BOOST_TEST(verdict() == "0 0 0");
    BOOST_TEST(permits_of(what).leases == 4u);
    BOOST_TEST(permits_of(what).max_together == 2u);
}

BOOST_FIXTURE_TEST_CASE(more_permits_are_held_than_there_are, permits_are_well)
{
    permit(1, 9, {"h#2"}, 1290ms, 1310ms);
    BOOST_TEST(verdict() == "0 1 0");
}

BOOST_FIXTURE_TEST_CASE(one_lease_on_more_permits_than_are_left, permits_are_well)
{
    permit(1, 9, {"h#2", "h#3"}, 1290ms, 1310ms);
    BOOST_TEST(verdict() == "0 2 0");
}

BOOST_FIXTURE_TEST_CASE(lost_data_does_not_excuse_one_permit_too_many, permits_are_well)
{
    permit(1, 9, {"h#2"}, 1290ms, 1310ms);
    fault_at(fault_kind::flush_all, 1100ms, 1200ms);
    BOOST_TEST(verdict() == "0 1 0");
    fault_at(fault_kind::clock_forward, 1100ms, 1200ms);
    BOOST_TEST(verdict() == "0 0 1");
}

BOOST_FIXTURE_TEST_CASE(tokens_of_a_slot_that_do_not_increase, permits_are_well)
{
    permit(1, 7, {"h#0"}, 1310ms, 1400ms);
    BOOST_TEST(verdict() == "2 0 0");  // one token twice, and below the last
    permit(0, 6, {"h#2"}, 1410ms, 1420ms);  // of another slot
    BOOST_TEST(verdict() == "2 0 0");
}

BOOST_FIXTURE_TEST_CASE(one_who_believes_in_another_number_of_permits, permits_are_well)
{
    permit(1, 9, {"h#0"}, 1310ms, 1400ms).permits = 3;
    BOOST_TEST(verdict() == "1 0 0");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(fault_table)

BOOST_FIXTURE_TEST_CASE(counts_within_the_time_of_a_fault, all_is_well)
{
    fault_at(fault_kind::cut, 1150ms, 1400ms);
    what.workers[1].leases[0].lost = true;
    auto const admitted = std::vector<std::string>(node_count, "admitted");
    auto out = admitted;
    out[2] = "quarantined";
    what.workers[0].samples = {{at(900ms), 4, admitted, 1, 1},
                               {at(1200ms), 6, out, 1, 1},
                               {at(1300ms), 9, out, 1, 1},
                               {at(1500ms), 12, admitted, 1, 1}};
    auto const f = figures_by_kind(what, judge(what))[static_cast<std::size_t>(fault_kind::cut)];
    BOOST_TEST(f.times == 1u);
    BOOST_TEST(f.acquired == 1u);
    BOOST_TEST(f.lost == 1u);
    BOOST_TEST(f.extended == 5u);
    BOOST_TEST(f.quarantines == 1u);
    BOOST_TEST((f.max_unavailable == 200ms));
}

BOOST_FIXTURE_TEST_CASE(finds_a_worker_that_grows, made_up)
{
    for (std::size_t i = 0; i < 1'000; ++i)
        what.workers[0].samples.push_back({at(i * 100ms), 0, std::vector<std::string>(node_count, "admitted"), 10'000 + i % 10, 20});
    BOOST_TEST(growth(what).empty());
    for (std::size_t i = 800; i < 1'000; ++i) what.workers[0].samples[i].descriptors = 29;
    BOOST_TEST(growth(what).size() == 1u);
    for (std::size_t i = 0; i < 1'000; ++i) what.workers[0].samples[i].rss_kb = 10'000 + 20 * i;
    BOOST_TEST(growth(what).size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::faults
