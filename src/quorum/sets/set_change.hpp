// Decides how a set of nodes gets other members: what is written to which member, and why a change is refused. docs/proof.md, "Sets of nodes, and their
// changes", says why no lock is held twice meanwhile.
//
// Pure, like all of quorum/: cli/nodes/node_change passes in what the servers say, and carries out the steps.
#ifndef REDLOCK_QUORUM_SETS_SET_CHANGE_HPP
#define REDLOCK_QUORUM_SETS_SET_CHANGE_HPP

#include "quorum/node_facts.hpp"
#include "quorum/sets/set_record.hpp"
#include "quorum/timing.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::quorum {

// A server as it was seen a moment ago.
struct server_view {
    std::string member;  // what it is called in a record
    std::optional<node_facts> facts;  // none: it did not answer
    std::string problem{};  // why it did not
};

// What the set is to become: one member is replaced by one server, or servers join, or one member leaves.
struct wanted_change {
    std::string leaves{};  // empty: none
    std::vector<std::string> join{};
    bool may_end_leases{false};  // the members that stay may be too few for a majority until those that join are admitted
};

class set_change {
public:
    enum class refusal : std::uint8_t {
        none,
        request,  // what is asked for makes no sense for this set
        too_few,  // servers answer, or have a vote
        outrun,  // another change has won
    };

    // Writes `text` to a member, if it still has the text `expected`.
    struct step {
        std::size_t server;  // of those that were passed in
        std::string id;
        std::string expected;
        std::string text;
        bool stays;  // a member, with its admission
    };

    // A change that was begun and is another one is finished first. Precondition: `all` has each server of wanted.join.
    set_change(std::vector<server_view> const& all, wanted_change const& wanted);

    refusal refused() const noexcept { return refused_; }
    // In words, with what to do about it.
    std::string const& why() const noexcept { return why_; }

    // What the set is now. Precondition: not refused.
    set_record const& before() const noexcept { return *before_; }
    // What it is to be; the same as before: nothing is left to be changed, or members have to be brought into the present generation first.
    set_record const& after() const noexcept { return *after_; }
    // Whether `after` is another change than the one that was asked for.
    bool finishes_another() const noexcept { return finishes_another_; }

    // In this order. Each of the members that answer and have a vote, and have not moved; perhaps members that lost their data; of those that join, none.
    std::vector<step> const& steps() const noexcept { return steps_; }
    // How many members have to have moved, and how many have.
    std::size_t needed() const noexcept { return needed_; }
    std::size_t moved() const noexcept { return moved_; }

    // The servers that join with this change; others that are wanted join with the next one.
    std::vector<std::string> joining() const;

    // Whether N becomes as small as the set, which was open. New tokens of members that take the steps are above base().
    bool closes() const noexcept { return after_->size() < before_->size() && after_->members == before_->members; }
    // Whether the steps may be carried out only when a majority has been in before() for the time that leases of an earlier generation last, and with what
    // the servers say after that time. A member that is in after() shows that a command has waited.
    bool is_to_be_drained() const noexcept { return closes() && moved_ == 0; }
    duration longest_ttl() const noexcept { return longest_ttl_; }
    token_number base() const noexcept { return base_; }

private:
    using views = std::vector<server_view>;

    void refuse(refusal what, std::string why);
    std::string why_too_few(views const& all, wanted_change const& wanted) const;
    void find_set(views const& all);
    bool has_majority(views const& all, set_record const& r) const;
    void choose_next(views const& all, wanted_change const& wanted);
    bool is_done(wanted_change const& wanted) const;
    void find_unknown_members(views const& all);
    void find_begun_change(views const& all);
    bool allows(views const& all, wanted_change const& wanted);
    std::string objection_to_joining(views const& all, server_view const& joins) const;
    void list_steps(views const& all, wanted_change const& wanted);
    void bring_along(views const& all);
    void read_marks(views const& all, wanted_change const& wanted);
    bool ends_leases() const;

    refusal refused_{refusal::none};
    std::string why_;
    std::optional<set_record> before_;
    std::optional<set_record> begun_;  // a change that a member has heard of
    std::optional<set_record> after_;
    bool finishes_another_{false};
    std::vector<step> steps_;
    std::size_t needed_{0};
    std::size_t moved_{0};
    std::size_t stay_{0};  // of those that have moved, are to move by a step, or follow later: members of after()
    duration longest_ttl_{};
    token_number base_{0};
};

// What servers say is of one moment if all of them were asked and have answered within this time: then none has lost its data in between, and was admitted
// once more. `max_ttl`: of the longest lease that may be held, besides what the servers say.
duration max_look_time(std::vector<server_view> const& all, duration max_ttl, double clock_drift) noexcept;

// How long a command waits before it closes an open generation.
class open_drain {
public:
    // A majority of plan.before() is in it, as answers of one moment say. Until when to wait before the servers are asked once more, and the steps are taken;
    // not later than `now`: what they said may be used.
    time_point ends(set_change const& plan, duration max_ttl, double clock_drift, time_point now) noexcept;

private:
    std::uint64_t generation_{0};  // 0: none was seen
    time_point seen_{};
};

}  // namespace redlock::quorum

#endif
