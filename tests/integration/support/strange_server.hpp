// Something that listens where a Redis server should be, and is none.
#ifndef REDLOCK_TESTS_INTEGRATION_STRANGE_SERVER_HPP
#define REDLOCK_TESTS_INTEGRATION_STRANGE_SERVER_HPP

#include <cstdint>
#include <memory>
#include <string>

namespace redlock::testing {

enum class manners : std::uint8_t {
    answers_http,      ///< "400 Bad Request" to whatever comes, then closes.
    never_answers,     ///< Accepts, reads, and says nothing.
    closes_at_once,    ///< Accepts and closes.
    closes_on_command, ///< Reads something, then closes without an answer.
    repeats_commands,  ///< Knows no command, and repeats what it was sent in its errors, as Redis 5 does.
};

/// Listens on a free loopback port until it is destroyed, on a thread of its own.
class strange_server {
public:
    explicit strange_server(manners how);
    strange_server(strange_server const&) = delete;
    strange_server& operator=(strange_server const&) = delete;
    ~strange_server();

    std::uint16_t port() const noexcept;
    std::string url() const;

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace redlock::testing

#endif
