// Asks all Sentinels of a group which server is the primary. group_node and the command have one for each group.
#ifndef REDLOCK_NODE_SENTINEL_PRIMARY_FINDER_HPP
#define REDLOCK_NODE_SENTINEL_PRIMARY_FINDER_HPP

#include "node/sentinel/primary_choice.hpp"
#include "node/sentinel/sentinel_link.hpp"

#include <redlock/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redlock::detail {

class primary_finder final : public std::enable_shared_from_this<primary_finder> {
public:
    struct result {
        primary_choice choice;
        std::vector<sentinel_report> reports;  // one for each Sentinel, in the order of the configuration
    };
    using handler = std::function<void(result)>;

    // How long the others are waited for when most Sentinels have answered.
    static constexpr std::chrono::milliseconds patience_with_few{250};

    // `on_switched`: a Sentinel says that a failover has ended.
    primary_finder(asio::any_io_executor const& strand, node_address const& group, config const& settings,
                   std::function<void()> on_switched);

    // Asks all of them at the same time; completes when all have answered or failed, or after config::connect_timeout. The handler is called once,
    // unless the next find() or stop() comes first. `known`: see choose_primary.
    void find(group_memory const& known, handler done);

    // Ends all connections. `stopped` is called after that, and nothing else any more.
    void stop(std::function<void()> stopped);

private:
    void open_links();
    void filed(std::size_t sentinel, std::uint64_t round, sentinel_report report);
    void finish();
    void limit(std::chrono::steady_clock::duration time);

    asio::any_io_executor strand_;
    node_address group_;
    config settings_;
    std::function<void()> on_switched_;
    std::vector<std::shared_ptr<sentinel_link>> links_;
    asio::steady_timer timer_;
    std::vector<sentinel_report> reports_;
    std::size_t missing_{0};
    std::size_t answered_{0};
    group_memory known_;
    std::uint64_t round_{0};  // of find()
    handler done_;  // none: nobody waits
    std::size_t links_open_{0};  // of those that are being stopped
};

}  // namespace redlock::detail

#endif
