// The scripts of the fencing tokens on a real server: what each of them answers, writes and leaves alone.
#include "node/fence_scripts.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

using words = std::vector<std::string>;

constexpr std::int64_t start = std::int64_t{1} << 41;  // above what Lua's tostring writes in full
constexpr std::int64_t second_us = 1'000'000;
constexpr std::int64_t day_us = 86'400 * second_us;
std::string const never_id(40, '0');
std::string const other_id(40, 'e');

void append(words& to, words const& more) { to.insert(to.end(), more.begin(), more.end()); }

// A server that was admitted with base `start` and maxttl 30 s, and shorthands for the scripts. Answers as text: "1 2199... 0".
struct fenced_server {
    redis_server server;
    std::string id;

    explicit fenced_server(redis_server_options options) : server{std::move(options)}
    {
        load();
        learn();
        BOOST_REQUIRE_EQUAL(mark("m1"), "1 m1");
        BOOST_REQUIRE_EQUAL(admit(start, 30'000, "m1"), "1");
    }
    fenced_server() : fenced_server{redis_server_options{}} {}

    void load() const
    {
        for (auto const* s : {&detail::fence_acquire_script(), &detail::fence_confirm_script(), &detail::fence_extend_script(),
                              &detail::identity_script(), &detail::inspect_script(), &detail::mark_script(),
                              &detail::admit_script(), &detail::release_script()})
            BOOST_REQUIRE_EQUAL(server.command({"SCRIPT", "LOAD", std::string{s->text}}), s->sha1);
    }
    void learn() { id = call(detail::identity_script(), {}, {}).substr(0, 40); }

    std::string call(detail::script const& s, words const& keys, words const& arguments) const
    {
        words command{"EVALSHA", s.sha1, std::to_string(keys.size())};
        append(command, keys);
        append(command, arguments);
        auto const answer = server.ask(command);
        if (answer.type != resp_reply::kind::array) return answer.text;
        std::string line;
        for (auto const& item : answer.items) line += (line.empty() ? "" : " ") + item;
        return line;
    }

    static words keys(std::string const& name) { return {name, name + ":fence", "redlock:node", "redlock:hw"}; }

    std::string acquire(std::string const& value, std::int64_t floor = 0, std::int64_t block = 1, std::int64_t ttl = 20'000,
                        std::int64_t retention = 60'000) const
    {
        return call(detail::fence_acquire_script(), keys("r"),
                    {id, value, std::to_string(ttl), std::to_string(floor), std::to_string(block), std::to_string(retention)});
    }
    std::string confirm(std::string const& value, std::int64_t token) const
    {
        return call(detail::fence_confirm_script(), keys("r"), {id, value, std::to_string(token), "60000"});
    }
    std::string extend(std::string const& value, std::int64_t token, bool replant, bool refresh = true,
                       std::int64_t ttl = 25'000) const
    {
        return call(detail::fence_extend_script(), {"redlock:node", "redlock:hw", "r", "r:fence"},
                    {id, "60000", replant ? "1" : "0", refresh ? "1" : "0", value, std::to_string(token), std::to_string(ttl)});
    }
    std::string mark(std::string const& fresh) const
    {
        return call(detail::mark_script(), {"redlock:node", "redlock:hw"}, {id, fresh});
    }
    std::string admit(std::int64_t base, std::int64_t maxttl, std::string const& left) const
    {
        return call(detail::admit_script(), {"redlock:node", "redlock:hw"},
                    {id, std::to_string(base), std::to_string(maxttl), left});
    }

    std::string get(std::string const& key) const { return server.command({"GET", key}); }
    std::int64_t counter() const { return std::stoll(get("r:fence")); }
    std::int64_t high_water() const { return std::stoll(get("redlock:hw")); }
    std::int64_t ttl(std::string const& key) const { return std::stoll(server.command({"PTTL", key})); }
    void run(words const& command) const { server.command(command); }
    std::int64_t now_us() const { return std::stoll(server.command({"TIME"})) * second_us; }
    std::string record() const { return get("redlock:node"); }
};

std::string granted(std::int64_t counter) { return "1 " + std::to_string(counter) + " 0"; }
std::string padded(std::int64_t number, std::size_t width)
{
    auto const digits = std::to_string(number);
    return std::string(width - digits.size(), '0') + digits;
}

}  // namespace

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
    auto const answer = acquire("b", start + 100);
    auto const prefix = "0 " + std::to_string(start + 1) + " ";
    BOOST_TEST(answer.substr(0, prefix.size()) == prefix);
    auto const left = std::stoll(answer.substr(prefix.size()));
    BOOST_TEST(left > 8'000);
    BOOST_TEST(left <= 9'000);
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
    BOOST_TEST(acquire("a") == "0 " + std::to_string(start) + " -1");
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
        auto const answer = acquire("a");
        BOOST_TEST(answer.substr(0, 2) == "0 ", type);
        auto const left = std::stoll(answer.substr(answer.rfind(' ')));
        BOOST_TEST(left > 1'000, answer);
        BOOST_TEST(left <= 5'000, answer);
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
    BOOST_TEST(acquire("f", 0, 0) == "FENCE tokens are used up");  // an empty block would repeat a token
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

BOOST_FIXTURE_TEST_CASE(the_last_tokens_are_refused, fenced_server)
{
    run({"SET", "r:fence", "9007199254740990"});
    BOOST_TEST(acquire("a") == granted(9007199254740991));
    run({"DEL", "r"});
    BOOST_TEST(acquire("b") == "FENCE tokens are used up");
    BOOST_TEST(acquire("b", 0, 1'000) == "FENCE tokens are used up");
    BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
    BOOST_TEST(get("r:fence") == "9007199254740991");
}

BOOST_FIXTURE_TEST_CASE(numbers_are_written_in_full, fenced_server)
{
    for (std::int64_t base : {std::int64_t{1} << 40, (std::int64_t{1} << 50) + 1, std::int64_t{1'795'264'244'021'001},
                              std::int64_t{9'007'199'254'000'000}}) {
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
    call(detail::fence_acquire_script(), keys("other"), {id, "x", "20000", std::to_string(start + 700), "1", "60000"});
    BOOST_TEST(acquire("a") == granted(start + 701));
    run({"DEL", "r:fence"});
    BOOST_TEST(acquire("a") == granted(start + 701));
    BOOST_TEST(acquire("b").substr(0, 16) == "0 " + std::to_string(start + 701) + " ");
    BOOST_TEST(confirm("a", start + 700) == "-2");
    BOOST_TEST(extend("a", start + 700, true) == "-2");
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
    BOOST_TEST(acquire("a") == "-4 0 0");
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
    BOOST_TEST(acquire("a") == "-4 0 0");
    BOOST_TEST(confirm("a", start + 9) == "0");
    run({"SET", "r", "a"});
    BOOST_TEST(acquire("a") == "-4 0 0");
    BOOST_TEST(confirm("a", start + 9) == "-4");
    BOOST_TEST(extend("a", start + 9, true) == "-4");
    BOOST_TEST(get("r:fence") == "not a number");
    BOOST_TEST(high_water() == start);
}

BOOST_FIXTURE_TEST_CASE(a_ttl_above_the_nodes_is_refused, fenced_server)
{
    BOOST_TEST(acquire("a", 0, 1, 30'001) == "-3 30000 0");
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
    for (bool replant : {false, true}) {
        BOOST_TEST(confirm("a", start - 1) == "-2");
        BOOST_TEST(extend("a", start - 1, replant) == "-2");
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
    BOOST_TEST(extend("a", start + 1, true) == "-2");
    BOOST_TEST(ttl("r") <= 1'000);
    run({"DEL", "r"});
    BOOST_TEST(extend("a", start + 1, true) == "-2");
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
    add("gone", "second", start + 9, "20000");  // the same lock again: planted above, unseen, and not planted over
    BOOST_TEST(call(detail::fence_extend_script(), keys_of, arguments) == "1 0 -2 2 0 -3 0");
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

// admission

BOOST_FIXTURE_TEST_CASE(a_node_without_a_matching_record_is_not_admitted, fenced_server)
{
    auto const admitted = record();
    BOOST_TEST(admitted == id + " " + padded(start, 16) + " 0000030000 -");
    acquire("a");
    auto const nothing_votes = [&](std::string const& why) {
        BOOST_TEST(acquire("a") == "-1 0 0", why);
        BOOST_TEST(acquire("b") == "-1 0 0", why);
        BOOST_TEST(confirm("a", start + 1) == "-1", why);
        BOOST_TEST(extend("a", start + 1, true) == "-1", why);
    };
    run({"SET", "redlock:node", other_id + admitted.substr(40)});
    nothing_votes("another id");
    run({"DEL", "redlock:node"});
    nothing_votes("no record");
    run({"HSET", "redlock:node", "id", id});
    nothing_votes("a record of another type");
    run({"DEL", "redlock:node"});
    run({"SET", "redlock:node", admitted});
    run({"DEL", "redlock:hw"});
    nothing_votes("no high-water mark");
    BOOST_TEST(mark("m2") == "1 m2");
    BOOST_TEST(admit(start + 1, 30'000, "m2") == "1");
    BOOST_TEST(acquire("a") == granted(start + 1));
    run({"FLUSHALL"});
    nothing_votes("FLUSHALL");
    BOOST_TEST(server.command({"DBSIZE"}) == "0");
}

BOOST_FIXTURE_TEST_CASE(a_restarted_server_has_a_new_id_and_waits_for_its_admission, fenced_server)
{
    auto const before = id;
    server.restart();
    BOOST_TEST(acquire("a").substr(0, 8) == "NOSCRIPT");
    load();
    BOOST_TEST(acquire("a") == "-1 0 0");
    learn();
    BOOST_TEST(id != before);
    BOOST_TEST(acquire("a") == "-1 0 0");
    BOOST_TEST(mark("m2") == "1 m2");
    BOOST_TEST(record() == never_id + " 0000000000000000 0000000000 m2");
    BOOST_TEST(acquire("a") == "-1 0 0");
    BOOST_TEST(admit(start + 10, 30'000, "m2") == "1");
    BOOST_TEST(acquire("a") == granted(start + 11));
}

BOOST_AUTO_TEST_CASE(a_restart_with_old_data_is_noticed_by_the_id)
{
    fenced_server node{{.appendonly = true}};
    BOOST_TEST(node.acquire("a", 0, 30) == granted(start + 30));
    auto const before = node.id;
    node.server.restart();
    node.load();
    node.learn();
    BOOST_TEST(node.id != before);
    BOOST_TEST(node.acquire("b") == "-1 0 0");
    BOOST_TEST(node.mark("m2") == "1 m2");
    BOOST_TEST(node.record() == before + " " + padded(start, 16) + " 0000030000 m2");
    BOOST_TEST(node.admit(start + 5, 10'000, "m2") == "1");
    BOOST_TEST(node.record() == node.id + " " + padded(start + 30, 16) + " 0000030000 -");
    BOOST_TEST(node.high_water() == start + 30);
    // The client that still goes by the old id: the record tells it, and where it did not, the trailing look would.
    node.id = before;
    BOOST_TEST(node.confirm("a", start + 30) == "-1");
}

BOOST_FIXTURE_TEST_CASE(admission_keeps_the_largest_base_and_ttl, fenced_server)
{
    acquire("a", start + 200);
    run({"SET", "redlock:node", other_id + record().substr(40)});
    BOOST_TEST(mark("m2") == "1 m2");
    BOOST_TEST(admit(start + 100, 20'000, "m2") == "1");
    BOOST_TEST(record() == id + " " + padded(start + 200, 16) + " 0000030000 -");
    run({"SET", "redlock:node", other_id + record().substr(40)});
    BOOST_TEST(mark("m3") == "1 m3");
    BOOST_TEST(admit(start + 300, 60'000, "m3") == "1");
    BOOST_TEST(record() == id + " " + padded(start + 300, 16) + " 0000060000 -");
    BOOST_TEST(high_water() == start + 300);
}

BOOST_FIXTURE_TEST_CASE(a_mark_admits_once_and_only_for_its_own_loss, fenced_server)
{
    BOOST_TEST(mark("m2") == "2 ");
    BOOST_TEST(admit(start, 30'000, "m1") == "2");
    run({"FLUSHALL"});
    BOOST_TEST(admit(start, 30'000, "m1") == "0");  // the loss is new, the mark is of the last one
    BOOST_TEST(mark("m2") == "1 m2");
    BOOST_TEST(mark("m3") == "0 m2");  // somebody else adopts it
    BOOST_TEST(admit(start, 30'000, "m3") == "0");
    run({"FLUSHALL"});
    BOOST_TEST(admit(start, 30'000, "m2") == "0");
    BOOST_TEST(mark("m4") == "1 m4");
    BOOST_TEST(admit(start, 30'000, "-") == "0");
    BOOST_TEST(admit(start, 30'000, "m2") == "0");
    BOOST_TEST(admit(start, 30'000, "m4") == "1");
    BOOST_TEST(admit(start + 9, 60'000, "m4") == "2");  // repeated, or the other client's
    BOOST_TEST(record() == id + " " + padded(start, 16) + " 0000030000 -");
}

BOOST_FIXTURE_TEST_CASE(admission_is_for_the_id_that_was_seen, fenced_server)
{
    run({"FLUSHALL"});
    BOOST_TEST(mark("m2") == "1 m2");
    auto const real = id;
    id = other_id;
    BOOST_TEST(mark("m3") == "-1 ");
    BOOST_TEST(admit(start, 30'000, "m2") == "-1");
    id = real;
    BOOST_TEST(admit(start, 30'000, "m2") == "1");
}

BOOST_FIXTURE_TEST_CASE(what_a_record_cannot_keep_is_refused, fenced_server)
{
    run({"FLUSHALL"});
    mark("m2");
    BOOST_TEST(admit(9007199254740991, 30'000, "m2").substr(0, 6) == "FENCE ");
    BOOST_TEST(admit(start, 10'000'000'000, "m2").substr(0, 6) == "FENCE ");
    BOOST_TEST(admit(start, 0, "m2").substr(0, 6) == "FENCE ");
    BOOST_TEST(admit(9007199254740990, 9'999'999'999, "m2") == "1");
    BOOST_TEST(record() == id + " 9007199254740990 9999999999 -");
    run({"SET", "redlock:node", "a lock of this name"});
    BOOST_TEST(mark("m3").substr(0, 6) == "FENCE ");
    BOOST_TEST(admit(start, 30'000, "m3").substr(0, 6) == "FENCE ");
    BOOST_TEST(record() == "a lock of this name");
}

// identity

BOOST_FIXTURE_TEST_CASE(the_identity_shows_id_role_and_time, fenced_server)
{
    auto const answer = call(detail::identity_script(), {}, {});
    auto const info = server.command({"INFO", "replication"});
    BOOST_TEST((info.find("master_replid:" + answer.substr(0, 40) + "\r") != std::string::npos));
    BOOST_TEST(answer.substr(40, 8) == " master ");
    auto const seconds = std::stoll(answer.substr(48));
    BOOST_TEST(std::abs(seconds * second_us - now_us()) <= 5 * second_us);
}

// Its data goes with the resynchronisation, on one connection, without a restart.
BOOST_FIXTURE_TEST_CASE(a_node_that_was_a_replica_in_between_is_noticed, fenced_server)
{
    redis_server elsewhere;
    auto const before = id;
    run({"REPLICAOF", elsewhere.host(), std::to_string(elsewhere.port())});
    BOOST_TEST(call(detail::identity_script(), {}, {}).substr(40, 7) == " slave ");
    BOOST_TEST(mark("m2") == "-1 ");
    BOOST_TEST(admit(start, 30'000, "m1") == "-1");
    BOOST_TEST(acquire("a").find("READONLY") != std::string::npos);
    run({"CONFIG", "SET", "replica-read-only", "no"});
    auto const shown = call(detail::identity_script(), {}, {});
    BOOST_TEST(acquire("a") == granted(start + 1));     // such a replica does execute it ...
    BOOST_TEST(shown.substr(40, 7) == " slave ");       // ... and the trailing look takes the vote away
    run({"REPLICAOF", "NO", "ONE"});
    learn();
    BOOST_TEST(id != before);
    BOOST_TEST(acquire("b") == "-1 0 0");
    BOOST_TEST(mark("m2").substr(0, 2) == "1 ");
}

BOOST_FIXTURE_TEST_CASE(inspect_tells_what_a_handshake_needs, fenced_server)
{
    run({"CONFIG", "SET", "maxmemory", "100mb"});
    run({"CONFIG", "SET", "maxmemory-policy", "volatile-lru"});
    words command{"EVALSHA", detail::inspect_script().sha1, "2", "redlock:node", "redlock:hw"};
    auto const facts = server.ask(command).items;
    BOOST_REQUIRE_EQUAL(facts.size(), 11u);
    BOOST_TEST(facts[0] == id);
    BOOST_TEST(facts[1] == "master");
    BOOST_TEST(facts[4] == record());
    BOOST_TEST(facts[5] == std::to_string(start));
    BOOST_TEST((server.command({"INFO", "server"}).find("redis_version:" + facts[6] + "\r") != std::string::npos));
    BOOST_TEST(facts[7] == "0");
    BOOST_TEST(facts[8] == "104857600");
    BOOST_TEST(facts[9] == "volatile-lru");
    BOOST_TEST(facts[10] == "0");
    run({"FLUSHALL"});
    auto const empty = server.ask(command).items;
    BOOST_TEST(empty[4] == "");
    BOOST_TEST(empty[5] == "");
}

BOOST_FIXTURE_TEST_CASE(rules_that_forbid_info_leave_the_handshake_empty, fenced_server)
{
    run({"ACL", "SETUSER", "default", "-info"});
    BOOST_TEST(acquire("a") == granted(start + 1));
    auto const facts = server.ask({"EVALSHA", detail::inspect_script().sha1, "2", "redlock:node", "redlock:hw"}).items;
    BOOST_REQUIRE_EQUAL(facts.size(), 11u);
    BOOST_TEST(facts[0] == "");
    BOOST_TEST(facts[4] == record());
    BOOST_TEST(facts[9] == "");
    for (auto const& answer : {call(detail::identity_script(), {}, {}), mark("m2"), admit(start, 30'000, "m2")})
        BOOST_TEST((answer.starts_with("ERR") || answer.starts_with("NOPERM")), answer);
}

// No script may do half of its work: where writing is forbidden, the first write fails.
BOOST_FIXTURE_TEST_CASE(without_memory_nothing_is_written, fenced_server)
{
    run({"CONFIG", "SET", "maxmemory", "1"});
    BOOST_TEST(acquire("a").find("OOM") != std::string::npos);
    run({"CONFIG", "SET", "maxmemory", "0"});
    BOOST_TEST(server.command({"DBSIZE"}) == "2");
    BOOST_TEST(high_water() == start);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
