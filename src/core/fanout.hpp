// src/core: sends the requests of all operations to all nodes, and hands the votes to the operations. A round is one message to every node, shared
// by all operations of a turn of the loop, and the votes that come back.
//
// Each node has a queue of its own, so that a slow one never holds up the others: while it answers, it gets the same bytes
// as everybody (serialised once); when it falls behind, its commands wait in its queue, and when that is full, requests to
// acquire count as failed there at once. Releases are never refused, because each is about a key that must go. Releases
// that a lost connection or a dead node left unanswered are sent when the node is back. Releases that a node answered with an error are sent
// again after a pause. Neither is sent once the key has expired, nor to a node that was never asked for the key. So whatever state a node is in, no
// more waits for it than can still matter.
//
// Extensions are never refused, but there may be more of them than a node can answer. So a bounded number is under way (extension_pace.hpp), and the others
// wait: the lease that ends first goes first. One that the node could answer only after the end of its lease is not sent.
//
// A node whose clock was set may not grant anything for a while (node_clock.hpp).
//
// Requests that vote with tokens go only to nodes that were admitted (quorum/admission.hpp), and name the server that was admitted.
#ifndef REDLOCK_CORE_FANOUT_HPP
#define REDLOCK_CORE_FANOUT_HPP

#include "base/timer_queue.hpp"
#include "core/extension_pace.hpp"
#include "node/node.hpp"
#include "quorum/clocks/node_clock.hpp"
#include "quorum/node_set.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace redlock::detail {

// An operation that made a request, and counts the votes.
class vote_handler {
public:
    virtual void on_vote(std::size_t node, reply const& answer, time_point now) = 0;

    // The request is about to leave for these nodes.
    virtual void on_sent(quorum::node_set const& /* nodes */, time_point /* now */) {}

    // Whether a request that waited in a node's queue should still go out.
    virtual bool wanted(std::size_t node, time_point now) const = 0;

    // Of extensions: until when answers count, as for as long as the lease is valid; and what to ask for once one has its turn after it had to wait.
    virtual time_point ends() const { return time_point::max(); }
    virtual void renew(command& /* request */) const {}

protected:
    ~vote_handler() = default;
};

struct pending_request {
    command request;
    std::shared_ptr<vote_handler> asked_by;
    quorum::node_set not_at{};  // nodes that the request does not go to
    bool first{false};  // goes before the other requests of the turn: releases that stand together share a script call
    std::uint8_t errors{0};  // how often a node has answered the request with an error
    std::uint32_t era{0};  // when it was made; set by the rounds
};

// What the clocks of nodes may do, compared with ours.
struct clock_rules {
    double clock_drift{0.01};  // as a fraction
    duration lasts{std::chrono::seconds{30}};  // the longest ttl in use
};

class fanout : public std::enable_shared_from_this<fanout> {
public:
    using strand_type = asio::any_io_executor;
    using clock_function = time_point (*)() noexcept;

    // Rounds that may be on their way to one node at the same time: enough for a network with a long delay.
    static constexpr std::size_t max_in_flight = 32;
    // Boost.Redis hands over the answers of a message together: with all requests in one message, nodes and client would work in turns. So more
    // requests than worth_a_message go in several messages, about messages_at_once; and a message has at most max_slow_votes requests for new
    // tokens, which take a node a while.
    static constexpr std::size_t worth_a_message = 128;
    static constexpr std::size_t messages_at_once = 4;
    static constexpr std::size_t max_slow_votes = 32;
    // A turn with more requests than this counts as high contention (is_crowded()).
    static constexpr std::size_t crowd = 8;
    // Commands in one message to a node that has fallen behind.
    static constexpr std::size_t max_catch_up = 512;
    // For so long releases go to a server that was rejected.
    static constexpr duration max_parting = std::chrono::milliseconds{500};

    fanout(strand_type const& strand, std::vector<std::unique_ptr<node>> nodes, std::size_t max_queue, clock_function now,
           clock_rules rules);

    // Operations that a node's answers complete on this context may share a handler. Precondition: a single thread runs the context.
    void complete_together_on(asio::io_context& context) noexcept { single_ = &context; }

    std::size_t nodes() const noexcept { return links_.size(); }
    std::string const& name(std::size_t node) const noexcept { return links_[node].peer->name(); }

    // Puts a request into the next round, which starts in the next turn of the loop, or with flush().
    void add(pending_request&& request);
    void flush();

    // For any thread: whether many operations shared the last round.
    bool is_crowded() const noexcept { return crowded_.load(std::memory_order_relaxed); }

    // The client's nodes are of another generation of their set from now on: votes on requests of before do not count. Where no node was ever asked for one,
    // none is of before.
    void begin_era() noexcept
    {
        if (has_asked_) ++era_;
    }
    std::uint32_t era() const noexcept { return era_; }

    // The number of the next round.
    std::uint32_t next_round() const noexcept { return next_round_; }

    // Starts and stops the nodes; their events go to the listener, which passes them on to up() and down().
    void start(std::weak_ptr<node_listener> const& listener);
    void stop();

    // The server that a node is connected to is of no use. The node disconnects, and connects to its address again later.
    void reject(std::size_t node, error_code why, std::string words);

    // The same of a server that may have keys of this client: it is down from now on, but until max_parting is over, releases still go to it. There is no
    // other time for them where the server is rejected whenever it is connected.
    void reject_later(std::size_t node, error_code why, std::string const& words);
    bool may_have_keys(std::size_t node) const noexcept;
    // Why the node will be rejected; none: it will not.
    error_code leaves_because(std::size_t node) const noexcept { return links_[node].rejected_with; }
    // Called when end_partings() is to be called at that moment.
    std::function<void(time_point at)> on_parting;
    void end_partings(time_point now);

    void check_address(std::size_t node);

    void up(std::size_t node);
    void down(std::size_t node, error_code why, std::string const& text);

    // Whether a node may vote with tokens. admit: yes, as this server. exclude: no, for this reason. decide_later: not known yet, so requests wait.
    void admit(std::size_t node, std::string const& id);
    void exclude(std::size_t node, std::function<std::string(time_point)> why);
    void decide_later(std::size_t node);

    // The node's clock showed `clock` at a moment between `sent` and `received`.
    void on_time(std::size_t node, quorum::wall_time clock, time_point sent, time_point received);

    // A lock of this client uses that ttl, or a node allows locks of others to use it.
    void ttl_in_use(duration ttl) noexcept
    {
        if (ttl > rules_.lasts) suspend_for(ttl);
    }

    // A lock of this client allows for clocks that drift by so much.
    void drift_in_use(double clock_drift) noexcept
    {
        if (clock_drift > rules_.clock_drift) tolerate(clock_drift);
    }

    // Whether the clock of some node was found to have been set after `t`.
    bool was_any_clock_set_since(time_point t) const noexcept { return t < last_clock_step_; }
    node_clock const& clock_of(std::size_t node) const noexcept { return links_[node].clock; }

    // Why a node is not asked for a vote (`fenced`: with tokens); null: it is asked, or the request waits until that is decided.
    reply const* why_not_asked(std::size_t node, bool fenced, time_point now);

    // Sends a request to one node only, at once, past the node's queue. Without a connection it fails at once, but a release is deferred.
    void ask(std::size_t node, pending_request request);

    // How many nodes would be asked for a vote with tokens now.
    std::size_t voters() const noexcept;

    // Called when a node's clock was set.
    std::function<void(std::size_t node, quorum::clock_step step, time_point now)> on_step;

    // Called when an admitted node votes that it is not.
    std::function<void(std::size_t node)> on_suspect;

    // Called when releases that nodes have answered with an error are to be sent again at that moment, with retry_releases().
    std::function<void(time_point at)> on_release_retry;
    void retry_releases(time_point now);

    // The nodes have stopped for good: no release is deferred any more, and requests fail.
    void close();

    // Destroys everything, for when the context is destroyed.
    void clear() noexcept;

private:
    enum class link_state { starting, up, leaving, down };
    enum class right_to_vote { undecided, yes, no };

    // The server that a node was admitted as.
    struct identity {
        std::string id;
        std::uint64_t number{0};  // another one for each admission of any node
    };

    // The vote that stands for a node's answer while it is not asked; made once, since many requests get it.
    struct cached_rejection {
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
        cached_rejection not_admitted;  // the vote while it is excluded
        node_clock clock;
        cached_rejection suspended;  // the vote while its clock is suspended
        reply lost{failure_to_connect(errc::node_unreachable)};  // the vote while it is down, or leaves
        bool may_have_keys{false};  // a request that sets a key was sent since it was up the last time
        error_code rejected_with;  // while it leaves
        time_point leaves_at{};
        std::size_t in_flight{0};
        std::deque<pending_request> queue;
        // Extensions whose turn has not come, by the ends of their leases. The others are in the queue, or under way.
        std::multimap<time_point, pending_request> extensions;
        std::size_t extensions_in_queue{0};
        std::size_t extensions_under_way{0};
        extension_pace pace;
        std::size_t weed_at{0};  // how many have to wait before all of them are looked through
    };

    struct part {  // the part of a round that one node has
        std::shared_ptr<identity const> as;
        time_point sent{};
        std::size_t extensions{0};  // that were under way with it
        std::vector<reply> replies;
    };

    struct target {
        std::shared_ptr<vote_handler> who;
        quorum::node_set not_at;
        std::uint8_t errors{0};
        std::uint32_t era{0};

        bool goes_to(std::size_t node) const noexcept { return !not_at.has(node); }
    };

    // What is so of some of the requests that are sent together.
    struct summary {
        quorum::node_set apart{};  // nodes that some of them do not go to
        std::uint32_t oldest_era{std::numeric_limits<std::uint32_t>::max()};
        bool votes_with_tokens{false};
        bool may_grant{false};
        bool counts_in_era{false};
        std::size_t extensions{0};
        duration shortest_ttl{duration::max()};  // of them

        void add(command const& c, target const& to) noexcept
        {
            apart.add(to.not_at);
            oldest_era = std::min(oldest_era, to.era);
            votes_with_tokens = votes_with_tokens || c.votes_with_tokens();
            may_grant = may_grant || c.may_grant();
            counts_in_era = counts_in_era || c.counts_in_era();
            if (c.what != verb::extend) return;
            ++extensions;
            shortest_ttl = std::min<duration>(shortest_ttl, c.ttl);
        }
    };

    // Requests and, in the same order, their targets: the operations that made them, and the nodes they go to.
    struct request_batch {
        std::vector<command> commands;
        std::vector<target> targets;
        summary has;

        void add(pending_request&& t)
        {
            commands.push_back(std::move(t.request));
            targets.push_back({std::move(t.asked_by), t.not_at, t.errors, t.era});
            has.add(commands.back(), targets.back());
        }
        void take(request_batch& from, std::size_t i)
        {
            commands.push_back(std::move(from.commands[i]));
            targets.push_back(std::move(from.targets[i]));
            has.add(commands.back(), targets.back());
        }
        bool empty() const noexcept { return targets.empty(); }
        std::size_t size() const noexcept { return targets.size(); }
        void clear() noexcept
        {
            commands.clear();
            targets.clear();
            has = {};
        }
        void swap(request_batch& other) noexcept
        {
            commands.swap(other.commands);
            targets.swap(other.targets);
            std::swap(has, other.has);
        }
    };

    struct round {
        batch work;
        std::vector<target> targets;
        std::vector<part> parts;  // one for each node
        std::size_t open{0};  // parts that were sent and not answered yet
        summary has;

        pending_request at(std::size_t i) const
        {
            return {work.commands[i], targets[i].who, targets[i].not_at, false, targets[i].errors, targets[i].era};
        }
    };

    struct release_retry {
        std::size_t node;
        pending_request release;
    };

    class start_exec;

    void suspend_for(duration longest_ttl) noexcept;
    void tolerate(double clock_drift) noexcept;
    void flush_later();
    std::size_t end_of_message(std::size_t first, std::size_t most) const noexcept;
    void send(request_batch& of);
    void launch(std::shared_ptr<round> const& r, quorum::node_set const& to, time_point now);
    std::shared_ptr<round> make_round(request_batch& of);
    void retire(std::shared_ptr<round> const& r);
    // Whether the node keeps up, and may get this round at once, with the same bytes as the other nodes.
    bool in_step(link const& l, round const& r, time_point now) const noexcept;
    static bool has_to_wait(link const& l) noexcept;
    static bool takes_releases(link const& l) noexcept { return l.state == link_state::up || l.state == link_state::leaving; }
    static reply const* cached_rejection_of(link& l, command const& c, time_point now);
    void drop_votes_of_earlier_eras(round& r, std::size_t node) const;
    void check_clock(round& r, std::size_t node, time_point now);
    static void withdraw(std::size_t node, pending_request const& t, time_point now);
    std::vector<pending_request> weed(std::size_t node, time_point now);
    void take_turns(std::size_t node, time_point now);
    void put_in_queue_again(std::size_t node);
    void enqueue(std::size_t node, pending_request const& t, time_point now);
    void defer_release(std::size_t node, pending_request const& t, time_point now);
    void retry_release(std::size_t node, pending_request&& t, time_point now);
    void catch_up(std::size_t node);
    std::shared_ptr<round> next_for(link& l, std::size_t node, time_point now);
    template <class Then>
    void exec(std::shared_ptr<round> const& r, std::size_t node, time_point now, Then then);
    void exec_alone(std::shared_ptr<round> const& r, std::size_t node, time_point now);
    void file(std::shared_ptr<round> const& r, std::size_t node, error_code ec);

    strand_type posting_;  // never runs anything at once
    clock_function now_;
    std::size_t max_queue_;
    clock_rules rules_;
    duration suspension_{};  // how long a node whose clock was set grants nothing
    std::vector<link> links_;
    std::multimap<time_point, release_retry> release_retries_;
    // Requests for the next round; those of outgoing_first_ go first.
    request_batch outgoing_first_;
    request_batch outgoing_;
    // The same requests while flush() makes messages of them.
    request_batch splitting_first_;
    request_batch splitting_;
    request_batch message_;
    std::vector<std::shared_ptr<round>> spare_;  // rounds that are over, whose memory the next ones use
    std::uint32_t next_round_{1};
    std::uint32_t era_{0};
    bool has_asked_{false};  // for a vote that counts in one era
    std::uint64_t admissions_{0};
    std::atomic<bool> crowded_{false};
    bool flush_posted_{false};
    time_point last_clock_step_{time_point::min()};  // of any node, when it was seen
    asio::io_context* single_{nullptr};  // see complete_together_on
    bool closed_{false};
};

}  // namespace redlock::detail

#endif
