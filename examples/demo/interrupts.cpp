#include "interrupts.hpp"

#include <csignal>
#include <ctime>

#include <sys/types.h>

namespace demo {
namespace {

sigset_t interrupts() noexcept
{
    sigset_t set;
    ::sigemptyset(&set);
    for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, signal);
    return set;
}

}  // namespace

void hold_interrupts()
{
    auto const set = interrupts();
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGTSTP, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);  // `redlock_demo | head`: the failed write is reported where it happens
}

void leave_interrupts_to_parent()
{
    sigset_t terminate;
    ::sigemptyset(&terminate);
    ::sigaddset(&terminate, SIGTERM);
    ::sigprocmask(SIG_UNBLOCK, &terminate, nullptr);
}

void pause(std::chrono::milliseconds length)
{
    auto const set = interrupts();
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(length);
    timespec time{};
    time.tv_sec = seconds.count();
    time.tv_nsec = std::chrono::nanoseconds{length - seconds}.count();
    if (::sigtimedwait(&set, nullptr, &time) > 0) throw interrupted{};
}

}  // namespace demo
