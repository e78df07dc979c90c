// Which nodes may vote. A node that lost its memory has to wait until every attempt that was in flight is over (the drain), and
// is then told the high-water marks of ceil(N/2) others; docs/proof.md says why.
//
// Pure, like all of quorum/: it is told what nodes said, and asked what to do next.
#ifndef REDLOCK_QUORUM_ADMISSION_HPP
#define REDLOCK_QUORUM_ADMISSION_HPP

#include "quorum/node_facts.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <redlock/status.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace redlock::quorum {

// What to ask a node next.
struct admission_request {
    enum class kind { inspect, mark, admit } what;
    std::size_t node;
    std::string id;         // that the node must still have
    std::string mark;
    token_number base{0};
    duration max_ttl{};
};

// That the node which was this server then had this mark, as a process of this machine saw at this moment of the machine's boot time.
struct mark_sighting {
    std::string id;
    std::string mark;
    time_point seen;

    friend bool operator==(mark_sighting const&, mark_sighting const&) = default;
};

struct admission_settings {
    duration max_ttl;  // of this client's locks
    double clock_drift;  // between two clients' clocks
    bool bootstrap;      // the operator says: nothing was ever locked here
    std::function<std::string()> fresh_mark;
    std::function<token_number()> wall_clock;  // in microseconds: the base of a cluster that has no memory at all
};

class admission {
public:
    admission(std::size_t nodes, admission_settings settings);

    // What a node says of itself; it was asked at `asked`, or before: the epoch if nobody knows.
    void on_facts(std::size_t node, node_facts const& facts, time_point asked, time_point now);

    // The mark that the node keeps now (ours, or one that was there), or none: it has another id, or is admitted meanwhile. If it was seen
    // before, the drain began then.
    void on_marked(std::size_t node, std::optional<std::string> const& mark, time_point now, std::vector<mark_sighting> const& before = {});

    // Whether it is admitted now; if not, its mark or its id is another one, and it all begins again.
    void on_admit_answered(std::size_t node, bool admitted);

    // Something that it answered needs an explanation: its facts may be others now.
    void on_suspect(std::size_t node);

    // It answered a question with an error, or not at all.
    void on_failed(std::size_t node, time_point now);

    // The connection is gone: whatever it says next counts, nothing that it said before.
    void on_gone(std::size_t node);

    // What to ask now; each request is given out once. Their answers, or on_gone, bring the next ones.
    std::vector<admission_request> requests(time_point now);

    // When to call requests() again if nothing else happens; none: only an answer can bring anything.
    std::optional<time_point> next(time_point now) const;

    admission_state of(std::size_t node) const noexcept { return nodes_[node].state; }

    // The id that messages to an admitted node carry.
    std::string const& id(std::size_t node) const noexcept { return nodes_[node].facts.id; }

    std::string const& why_unidentified(std::size_t node) const noexcept { return nodes_[node].facts.why_unidentified; }

    // Whether the next answers may well admit it, so that who has a question for it should wait for them.
    bool is_deciding(std::size_t node) const noexcept;

    // Since when we wait for the loss that it has now; none: we do not.
    std::optional<mark_sighting> sighting(std::size_t node) const;

    // When the drain ends.
    time_point drained_at(std::size_t node) const noexcept { return drained_at(nodes_[node]); }
    // What is left of the drain.
    duration left(std::size_t node, time_point now) const noexcept;

    std::size_t admitted() const noexcept;

    // ceil(N/2): a majority has M - 1 other nodes, and of the N - 1 others so many that are read contain one of them.
    std::size_t intact_needed() const noexcept { return (nodes_.size() + 1) / 2; }

private:
    struct node_state {
        admission_state state{admission_state::unknown};
        node_facts facts;
        std::string mark;  // that our drain belongs to
        time_point drains_from{};
        time_point seen{};  // its facts are not older than this
        time_point look_at{};  // while it waits: when to see whether somebody else has admitted it
        duration look_after{};  // and how long after that again
        bool asked{false};  // the answer to a request is awaited
        bool look_again{false};  // something happened there that only its facts explain
        bool failing{false};  // it answers with errors
        bool founds{false};  // it was empty when the cluster was founded, and gets the founding base; until it loses that moment, too
        bool gone{false};  // the connection was lost, or could not be made
    };

    bool all_have_answered() const noexcept;
    bool may_speak_soon(node_state const& n) const noexcept;
    bool may_be_founded_soon() const noexcept;
    bool all_remember_nothing() const noexcept;
    bool drained(node_state const& n, time_point now) const noexcept;
    time_point drained_at(node_state const& n) const noexcept;
    void found_the_cluster_if_it_is_new(time_point now);
    bool all_read_since_the_last_drain();
    std::size_t read_since(time_point drained) const noexcept;
    std::optional<admission_request> admit(std::size_t node) const;

    admission_settings settings_;
    std::vector<node_state> nodes_;
    bool seen_admitted_{false};  // then this cluster is not new
    bool was_complete_{false};  // every node was admitted once
    token_number founding_base_{0};  // of a cluster without any memory
};

}  // namespace redlock::quorum

#endif
