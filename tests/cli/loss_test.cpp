// redlock run, when the lease cannot be kept: the command's process group is gone before anybody else can have the lock.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

// Writes the time into `$1` again and again, and so does a process that it started; both ignore SIGTERM.
constexpr char const* stubborn = R"(
    trap 'echo TERM >> "$1.term"' TERM
    (trap '' TERM; while :; do date +%s.%N >> "$1.grandchild"; sleep 0.005; done) &
    while :; do date +%s.%N >> "$1.child"; sleep 0.005; done
)";

double wall_now() { return std::chrono::duration<double>{std::chrono::system_clock::now().time_since_epoch()}.count(); }

struct loss : servers {
    arguments command(char const* script) const { return {"sh", "-c", script, "sh", path("seen")}; }
    std::string path(std::string const& name) const { return (folder.path() / name).string(); }

    // The time that was written last.
    double last(std::string const& who) const
    {
        auto lines = lines_of(read_file(path("seen." + who)));
        std::erase_if(lines, [](std::string const& l) { return l.size() < 20; });  // the last may be cut short
        return lines.empty() ? 0 : std::stod(lines.back());
    }
    bool writes(std::string const& who) const { return last(who) > 0; }

    void wait_until_it_works()
    {
        BOOST_TEST_REQUIRE(eventually([&] { return writes("child") && writes("grandchild"); }));
    }

    bool nobody_writes() const
    {
        auto const child = last("child"), grandchild = last("grandchild");
        std::this_thread::sleep_for(50ms);  // ten of their turns
        return last("child") == child && last("grandchild") == grandchild;
    }

    void check_gone(double by)
    {
        BOOST_TEST(last("child") < by);
        BOOST_TEST(last("grandchild") < by);
        BOOST_TEST(nobody_writes());
    }

    // Stops a majority. What was granted ends at the latest so long after what is returned.
    double stop_two()
    {
        all[0].stop();
        all[1].stop();
        return wall_now();
    }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(run_loss, loss)

BOOST_AUTO_TEST_CASE(a_command_that_ignores_sigterm_is_gone_before_validity_ends)
{
    program p{run("job", {"--ttl", "2s", "--kill-grace", "300ms"}, command(stubborn)), environment()};
    wait_until_it_works();
    auto const stopped = stop_two();
    BOOST_TEST(p.wait() == 79, p.errors());
    check_gone(stopped + 1.98 - 0.002);  // ttl less drift, of an extension that was answered at the last moment
    BOOST_TEST(contains(read_file(path("seen.term")), "TERM"));
    BOOST_TEST(contains(p.errors(), "the lease on job is lost"), p.errors());
    BOOST_TEST(contains(p.errors(), "killed"), p.errors());
}

BOOST_AUTO_TEST_CASE(a_command_that_heeds_sigterm_has_its_time)
{
    program p{run("job", {"--ttl", "2s", "--kill-grace", "500ms"},
                  {"sh", "-c", "trap 'sleep 0.2; echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.01; done"}),
              environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }));
    stop_two();
    BOOST_TEST(p.wait() == 79);
    BOOST_TEST(contains(p.output(), "tidy"));
    BOOST_TEST(!contains(p.errors(), "killed"), p.errors());
}

BOOST_AUTO_TEST_CASE(a_lock_that_somebody_else_took_is_noticed)
{
    program p{run("job", {"--ttl", "3s"}, command(stubborn)), environment()};
    wait_until_it_works();
    set_everywhere("job", "foreign");
    BOOST_TEST(p.wait() == 79, p.errors());
    check_gone(wall_now());
    for (auto& s : all) BOOST_TEST(s.command({"GET", "job"}) == "foreign");
}

BOOST_AUTO_TEST_CASE(a_killed_redlock_takes_the_whole_group_with_it)
{
    program p{run("job", {}, command(stubborn)), environment()};
    wait_until_it_works();
    auto const killed = wall_now();
    p.send(SIGKILL);
    BOOST_TEST(p.wait() == 128 + SIGKILL, p.errors());
    // At once, and far before the lease ends; a busy machine may take a while.
    BOOST_TEST(eventually([&] { return nobody_writes(); }));
    check_gone(killed + 3);
}

// The kernel ends the command itself, since its parent died. What it started is left to the guardian.
BOOST_AUTO_TEST_CASE(a_redlock_that_is_killed_as_soon_as_its_command_runs_leaves_nobody_behind)
{
    for (int i = 0; i < 10; ++i) {
        auto const file = path("grandchild" + std::to_string(i));
        program p{run("job", {"--bootstrap"}, {"sh", "-c", "sh -c 'echo $$ >\"$1\"; exec sleep 60' sh \"$1\" & kill -9 $PPID", "sh", file}),
                  environment()};
        BOOST_TEST(p.wait() == 128 + SIGKILL, p.errors());
        // An empty command line: it has ended, and perhaps nobody has asked how.
        BOOST_TEST(
            eventually([&] { return read_file("/proc/" + std::to_string(std::atoi(read_file(file).c_str())) + "/cmdline").empty(); }));
        for (auto& s : all) s.command({"DEL", "job"});
    }
}

BOOST_AUTO_TEST_CASE(a_stopped_redlock_cannot_keep_its_command)
{
    program p{run("job", {"--ttl", "1s"}, command(stubborn)), environment()};
    wait_until_it_works();
    p.send(SIGSTOP);
    auto const stopped = wall_now();
    BOOST_TEST(eventually([&] { return wall_now() > stopped + 1.2; }));
    check_gone(stopped + 0.988);
    p.send(SIGCONT);
    BOOST_TEST(p.wait() == 79, p.errors());
}

BOOST_AUTO_TEST_CASE(a_long_command_keeps_its_lease)
{
    program p{run("job", {"--ttl", "1s"}, {"sh", "-c", "echo ready; sleep 2.5; exit 4"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }));
    program other{run("job", {"--wait", "2s"}, {"echo", "never"}), environment()};
    BOOST_TEST(other.wait() == 75, other.errors());
    BOOST_TEST(p.wait() == 4, p.errors());
    BOOST_TEST(p.errors() == "");
}

BOOST_AUTO_TEST_CASE(one_node_less_does_not_disturb)
{
    program p{run("job", {"--ttl", "1s"}, {"sh", "-c", "echo ready; sleep 2.5; exit 4"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }));
    all[0].stop();
    BOOST_TEST(p.wait() == 4, p.errors());
}

BOOST_AUTO_TEST_CASE(what_the_command_leaves_behind_is_ended_before_the_lock_is_free)
{
    program p{run("job", {"--kill-grace", "200ms"},
                  {"sh", "-c", "(trap '' TERM; while :; do date +%s.%N >> \"$1.grandchild\"; sleep 0.005; done) & sleep 0.1; exit 5", "sh",
                   path("seen")}),
              environment()};
    BOOST_TEST(p.wait() == 5, p.errors());
    auto const end = last("grandchild");
    BOOST_TEST(end > 0);
    std::this_thread::sleep_for(50ms);
    BOOST_TEST(last("grandchild") == end);
}

// `$1.pid` is the process of another session that the command starts: an orphan, which ignores SIGTERM.
constexpr char const* daemonizing = R"(
    setsid -f sh -c 'trap "" TERM; echo $$ > "$1.new"; mv "$1.new" "$1.pid"; while :; do sleep 0.01; done' sh "$1"
    while ! test -e "$1.pid"; do sleep 0.01; done
    echo ready; exec sleep ${2-60}
)";

struct stray : loss {
    ~stray()
    {
        if (pid() > 0) ::kill(pid(), SIGKILL);
    }
    pid_t pid() const
    {
        auto const text = read_file(path("seen.pid"));
        return text.empty() ? -1 : std::stoi(text);
    }
    // A zombie is dead: whether somebody reaps orphans is the machine's affair.
    bool alive() const
    {
        auto const stat = read_file("/proc/" + std::to_string(pid()) + "/stat");
        return !stat.empty() && !contains(stat, ") Z ");
    }
};

BOOST_FIXTURE_TEST_CASE(what_left_the_group_is_told_of_at_the_end, stray)
{
    auto words = command(daemonizing);
    words.emplace_back("0.2");
    program p{run("job", {}, words), environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(contains(p.errors(), "of the command left its group and may still run: "), p.errors());
    BOOST_TEST(contains(p.errors(), std::to_string(pid()) + " sh"), p.errors());
    BOOST_TEST(alive());
    program quiet{run("job", {"--quiet"}, words), environment()};
    ::kill(pid(), SIGKILL);
    BOOST_TEST(quiet.wait() == 0);
    BOOST_TEST(quiet.errors() == "");
}

BOOST_FIXTURE_TEST_CASE(what_left_the_group_does_not_outlive_the_lease, stray)
{
    program p{run("job", {"--ttl", "2s", "--kill-grace", "300ms"}, command(daemonizing)), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }));
    BOOST_TEST_REQUIRE(alive());
    stop_two();
    BOOST_TEST(p.wait() == 79, p.errors());
    BOOST_TEST(!alive());
    BOOST_TEST(contains(p.errors(), "that had left its group are ended, too: "), p.errors());
    BOOST_TEST(contains(p.errors(), std::to_string(pid()) + " sh"), p.errors());
}

BOOST_FIXTURE_TEST_CASE(what_left_the_group_dies_with_a_stopped_redlock, stray)
{
    program p{run("job", {"--ttl", "1s"}, command(daemonizing)), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }));
    p.send(SIGSTOP);
    BOOST_TEST(eventually([&] { return !alive(); }));
    p.send(SIGCONT);
    BOOST_TEST(p.wait() == 79, p.errors());
}

// Nobody is told by then whose it was, so it must have been noticed before: every tenth of the ttl.
BOOST_FIXTURE_TEST_CASE(what_left_the_group_dies_with_a_killed_redlock, stray)
{
    program p{run("job", {"--ttl", "1s"}, command(daemonizing)), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }));
    std::this_thread::sleep_for(500ms);  // five looks
    p.send(SIGKILL);
    BOOST_TEST(p.wait() == 128 + SIGKILL, p.errors());
    BOOST_TEST(eventually([&] { return !alive(); }));
}

// As of a script that ends with `exec redlock run ...`.
BOOST_AUTO_TEST_CASE(what_was_there_before_the_command_is_left_alone)
{
    std::string const own =
        "sleep 60 & echo $!; exec \"$0\" run --bootstrap own --ttl 2s --kill-grace 200ms -- sh -c 'echo ready; exec sleep 60'";
    program p{run("outer", {"--ttl", "30s"}, {"sh", "-c", own, command_under_test()}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }), p.errors());
    auto const earlier = std::stoi(lines_of(p.output()).at(0));
    set_everywhere("own", "foreign");
    BOOST_TEST(eventually([&] { return contains(p.errors(), "the lease on own is lost"); }), p.errors());
    BOOST_TEST(p.wait() == 79);
    BOOST_TEST(!contains(p.errors(), std::to_string(earlier) + " sleep"), p.errors());
}

BOOST_AUTO_TEST_CASE(a_stopped_command_is_ended_as_well)
{
    program p{run("job", {"--ttl", "1s"}, {"sh", "-c", "echo ready; kill -STOP $$; echo never"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }));
    stop_two();
    BOOST_TEST(p.wait() == 79);
}

BOOST_AUTO_TEST_CASE(a_lost_lease_that_is_noticed_at_the_release_is_told)
{
    program p{run("job", {}, {"sh", "-c", "echo ready; sleep 0.3; exit 0"}), environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "ready"); }));
    set_everywhere("job", "foreign");
    BOOST_TEST(p.wait() == 79);
    BOOST_TEST(contains(p.errors(), "was lost before the command had ended"), p.errors());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
