// Instructions in user mode, counted by the processor, where the kernel lets a process ask for that (perf_event_open).
#ifndef REDLOCK_TESTS_SUPPORT_INSTRUCTION_COUNTER_HPP
#define REDLOCK_TESTS_SUPPORT_INSTRUCTION_COUNTER_HPP

#include <cstdint>
#include <optional>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace redlock::testing {

#ifdef __linux__

/// Of the thread that made it, between resume() and pause().
class instruction_counter {
public:
    instruction_counter() noexcept
    {
        perf_event_attr what{};
        what.size = sizeof what;
        what.type = PERF_TYPE_HARDWARE;
        what.config = PERF_COUNT_HW_INSTRUCTIONS;
        what.disabled = 1;
        what.pinned = 1;  // all the time, or not at all
        what.exclude_kernel = 1;
        what.exclude_hv = 1;
        fd_ = static_cast<int>(::syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
    }
    instruction_counter(instruction_counter const&) = delete;
    instruction_counter& operator=(instruction_counter const&) = delete;
    ~instruction_counter()
    {
        if (fd_ >= 0) ::close(fd_);
    }

    /// Whether it is permitted, and the processor has such a counter.
    bool counts() const noexcept { return fd_ >= 0; }

    void resume() const noexcept
    {
        if (fd_ >= 0) ::ioctl(fd_, PERF_EVENT_IOC_ENABLE, 0);
    }
    void pause() const noexcept
    {
        if (fd_ >= 0) ::ioctl(fd_, PERF_EVENT_IOC_DISABLE, 0);
    }

    /// Nothing where they were not counted, or not all the time: somebody else has taken the processor's counters.
    std::optional<std::uint64_t> total() const noexcept
    {
        std::uint64_t n{0};
        if (fd_ < 0 || ::read(fd_, &n, sizeof n) != static_cast<ssize_t>(sizeof n)) return std::nullopt;
        return n;
    }

private:
    int fd_;
};

#else

class instruction_counter {
public:
    bool counts() const noexcept { return false; }
    void resume() const noexcept {}
    void pause() const noexcept {}
    std::optional<std::uint64_t> total() const noexcept { return std::nullopt; }
};

#endif

}  // namespace redlock::testing

#endif
