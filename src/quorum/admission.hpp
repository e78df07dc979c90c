// Decides which nodes may vote with tokens. A node that lost its data is quarantined until every lease that it may have granted before is over
// (the quarantine). Then it gets the largest high-water mark of ceil(N/2) others, and is admitted; docs/proof.md says why. If no node has any data, the
// cluster is new, or has lost everything. Such a cluster is founded when all nodes have been quarantined, with a base for tokens from the wall clock. If a
// majority has none, it recovers in the same way: those nodes are founded. There, the quarantine of a server that shows that it has lost nothing since its
// start counts from then.
//
// Pure, like all of quorum/: admission_driver passes the nodes' answers in, and sends the requests that this class returns.
#ifndef REDLOCK_QUORUM_ADMISSION_HPP
#define REDLOCK_QUORUM_ADMISSION_HPP

#include "quorum/node_facts.hpp"
#include "quorum/node_set.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <redlock/status.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::quorum {

// A request to one node.
struct admission_request {
    enum class kind { inspect, mark, admit } what;
    std::size_t node;
    std::string id;  // the server that must still be there
    std::string mark;
    token_number base{0};
    duration max_ttl{};
};

// A process of this machine saw the mark at the server `id` at that moment of boot time; the quarantine counts from the first sighting.
struct mark_sighting {
    std::string id;
    std::string mark;
    time_point seen;

    friend bool operator==(mark_sighting const&, mark_sighting const&) = default;
};

struct admission_settings {
    duration max_ttl;  // of this client's locks
    double clock_drift;  // between two clients' clocks
    bool bootstrap;  // the operator says that nothing was ever locked on these nodes
    std::function<std::string()> fresh_mark;
    std::function<token_number()> wall_clock;  // in microseconds: the base of tokens of a cluster without any data
    std::function<bool(std::size_t node)> may_be_admitted{};  // whether it has the record of its set; empty: nobody looks at sets
    bool founds_by_uptime{true};  // a founding counts from the start of servers that have lost nothing since
    bool recovers{true};  // where a majority has lost its data; otherwise an operator has to say what was lost
};

class admission {
public:
    admission(std::size_t nodes, admission_settings settings);

    // A node told facts about itself. The request for them was sent at `asked` or later; time_point{}: the caller does not know when.
    void on_facts(std::size_t node, node_facts const& facts, time_point asked, time_point now);

    // The node's answer to a request to mark it. `mark`: the mark in its record now, this client's or an earlier one; none: the node has another id,
    // or is admitted meanwhile. `before`: earlier sightings of marks; if this mark is among them, the quarantine counts from there.
    void on_marked(std::size_t node, std::optional<std::string> const& mark, time_point now, std::vector<mark_sighting> const& before = {});

    // The node's answer to a request to admit it. If it refused, its mark or its id has changed, and its admission begins anew.
    void on_admit_answered(std::size_t node, bool admitted, time_point now);

    // The node's facts must be read again.
    void on_suspect(std::size_t node);

    // The node's answer to some other request contradicts its facts, so these must be read again: at once, but with growing pauses from a node that goes on
    // saying one thing and doing another.
    void on_contradiction(std::size_t node, time_point now);

    // The node answered a request with an error, or not at all.
    void on_failed(std::size_t node, time_point now);

    // The connection is lost: everything that the node told before is dropped.
    void on_gone(std::size_t node);

    // The requests to send now; each is returned once. The nodes' answers, or on_gone, lead to the next ones.
    std::vector<admission_request> requests(time_point now);

    // When to call requests() again if nothing else happens; none: only an answer can bring anything.
    std::optional<time_point> next(time_point now) const;

    // A node in quarantine that nobody will be able to admit needs an operator from the beginning.
    admission_state of(std::size_t node) const noexcept;

    // The id that messages to an admitted node carry.
    std::string const& id(std::size_t node) const noexcept { return nodes_[node].facts.id; }

    std::string const& why_unidentified(std::size_t node) const noexcept { return nodes_[node].facts.why_unidentified; }

    // Whether the next answers may well admit the node, so that requests with tokens should wait for them.
    bool is_deciding(std::size_t node) const noexcept;

    // The mark of the node's present quarantine, and since when it counts; none: the node is not quarantined.
    std::optional<mark_sighting> sighting(std::size_t node) const;

    // Whether the node's record names another server: a failover has promoted this one, a slot was moved to it, or it restarted with what it had stored.
    bool has_record_of_another(std::size_t node) const noexcept
    {
        node_facts const& f = nodes_[node].facts;
        return !f.admitted.empty() && f.admitted != f.id;
    }

    // Whether the node has nothing of before but, perhaps, a mark.
    bool is_empty(std::size_t node) const noexcept { return nodes_[node].facts.admitted.empty() && nodes_[node].facts.high_water == 0; }

    // Whether some node was admitted before, or has tokens. A mark is none of that: a client that waits at a new node has left it.
    bool has_traces() const noexcept
    {
        return std::any_of(nodes_.begin(), nodes_.end(),
                           [](node_state const& n) { return !n.facts.admitted.empty() || n.facts.high_water > 0; });
    }

    // When the quarantine ends, as it looks now. Later than was known before, once a node tells that a longer ttl was allowed.
    time_point drained_at(std::size_t node) const noexcept
    {
        return may_be_founded() ? outlived_at(nodes_[node]) : drained_at(nodes_[node]);
    }
    // Since when the node's server is known to have lost nothing, if its quarantine counts from there.
    std::optional<time_point> counts_from_start(std::size_t node) const noexcept
    {
        node_state const& n = nodes_[node];
        return may_be_founded() && n.kept_since < n.quarantined_since ? std::optional{n.kept_since} : std::nullopt;
    }
    // What is left of the quarantine.
    duration left(std::size_t node, time_point now) const noexcept;

    std::size_t admitted() const noexcept;

    // The clocks of clients may differ in rate by so much, as a lock of this client allows for.
    void drift_in_use(double clock_drift) noexcept { settings_.clock_drift = std::max(settings_.clock_drift, clock_drift); }

    // Whether this client has founded the set of nodes without a quarantine, as `bootstrap` permits; true once.
    bool has_just_bootstrapped() noexcept { return std::exchange(just_bootstrapped_, false); }

    // The nodes of a majority without data that this client has just founded, while others had theirs; once. Empty: none.
    node_set has_just_recovered() noexcept { return std::exchange(just_recovered_, {}); }

    // Whether a majority of the members has lost its data, and is founded as soon as all leases are over that it may have granted.
    bool recovers() const noexcept;

    // How long nodes without data wait, as far as is known: for the longest ttl that any client may have used, and the drift.
    duration quarantine() const noexcept { return drain_of(longest_ttl_, settings_.clock_drift); }

    // What is known of the set. `n`: N, which may be another number than that of the client's nodes, or than that of the members. `left`: nodes of the client
    // that are no members any more. `all_in_list`: every member is one of the client's nodes. `is_certain`: it is the newest generation of the set.
    void set_has(std::size_t n, node_set const& left = {}, bool all_in_list = true, bool is_certain = true) noexcept
    {
        size_ = n;
        left_ = left;
        has_all_members_ = all_in_list;
        is_certain_ = is_certain;
        if (n != nodes_.size() || !left.empty()) seen_admitted_ = true;  // a set that was changed is not new
    }
    bool has_all_members() const noexcept { return has_all_members_; }

    // ceil(N/2). A majority that the node voted in has M - 1 other nodes. So many of the N - 1 others always contain one of those.
    std::size_t intact_needed() const noexcept { return (size_ + 1) / 2; }

private:
    struct node_state {
        admission_state state{admission_state::unknown};
        node_facts facts;
        std::string mark;  // of the present quarantine
        time_point quarantined_since{};  // when the present quarantine began
        time_point marked{};  // when this client learned of the mark
        time_point kept_since{time_point::max()};  // the server has lost nothing since, as it said when it had the mark
        time_point seen{};  // `facts` are not older than this
        time_point look_at{};  // while the node waits: when to see whether another client, or an operator, has admitted it
        duration look_after{};  // the pause before `look_at`; it grows from look to look
        time_point contradicted{};  // the last time that an answer contradicted the facts
        std::uint8_t contradictions{0};  // how often that was, without a long time between two of them
        bool asked{false};  // the answer to a request is awaited
        bool look_again{false};  // `facts` are out of date
        bool failing{false};  // requests to the node fail
        bool founds{false};  // gets founding_base_: it had no data when the cluster was founded, or recovered. False after another loss
        bool gone{false};  // the connection was lost, or could not be made
    };

    bool is_member(node_state const& n) const noexcept { return !left_.has(static_cast<std::size_t>(&n - nodes_.data())); }
    template <class F>
    bool all_members(F f) const
    {
        return std::all_of(nodes_.begin(), nodes_.end(), [&](node_state const& n) { return !is_member(n) || f(n); });
    }

    bool contradicts_itself(node_state const& n) const noexcept { return n.contradictions > 1; }
    bool has_to_pause(node_state const& n) const noexcept;
    bool all_have_answered() const noexcept;
    bool waits_in_vain(node_state const& n) const noexcept;
    bool may_speak_soon(node_state const& n) const noexcept;
    bool may_be_founded_soon() const noexcept;
    bool has_to_show_uptime(node_state const& n) const noexcept;
    bool is_outlived(node_state const& n) const noexcept;
    bool may_be_founded() const noexcept;
    bool all_remember_nothing() const noexcept;
    bool has_waited(node_state const& n, time_point now) const noexcept;
    time_point drained_at(node_state const& n) const noexcept;
    time_point outlived_at(node_state const& n) const noexcept;
    void found_the_cluster_if_it_is_new(time_point now);
    bool all_read_since_the_last_quarantine();
    std::size_t read_since(time_point drained) const noexcept;
    std::optional<admission_request> admit(std::size_t node) const;

    admission_settings settings_;
    // Of this client's configuration, and of all records that were read, also where the node is not admitted: each may be the only one that is left of those
    // that allowed the longest lease.
    duration longest_ttl_;
    std::vector<node_state> nodes_;
    std::size_t size_;  // N
    node_set left_;
    bool has_all_members_{true};
    bool is_certain_{true};
    bool seen_admitted_{false};  // some node was admitted once, so this cluster is not new
    bool was_complete_{false};  // every node was admitted once
    bool just_bootstrapped_{false};
    node_set just_recovered_;
    token_number founding_base_{0};  // the base of tokens when the cluster is founded, or recovers
};

}  // namespace redlock::quorum

#endif
