// What redlock run uses to tell others how it gets on: names of signals, the stream of events, the socket of systemd.
#include "cli/output/event_stream.hpp"
#include "cli/output/signal_names.hpp"
#include "cli/run/run_events.hpp"
#include "cli/run/service_manager.hpp"
#include "cli/run/split_votes.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace redlock::cli {
namespace {

using namespace std::chrono_literals;

struct stream_to_pipe {
    explicit stream_to_pipe(bool with_socket = false)
    {
        BOOST_TEST_REQUIRE((with_socket ? ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : ::pipe(ends)) == 0);
        ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
        stream.emplace(
            io.get_executor(), ends[1], [](std::uint64_t lines) { return "dropped " + std::to_string(lines) + '\n'; },
            [this](std::string const& why) { problems.push_back(why); });
    }
    ~stream_to_pipe()
    {
        close_reader();
        ::close(ends[1]);
    }

    void close_reader()
    {
        if (ends[0] >= 0) ::close(ends[0]);
        ends[0] = -1;
    }

    // All that there is to read now.
    std::string read() const
    {
        std::string text;
        char part[8192];
        for (ssize_t n = 0; (n = ::read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
        return text;
    }

    // All that comes while the reader reads.
    std::string read_to_end()
    {
        std::string text;
        for (std::string part; io.restart(), io.poll(), !(part = read()).empty();) text += part;
        return text;
    }

    int ends[2]{-1, -1};
    asio::io_context io;
    std::optional<event_stream> stream;
    std::vector<std::string> problems;
};

std::string const line(1'000, 'x');

}  // namespace

BOOST_AUTO_TEST_SUITE(run_parts)

BOOST_AUTO_TEST_CASE(signals_have_names_and_numbers)
{
    for (char const* text : {"TERM", "SIGTERM", "term", "sigTerm", "15"}) BOOST_TEST((signal_of(text) == SIGTERM), text);
    BOOST_TEST((signal_of("KILL") == SIGKILL));
    BOOST_TEST((signal_of("RTMIN") == SIGRTMIN));
    BOOST_TEST((signal_of("SIGRTMIN+2") == SIGRTMIN + 2));
    BOOST_TEST((signal_of("RTMAX-1") == SIGRTMAX - 1));
    for (char const* bad : {"", "SIG", "NONSENSE", "0", "-1", "65", "32", "15x", "TERM ", "RTMIN+99", "RTMIN-1", "RTMIN+", "RTMAX+1"})
        BOOST_TEST(!signal_of(bad).has_value(), bad);
    BOOST_TEST(name_of_signal(SIGUSR1) == "SIGUSR1");
    BOOST_TEST(name_of_signal(SIGRTMIN + 1) == "SIGRTMIN+1");
    BOOST_TEST(name_of_signal(99) == "signal 99");
}

BOOST_AUTO_TEST_CASE(descriptors_that_nobody_can_write_to)
{
    BOOST_TEST(problem_of_descriptor(4711) == "it is not open");
    int const in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    int const out = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    BOOST_TEST(problem_of_descriptor(in) == "it is open for reading only");
    int const place = ::open("/dev/null", O_PATH | O_CLOEXEC);
    BOOST_TEST(problem_of_descriptor(out) == "");
    BOOST_TEST(problem_of_descriptor(place) == "it is open for reading only");
    for (int const fd : {in, out, place}) ::close(fd);
}

BOOST_AUTO_TEST_CASE(a_full_device_is_told_once)
{
    int const full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    BOOST_TEST_REQUIRE(full >= 0);
    asio::io_context io;
    std::vector<std::string> problems;
    event_stream stream{io.get_executor(), full, [](std::uint64_t) { return std::string{}; },
                        [&](std::string const& why) { problems.push_back(why); }};
    stream.write("one\n");
    stream.write("two\n");
    BOOST_TEST(problems == std::vector<std::string>{"No space left on device"}, boost::test_tools::per_element());
    ::close(full);
}

BOOST_AUTO_TEST_CASE(lines_arrive_and_programs_do_not_inherit_the_descriptor)
{
    for (bool const with_socket : {false, true}) {
        stream_to_pipe to{with_socket};
        to.stream->write("one\n");
        to.stream->write("two\n");
        BOOST_TEST(to.read() == "one\ntwo\n");
        BOOST_TEST((::fcntl(to.ends[1], F_GETFD) & FD_CLOEXEC) != 0);
        BOOST_TEST((::fcntl(to.ends[1], F_GETFL) & O_NONBLOCK) == 0, "others share it");
    }
}

BOOST_AUTO_TEST_CASE(what_a_slow_reader_has_not_read_is_kept_and_then_dropped_and_counted)
{
    for (bool const with_socket : {false, true}) {
        stream_to_pipe to{with_socket};
        std::size_t const lines = 1'000;  // more than a pipe or a socket takes, and the stream keeps
        for (std::size_t i = 0; i < lines; ++i) to.stream->write(line + '\n');
        auto text = to.read_to_end();
        auto const at = text.find("dropped ");
        BOOST_TEST_REQUIRE(at != std::string::npos);
        auto const dropped = std::stoul(text.substr(at + 8));
        BOOST_TEST(dropped > 0u);
        BOOST_TEST(text.size() == (lines - dropped) * (line.size() + 1) + 8 + std::to_string(dropped).size() + 1);
        to.stream->write("again\n");
        BOOST_TEST(to.read() == "again\n");
        BOOST_TEST(to.problems.empty());
    }
}

// Gaps, each where the lines are missing: the second begins while lines from before the first have not been read.
BOOST_AUTO_TEST_CASE(dropped_lines_are_told_of_in_their_place)
{
    stream_to_pipe to;
    std::size_t next = 0;
    auto const write_many = [&] {
        for (int i = 0; i < 1'000; ++i) to.stream->write(std::to_string(next++) + ' ' + line + '\n');
    };
    write_many();
    auto text = to.read();
    to.io.poll();
    write_many();
    text += to.read_to_end();

    std::size_t expected = 0, gaps = 0;
    std::istringstream lines{text};
    for (std::string said; std::getline(lines, said);) {
        std::istringstream words{said};
        std::string first;
        std::size_t dropped = 0;
        words >> first;
        if (first == "dropped") {
            words >> dropped;
            BOOST_TEST(dropped > 0u);
            expected += dropped;
            ++gaps;
        } else {
            BOOST_TEST(first == std::to_string(expected++));
        }
    }
    BOOST_TEST(gaps == 2u);
    BOOST_TEST(expected == next);
}

// A terminal that is stopped (Ctrl-S) takes a part of what it says to be ready for, and a write that blocks waits with the rest.
BOOST_AUTO_TEST_CASE(a_terminal_that_nobody_reads_holds_nothing_up, *boost::unit_test::timeout(20))
{
    int const reader = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    BOOST_TEST_REQUIRE((reader >= 0 && ::grantpt(reader) == 0 && ::unlockpt(reader) == 0));
    int const to = ::open(::ptsname(reader), O_RDWR | O_NOCTTY | O_CLOEXEC);
    BOOST_TEST_REQUIRE(to >= 0);
    asio::io_context io;
    std::vector<std::string> problems;
    event_stream stream{io.get_executor(), to, [](std::uint64_t) { return std::string{}; },
                        [&](std::string const& why) { problems.push_back(why); }};
    for (int i = 0; i < 100; ++i) stream.write(line + '\n');
    BOOST_TEST(problems.empty());
    char part[100];
    BOOST_TEST(::read(reader, part, sizeof part) > 0);
    ::close(to);
    ::close(reader);
}

boost::test_tools::assertion_result runs_as_root(boost::unit_test::test_unit_id) { return ::geteuid() == 0; }

// It cannot be opened anew, so the stream writes to the descriptor that others share, and that blocks.
BOOST_AUTO_TEST_CASE(a_pipe_of_another_user_holds_nothing_up, *boost::unit_test::timeout(20) * boost::unit_test::precondition(runs_as_root))
{
    constexpr uid_t nobody = 65'534;
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    asio::io_context io;
    std::vector<std::string> problems;
    std::optional<event_stream> stream;
    ::setfsuid(nobody);
    stream.emplace(
        io.get_executor(), ends[1], [](std::uint64_t) { return std::string{}; }, [&](std::string const& why) { problems.push_back(why); });
    ::setfsuid(::geteuid());
    for (int i = 0; i < 100; ++i) stream->write(std::string(3 * PIPE_BUF, 'x'));
    BOOST_TEST(problems.empty());
    char part[100];
    BOOST_TEST(::read(ends[0], part, sizeof part) > 0);
    for (int const fd : ends) ::close(fd);
}

BOOST_AUTO_TEST_CASE(nothing_is_waited_for_after_that_was_asked_for, *boost::unit_test::timeout(20))
{
    stream_to_pipe to;
    for (int i = 0; i < 100; ++i) to.stream->write(line + '\n');
    to.stream->stop_waiting();
    to.stream->write("last\n");
    to.io.run();  // returns, although nobody reads
    to.stream->write("one more\n");
    to.io.restart();
    to.io.run();
    to.stream->drain(1ms);
    auto text = to.read();
    to.stream->drain(1s);
    text += to.read();
    BOOST_TEST(text.size() == 100 * (line.size() + 1) + 5 + 9);
    BOOST_TEST(text.ends_with("last\none more\n"));
}

// What a client has to tell waits in a queue of the executor. What happens behind it must not be told before.
BOOST_AUTO_TEST_CASE(own_events_are_in_order_with_those_of_the_client)
{
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    asio::io_context io;
    run_events events{io, ends[1], "job", [](std::string const& why) { BOOST_ERROR(why); }};
    asio::post(io, [told = events.client_observer()] { told->on(event::acquired{.lock = "job"}); });
    events.command_started(7, 4711);
    io.run();
    char text[4096];
    auto const size = ::read(ends[0], text, sizeof text);
    BOOST_TEST_REQUIRE(size > 0);
    std::string const said(text, static_cast<std::size_t>(size));
    BOOST_TEST(said.find("\"acquired\"") < said.find("\"command_started\""), said);
    for (int const fd : ends) ::close(fd);
}

// The reader begins when the pipe has been full for long, and the end has not been written yet.
BOOST_AUTO_TEST_CASE(the_last_event_waits_for_a_reader_that_reads)
{
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    std::string text;
    std::thread reader;
    {
        asio::io_context io;
        run_events events{io, ends[1], std::string(1'000, 'x'), [](std::string const& why) { BOOST_ERROR(why); }};
        for (int i = 0; i < 200; ++i) events.command_started(7, 4711);
        events.end_soon();
        io.run();
        reader = std::thread{[&] {
            char part[1024];
            for (ssize_t n = 0; (n = ::read(ends[0], part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
        }};
        events.ended(0, run_outcome::completed);
    }
    ::close(ends[1]);
    reader.join();
    BOOST_TEST(std::count(text.begin(), text.end(), '\n') == 201);
    BOOST_TEST(text.find("\"ended\"") != std::string::npos);
    ::close(ends[0]);
}

BOOST_AUTO_TEST_CASE(a_reader_that_has_gone_is_told_once)
{
    ::signal(SIGPIPE, SIG_IGN);
    for (bool const with_socket : {false, true}) {
        stream_to_pipe to{with_socket};
        to.close_reader();
        to.stream->write("one\n");
        to.stream->write("two\n");
        BOOST_TEST(to.problems == std::vector<std::string>{"nobody reads it any more"}, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(sockets_of_service_managers)
{
    BOOST_TEST(send_to_unix_socket("relative", "x").starts_with("it is neither an absolute path nor"));
    BOOST_TEST(send_to_unix_socket("vsock:2:1234", "x").starts_with("it is neither an absolute path nor"));
    BOOST_TEST(send_to_unix_socket("/" + std::string(107, 'x'), "x") == "it is too long for the address of a socket");
    BOOST_TEST(send_to_unix_socket("/no/such/socket", "x") == "No such file or directory");
    BOOST_TEST(send_to_unix_socket("@" + std::string(107, 'x'), "x") == "Connection refused");

    std::vector<std::string> problems;
    service_manager nobody{nullptr, false, [&](std::string const& why) { problems.push_back(why); }};
    nobody.ready("x");
    BOOST_TEST(!nobody.listens());
    BOOST_TEST(problems.empty());
    service_manager gone{"/no/such/socket", false, [&](std::string const& why) { problems.push_back(why); }};
    gone.status("x");
    gone.ready("x");
    BOOST_TEST(problems.size() == 1u);
}

// A line of its own would be an assignment of its own.
BOOST_AUTO_TEST_CASE(a_status_is_one_line_and_the_end_is_told_once)
{
    std::string const address = "@redlock-cli-parts-" + std::to_string(::getpid());
    int const listener = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    std::copy(address.begin() + 1, address.end(), at.sun_path + 1);
    auto const size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
    BOOST_TEST_REQUIRE(::bind(listener, reinterpret_cast<sockaddr const*>(&at), size) == 0);
    auto const heard = [&] {
        char part[256];
        auto const n = ::recv(listener, part, sizeof part, 0);
        return std::string(part, n > 0 ? static_cast<std::size_t>(n) : 0);
    };
    service_manager manager{address.c_str(), false, [](std::string const& why) { BOOST_TEST(why == ""); }};
    manager.status("a\nREADY=1");
    BOOST_TEST(heard() == "STATUS=a\\x0aREADY=1");
    manager.stopping("b");
    BOOST_TEST(heard() == "STOPPING=1\nSTATUS=b");
    manager.stopping("c");
    BOOST_TEST(heard() == "STATUS=c");
    ::close(listener);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(votes_that_are_split)

BOOST_AUTO_TEST_CASE(some_granted_and_some_refused)
{
    auto const of = [](std::initializer_list<vote> votes) {
        attempt_report r;
        for (vote const v : votes) {
            r.nodes.emplace_back();
            r.nodes.back().vote = v;
        }
        return may_be_split(r);
    };
    BOOST_TEST(of({vote::granted, vote::refused, vote::refused}));
    BOOST_TEST(of({vote::pending, vote::refused, vote::refused}));
    BOOST_TEST(of({vote::granted, vote::refused, vote::failed}));
    BOOST_TEST(!of({vote::refused, vote::refused, vote::refused}));
    BOOST_TEST(!of({vote::refused, vote::refused, vote::failed}));
    BOOST_TEST(!of({vote::granted, vote::failed, vote::failed}));
    BOOST_TEST(!of({}));
}

BOOST_AUTO_TEST_CASE(attempts_end)
{
    std::minstd_rand random{1};
    split_votes split;
    for (int i = 0; i < 4; ++i) {
        auto const pause = split.next_pause(random);
        BOOST_TEST_REQUIRE(pause.has_value());
        BOOST_TEST((*pause >= 5ms && *pause <= 200ms));
    }
    BOOST_TEST(!split.next_pause(random));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::cli
