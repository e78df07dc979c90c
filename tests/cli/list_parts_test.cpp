// How redlock list searches: which keys are locks, what is asked next, and when enough was seen.
#include "cli/locks/lock_key_pattern.hpp"
#include "cli/locks/lock_search.hpp"
#include "cli/locks/semaphore_view.hpp"

#include <boost/test/unit_test.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {
namespace {

std::string const value_of_ours = std::string(32, 'a') + ":web-3:4711:1700000000";

reply text_reply(std::string text) { return {reply::kind::text, std::move(text), {}}; }
reply error_reply(std::string text) { return {reply::kind::error, std::move(text), {}}; }

reply scan_reply(std::string cursor, std::vector<std::string> const& keys)
{
    reply list{reply::kind::list, "", {}};
    for (std::string const& k : keys) list.items.push_back(text_reply(k));
    return {reply::kind::list, "", {text_reply(std::move(cursor)), std::move(list)}};
}

answers answered(std::vector<reply> replies)
{
    answers a;
    a.replies = std::move(replies);
    return a;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(list_parts)

BOOST_AUTO_TEST_CASE(names_match_a_pattern_as_the_servers_say)
{
    std::pair<char const*, char const*> const same[] = {{"*", ""},      {"*", "a"},       {"a*c", "abbc"},
                                                        {"a?c", "abc"}, {"[a-c]x", "bx"}, {"[^a]x", "bx"},
                                                        {"\\*", "*"},   {"[z-x]", "y"},   {"a*b*c", "a1b2b3c"},
                                                        {"", ""},       {"[\\]]", "]"},   {"**a", "ba"}};
    for (auto const& [pattern, name] : same) BOOST_TEST(matches(pattern, name), pattern << ' ' << name);
    std::pair<char const*, char const*> const others[] = {{"a", "ab"},     {"a?c", "ac"},  {"\\*", "a"}, {"[^a]x", "ax"},
                                                          {"a*c", "abcd"}, {"[a-c]", "d"}, {"", "a"},    {"?", ""}};
    for (auto const& [pattern, name] : others) BOOST_TEST(!matches(pattern, name), pattern << ' ' << name);
}

// The star that stands for the number of a shard would take more.
BOOST_AUTO_TEST_CASE(keys_of_all_shards_are_found_by_what_follows_the_shard)
{
    lock_key_pattern const all{detail::key_format{"lock:{0}"}, "job*", true};
    BOOST_TEST(all.text() == "{s*}:lock:job*");
    BOOST_TEST(all.name_of("{s3}:lock:job1").value_or("") == "{s3}:job1");
    BOOST_TEST(!all.name_of("{s3}:lock:x}:lock:job1"));
    BOOST_TEST(!all.name_of("{s3}:lock:x"));
    BOOST_TEST(!all.name_of("lock:job1"));
    BOOST_TEST(!all.name_of("{s3}:lock:job1:fence"));
}

BOOST_AUTO_TEST_CASE(keys_and_names_of_locks)
{
    lock_key_pattern const plain{detail::key_format{}, "orders:*"};
    BOOST_TEST(plain.text() == "orders:*");
    BOOST_TEST((plain.name_of("orders:42") == "orders:42"));
    for (char const* own : {"orders:42:fence", "redlock:node", "redlock:hw", "redlock:wait"})
        BOOST_TEST(!plain.name_of(own).has_value(), own);

    lock_key_pattern const within{detail::key_format{"lock[1]*?\\^:{0}-x"}, "a*"};
    BOOST_TEST(within.text() == "lock\\[1\\]\\*\\?\\\\^:a*-x");
    BOOST_TEST((within.name_of("lock[1]*?\\^:abc-x") == "abc"));
    for (char const* other : {"abc", "lock[1]*?\\^:abc", "lock[1]*?\\^:-x", "lock[1]*?\\^:a-x:fence"})
        BOOST_TEST(!within.name_of(other).has_value(), other);
}

BOOST_AUTO_TEST_CASE(a_node_is_searched_step_by_step)
{
    lock_key_pattern const pattern{detail::key_format{}, "*"};
    std::set<std::string> names;
    node_scan scan{pattern, false};
    BOOST_TEST((scan.next_questions() == std::vector<words>{{"SCAN", "0", "MATCH", "*", "COUNT", "500"}}));
    scan.take(answered({scan_reply("17", {"job", "job:fence", "cache", "gone", "map"})}), names);
    auto const questions = scan.next_questions();
    BOOST_TEST_REQUIRE(questions.size() == 5u);
    BOOST_TEST((questions[0] == words{"GETRANGE", "job", "0", "511"}));
    BOOST_TEST((questions[4] == words{"SCAN", "17", "MATCH", "*", "COUNT", "500"}));
    BOOST_TEST(!scan.found().complete);

    scan.take(answered({text_reply(value_of_ours), text_reply("an application's"), text_reply(""),
                        error_reply("WRONGTYPE Operation against a key holding the wrong kind of value"), scan_reply("0", {"last"})}),
              names);
    BOOST_TEST((names == std::set<std::string>{"job"}));
    BOOST_TEST(scan.found().keys == 2u);
    BOOST_TEST(scan.found().foreign == 1u);
    BOOST_TEST(!scan.found().complete);
    BOOST_TEST((scan.next_questions() == std::vector<words>{{"GETRANGE", "last", "0", "511"}, {"ZSCORE", "map", ""}}));
    scan.take(answered({text_reply(value_of_ours), error_reply("WRONGTYPE")}), names);
    BOOST_TEST(scan.found().foreign == 2u);
    BOOST_TEST(scan.found().complete);
    BOOST_TEST(scan.next_questions().empty());
    BOOST_TEST((names == std::set<std::string>{"job", "last"}));
}

// Only the set of those who read a lock has the empty member. A user who may not look for it finds locks of writers all the same.
BOOST_AUTO_TEST_CASE(sets_of_readers_are_locks)
{
    lock_key_pattern const pattern{detail::key_format{}, "*"};
    std::set<std::string> names;
    node_scan scan{pattern, false};
    scan.take(answered({scan_reply("0", {"read", "ranks", "hidden"})}), names);
    auto const no_string = error_reply("WRONGTYPE Operation against a key holding the wrong kind of value");
    scan.take(answered({no_string, no_string, no_string}), names);
    BOOST_TEST_REQUIRE(scan.next_questions().size() == 3u);
    BOOST_TEST(!scan.found().complete);
    scan.take(answered({text_reply("-8"), {}, error_reply("NOPERM no zscore for you")}), names);
    BOOST_TEST((names == std::set<std::string>{"read"}));
    BOOST_TEST(scan.found().complete);
    BOOST_TEST(scan.found().foreign == 2u);
}

BOOST_AUTO_TEST_CASE(a_node_with_a_problem_is_asked_no_more)
{
    lock_key_pattern const pattern{detail::key_format{}, "*"};
    std::set<std::string> names;
    node_scan refused{pattern, true};
    refused.take(answered({error_reply("NOPERM no scan for you")}), names);
    BOOST_TEST(refused.found().problem == "NOPERM no scan for you");
    BOOST_TEST(refused.next_questions().empty());
    BOOST_TEST(!refused.found().complete);

    node_scan secret{pattern, true};
    secret.take(answered({scan_reply("0", {"job"})}), names);
    secret.take(answered({error_reply("NOPERM no key for you")}), names);
    BOOST_TEST(secret.found().problem == "NOPERM no key for you");
    BOOST_TEST(!secret.found().complete);

    node_scan silent{pattern, true};
    answers none;
    none.problem = "Connection refused";
    silent.take(none, names);
    BOOST_TEST(silent.found().problem == "Connection refused");
    node_scan brief{pattern, true};
    brief.take(answered({}), names);
    BOOST_TEST(brief.found().problem == "it has not answered all of it");
    BOOST_TEST(names.empty());
}

// A lock that a majority holds is on one of the nodes that were seen, if those left are fewer than a majority.
BOOST_AUTO_TEST_CASE(how_many_nodes_are_enough)
{
    std::pair<std::size_t, std::size_t> const needed[] = {{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {7, 4}};
    for (auto const& [nodes, least] : needed)
        for (std::size_t seen = 0; seen <= nodes; ++seen) {
            search_result r;
            r.nodes.resize(nodes);
            for (std::size_t i = 0; i < seen; ++i) r.nodes[i].complete = true;
            BOOST_TEST(r.enough() == (seen >= least), seen << " of " << nodes);
        }
}

BOOST_AUTO_TEST_CASE(names_of_slots)
{
    BOOST_TEST(slot_name("exports", 12) == "exports#12");
    auto const slot = slot_of("a#b#63");
    BOOST_TEST_REQUIRE(slot.has_value());
    BOOST_TEST(slot->first == "a#b");
    BOOST_TEST(slot->second == 63u);
    for (char const* other : {"exports", "#1", "exports#", "exports#64", "exports#01", "exports#-1", "exports#1 ", "exports#99999999999"})
        BOOST_TEST(!slot_of(other).has_value(), other);
}

// The number of the latest change counts, wherever it is; what no node has read is unknown.
BOOST_AUTO_TEST_CASE(numbers_of_permits)
{
    auto const kept = [](std::string const& text) {
        answers from;
        from.replies = {reply{reply::kind::text, text, {}}, reply{reply::kind::integer, "900", {}}};
        return read_number(from, 0);
    };
    for (char const* wrong : {"", "4", "1 ", "1 0", "x 4", "1 4 ", "-1 4"}) BOOST_TEST(!kept(wrong).problem.empty(), wrong);
    auto const four = kept("1 4"), two = kept("2 2");
    BOOST_TEST((four.permits == 4u && four.version == 1u && four.ttl_ms == 900));
    auto const changing = judge_semaphore("s", {four, two, four}, {});
    BOOST_TEST((changing.permits == 2u && changing.kept_on == 1u && changing.is_known()));
    number_view silent;
    silent.problem = "down";
    BOOST_TEST(!judge_semaphore("s", {four, silent, silent}, {}).is_known());

    slot_view taken{1, judge("s#1", std::vector<key_view>(3))}, free{0, judge("s#0", std::vector<key_view>(3))};
    taken.lock.nodes[0].present = taken.lock.nodes[1].present = true;
    auto const used = judge_semaphore("s", {two, two, two}, {free, taken});
    BOOST_TEST(used.free == 1u);
    BOOST_TEST_REQUIRE(used.slots.size() == 1u);
    BOOST_TEST(!used.is_above(used.slots[0]));
    BOOST_TEST(used.is_above({2, {}}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::cli
