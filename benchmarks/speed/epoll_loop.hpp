// What the baseline over epoll is made of: sockets that send and recv with MSG_DONTWAIT, a timer, and the loop that runs the callers of baseline.hpp. No
// Asio.
#ifndef REDLOCK_BENCHMARKS_SPEED_EPOLL_LOOP_HPP
#define REDLOCK_BENCHMARKS_SPEED_EPOLL_LOOP_HPP

#include "baseline.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace bench {

[[noreturn]] inline void fail_with_errno(char const* what) { throw std::system_error{errno, std::generic_category(), what}; }

class node_socket {
public:
    explicit node_socket(std::uint16_t port) : fd_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)}, in_(256 * 1024)
    {
        if (fd_ < 0) fail_with_errno("socket");
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(fd_, reinterpret_cast<sockaddr const*>(&to), sizeof to) != 0) fail_with_errno("connect");
        int const on = 1;
        if (::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail_with_errno("setsockopt");
    }
    node_socket(node_socket const&) = delete;
    node_socket& operator=(node_socket const&) = delete;
    ~node_socket() { ::close(fd_); }

    int fd() const noexcept { return fd_; }

    // Returns whether some of it was not sent.
    bool send(std::string_view bytes)
    {
        if (!unsent_.empty()) {
            unsent_.append(bytes);
            return send_unsent();
        }
        std::size_t const sent = send_some(bytes);
        unsent_.assign(bytes.substr(sent));
        return !unsent_.empty();
    }

    bool send_unsent()
    {
        unsent_.erase(0, send_some(unsent_));
        if (unsent_.size() > max_unsent) throw std::runtime_error{"a server does not keep up"};
        return !unsent_.empty();
    }

    void receive(std::size_t node, baseline_callers& callers)
    {
        ssize_t const size = ::recv(fd_, in_.data() + kept_, in_.size() - kept_, MSG_DONTWAIT);
        if (size < 0 && errno == EAGAIN) return;
        if (size < 0) fail_with_errno("recv");
        if (size == 0) throw std::runtime_error{"a server closed the connection"};
        std::size_t const filled = kept_ + static_cast<std::size_t>(size);
        std::size_t const used = callers.hear(node, {in_.data(), filled}, steady::now());
        kept_ = filled - used;
        std::copy_n(in_.begin() + static_cast<std::ptrdiff_t>(used), kept_, in_.begin());
    }

private:
    static constexpr std::size_t max_unsent = 256 * 1024 * 1024;

    std::size_t send_some(std::string_view bytes) const
    {
        ssize_t const size = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno != EAGAIN) fail_with_errno("send");
        return size < 0 ? 0 : static_cast<std::size_t>(size);
    }

    int fd_;
    std::vector<char> in_;
    std::size_t kept_{0};
    std::string unsent_;
};

// A timerfd for callers that rest; Asio has one for its timers, too.
class alarm_clock {
public:
    alarm_clock() : fd_{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)}
    {
        if (fd_ < 0) fail_with_errno("timerfd_create");
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
        if (::timerfd_settime(fd_, TFD_TIMER_ABSTIME, &at, nullptr) != 0) fail_with_errno("timerfd_settime");
    }

    void rang() const
    {
        std::uint64_t times = 0;
        if (::read(fd_, &times, sizeof times) < 0 && errno != EAGAIN) fail_with_errno("read");
    }

private:
    int fd_;
    std::optional<steady::time_point> set_to_;
};

class epoll_loop {
public:
    epoll_loop(workload const& what, meter& figures) : callers_{what, figures}, epoll_{::epoll_create1(EPOLL_CLOEXEC)}
    {
        if (epoll_ < 0) fail_with_errno("epoll_create1");
        for (std::uint16_t const port : what.at) {
            nodes_.emplace_back(port);
            watch(EPOLL_CTL_ADD, nodes_.size() - 1, nodes_.back().fd(), EPOLLIN);
            has_unsent_.push_back(false);
        }
        if (what.rest > 0ns) watch(EPOLL_CTL_ADD, nodes_.size(), alarm_.emplace().fd(), EPOLLIN);
    }
    ~epoll_loop() { ::close(epoll_); }

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
        if (count < 0 && errno != EINTR) fail_with_errno("epoll_wait");
        for (int i = 0; i < count; ++i) {
            auto const& event = ready[static_cast<std::size_t>(i)];
            std::size_t const node = event.data.u32;
            if (node == nodes_.size()) {
                alarm_->rang();
                continue;
            }
            if (event.events & EPOLLOUT) watch_for_room(node, nodes_[node].send_unsent());
            if (event.events & ~std::uint32_t{EPOLLOUT}) nodes_[node].receive(node, callers_);
        }
        if (alarm_) alarm_->set(callers_.wake(steady::now()));
        flush();
        return count > 0;
    }

private:
    void flush()
    {
        if (!callers_.has_outgoing()) return;
        for (std::size_t i = 0; i < nodes_.size(); ++i) watch_for_room(i, nodes_[i].send(callers_.outgoing(i)));
        callers_.sent();
    }

    void watch_for_room(std::size_t node, bool has_unsent)
    {
        if (has_unsent_[node] == has_unsent) return;
        has_unsent_[node] = has_unsent;
        watch(EPOLL_CTL_MOD, node, nodes_[node].fd(), has_unsent ? EPOLLIN | EPOLLOUT : EPOLLIN);
    }

    void watch(int operation, std::size_t index, int fd, std::uint32_t events)
    {
        epoll_event what{};
        what.events = events;
        what.data.u32 = static_cast<std::uint32_t>(index);
        if (::epoll_ctl(epoll_, operation, fd, &what) != 0) fail_with_errno("epoll_ctl");
    }

    baseline_callers callers_;
    int epoll_;
    std::deque<node_socket> nodes_;
    std::vector<bool> has_unsent_;
    std::optional<alarm_clock> alarm_;
};

}  // namespace bench

#endif
