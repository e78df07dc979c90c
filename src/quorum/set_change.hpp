// Decides how one member of a set of nodes is replaced by another server: what is written to which member, and why a change is refused. docs/proof.md,
// "Sets of nodes, and their changes", says why no lock is held twice meanwhile.
//
// Pure, like all of quorum/: cli/set_change passes in what the servers say, and carries out the steps.
#ifndef REDLOCK_QUORUM_SET_CHANGE_HPP
#define REDLOCK_QUORUM_SET_CHANGE_HPP

#include "quorum/node_facts.hpp"
#include "quorum/set_record.hpp"

#include <cstddef>
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
    };

    // `leaves` is to be replaced by `joins`. A change that was begun and is another one is finished first.
    set_change(std::vector<server_view> const& all, std::string const& leaves, std::string const& joins);

    refusal refused() const noexcept { return refused_; }
    // In words, with what to do about it.
    std::string const& why() const noexcept { return why_; }

    // What the set is now. Precondition: not refused.
    set_record const& before() const noexcept { return *before_; }
    // What it is to be; the same as before: nothing is left to be moved.
    set_record const& after() const noexcept { return *after_; }
    // Whether `after` is another change than the one that was asked for.
    bool finishes_another() const noexcept { return finishes_another_; }

    // In this order. Each of the members that answer, have a vote and stay, and have not moved.
    std::vector<step> const& steps() const noexcept { return steps_; }
    // How many members have to have moved, and how many have.
    std::size_t needed() const noexcept { return needed_; }
    std::size_t moved() const noexcept { return moved_; }

private:
    void refuse(refusal what, std::string why);
    std::string why_too_few(std::vector<server_view> const& all) const;
    void find_set(std::vector<server_view> const& all);
    void choose_next(std::vector<server_view> const& all, std::string const& leaves, std::string const& joins);
    void find_unknown_members(std::vector<server_view> const& all);
    void find_begun_change(std::vector<server_view> const& all);
    bool is_new_change_possible(std::vector<server_view> const& all, std::string const& leaves, std::string const& joins);
    std::string objection_to_joining(std::vector<server_view> const& all, server_view const& joins) const;
    void list_steps(std::vector<server_view> const& all);

    refusal refused_{refusal::none};
    std::string why_;
    std::optional<set_record> before_;
    std::optional<set_record> begun_;  // a change that a member has heard of
    std::optional<set_record> after_;
    bool finishes_another_{false};
    std::vector<step> steps_;
    std::size_t needed_{0};
    std::size_t moved_{0};
};

}  // namespace redlock::quorum

#endif
