// redlock run as a service of systemd: what arrives at NOTIFY_SOCKET.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <cstddef>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace redlock::testing {
namespace {

// Listens as systemd does. `address`: as in NOTIFY_SOCKET.
class notify_listener {
public:
    explicit notify_listener(std::string address)
        : address_{std::move(address)}, fd_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)}
    {
        sockaddr_un at{};
        at.sun_family = AF_UNIX;
        std::memcpy(at.sun_path, address_.data(), address_.size());
        if (address_.front() == '@') at.sun_path[0] = '\0';
        auto const size = offsetof(sockaddr_un, sun_path) + address_.size();
        BOOST_TEST_REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&at), static_cast<socklen_t>(size)) == 0);
    }
    ~notify_listener() { ::close(fd_); }

    // All that has arrived, one datagram after the other, with lines between them.
    std::string const& heard()
    {
        char part[4096];
        for (ssize_t n = 0; (n = ::recv(fd_, part, sizeof part, 0)) > 0;)
            heard_ += std::string{part, static_cast<std::size_t>(n)} + "\n--\n";
        return heard_;
    }

    program_options around(servers const& s) const
    {
        auto options = s.environment();
        options.environment.emplace_back("NOTIFY_SOCKET", address_);
        return options;
    }

    std::string const& address() const { return address_; }

    // Until the queue takes no more.
    void fill_queue() const
    {
        int const to = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        sockaddr_un at{};
        socklen_t size = sizeof at;
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
        while (::sendto(to, "x", 1, 0, reinterpret_cast<sockaddr const*>(&at), size) == 1) {}
        ::close(to);
    }

private:
    std::string address_;
    int fd_;
    std::string heard_;
};

arguments const shows_the_variable{"sh", "-c", "echo \"<${NOTIFY_SOCKET-none}>\"; exec sleep 60"};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(run_notify, three_servers)

BOOST_AUTO_TEST_CASE(a_service_is_ready_when_the_lock_is_held)
{
    std::string const abstract = "@redlock-cli-test-" + std::to_string(::getpid());
    for (std::string const& address : {(folder.path() / "notify").string(), abstract}) {
        notify_listener manager{address};
        set_everywhere("job", "foreign");
        program p{run("job", {"--quiet"}, shows_the_variable), manager.around(*this)};
        BOOST_TEST_REQUIRE(eventually([&] { return contains(manager.heard(), "STATUS=waiting for job\n"); }), p.errors());
        BOOST_TEST(!contains(manager.heard(), "READY"), manager.heard());
        for (auto& s : all) s.command({"DEL", "job"});
        BOOST_TEST_REQUIRE(eventually([&] { return contains(manager.heard(), "READY=1\nSTATUS=holds job, token "); }), manager.heard());
        BOOST_TEST(!contains(manager.heard(), "STOPPING"), manager.heard());
        BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), ">"); }));
        BOOST_TEST(p.output() == "<none>\n");
        p.send(SIGTERM);
        BOOST_TEST(p.wait() == 128 + SIGTERM);
        BOOST_TEST(contains(manager.heard(), "STOPPING=1\nSTATUS=the command has ended"), manager.heard());
        BOOST_TEST(p.errors() == "");
    }
}

BOOST_AUTO_TEST_CASE(the_status_says_who_is_waited_for)
{
    notify_listener manager{(folder.path() / "notify").string()};
    set_everywhere("job", "foreign");
    program p{run("job", {"--quiet"}, {"true"}), manager.around(*this)};
    BOOST_TEST(eventually([&] { return contains(manager.heard(), "s: it is held by a value of somebody else's"); }), manager.heard());
    BOOST_TEST(p.errors() == "");
}

// It has one line for systemctl status.
BOOST_AUTO_TEST_CASE(the_status_does_not_list_the_nodes)
{
    notify_listener manager{(folder.path() / "notify").string()};
    all[0].kill();
    all[1].kill();
    program p{run("job", {"--quiet"}, {"true"}), manager.around(*this)};
    BOOST_TEST(eventually([&] { return contains(manager.heard(), "a majority is 2\n--\n"); }), manager.heard());
}

BOOST_AUTO_TEST_CASE(a_service_whose_lease_is_lost_is_stopping)
{
    notify_listener manager{(folder.path() / "notify").string()};
    program p{run("job", {"--ttl", "2s"}, {"sleep", "60"}), manager.around(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(manager.heard(), "READY=1"); }), p.errors());
    all[0].stop();
    all[1].stop();
    BOOST_TEST(p.wait() == 79, p.errors());
    BOOST_TEST(contains(manager.heard(), "STOPPING=1\nSTATUS=the lease on job is lost"), manager.heard());
}

// It would end a service that it does not know to be ready.
BOOST_AUTO_TEST_CASE(a_manager_that_was_busy_hears_that_the_service_is_ready)
{
    notify_listener manager{(folder.path() / "notify").string()};
    manager.fill_queue();
    set_everywhere("job", "foreign");
    program p{run("job", {"--quiet"}, {"sh", "-c", "exit 4"}), manager.around(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.errors(), "it does not read what it was sent before\n"); }), p.errors());
    manager.heard();
    for (auto& s : all) s.command({"DEL", "job"});
    BOOST_TEST(p.wait() == 4, p.errors());
    BOOST_TEST(contains(manager.heard(), "READY=1\nSTATUS=holds job, token "), manager.heard());
    BOOST_TEST(lines_of(p.errors()).size() == 1u, p.errors());
}

BOOST_AUTO_TEST_CASE(a_manager_that_never_reads_holds_nothing_up)
{
    notify_listener manager{(folder.path() / "notify").string()};
    manager.fill_queue();
    program p{run("job", {"--quiet"}, {"sh", "-c", "exit 4"}), manager.around(*this)};
    BOOST_TEST(p.wait() == 4, p.errors());
    BOOST_TEST(lines_of(p.errors()).size() == 1u, p.errors());
}

// Otherwise both would say READY=1, each for something else.
BOOST_AUTO_TEST_CASE(a_command_that_asks_for_it_speaks_for_itself)
{
    notify_listener manager{(folder.path() / "notify").string()};
    program p{run("job", {"--pass-notify"}, shows_the_variable), manager.around(*this)};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), ">"); }), p.errors());
    BOOST_TEST(p.output() == "<" + manager.address() + ">\n");
    p.send(SIGTERM);
    p.wait();
    BOOST_TEST(contains(manager.heard(), "STATUS=holds job"), manager.heard());
    BOOST_TEST(!contains(manager.heard(), "READY"), manager.heard());
    BOOST_TEST(!contains(manager.heard(), "STOPPING"), manager.heard());
}

BOOST_AUTO_TEST_CASE(nothing_is_ready_where_the_command_cannot_be_executed)
{
    notify_listener manager{(folder.path() / "notify").string()};
    program p{run("job", {}, {"no-such-program-at-all"}), manager.around(*this)};
    BOOST_TEST(p.wait() == 127);
    BOOST_TEST(!contains(manager.heard(), "READY"), manager.heard());
}

BOOST_AUTO_TEST_CASE(a_manager_that_cannot_be_told_is_said_once_and_nothing_depends_on_it)
{
    std::pair<std::string, std::string> const bad[] = {{"relative/path", "neither an absolute path nor"},
                                                       {(folder.path() / "nobody").string(), "No such file or directory"},
                                                       {"/" + std::string(200, 'x'), "too long"}};
    for (auto const& [address, why] : bad) {
        auto options = environment();
        options.environment.emplace_back("NOTIFY_SOCKET", address);
        program p{run("job", {"--quiet"}, {"sh", "-c", "exit 4"}), options};
        BOOST_TEST(p.wait() == 4);
        BOOST_TEST(contains(p.errors(), "redlock: NOTIFY_SOCKET="), p.errors());
        BOOST_TEST(contains(p.errors(), why), p.errors());
        BOOST_TEST(lines_of(p.errors()).size() == 1u, p.errors());
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
