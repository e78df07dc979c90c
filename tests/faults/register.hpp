// What the locks protect: a value for each name, in a process of its own, which accepts a write only in order, and writes down each.
//
// Over TCP, a line each way: "read NAME TOKEN" is answered "value N"; "write NAME TOKEN VALUE WORKER" is answered "ok", "stale" (a larger
// token was here before) or "conflict" (VALUE is not the next one). A read counts as a token seen, so that who has read is not overtaken
// by a write of an older lease. "look NAME TOKEN WORKER" is the read of a read-write lock's reader: refused if a writer with a larger token was here;
// writers behind it need a larger token than it has. These are the two numbers of docs/rw-locks.md, "Tokens".
#ifndef REDLOCK_TESTS_FAULTS_REGISTER_HPP
#define REDLOCK_TESTS_FAULTS_REGISTER_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace redlock::faults {

namespace asio = boost::asio;

/// The process: serves until SIGTERM. Its port is then in the file `port`. Writes go to `log`.
int run_register(std::string const& address, std::filesystem::path const& port, std::filesystem::path const& log);

enum class register_answer : std::uint8_t { ok, stale, conflict };

/// A worker's connection with it, which is made when it is needed. After an operation that failed, or was cancelled, the next one makes a
/// new one.
///
/// Lifetimes: must outlive its operations. One operation at a time. Operations throw `boost::system::system_error`.
class register_client {
public:
    register_client(asio::any_io_executor executor, asio::ip::tcp::endpoint where);

    struct reading {
        register_answer answer;
        std::uint64_t value;
    };

    asio::awaitable<reading> read(std::string name, std::uint64_t token);
    asio::awaitable<reading> look(std::string name, std::uint64_t token, std::string worker);
    asio::awaitable<register_answer> write(std::string name, std::uint64_t token, std::uint64_t value, std::string worker);

private:
    asio::awaitable<reading> ask_for_value(std::string line);
    asio::awaitable<std::string> ask(std::string line);

    asio::ip::tcp::endpoint where_;
    asio::ip::tcp::socket socket_;
    std::string heard_;
    bool usable_{false};
};

}  // namespace redlock::faults

#endif
