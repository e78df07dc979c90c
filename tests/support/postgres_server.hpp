// A real PostgreSQL server for tests: on a socket of its own, gone with its object.
#ifndef REDLOCK_TESTS_SUPPORT_POSTGRES_SERVER_HPP
#define REDLOCK_TESTS_SUPPORT_POSTGRES_SERVER_HPP

#include "child_process.hpp"
#include "temporary_folder.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace redlock::testing {

/// One server with a new, empty database in a temporary folder of its own. It listens on a Unix socket in that folder and on no network,
/// so it needs no port, and nobody else gets in.
///
/// PostgreSQL refuses to run as root; a test that does starts it as `nobody`. It ends with the thread that started it (see
/// `child_process`), in the way that leaves no shared memory behind.
///
/// Thread safety: none.
class postgres_server {
public:
    /// Makes the database, starts the server and waits until it answers; about a second. Throws `std::runtime_error` with the tail of
    /// the log.
    explicit postgres_server(std::chrono::milliseconds start_timeout = std::chrono::seconds{30});
    postgres_server(postgres_server const&) = delete;
    postgres_server& operator=(postgres_server const&) = delete;
    ~postgres_server();

    /// A connection string of libpq, of a user who may do everything.
    std::string where() const;

    /// -1 after its end.
    pid_t pid() const noexcept { return process_ ? process_->pid() : -1; }

    /// The last lines of what initdb and the server have logged.
    std::string log_tail() const;

private:
    using time_point = std::chrono::steady_clock::time_point;

    void start(std::string const& program, std::vector<std::string> const& arguments);
    void make_database(time_point deadline);
    void launch(time_point deadline);
    [[noreturn]] void fail(std::string const& what) const;
    std::filesystem::path database() const { return folder_.path() / "database"; }
    std::filesystem::path log_file() const { return folder_.path() / "log"; }

    temporary_folder folder_;
    std::vector<std::string> as_user_;      // what setpriv is told to run a program as somebody who is not root
    std::optional<child_process> process_;  // declared after the folder: the process goes first
};

}  // namespace redlock::testing

#endif
