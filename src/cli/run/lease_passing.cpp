#include "cli/run/lease_passing.hpp"

#include "cli/output/exit_codes.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/system/error_code.hpp>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace redlock::cli {

namespace {

constexpr std::string_view request_line = "ticket\n", other_request = "error: the only request is: ticket\n";
constexpr std::size_t max_request = 256;

std::string option(int descriptor) { return "--pass-lease " + std::to_string(descriptor); }

}  // namespace

lease_passing::lease_passing(int descriptor) : descriptor_{descriptor}
{
    if (::fcntl(descriptor, F_GETFD) >= 0)
        throw failure{exit_code::usage, option(descriptor) + ": this descriptor is open already, as the command's; choose another number"};
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        throw failure{exit_code::internal, std::string{"the system gives no sockets: "} + std::strerror(errno)};
    ours_ = ends[0];
    if (ours_ == descriptor) {
        ours_ = ::fcntl(ends[0], F_DUPFD_CLOEXEC, descriptor + 1);
        ::close(ends[0]);
    }
    if (ends[1] == descriptor) return;
    bool const placed = ours_ >= 0 && ::dup3(ends[1], descriptor, O_CLOEXEC) >= 0;
    int const why = errno;
    ::close(ends[1]);
    if (placed) return;
    ::close(ours_);
    throw failure{exit_code::usage, option(descriptor) + ": " + std::strerror(why) + "; choose a smaller number"};
}

lease_passing::~lease_passing()
{
    if (ours_ >= 0) ::close(ours_);
    if (descriptor_ >= 0) ::close(descriptor_);
}

void lease_passing::begin(asio::io_context& io, std::function<void()> asked)
{
    asked_ = std::move(asked);
    ::close(std::exchange(descriptor_, -1));
    socket_.emplace(io, asio::local::stream_protocol{}, std::exchange(ours_, -1));
    read();
}

void lease_passing::read()
{
    asio::async_read_until(*socket_, asio::dynamic_buffer(request_, max_request), '\n',
                           [this](boost::system::error_code ec, std::size_t bytes) {
                               if (ec == asio::error::operation_aborted) return;  // by end(), perhaps that of the destructor
                               if (ec) return end();
                               take(bytes);
                           });
}

void lease_passing::take(std::size_t bytes)
{
    bool const known = std::string_view{request_}.substr(0, bytes) == request_line;
    request_.erase(0, bytes);
    if (known) return asked_();
    boost::system::error_code ec;
    socket_->send(asio::buffer(other_request), MSG_NOSIGNAL | MSG_DONTWAIT, ec);
    if (ec) return end();
    read();
}

bool lease_passing::is_open()
{
    if (!socket_) return false;
    char next{};
    ssize_t const n = ::recv(socket_->native_handle(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
    return n != 0;
}

bool lease_passing::answer(std::string const& ticket)
{
    auto const line = ticket + '\n';
    boost::system::error_code ec;
    auto const sent = socket_->send(asio::buffer(line), MSG_NOSIGNAL | MSG_DONTWAIT, ec);
    end();
    return !ec && sent == line.size();
}

void lease_passing::end() noexcept { socket_.reset(); }

}  // namespace redlock::cli
