// Everything between one client and one server: a connection after the other, messages that are delayed, held, cut off in the
// middle or delivered twice. To the client's core it is a `node`; it does what redis_node does, without the bytes.
#ifndef REDLOCK_TESTS_SIMULATION_LINK_HPP
#define REDLOCK_TESTS_SIMULATION_LINK_HPP

#include "clocks.hpp"
#include "process.hpp"
#include "server.hpp"

#include "node/node.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::simulation {

class universe;

class link {
public:
    link(universe& in, process& from, server& to);
    ~link();

    // The part that the core owns.
    std::unique_ptr<detail::node> front(asio::any_io_executor strand);

    std::size_t client() const noexcept { return client_; }
    server& to() const noexcept { return to_; }
    bool up() const noexcept { return state_ == state::up; }
    bool in_use() const noexcept { return state_ != state::unused && state_ != state::stopped; }

    // The connection breaks, and the client notices now. What was on its way may still arrive, up to some byte.
    void cut(error_code why = errc::node_unreachable, std::string const& words = "the connection was cut");

    // Nothing gets through any more, in either direction, and nobody is told. After a while the client gives up.
    void go_silent(bool gives_up = true);

    // What is held goes on its way.
    void heal();
    bool silent() const noexcept { return silent_; }

    // The server can be reached again.
    void try_again();

    // Connections cannot be made while it is so; see go_silent() for one that is there.
    bool unreachable{false};

    // Add to every message's delay: for good, and until heal().
    duration distance{};
    duration extra_delay{};

    // The server is one of a group, and the client's votes wait for so many replicas.
    std::optional<std::uint16_t> acknowledgements;

    // Tests that script what arrives when: the next message to the server takes so long.
    std::optional<duration> next_delay_there;
    std::optional<duration> next_delay_back;

    // The next cut leaves so many of the requests that have not arrived in the network, which delivers them at that time.
    struct leftovers {
        std::size_t requests;
        duration arrive;
    };
    std::optional<leftovers> next_cut_leaves;

    // The server may not say what changes, as when its rules forbid CLIENT TRACKING.
    bool may_watch{true};
    bool is_watching(std::string_view key) const { return watched_.contains(key); }
    // Whether a client has watched anything on this connection; then it hears of keys, if all go.
    bool has_watched() const noexcept { return has_watched_; }

    // A key has changed on the server. Empty: all are gone.
    void on_change(std::string_view key);

    std::size_t outstanding() const noexcept { return line_.size(); }
    std::uint32_t messages() const noexcept { return messages_; }  // sent so far

    // Nothing is on its way but questions of those who wait for a node's admission: they go on asking.
    bool quiet() const noexcept;

private:
    class front_node;
    // Bytes on the wire belong to nobody: the sender may be gone when they are executed.
    struct command_copy {
        explicit command_copy(detail::command const& c) : what{c}, others(c.others.begin(), c.others.end())
        {
            detail::command::each_text(c, [&](std::string_view text) { texts.emplace_back(text); });
        }
        detail::command request() const;
        bool is_script() const noexcept { return what.what != detail::verb::watch && (what.what != detail::verb::acquire || what.fenced); }

        detail::command what;
        std::string const& key() const noexcept { return texts[0]; }
        std::string const& value() const noexcept { return texts[1]; }
        std::vector<std::string> texts;  // as each_text() gives them
        std::vector<std::string> others;
    };
    struct message {
        std::optional<std::string> changed;  // a push: not asked for, so most of the rest means nothing
        std::vector<command_copy> commands;
        std::string learned;   // the id that it is bound to
        bool has_look{false};  // behind the commands, at the server itself
        std::vector<detail::reply> answers;
        std::vector<detail::reply>* replies{nullptr};
        detail::exec_handler handler;
        std::uint64_t connection{0};
        std::uint32_t number{0};
        duration sent{};
        duration arrives{duration::max()};
        bool due_there{false};  // its bytes could be at the server
        bool arrived{false};
        bool due_back{false};
        bool answered{false};  // by the server
        std::size_t record{0};
    };
    using message_ptr = std::shared_ptr<message>;
    enum class state { unused, connecting, up, down, stopped };

    void exec(detail::batch const& work, std::string_view learned, std::vector<detail::reply>& replies, detail::exec_handler handler);
    void stop();
    void abandon();

    duration delay();
    void send(message_ptr const& m);
    bool is_next(message const& m) const;
    void deliver_requests();
    void arrive(message_ptr const& m);
    void execute(message& m, std::size_t upto, bool of_nobody);
    void watch(command_copy const& c);
    void push(std::string_view key);
    void send_back(message_ptr const& m, duration takes);
    void forget_watches();
    void check_server(message& m);
    void note_votes(message const& m);
    void answer(message_ptr const& m);
    static detail::batch work_of(message const& m);
    void answer_when_durable(message_ptr const& m);
    void wait_for_replicas(message_ptr const& m, duration until);
    void deliver_answers();
    void deliver(message_ptr const& m);
    void execute_as_ghost(message_ptr const& m, std::size_t upto, duration when);
    void connect_after(duration d);
    void connected(std::uint64_t attempt);
    static std::size_t bytes(command_copy const& c) noexcept;

    // The client hears of it in its own time.
    template <class F>
    void tell(F f)
    {
        asio::post(strand_, std::move(f));
    }

    universe& universe_;
    process& process_;
    server& to_;
    std::size_t client_;
    state state_{state::unused};
    asio::any_io_executor strand_;
    std::weak_ptr<detail::node_listener> listener_;
    std::size_t index_{0};
    std::uint64_t connection_{0};
    std::uint32_t messages_{0};
    bool silent_{false};
    duration last_arrival_{};
    duration last_answer_{};
    std::vector<message_ptr> line_;  // sent on this connection and not answered yet
    std::vector<message_ptr> said_meanwhile_;  // pushes
    std::vector<message_ptr> answers_;  // and pushes, on their way back
    std::set<std::string, std::less<>> watched_;  // on this connection
    bool has_watched_{false};
    bool own_command_{false};  // is being executed
    std::string name_;
};

}  // namespace redlock::simulation

#endif
