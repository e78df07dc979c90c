// Waiting for servers, which is something else than waiting for the holder of a lock.
#ifndef REDLOCK_CLI_NODES_VOTE_WAIT_HPP
#define REDLOCK_CLI_NODES_VOTE_WAIT_HPP

#include "cli/options/commands.hpp"

#include <redlock/client.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

namespace redlock::cli {

// Whether this node will have no vote until somebody does something about it.
bool needs_an_operator(node_status const& node);

// So many nodes need an operator that the others are no majority, and that for a while: others may still connect, or find a way.
class lost_hope {
public:
    static constexpr std::chrono::seconds sure_after{2};

    bool is_sure(client_status const& nodes, bool fencing, std::chrono::steady_clock::time_point now);

    // Whether it may be sure when it is asked again, sure_after later.
    bool is_in_doubt() const noexcept { return since_.has_value(); }

private:
    std::optional<std::chrono::steady_clock::time_point> since_;
};

inline constexpr char const* waiting_does_not_help = "waiting does not help; an operator must act";
inline constexpr std::chrono::milliseconds pause_before_servers_are_asked_again{250};

// Tells when a majority of the nodes has a vote, or that it will not wait any longer.
class vote_wait {
public:
    enum class end { votes, too_late, hopeless };

    vote_wait(boost::asio::io_context& context, client& nodes, bool fencing) : timer_{context}, nodes_{nodes}, fencing_{fencing} {}

    // `patience`: none: as long as it takes. One at a time.
    void start(std::optional<milliseconds> patience, std::function<void(end)> done);

    // For who does not wait: `hopeless`, or `too_late` as soon as that is not so.
    void look_for_hope(std::function<void(end)> done);

    // `done` is not called any more. False: nothing was under way.
    bool stop();

private:
    void look();

    boost::asio::steady_timer timer_;
    client& nodes_;
    bool fencing_;
    lost_hope hope_;
    bool ends_with_hope_{false};
    std::optional<std::chrono::steady_clock::time_point> until_;
    std::function<void(end)> done_;
    std::shared_ptr<bool const> const exists_{std::make_shared<bool const>(true)};  // while this object does
};

}  // namespace redlock::cli

#endif
