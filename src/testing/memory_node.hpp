// src/testing: redlock/testing.hpp, and what it shares with our own tests. A library of its own, which no service is linked with.
//
//   virtual_time   a clock and a timer whose time passes only when somebody says so
//   stepping       how it passes on an io_context
//   redis_model    what a server does with our commands
//   memory_node    such a server behind the seam of src/node, with everything that can go wrong on the way
//   simulation     the public classes
#ifndef REDLOCK_TESTING_MEMORY_NODE_HPP
#define REDLOCK_TESTING_MEMORY_NODE_HPP

#include "testing/redis_model.hpp"
#include "testing/virtual_time.hpp"

#include "node/node.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {

// A node in memory, in virtual time, as one client sees it.
class memory_node {
public:
    // A request that arrived, in the order of arrival.
    struct request {
        detail::verb what;
        std::string key;
        std::string value;
        time_point at;
    };

    // The part that the core owns; it may go before the memory does.
    std::unique_ptr<detail::node> front(asio::any_io_executor executor);

    // From a request's sending to its execution, and from there to the answer's arrival.
    duration there{std::chrono::microseconds{50}};
    duration back{std::chrono::microseconds{50}};

    // How much longer each request takes to get there; none: not at all.
    std::function<duration()> lingers;

    // How long it works on a command. Meanwhile the others wait in a queue, also those of clients that do not want an answer any more.
    duration works{0};

    // A stopped process: requests are taken in and executed, in order, when it goes on.
    void stop() { stopped_ = true; }
    void go_on();

    // The connection breaks: nothing that is outstanding is answered, though it may have been executed or still be.
    void cut(bool deliver_what_was_sent = true, error_code why = errc::node_unreachable, std::string const& words = "cut");
    void connect();
    bool is_connected() const noexcept { return connected_; }
    bool wants_connection() const noexcept { return owned && started && !ending_ && !connected_; }

    // How it says that a watched key has changed, if others than its client changed it: after `back`, in order with the answers.
    bool watches{true};       // otherwise it answers a watch, and says nothing
    bool loses_pushes{false};
    bool says_expiry{true};   // as soon as a key is gone; otherwise when somebody's command finds that out
    bool is_watching(std::string const& key) const { return watched_.contains(key); }

    // Its wall clock, by which keys expire.
    bool tells_time{true};
    void set_clock(duration by);
    void say_time(time_point sent);  // without a request

    // Until it is set, the node behaves like Redis. Then every request is answered so, without being executed.
    std::optional<detail::reply> always;

    std::optional<std::string> get(std::string const& key);
    void set(std::string const& key, std::string const& value, std::optional<duration> ttl = {});
    void del(std::string const& key) { memory().del(key); }
    std::size_t keys();  // of locks
    duration pttl(std::string const& key);
    time_point wall() const;

    // What makes it lose its votes with tokens. It is admitted from the start.
    void restart_empty();     // another id, and nothing left; the connection, if it is not cut, does not notice
    void restart_with_all();  // another id only
    void flush_all() { memory().flush_all(); }
    redis_model& memory() { return server_->memory; }

    std::vector<request> received;
    std::size_t batches{0};
    bool started{false};
    bool owned{false};  // a client still has it
    std::string of_server;           // what it says which server it is
    bool refuse_connections{false};  // never comes up by itself
    bool connects_late{false};       // the same, and does not say so: it is being connected to

    std::size_t count(detail::verb what) const;

private:
    class front_node;

    struct pending {
        std::optional<std::string> push;  // not asked for: this key has changed
        detail::batch const* work;
        std::vector<detail::command> copies;
        std::vector<std::string> strings;
        std::deque<std::vector<std::string>> others;
        std::string id;  // that the client has learned
        std::vector<detail::reply>* replies;
        detail::exec_handler handler;
        time_point arrives;
        bool executed{false};
        std::vector<detail::reply> answers;
    };

    void exec(detail::batch const& work, std::string_view id, std::vector<detail::reply>& replies, detail::exec_handler handler);
    void pump();
    void set_timer();
    void on_change(std::string_view key);
    void say(std::string_view key);
    void watch(detail::command const& c);
    void execute(pending& p);
    detail::reply execute(detail::command const& c, std::string_view learned);

    // What does not go with the connection: shared by all that are connected to it.
    struct server {
        redis_model memory;
        duration clock_ahead{};  // of the virtual one
        std::string name;
        int lives{1};
        std::vector<memory_node*> connected;
    };

    explicit memory_node(std::shared_ptr<server> of);

    std::shared_ptr<server> server_;
    std::deque<std::shared_ptr<pending>> in_flight_;  // requests, answers and pushes between the client and the server, in order
    std::set<std::string, std::less<>> watched_;
    bool own_command_{false};  // is being executed
    bool stopped_{false};
    bool connected_{false};
    bool ending_{false};
    std::size_t index_{0};
    std::weak_ptr<detail::node_listener> listener_;
    asio::any_io_executor executor_;
    std::unique_ptr<virtual_timer> timer_;
    time_point busy_until_{};

public:
    explicit memory_node(std::string name, std::chrono::milliseconds max_ttl = std::chrono::days{30});  // admitted for locks of such a ttl
    ~memory_node();

    // The same server, for another client.
    std::unique_ptr<memory_node> another();

    memory_node(memory_node const&) = delete;
    memory_node& operator=(memory_node const&) = delete;
};

}  // namespace redlock::testing

#endif
