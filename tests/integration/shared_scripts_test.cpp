// The scripts of read-write locks and semaphores on a real server: what each of them answers, writes and leaves alone, and how the keys look to
// others.
#include "support/fenced_server.hpp"

#include "protocol/semaphore.hpp"
#include "protocol/shared_scripts.hpp"
#include "testing/shared_model.hpp"

#include <array>
#include <random>

namespace redlock::testing {

namespace {

struct shared_server : fenced_server {
    shared_server()
    {
        for (auto const* s : {&detail::shared_acquire_script(), &detail::shared_confirm_script(), &detail::shared_extend_script(),
                              &detail::shared_release_script(), &detail::shared_want_script(), &detail::semaphore_acquire_script(),
                              &detail::semaphore_extend_script(), &detail::semaphore_keep_script(), &detail::semaphore_inspect_script(),
                              &detail::release_many_script()})
            BOOST_REQUIRE_EQUAL(server.command({"SCRIPT", "LOAD", std::string{s->text}}), s->sha1);
    }

    std::string read(std::string const& value, std::int64_t since = -1, std::int64_t ttl = 20'000, std::int64_t floor = 0) const
    {
        return call(detail::shared_acquire_script(), {"redlock:node", "redlock:hw", "r", "r:fence", "r:want"},
                    {id, std::to_string(ttl), "60000", value, std::to_string(floor), std::to_string(since)});
    }
    std::string confirm_read(std::string const& value, std::int64_t token) const
    {
        return call(detail::shared_confirm_script(), keys("r"), {id, value, std::to_string(token), "60000"});
    }
    std::string extend_read(std::string const& value, std::int64_t token, bool recreate = true, bool was_writer = false,
                            std::int64_t ttl = 25'000) const
    {
        return call(detail::shared_extend_script(), {"redlock:node", "redlock:hw", "r", "r:fence"},
                    {id, "60000", recreate ? "1" : "0", "1", value, std::to_string(token), std::to_string(ttl), was_writer ? "1" : "0"});
    }
    std::string end(std::string const& value) const { return call(detail::shared_release_script(), {"r"}, {value}); }
    std::string wish(std::string const& who) const { return call(detail::shared_want_script(), {"r", "r:want"}, {who, "5000"}); }
    std::string epoch() const { return server.command({"ZSCORE", "r", ""}); }

    // Slots are s#0, s#1, ...
    static words slots(std::size_t first, std::size_t count)
    {
        words all;
        for (std::size_t i = 0; i < count; ++i) all.push_back("s#" + std::to_string(first + i));
        return all;
    }
    std::string permit(std::string const& value, words const& listed, int permits, int count = 1, int from = 0, std::int64_t floor = 0,
                       int version = 1) const
    {
        words all{"redlock:node", "redlock:hw", "s:permits"};
        append(all, listed);
        for (auto const& slot : listed) all.push_back(slot + ":fence");
        return call(detail::semaphore_acquire_script(), all,
                    {id, value, "20000", std::to_string(floor), "1", "60000", std::to_string(permits), std::to_string(count),
                     std::to_string(from), std::to_string(version)});
    }
    // Of one slot.
    std::string extend_permit(std::string const& slot, std::string const& value, std::int64_t guard, int permits, int version = 1) const
    {
        return call(detail::semaphore_extend_script(), {"redlock:node", "redlock:hw", slot, slot + ":fence", "s:permits"},
                    {id, "60000", "1", "0", value, std::to_string(guard), "20000",
                     std::to_string(version) + " " + std::to_string(permits)});
    }
    std::string keep(int version, int permits) const
    {
        return call(detail::semaphore_keep_script(), {"redlock:node", "redlock:hw", "s:permits"},
                    {id, std::to_string(version), std::to_string(permits), "60000"});
    }
    std::string inspect_semaphore(words const& listed) const
    {
        words all{"s:permits"};
        append(all, listed);
        return call(detail::semaphore_inspect_script(), all, {});
    }
};

std::string at(int code, std::int64_t counter) { return std::to_string(code) + " " + std::to_string(counter); }

}  // namespace

BOOST_AUTO_TEST_SUITE(shared_scripts)

BOOST_FIXTURE_TEST_CASE(the_first_reader_raises_the_counter_and_who_joins_does_not, shared_server)
{
    BOOST_TEST(read("a") == at(1, start + 1));
    BOOST_TEST(read("b") == at(1, start + 1));
    BOOST_TEST(read("a") == at(1, start + 1));  // a repeated call
    BOOST_TEST(std::stod(epoch()) == -1.0 - static_cast<double>(start));
    BOOST_TEST(server.command({"ZCARD", "r"}) == "3");
    BOOST_TEST(counter() == start + 1);
    BOOST_TEST(high_water() == start + 1);
}

BOOST_FIXTURE_TEST_CASE(a_writer_and_readers_keep_each_other_out, shared_server)
{
    BOOST_TEST(acquire("w") == granted(start + 1));
    BOOST_TEST(read("a") == at(0, start + 1));
    BOOST_TEST(call(detail::release_script(), {"r"}, {"w"}) == "1");
    BOOST_TEST(read("a") == at(1, start + 2));
    BOOST_TEST(acquire("v") == at(0, start + 2));
    BOOST_TEST(acquire_all({"q", "r"}, "v") == at(0, start + 2));
    BOOST_TEST(end("a") == "1");
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
    BOOST_TEST(acquire("v") == granted(start + 3));
}

BOOST_FIXTURE_TEST_CASE(a_reader_that_died_holds_a_writer_off_until_its_own_end_only, shared_server)
{
    read("short", -1, 5'000);
    read("long", -1, 20'000);
    BOOST_TEST(ttl("r") > 15'000);
    BOOST_TEST(end("long") == "1");
    BOOST_TEST(ttl("r") <= 5'000);
    BOOST_TEST(ttl("r") > 1'000);
    read("long", -1, 20'000);
    read("short", -1, 5'000);
    BOOST_TEST(ttl("r") > 15'000);  // the last to come is not the last to end
}

BOOST_FIXTURE_TEST_CASE(readers_whose_time_is_over_are_removed_when_somebody_joins, shared_server)
{
    read("a");
    run({"ZADD", "r", "XX", "1000", "a"});
    read("b");
    BOOST_TEST(server.command({"ZSCORE", "r", "a"}) == "(nil)");
    BOOST_TEST(extend_read("a", start + 1, false) == "0");
    BOOST_TEST(extend_read("a", start + 1, true) == "2");
}

BOOST_FIXTURE_TEST_CASE(a_reader_confirms_only_a_token_above_the_epoch, shared_server)
{
    acquire("w");  // start + 1
    run({"DEL", "r"});
    read("a");  // the epoch is start + 1
    BOOST_TEST(confirm_read("a", start + 1) == "-2");
    BOOST_TEST(confirm_read("a", start + 5) == "1");
    BOOST_TEST(counter() == start + 5);
    BOOST_TEST(confirm_read("a", start + 3) == "1");  // another reader's larger token does not matter
    BOOST_TEST(counter() == start + 5);
    BOOST_TEST(confirm_read("nobody", start + 5) == "0");
}

BOOST_FIXTURE_TEST_CASE(a_reader_is_extended_and_recreated_only_if_no_writer_was_above_its_token, shared_server)
{
    read("a");  // start + 1
    BOOST_TEST(extend_read("a", start + 1) == "1");
    BOOST_TEST(ttl("r") > 20'000);
    run({"DEL", "r"});
    BOOST_TEST(extend_read("a", start + 1, false) == "0");
    BOOST_TEST(extend_read("a", start + 1) == "2");
    run({"DEL", "r"});
    acquire("w");
    run({"DEL", "r"});
    BOOST_TEST(extend_read("a", start + 1) == "-2");
    read("b");
    BOOST_TEST(extend_read("a", start + 1) == "-2");
    BOOST_TEST(extend_read("b", start + 3, true, false, 31'000) == "-3");
}

BOOST_FIXTURE_TEST_CASE(a_downgrade_keeps_the_token_and_readers_after_it_have_another, shared_server)
{
    acquire("w");
    BOOST_TEST(extend_read("w", start + 1, true, true) == "1");
    BOOST_TEST(server.command({"TYPE", "r"}) == "zset");
    BOOST_TEST(counter() == start + 2);
    BOOST_TEST(read("a") == at(1, start + 2));
    BOOST_TEST(extend("w", start + 1, true) == needs(start + 2));  // a late one, as a writer
    BOOST_TEST(extend_read("w", start + 1, true, true) == "1");
    BOOST_TEST(end("w") == "1");
    BOOST_TEST(end("a") == "1");
    acquire("v");  // start + 3
    BOOST_TEST(end("v") == "1");  // as a writer
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
}

BOOST_FIXTURE_TEST_CASE(a_wish_holds_new_readers_off_and_not_those_who_waited_for_the_writer_before, shared_server)
{
    BOOST_TEST(wish("v") == "0");  // the lock is free
    acquire("w");
    BOOST_TEST(wish("v") == "1");
    run({"DEL", "r"});
    BOOST_TEST(read("late") == at(-6, start + 1));
    BOOST_TEST(read("a", start + 1) == at(1, start + 2));
    BOOST_TEST(read("b", start + 1) == at(1, start + 2));  // the second of them, too
    BOOST_TEST(read("late", start) == at(-6, start + 2));
    BOOST_TEST(read("a") == at(1, start + 2));  // a repeated call
    BOOST_TEST(call(detail::release_script(), {"r:want"}, {"somebody"}) == "0");
    BOOST_TEST(call(detail::release_script(), {"r:want"}, {"v"}) == "1");
    BOOST_TEST(read("late") == at(1, start + 2));
}

// A writer has the token that becomes the base; the node forgets, and a set of before is there when it is admitted.
BOOST_FIXTURE_TEST_CASE(a_set_of_before_an_admission_is_joined_with_a_token_above_the_base, shared_server)
{
    read("old");
    run({"SET", "redlock:node", id + " " + padded(start + 9, 16) + " " + padded(30'000, 10) + " -"});
    run({"SET", "redlock:hw", std::to_string(start + 9)});
    run({"SET", "r:fence", std::to_string(start + 1)});
    BOOST_TEST(read("a") == at(1, start + 10));
    BOOST_TEST(confirm_read("a", start + 9) == "-2");
    BOOST_TEST(extend_read("old", start + 1) == "-2");
}

BOOST_FIXTURE_TEST_CASE(keys_of_somebody_else_are_a_holder_and_stay_as_they_are, shared_server)
{
    for (words const& create : {words{"HSET", "r", "f", "1"}, words{"RPUSH", "r", "x"}, words{"SADD", "r", "x"},
                                words{"ZADD", "r", "1", "x"}, words{"SET", "r", "x"}}) {
        run(create);
        run({"PEXPIRE", "r", "5000"});
        auto const type = server.command({"TYPE", "r"});
        auto const before = server.command({"DUMP", "r"});
        BOOST_TEST(read("a") == at(0, start), type);
        BOOST_TEST(confirm_read("a", start + 1) == "0", type);
        BOOST_TEST(extend_read("a", start + 1) == "0", type);
        BOOST_TEST(end("a") == "0", type);
        BOOST_TEST((server.command({"DUMP", "r"}) == before), type);
        BOOST_TEST(ttl("r") <= 5'000);
        BOOST_TEST(server.command({"EXISTS", "r:fence"}) == "0");
        run({"DEL", "r"});
    }
    run({"RPUSH", "r:fence", "x"});
    BOOST_TEST(read("a") == "-4 0");
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
}

// As redis-py, node-redlock, redsync and older clients of this library do it.
BOOST_FIXTURE_TEST_CASE(other_libraries_exclude_readers_and_are_excluded_by_them, shared_server)
{
    std::string const their_release = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
    BOOST_TEST(server.command({"SET", "r", "theirs", "NX", "PX", "5000"}) == "OK");
    BOOST_TEST(read("a") == at(0, start));
    BOOST_TEST(server.command({"EVAL", their_release, "1", "r", "theirs"}) == "1");
    BOOST_TEST(read("a") == at(1, start + 1));
    BOOST_TEST(server.command({"SET", "r", "theirs", "NX", "PX", "5000"}) == "(nil)");
    BOOST_TEST(server.command({"SETNX", "r", "theirs"}) == "0");
    // Theirs has expired, and they release it all the same: an error where it used to be 0, and no harm.
    auto const late = server.ask({"EVAL", their_release, "1", "r", "theirs"});
    BOOST_TEST(late.is_error());
    BOOST_TEST((late.text.find("WRONGTYPE") != std::string::npos), late.text);
    BOOST_TEST(call(detail::release_script(), {"r"}, {"theirs"}) == "0");  // ours expects it
    BOOST_TEST(server.command({"ZCARD", "r"}) == "2");
}

BOOST_FIXTURE_TEST_CASE(many_readers_share_a_call, shared_server)
{
    BOOST_TEST(call(detail::shared_acquire_script(),
                    {"redlock:node", "redlock:hw", "r", "r:fence", "r:want", "q", "q:fence", "q:want", "r", "r:fence", "r:want"},
                    {id, "20000", "60000", "a", "0", "-1", "b", "0", "-1", "c", "0", "-1"}) ==
               at(1, start + 1) + " " + at(1, start + 2) + " " + at(1, start + 1));
    BOOST_TEST(call(detail::shared_extend_script(), {"redlock:node", "redlock:hw", "r", "r:fence", "q", "q:fence", "r", "r:fence"},
                    {id, "60000", "1", "1", "a", std::to_string(start + 1), "20000", "0", "b", std::to_string(start + 2), "20000", "0", "x",
                     std::to_string(start), "20000", "0"}) == "1 1 2");
    BOOST_TEST(call(detail::shared_release_script(), {"r", "q", "r", "q"}, {"a", "b", "c", "b"}) == "1110");
    auto const none = call(detail::shared_acquire_script(),
                           {"redlock:node", "redlock:hw", "r", "r:fence", "r:want", "q", "q:fence", "q:want"},
                           {other_id, "20000", "60000", "a", "0", "-1", "b", "0", "-1"});
    BOOST_TEST(none == "-1 0 -1 0");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(semaphore_scripts)

BOOST_FIXTURE_TEST_CASE(slots_are_taken_from_the_start_that_is_named, shared_server)
{
    auto const three = slots(0, 3);
    BOOST_TEST(permit("a", three, 3, 1, 1) == "1 " + std::to_string(start + 1) + " 020 1");
    BOOST_TEST(get("s:permits") == "1 3");  // the first grant has written it
    BOOST_TEST(permit("a", three, 3, 1, 1) == "1 " + std::to_string(start + 1) + " 020 1");  // a repeated call
    BOOST_TEST(permit("b", three, 3, 1, 1) == "1 " + std::to_string(start + 2) + " 012 1");
    BOOST_TEST(permit("c", three, 3, 1, 1) == "1 " + std::to_string(start + 3) + " 211 1");
    BOOST_TEST(permit("d", three, 3) == "0 " + std::to_string(start + 3) + " 111 1");
    BOOST_TEST(get("s#1") == "a");
    BOOST_TEST(get("s#1:fence") == std::to_string(start + 1));
    BOOST_TEST(ttl("s#1") > 15'000);
    run({"PEXPIRE", "s:permits", "5000"});
    BOOST_TEST(permit("d", three, 3) == "0 " + std::to_string(start + 3) + " 111 1");
    BOOST_TEST(ttl("s:permits") <= 5'000);
    BOOST_TEST(call(detail::release_script(), {"s#1"}, {"a"}) == "1");  // a slot is a lock
    BOOST_TEST(permit("d", three, 3).substr(0, 2) == "1 ");
    BOOST_TEST(ttl("s:permits") > 55'000);  // its retention begins anew with a grant
}

BOOST_FIXTURE_TEST_CASE(several_slots_are_all_or_none_with_one_token, shared_server)
{
    keep(1, 4);
    auto const four = slots(0, 4);
    BOOST_TEST(permit("a", four, 4, 3) == "1 " + std::to_string(start + 1) + " 2220 1");
    for (auto const* key : {"s#0:fence", "s#1:fence", "s#2:fence"}) BOOST_TEST(get(key) == std::to_string(start + 1));
    BOOST_TEST(permit("b", four, 4, 2) == "0 " + std::to_string(start + 1) + " 1110 1");
    BOOST_TEST(server.command({"EXISTS", "s#3"}) == "0");
    BOOST_TEST(permit("a", four, 4, 3) == "1 " + std::to_string(start + 1) + " 2220 1");
    BOOST_TEST(permit("a", four, 4, 2) == "0 " + std::to_string(start + 1) + " 2220 1");
}

BOOST_FIXTURE_TEST_CASE(a_client_with_another_number_of_permits_is_refused, shared_server)
{
    keep(1, 2);
    BOOST_TEST(permit("a", slots(0, 3), 3) == "-7 2 1");
    BOOST_TEST(keep(1, 3) == "0 2 1");  // of two with one version, the first
    BOOST_TEST(keep(1, 1) == "0 2 1");
    BOOST_TEST(keep(2, 3) == "1 3 2");
    BOOST_TEST(keep(1, 2) == "0 3 2");  // a late one
    BOOST_TEST(permit("a", slots(0, 3), 3).substr(0, 2) == "1 ");
    BOOST_TEST(permit("b", slots(5, 1), 3).substr(0, 2) == "1 ");  // slots above the number can be emptied
    BOOST_TEST(inspect_semaphore({"s#0", "s#1", "s#2"}) == "3 2 100");
    BOOST_TEST(permit("c", slots(0, 2), 2, 1, 0, 0, 3).substr(0, 2) == "1 ");  // who knows of a later change brings it
    BOOST_TEST(get("s:permits") == "3 2");
    run({"DEL", "s:permits"});
    run({"RPUSH", "s:permits", "x"});
    BOOST_TEST(keep(9, 3) == "-4 0 0");
    BOOST_TEST(inspect_semaphore({}) == "0 0 ");
    BOOST_TEST(permit("d", slots(7, 1), 3) == "-4 0 -");
    BOOST_TEST(server.command({"TYPE", "s:permits"}) == "list");
}

BOOST_FIXTURE_TEST_CASE(an_extension_keeps_the_record_and_sets_a_slot_again_only_where_it_fits, shared_server)
{
    auto const token = start + 1;
    BOOST_TEST(permit("a", slots(0, 2), 2) == "1 " + std::to_string(token) + " 20 1");
    run({"PEXPIRE", "s:permits", "5000"});
    run({"PEXPIRE", "s#0", "5000"});
    BOOST_TEST(extend_permit("s#0", "a", token, 2) == "1");
    BOOST_TEST(ttl("s:permits") > 55'000);
    BOOST_TEST(ttl("s#0") > 15'000);
    run({"PEXPIRE", "s:permits", "300000"});
    BOOST_TEST(extend_permit("s#0", "a", token, 2) == "1");
    BOOST_TEST(ttl("s:permits") > 295'000);  // never shorter
    run({"DEL", "s#0", "s:permits"});
    BOOST_TEST(extend_permit("s#0", "a", token, 2) == "2");
    BOOST_TEST(get("s:permits") == "1 2");
    BOOST_TEST(get("s#0") == "a");
    run({"SET", "s:permits", "1 3", "PX", "5000"});
    BOOST_TEST(extend_permit("s#0", "a", token, 2) == "1");  // it is there, and goes on
    BOOST_TEST(get("s:permits") == "1 3");
    BOOST_TEST(ttl("s:permits") > 55'000);
    run({"DEL", "s#0"});
    BOOST_TEST(extend_permit("s#0", "a", token, 2) == "0");
    BOOST_TEST(server.command({"EXISTS", "s#0"}) == "0");
    BOOST_TEST(extend_permit("s#0", "a", token, 2, 2) == "2");  // a later number replaces it
    BOOST_TEST(get("s:permits") == "2 2");
}

BOOST_FIXTURE_TEST_CASE(slots_of_somebody_else_are_passed_over_and_left_alone, shared_server)
{
    keep(1, 3);
    run({"RPUSH", "s#0", "x"});
    run({"RPUSH", "s#1:fence", "x"});
    BOOST_TEST(permit("a", slots(0, 3), 3, 2) == "0 " + std::to_string(start) + " 110 1");
    BOOST_TEST(permit("a", slots(0, 3), 3, 2, 2) == "0 " + std::to_string(start) + " 110 1");  // gives back what it had got
    BOOST_TEST(server.command({"TYPE", "s#0"}) == "list");
    BOOST_TEST(server.command({"EXISTS", "s#1", "s#2"}) == "0");
    BOOST_TEST(permit("a", slots(0, 3), 3) == "1 " + std::to_string(start + 1) + " 112 1");
    BOOST_TEST(server.command({"TYPE", "s#1:fence"}) == "list");
}

// The same random calls to a server and to its model.
BOOST_FIXTURE_TEST_CASE(a_semaphore_does_what_its_model_does, shared_server)
{
    redis_model model;
    model.id = id;
    model.record = redis_model::node_record{id, static_cast<token_number>(start), std::chrono::milliseconds{30'000}, {}};
    model.high_water = start;
    semaphore_model permits{model};
    time_point const now{std::chrono::seconds{std::stoll(server.ask({"TIME"}).items.at(0))}};
    std::mt19937 chance{7};
    auto const below = [&](int n) { return static_cast<int>(chance() % static_cast<unsigned>(n)); };
    std::array<int, 3> answers{};
    for (int i = 0; i < 2'000; ++i) {
        std::string const value(1, static_cast<char>('a' + below(5)));
        auto const listed = slots(static_cast<std::size_t>(below(2)), static_cast<std::size_t>(1 + below(4)));
        int const k = 2 + below(3);
        int const count = 1 + below(3);
        int const from = below(static_cast<int>(listed.size()));
        if (below(12) == 0) {
            int const version = 1 + i / 100 + below(2);
            auto const a = permits.keep(id, "s", static_cast<std::uint64_t>(version), static_cast<std::uint64_t>(k),
                                        std::chrono::minutes{1}, now);
            BOOST_REQUIRE_EQUAL(keep(version, k), at(a.code, static_cast<std::int64_t>(a.number)) + " " + a.map);
        } else if (below(2) == 0) {
            auto const slot = "s#" + std::to_string(below(5));
            run({"DEL", slot});
            model.del(slot);
        } else {
            auto const floor = below(5) == 0 ? start + below(3'000) : 0;
            semaphore_model::request r{
                .name = "s", .slots = listed, .value = value, .ttl = std::chrono::seconds{20}, .retention = std::chrono::minutes{1}};
            r.floor = static_cast<token_number>(floor);
            r.permits = static_cast<std::uint64_t>(k);
            r.count = static_cast<std::size_t>(count);
            r.from = static_cast<std::size_t>(from);
            r.version = static_cast<std::uint64_t>(1 + below(1 + i / 200));
            auto const a = permits.acquire(id, r, now);
            ++answers[a.code > 0 ? 0 : a.code == 0 ? 1 : 2];
            BOOST_REQUIRE_EQUAL(permit(value, listed, k, count, from, floor, static_cast<int>(r.version)),
                                at(a.code, static_cast<std::int64_t>(a.number)) + " " + a.map +
                                    (a.version > 0 ? " " + std::to_string(a.version) : ""));
        }
    }
    for (int const times : answers) BOOST_TEST(times > 30);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
