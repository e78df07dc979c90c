#include "relay.hpp"

#include "resp_counter.hpp"

#include <array>
#include <cerrno>
#include <list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bench {

namespace {

[[noreturn]] void fail(char const* what) { throw std::system_error{errno, std::generic_category(), what}; }

class descriptor {
public:
    explicit descriptor(int fd, char const* what) : fd_{fd}
    {
        if (fd_ < 0) fail(what);
    }
    descriptor(descriptor&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}
    ~descriptor()
    {
        if (fd_ >= 0) ::close(fd_);
    }
    int get() const noexcept { return fd_; }

private:
    int fd_;
};

sockaddr_in loopback(std::uint16_t port)
{
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

void do_not_delay(int fd)
{
    int const on = 1;
    if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("setsockopt");
}

descriptor connect_to(std::uint16_t port)
{
    descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"};
    auto const at = loopback(port);
    if (::connect(socket.get(), reinterpret_cast<sockaddr const*>(&at), sizeof at) != 0) fail("connect");
    do_not_delay(socket.get());
    return socket;
}

descriptor listen_on_some_port()
{
    descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket"};
    auto const at = loopback(0);
    if (::bind(socket.get(), reinterpret_cast<sockaddr const*>(&at), sizeof at) != 0) fail("bind");
    if (::listen(socket.get(), 16) != 0) fail("listen");
    return socket;
}

std::uint16_t port_of(descriptor const& socket)
{
    sockaddr_in at{};
    socklen_t size = sizeof at;
    if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0) fail("getsockname");
    return ntohs(at.sin_port);
}

void send_all(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        ssize_t const size = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (size < 0 && errno != EINTR) fail("send");
        if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
    }
}

// One connection of the client, and the one to the server that belongs to it.
class passage {
public:
    passage(descriptor client, std::uint16_t server) : client_{std::move(client)}, server_{connect_to(server)}
    {
        do_not_delay(client_.get());
    }

    int client() const noexcept { return client_.get(); }
    int server() const noexcept { return server_.get(); }
    bool over() const noexcept { return over_; }

    // What the client has sent until now. Returns whether that was anything.
    bool ask()
    {
        buffer_.clear();
        bool const any = receive(client_, commands_, MSG_DONTWAIT, buffer_);
        if (any) send_all(server_.get(), buffer_);
        return any;
    }

    // What the server says by itself goes before its answers.
    void fetch(bool wait)
    {
        do {
            receive(server_, answers_, wait && is_waiting() ? 0 : MSG_DONTWAIT, from_server_);
        } while (wait && !over_ && (is_waiting() || !answers_.between_messages()));
    }

    void answer()
    {
        send_all(client_.get(), from_server_);
        from_server_.clear();
    }

private:
    bool is_waiting() const noexcept { return answers_.messages() < commands_.messages(); }

    // Adds all that is there; with no flags, at least one byte.
    bool receive(descriptor const& from, resp_counter& counted, int flags, std::string& to)
    {
        bool any = false;
        for (std::array<char, 64 * 1024> chunk;; flags = MSG_DONTWAIT) {
            ssize_t const size = ::recv(from.get(), chunk.data(), chunk.size(), flags);
            if (size < 0 && errno == EAGAIN) return any;
            if (size < 0 && errno == EINTR) continue;
            if (size <= 0) {
                over_ = true;
                return any;
            }
            std::string_view const piece{chunk.data(), static_cast<std::size_t>(size)};
            counted.take(piece);
            to.append(piece);
            any = true;
        }
    }

    descriptor client_;
    descriptor server_;
    resp_counter commands_;
    resp_counter answers_;
    std::string buffer_;
    std::string from_server_;
    bool over_{false};
};

class relay_process {
public:
    relay_process(std::vector<descriptor> const& doors, ports const& servers, int line) : doors_{doors}, servers_{servers}, line_{line} {}

    void run()
    {
        while (!in_step_) pass_on_what_comes();
        while (wait_for_client()) step();
    }

private:
    void pass_on_what_comes()
    {
        std::vector<pollfd> all{{line_, POLLIN, 0}};
        for (descriptor const& door : doors_) all.push_back({door.get(), POLLIN, 0});
        for (passage const& p : passages_) {
            all.push_back({p.client(), POLLIN, 0});
            all.push_back({p.server(), POLLIN, 0});
        }
        if (::poll(all.data(), all.size(), -1) < 0 && errno != EINTR) fail("poll");
        accept_all();
        for (passage& p : passages_) {
            p.ask();
            p.fetch(false);
            p.answer();
        }
        passages_.remove_if([](passage const& p) { return p.over(); });
        in_step_ = (all.front().revents & (POLLIN | POLLHUP)) != 0;
    }

    // One next() of the client: the servers get what it has sent, and it gets all answers at once, before it may send more.
    void step()
    {
        accept_all();
        for (passage& p : passages_) p.ask();
        for (passage& p : passages_) p.fetch(true);
        for (passage& p : passages_) p.answer();
        passages_.remove_if([](passage const& p) { return p.over(); });
        char const done = 's';
        if (::send(line_, &done, 1, MSG_NOSIGNAL) != 1) fail("send");
    }

    bool wait_for_client() const
    {
        char asked = 0;
        ssize_t const size = ::recv(line_, &asked, 1, 0);
        if (size < 0 && errno != ECONNRESET) fail("recv");
        return size == 1;
    }

    void accept_all()
    {
        for (std::size_t i = 0; i < doors_.size(); ++i) {
            for (;;) {
                int const fd = ::accept4(doors_[i].get(), nullptr, nullptr, SOCK_CLOEXEC);
                if (fd < 0 && (errno == EAGAIN || errno == EINTR)) break;
                passages_.emplace_back(descriptor{fd, "accept"}, servers_[i]);
            }
        }
    }

    std::vector<descriptor> const& doors_;
    ports const& servers_;
    int line_;
    std::list<passage> passages_;
    bool in_step_{false};
};

}  // namespace

void step_line::next() const
{
    char byte = 's';
    if (::send(fd_, &byte, 1, MSG_NOSIGNAL) != 1) fail("the relay is gone: send");
    if (::recv(fd_, &byte, 1, 0) != 1) throw std::runtime_error{"the relay is gone"};
}

// The client's end is not closed by exec(), since the client may be another program, which calls next() too.
relay::relay(bench::ports const& servers)
{
    std::vector<descriptor> doors;
    for (std::size_t i = 0; i < servers.size(); ++i) {
        doors.push_back(listen_on_some_port());
        ports_.push_back(port_of(doors.back()));
    }
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("socketpair");
    line_ = ends[0];
    descriptor const far{ends[1], "socketpair"};
    process_.emplace([&] {
        ::close(line_);
        relay_process{doors, servers, far.get()}.run();
    });
}

relay::~relay() { ::close(line_); }

}  // namespace bench
