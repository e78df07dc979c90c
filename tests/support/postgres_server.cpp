#include "postgres_server.hpp"

#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include <libpq-fe.h>
#include <poll.h>
#include <pwd.h>
#include <unistd.h>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

constexpr int pause_ms = 5;
constexpr auto patience = 10s;
constexpr char const* unprivileged_user = "nobody";
constexpr char const* database_user = "redlock";

}  // namespace

// setpriv asks for SIGQUIT when the parent dies, since a change of user clears what child_process asked for. It is an immediate
// shutdown; SIGKILL would leave the server's shared memory behind.
postgres_server::postgres_server(std::chrono::milliseconds start_timeout) : folder_{"redlock-postgres-"}, as_user_{"--pdeathsig", "QUIT"}
{
    if (::geteuid() == 0) {
        passwd const* const user = ::getpwnam(unprivileged_user);
        if (user == nullptr) fail(std::string{"there is no user "} + unprivileged_user);
        as_user_.insert(as_user_.end(),
                        {"--reuid", std::to_string(user->pw_uid), "--regid", std::to_string(user->pw_gid), "--clear-groups"});
        if (::chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0)
            throw std::system_error{errno, std::generic_category(), "chown"};
    }
    auto const deadline = std::chrono::steady_clock::now() + start_timeout;
    make_database(deadline);
    launch(deadline);
}

postgres_server::~postgres_server()
{
    if (process_) process_->end(SIGQUIT, patience);
}

std::string postgres_server::where() const { return "host=" + folder_.path().string() + " user=" + database_user + " dbname=postgres"; }

std::string postgres_server::log_tail() const
{
    constexpr std::size_t max_bytes = 2'000;
    std::ifstream file{log_file()};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (text.size() > max_bytes) {
        text.erase(0, text.size() - max_bytes);
        text.erase(0, text.find('\n') + 1);
    }
    return text;
}

void postgres_server::start(std::string const& program, std::vector<std::string> const& arguments)
{
    auto words = as_user_;
    words.push_back(find_program(REDLOCK_POSTGRES_PROGRAMS "/" + program).string());
    words.insert(words.end(), arguments.begin(), arguments.end());
    process_.emplace(find_program("setpriv"), words, log_file());
}

void postgres_server::make_database(time_point deadline)
{
    start("initdb", {"--pgdata", database().string(), "--username", database_user, "--auth", "trust", "--encoding", "UTF8", "--no-locale",
                     "--no-sync", "--no-instructions"});
    while (process_->running()) {
        if (std::chrono::steady_clock::now() >= deadline) fail("initdb did not end in time");
        ::poll(nullptr, 0, pause_ms);
    }
    if (!std::filesystem::exists(database() / "PG_VERSION")) fail("initdb failed");  // it removes what it has begun
}

void postgres_server::launch(time_point deadline)
{
    start("postgres", {"-D", database().string(), "-k", folder_.path().string(), "-c", "listen_addresses=", "-c", "fsync=off", "-c",
                       "shared_buffers=8MB", "-c", "max_connections=20", "-c", "autovacuum=off"});
    while (PQping(where().c_str()) != PQPING_OK) {
        if (!process_->running()) fail("it ended at once");
        if (std::chrono::steady_clock::now() >= deadline) fail("it did not answer in time");
        ::poll(nullptr, 0, pause_ms);
    }
}

void postgres_server::fail(std::string const& what) const
{
    throw std::runtime_error{"PostgreSQL could not be started: " + what + "\n" + log_tail()};
}

}  // namespace redlock::testing
