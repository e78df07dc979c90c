#include "cli/run/service_manager.hpp"

#include "cli/output/text.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace redlock::cli {

namespace {

// A full queue of the listener must not keep the lease from being extended.
constexpr timeval send_timeout{0, 200'000};

}  // namespace

std::string send_to_unix_socket(std::string const& address, std::string const& datagram)
{
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    if (address.empty() || (address.front() != '/' && address.front() != '@'))
        return "it is neither an absolute path nor the name of an abstract socket with '@' before it";
    bool const abstract = address.front() == '@';
    // A path ends with a zero. Of an abstract name each byte counts, and the first one is zero.
    if (address.size() + (abstract ? 0 : 1) > sizeof to.sun_path) return "it is too long for the address of a socket";
    std::memcpy(to.sun_path, address.data(), address.size());
    if (abstract) to.sun_path[0] = '\0';
    auto const size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size() + (abstract ? 0 : 1));

    int const fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return std::strerror(errno);
    ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &send_timeout, sizeof send_timeout);
    auto const sent = ::sendto(fd, datagram.data(), datagram.size(), MSG_NOSIGNAL, reinterpret_cast<sockaddr const*>(&to), size);
    int const why = sent < 0 ? errno : 0;
    ::close(fd);
    if (why == EAGAIN) return "it does not read what it was sent before";
    return why == 0 ? "" : std::strerror(why);
}

service_manager::service_manager(char const* address, bool command_speaks, std::function<void(std::string const&)> failed)
    : address_{address == nullptr ? "" : address}, command_speaks_{command_speaks}, failed_{std::move(failed)}
{
}

void service_manager::status(std::string const& text) { send("STATUS=" + printable(text)); }

void service_manager::ready(std::string const& text) { send((command_speaks_ ? "STATUS=" : "READY=1\nSTATUS=") + printable(text)); }

void service_manager::stopping(std::string const& text)
{
    bool const first = !std::exchange(stopping_, true);
    send((first && !command_speaks_ ? "STOPPING=1\nSTATUS=" : "STATUS=") + printable(text));
}

void service_manager::send(std::string const& assignments)
{
    if (!listens()) return;
    auto const problem = send_to_unix_socket(address_, assignments);
    if (problem.empty() || std::exchange(failure_said_, true)) return;
    failed_(std::string{notify_variable} + "=" + printable(address_) + " cannot be told how this goes: " + problem);
}

}  // namespace redlock::cli
