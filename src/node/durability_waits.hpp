// Waits until what was written is on replicas or on disk (durability.hpp). WAIT blocks its connection, so this has a connection of its own, and all calls that
// are made during a wait share the next one.
//
// While replicas are behind, as on machines with too much to do, each wait would end too early, and every vote would fail. So a wait for calls that may take
// longer lasts twice as long as the last one that replicas were late for.
#ifndef REDLOCK_NODE_DURABILITY_WAITS_HPP
#define REDLOCK_NODE_DURABILITY_WAITS_HPP

#include "node/connection/redis_connection.hpp"
#include "protocol/durability.hpp"
#include "protocol/node_sink.hpp"

#include <boost/asio/any_completion_handler.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

class durability_waits final : public std::enable_shared_from_this<durability_waits> {
public:
    using handler = asio::any_completion_handler<void(std::optional<not_durable>)>;

    durability_waits(std::shared_ptr<redis_connection> connection, durability const& wanted);

    // A wait is at most this many times as long as durability::timeout.
    static constexpr int longest = 8;

    // For all that any connection to this server was answered before this call. Completes at the end of the wait that is under way and the next one, or at
    // once when the connection is not open any more.
    // `key_prefix`: of keys in a slot that this server serves (Redis Cluster); it must live until `then` is called. Calls that share a wait use that of the
    // first. `at_most`: how long the wait may last if that is longer than durability::timeout.
    void wait(handler then, std::string_view key_prefix = {}, std::chrono::milliseconds at_most = {});

private:
    void start();
    void ask_for(std::chrono::milliseconds timeout);

    std::shared_ptr<redis_connection> connection_;
    durability wanted_;
    std::chrono::milliseconds const usual_;
    std::chrono::milliseconds behind_;  // how long a wait has to be for replicas that are behind
    boost::redis::request request_;
    std::string prefix_of_request_;
    std::string_view next_prefix_;
    std::chrono::milliseconds next_longest_{};
    durability_reader reader_{wanted_};
    std::optional<std::uint64_t> acknowledged_;  // when the last wait ended
    node_sink sink_;
    std::vector<handler> next_handlers_;  // those of the wait under way are kept by the request
    bool is_waiting_{false};
};

}  // namespace redlock::detail

#endif
