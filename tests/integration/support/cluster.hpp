// Real servers, a client, and a story: what every integration test is made of.
//
// A test derives its fixture from `cluster`, and calls `run` once with a coroutine. `run` starts the client, waits until the
// nodes are usable, plays the story, and cancels the client. Then everything must come to its end by itself, or the test
// fails: no coroutine hangs, no operation stays behind, no key stays on any server.
#ifndef REDLOCK_TESTS_INTEGRATION_CLUSTER_HPP
#define REDLOCK_TESTS_INTEGRATION_CLUSTER_HPP

#include "printing.hpp"
#include "support/admitted.hpp"
#include "support/redis_server.hpp"
#include "waiting.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redlock::testing {

/// Nothing expires by itself during a test: whatever is gone was given back.
inline constexpr lock_options long_ttl{.ttl = 20s};

/// The same, and nodes that do not answer cost little.
inline constexpr lock_options impatient{.ttl = 20s, .node_timeout = 400ms};

/// Everything as by default, but quick to come back to a node.
config quick_config();

/// The keys that are there, except the library's own.
std::vector<std::string> lock_keys(redis_server const& server);

using story_teller = std::function<asio::awaitable<void>()>;

enum class beginning {
    admitted,  ///< The servers may vote with tokens.
    empty,     ///< Nobody ever used them.
};

class cluster {
public:
    /// Starts `size` servers, all alike, and makes a client that is not running yet.
    explicit cluster(std::size_t size, config settings = quick_config(), redis_server_options const& options = {},
                     beginning how = beginning::admitted);
    ~cluster();

    /// See above. Throws what the story throws. The bound on everything that happens inside is half a minute.
    void run(story_teller const& tell);

    /// The same without a story: only what is running already, and the client's end.
    void finish();

    std::deque<redis_server> servers;
    asio::io_context io;
    redlock::client nodes;

    std::size_t usable_at_start;   ///< How many nodes to wait for before the story begins. Default: all.
    std::chrono::seconds max_story_time{50};  ///< Less than CTest allows.
    bool keys_may_stay{false};     ///< The story leaves keys on the servers, on purpose.
    std::size_t threads{1};        ///< How many threads run the io_context. The story itself is on a strand.

    /// Another client of the same servers, running. It must be cancelled or destroyed by the story.
    std::unique_ptr<redlock::client> another_client(config settings = quick_config());
    std::unique_ptr<redlock::client> another_client(asio::any_io_executor on, config settings);

    /// Runs a client, and counts on its end.
    void start(redlock::client& c);

    /// How many of the clients that were started have not ended.
    std::size_t clients_running() const noexcept { return running_; }

    std::size_t usable() const;

    // What the servers themselves say. Only those that are alive are asked; none may be stopped.
    std::size_t servers_with(std::string const& key) const;
    std::string value(std::size_t server, std::string const& key) const;
    std::chrono::milliseconds ttl_left(std::size_t server, std::string const& key) const;
    void on_all(std::vector<std::string> const& command);

private:
    asio::awaitable<void> play(story_teller const& tell);
    void run_to_the_end();
    void check_servers_are_empty();
    std::string picture() const;

    config settings_;
    std::atomic<std::size_t> running_{0};
    std::atomic<std::size_t> odd_ends_{0};
};

struct one_node : cluster {
    one_node() : cluster{1} {}
};
struct three_nodes : cluster {
    three_nodes() : cluster{3} {}
};
struct five_nodes : cluster {
    five_nodes() : cluster{5} {}
};

/// One word a node, in order: granted, refused, pending, or why it failed ("node_timeout").
std::string verdicts(attempt_report const& report);

/// The names of a report's failures, as in `errc`.
std::string short_name(error_code ec);

}  // namespace redlock::testing

#endif
