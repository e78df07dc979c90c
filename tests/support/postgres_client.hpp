// Asks a PostgreSQL server, as one session of its own.
#ifndef REDLOCK_TESTS_SUPPORT_POSTGRES_CLIENT_HPP
#define REDLOCK_TESTS_SUPPORT_POSTGRES_CLIENT_HPP

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

struct pg_conn;

namespace redlock::testing {

/// What a server answered to one statement.
struct postgres_reply {
    std::string sqlstate;                        ///< Of an error: five characters; empty when there was none.
    std::string message;                         ///< Of an error.
    std::size_t affected{0};                     ///< Rows that were changed, or returned.
    std::vector<std::vector<std::string>> rows;  ///< As text; NULL is empty.

    bool is_error() const noexcept { return !sqlstate.empty(); }
};

/// A session. It blocks, and the server ends each of its statements after ten seconds.
class postgres_client {
public:
    /// Connects; `where` is a connection string of libpq. Throws `std::runtime_error`.
    explicit postgres_client(std::string const& where);

    /// Runs one statement with parameters $1, $2, … and waits for its end; an error is a reply. Throws `std::runtime_error` when the
    /// connection fails.
    postgres_reply ask(std::string const& statement, std::vector<std::string> const& parameters = {});

    /// The same; returns the first column of the first row, or "" if there is none. Throws `std::runtime_error` for an error.
    std::string command(std::string const& statement, std::vector<std::string> const& parameters = {});

    /// The two halves of `ask`, for a statement that has to wait for another session.
    void send(std::string const& statement, std::vector<std::string> const& parameters = {});
    postgres_reply receive();

    /// Of the process that serves this session, as in pg_stat_activity.
    std::string server_pid() const;

private:
    struct closer {
        void operator()(pg_conn* connection) const noexcept;
    };

    [[noreturn]] void fail(std::string const& what) const;

    std::unique_ptr<pg_conn, closer> connection_;
};

}  // namespace redlock::testing

#endif
