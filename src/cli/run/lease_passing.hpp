// The conversation of `redlock run --pass-lease` with its command: the command asks for the ticket of the lease on a descriptor that it was started
// with, and gets it. session decides what follows.
#ifndef REDLOCK_CLI_RUN_LEASE_PASSING_HPP
#define REDLOCK_CLI_RUN_LEASE_PASSING_HPP

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include <functional>
#include <optional>
#include <string>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::cli {

class lease_passing {
public:
    // The environment variable in which the command finds the descriptor's number.
    static constexpr char const* variable = "REDLOCK_LEASE_FD";

    // Makes a pair of sockets, of which the command's is `descriptor`. To be made before this process opens connections, as one of them could get that
    // number. Throws `failure` with `usage` when the number is taken already, or is too large.
    explicit lease_passing(int descriptor);
    lease_passing(lease_passing const&) = delete;
    lease_passing& operator=(lease_passing const&) = delete;
    ~lease_passing();

    // The command's end. child passes it on.
    int descriptor() const noexcept { return descriptor_; }

    // The command has been started: from now on only its processes have its end. Calls `asked` once, when one of them asks for the ticket.
    void begin(asio::io_context& io, std::function<void()> asked);

    // Whether somebody can still read an answer.
    bool is_open();

    // Sends the ticket, and ends the conversation. False: it could not be sent.
    bool answer(std::string const& ticket);

    // Ends the conversation: the reader finds the end of the file.
    void end() noexcept;

private:
    void read();
    void take(std::size_t bytes);

    int descriptor_;
    int ours_{-1};
    std::optional<asio::local::stream_protocol::socket> socket_;
    std::string request_;  // so far
    std::function<void()> asked_;
};

}  // namespace redlock::cli

#endif
