// A process whose only task is to kill a process group when the process that minds it cannot: because it was killed, was stopped, or hangs.
// It is made before there are threads or connections, shares a page of memory with its maker, and sleeps.
#ifndef REDLOCK_CLI_GUARDIAN_HPP
#define REDLOCK_CLI_GUARDIAN_HPP

#include "cli/offspring.hpp"

#include <redlock/clock.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace redlock::cli {

class guardian {
public:
    // `commands`: by which it finds processes that left the group, as long as this process is there. Throws failure when the system has no
    // process, page or pipe left.
    explicit guardian(offspring const& commands);
    guardian(guardian const&) = delete;
    guardian& operator=(guardian const&) = delete;

    // It ends, and kills nothing.
    ~guardian();

    // From now on it kills this group at that moment, or as soon as this process has ended.
    void protect(pid_t group, boot_clock::time_point kill_at) noexcept;

    // Another moment. Moving it away costs nothing: it looks again when it wakes up.
    void put_off(boot_clock::time_point kill_at) noexcept;

    // These have left the group, and die with it; when this process has ended, nothing else tells whose they were. Not more than 64.
    void note(std::vector<process> const& outside) noexcept;

    // The group has gone.
    void release() noexcept;

    pid_t pid() const noexcept { return pid_; }

private:
    struct stray {
        std::atomic<pid_t> pid{0};  // 0: none
        std::atomic<std::uint64_t> started{0};
    };
    struct page {
        std::atomic<pid_t> group{0};
        std::atomic<std::int64_t> kill_at_ns{0};  // of boot_clock
        std::array<stray, 64> strays{};
    };
    static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

    [[noreturn]] static void watch(page& shared, int from_maker, offspring const& commands);
    static void kill_group(page& shared, offspring const& commands) noexcept;
    void wake() noexcept;

    page* shared_{nullptr};
    int to_guardian_{-1};
    pid_t pid_{-1};
    std::int64_t told_ns_{0};
};

}  // namespace redlock::cli

#endif
