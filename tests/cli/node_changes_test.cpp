// redlock nodes replace: a member of a set is replaced while leases are held, and clients with the old list of nodes go on beside those with the new one.
#include "changing_set.hpp"
#include "operations_page.hpp"
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace redlock::testing {
BOOST_AUTO_TEST_SUITE(changes_of_a_set)

BOOST_FIXTURE_TEST_CASE(a_dead_machine_is_replaced_while_a_lease_is_held, changing_set)
{
    holder const held{*this};
    all[2].kill();
    auto const done = replace(2, 3, old_list);
    BOOST_TEST_REQUIRE(done.code == 0, done.output + done.errors);
    BOOST_TEST(contains(done.output, "has moved to generation 1 (2; 2 have to)"), done.output);
    BOOST_TEST(contains(done.output, "is admitted\nGive every client this list of nodes"), done.output);
    BOOST_TEST(all[3].command({"EXISTS", "redlock:hw"}) == "1");

    // Clients of both lists, before and after the holder's list has lost its third server.
    for (auto const& list : {old_list, new_list}) {
        check_held(list);
        BOOST_TEST(tries(list, "other") == 0);
    }
    auto const shown = of(new_list, {"nodes", "show"});
    BOOST_TEST(shown.code == 0, shown.output + shown.errors);
    BOOST_TEST(contains(shown.output, "generation 1"), shown.output);
    // The same command again has nothing to do.
    auto const again = replace(2, 3, new_list);
    BOOST_TEST(again.code == 0, again.output + again.errors);
}

BOOST_FIXTURE_TEST_CASE(a_running_member_is_replaced_and_comes_back, changing_set)
{
    holder const held{*this};
    auto const done = replace(2, 3, old_list);
    BOOST_TEST_REQUIRE(done.code == 0, done.output + done.errors);
    check_held(new_list);
    BOOST_TEST(tries(old_list, "other") == 0);
    auto const back = replace(3, 2, new_list);
    BOOST_TEST_REQUIRE(back.code == 0, back.output + back.errors);
    BOOST_TEST(contains(back.output, "generation 2"), back.output);
    for (auto const& list : {old_list, new_list}) {
        check_held(list);
        BOOST_TEST(tries(list, "other") == 0);
    }
}

// Killed when one member has moved, when the new member is awaited, and at a moment in between that nobody chose.
BOOST_FIXTURE_TEST_CASE(a_command_that_was_killed_goes_on_where_it_was, changing_set)
{
    holder const held{*this};
    all[2].kill();
    {
        program first{replacing(2, 3, old_list)};
        BOOST_TEST_REQUIRE(eventually([&] { return contains(first.output(), "is replaced by"); }));
        first.send(SIGKILL);
        BOOST_TEST(first.wait() == 128 + SIGKILL);
    }
    {
        program second{replacing(2, 3, old_list)};
        BOOST_TEST_REQUIRE(eventually([&] { return contains(second.output(), " joins; "); }));
        second.send(SIGKILL);
        BOOST_TEST(second.wait() == 128 + SIGKILL);
    }
    check_held(old_list);
    BOOST_TEST(tries(new_list, "other") == 0);
    auto const done = replace(2, 3, old_list);
    BOOST_TEST(done.code == 0, done.output + done.errors);
}

// The second member is stopped, so that the command gets no further than the first.
BOOST_FIXTURE_TEST_CASE(a_change_that_one_member_has_heard_of_is_finished_or_taken_back, changing_set)
{
    {
        auto text = all[0].command({"GET", "redlock:set"});
        program first{replacing(2, 3, old_list)};
        BOOST_TEST(eventually([&] { return all[0].command({"GET", "redlock:set"}) != text; }));
        all[1].stop();
        first.send(SIGKILL);
        first.wait();
        all[1].resume();
    }
    BOOST_TEST(tries(old_list, "other") == 0);
    auto const back = replace(3, 2, old_list);
    BOOST_TEST(back.code == 0, back.output + back.errors);
    BOOST_TEST(tries(old_list, "other") == 0);
    auto const shown = of(old_list, {"nodes", "show"});
    BOOST_TEST(contains(shown.output, "generation 2"), shown.output);
}

BOOST_FIXTURE_TEST_CASE(of_two_commands_at_once_one_wins_and_the_other_is_told, changing_set)
{
    holder const held{*this};
    program one{replacing(2, 3, old_list)}, other{replacing(2, 4, old_list)};
    int const first = one.wait(120s), second = other.wait(120s);
    BOOST_TEST(((first == 0 && second == 75) || (first == 75 && second == 0)), first << " and " << second << '\n'
                                                                                     << one.output() << one.errors() << other.output()
                                                                                     << other.errors());
    std::vector<std::size_t> const won{0, 1, first == 0 ? std::size_t{3} : std::size_t{4}};
    check_held(won);
    BOOST_TEST(tries(won, "other") == 0);
    BOOST_TEST(tries(old_list, "other") == 0);
    auto const lost = first == 0 ? other.errors() : one.errors();
    BOOST_TEST(contains(lost, "has left the set already"), lost);
}

// Killed behind any line that it has printed, also while it waits, the command goes on where it was, and so does the holder of the lease.
BOOST_FIXTURE_TEST_CASE(a_set_grows_and_shrinks_by_commands_that_are_killed, changing_set)
{
    holder held{*this};
    std::vector<std::size_t> const five{0, 1, 2, 3, 4}, two{0, 1};
    auto const carry_out = [&](arguments const& words, std::vector<std::size_t> const& list) {
        for (std::size_t lines = 0; lines < 6; ++lines) {
            program p{with_list(list, words)};
            static_cast<void>(eventually([&] { return lines_of(p.output()).size() >= lines || !p.running(); }));  // or while it waits
            p.send(SIGKILL);
            p.wait();
            BOOST_TEST(held.runs.running());
        }
        auto const done = of(list, words);
        BOOST_TEST_REQUIRE(done.code == 0, done.output + done.errors);
        BOOST_TEST(contains(done.output, "Give every client this list of nodes"), done.output);
        check_held(list);
    };
    carry_out({"nodes", "grow", all[3].url(), all[4].url()}, old_list);
    check_held(five);
    BOOST_TEST(tries(five, "other") == 0);
    BOOST_TEST(tries(old_list, "other") == 0, "all three are up");
    BOOST_TEST(of(two, {"run", "other", "--no-wait", "--", "true"}).code == 78, "a list that never was");

    carry_out({"nodes", "shrink", all[4].url()}, five);
    auto const shown = of({0, 1, 2, 3}, {"nodes", "show"});
    BOOST_TEST(contains(shown.output, "of 4 nodes ("), shown.output);
    BOOST_TEST(tries(five, "other") == 0);
    carry_out({"nodes", "shrink", all[3].url()}, {0, 1, 2, 3});
    BOOST_TEST(tries(old_list, "other") == 0);
    all[3].kill();
    all[4].kill();
    all[2].kill();
    BOOST_TEST(tries(old_list, "other") == 0, "two of three");
    check_held(old_list);
}

// As with `| head -1`, or on a full disk.
BOOST_FIXTURE_TEST_CASE(a_change_that_nobody_reads_of_is_made, changing_set)
{
    std::vector<std::size_t> const grown{0, 1, 2, 3};
    auto const members = [&] {
        auto const shown = of(grown, {"nodes", "show", "--json"});
        return nlohmann::json::parse(shown.output).at("sets").at(0).at("members").size();
    };
    auto const unread = [&](arguments words) {
        program p{with_list(grown, std::move(words)), {.unread_output = true}};
        BOOST_TEST(p.wait(60s) == 70, p.errors());
        BOOST_TEST(contains(p.errors(), "redlock: cannot write to the output: nobody reads it any more; all else was done"), p.errors());
    };
    auto const late = of(old_list, {"nodes", "grow", all[3].url(), "--wait", "300ms"});
    BOOST_TEST(late.code == 80, late.errors);
    BOOST_TEST(contains(late.errors, "The set has 4 members now, and 3 of them must vote for a lock."), late.errors);
    BOOST_TEST(members() == 4u);
    unread({"nodes", "grow", all[3].url()});
    unread({"admit"});
    unread({"nodes", "shrink", all[3].url()});
    BOOST_TEST(members() == 3u);
    unread({"nodes", "replace", all[2].url(), all[3].url()});

    // The same command again has nothing to do, with its old list, and also when the server has been stopped, as it said.
    all[2].kill();
    auto const again = of({0, 1, 2}, {"nodes", "replace", all[2].url(), all[3].url(), "--json"});
    BOOST_TEST(again.code == 0, again.errors);
    BOOST_TEST(nlohmann::json::parse(again.output).at("members").size() == 3u);
    BOOST_TEST(nlohmann::json::parse(again.output).at("needed") == 2);
}

// With the list of afterwards: those that leave are named behind it.
BOOST_FIXTURE_TEST_CASE(members_that_leave_need_not_be_in_the_list, changing_set)
{
    auto const grown = of(old_list, {"nodes", "grow", all[3].url(), all[4].url()});
    BOOST_TEST_REQUIRE(grown.code == 0, grown.errors);
    for (int times = 0; times < 2; ++times) {
        auto const shrunk = of(old_list, {"nodes", "shrink", all[3].url(), all[4].url()});
        BOOST_TEST(shrunk.code == 0, shrunk.errors);
        BOOST_TEST(contains(shrunk.output, "Give every client this list of nodes"), shrunk.output);
    }
}

BOOST_FIXTURE_TEST_CASE(what_a_set_of_another_number_refuses, changing_set)
{
    all[2].kill();
    auto const grow = of(old_list, {"nodes", "grow", all[3].url(), all[4].url()});
    BOOST_TEST(grow.code == 69, "code " << grow.code << ": " << grow.errors);
    BOOST_TEST(contains(grow.errors, "start the others"), grow.errors);
    auto const nobody = of(old_list, {"nodes", "grow"});
    BOOST_TEST(nobody.code == 64, nobody.errors);
    auto const stranger = of(old_list, {"nodes", "shrink", all[4].url()});
    BOOST_TEST(stranger.code == 78, stranger.errors);
    BOOST_TEST(contains(stranger.errors, "is no member of"), stranger.errors);
    // The dead one may leave: two stay, and are counted as of three first.
    auto const done = of(old_list, {"nodes", "shrink", all[2].url()});
    BOOST_TEST(done.code == 0, done.output + done.errors);
    BOOST_TEST(contains(done.output, "2 members go on, and votes are counted as of 3"), done.output);
    BOOST_TEST(tries({0, 1}, "other") == 0);
    auto const one = of({0, 1}, {"nodes", "shrink", all[1].url()});
    BOOST_TEST(one.code == 0, one.output + one.errors);
    BOOST_TEST(tries({0}, "other") == 0);
    auto const back = of({0}, {"nodes", "grow", all[1].url()});
    BOOST_TEST(back.code == 69, back.output + back.errors);
    BOOST_TEST(contains(back.errors, "--end-leases"), back.errors);
    auto const again = of({0}, {"nodes", "grow", all[1].url(), "--end-leases"});
    BOOST_TEST(again.code == 0, again.output + again.errors);
    BOOST_TEST(tries({0, 1}, "other") == 0);
}

// Until the set of three is one of two, votes and high-water marks are counted as of three, and there are two that can have them.
BOOST_FIXTURE_TEST_CASE(a_set_that_becomes_smaller_outlives_the_loss_of_all_admissions, changing_set)
{
    {
        program first{with_list(old_list, {"nodes", "shrink", all[2].url()})};
        BOOST_TEST_REQUIRE(eventually([&] { return contains(first.output(), "votes are counted as of 3"); }));
        first.send(SIGKILL);
        first.wait();
    }
    for (std::size_t const member : {0u, 1u}) all[member].command({"DEL", "redlock:node"});
    auto const admitted = of({0, 1}, {"admit", "--timeout", "60s"});
    BOOST_TEST_REQUIRE(admitted.code == 0, admitted.output + admitted.errors);
    BOOST_TEST(tries({0, 1}, "other") == 0);
    auto const done = of(old_list, {"nodes", "shrink", all[2].url()});
    BOOST_TEST(done.code == 0, done.output + done.errors);
    BOOST_TEST(tries({0, 1}, "other") == 0);
}

// The server died when one member had heard that the set grows, and another command finishes that.
BOOST_FIXTURE_TEST_CASE(a_server_that_the_command_does_not_know_is_not_said_to_be_admitted, changing_set)
{
    std::map<std::size_t, std::map<std::string, std::string>> before;
    for (std::size_t const member : {0u, 1u, 2u})
        for (auto const* key : {"redlock:node", "redlock:set"}) before[member][key] = all[member].command({"GET", key});
    {
        auto const is_changed = [&](auto const& of) {
            return all[of.first].command({"GET", "redlock:set"}) != of.second.at("redlock:set");
        };
        program first{with_list(old_list, {"nodes", "grow", all[3].url()})};
        BOOST_TEST_REQUIRE(eventually([&] { return std::ranges::all_of(before, is_changed); }));
        first.send(SIGKILL);
        first.wait();
    }
    // As if it had been killed when one member had the new record, and before a majority had it.
    before.erase(0);
    for (auto const& [member, keys] : before)
        for (auto const& [key, text] : keys) all[member].command({"SET", key, text});
    auto record = all[0].command({"GET", "redlock:set"});
    if (auto const at = record.find(" moved "); at != record.npos) record.replace(at, 7, " moving ");
    all[0].command({"SET", "redlock:set", record});
    all[3].kill();
    auto const other = replace(2, 4, old_list);
    BOOST_TEST(other.code == 78, other.output + other.errors);
    BOOST_TEST(contains(other.output, "another change was begun"), other.output);
    BOOST_TEST(contains(other.output, "it is not in the list of this command"), other.output);
    BOOST_TEST(!contains(other.output, "is admitted"), other.output);
    BOOST_TEST(contains(other.errors, "does not know it"), other.errors);
}

// The commands of the page, with the test's servers for 10.0.0.1 and so on. They wait for the usual max_ttl of 30 s each.
struct page_of_changes : changing_set {
    std::vector<arguments> commands_below(std::string const& heading) const
    {
        auto commands = testing::commands_below(heading, all);
        for (auto& words : commands) {
            BOOST_TEST_REQUIRE(words.front() == "redlock");
            words.erase(words.begin());
        }
        return commands;
    }

    // While a client with this list holds "job".
    void carry_out(arguments const& words, std::vector<std::size_t> const& list) const
    {
        holder const held{*this, list};
        program p{words};
        int const code = p.wait(120s);
        BOOST_TEST_REQUIRE(code == 0, p.output() + p.errors());
        check_held(list);
        BOOST_TEST(tries(list, "other") == 0);
    }
};

BOOST_FIXTURE_TEST_CASE(the_commands_of_the_page_replace_a_dead_machine, page_of_changes)
{
    auto const commands = commands_below("### Replace a dead machine");
    BOOST_TEST_REQUIRE(commands.size() == 1u);
    all[2].kill();
    carry_out(commands[0], old_list);
    BOOST_TEST(tries(new_list, "other") == 0);
}

BOOST_FIXTURE_TEST_CASE(the_commands_of_the_page_move_a_set_to_other_machines, page_of_changes)
{
    auto const commands = commands_below("### Move to other machines, one by one");
    BOOST_TEST_REQUIRE(commands.size() == 2u);
    carry_out(commands[0], old_list);
    carry_out(commands[1], {3, 1, 2});
    BOOST_TEST(tries({3, 4, 2}, "other") == 0);
    BOOST_TEST(tries(old_list, "other") == 78);  // it has one member of three
}

BOOST_FIXTURE_TEST_CASE(bad_input_is_told_and_changes_nothing, changing_set)
{
    auto const before = all[0].command({"GET", "redlock:set"});
    auto const told = [&](ended const& e, int code, std::string const& words) {
        BOOST_TEST(e.code == code, e.output + e.errors);
        BOOST_TEST(contains(e.errors, words), e.errors);
    };
    told(replace(3, 4, old_list), 78, "is no member of the set");
    told(replace(2, 1, old_list), 78, "is a member already");
    told(replace(2, 2, old_list), 64, "are the same server");
    told(of(old_list, {"nodes", "replace", all[2].url()}), 64, "needs two servers");
    told(of(old_list, {"nodes", "replace", "nonsense://", all[3].url()}), 64, "the URL's scheme must be");
    told(of(old_list, {"nodes", "remove"}), 64, "can show, replace, grow and shrink");
    told(replace(2, 3, {0}), 78, "does not know it");
    BOOST_TEST_REQUIRE(of({3, 4}, {"run", "x", "--bootstrap", "--", "true"}).code == 0);
    told(replace(2, 3, old_list), 78, "belong to different sets");
    all[4].kill();
    told(replace(2, 4, old_list), 78, "it has not joined");
    std::string fifteen;
    for (int port = 1; port <= 15; ++port) fifteen += (port > 1 ? "," : "") + std::string{"redis://127.0.0.1:"} + std::to_string(port);
    program too_many{{"nodes", "replace", "redis://127.0.0.1:15", "redis://127.0.0.1:16", "--nodes", fifteen}};
    int const code = too_many.wait();
    told({code, too_many.output(), too_many.errors()}, 78, "redlock nodes shrink");
    all[1].kill();
    for (auto const* key : {"redlock:node", "redlock:set", "redlock:hw"}) all[3].command({"DEL", key});
    told(replace(2, 3, old_list), 69, "only 1 answer and have a vote");
    BOOST_TEST(all[0].command({"GET", "redlock:set"}) == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
