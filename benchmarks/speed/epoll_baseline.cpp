// The baseline: raw non-blocking sockets and epoll.
#include "baseline.hpp"

#include <array>
#include <stdexcept>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace bench {

namespace {

[[noreturn]] void fail(char const* what) { throw std::system_error{errno, std::generic_category(), what}; }

class node_socket {
public:
    explicit node_socket(std::uint16_t port) : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}, in_(256 * 1024)
    {
        if (fd_ < 0) fail("socket");
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(fd_, reinterpret_cast<sockaddr const*>(&to), sizeof to) != 0) fail("connect");
        int const on = 1;
        if (::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("setsockopt");
    }
    node_socket(node_socket const&) = delete;
    node_socket& operator=(node_socket const&) = delete;
    ~node_socket() { ::close(fd_); }

    int fd() const noexcept { return fd_; }

    // Returns whether something has to wait.
    bool send(std::string_view bytes)
    {
        if (!late_.empty()) {
            late_.append(bytes);
            return send_late();
        }
        std::size_t const sent = send_some(bytes);
        late_.assign(bytes.substr(sent));
        return !late_.empty();
    }

    bool send_late()
    {
        late_.erase(0, send_some(late_));
        if (late_.size() > late_max) throw std::runtime_error{"a server does not keep up"};
        return !late_.empty();
    }

    void hear(std::size_t node, baseline_callers& callers)
    {
        ssize_t const size = ::recv(fd_, in_.data() + kept_, in_.size() - kept_, MSG_DONTWAIT);
        if (size < 0 && errno == EAGAIN) return;
        if (size < 0) fail("recv");
        if (size == 0) throw std::runtime_error{"a server closed the connection"};
        std::size_t const filled = kept_ + static_cast<std::size_t>(size);
        std::size_t const used = callers.hear(node, {in_.data(), filled}, steady::now());
        kept_ = filled - used;
        std::copy_n(in_.begin() + static_cast<std::ptrdiff_t>(used), kept_, in_.begin());
    }

private:
    static constexpr std::size_t late_max = 256 * 1024 * 1024;

    std::size_t send_some(std::string_view bytes) const
    {
        ssize_t const size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno != EAGAIN) fail("send");
        return size < 0 ? 0 : static_cast<std::size_t>(size);
    }

    int fd_;
    std::vector<char> in_;
    std::size_t kept_{0};
    std::string late_;
};

// For callers who rest; what Asio has for its timers, too.
class alarm_clock {
public:
    alarm_clock() : fd_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)}
    {
        if (fd_ < 0) fail("timerfd_create");
    }
    alarm_clock(alarm_clock const&) = delete;
    alarm_clock& operator=(alarm_clock const&) = delete;
    ~alarm_clock() { ::close(fd_); }

    int fd() const noexcept { return fd_; }

    void set(std::optional<steady::time_point> when)
    {
        if (!when || when == set_to_) return;
        set_to_ = when;
        auto const since_boot = when->time_since_epoch();
        auto const seconds = std::chrono::floor<std::chrono::seconds>(since_boot);
        itimerspec at{};
        at.it_value.tv_sec = seconds.count();
        at.it_value.tv_nsec = std::chrono::nanoseconds{since_boot - seconds}.count();
        if (::timerfd_settime(fd_, TFD_TIMER_ABSTIME, &at, nullptr) != 0) fail("timerfd_settime");
    }

    void rang() const
    {
        std::uint64_t times = 0;
        if (::read(fd_, &times, sizeof times) < 0 && errno != EAGAIN) fail("read");
    }

private:
    int fd_;
    std::optional<steady::time_point> set_to_;
};

class baseline_loop {
public:
    baseline_loop(workload const& what, meter& figures) : callers_{what, figures}, epoll_{::epoll_create1(EPOLL_CLOEXEC)}
    {
        if (epoll_ < 0) fail("epoll_create1");
        for (std::uint16_t const port : what.at) {
            nodes_.emplace_back(port);
            watch(EPOLL_CTL_ADD, nodes_.size() - 1, nodes_.back().fd(), EPOLLIN);
            waits_.push_back(false);
        }
        if (what.rest > 0ns) watch(EPOLL_CTL_ADD, nodes_.size(), alarm_.emplace().fd(), EPOLLIN);
    }
    ~baseline_loop() { ::close(epoll_); }

    void start()
    {
        for (auto const began = steady::now(); !callers_.start(steady::now() - began);) turn(0);
        flush();
    }

    /// Returns whether anything happened.
    bool turn(int patience_ms = 1000)
    {
        std::array<epoll_event, 16> ready;
        int const count = ::epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), patience_ms);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        for (int i = 0; i < count; ++i) {
            auto const& event = ready[static_cast<std::size_t>(i)];
            std::size_t const node = event.data.u32;
            if (node == nodes_.size()) {
                alarm_->rang();
                continue;
            }
            if (event.events & EPOLLOUT) mind(node, nodes_[node].send_late());
            if (event.events & ~std::uint32_t{EPOLLOUT}) nodes_[node].hear(node, callers_);
        }
        if (alarm_) alarm_->set(callers_.wake(steady::now()));
        flush();
        return count > 0;
    }

private:
    void flush()
    {
        if (!callers_.has_outgoing()) return;
        for (std::size_t i = 0; i < nodes_.size(); ++i) mind(i, nodes_[i].send(callers_.outgoing(i)));
        callers_.sent();
    }

    void mind(std::size_t node, bool waits)
    {
        if (waits_[node] == waits) return;
        waits_[node] = waits;
        watch(EPOLL_CTL_MOD, node, nodes_[node].fd(), waits ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }

    void watch(int operation, std::size_t index, int fd, std::uint32_t events)
    {
        epoll_event what{};
        what.events = events;
        what.data.u32 = static_cast<std::uint32_t>(index);
        if (::epoll_ctl(epoll_, operation, fd, &what) != 0) fail("epoll_ctl");
    }

    baseline_callers callers_;
    int epoll_;
    std::deque<node_socket> nodes_;
    std::vector<bool> waits_;
    std::optional<alarm_clock> alarm_;
};

}  // namespace

sample run_epoll_baseline(workload const& what)
{
    meter figures;
    baseline_loop loop{what, figures};
    loop.start();
    if (what.in_step) {
        measure_in_step(what, figures, [&] {
            while (loop.turn(0)) {}
        });
        return figures.end();
    }
    auto const begin = steady::now() + what.warm_up;
    auto const end = begin + what.measured;
    while (steady::now() < begin) loop.turn();
    if (what.at_begin) what.at_begin();
    figures.begin();
    while (steady::now() < end || (figures.has_no_pairs() && steady::now() < end + busy_machine_max)) loop.turn();
    return figures.end();
}

}  // namespace bench
