// src/core/admission: which nodes may vote with tokens. The driver carries the requests of quorum::admission to the nodes and their answers back, and
// tells fanout which nodes may vote. It does the same for quorum::set_membership, which decides whether the client's list of nodes is the right one.
//
// Nodes are inspected when they connect. Marks and admissions, which write to a node, begin with the first lock that wants tokens: a
// client without such locks leaves nothing on the nodes but its keys.
#ifndef REDLOCK_CORE_ADMISSION_ADMISSION_DRIVER_HPP
#define REDLOCK_CORE_ADMISSION_ADMISSION_DRIVER_HPP

#include "core/admission/admission_picture.hpp"
#include "core/admission/quarantine_log.hpp"
#include "core/environment.hpp"
#include "quorum/admission.hpp"
#include "quorum/node_set.hpp"
#include "quorum/sets/set_membership.hpp"

#include <redlock/status.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::detail {

class admission_driver final : public timer {
public:
    admission_driver(environment& env, quorum::admission_settings settings, quorum::set_settings sets, std::size_t nodes,
                     std::shared_ptr<quarantine_log> log);
    ~admission_driver()
    {
        env_.cancel_timer(*this);
        env_.cancel_timer(look_for_sets_);
    }

    // A node has told facts about itself, before anything else is done with it. Answers why the client must not use the node; empty: it may.
    std::string meet(std::size_t node, quorum::node_facts const& facts);

    void up(std::size_t node, quorum::node_facts const& facts);
    void down(std::size_t node, error_code why);

    // A node that was admitted votes that it is not, or is another server than it was.
    void suspect(std::size_t node);

    // Somebody wants a lock with tokens.
    void wanted();

    // See quorum::admission.
    void drift_in_use(double clock_drift) noexcept { rules_.drift_in_use(clock_drift); }

    void on_timer(time_point now) override;

    // No node can be marked or admitted in a moment.
    bool is_idle() const noexcept;

    // Called when that may have come true.
    std::function<void()> on_idle;

    // Called with every change.
    std::function<void(std::size_t node, admission_picture const& now)> on_change;

    struct generation_news {
        quorum::node_set members;  // those nodes of the list that are members of it
        quorum::electorate voters;
        std::size_t size;  // N
        bool was_resized;  // the set had another N once
        bool is_first;  // nothing was known of the set before: no vote is of another generation
    };

    // Called when the client follows its set into another generation, or learns that it has other members than the client's list. Before anything else is
    // done there.
    std::function<void(generation_news const&)> on_generation;

    // Called when a node that was met turns out to be of another set than the client's list.
    std::function<void(std::size_t node, std::string const& why)> on_wrong_set;

    void clear() noexcept { stopped_ = true; }

private:
    // When to look whether other clients have founded a set on nodes that had none.
    struct set_timer final : timer {
        explicit set_timer(admission_driver& owner) : of{owner} {}
        void on_timer(time_point now) override { of.look_for_sets(now); }
        admission_driver& of;
    };

    // What the rounds and the owner were told of a node.
    struct notice {
        admission_picture picture;
        bool deciding;
        std::string id;
    };

    void go_on(time_point now);
    void ask(quorum::admission_request const& of, time_point now);
    template <class Then>
    void ask_one(std::size_t node, command&& what, Then then);
    void answered(quorum::admission_request const& what, reply const& answer, time_point asked, time_point now);
    void note_sighting(quorum::admission_request const& what);
    void forget(quorum::admission_request const& what);
    void tell_of_recovery(quorum::node_set const& which);
    void tend_sets(time_point now);
    void follow_generation();
    quorum::node_facts facts_for_rules(std::size_t node, quorum::node_facts facts) const;
    void look_for_sets(time_point now);
    void look_at_set_of(std::size_t node);
    void claimed(std::size_t node, std::optional<std::string> const& text, bool failed, time_point asked, time_point now);
    void tell_all();
    void tell(std::size_t node, admission_picture const& now);
    admission_picture picture_alone(std::size_t node, redlock::admission_state state) const;
    admission_picture picture_of_all() const;

    environment& env_;
    quorum::set_membership sets_;
    quorum::admission rules_;
    set_timer look_for_sets_{*this};
    quorum::node_set met_;  // nodes that are connected
    quorum::node_set looking_;  // nodes whose answers to a look are awaited
    std::shared_ptr<std::vector<std::string> const> names_;  // of all nodes
    std::shared_ptr<quarantine_log> log_;  // may be null
    std::vector<quorum::mark_sighting> seen_;  // of nodes that wait, also of those that are not connected: the wait goes on meanwhile
    std::vector<bool> refused_;
    std::vector<std::string> not_marked_;
    std::vector<std::optional<notice>> told_;  // none: nothing yet
    std::uint64_t tellings_{0};
    std::uint64_t era_{0};  // of sets_
    quorum::electorate voters_;
    quorum::node_set members_;
    std::size_t size_;  // N
    bool was_resized_{false};
    bool wanted_{false};
    bool stopped_{false};
    bool going_on_{false};
};

}  // namespace redlock::detail

#endif
