#include "cli/output/event_stream.hpp"

#include "cli/output/exit_codes.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redlock::cli {

namespace {

// A descriptor for the same file that is closed by exec. Pipes and terminals get one of their own that does not block, where the system permits it:
// O_NONBLOCK on the given one would be seen by everybody who shares it.
int own_descriptor(int given, mode_t mode)
{
    if (S_ISFIFO(mode) || S_ISCHR(mode)) {
        auto const path = "/proc/self/fd/" + std::to_string(given);
        if (int const own = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); own >= 0) return own;
    }
    int const own = ::fcntl(given, F_DUPFD_CLOEXEC, 3);
    if (own < 0) throw failure{exit_code::internal, std::string{"the system gives no descriptor for events: "} + std::strerror(errno)};
    return own;
}

bool is_ready(int descriptor, int timeout_ms)
{
    pollfd p{descriptor, POLLOUT, 0};
    return ::poll(&p, 1, timeout_ms) > 0;
}

}  // namespace

std::string problem_of_descriptor(int descriptor)
{
    int const flags = ::fcntl(descriptor, F_GETFL);
    if (flags < 0) return "it is not open";
    if ((flags & O_ACCMODE) == O_RDONLY) return "it is open for reading only";
    return {};
}

event_stream::event_stream(asio::any_io_executor const& executor, int descriptor, dropped_line dropped, failure_handler failed)
    : descriptor_{executor}, dropped_line_{std::move(dropped)}, failed_{std::move(failed)}
{
    struct stat s{};
    if (::fstat(descriptor, &s) != 0) throw failure{exit_code::internal, std::string{"cannot write events: "} + std::strerror(errno)};
    socket_ = S_ISSOCK(s.st_mode);
    descriptor_.assign(own_descriptor(descriptor, s.st_mode));
    if (descriptor > STDERR_FILENO) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

void event_stream::write(std::string_view line)
{
    if (broken_) return;
    if (kept_.size() + line.size() > max_kept) {
        ++dropped_;
    } else {
        add_dropped();
        kept_ += line;
    }
    push();
}

// What was dropped is told of in the place where it would have been.
void event_stream::add_dropped()
{
    if (dropped_ > 0) kept_ += dropped_line_(std::exchange(dropped_, 0));
}

void event_stream::push()
{
    std::size_t written = 0;
    while (written < kept_.size() && is_ready(descriptor_.native_handle(), 0)) {
        // A pipe that is ready takes so much at once, even if it blocks.
        auto const n = put(std::string_view{kept_}.substr(written, PIPE_BUF));
        if (n > 0) {
            written += static_cast<std::size_t>(n);
        } else if (n == 0 || errno == EAGAIN || errno == EWOULDBLOCK) {
            break;
        } else if (errno != EINTR) {
            broken_ = true;
            kept_.clear();
            return failed_(errno == EPIPE ? "nobody reads it any more" : std::strerror(errno));
        }
    }
    kept_.erase(0, written);
    if (kept_.empty() && dropped_ > 0) {
        add_dropped();
        return push();
    }
    if (!kept_.empty()) await_reader();
}

long event_stream::put(std::string_view bytes) noexcept
{
    int const to = descriptor_.native_handle();
    return socket_ ? ::send(to, bytes.data(), bytes.size(), MSG_DONTWAIT) : ::write(to, bytes.data(), bytes.size());
}

void event_stream::await_reader()
{
    if (awaits_reader_ || stopped_) return;
    awaits_reader_ = true;
    descriptor_.async_wait(asio::posix::stream_descriptor::wait_write,
                           [this, exists = std::weak_ptr{exists_}](boost::system::error_code ec) {
                               if (exists.expired()) return;
                               awaits_reader_ = false;
                               if (!ec && !stopped_) push();
                           });
}

void event_stream::stop_waiting()
{
    stopped_ = true;
    boost::system::error_code ignored;  // there is nothing to cancel then
    descriptor_.cancel(ignored);
}

bool event_stream::drain(std::chrono::milliseconds patience)
{
    auto const end = std::chrono::steady_clock::now() + patience;
    while (!kept_.empty()) {
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        if (left.count() <= 0 || !is_ready(descriptor_.native_handle(), static_cast<int>(left.count()))) return false;
        push();
    }
    return true;
}

}  // namespace redlock::cli
