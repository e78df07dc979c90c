// redlock run for programs that watch over it: --events-fd, --on-lost, --conflict-exit-code.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

// A descriptor that the program inherits, and what arrives in the file behind it.
struct event_file : servers {
    event_file() : path{folder.path() / "events"}, fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600)}
    {
        BOOST_TEST_REQUIRE(fd > 2);
    }
    ~event_file() { ::close(fd); }

    arguments with_events(arguments more = {}) const
    {
        more.insert(more.end(), {"--events-fd", std::to_string(fd)});
        return more;
    }

    // Those that are complete.
    std::vector<nlohmann::json> events() const
    {
        std::vector<nlohmann::json> found;
        auto const text = read_file(path);
        for (std::string const& line : lines_of(text.substr(0, text.rfind('\n') + 1))) found.push_back(nlohmann::json::parse(line));
        return found;
    }

    std::vector<nlohmann::json> events(std::string const& name) const
    {
        auto found = events();
        std::erase_if(found, [&](nlohmann::json const& e) { return e.at("event") != name; });
        return found;
    }

    std::size_t place_of(std::string const& name) const
    {
        auto const told = events();
        auto const found = std::find_if(told.begin(), told.end(), [&](nlohmann::json const& e) { return e.at("event") == name; });
        BOOST_TEST_REQUIRE((found != told.end()), name << " is missing in " << read_file(path));
        return static_cast<std::size_t>(found - told.begin());
    }

    void ends_with(std::string const& outcome, int code) const
    {
        auto const last = events().back();
        BOOST_TEST(last.at("event") == "ended");
        BOOST_TEST(last.at("outcome") == outcome);
        BOOST_TEST(last.at("code") == code);
    }

    std::filesystem::path const path;
    int const fd;
};

// Until there is a file of this name.
arguments until(std::filesystem::path const& stop, std::string const& before = "")
{
    return {"sh", "-c", before + "echo ready; until [ -e \"$1\" ]; do sleep 0.02; done", "sh", stop.string()};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(run_events, event_file)

BOOST_AUTO_TEST_CASE(a_lock_is_acquired_extended_and_given_back_in_this_order)
{
    auto const stop = folder.path() / "stop";
    auto command = until(stop, "echo \"$REDLOCK_TOKEN\"; ");
    command[2] += "; exit 7";
    program p{run("job", with_events({"--quiet", "--ttl", "6s"}), command), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return !events("extended").empty(); }), p.errors());
    std::ofstream{stop} << "now";
    BOOST_TEST(p.wait() == 7, p.errors());

    char const* const order[] = {"acquired", "command_started", "extended", "command_ended", "released", "ended"};
    for (std::size_t i = 1; i < std::size(order); ++i) BOOST_TEST(place_of(order[i - 1]) < place_of(order[i]), order[i]);
    auto const acquired = events("acquired").at(0);
    BOOST_TEST(acquired.at("lock") == "job");
    BOOST_TEST(std::to_string(acquired.at("token").get<std::uint64_t>()) == lines_of(p.output()).at(0));
    BOOST_TEST(acquired.at("nodes_held").get<int>() >= 2);
    auto const started = events("command_started").at(0);
    BOOST_TEST(started.at("token") == acquired.at("token"));
    BOOST_TEST(started.at("pid").get<int>() > 0);
    auto const ended = events("command_ended").at(0);
    BOOST_TEST(ended.at("code") == 7);
    BOOST_TEST(ended.at("signal").is_null());
    BOOST_TEST(events("node_down").empty(), "no connection is told of that ends because redlock does");
    ends_with("completed", 7);
    for (auto const& e : events()) BOOST_TEST(e.at("at").get<std::string>().size() == 27u, e.dump());
    BOOST_TEST(p.errors() == "");
}

BOOST_AUTO_TEST_CASE(whoever_waits_is_told_for_whom_even_if_nothing_is_said_on_stderr)
{
    program holder{run("job", {"--label", "nightly"}, {"sh", "-c", "echo ready; exec sleep 60"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(holder.output(), "ready"); }));
    program waits{run("job", with_events({"--quiet"}), {"true"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return !events("waiting").empty(); }), waits.errors());
    BOOST_TEST(place_of("contended") < place_of("waiting"));
    auto const waiting = events("waiting").at(0);
    BOOST_TEST(waiting.at("state") == "held");
    BOOST_TEST(waiting.at("holder").at("pid") == holder.pid());
    BOOST_TEST(waiting.at("holder").at("label") == "nightly");
    BOOST_TEST(waiting.at("waited_us").get<std::int64_t>() >= 3'000'000);
    BOOST_TEST(waiting.at("nodes") == 3);
    BOOST_TEST(waiting.at("voting") == 3);
    BOOST_TEST(waits.errors() == "");
    waits.send(SIGTERM);
    BOOST_TEST(waits.wait() == 128 + SIGTERM);
    ends_with("interrupted", 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(a_lost_lease_is_told_and_the_command_gets_the_signal_that_was_asked_for)
{
    auto const seen = (folder.path() / "seen").string();
    std::string const script =
        "trap 'echo INT >> \"$1\"; exit 3' INT; trap 'echo TERM >> \"$1\"' TERM; echo ready; while :; do sleep 0.01; done";
    program p{run("job", with_events({"--ttl", "4s", "--kill-grace", "1s", "--on-lost", "int"}), {"bash", "-c", script, "bash", seen}),
              environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }), p.errors());
    all[0].stop();
    all[1].stop();
    BOOST_TEST(p.wait() == 79, p.errors());
    BOOST_TEST(read_file(seen) == "INT\n");
    BOOST_TEST(contains(p.errors(), "the command gets SIGINT, and has "), p.errors());
    BOOST_TEST(place_of("lost") < place_of("command_ended"));
    BOOST_TEST(events("lost").at(0).at("why").at("message").is_string());
    BOOST_TEST(events("command_ended").at(0).at("code") == 3);
    ends_with("lost", 79);
}

BOOST_AUTO_TEST_CASE(processes_that_left_the_group_get_the_signal_that_was_asked_for)
{
    auto const seen = (folder.path() / "seen").string();
    std::string const stray =
        "trap 'echo USR1 >> \"$1\"; exit' USR1; trap 'echo TERM >> \"$1\"; exit' TERM; echo ready; while :; do sleep 0.01; done";
    std::string const script = "setsid bash -c \"$2\" bash \"$1\" & exec sleep 60";
    program p{run("job", {"--ttl", "4s", "--kill-grace", "1s", "--on-lost", "USR1"}, {"bash", "-c", script, "bash", seen, stray}),
              environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }), p.errors());
    all[0].stop();
    all[1].stop();
    BOOST_TEST(p.wait() == 79, p.errors());
    BOOST_TEST(read_file(seen) == "USR1\n", p.errors());
}

BOOST_AUTO_TEST_CASE(a_conflict_has_the_exit_code_that_was_asked_for)
{
    set_everywhere("job", "foreign");
    for (int const code : {0, 3, 255}) {
        program p{run("job", {"--no-wait", "--conflict-exit-code", std::to_string(code)}, {"echo", "never"}), environment()};
        BOOST_TEST(p.wait() == code, p.errors());
        BOOST_TEST(p.output() == "");
        BOOST_TEST(contains(p.errors(), "job is held by"), p.errors());
    }
    // Cron mails each word.
    for (arguments const& words : {run("job", {"-n", "-q", "--conflict-exit-code", "0"}, {"true"}),
                                   arguments{"acquire", "job", "-n", "-q", "--conflict-exit-code", "0"}}) {
        program p{words, environment()};
        BOOST_TEST(p.wait() == 0);
        BOOST_TEST(p.output() + p.errors() == "");
    }
    program patient{run("job", with_events({"-w", "100ms", "--conflict-exit-code", "9"}), {"true"}), environment()};
    BOOST_TEST(patient.wait() == 9);
    ends_with("contended", 9);

    // Not for what is no conflict.
    all[0].kill();
    all[1].kill();
    program silent{run("job", with_events({"--wait", "100ms", "--conflict-exit-code", "9"}), {"true"}), environment()};
    BOOST_TEST(silent.wait() == 69);
    ends_with("no_majority", 69);
}

BOOST_AUTO_TEST_CASE(a_command_that_cannot_be_executed_is_told_from_one_that_ends_with_127)
{
    program missing{run("job", with_events(), {"no-such-program-at-all"}), environment()};
    BOOST_TEST(missing.wait() == 127);
    ends_with("not_started", 127);
    program ends{run("job", with_events(), {"sh", "-c", "exit 127"}), environment()};
    BOOST_TEST(ends.wait() == 127);
    ends_with("completed", 127);
    program killed{run("job", with_events(), {"sh", "-c", "kill -KILL $$"}), environment()};
    BOOST_TEST(killed.wait() == 128 + SIGKILL);
    BOOST_TEST(events("command_ended").back().at("signal") == "SIGKILL");
    BOOST_TEST(events("command_ended").back().at("code").is_null());
}

BOOST_AUTO_TEST_CASE(the_command_does_not_inherit_the_descriptor)
{
    auto const is_there = "[ -e /proc/self/fd/" + std::to_string(fd) + " ] && echo inherited || echo closed";
    program p{run("job", with_events(), {"sh", "-c", is_there}), environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(p.output() == "closed\n");
    program out{run("job", {"--events-fd", "1"}, {"echo", "mine"}), environment()};
    BOOST_TEST(out.wait() == 0, out.errors());
    BOOST_TEST(contains(out.output(), "mine\n"), out.output());
    BOOST_TEST(contains(out.output(), "\"event\":\"command_ended\""), out.output());
}

// Nobody would extend the lease meanwhile.
BOOST_AUTO_TEST_CASE(a_reader_that_does_not_read_holds_nothing_up)
{
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe2(ends, O_NONBLOCK) == 0);
    std::string const block(4096, '.');
    while (::write(ends[1], block.data(), block.size()) > 0) {}
    ::fcntl(ends[1], F_SETFL, 0);  // blocking, as from a shell
    program p{run("job", {"--quiet", "--events-fd", std::to_string(ends[1])}, {"sh", "-c", "exit 6"}), environment()};
    BOOST_TEST(p.wait() == 6, p.errors());
    BOOST_TEST(p.errors() == "");
    ::close(ends[0]);
    ::close(ends[1]);
}

BOOST_AUTO_TEST_CASE(a_reader_that_has_gone_is_said_once)
{
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    ::close(ends[0]);
    program p{run("job", {"--quiet", "--events-fd", std::to_string(ends[1])}, {"sh", "-c", "exit 5"}), environment()};
    BOOST_TEST(p.wait() == 5, p.errors());
    BOOST_TEST(p.errors() == "redlock: events end here, descriptor " + std::to_string(ends[1]) + ": nobody reads it any more\n");
    ::close(ends[1]);
}

// Nobody writes the end, and the reader sees it nevertheless.
BOOST_AUTO_TEST_CASE(events_end_when_redlock_is_killed)
{
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe(ends) == 0);
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    program p{run("job", {"--events-fd", std::to_string(ends[1])}, {"sh", "-c", "echo ready; exec sleep 60"}), environment()};
    ::close(ends[1]);
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }), p.errors());
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    std::string text;
    auto const at_end = [&] {
        char part[4096];
        ssize_t n = 0;
        while ((n = ::read(ends[0], part, sizeof part)) > 0) text.append(part, static_cast<std::size_t>(n));
        return n == 0;
    };
    BOOST_TEST_REQUIRE(eventually([&] {
        at_end();
        return contains(text, "command_started");
    }));
    p.send(SIGKILL);
    BOOST_TEST(p.wait() == 128 + SIGKILL);
    BOOST_TEST(eventually(at_end));
    BOOST_TEST(!contains(text, "\"ended\""), text);
    ::close(ends[0]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
