// src/node: one Redis server. `node` is the seam: the core knows nothing else of a server, and simulations put servers of
// their own behind it. `redis_node` is the real one, over Boost.Redis.
//
// Everything here runs on the core's strand.
#ifndef REDLOCK_NODE_NODE_HPP
#define REDLOCK_NODE_NODE_HPP

#include <redlock/attempt_report.hpp>
#include <redlock/error.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::detail {

enum class verb : std::uint8_t {
    acquire,  // set the key if it is free
    extend,   // set its expiry if the value is ours
    release,  // delete it if the value is ours
};

// One request about one lock. The strings belong to whoever waits for the answer.
struct command {
    verb what;
    std::string_view key;
    std::string_view value;
    std::chrono::milliseconds ttl;  // not used by release
};

struct reply {
    redlock::vote vote{redlock::vote::pending};
    error_code error;    // why it failed
    std::string detail;  // the server's words
};

// What a node made of a batch to send it; shared by all nodes that send the same bytes.
class wire_form {
public:
    virtual ~wire_form() = default;
};

// Commands that go to a node together, in this order.
struct batch {
    std::vector<command> commands;
    mutable std::unique_ptr<wire_form> wire;  // made by the first node that needs it
};

// What a node tells its owner.
class node_listener {
public:
    // `server`: which one it is, in whatever words, the same for all addresses of one server; empty: unknown.
    virtual void on_up(std::size_t node, std::string const& server) = 0;
    virtual void on_down(std::size_t node, error_code why, std::string const& text) = 0;
    virtual void on_stopped(std::size_t node) = 0;

protected:
    ~node_listener() = default;
};

using exec_handler = asio::any_completion_handler<void(error_code)>;

class node {
public:
    virtual ~node() = default;

    virtual std::string const& name() const noexcept = 0;

    // Connects, and stays connected until stop(). Events come with `index`, until on_stopped.
    virtual void start(std::size_t index, std::weak_ptr<node_listener> listener) = 0;
    virtual void stop() = 0;

    // Executes a batch. Precondition: usable, between on_up and on_down. Writes one reply a command and completes with
    // no error, or completes with the reason why the connection was lost. Requests are executed by the server in the order
    // of these calls. Completes before on_down does, or at the latest soon after it; cannot be cancelled.
    // `work` and `replies` must live until then.
    virtual void exec(batch const& work, std::vector<reply>& replies, exec_handler handler) = 0;
};

}  // namespace redlock::detail

#endif
