#include "cli/run/guardian.hpp"

#include "cli/output/exit_codes.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <string>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redlock::cli {

namespace {

constexpr int kill_rounds = 50;

[[noreturn]] void give_up(char const* what)
{
    throw failure{exit_code::internal, std::string{"the system gives no "} + what + ": " + std::strerror(errno)};
}

std::int64_t to_ns(boot_clock::time_point t) noexcept { return t.time_since_epoch().count(); }

}  // namespace

guardian::guardian(offspring const& commands)
{
    void* const memory = ::mmap(nullptr, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) give_up("memory");
    shared_ = new (memory) page;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) give_up("pipe");
    pid_ = ::fork();
    if (pid_ < 0) give_up("process");
    if (pid_ == 0) {
        ::close(ends[1]);
        watch(*shared_, ends[0], commands);
    }
    ::close(ends[0]);
    to_guardian_ = ends[1];
}

guardian::~guardian()
{
    release();
    ::close(to_guardian_);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
    ::munmap(shared_, sizeof(page));
}

void guardian::protect(pid_t group, boot_clock::time_point kill_at) noexcept
{
    last_kill_at_ns_ = to_ns(kill_at);
    shared_->kill_at_ns.store(last_kill_at_ns_);
    shared_->group.store(group);
    wake();
}

void guardian::put_off(boot_clock::time_point kill_at) noexcept
{
    auto const ns = to_ns(kill_at);
    shared_->kill_at_ns.store(ns);
    if (ns < last_kill_at_ns_) wake();
    last_kill_at_ns_ = ns;
}

void guardian::note(std::vector<process> const& outside) noexcept
{
    for (std::size_t i = 0; i < shared_->strays.size(); ++i) {
        stray& s = shared_->strays[i];
        s.pid.store(0);  // the guardian may read at any moment, and must not see the new start time with the old pid
        if (i >= outside.size()) continue;
        s.started.store(outside[i].started);
        s.pid.store(outside[i].pid);
    }
}

void guardian::release() noexcept { shared_->group.store(0); }

void guardian::wake() noexcept
{
    ssize_t n = 0;
    do {
        n = ::write(to_guardian_, "", 1);
    } while (n < 0 && errno == EINTR);
}

void guardian::kill_group(page& shared, offspring const& commands) noexcept
{
    pid_t const group = shared.group.exchange(0);
    if (group <= 0) return;
    ::kill(-group, SIGKILL);
    // A process may have started another one just before its death, so look again until there is none.
    for (int round = 0; round < kill_rounds; ++round) {
        auto outside = commands.outside(group, ::getpid());
        for (stray const& s : shared.strays) {
            pid_t const pid = s.pid.load();
            if (pid <= 0 || !is_running(pid, s.started.load())) continue;
            auto const below = descendants_of(pid, {});
            outside.push_back({pid, 0, s.started.load(), {}});
            outside.insert(outside.end(), below.begin(), below.end());
        }
        if (outside.empty()) return;
        for (process const& p : outside) kill_process(p.pid, p.started, SIGKILL);
        ::poll(nullptr, 0, 10);
    }
}

// The guardian's process. Signals from redlock's terminal, session or shell must not reach it, and it must keep none of redlock's files open. A fork
// does not copy other threads, so a mutex that one of them holds would never be unlocked here: this function calls nothing that could wait for one.
void guardian::watch(page& shared, int from_redlock, offspring const& commands)
{
    ::setsid();
    for (int const s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGTSTP, SIGALRM}) ::signal(s, SIG_IGN);
    ::prctl(PR_SET_NAME, "redlock-guard");
    ::dup2(from_redlock, 0);
    ::close_range(1, ~0U, 0);
    int const timer = ::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);

    for (;;) {
        itimerspec when{};
        auto const kill_at = shared.kill_at_ns.load();
        if (shared.group.load() > 0) {
            if (boot_clock::now().time_since_epoch().count() >= kill_at) kill_group(shared, commands);
            when.it_value.tv_sec = static_cast<std::time_t>(kill_at / 1'000'000'000);
            when.it_value.tv_nsec = static_cast<long>(kill_at % 1'000'000'000) | 1;  // zero would mean never
        }
        ::timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, nullptr);

        pollfd events[] = {{0, POLLIN, 0}, {timer, POLLIN, 0}};
        if (::poll(events, 2, -1) < 0) continue;
        char news[64];
        if (events[0].revents != 0 && ::read(0, news, sizeof news) == 0) break;  // redlock has ended, or destroys its guardian
        std::uint64_t expirations = 0;
        if (events[1].revents != 0 && ::read(timer, &expirations, sizeof expirations) < 0) continue;
    }
    kill_group(shared, commands);
    ::_exit(0);
}

}  // namespace redlock::cli
