// src/node: one server, group or shard, which is a node of a client. `node` is the seam: the core knows nothing else of it, and simulations put
// nodes of their own behind it. `redis_node` is the real one, over Boost.Redis.
//
// Everything here runs on the core's strand.
#ifndef REDLOCK_NODE_NODE_HPP
#define REDLOCK_NODE_NODE_HPP

#include "protocol/command.hpp"
#include "protocol/reply.hpp"
#include "quorum/clocks/clock_step_detector.hpp"
#include "quorum/node_facts.hpp"

#include <redlock/error.hpp>

#include <boost/asio/any_completion_handler.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::detail {

// What a node tells its owner.
class node_listener {
public:
    // `server`: which one it is, in whatever words, the same for all addresses of one server; empty: unknown.
    virtual void on_up(std::size_t node, std::string const& server, quorum::node_facts const& facts) = 0;
    virtual void on_down(std::size_t node, error_code why, std::string const& text) = 0;
    virtual void on_stopped(std::size_t node) = 0;

    // A key that was watched has changed: set, extended, deleted or expired. Empty: any of them may have.
    // A node loses what it watches with its connection, and after one change of a key; it may say more than it was asked to.
    virtual void on_changed(std::size_t node, std::string_view key) = 0;

    // What the node's clock showed at a moment between these, if nothing else was asked for a while.
    virtual void on_time(std::size_t node, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) = 0;

    // Of a group, before on_up: which server it is connected to, as host:port.
    virtual void on_primary(std::size_t /*node*/, std::string const& /*server*/) {}

    // The server that is connected cannot be used any more. Whether the owner will call reject(), when it has sent what it has to; if not, the node does so
    // itself.
    virtual bool on_unfit(std::size_t /*node*/, error_code /*why*/, std::string const& /*words*/) { return false; }

    // Of one server, before on_up: what shows that its address leads to several.
    virtual void on_several_servers(std::size_t /*node*/, std::string const& /*words*/) {}

    // Whether a node that is up could renew its credentials; empty: it could.
    virtual void on_login(std::size_t /*node*/, std::string const& /*why_not*/) {}

protected:
    ~node_listener() = default;
};

using exec_handler = asio::any_completion_handler<void(error_code)>;

class node {
public:
    virtual ~node() = default;

    virtual std::string const& name() const noexcept = 0;

    // Whether Sentinels may name another server the next time.
    virtual bool is_group() const noexcept { return false; }

    // Connects, and stays connected until stop(). Events come with `index`, until on_stopped; a node that is up says on_down before.
    virtual void start(std::size_t index, std::weak_ptr<node_listener> listener) = 0;
    virtual void stop() = 0;

    // The server that was connected is not one that the owner can use. The connection is closed, on_down says so in these words, and the
    // address is asked again with pauses that go on growing. Precondition: after on_up, or in it.
    virtual void reject(error_code why, std::string words) = 0;

    // Another address was found to lead to the same server. If new connections to this one lead to another server by now, the open connection is
    // closed as by reject(). Precondition: after on_up.
    virtual void check_address() {}

    // Executes a batch. Precondition: usable, between on_up and on_down. Writes one reply a command and completes with
    // no error; or completes with the reason why the connection was lost, and what is in `replies` means nothing then. Requests are executed by the server in the order
    // of these calls, and may complete in another one. A vote that failed with errc::not_durable was executed. Completes before on_down
    // does, or at the latest soon after it; cannot be cancelled. `id`: which server it must be, and must still be after the last command,
    // for those that vote with tokens; if not, they failed with errc::node_not_admitted.
    // `work`, `id` and `replies` must live until then.
    virtual void exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler) = 0;
};

}  // namespace redlock::detail

#endif
