// redlock list: which locks are found on the servers, how they are searched, and what is said of them.
#include "program.hpp"
#include "support/command_stats.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

// A value as this library sets them.
std::string value_of(std::string const& holder) { return std::string(32, 'a') + ':' + holder; }

std::string const by_web_3 = value_of("web-3:4711:1700000000:nightly");

std::string names_in(nlohmann::json const& list)
{
    std::string all;
    for (auto const& lock : list.at("locks")) all += lock.at("name").get<std::string>() + ' ';
    return all;
}

// So many keys of other software.
void add_keys(redis_server& to, int count)
{
    to.command({"EVAL", "for i = 1, tonumber(ARGV[1]) do redis.call('SET', 'app:' .. i, 'x') end", "0", std::to_string(count)});
}

// Whether somebody has sent what the server on this port has not read.
bool has_unread_bytes(std::uint16_t port)
{
    for (char const* const table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
        std::ifstream in{table};
        std::string row;
        while (std::getline(in, row)) {
            std::istringstream words{row};
            std::string number, local, remote, state, queues;
            words >> number >> local >> remote >> state >> queues;
            auto const at = local.rfind(':');
            bool const established = state == "01";
            if (!established || at == local.npos || std::stoul(local.substr(at + 1), nullptr, 16) != port) continue;
            if (std::stoul(queues.substr(queues.find(':') + 1), nullptr, 16) > 0) return true;
        }
    }
    return false;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(listing, three_servers)

BOOST_AUTO_TEST_CASE(locks_are_found_without_their_names)
{
    program holder{run("job", {"--label", "nightly", "--ttl", "20s"}, {"sh", "-c", "echo ready; exec sleep 60"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(holder.output(), "ready") && count_with("job") == 3; }), holder.errors());
    set_everywhere("orders:42", by_web_3);
    set_everywhere("cache", "something of an application");

    program text{{"list"}, environment()};
    BOOST_TEST(text.wait() == 0, text.errors());
    BOOST_TEST(contains(text.output(), "2 locks are held\n"), text.output());
    BOOST_TEST(contains(text.output(), ' ' + std::to_string(holder.pid()) + " nightly"), text.output());
    BOOST_TEST(contains(text.output(), "web-3 4711 nightly"), text.output());
    BOOST_TEST(contains(text.output(), "3 of 3"), text.output());
    BOOST_TEST(contains(text.output(), "1 other key matches and is no lock of this library; --foreign lists it\n"), text.output());
    BOOST_TEST(!contains(text.output(), ":fence"), text.output());
    BOOST_TEST(!contains(text.output(), "redlock:"), text.output());

    auto const now = std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count();
    program j{{"list", "--json"}, environment()};
    BOOST_TEST(j.wait() == 0);
    auto const list = j.json();
    BOOST_TEST(names_in(list) == "job orders:42 ");
    BOOST_TEST(list.at("known") == true);
    BOOST_TEST(list.at("search") == "complete");
    BOOST_TEST(list.at("foreign_keys") == 1);
    BOOST_TEST(list.at("nodes").size() == 3u);
    auto const job = list.at("locks").at(0);
    BOOST_TEST(job.at("holder").at("pid") == holder.pid());
    BOOST_TEST(job.at("held_on") == 3);
    BOOST_TEST(job.at("until").get<double>() > now);
    BOOST_TEST(job.at("until").get<double>() < now + 40);
    BOOST_TEST(list.at("locks").at(1).at("until").is_null());
    BOOST_TEST(!contains(text.output() + j.output(), std::string(32, 'a')));  // who knows it can release the lock

    program some{{"list", "orders:*", "--json"}, environment()};
    BOOST_TEST(some.wait() == 0);
    BOOST_TEST(names_in(some.json()) == "orders:42 ");
    set_everywhere("-x", by_web_3);
    program dashed{{"list", "--json", "--", "-*"}, environment()};
    BOOST_TEST(dashed.wait() == 0, dashed.errors());
    BOOST_TEST(names_in(dashed.json()) == "-x ");
    program none{{"list", "no-such-*"}, environment()};
    BOOST_TEST(none.wait() == 0);
    BOOST_TEST(none.output() == "no lock is held\n");
}

BOOST_AUTO_TEST_CASE(fewer_than_a_majority_is_said)
{
    all[1].command({"SET", "job", by_web_3});
    program text{{"list"}, environment()};
    BOOST_TEST(text.wait() == 0, text.errors());
    BOOST_TEST(contains(text.output(), "no majority: web-3 4711 nightly"), text.output());
    BOOST_TEST(contains(text.output(), "1 of 3"), text.output());
    BOOST_TEST(contains(text.output(), "no lock is held\n1 lock is on fewer nodes than a majority, and held by nobody"), text.output());
    all[0].kill();
    program doubt{{"list", "--json"}, environment()};
    BOOST_TEST(doubt.wait() == 69);
    BOOST_TEST(doubt.json().at("locks").at(0).at("state") == "unknown");
    BOOST_TEST(doubt.json().at("known") == false);
}

BOOST_AUTO_TEST_CASE(locks_of_others_are_listed_if_asked_for)
{
    set_everywhere("job", "their secret value");
    for (auto& s : all) s.command({"HSET", "map", "a", "b"});
    set_everywhere("ours", by_web_3);
    program p{{"list", "--foreign"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(contains(p.output(), "foreign hash"), p.output());
    BOOST_TEST(contains(p.output(), "1 lock is held\n2 keys of others are on a majority of the nodes"), p.output());
    BOOST_TEST(!contains(p.output(), "secret"), p.output());
    program j{{"list", "--foreign", "--json"}, environment()};
    BOOST_TEST(j.wait() == 0);
    BOOST_TEST(names_in(j.json()) == "job map ours ");
    BOOST_TEST(j.json().at("locks").at(0).at("holder").at("foreign") == true);
}

// A server does nothing else while it answers KEYS, or a SCAN of everything.
BOOST_AUTO_TEST_CASE(many_keys_are_searched_in_small_steps)
{
    for (auto& s : all) add_keys(s, 5'000);
    set_everywhere("job", by_web_3);
    all[0].command({"CONFIG", "RESETSTAT"});
    program p{{"list", "--json"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(names_in(p.json()) == "job ");
    BOOST_TEST(p.json().at("foreign_keys").get<int>() >= 5'000);
    BOOST_TEST(calls_of(all[0], "scan") >= 10u);
    BOOST_TEST(calls_of(all[0], "keys") == 0u);
    BOOST_TEST(calls_of(all[0], "get") == 1u, "of its token; of values only the beginning is read");
}

BOOST_AUTO_TEST_CASE(a_search_has_an_end_and_says_what_it_lacks)
{
    for (auto& s : all) add_keys(s, 50'000);
    program slow{{"list", "--time", "10ms"}, environment()};
    BOOST_TEST(slow.wait() == 69, slow.errors());
    BOOST_TEST(contains(slow.output(), "the search has taken 10.0 ms, and keys were left"), slow.output());
    BOOST_TEST(contains(slow.output(), "the list may lack locks: none of 3 nodes was searched to the end"), slow.output());
    program limited{{"list", "--foreign", "--limit", "100"}, environment()};
    BOOST_TEST(limited.wait() == 69);
    BOOST_TEST(contains(limited.output(), "the search has found 100 locks, and keys were left"), limited.output());
    BOOST_TEST(!contains(limited.output(), "may lack"), limited.output());
    program many{{"list", "--foreign", "--limit", "100", "--json"}, environment()};
    BOOST_TEST(many.wait() == 69);
    BOOST_TEST(many.json().at("search") == "too_many");
    BOOST_TEST(many.json().at("locks").size() == 100u);
}

// One step of the search found more than the limit and was the last one.
BOOST_AUTO_TEST_CASE(a_list_that_leaves_locks_out_is_not_complete)
{
    for (char const* name : {"a", "b", "c"}) set_everywhere(name, by_web_3);
    program one{{"list", "--limit", "1", "--json"}, environment()};
    BOOST_TEST(one.wait() == 69, one.errors());
    BOOST_TEST(one.json().at("search") == "too_many");
    BOOST_TEST(names_in(one.json()) == "a ");
    program words{{"list", "--limit", "1"}, environment()};
    BOOST_TEST(words.wait() == 69, words.errors());
    BOOST_TEST(contains(words.output(), "the search has found 1 lock, and keys were left"), words.output());
    program all_of_them{{"list", "--limit", "3", "--json"}, environment()};
    BOOST_TEST(all_of_them.wait() == 0, all_of_them.errors());
    BOOST_TEST(all_of_them.json().at("search") == "complete");
    BOOST_TEST(names_in(all_of_them.json()) == "a b c ");
}

// What stands around the name in the format is no pattern, and other keys are others'.
BOOST_AUTO_TEST_CASE(with_a_key_format_only_its_keys_are_locks)
{
    auto const file = (folder.path() / "redlock.json").string();
    std::ofstream{file} << nlohmann::json{{"nodes", {all[0].url()}}, {"bootstrap", true}, {"key_format", "lock[1]*:{0}"}};
    all[0].command({"SET", "lock1x:not-this", by_web_3});
    all[0].command({"SET", "lock[1]*:red", by_web_3});
    program holder{{"run", "job", "--config", file, "--", "sleep", "60"}};
    BOOST_TEST_REQUIRE(eventually([&] { return all[0].command({"EXISTS", "lock[1]*:job"}) == "1"; }), holder.errors());
    program p{{"list", "--json", "--config", file}};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(names_in(p.json()) == "job red ");
    BOOST_TEST(p.json().at("foreign_keys") == 0);
    program some{{"list", "r*", "--json", "--config", file}};
    BOOST_TEST(some.wait() == 0);
    BOOST_TEST(names_in(some.json()) == "red ");
}

BOOST_AUTO_TEST_CASE(nodes_that_do_not_answer_are_named)
{
    set_everywhere("job", by_web_3);
    auto const at = [&](std::size_t node) { return "127.0.0.1:" + std::to_string(all[node].port()); };
    all[0].kill();
    program two{{"list"}, environment()};
    BOOST_TEST(two.wait() == 0, two.errors());
    BOOST_TEST(contains(two.output(), "1 lock is held\n"), two.output());
    BOOST_TEST(contains(two.output(), "2 of 3"), two.output());
    BOOST_TEST(contains(two.output(), at(0) + ": Connection refused"), two.output());
    all[1].stop();
    program one{{"list", "--timeout", "300ms"}, environment()};
    BOOST_TEST(one.wait() == 69);
    BOOST_TEST(contains(one.output(), "the list may lack locks: only 1 of 3 nodes was searched to the end"), one.output());
    BOOST_TEST(contains(one.output(), at(1) + ": "), one.output());
    BOOST_TEST(contains(one.output(), "unknown: web-3 4711 nightly"), one.output());
    BOOST_TEST(!contains(one.output(), "no lock is held"), one.output());
}

BOOST_AUTO_TEST_CASE(a_user_who_may_not_scan_is_told)
{
    for (auto& s : all) s.command({"ACL", "SETUSER", "app", "on", "nopass", "~*", "+@all", "-scan"});
    std::string urls;
    for (auto const& s : all) urls += "redis://app:x@127.0.0.1:" + std::to_string(s.port()) + ',';
    program p{{"list", "--nodes", urls}};
    BOOST_TEST(p.wait() == 69);
    BOOST_TEST(contains(p.output(), "NOPERM"), p.output());
    BOOST_TEST(contains(p.output(), "scan"), p.output());
}

BOOST_AUTO_TEST_CASE(names_that_could_move_the_cursor_are_escaped)
{
    set_everywhere("\x1b[31mred", by_web_3);
    set_everywhere("two words", by_web_3);
    program p{{"list"}, environment()};
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(contains(p.output(), "\"\\x1b[31mred\""), p.output());
    BOOST_TEST(contains(p.output(), "\"two words\""), p.output());
    BOOST_TEST(!contains(p.output(), "\x1b"), p.output());
}

BOOST_AUTO_TEST_CASE(it_is_shown_again_and_again)
{
    program p{{"list", "--watch", "--json", "--interval", "100ms"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "\"locks\":[]"); }), p.errors());
    set_everywhere("job", by_web_3);
    BOOST_TEST(eventually([&] { return contains(p.output(), "\"name\":\"job\""); }));
    p.send(SIGINT);
    BOOST_TEST(p.wait() == 0);
    for (std::string const& line : lines_of(p.output())) BOOST_TEST(nlohmann::json::parse(line).at("known") == true);

    program plain{{"list", "--watch", "--count", "2", "--interval", "100ms"}, environment()};
    BOOST_TEST(plain.wait() == 0);
    auto const lines = lines_of(plain.output());
    BOOST_TEST_REQUIRE(lines.size() == 2u);
    BOOST_TEST(contains(lines[1], " job held by web-3, process 4711, label nightly, on 3 of 3 nodes"), lines[1]);

    program none{{"list", "none*", "--watch", "--count", "1"}, environment()};
    BOOST_TEST(none.wait() == 0);
    BOOST_TEST(contains(none.output(), " no lock is held\n"), none.output());
}

// Its end by Ctrl-C does not wait for nodes that hang.
BOOST_AUTO_TEST_CASE(watching_ends_well_while_nodes_do_not_answer)
{
    program p{{"list", "--watch", "--interval", "100ms", "--timeout", "60s"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return !lines_of(p.output()).empty(); }), p.errors());
    for (auto& s : all) s.stop();
    BOOST_TEST_REQUIRE(eventually([&] { return has_unread_bytes(all[0].port()); }), "it searches, and does not pause");
    p.send(SIGTERM);
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(!contains(p.output(), "unknown"), "what was not searched to its end is not shown: " << p.output());
}

BOOST_AUTO_TEST_CASE(a_closed_output_is_no_success)
{
    auto options = environment();
    options.closed_output = true;
    program p{{"list"}, options};
    BOOST_TEST(p.wait() == 70);
    BOOST_TEST(contains(p.errors(), "redlock: cannot write to the output: "), p.errors());
}

BOOST_AUTO_TEST_CASE(watching_ends_well_whatever_the_nodes_said_last)
{
    all[0].kill();
    all[1].kill();
    program p{{"list", "--watch", "--interval", "100ms"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "unknown: too few nodes"); }), p.errors());
    p.send(SIGTERM);
    BOOST_TEST(p.wait() == 0);
}

BOOST_AUTO_TEST_CASE(the_list_fits_the_terminal)
{
    for (int i = 10; i < 50; ++i) set_everywhere("a-lock-with-a-rather-long-name-" + std::to_string(i), by_web_3);
    for (int const columns : {40, 60, 100}) {
        auto options = environment();
        options.terminal = true;
        options.columns = columns;
        options.environment.emplace_back("TERM", "xterm");
        options.environment.emplace_back("NO_COLOR", "1");
        program list{{"list"}, options};
        BOOST_TEST(list.wait() == 0);
        program watch{{"list", "--watch", "--count", "1"}, options};
        BOOST_TEST(watch.wait() == 0);
        for (std::string line : lines_of(list.output())) {
            while (line.ends_with('\r')) line.pop_back();
            BOOST_TEST(line.size() <= static_cast<std::size_t>(columns), line);
        }
        for (char const* title : {"lock", "holder", "nodes", "since", "held", "ends", "ttl"})
            BOOST_TEST(contains(list.output(), title), list.output());
        BOOST_TEST(lines_of(watch.output()).size() <= 24u, watch.output());
        BOOST_TEST(contains(watch.output(), " more lines"), watch.output());
    }
}

BOOST_FIXTURE_TEST_CASE(json_has_no_characters_that_turn_text_around, three_servers)
{
    std::string const name = "dir\xe2\x80\xae"
                             "oce";
    program holder{run(name, {}, {"sleep", "60"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return count_with(name) == 3; }), holder.errors());
    for (arguments const& words : {arguments{"list", "--json"}, {"inspect", name, "--json"}}) {
        program p{words, environment()};
        BOOST_TEST(p.wait() == 0, p.errors());
        BOOST_TEST(contains(p.output(), "dir\\u202eoce"), p.output());
        BOOST_TEST(!contains(p.output(), "\xe2\x80\xae"), p.output());
        BOOST_TEST(p.json().at("locks").at(0).at("name") == name);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
