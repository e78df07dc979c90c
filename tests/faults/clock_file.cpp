#include "clock_file.hpp"

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

namespace redlock::faults {

clock_file::clock_file(std::filesystem::path file) : file_{std::move(file)}
{
    int const fd = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool const sized = fd >= 0 && ::ftruncate(fd, sizeof(clock_state)) == 0;
    void* const at = sized ? ::mmap(nullptr, sizeof(clock_state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    int const error = errno;
    if (fd >= 0) ::close(fd);
    if (at == MAP_FAILED) throw std::system_error{error, std::generic_category(), "cannot map " + file_.string()};
    state_ = new (at) clock_state{};
}

clock_file::~clock_file() { ::munmap(state_, sizeof(clock_state)); }

void clock_file::change(std::chrono::milliseconds step, std::int64_t ppm)
{
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    auto const ns = static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
    std::uint32_t const next = 1 - state_->current;
    state_->lines[next] = {state_->error(ns) + std::chrono::nanoseconds{step}.count(), ppm, ns};
    state_->current.store(next, std::memory_order_release);
}

std::vector<std::string> clock_file::under() const
{
    return {"/usr/bin/env", std::string{"LD_PRELOAD="} + REDLOCK_CLOCK_SHIM, "REDLOCK_CLOCK_FILE=" + file_.string()};
}

}  // namespace redlock::faults
