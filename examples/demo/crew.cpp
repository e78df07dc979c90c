#include "crew.hpp"

#include "interrupts.hpp"
#include "worker.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace demo {
namespace {

[[noreturn]] void be_worker(board& shared, std::size_t worker, std::vector<std::string> const& node_urls, pid_t parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(EXIT_FAILURE);  // it died before the line above
    leave_interrupts_to_parent();
    // No destructors: the servers and their folders are the parent's.
    ::_exit(run_worker(shared, worker, node_urls));
}

void wait_for(pid_t pid) noexcept
{
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {}
}

}  // namespace

crew::crew(board& shared, std::vector<std::string> const& node_urls) : board_{shared}
{
    pid_t const parent = ::getpid();
    for (std::size_t worker = 0; worker < worker_count; ++worker) {
        pids_[worker] = ::fork();
        if (pids_[worker] == 0) be_worker(shared, worker, node_urls, parent);
        if (pids_[worker] < 0) {
            std::system_error const error{errno, std::generic_category(), "fork"};
            pids_[worker] = 0;
            end_all();
            throw error;
        }
    }
}

void crew::end_all() noexcept
{
    for (auto& pid : pids_) {
        if (pid == 0) continue;
        ::kill(pid, SIGKILL);
        wait_for(pid);
        pid = 0;
    }
}

std::vector<std::string> crew::find_failed()
{
    std::vector<std::string> failures;
    for (std::size_t worker = 0; worker < worker_count; ++worker) {
        int status = 0;
        if (pids_[worker] == 0 || ::waitpid(pids_[worker], &status, WNOHANG) != pids_[worker]) continue;
        pids_[worker] = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) continue;
        failed_ = true;
        board_.forget(worker);
        std::string how = WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status))
                                              : "failed: " + std::string{board_.workers[worker].last_words.data()};
        failures.push_back(std::string{"worker "} + worker_letter(worker) + " " + how);
    }
    return failures;
}

std::size_t crew::running() const noexcept
{
    return static_cast<std::size_t>(std::count_if(pids_.begin(), pids_.end(), [](pid_t pid) { return pid != 0; }));
}

}  // namespace demo
