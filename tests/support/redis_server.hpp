// A real redis-server for tests and the demo: started on loopback, gone with its object.
#ifndef REDLOCK_TESTS_SUPPORT_REDIS_SERVER_HPP
#define REDLOCK_TESTS_SUPPORT_REDIS_SERVER_HPP

#include "child_process.hpp"
#include "loopback.hpp"
#include "resp_client.hpp"
#include "temporary_folder.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace redlock::testing {

/// What the environment variable REDLOCK_TEST_SERVER names; without it `redis-server`.
std::string default_server();

struct redis_server_options {
    std::string binary{default_server()};     ///< A name in PATH, or a path. `valkey-server` works as well.
    std::vector<std::string> under{};         ///< What executes it: {"/usr/bin/env", "LD_PRELOAD=/a/library.so"}.
    std::vector<std::string> arguments{};     ///< Put behind our own, so they win: {"--maxmemory", "1mb"}.
    std::string requirepass{};                ///< The password of user "default"; empty: none is wanted.
    bool ipv6{false};                         ///< Listens on ::1 instead of 127.0.0.1.
    std::string address{};                    ///< Not empty: listens there instead, as in "10.97.0.1", in another network namespace.
    bool appendonly{false};                   ///< Keeps its data over `kill()` and `restart()`. Off: it forgets everything.
    std::chrono::milliseconds start_timeout{10'000};  ///< From its start to its first answer.
    std::vector<std::string> tls{};           ///< Not empty: listens with TLS as well, with these arguments: {"--tls-cert-file", …}.
    bool sentinel{false};                     ///< A Sentinel, which watches nothing yet.
};

/// One server in a temporary folder of its own, on a free loopback port, without persistence unless it is asked for.
///
/// It dies with the thread that started it (see `child_process`), so nothing is left behind even by a test that crashes. Not
/// movable: `std::deque` and `std::vector<redis_server>(5)` hold several.
///
/// Thread safety: none.
class redis_server {
public:
    /// Starts it and waits until it answers. Throws `std::runtime_error` with the tail of the server's log.
    explicit redis_server(redis_server_options options = {});
    redis_server(redis_server const&) = delete;
    redis_server& operator=(redis_server const&) = delete;

    std::uint16_t port() const noexcept { return port_; }
    std::string host() const { return !options_.address.empty() ? options_.address : options_.ipv6 ? "::1" : "127.0.0.1"; }

    /// `redis://[default:password@]host:port`, as `config::from_urls` takes it.
    std::string url() const;

    /// The port with TLS; 0: there is none.
    std::uint16_t tls_port() const noexcept { return tls_port_; }

    /// -1 after `kill()`.
    pid_t pid() const noexcept { return process_ ? process_->pid() : -1; }

    /// Whether it has not ended, by itself or otherwise.
    bool running() noexcept { return process_ && process_->running(); }
    std::filesystem::path const& folder() const noexcept { return folder_.path(); }

    /// SIGKILL; returns when it is gone. The port and the folder stay ours.
    void kill() noexcept;

    /// `kill()`, then a start on the same port and in the same folder. Throws like the constructor.
    void restart();

    /// SIGSTOP: connections stay open and are still accepted by the kernel, but nobody answers.
    void stop() { process().stop(); }

    /// SIGCONT.
    void resume() { process().resume(); }

    /// Sends one command on a connection of its own and waits for the reply; an error reply is a reply. Throws
    /// `std::system_error` when there is none within `timeout`.
    resp_reply ask(std::vector<std::string> const& words, std::chrono::milliseconds timeout = std::chrono::seconds{5}) const;

    /// The same as text: digits, "(nil)", an array's items one a line. Throws `std::runtime_error` for an error reply.
    std::string command(std::vector<std::string> const& words, std::chrono::milliseconds timeout = std::chrono::seconds{5}) const;

    /// The last lines of what the server has logged.
    std::string log_tail() const;

private:
    enum class outcome : std::uint8_t { answers, port_taken };

    child_process& process();
    std::vector<std::string> arguments() const;
    outcome launch();
    bool answers() const;
    [[noreturn]] void fail(std::string const& what) const;
    std::filesystem::path log_file() const { return folder_.path() / "log"; }

    redis_server_options options_;
    std::filesystem::path program_;
    temporary_folder folder_;
    std::uint16_t port_{0};
    std::uint16_t tls_port_{0};
    std::optional<child_process> process_;  // declared after the folder: the process goes first
};

}  // namespace redlock::testing

#endif
