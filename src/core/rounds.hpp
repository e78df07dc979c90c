// Rounds: one request to every node, shared by all operations of a turn of the loop; and the votes that come back.
//
// Each node has a queue of its own, so that a slow one never holds up the others: while it answers, it gets the same bytes
// as everybody (serialised once); when it falls behind, its commands wait in its queue, and when that is full, requests to
// acquire or extend count as failed there at once. Releases are never refused: behind each stands a key that must go. What
// a lost connection or a dead node left of them is sent when the node is back, unless the key has expired by then.
//
// A node whose clock was set may not grant anything for a while (node_clock.hpp).
//
// Requests that vote with tokens go only to nodes that were admitted (admissions.hpp), as the server that they were admitted as.
#ifndef REDLOCK_CORE_ROUNDS_HPP
#define REDLOCK_CORE_ROUNDS_HPP

#include "core/alarms.hpp"
#include "core/node_clock.hpp"
#include "node/node.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redlock::detail {

// Who asked, and counts the votes.
class voter {
public:
    virtual void on_vote(std::size_t node, reply const& answer, time_point now) = 0;

    // The request is about to leave for these nodes, each a bit.
    virtual void on_sent(std::uint16_t /* nodes */) {}

    // Whether a request that waited in a node's queue should still go out.
    virtual bool wanted(std::size_t node, time_point now) const = 0;

protected:
    ~voter() = default;
};

struct ticket {
    command request;
    std::shared_ptr<voter> asked_by;
    std::uint16_t not_at{0};  // nodes that it does not go to
    bool first{false};        // may overtake what else is asked in the same turn: releases that stand together share a call
};

// What the clocks of nodes may do, compared with ours.
struct clock_rules {
    double drift{0.01};                        // as a fraction
    duration lasts{std::chrono::seconds{30}};  // the longest ttl in use
};

class rounds : public std::enable_shared_from_this<rounds> {
public:
    using strand_type = asio::any_io_executor;
    using clock_function = time_point (*)() noexcept;

    // Rounds that may be on their way to one node at the same time: enough to fill a long line, and a bound.
    static constexpr std::size_t in_flight_max = 32;
    // A message is answered as a whole: if all were in one, nodes and client would wait for each other in turns. So what is more than this
    // goes in a few, and in more of them if many are votes for new tokens, which take a node a while.
    static constexpr std::size_t worth_a_message = 128;
    static constexpr std::size_t messages_at_once = 4;
    static constexpr std::size_t slow_votes_max = 32;
    // More of them in a round are a crowd.
    static constexpr std::size_t crowd = 8;
    // Commands in one message to a node that has fallen behind.
    static constexpr std::size_t catch_up_max = 512;

    rounds(strand_type strand, std::vector<std::unique_ptr<node>> nodes, std::size_t queue_max, clock_function now, clock_rules rules);

    std::size_t nodes() const noexcept { return links_.size(); }
    std::string const& name(std::size_t node) const noexcept { return links_[node].peer->name(); }

    // Puts a request into the next round, which starts in the next turn of the loop, or with flush().
    void add(ticket&& request);
    void flush();

    // Any thread: many operations shared the last round.
    bool is_crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }

    // The number of that round.
    std::uint64_t next_round() const noexcept { return next_round_; }

    // Starts and stops the nodes; their events go to the listener, which passes them on to up() and down().
    void start(std::weak_ptr<node_listener> const& listener);
    void stop();

    void up(std::size_t node);
    void down(std::size_t node);

    // Whether a node may vote with tokens: as this server; not, for this reason; or that is still being found out.
    void admit(std::size_t node, std::string const& id);
    void exclude(std::size_t node, std::function<std::string(time_point)> why);
    void decide_later(std::size_t node);

    // The node's clock showed this at a moment between these.
    void on_time(std::size_t node, quorum::wall_time clock, time_point sent, time_point received);

    // Somebody uses such a ttl.
    void ttl_in_use(duration ttl) noexcept { rules_.lasts = std::max(rules_.lasts, ttl); }

    node_clock const& clock_of(std::size_t node) const noexcept { return links_[node].clock; }

    // A request to one node only, now, whatever waits for it. Fails at once when there is no connection; a release is owed then.
    void ask(std::size_t node, ticket request);

    // How many nodes would be asked for a vote with tokens now.
    std::size_t voters() const noexcept;

    // Called when a node's clock was set.
    std::function<void(std::size_t node, quorum::clock_step step, time_point now)> on_step;

    // Called when an admitted node says that it is not.
    std::function<void(std::size_t node)> on_doubt;

    // The nodes have stopped for good: nothing is owed to them any more, whatever is added fails.
    void close();

    // Destroys everything, for when the context is destroyed.
    void clear() noexcept;

private:
    enum class link_state { starting, up, down };
    enum class right_to_vote { undecided, yes, no };

    // The server that a node was admitted as.
    struct identity {
        std::string id;
        std::uint64_t number{0};  // another one for each admission of any node
    };

    // A vote that a node need not be asked for.
    struct excuse {
        reply said;
        time_point good_until{};
    };

    struct link {
        explicit link(double drift) : clock{drift} {}

        std::unique_ptr<node> peer;
        link_state state{link_state::starting};
        right_to_vote may_vote{right_to_vote::undecided};
        std::shared_ptr<identity const> as;
        std::function<std::string(time_point)> why_not;
        excuse not_admitted;  // what it votes meanwhile
        node_clock clock;
        excuse suspended;
        std::size_t in_flight{0};
        std::deque<ticket> queue;
    };

    struct part {  // of a round, at one node
        std::shared_ptr<identity const> as;
        time_point sent{};
        std::vector<reply> replies;
    };

    struct asker {
        std::shared_ptr<voter> who;
        std::uint16_t not_at;

        bool goes_to(std::size_t node) const noexcept { return (not_at >> node & 1u) == 0; }
    };

    // Requests and, in the same order, who made them.
    struct pile {
        std::vector<command> commands;
        std::vector<asker> askers;

        void add(ticket&& t)
        {
            commands.push_back(t.request);
            askers.push_back({std::move(t.asked_by), t.not_at});
        }
        void take(pile& from, std::size_t i)
        {
            commands.push_back(from.commands[i]);
            askers.push_back(std::move(from.askers[i]));
        }
        bool empty() const noexcept { return askers.empty(); }
        std::size_t size() const noexcept { return askers.size(); }
        void clear() noexcept
        {
            commands.clear();
            askers.clear();
        }
        void swap(pile& other) noexcept
        {
            commands.swap(other.commands);
            askers.swap(other.askers);
        }
    };

    struct round {
        batch work;
        std::vector<asker> askers;
        std::vector<part> parts;  // one a node
        std::size_t open{0};  // parts that are on their way
        bool votes_with_tokens{false};
        bool may_grant{false};

        ticket at(std::size_t i) const { return {work.commands[i], askers[i].who, askers[i].not_at}; }
    };

    class start_exec;

    void flush_later();
    static std::size_t end_of_message(pile const& of, std::size_t first, std::size_t most) noexcept;
    void send(pile& of);
    void launch(std::shared_ptr<round> const& r, std::uint16_t to, time_point now);
    std::shared_ptr<round> make_round(pile& of);
    void retire(std::shared_ptr<round> const& r);
    bool in_step(link const& l, round const& r, time_point now) const noexcept;
    static bool has_to_wait(link const& l) noexcept;
    static reply const* excuse_of(link& l, command const& c, time_point now);
    void check_clock(round& r, std::size_t node, time_point now);
    void enqueue(std::size_t node, ticket const& t, time_point now);
    void owe(std::size_t node, ticket const& t, time_point now);
    void catch_up(std::size_t node);
    std::shared_ptr<round> next_for(link& l, std::size_t node, time_point now);
    template <class Then>
    void exec(std::shared_ptr<round> const& r, std::size_t node, time_point now, Then then);
    void exec_alone(std::shared_ptr<round> const& r, std::size_t node, time_point now);
    void file(std::shared_ptr<round> const& r, std::size_t node, error_code ec);

    strand_type strand_;
    clock_function now_;
    std::size_t queue_max_;
    clock_rules rules_;
    std::vector<link> links_;
    pile outgoing_first_;
    pile outgoing_;
    pile splitting_;  // what is too much for one message
    pile message_;
    std::vector<std::shared_ptr<round>> spare_;  // with memory that the next ones need
    std::uint64_t next_round_{1};
    std::uint64_t admissions_{0};
    std::atomic<bool> crowded_{false};
    bool flush_posted_{false};
    bool closed_{false};
};

}  // namespace redlock::detail

#endif
