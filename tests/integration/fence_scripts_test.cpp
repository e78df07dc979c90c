// The scripts of the fencing tokens on a real server: what each of them answers, writes and leaves alone.
#include "support/fenced_server.hpp"

#include <array>
#include <map>
#include <random>

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(fence_scripts)

// acquire

BOOST_FIXTURE_TEST_CASE(a_free_name_is_granted, fenced_server)
{
    BOOST_TEST(acquire("a") == granted(start + 1));
    BOOST_TEST(get("r") == "a");
    BOOST_TEST(get("r:fence") == std::to_string(start + 1));
    BOOST_TEST(get("redlock:hw") == std::to_string(start + 1));
    BOOST_TEST(ttl("r") > 19'000);
    BOOST_TEST(ttl("r") <= 20'000);
    BOOST_TEST(ttl("r:fence") > 59'000);
    BOOST_TEST(ttl("redlock:hw") == -1);
    BOOST_TEST(ttl("redlock:node") == -1);
}

BOOST_FIXTURE_TEST_CASE(a_held_name_is_refused_and_left_alone, fenced_server)
{
    acquire("a");
    run({"PEXPIRE", "r", "9000"});
    BOOST_TEST(acquire("b", start + 100) == "0 " + std::to_string(start + 1));
    BOOST_TEST(ttl("r") <= 9'000);
    BOOST_TEST(get("r") == "a");
    BOOST_TEST(counter() == start + 1);
}

BOOST_FIXTURE_TEST_CASE(a_repeated_acquire_answers_the_same_and_does_not_prolong, fenced_server)
{
    auto const first = acquire("a", start + 50, 3);
    BOOST_TEST(first == granted(start + 50));
    run({"PEXPIRE", "r", "9000"});
    BOOST_TEST(acquire("a", start + 70, 3) == first);
    BOOST_TEST(ttl("r") <= 9'000);
    BOOST_TEST(counter() == start + 50);
}

BOOST_FIXTURE_TEST_CASE(a_foreign_value_without_expiry_is_a_holder, fenced_server)
{
    run({"SET", "r", "theirs"});
    BOOST_TEST(acquire("a") == "0 " + std::to_string(start));
    BOOST_TEST(get("r") == "theirs");
    BOOST_TEST(server.command({"EXISTS", "r:fence"}) == "0");
}

BOOST_FIXTURE_TEST_CASE(a_foreign_key_of_another_type_is_a_holder_for_every_script, fenced_server)
{
    for (words const& create : {words{"HSET", "r", "f", "1"}, words{"RPUSH", "r", "x"}, words{"SADD", "r", "x"},
                                words{"XADD", "r", "*", "f", "1"}, words{"ZADD", "r", "1", "x"}}) {
        run(create);
        auto const type = server.command({"TYPE", "r"});
        run({"PEXPIRE", "r", "5000"});
        BOOST_TEST(acquire("a") == "0 " + std::to_string(start), type);
        BOOST_TEST(ttl("r") <= 5'000, type);
        BOOST_TEST(confirm("a", start + 1) == "0", type);
        BOOST_TEST(extend("a", start + 1, true) == "0", type);
        BOOST_TEST(call(detail::release_script(), {"r"}, {"a"}) == "0", type);
        BOOST_TEST(server.command({"TYPE", "r"}) == type);
        BOOST_TEST(ttl("r") <= 5'000);
        BOOST_TEST(server.command({"EXISTS", "r:fence"}) == "0");
        BOOST_TEST(high_water() == start);
        run({"DEL", "r"});
    }
}

BOOST_FIXTURE_TEST_CASE(a_block_raises_the_counter_by_its_size, fenced_server)
{
    BOOST_TEST(acquire("a", 0, 10) == granted(start + 10));
    run({"DEL", "r"});
    BOOST_TEST(acquire("b", 0, 1) == granted(start + 11));
    run({"DEL", "r"});
    BOOST_TEST(acquire("c", start + 16, 5) == granted(start + 16));  // a floor at the step is the step
    run({"DEL", "r"});
    BOOST_TEST(acquire("d", start + 20, 5) == granted(start + 21));  // one below it is no floor
    run({"DEL", "r"});
    BOOST_TEST(acquire("e", start + 100, 5) == granted(start + 100));
    run({"DEL", "r"});
    BOOST_TEST(acquire("f", 0, 0) == "-5 0");  // an empty block would repeat a token
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
}

BOOST_FIXTURE_TEST_CASE(a_floor_far_ahead_of_the_servers_clock_does_not_count, fenced_server)
{
    auto const now = now_us();
    BOOST_TEST(acquire("a", now) == granted(now));
    run({"DEL", "r"});
    BOOST_TEST(acquire("b", now + 10 * second_us) == granted(now + 10 * second_us));
    run({"DEL", "r"});
    BOOST_TEST(acquire("c", now + 10 * 365 * day_us) == granted(now + 10 * second_us + 1));
    run({"DEL", "r"});
    BOOST_TEST(acquire("d", now + day_us) == granted(now + 10 * second_us + 2));
    run({"DEL", "r"});
    BOOST_TEST(acquire("e", now + day_us / 2 - second_us) == granted(now + day_us / 2 - second_us));
}

// Each clock a little ahead of the one before: they must not lift the counter past a day.
BOOST_FIXTURE_TEST_CASE(floors_cannot_climb_in_steps, fenced_server)
{
    auto const now = now_us();
    for (std::int64_t i = 0; i < 200; ++i) {
        acquire("a", now + i * day_us / 24);
        run({"DEL", "r"});
    }
    BOOST_TEST(high_water() < now + day_us + second_us);
    BOOST_TEST(high_water() >= now + day_us / 2 - day_us / 24);
}

// Two servers in the same state; names that are held, ours, foreign or free, counters that are there, foreign or gone, and floors of all kinds.
BOOST_AUTO_TEST_CASE(many_acquires_in_one_call_are_as_one_after_the_other)
{
    fenced_server together, apart;
    std::minstd_rand random{7};
    auto const below = [&](std::size_t n) { return static_cast<std::size_t>(random() / 7 % n); };
    std::map<std::string, int> seen;
    for (int round = 0; round < 300; ++round) {
        BOOST_TEST_CONTEXT("round " << round)
        {
            std::size_t const count = 1 + below(8);
            words names;
            for (std::size_t i = 0; i < count; ++i) names.push_back("n" + std::to_string(round) + "-" + std::to_string(i));
            auto const both = [&](words const& command) {
                together.run(command);
                apart.run(command);
            };
            for (auto const& name : names) {
                if (below(3) == 0) both({"SET", name, below(2) == 0 ? "theirs" : "value-of-" + name});
                else if (below(8) == 0) both({"HSET", name, "f", "1"});
                if (below(3) == 0) both({"SET", name + ":fence", std::to_string(start + static_cast<std::int64_t>(below(1'000'000)))});
                else if (below(8) == 0) both({"RPUSH", name + ":fence", "x"});
                else if (below(20) == 0) both({"SET", name + ":fence", "9007199254740991"});
            }
            auto const ttl = std::to_string(below(10) == 0 ? 30'001 : 20'000);
            auto const block = std::to_string(1 + below(100));
            bool const admitted = below(20) != 0;
            auto const ask = [&](fenced_server const& on, words const& of, std::vector<std::int64_t> const& floors) {
                words arguments{admitted ? on.id : other_id, ttl, block, "60000"};
                for (std::size_t i = 0; i < of.size(); ++i) append(arguments, {"value-of-" + of[i], std::to_string(floors[i])});
                return on.call(detail::fence_acquire_script(), fenced_server::keys_of(of), arguments);
            };
            std::vector<std::int64_t> floors;
            for (std::size_t i = 0; i < count; ++i) {
                std::array<std::int64_t, 4> const choice{0, start + static_cast<std::int64_t>(below(2'000'000)), together.high_water() + 50,
                                                         start + 10 * 365 * day_us * 1'000};
                floors.push_back(choice[below(choice.size())]);
            }
            auto const answer = ask(together, names, floors);
            std::string one_by_one;
            for (std::size_t i = 0; i < count; ++i) {
                auto const one = ask(apart, {names[i]}, {floors[i]});
                ++seen[one.substr(0, one.find(' '))];
                one_by_one += (i > 0 ? " " : "") + one;
            }
            BOOST_REQUIRE_EQUAL(answer, one_by_one);
            BOOST_REQUIRE_EQUAL(together.high_water(), apart.high_water());
            for (auto const& name : names)
                for (auto const& key : {name, name + ":fence"}) {
                    auto const type = together.server.command({"TYPE", key});
                    BOOST_REQUIRE_EQUAL(type, apart.server.command({"TYPE", key}));
                    if (type == "string") BOOST_REQUIRE_EQUAL(together.get(key), apart.get(key));
                    BOOST_REQUIRE_EQUAL(together.ttl(key) > 0, apart.ttl(key) > 0);
                }
        }
    }
    for (char const* code : {"1", "0", "-1", "-3", "-4", "-5"}) BOOST_TEST(seen[code] > 3, code << ": " << seen[code]);
}

// As two callers of one client may ask for it in one message.
BOOST_FIXTURE_TEST_CASE(a_name_that_stands_in_a_call_twice_is_granted_once, fenced_server)
{
    BOOST_TEST(call(detail::fence_acquire_script(), keys_of({"a", "a"}), {id, "20000", "1", "60000", "first", "0", "second", "0"}) ==
               "1 " + std::to_string(start + 1) + " 0 " + std::to_string(start + 1));
    BOOST_TEST(get("a") == "first");
    BOOST_TEST(get("a:fence") == std::to_string(start + 1));
    BOOST_TEST(high_water() == start + 1);
}

BOOST_FIXTURE_TEST_CASE(the_last_tokens_are_refused, fenced_server)
{
    run({"SET", "r:fence", "9007199254740990"});
    BOOST_TEST(acquire("a") == granted(9007199254740991));
    run({"DEL", "r"});
    BOOST_TEST(acquire("b") == "-5 0");
    BOOST_TEST(acquire("b", 0, 1'000) == "-5 0");
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
    BOOST_TEST(get("r:fence") == "9007199254740991");
}

BOOST_FIXTURE_TEST_CASE(numbers_are_written_in_full, fenced_server)
{
    for (std::int64_t base :
         {std::int64_t{1} << 40, (std::int64_t{1} << 50) + 1, std::int64_t{1'795'264'244'021'001}, std::int64_t{9'007'199'254'000'000}}) {
        run({"SET", "r:fence", std::to_string(base)});
        if (base <= start) run({"SET", "redlock:node", id + " " + padded(base, 16) + " 0000030000 -"});
        BOOST_TEST(acquire("a") == granted(base + 1));
        BOOST_TEST(get("r:fence") == std::to_string(base + 1));
        BOOST_TEST(confirm("a", base + 2) == "1");
        BOOST_TEST(get("r:fence") == std::to_string(base + 2));
        run({"DEL", "r"});
    }
    BOOST_TEST(get("redlock:hw") == "9007199254000002");
}

BOOST_FIXTURE_TEST_CASE(a_missing_counter_reads_as_the_high_water_mark, fenced_server)
{
    call(detail::fence_acquire_script(), keys_of({"other"}), {id, "20000", "1", "60000", "x", std::to_string(start + 700)});
    BOOST_TEST(acquire("a") == granted(start + 701));
    run({"DEL", "r:fence"});
    BOOST_TEST(acquire("a") == granted(start + 701));
    BOOST_TEST(acquire("b") == "0 " + std::to_string(start + 701));
    BOOST_TEST(confirm("a", start + 700) == "-2");
    BOOST_TEST(extend("a", start + 700, true) == needs(start + 701));
    BOOST_TEST(confirm("a", start + 701) == "1");
    BOOST_TEST(counter() == start + 701);
}

BOOST_FIXTURE_TEST_CASE(a_counter_is_kept_for_its_retention_and_not_longer, fenced_server)
{
    acquire("a", 0, 1, 20'000, 10);
    bool gone = false;
    for (int i = 0; i < 1'000 && !gone; ++i) gone = server.command({"EXISTS", "r:fence"}) == "0";
    BOOST_TEST(gone);
    BOOST_TEST(get("r") == "a");
    BOOST_TEST(confirm("a", start + 1) == "1");
    BOOST_TEST(ttl("r:fence") > 59'000);
}

BOOST_FIXTURE_TEST_CASE(a_base_above_the_counter_is_stepped_over, fenced_server)
{
    run({"SET", "r:fence", std::to_string(start - 500)});  // an older state that came back
    BOOST_TEST(acquire("a") == granted(start + 1));
}

BOOST_FIXTURE_TEST_CASE(foreign_data_under_the_counters_name_is_no_vote_and_stays, fenced_server)
{
    run({"HSET", "r:fence", "f", "1"});
    BOOST_TEST(acquire("a") == "-4 0");
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
    run({"SET", "r", "a"});
    BOOST_TEST(confirm("a", start + 9) == "-4");
    BOOST_TEST(extend("a", start + 9, true) == "-4");
    run({"DEL", "r"});
    BOOST_TEST(extend("a", start + 9, true) == "-4");
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
    BOOST_TEST(server.command({"HGET", "r:fence", "f"}) == "1");

    run({"DEL", "r:fence"});
    run({"SET", "r:fence", "not a number"});
    BOOST_TEST(acquire("a") == "-4 0");
    BOOST_TEST(confirm("a", start + 9) == "0");
    run({"SET", "r", "a"});
    BOOST_TEST(acquire("a") == "-4 0");
    BOOST_TEST(confirm("a", start + 9) == "-4");
    BOOST_TEST(extend("a", start + 9, true) == "-4");
    BOOST_TEST(get("r:fence") == "not a number");
    BOOST_TEST(high_water() == start);
}

BOOST_FIXTURE_TEST_CASE(a_ttl_above_the_nodes_is_refused, fenced_server)
{
    BOOST_TEST(acquire("a", 0, 1, 30'001) == "-3 30000");
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
    BOOST_TEST(acquire("a", 0, 1, 30'000) == granted(start + 1));
    BOOST_TEST(extend("a", start + 1, false, true, 30'001) == "-3");
    BOOST_TEST(extend("a", start + 1, false, true, 30'000) == "1");
}

// confirm

BOOST_FIXTURE_TEST_CASE(confirm_raises_the_counter_and_the_mark, fenced_server)
{
    acquire("a");
    run({"PEXPIRE", "r:fence", "1000"});
    BOOST_TEST(confirm("a", start + 40) == "1");
    BOOST_TEST(counter() == start + 40);
    BOOST_TEST(high_water() == start + 40);
    BOOST_TEST(ttl("r:fence") > 59'000);
    BOOST_TEST(confirm("a", start + 40) == "1");
    BOOST_TEST(confirm("a", start + 39) == "-2");
    BOOST_TEST(counter() == start + 40);
}

BOOST_FIXTURE_TEST_CASE(confirm_wants_its_own_value, fenced_server)
{
    BOOST_TEST(confirm("a", start + 40) == "0");
    acquire("b");
    BOOST_TEST(confirm("a", start + 40) == "0");
    BOOST_TEST(counter() == start + 1);
}

BOOST_FIXTURE_TEST_CASE(the_guard_knows_the_base_too, fenced_server)
{
    run({"SET", "r", "a"});
    run({"SET", "r:fence", std::to_string(start - 500)});
    for (bool recreate : {false, true}) {
        BOOST_TEST(confirm("a", start - 1) == "-2");
        BOOST_TEST(extend("a", start - 1, recreate) == needs(start));
        BOOST_TEST(climb("a", start - 1, start + 9) == "-2");
    }
    BOOST_TEST(ttl("r") == -1);
    BOOST_TEST(counter() == start - 500);
    BOOST_TEST(confirm("a", start) == "1");
    BOOST_TEST(extend("a", start, false) == "1");
}

// extend

BOOST_FIXTURE_TEST_CASE(extend_renews_the_lease_and_its_counter, fenced_server)
{
    acquire("a");
    run({"PEXPIRE", "r", "1000"});
    run({"PEXPIRE", "r:fence", "1000"});
    BOOST_TEST(extend("a", start + 1, false, false) == "1");
    BOOST_TEST(ttl("r") > 24'000);
    BOOST_TEST(ttl("r:fence") <= 1'000);  // not asked to
    BOOST_TEST(extend("a", start + 1, false, true) == "1");
    BOOST_TEST(ttl("r:fence") > 59'000);
    BOOST_TEST(high_water() == start + 1);
    BOOST_TEST(extend("a", start + 8, false, false) == "1");  // a node that granted less than the token
    BOOST_TEST(counter() == start + 8);
    BOOST_TEST(high_water() == start + 8);
    BOOST_TEST(ttl("r:fence") > 59'000);
}

BOOST_FIXTURE_TEST_CASE(extend_refuses_behind_a_larger_counter, fenced_server)
{
    acquire("a");
    run({"PEXPIRE", "r", "1000"});
    run({"SET", "r:fence", std::to_string(start + 2)});
    BOOST_TEST(extend("a", start + 1, true) == needs(start + 2));
    BOOST_TEST(ttl("r") <= 1'000);
    run({"DEL", "r"});
    BOOST_TEST(extend("a", start + 1, true) == needs(start + 2));
    run({"DEL", "r:fence"});
    run({"SET", "redlock:hw", std::to_string(start + 7)});
    BOOST_TEST(extend("a", start + 1, true) == needs(start + 7));
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_is_gone_is_planted_again_on_request, fenced_server)
{
    BOOST_TEST(extend("a", start + 5, false) == "0");
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
    BOOST_TEST(extend("a", start + 5, true) == "2");
    BOOST_TEST(get("r") == "a");
    BOOST_TEST(ttl("r") > 24'000);
    BOOST_TEST(counter() == start + 5);
    BOOST_TEST(high_water() == start + 5);
    BOOST_TEST(extend("b", start + 6, true) == "0");
    BOOST_TEST(get("r") == "a");
}

BOOST_FIXTURE_TEST_CASE(one_call_extends_many_leases_each_for_itself, fenced_server)
{
    words keys_of{"redlock:node", "redlock:hw"};
    words arguments{id, "60000", "1", "0"};
    auto const add = [&](std::string const& name, std::string const& value, std::int64_t token, std::string const& ttl_ms) {
        append(keys_of, {name, name + ":fence"});
        append(arguments, {value, std::to_string(token), ttl_ms});
    };
    run({"SET", "held", "a"});
    run({"SET", "taken", "b"});
    run({"SET", "behind", "a"});
    run({"SET", "behind:fence", std::to_string(start + 9)});
    run({"SADD", "set", "x"});
    add("held", "a", start + 3, "20000");
    add("taken", "a", start + 3, "20000");
    add("behind", "a", start + 3, "20000");
    add("gone", "a", start + 4, "20000");
    add("set", "a", start + 3, "20000");
    add("held", "a", start + 3, "40000");
    add("gone", "second", start + 9, "20000");  // the same lock again: recreated above, unseen, and not recreated over
    BOOST_TEST(call(detail::fence_extend_script(), keys_of, arguments) == "1 0 " + needs(start + 9) + " 2 0 -3 0");
    BOOST_TEST(high_water() == start + 4);
    BOOST_TEST(get("gone") == "a");
    BOOST_TEST(get("gone:fence") == std::to_string(start + 4));

    words many{"redlock:node", "redlock:hw"};
    words hundred{id, "60000", "1", "0"};
    std::string ones;
    for (int i = 0; i < 100; ++i) {
        append(many, {"n" + std::to_string(i), "n" + std::to_string(i) + ":fence"});
        append(hundred, {"v", std::to_string(start + 10 + i), "20000"});
        ones += i == 0 ? "2" : " 2";
    }
    BOOST_TEST(call(detail::fence_extend_script(), many, hundred) == ones);
    BOOST_TEST(high_water() == start + 109);
    hundred[0] = other_id;
    BOOST_TEST(call(detail::fence_extend_script(), many, hundred).substr(0, 8) == "-1 -1 -1");
}

// climb

BOOST_FIXTURE_TEST_CASE(a_climb_raises_the_counter_and_the_mark_and_leaves_its_own_mark, fenced_server)
{
    acquire("a");
    run({"PEXPIRE", "r", "1000"});
    run({"PEXPIRE", "r:fence", "1000"});
    BOOST_TEST(climb("a", start + 1, start + 50) == "1");
    BOOST_TEST(get("r:fence") == marked(start + 50));
    BOOST_TEST(get("redlock:hw") == std::to_string(start + 50));
    BOOST_TEST(ttl("r:fence") > 59'000);
    BOOST_TEST(ttl("r") <= 1'000, "it prolongs nothing");
    // For all others it is the number.
    BOOST_TEST(confirm("a", start + 40) == "-2");
    BOOST_TEST(acquire("a") == granted(start + 50));
    BOOST_TEST(acquire("b") == "0 " + std::to_string(start + 50));
}

BOOST_FIXTURE_TEST_CASE(a_climb_wants_its_own_value_and_nothing_above_its_guard, fenced_server)
{
    BOOST_TEST(climb("a", start + 1, start + 9) == "0");
    acquire("b");
    BOOST_TEST(climb("a", start + 1, start + 9) == "0");
    BOOST_TEST(climb("b", start, start + 9) == "-2");
    BOOST_TEST(climb("b", start - 1, start + 9) == "-2", "the base");
    BOOST_TEST(get("r:fence") == std::to_string(start + 1));
    run({"DEL", "r:fence"});
    run({"SET", "redlock:hw", std::to_string(start + 2)});
    BOOST_TEST(climb("b", start + 1, start + 9) == "-2", "a missing counter is the high-water mark");
    BOOST_TEST(climb("b", start + 2, start + 9, 30'001) == "-3");
    run({"SADD", "r:fence", "x"});
    BOOST_TEST(climb("b", start + 2, start + 9) == "-4");
    BOOST_TEST(high_water() == start + 2);
}

BOOST_FIXTURE_TEST_CASE(a_climb_may_be_repeated_and_go_farther_from_its_mark_and_from_nothing_else, fenced_server)
{
    acquire("a");
    BOOST_TEST(climb("a", start + 1, start + 50) == "1");
    BOOST_TEST(climb("a", start + 1, start + 50) == "1");
    BOOST_TEST(climb("a", start + 1, start + 60) == "1");
    BOOST_TEST(climb("a", start + 1, start + 50) == "-2", "a late one");
    BOOST_TEST(get("r:fence") == marked(start + 60));
    run({"SET", "r:fence", std::to_string(start + 60)});
    BOOST_TEST(climb("a", start + 1, start + 60) == "-2", "the number by accident");
    BOOST_TEST(climb("a", start + 1, start + 70) == "-2");
    // A mark does not help against the base of an admission.
    run({"SET", "r:fence", marked(start - 9)});
    BOOST_TEST(climb("a", start - 20, start + 70) == "-2");
    BOOST_TEST(extend("a", start - 20, false) == needs(start));
}

BOOST_FIXTURE_TEST_CASE(an_extension_leaves_the_mark_of_a_climb_that_failed_alone, fenced_server)
{
    acquire("a");
    climb("a", start + 1, start + 50);
    run({"PEXPIRE", "r", "1000"});
    run({"PEXPIRE", "r:fence", "1000"});
    BOOST_TEST(extend("a", start + 1, true, false) == "1");
    BOOST_TEST(ttl("r") > 24'000);
    BOOST_TEST(ttl("r:fence") <= 1'000);
    BOOST_TEST(extend("a", start + 1, true, true) == "1");
    BOOST_TEST(ttl("r:fence") > 59'000);
    BOOST_TEST(get("r:fence") == marked(start + 50));
    BOOST_TEST(extend("b", start + 60, true) == "0");
    run({"DEL", "r"});
    BOOST_TEST(extend("a", start + 1, true) == needs(start + 50), "the lock is not there: the mark says nothing");
    BOOST_TEST(extend("a", start + 50, true) == "2");
    BOOST_TEST(get("r:fence") == std::to_string(start + 50));
}

BOOST_FIXTURE_TEST_CASE(whoever_sets_the_lock_takes_the_mark_of_a_climb_away, fenced_server)
{
    acquire("a");
    climb("a", start + 1, start + 50);
    BOOST_TEST(extend("a", start + 50, false) == "1");
    BOOST_TEST(get("r:fence") == std::to_string(start + 50));
    climb("a", start + 50, start + 60);
    BOOST_TEST(confirm("a", start + 60) == "1");
    BOOST_TEST(get("r:fence") == std::to_string(start + 60));
    climb("a", start + 60, start + 70);
    run({"DEL", "r"});
    BOOST_TEST(acquire("b") == granted(start + 71));
    BOOST_TEST(get("r:fence") == std::to_string(start + 71));
    climb("b", start + 71, start + 80);
    run({"DEL", "r"});
    BOOST_TEST(acquire_all({"r", "s"}, "c") == granted(start + 81));
    BOOST_TEST(get("r:fence") == std::to_string(start + 81));
}

BOOST_FIXTURE_TEST_CASE(one_call_makes_many_leases_climb_each_for_itself, fenced_server)
{
    words keys_of{"redlock:node", "redlock:hw"};
    words arguments{id, "60000"};
    auto const add = [&](std::string const& name, std::string const& value, std::int64_t guard, std::int64_t to) {
        append(keys_of, {name, name + ":fence"});
        append(arguments, {value, std::to_string(guard), std::to_string(to), "20000"});
    };
    for (char const* name : {"one", "two", "behind", "no counter"}) run({"SET", name, "a"});
    run({"SET", "taken", "b"});
    run({"SET", "two:fence", std::to_string(start + 4)});
    run({"SET", "behind:fence", std::to_string(start + 9)});
    add("one", "a", start + 3, start + 30);
    add("taken", "a", start + 3, start + 30);
    add("behind", "a", start + 3, start + 30);
    add("two", "a", start + 4, start + 20);
    add("no counter", "a", start + 4, start + 20);  // reads as the high-water mark, as the first of them has left it
    BOOST_TEST(call(detail::fence_climb_script(), keys_of, arguments) == "1 0 -2 1 -2");
    BOOST_TEST(high_water() == start + 30);
    BOOST_TEST(get("two:fence") == marked(start + 20));
    arguments[0] = other_id;
    BOOST_TEST(call(detail::fence_climb_script(), keys_of, arguments) == "-1 -1 -1 -1 -1");
}

// several locks

BOOST_FIXTURE_TEST_CASE(several_free_names_are_granted_together_with_one_token, fenced_server)
{
    run({"SET", "b:fence", std::to_string(start - 7)});
    run({"SET", "c:fence", std::to_string(start + 40)});
    run({"SET", "redlock:hw", std::to_string(start + 40)});
    run({"SET", "a:fence", std::to_string(start + 30)});
    BOOST_TEST(acquire_all({"a", "b", "c"}, "v") == "1 " + std::to_string(start + 41));
    for (std::string const name : {"a", "b", "c"}) {
        BOOST_TEST(get(name) == "v");
        BOOST_TEST(ttl(name) > 19'000);
        BOOST_TEST(get(name + ":fence") == std::to_string(start + 41));
        BOOST_TEST(ttl(name + ":fence") > 59'000);
    }
    BOOST_TEST(high_water() == start + 41);
    BOOST_TEST(acquire_all({"d", "e"}, "w", 0, 5) == "1 " + std::to_string(start + 46));  // missing ones read as the mark
    BOOST_TEST(get("e:fence") == std::to_string(start + 46));
}

BOOST_FIXTURE_TEST_CASE(tokens_of_one_and_of_several_names_go_on_from_each_other, fenced_server)
{
    BOOST_TEST(acquire("a") == granted(start + 1));
    run({"DEL", "r"});
    BOOST_TEST(acquire_all({"q", "r"}, "b") == "1 " + std::to_string(start + 2));
    run({"DEL", "q", "r"});
    BOOST_TEST(acquire("c") == granted(start + 3));
    BOOST_TEST(get("q:fence") == std::to_string(start + 2));
    run({"DEL", "r"});
    BOOST_TEST(acquire_all({"q", "r"}, "d") == "1 " + std::to_string(start + 4));
}

BOOST_FIXTURE_TEST_CASE(one_held_name_refuses_all_and_all_are_left_alone, fenced_server)
{
    for (std::string const held : {"a", "b", "c"}) {
        run({"SET", held, "theirs"});
        BOOST_TEST(acquire_all({"a", "b", "c"}, "v", start + 100) == "0 " + std::to_string(start));
        BOOST_TEST(server.command({"EXISTS", "a", "b", "c"}) == "1");
        run({"DEL", held});
        run({"RPUSH", held, "x"});  // MGET does not see it
        BOOST_TEST(acquire_all({"a", "b", "c"}, "v", start + 100) == "0 " + std::to_string(start));
        BOOST_TEST(server.command({"EXISTS", "a", "b", "c"}) == "1");
        BOOST_TEST(server.command({"TYPE", held}) == "list");
        run({"DEL", held});
    }
    BOOST_TEST(server.command({"EXISTS", "a:fence", "b:fence", "c:fence"}) == "0");
    BOOST_TEST(high_water() == start);
}

BOOST_FIXTURE_TEST_CASE(a_repeated_acquire_of_several_answers_the_same_while_its_counters_agree, fenced_server)
{
    auto const first = acquire_all({"a", "b"}, "v", start + 50, 3);
    BOOST_TEST(first == "1 " + std::to_string(start + 50));
    run({"PEXPIRE", "b", "9000"});
    BOOST_TEST(acquire_all({"a", "b"}, "v", start + 70, 3) == first);
    BOOST_TEST(ttl("b") <= 9'000);
    // A counter that is gone reads as the mark: no answer would be the counter of both.
    run({"SET", "redlock:hw", std::to_string(start + 90)});
    run({"DEL", "b:fence"});
    BOOST_TEST(acquire_all({"a", "b"}, "v", 0, 3) == "0 " + std::to_string(start + 90));
    BOOST_TEST(get("a:fence") == std::to_string(start + 50));
    run({"SET", "b:fence", std::to_string(start + 50)});
    run({"DEL", "b"});
    BOOST_TEST(acquire_all({"a", "b"}, "v", start + 70, 3) == "0 " + std::to_string(start + 50));
    BOOST_TEST(server.command({"EXISTS", "b"}) == "0");
}

BOOST_FIXTURE_TEST_CASE(foreign_data_under_one_counters_name_undoes_all, fenced_server)
{
    words const names{"a", "b", "c"};
    run({"SET", "a:fence", std::to_string(start - 5)});
    for (std::string const spoilt : {"b:fence", "c:fence"}) {
        run({"HSET", spoilt, "f", "1"});
        BOOST_TEST(acquire_all(names, "v") == "-4 0");
        BOOST_TEST(server.command({"EXISTS", "a", "b", "c"}) == "0");
        BOOST_TEST(server.command({"EXISTS", "b:fence", "c:fence"}) == "1");
        for (auto const& name : names) run({"SET", name, "v"});
        BOOST_TEST(confirm_all(names, "v", start + 9) == "-4");
        BOOST_TEST(server.command({"EXISTS", "b:fence", "c:fence"}) == "1");
        for (auto const& name : names) run({"DEL", name});
        run({"DEL", spoilt});
        run({"SET", spoilt, "no number"});
        BOOST_TEST(acquire_all(names, "v") == "-4 0");
        for (auto const& name : names) run({"SET", name, "v"});
        BOOST_TEST(confirm_all(names, "v", start + 9) == "-4");
        for (auto const& name : names) run({"DEL", name});
        run({"DEL", spoilt});
        BOOST_TEST(get("a:fence") == std::to_string(start - 5), "nothing was raised");
        BOOST_TEST(high_water() == start);
    }
}

BOOST_FIXTURE_TEST_CASE(several_are_confirmed_together_or_not_at_all, fenced_server)
{
    words const names{"a", "b", "c"};
    acquire_all(names, "v");
    BOOST_TEST(confirm_all(names, "v", start + 40) == "1");
    for (std::string const name : {"a", "b", "c"}) BOOST_TEST(get(name + ":fence") == std::to_string(start + 40));
    BOOST_TEST(high_water() == start + 40);
    run({"DEL", "b:fence"});
    BOOST_TEST(confirm_all(names, "v", start + 41) == "1");
    BOOST_TEST(get("b:fence") == std::to_string(start + 41));
    run({"SET", "c:fence", std::to_string(start + 60)});
    BOOST_TEST(confirm_all(names, "v", start + 59) == "-2");
    BOOST_TEST(get("a:fence") == std::to_string(start + 41));
    for (char const* lost : {"c", "a"}) {
        run({"SET", lost, "theirs"});
        BOOST_TEST(confirm_all(names, "v", start + 60) == "0");
        run({"DEL", lost});
        BOOST_TEST(confirm_all(names, "v", start + 60) == "0");
    }
    BOOST_TEST(get("b:fence") == std::to_string(start + 41));
    BOOST_TEST(high_water() == start + 41);
}

BOOST_FIXTURE_TEST_CASE(several_follow_the_rules_for_one, fenced_server)
{
    words const names{"a", "b"};
    auto const now = now_us();
    BOOST_TEST(acquire_all(names, "v", 0, 1, 30'001) == "-3 30000");
    BOOST_TEST(acquire_all(names, "v", 0, 0) == "FENCE tokens are used up");
    BOOST_TEST(acquire_all(names, "v", now + day_us) == "1 " + std::to_string(start + 1));
    run({"DEL", "a", "b"});
    BOOST_TEST(acquire_all(names, "v", now) == "1 " + std::to_string(now));
    run({"DEL", "a", "b"});
    run({"SET", "redlock:node", id + " " + padded(now + 500, 16) + " 0000030000 -"});
    BOOST_TEST(acquire_all(names, "v") == "1 " + std::to_string(now + 501));
    run({"SET", "redlock:node", id + " " + padded(now + 700, 16) + " 0000030000 -"});
    BOOST_TEST(confirm_all(names, "v", now + 699) == "-2");
    BOOST_TEST(confirm_all(names, "v", now + 700) == "1");
    run({"DEL", "a", "b"});
    run({"SET", "b:fence", "9007199254740991"});
    BOOST_TEST(acquire_all(names, "v") == "FENCE tokens are used up");
    BOOST_TEST(server.command({"EXISTS", "a", "b"}) == "0");
    id = other_id;
    BOOST_TEST(acquire_all(names, "v") == "-1 0");
    BOOST_TEST(confirm_all(names, "v", start + 1) == "-1");
}

BOOST_FIXTURE_TEST_CASE(several_without_tokens_are_set_and_deleted_together, fenced_server)
{
    words const names{"a", "b", "c"};
    auto const acquire_plain = [&](std::string const& value) { return call(detail::acquire_several_script(), names, {value, "20000"}); };
    auto const release = [&](std::string const& value) { return call(detail::release_several_script(), names, {value}); };
    BOOST_TEST(acquire_plain("v") == "OK");
    for (auto const& name : names) BOOST_TEST((get(name) == "v" && ttl(name) > 19'000));
    BOOST_TEST(acquire_plain("v") == "(nil)", "as SET NX answers");
    BOOST_TEST(release("w") == "0");
    BOOST_TEST(release("v") == "1");
    BOOST_TEST(release("v") == "0");

    for (auto const& held : names) {
        run({"HSET", held, "f", "1"});
        BOOST_TEST(acquire_plain("v") == "(nil)");
        BOOST_TEST(server.command({"EXISTS", "a", "b", "c"}) == "1");
        for (auto const& name : names)
            if (name != held) run({"SET", name, "v"});
        BOOST_TEST(release("v") == "0", "it was not ours in the end");
        BOOST_TEST(server.command({"EXISTS", "a", "b", "c"}) == "1", "but what was ours is gone");
        BOOST_TEST(server.command({"TYPE", held}) == "hash");
        run({"DEL", held});
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
