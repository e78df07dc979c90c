// Nodes that lost their data, where no process stays: each `redlock run` lives for a moment, and goes on with the wait of those before it.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto max_ttl = 1'500ms;
constexpr auto between_runs = 100ms;

struct brief_processes : servers {
    explicit brief_processes(std::size_t count = 3) : servers{count}
    {
        nlohmann::json urls = nlohmann::json::array();
        for (auto const& s : all) urls.push_back(s.url());
        nlohmann::json c{{"nodes", urls}, {"max_ttl_ms", max_ttl.count()}, {"lock", {{"ttl_ms", 1'000}, {"node_timeout_ms", 500}}}};
        std::ofstream{config} << c;
        c["after_majority_loss"] = "wait_for_operator";
        std::ofstream{with_operator} << c;
    }

    program_options options() const { return {{{"REDLOCK_STATE_DIR", state.string()}}}; }

    program once(std::string const& name = "job") const
    {
        return program{{"run", name, "--config", config, "--no-wait", "--", "true"}, options()};
    }

    // As from a crontab, until it runs. How long that took.
    steady::duration until_it_runs(std::string const& name = "job") const
    {
        auto const begin = steady::now();
        for (;;) {
            auto p = once(name);
            int const code = p.wait();
            auto const took = steady::now() - begin;
            if (code == 0) return took;
            BOOST_TEST(code == 69, p.errors());
            if (took > 20s) {
                BOOST_ERROR("it never ran: " << p.errors());
                return took;
            }
            std::this_thread::sleep_for(between_runs);
        }
    }

    // Goes on as from a crontab until the server is admitted, which does not need a run that fails.
    void until_admitted(std::size_t node)
    {
        BOOST_TEST(eventually([&] {
            once().wait();
            auto const record = all[node].command({"GET", "redlock:node"});
            return record.size() > 69 && record.back() == '-' && all[node].command({"EXISTS", "redlock:hw"}) == "1";
        }));
    }

    std::vector<std::filesystem::path> notes() const
    {
        std::vector<std::filesystem::path> found;
        std::error_code none;
        for (auto const& each : std::filesystem::directory_iterator{state / "quarantine", none}) found.push_back(each.path());
        return found;
    }

    std::string const config = (folder.path() / "redlock.json").string(), with_operator = (folder.path() / "operator.json").string();
    std::filesystem::path const state = folder.path() / "state";
};

void is_about_one_wait(steady::duration took)
{
    BOOST_TEST((took >= max_ttl));
    BOOST_TEST((took < max_ttl + 5s), std::chrono::duration<double>(took).count());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(admissions)

BOOST_FIXTURE_TEST_CASE(new_servers_are_admitted_by_processes_that_live_for_a_moment, brief_processes)
{
    is_about_one_wait(until_it_runs());
    BOOST_TEST(notes().empty());
    BOOST_TEST((until_it_runs() < max_ttl));
    for (auto& s : all) s.command({"FLUSHALL"});
    is_about_one_wait(until_it_runs());
}

BOOST_AUTO_TEST_CASE(one_new_server_alone_is, *boost::unit_test::timeout(60))
{
    brief_processes one{1};
    is_about_one_wait(one.until_it_runs());
}

BOOST_FIXTURE_TEST_CASE(a_rolling_restart_needs_nobody_who_stays, brief_processes)
{
    until_it_runs();
    for (std::size_t node = 0; node < all.size(); ++node) {
        all[node].restart();
        auto const begin = steady::now();
        until_admitted(node);
        is_about_one_wait(steady::now() - begin);
        BOOST_TEST((until_it_runs() < max_ttl));
    }
}

BOOST_FIXTURE_TEST_CASE(without_a_place_for_notes_each_process_waits_anew_and_says_so, brief_processes)
{
    program p{{"run", "job", "--config", config, "--no-wait", "--", "true"},
              {{{"REDLOCK_STATE_DIR", ""}, {"XDG_STATE_HOME", ""}, {"HOME", ""}}}};
    BOOST_TEST(p.wait() == 69);
    BOOST_TEST(contains(p.errors(), "each process waits for nodes anew"), p.errors());

    std::ofstream{state} << "a file";
    auto q = once();
    BOOST_TEST(q.wait() == 69);
    BOOST_TEST(contains(q.errors(),
                        "other processes will wait anew, as " + (state / "quarantine").string() + " cannot be used: Not a directory"),
               q.errors());
    program r{{"run", "job", "--config", config, "--no-wait", "--", "true"}, {{{"REDLOCK_STATE_DIR", "state"}}}};
    BOOST_TEST(r.wait() == 78);
    BOOST_TEST(contains(r.errors(), "REDLOCK_STATE_DIR must be an absolute path"), r.errors());
}

// A clock that is not this one, notes about another server or another loss: believed, each would admit at once.
BOOST_FIXTURE_TEST_CASE(notes_that_were_tampered_with_shorten_no_wait, brief_processes)
{
    auto const begin = steady::now();
    BOOST_TEST(once().wait() == 69);
    auto const all_notes = notes();
    BOOST_TEST_REQUIRE(all_notes.size() == 3u);
    auto const change = [](std::filesystem::path const& file, std::string const& line, std::string const& to) {
        auto text = read_file(file);
        auto const at = text.find('\n' + line) + 1;
        text.replace(at, text.find('\n', at) - at, to);
        std::ofstream{file, std::ios::trunc} << text;
    };
    change(all_notes[0], "clock", "clock 00000000-0000-0000-0000-000000000000 +0 0");
    change(all_notes[0], "seen", "seen 1");
    change(all_notes[1], "seen", "seen 1");
    ::chmod(all_notes[1].c_str(), 0666);
    std::ofstream{all_notes[2], std::ios::trunc} << "seen 1\n";
    for (int i = 0; i < 3; ++i) BOOST_TEST(once().wait() == 69);
    until_it_runs();
    BOOST_TEST((steady::now() - begin >= max_ttl));
}

BOOST_FIXTURE_TEST_CASE(ten_at_once_agree, brief_processes)
{
    auto const begin = steady::now();
    std::vector<std::unique_ptr<program>> crowd;
    for (int i = 0; i < 10; ++i)
        crowd.push_back(
            std::make_unique<program>(arguments{"run", "job" + std::to_string(i), "--config", config, "--no-wait", "--", "true"},
                                      options()));
    // On a busy machine the last of them come when the wait is over, and admit.
    auto const is_over = [&] { return steady::now() - begin >= max_ttl; };
    for (auto& p : crowd) BOOST_TEST((p->wait() == 69 || is_over()), p->errors());
    BOOST_TEST((notes().size() == 3u || is_over()));
    until_it_runs();
    BOOST_TEST((steady::now() - begin >= max_ttl));
    BOOST_TEST((steady::now() - begin < max_ttl + 10s));
}

BOOST_FIXTURE_TEST_CASE(admit_waits_for_all_nodes_and_says_for_what, brief_processes)
{
    auto const begin = steady::now();
    program p{{"admit", "--config", config}, options()};
    BOOST_TEST(p.wait() == 0, p.errors());
    is_about_one_wait(steady::now() - begin);
    for (auto const& s : all) {
        auto const name = "127.0.0.1:" + std::to_string(s.port());
        BOOST_TEST(contains(p.output(), name + ": quarantined: no node "), p.output());
        BOOST_TEST(contains(p.output(), name + ": admitted\n"), p.output());
    }
    BOOST_TEST(contains(p.output(), "all 3 nodes are admitted\n"), p.output());
    BOOST_TEST(once().wait() == 0);
    BOOST_TEST(all[0].command({"KEYS", "*admit*"}) == "");
    program again{{"admit", "--config", config, "--json"}, options()};
    BOOST_TEST(again.wait() == 0);
    BOOST_TEST(again.json().at("admitted") == true);
    BOOST_TEST(again.json().at("nodes").size() == 3u);
    BOOST_TEST(again.json().at("nodes").at(0).at("admission") == "admitted");
}

BOOST_FIXTURE_TEST_CASE(admit_that_cannot_says_why_with_a_code_of_its_own, brief_processes)
{
    program late{{"admit", "--config", config, "--timeout", "300ms"}, options()};
    BOOST_TEST(late.wait() == 80);
    BOOST_TEST(contains(late.errors(), "redlock: not admitted within 300.0 ms\n"), late.errors());
    BOOST_TEST(contains(late.errors(), ": quarantined: no node "), late.errors());
    program rest{{"admit", "--config", config}, options()};
    BOOST_TEST(rest.wait() == 0, rest.errors());

    all[0].restart();
    all[1].restart();
    program stranded{{"admit", "--config", with_operator}, options()};
    BOOST_TEST(stranded.wait() == 80);
    BOOST_TEST(contains(stranded.errors(), "waiting does not help; an operator must act"), stranded.errors());
    BOOST_TEST(contains(stranded.errors(), "2 of 3 nodes restarted, were promoted, or lost their data since they were admitted"),
               stranded.errors());
    auto const high_water = std::stoull(all[2].command({"GET", "redlock:hw"}));
    program recovers{{"admit", "--config", config}, options()};
    BOOST_TEST(recovers.wait() == 0, recovers.errors());
    BOOST_TEST(!contains(recovers.errors() + recovers.output(), "operator"), recovers.errors() + recovers.output());
    for (std::size_t i : {0u, 1u})
        BOOST_TEST(std::stoull(all[i].command({"GET", "redlock:hw"})) > high_water + 1'000'000, "the wall clock");

    all[2].kill();
    program down{{"admit", "--config", config, "--timeout", "300ms"}, options()};
    BOOST_TEST(down.wait() == 80);
    BOOST_TEST(contains(down.errors(), "not connected: "), down.errors());
}

BOOST_FIXTURE_TEST_CASE(a_limit_holds_where_nobody_reads, brief_processes)
{
    full_pipe const stuck;
    auto unread_output = options(), unread_errors = options();
    unread_output.output = unread_errors.errors = stuck.end();
    program done{{"admit", "--config", config}, unread_output};
    BOOST_TEST(done.wait(20s) == 70, done.errors());
    BOOST_TEST(contains(done.errors(), "redlock: cannot write to the output: nobody reads it; all else was done"), done.errors());

    for (std::size_t i : {0u, 1u}) all[i].kill();
    for (auto const* const around : {&unread_output, &unread_errors}) {
        program late{{"admit", "--config", config, "--timeout", "300ms"}, *around};
        BOOST_TEST(late.wait(10s) == 80, late.errors());
    }
    for (arguments words : {arguments{"acquire", "job"}, {"run", "job"}}) {
        words.insert(words.end(), {"--config", config, "--wait", "300ms"});
        if (words.front() == "run") words.insert(words.end(), {"--", "true"});
        program late{words, unread_errors};
        BOOST_TEST(late.wait(10s) == 69, late.output());
    }
}

BOOST_FIXTURE_TEST_CASE(the_doctor_says_who_waits, brief_processes)
{
    auto const examined = [&](std::string const& words) {
        program p{{"doctor", "--config", config}, options()};
        p.wait();
        BOOST_TEST(contains(p.output(), words), p.output());
    };
    examined("nobody waits for it");
    examined("remedy: run redlock admit now: it takes ");
    BOOST_TEST(once().wait() == 69);
    examined("processes of this machine have waited for ");
    BOOST_TEST((until_it_runs() >= 0s));
    all[2].restart();
    examined("it is new, or lost its data, and is not admitted yet; nobody waits for it");
    program const waits{{"admit", "--config", config}, options()};
    BOOST_TEST(eventually([&] { return contains(waits.output(), "quarantined"); }));
    examined("clients wait for it (from 127.0.0.1) since 20");
}

// A crontab on three hosts, after a restart of all servers.
BOOST_FIXTURE_TEST_CASE(who_waits_for_servers_and_for_no_holder_runs_once, brief_processes)
{
    until_it_runs();
    for (auto& s : all) s.restart();
    auto const ran = (folder.path() / "ran").string();
    std::vector<std::unique_ptr<program>> hosts;
    for (int i = 0; i < 3; ++i)
        hosts.push_back(
            std::make_unique<program>(arguments{"run", "job", "--config", config, "--no-wait", "--wait-servers", "15s",
                                                "--conflict-exit-code", "0", "--", "sh", "-c", "echo ran >>" + ran + "; sleep 2"},
                                      program_options{{{"REDLOCK_STATE_DIR", (folder.path() / std::to_string(i)).string()}}}));
    for (auto const& host : hosts) {
        int const code = host->wait();
        BOOST_TEST(code == 0, code << ": " << host->errors());
    }
    BOOST_TEST(read_file(ran) == "ran\n");
}

BOOST_FIXTURE_TEST_CASE(the_wait_for_servers_has_an_end_of_its_own, brief_processes)
{
    until_it_runs();
    program holder{{"run", "job", "--config", config, "-v", "--", "sleep", "60"}, options()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(holder.errors(), "acquired"); }), holder.errors());
    for (char const* const command : {"run", "acquire"}) {
        arguments const asked{command, "job", "--config", config, "--no-wait", "--wait-servers", "60s"};
        auto words = asked;
        if (command == std::string{"run"}) words.insert(words.end(), {"--", "true"});
        program contended{words, options()};
        BOOST_TEST(contended.wait() == exits::contended, contended.errors());
    }
    for (std::size_t i : {0u, 1u}) all[i].kill();
    for (char const* const command : {"run", "acquire"}) {
        arguments words{command, "other", "--config", config, "--wait-servers", "500ms"};
        if (command == std::string{"run"}) words.insert(words.end(), {"--", "true"});
        program late{words, options()};
        BOOST_TEST(late.wait() == 69, late.errors());
        BOOST_TEST(contains(late.errors(), "Connection refused"), late.errors());
    }
    program refused{{"run", "--ticket", "x", "--wait-servers", "1s", "--config", config, "--", "true"}, options()};
    BOOST_TEST(refused.wait() == exits::usage, refused.errors());
}

BOOST_FIXTURE_TEST_CASE(a_signal_ends_the_wait_for_servers, brief_processes)
{
    for (auto& s : all) s.stop();
    program waits{{"run", "job", "--config", config, "--wait-servers", "60s", "--", "true"}, options()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(waits.errors(), "waiting for job"); }), waits.errors());
    waits.send(SIGTERM);
    BOOST_TEST(waits.wait() == 128 + SIGTERM, waits.errors());
}

BOOST_FIXTURE_TEST_CASE(whoever_only_an_operator_can_help_does_not_wait, brief_processes)
{
    until_it_runs();
    for (std::size_t i : {0u, 1u}) all[i].restart();
    arguments const run{"run", "job", "--config", with_operator}, acquire{"acquire", "job", "--config", with_operator};
    std::vector<std::unique_ptr<program>> commands;
    for (auto const* const of : {&run, &acquire})
        for (arguments const& more : {arguments{}, arguments{"--quiet"}, arguments{"--no-wait", "--wait-servers", "60s"}}) {
            auto words = *of;
            words.insert(words.end(), more.begin(), more.end());
            if (of == &run) words.insert(words.end(), {"--", "true"});
            commands.push_back(std::make_unique<program>(words, options()));
        }
    for (auto const& p : commands) {
        BOOST_TEST(p->wait(12s) == exits::config, p->errors());  // the next look after that of the third second comes ten later
        BOOST_TEST(contains(p->errors(), "job was not acquired: waiting does not help; an operator must act"), p->errors());
        BOOST_TEST(contains(p->errors(), "2 of 3 nodes restarted, were promoted, or lost their data since they were admitted"),
                   p->errors());
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
