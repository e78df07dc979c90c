#include "forked.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <system_error>

#include <csignal>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bench {

forked::forked(std::function<void()> const& body) : pid_{0}
{
    pid_t const parent = ::getpid();
    std::cout.flush();
    pid_ = ::fork();
    if (pid_ < 0) throw std::system_error{errno, std::generic_category(), "fork"};
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(EXIT_FAILURE);  // it died before the line above
    try {
        body();
    } catch (std::exception const& e) {
        std::fprintf(stderr, "a forked process failed: %s\n", e.what());
        ::_exit(EXIT_FAILURE);
    } catch (...) {
        std::fprintf(stderr, "a forked process failed\n");
        ::_exit(EXIT_FAILURE);
    }
    ::_exit(EXIT_SUCCESS);  // no destructors: the servers are the parent's
}

forked::~forked()
{
    if (pid_ == 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
}

void forked::join()
{
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    pid_ = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS) throw std::runtime_error{"a forked process failed"};
}

}  // namespace bench
