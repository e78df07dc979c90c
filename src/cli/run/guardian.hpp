// A child process of `redlock run` that kills the command's process group when redlock itself cannot: because redlock was killed, was stopped, or
// hangs. execute(run_options) forks the guardian before there are threads or connections, and session tells it what to kill and when. The guardian
// shares a page of memory with redlock, and sleeps until the moment in that page.
#ifndef REDLOCK_CLI_RUN_GUARDIAN_HPP
#define REDLOCK_CLI_RUN_GUARDIAN_HPP

#include "cli/run/offspring.hpp"

#include <redlock/clock.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include <sys/types.h>

namespace redlock::cli {

class guardian {
public:
    // Forks the guardian's process. `commands`: finds the command's processes that left its group, while redlock runs. Throws failure when the system
    // has no process, page or pipe left.
    explicit guardian(offspring const& commands);
    guardian(guardian const&) = delete;
    guardian& operator=(guardian const&) = delete;

    // Ends the guardian's process, which kills nothing.
    ~guardian();

    // From now on the guardian kills the group at `kill_at`, or as soon as redlock has ended. Makes only system calls, so that the leader of the group
    // can call it between fork and exec.
    void protect(pid_t group, boot_clock::time_point kill_at) noexcept;

    // Changes `kill_at`. A later moment costs no system call: the guardian wakes up at the earlier one, and finds that there is time left.
    void put_off(boot_clock::time_point kill_at) noexcept;

    // Processes of the command that have left the group, at most 64. The guardian kills them along with the group. It must know them beforehand:
    // after the end of redlock nothing else tells whose processes they were.
    void note(std::vector<process> const& outside) noexcept;

    // Whether it has killed what it was to protect. Precondition: after protect(), before release().
    bool has_killed() const noexcept { return shared_->group.load() == 0; }

    // There is nothing left to kill.
    void release() noexcept;

    // The guardian's process.
    pid_t pid() const noexcept { return pid_; }

private:
    struct stray {
        std::atomic<pid_t> pid{0};  // 0: none
        std::atomic<std::uint64_t> started{0};  // as in `process`
    };
    struct page {
        std::atomic<pid_t> group{0};  // 0: nothing to kill
        std::atomic<std::int64_t> kill_at_ns{0};  // of boot_clock
        std::array<stray, 64> strays{};
    };
    static_assert(std::atomic<pid_t>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

    [[noreturn]] static void watch(page& shared, int from_redlock, offspring const& commands);
    static void kill_group(page& shared, offspring const& commands) noexcept;
    void wake() noexcept;

    page* shared_{nullptr};
    int to_guardian_{-1};
    pid_t pid_{-1};
    std::int64_t last_kill_at_ns_{0};  // the last moment in the page
};

}  // namespace redlock::cli

#endif
