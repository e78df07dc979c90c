// Semaphores: redlock run --permits, redlock semaphore, and what inspect, watch, list and release say of slots.
#include "permit_holders.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <deque>
#include <string>
#include <vector>

namespace redlock::testing {
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(semaphores)

BOOST_FIXTURE_TEST_CASE(the_command_knows_its_slot, two_holders)
{
    BOOST_TEST(slot_of_holder(one) != slot_of_holder(two));
    for (program* each : {&one, &two}) {
        BOOST_TEST(contains(each->output(), " of exports\n"), each->output());
        auto const key = "exports#" + slot_of_holder(*each) + ":fence";
        auto const printed = each->output().substr(each->output().find(" token ") + 7);
        auto const token = std::stoull(printed);
        // The other holder may have asked for the same slot, which raises the counter.
        auto const agrees = [&](redis_server const& s) {
            auto const counter = s.command({"GET", key});
            return counter != "(nil)" && !counter.empty() && std::stoull(counter) >= token;
        };
        BOOST_TEST(eventually([&] { return std::count_if(all.begin(), all.end(), agrees) >= 2; }), each->output());
    }
    // That of an outer command is none of an inner one that holds a lock.
    program inner{run("job", {}, {"sh", "-c", "echo \"[$REDLOCK_SLOT]\""}), {{{"REDLOCK_NODES", urls()}, {"REDLOCK_SLOT", "7"}}}};
    BOOST_TEST(inner.wait() == 0, inner.errors());
    BOOST_TEST(inner.output() == "[]\n");
}

BOOST_FIXTURE_TEST_CASE(there_are_as_many_as_permits, two_holders)
{
    program third{run("exports", permits("3", {"--no-wait"}), holds_permit), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return !slot_of_holder(third).empty(); }), third.errors());
    program fourth{run("exports", permits("3", {"--no-wait"}), {"true"}), environment()};
    BOOST_TEST(fourth.wait() == 75);
    BOOST_TEST(contains(fourth.errors(), "exports: all 3 permits are held: slot 0 by "), fourth.errors());
    BOOST_TEST(contains(fourth.errors(), "process " + std::to_string(one.pid()) + ", label first"), fourth.errors());
    program fifth{run("exports", permits("3", {"--wait", "500ms", "--conflict-exit-code", "3"}), {"true"}), environment()};
    BOOST_TEST(fifth.wait() == 3);
    BOOST_TEST(contains(fifth.errors(), "there was none for all the time of --wait"), fifth.errors());

    // A holder that is killed keeps its permit for its ttl, and no longer.
    program waits{run("exports", permits("3"), {"echo", "in"}), environment()};
    two.send(SIGKILL);
    BOOST_TEST(waits.wait() == 0, waits.errors());
    BOOST_TEST(waits.output() == "in\n");
}

BOOST_FIXTURE_TEST_CASE(a_waiter_is_told_for_whom_it_waits, two_holders)
{
    program third{run("exports", permits("3", {"--take", "2", "--events-fd", "1"}), {"true"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(third.errors(), "waiting for"); }));
    BOOST_TEST(contains(third.errors(),
                        "waiting for 2 permits of exports for 3.0 s: 2 permits are wanted at once, and 2 of 3 permits are held: slot "),
               third.errors());
    BOOST_TEST(eventually([&] { return contains(third.output(), "\"event\":\"waiting\""); }));
    BOOST_TEST(contains(third.output(), "\"permits\":3,\"holders\":[{\"slot\":"), third.output());
    two.send(SIGTERM);
    BOOST_TEST(third.wait() == 0, third.errors());
}

BOOST_FIXTURE_TEST_CASE(several_at_once, three_servers)
{
    program p{run("exports", permits("4", {"--take", "3", "-v"}), {"sh", "-c", "for s in $REDLOCK_SLOT; do echo $s; done"}), environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    auto const slots = lines_of(p.output());
    BOOST_TEST(slots.size() == 3u, p.output());
    BOOST_TEST(std::is_sorted(slots.begin(), slots.end()));
    BOOST_TEST(contains(p.errors(), "acquired exports, slots " + slots[0] + ' ' + slots[1] + ' ' + slots[2] + " after "), p.errors());
}

BOOST_FIXTURE_TEST_CASE(another_number_is_refused_in_words, two_holders)
{
    for (char const* wait : {"--no-wait", "--wait=5s"}) {
        program p{run("exports", permits("4", {wait, "--events-fd", "1"}), {"true"}), environment()};
        BOOST_TEST(p.wait() == 78);
        BOOST_TEST(contains(p.errors(), "exports has 3 permits, and this command says 4: the number must be the same for all. "
                                        "To change it: redlock semaphore exports --permits 4"),
                   p.errors());
        BOOST_TEST(contains(p.output(), "\"outcome\":\"permits_differ\""), p.output());
    }
}

BOOST_FIXTURE_TEST_CASE(a_key_of_another_type, three_servers)
{
    for (auto& s : all) s.command({"HSET", "exports:permits", "a", "b"});
    program p{run("exports", permits("3", {"--no-wait"}), {"true"}), environment()};
    BOOST_TEST(p.wait() == 69);
    BOOST_TEST(contains(p.errors(), "(NAME:permits) holds something else"), p.errors());
    program look{{"semaphore", "exports"}, environment()};
    BOOST_TEST(look.wait() == 69);
    BOOST_TEST(contains(look.output(), "exports: unknown, since none of 3 nodes could be read"), look.output());
    BOOST_TEST(contains(look.output(), "WRONGTYPE"), look.output());
    program change{{"semaphore", "exports", "--permits", "3", "--bootstrap"}, environment()};
    BOOST_TEST(change.wait() == 69);
}

BOOST_AUTO_TEST_CASE(what_does_not_go_together)
{
    struct wrong {
        arguments options;
        char const* words;
    };
    for (wrong const& w :
         std::vector<wrong>{{permits("3", {"--shared"}), "--permits goes without --shared"},
                            {permits("3", {"--no-fencing"}), "permits need tokens: --permits goes without --no-fencing"},
                            {permits("3", {"--pass-lease", "5"}), "there are no tickets of permits: --permits goes without --pass-lease"},
                            {permits("3", {"--take", "4"}), "--take 4 is more than the 3 permits that there are"},
                            {{"--take", "2"}, "say with --permits how many there are in all"},
                            {permits("0"), "0 is no number of permits; write a whole number from 1 to 64"},
                            {permits("65"), "65 is no number of permits"},
                            {permits("many"), "many is no number of permits"}}) {
        arguments all{"run", "exports", "--nodes", "redis://127.0.0.1:1"};
        all.insert(all.end(), w.options.begin(), w.options.end());
        all.insert(all.end(), {"--", "true"});
        program p{all};
        BOOST_TEST(p.wait() == 64);
        BOOST_TEST(contains(p.errors(), w.words), p.errors());
    }
    program ticket{{"run", "--ticket", "t", "--permits", "3", "--", "true"}};
    BOOST_TEST(ticket.wait() == 64);
    BOOST_TEST(contains(ticket.errors(), "there are no tickets of permits"), ticket.errors());
    program acquire{{"acquire", "exports", "--permits", "3"}};
    BOOST_TEST(acquire.wait() == 64);
    BOOST_TEST(contains(acquire.errors(), "there are no tickets of permits; redlock run NAME --permits K"), acquire.errors());
    program several{{"run", "exports", "imports", "--permits", "3", "--", "true"}};
    BOOST_TEST(several.wait() == 64);
}

BOOST_FIXTURE_TEST_CASE(who_holds_which_slot, two_holders)
{
    program p{{"semaphore", "exports"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(contains(p.output(), "exports: 3 permits, 2 held, about 1 free\n"), p.output());
    BOOST_TEST(contains(p.output(), "the number is kept on 3 of 3 nodes"), p.output());
    BOOST_TEST(contains(p.output(), ' ' + std::to_string(one.pid()) + " first"), p.output());
    auto const secret = all[0].command({"GET", "exports#" + slot_of_holder(one)}).substr(0, 32);
    BOOST_TEST(!contains(p.output(), secret));

    auto const j = seen();
    BOOST_TEST(j.at("permits") == 3);
    BOOST_TEST(j.at("held") == 2);
    BOOST_TEST(j.at("free_estimate") == 1);
    BOOST_TEST_REQUIRE(j.at("slots").size() == 2u);
    for (auto const& slot : j.at("slots")) {
        auto const& holder = std::to_string(slot.at("slot").get<int>()) == slot_of_holder(one) ? one : two;
        BOOST_TEST(slot.at("holder").at("pid") == holder.pid());
        BOOST_TEST(slot.at("held_on") == 3);
        BOOST_TEST(slot.at("ttl_ms").get<int>() > 0);
        BOOST_TEST(slot.at("token").get<std::uint64_t>() > 0);
    }
    program none{{"semaphore", "imports"}, environment()};
    BOOST_TEST(none.wait() == 1);
    BOOST_TEST(contains(none.output(), "imports: no semaphore that the nodes know"), none.output());
}

BOOST_FIXTURE_TEST_CASE(with_one_node_down_and_with_two, two_holders)
{
    all[2].kill();
    auto const j = seen();
    BOOST_TEST(j.at("held") == 2);
    BOOST_TEST(j.at("free_estimate") == 1);
    BOOST_TEST(j.at("kept_on") == 2);
    program third{run("exports", permits("3", {"--no-wait"}), {"true"}), environment()};
    BOOST_TEST(third.wait() == 0, third.errors());
    program change{{"semaphore", "exports", "--permits", "5", "--timeout", "500ms"}, environment()};
    BOOST_TEST(change.wait() == 69);
    BOOST_TEST(contains(change.errors(), "2 of 3 nodes could be told"), change.errors());
    all[1].kill();
    program p{{"semaphore", "exports", "--timeout", "500ms"}, environment()};
    BOOST_TEST(p.wait() == 69);
    BOOST_TEST(contains(p.output(), "exports: unknown, since only 1 of 3 nodes could be read"), p.output());
}

BOOST_FIXTURE_TEST_CASE(other_commands_show_one_lock, two_holders)
{
    program inspect{{"inspect", "exports"}, environment()};
    BOOST_TEST(inspect.wait() == 0, inspect.errors());
    BOOST_TEST(contains(inspect.output(), "exports: 3 permits, 2 held, about 1 free\n"), inspect.output());
    BOOST_TEST(!contains(inspect.output(), "exports: free"), inspect.output());
    program json{{"inspect", "exports", "--json"}, environment()};
    BOOST_TEST(json.wait() == 0);
    BOOST_TEST(json.json().at("locks").at(0).at("semaphore").at("held") == 2);

    program watch{{"watch", "exports", "--count", "1"}, environment()};
    BOOST_TEST(watch.wait() == 0, watch.errors());
    BOOST_TEST(contains(watch.output(), " exports 2 of 3 permits held: slot "), watch.output());
    BOOST_TEST(contains(watch.output(), ", turn 2\n"), watch.output());
    BOOST_TEST(lines_of(watch.output()).size() == 1u, watch.output());

    for (auto& s : all) s.command({"SET", "exports", "of another library", "PX", "60000"});
    program both{{"watch", "exports", "--count", "1"}, environment()};
    BOOST_TEST(both.wait() == 0, both.errors());
    BOOST_TEST(contains(both.output(), " exports 2 of 3 permits held: slot "), both.output());
    BOOST_TEST(contains(both.output(), " exports held by "), both.output());
    for (auto& s : all) s.command({"DEL", "exports"});

    for (auto& s : all) s.command({"SET", "ordinary#0", "deadbeef"});
    program list{{"list", "--foreign"}, environment()};
    BOOST_TEST(list.wait() == 0, list.errors());
    auto const lines = lines_of(list.output());
    BOOST_TEST_REQUIRE(lines.size() >= 4u, list.output());
    BOOST_TEST(lines[1].starts_with("exports     2 of 3     2 holders "), list.output());
    BOOST_TEST(lines[2].starts_with("ordinary#0  "), list.output());
    BOOST_TEST(contains(list.output(), "1 semaphore has holders"), list.output());
    program of_ours{{"list"}, environment()};
    BOOST_TEST(of_ours.wait() == 0, of_ours.errors());
    BOOST_TEST(!contains(of_ours.output(), "no lock is held"), of_ours.output());
    program found{{"list", "--json"}, environment()};
    BOOST_TEST(found.wait() == 0);
    auto const locks = found.json().at("locks");
    BOOST_TEST_REQUIRE(locks.size() == 1u);
    BOOST_TEST(locks.at(0).at("mode") == "permits");
    BOOST_TEST(locks.at(0).at("name") == "exports");
    BOOST_TEST(locks.at(0).at("semaphore").at("slots").size() == 2u);
}

BOOST_FIXTURE_TEST_CASE(release_of_one_slot_and_of_all, two_holders)
{
    for (program* each : {&one, &two}) each->send(SIGSTOP);  // they set their leases again otherwise
    program p{{"release", "exports#" + slot_of_holder(one), "--force", "--yes"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(contains(p.output(), "deleted on 3 of 3 nodes"), p.output());
    BOOST_TEST(count_with("exports#" + slot_of_holder(one)) == 0u);
    BOOST_TEST(count_with("exports#" + slot_of_holder(two)) == 3u);
    program rest{{"release", "exports", "--force", "--yes"}, environment()};
    BOOST_TEST(rest.wait() == 0, rest.errors());
    BOOST_TEST(contains(rest.output(), "exports#" + slot_of_holder(two) + ": deleted on 3 of 3 nodes"), rest.output());
    BOOST_TEST(count_with("exports#" + slot_of_holder(two)) == 0u);
}

// Ten processes, three permits: never more than three at once, and all of them come to their turn.
BOOST_FIXTURE_TEST_CASE(ten_processes_at_once, three_servers)
{
    auto const file = (folder.path() / "seen").string();
    arguments const work{"sh", "-c", "echo + >> " + file + "; sleep 0.2; echo - >> " + file};
    std::deque<program> workers;
    for (int i = 0; i < 10; ++i) workers.emplace_back(run("exports", permits("3", {"--wait", "60s"}), work), environment());
    for (program& w : workers) BOOST_TEST(w.wait(60s) == 0, w.errors());
    int running = 0, most = 0, all_of_them = 0;
    for (std::string const& line : lines_of(read_file(file))) {
        running += line == "+" ? 1 : -1;
        all_of_them += line == "+" ? 1 : 0;
        most = std::max(most, running);
    }
    BOOST_TEST(all_of_them == 10);
    BOOST_TEST(most <= 3);
    BOOST_TEST(running == 0);
}

BOOST_FIXTURE_TEST_CASE(doctor_tries_the_keys_of_semaphores, three_servers)
{
    for (auto& s : all) s.command({"ACL", "SETUSER", "few", "on", ">pw", "+@all", "~exports", "~exports:*", "~redlock:*"});
    std::string list;
    for (auto& s : all) list += (list.empty() ? "" : ",") + std::string{"redis://few:pw@"} + s.url().substr(8);
    program p{{"doctor", "--name", "exports", "--nodes", list}};
    BOOST_TEST(p.wait() == 2, p.errors());
    BOOST_TEST(contains(p.output(), "set is refused, so that no semaphore can be used"), p.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
