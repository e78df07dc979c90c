// Asks a Redis server one thing, from outside: for tests that want to see or set what is really there.
#ifndef REDLOCK_TESTS_SUPPORT_RESP_CLIENT_HPP
#define REDLOCK_TESTS_SUPPORT_RESP_CLIENT_HPP

#include "loopback.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {

/// What a server answered.
struct resp_reply {
    enum class kind : std::uint8_t { nil, text, integer, error, array };

    kind type{kind::nil};
    std::string text;                ///< Of a string or an error; an integer's digits; "(nil)".
    std::vector<std::string> items;  ///< Of an array. Arrays in it are flattened, integers and nil as in `text`.

    bool is_nil() const noexcept { return type == kind::nil; }
    bool is_error() const noexcept { return type == kind::error; }

    /// The text; an array's items, one a line.
    std::string to_string() const;
};

/// A connection that speaks RESP2 and blocks. It has nothing in common with the library under test, on purpose.
class resp_client {
public:
    /// Connects. All that is done with the object must be over within `timeout`, or it throws `std::system_error` (timed_out).
    resp_client(loopback family, std::uint16_t port, std::chrono::milliseconds timeout);

    /// The same to another address, as in "10.97.0.1" or "::1".
    resp_client(std::string const& host, std::uint16_t port, std::chrono::milliseconds timeout);

    /// Sends a command and reads its reply; an error reply is a reply. Throws `std::system_error` when the connection fails,
    /// `std::runtime_error` when the server does not speak RESP2.
    resp_reply ask(std::vector<std::string> const& command);

private:
    void read_value(resp_reply& reply, int depth);
    void read_array(resp_reply& reply, long count, int depth);
    std::string read_line();
    std::string read_exactly(std::size_t size);
    void fill();

    loopback_socket socket_;
    std::string buffer_;
};

}  // namespace redlock::testing

#endif
