// Asks one server whatever there is to ask, over the library's own kind of connection. It connects when it is asked, and again when it is
// asked after the connection has ended.
#ifndef REDLOCK_CLI_NODE_LINK_HPP
#define REDLOCK_CLI_NODE_LINK_HPP

#include "cli/reply.hpp"

#include <redlock/config.hpp>
#include <redlock/error.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::cli {

// The answers to some commands, or why there are none.
struct answers {
    error_code why;
    std::string problem;  // in words; empty: all was answered
    std::vector<reply> replies;
    std::chrono::nanoseconds took{};  // from the first byte to the last; the connection was there

    bool ok() const noexcept { return problem.empty(); }
};

class node_link {
public:
    using handler = std::function<void(answers)>;

    node_link(asio::any_io_executor executor, node_address const& address, config const& settings);
    node_link(node_link&&) noexcept = default;
    ~node_link();

    // Sends the commands together. Calls `done` once, from the executor: all were answered (errors are answers), the server cannot be
    // reached, or it has not answered within `patience` of being connected.
    void ask(std::vector<words> const& commands, std::chrono::milliseconds patience, handler done);

    void close();

private:
    class session;
    std::shared_ptr<session> session_;
};

}  // namespace redlock::cli

#endif
