// Which nodes may vote. A node that lost its memory has to wait until every attempt that was in flight is over (the drain), and
// is then told the high-water marks of ceil(N/2) others; docs/proof.md says why.
//
// Pure, like all of quorum/: it is told what nodes said, and asked what to do next.
#ifndef REDLOCK_QUORUM_ADMISSION_HPP
#define REDLOCK_QUORUM_ADMISSION_HPP

#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace redlock::quorum {

using token_number = std::uint64_t;

// What a node says of itself (inspect_script).
struct node_facts {
    std::string id;        // of the server now: a new one after each loss that is not a FLUSHALL
    bool master{true};
    std::string admitted;  // the id in its record; empty: there is no record, or it has no high-water mark
    std::string mark;      // of the loss that somebody waits for; empty: none
    token_number high_water{0};
    duration max_ttl{};    // that its record allows
};

enum class standing {
    unknown,    // it has not answered yet
    admitted,
    no_master,  // a replica: it must not vote
    marking,    // a loss was seen; the mark that ties an admission to it is on its way
    draining,   // waiting for the end of what was in flight
    catching_up,// waiting for the high-water marks of ceil(N/2) admitted nodes
    stranded,   // so few nodes are admitted that only an operator can say what was lost
};

// What to ask a node next.
struct admission_request {
    enum class kind { inspect, mark, admit } what;
    std::size_t node;
    std::string id;         // that the node must still have
    std::string mark;
    token_number base{0};
    duration max_ttl{};
};

struct admission_settings {
    duration max_ttl;  // of this client's locks
    double drift;      // between two clients' clocks
    bool fresh;        // the operator says: nothing was ever locked here
    std::function<std::string()> fresh_mark;
    std::function<token_number()> wall_clock;  // in microseconds: the base of a cluster that has no memory at all
};

class admission {
public:
    admission(std::size_t nodes, admission_settings settings);

    // What a node said to inspect.
    void on_facts(std::size_t node, node_facts const& facts, time_point now);

    // The mark that the node keeps now (ours, or one that was there), or none: it has another id, or is admitted meanwhile.
    void on_marked(std::size_t node, std::optional<std::string> const& mark, time_point now);

    // Whether it is admitted now; if not, its mark or its id is another one, and it all begins again.
    void on_admit_answered(std::size_t node, bool admitted, time_point now);

    // The connection is gone: whatever it says next counts, nothing that it said before.
    void on_gone(std::size_t node);

    // What to ask now; each request is given out once. Their answers, or on_gone, bring the next ones.
    std::vector<admission_request> requests(time_point now);

    // When to call requests() again if nothing else happens; none: only an answer can bring anything.
    std::optional<time_point> next(time_point now) const;

    standing of(std::size_t node) const noexcept { return nodes_[node].state; }

    // The id that messages to an admitted node carry.
    std::string const& id(std::size_t node) const noexcept { return nodes_[node].facts.id; }

    // What is left of the drain.
    duration left(std::size_t node, time_point now) const noexcept;

    std::size_t admitted() const noexcept;

    // ceil(N/2): a majority has M - 1 other nodes, and of the N - 1 others so many that are read contain one of them.
    std::size_t intact_needed() const noexcept { return (nodes_.size() + 1) / 2; }

private:
    struct node_state {
        standing state{standing::unknown};
        node_facts facts;
        std::string mark;        // that our drain belongs to
        time_point drains_from{};
        time_point seen{};       // when its facts were learned
        bool asked{false};       // the answer to a request is awaited
        bool look_again{false};  // something happened there that only its facts explain
    };

    bool all_have_answered() const noexcept;
    bool drained(node_state const& n, time_point now) const noexcept;
    time_point drained_at(node_state const& n) const noexcept;
    void found_the_cluster_if_it_is_new(time_point now);
    std::size_t read_since(time_point drained) const noexcept;
    std::optional<admission_request> admit(std::size_t node) const;

    admission_settings settings_;
    std::vector<node_state> nodes_;
    std::optional<token_number> founding_base_;  // while a cluster without any memory is given its first
};

}  // namespace redlock::quorum

#endif
