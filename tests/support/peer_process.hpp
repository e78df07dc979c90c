// A child process that is spoken to in lines, from coroutines: it answers each with one of its own.
#ifndef REDLOCK_TESTS_SUPPORT_PEER_PROCESS_HPP
#define REDLOCK_TESTS_SUPPORT_PEER_PROCESS_HPP

#include "support/child_process.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

namespace redlock::testing {

namespace asio = boost::asio;

class peer_process {
public:
    using time_point = std::chrono::steady_clock::time_point;

    /// "held 1234": a word, and a moment by CLOCK_MONOTONIC, which is one clock for all processes of a machine.
    struct answer {
        std::string word;
        time_point at;
    };

    /// Starts it; its errors are appended to `log`. Throws `std::system_error`.
    peer_process(asio::any_io_executor executor, std::filesystem::path const& program, std::vector<std::string> const& arguments,
                 std::filesystem::path const& log)
        : peer_process{make_pair(), std::move(executor), program, arguments, log}
    {
    }

    /// Its next line. Throws `boost::system::system_error` when it ends, or says nothing for 20 seconds.
    asio::awaitable<answer> hear()
    {
        auto reading = asio::async_read_until(socket_, asio::dynamic_buffer(heard_), '\n',
                                              asio::cancel_after(std::chrono::seconds{20}, asio::use_awaitable));
        std::size_t const size = co_await std::move(reading);
        std::istringstream line{heard_.substr(0, size)};
        heard_.erase(0, size);
        answer said;
        std::int64_t ns = 0;
        line >> said.word >> ns;
        said.at = time_point{std::chrono::nanoseconds{ns}};
        co_return said;
    }

    /// Says a line and waits for the answer.
    asio::awaitable<answer> ask(std::string line)
    {
        line += '\n';
        auto writing = asio::async_write(socket_, asio::buffer(line), asio::use_awaitable);
        co_await std::move(writing);
        auto hearing = hear();
        answer said = co_await std::move(hearing);
        co_return said;
    }

    /// SIGKILL.
    void kill() noexcept { process_.kill(); }

private:
    struct pair {
        int ours;
        int theirs;
    };

    static pair make_pair()
    {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            throw std::system_error{errno, std::generic_category(), "socketpair"};
        return {ends[0], ends[1]};
    }

    peer_process(pair ends, asio::any_io_executor executor, std::filesystem::path const& program, std::vector<std::string> const& arguments,
                 std::filesystem::path const& log)
        : socket_{std::move(executor), asio::local::stream_protocol{}, ends.ours}, process_{program, arguments, log, ends.theirs}
    {
        ::close(ends.theirs);
    }

    asio::local::stream_protocol::socket socket_;
    child_process process_;
    std::string heard_;
};

}  // namespace redlock::testing

#endif
