// Decides whether a client's list of nodes is that of a set, from the records that the nodes keep (set_record.hpp), and when a client writes such records.
// docs/proof.md, "Sets of nodes, and their changes", says why two clients with different lists never both count on a majority.
//
// The claims are in set_claims.cpp. Pure, like all of quorum/: admission_driver passes in what nodes tell, and sends the claims that this class returns.
#ifndef REDLOCK_QUORUM_SETS_SET_MEMBERSHIP_HPP
#define REDLOCK_QUORUM_SETS_SET_MEMBERSHIP_HPP

#include "quorum/node_facts.hpp"
#include "quorum/node_set.hpp"
#include "quorum/sets/set_generation.hpp"
#include "quorum/sets/set_record.hpp"
#include "quorum/votes.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace redlock::quorum {

struct set_settings {
    std::vector<std::string> members;  // what the client's nodes are called in a record; empty: nobody looks at sets
    std::string name{};  // config::set_name
    std::size_t shard{0};
    std::size_t shards{0};  // 0: the nodes are no shard
    std::function<std::string()> fresh_id{};
    std::function<token_number()> wall_clock{};  // in microseconds since 1970
    duration max_ttl{};  // of leases; zero: what nodes say is of one moment
};

// Writes a record to a node, if the server `id` is still there and has the text `expected`.
struct set_claim {
    std::size_t node;
    std::string id;
    std::string expected;
    std::string text;
    bool stays{false};  // with a new generation: it was a member in the one before, so its admission goes on
};

class set_membership {
public:
    explicit set_membership(set_settings settings);

    // A node told facts about itself. `asked`: not before that moment; time_point{}: nobody knows when.
    void on_facts(std::size_t node, node_facts const& facts, time_point asked, time_point now);

    // The connection is lost. What the node said last still tells whether the list is right. `rejected`: by the client, because of what it said.
    void on_gone(std::size_t node, bool rejected = false) noexcept;

    // Nodes to be asked for their facts at once: what they said last is contradicted by what another node has said since, or decides and is too old. Each is
    // returned once.
    std::vector<std::size_t> looks();

    // The answer to a claim: the text that the server has now; none: it gave no answer, or is another server. It is not claimed again before it tells
    // other facts, or may_claim_again() is called.
    void on_claimed(std::size_t node, std::optional<std::string> const& text, time_point asked, time_point now);

    // Some time has passed.
    void may_claim_again() noexcept;

    // Why the node has no vote, and what to do about it; empty: nothing is known against it.
    std::string const& objection(std::size_t node) const noexcept { return nodes_[node].objection; }

    // Whether no node has a vote, since the list is another one than the set's.
    bool is_list_refused() const noexcept { return list_refused_; }

    // Whether the node has the record that it must have before it votes with tokens.
    bool may_be_admitted(std::size_t node) const noexcept;

    // Whether the node has no vote since its record is of another generation of the set than the client's, which is the newest that a majority carries.
    bool is_apart(std::size_t node) const noexcept;
    std::string why_apart(std::size_t node) const;

    // Whose votes count. While no record was seen, the list is the set.
    electorate const& voters() const noexcept { return voters_; }

    // Those nodes of the list that are members of the set, as many as the electorate says. What others granted in an earlier generation does not count on.
    node_set const& members() const noexcept { return members_; }

    // Whether the number of members was ever changed.
    bool was_resized() const noexcept { return set_ && set_->counts.fewest != set_->counts.most; }

    // N, of the set; of the list, while no record was seen.
    std::size_t size() const noexcept { return set_ ? set_->size() : nodes_.size(); }

    // Whether the node is known to be no member any more.
    bool was_left_by(std::size_t node) const noexcept { return is_decided() && has_left(node); }

    // Whether every member is one of the list. While no set is known: of the last one that was, or of those that refused the list.
    bool lists_all_members() const noexcept { return lists_all_members_; }

    // Whether it is known which generation of its set the list is of.
    bool is_certain() const noexcept { return !is_undecided(); }

    // Another number for each generation of this client's.
    std::uint64_t era() const noexcept { return generation_.era(); }

    // The claims to send now; each is returned once.
    std::vector<set_claim> claims();

    // Whether some node that is connected has no record, so that other clients may found a set there, or has one that may be out of date. Nothing but a
    // look tells.
    bool is_to_be_looked_at(std::size_t node) const noexcept;

    // Whether the answer to a claim is awaited.
    bool is_claiming() const noexcept;

    bool is_active() const noexcept { return !settings_.members.empty(); }

private:
    enum class contact { away, replica, primary };  // a replica is no node
    enum class facts_are { unknown, fresh, old };  // old: its connection was lost since it told them, or another node contradicts them
    enum class claim_is { possible, awaited, in_vain };

    struct node_state {
        contact is{contact::away};
        facts_are facts{facts_are::unknown};
        claim_is claim{claim_is::possible};
        bool admitted{false};
        bool looked_at{false};  // it was asked for its facts since they are old
        time_point asked{};  // for `text`
        duration max_ttl{};  // of the leases that it may have granted
        std::string server;  // its id; empty: unknown
        std::string text;
        set_text said{};
        std::string fault{};  // what is wrong with its own record
        std::string objection{};
        std::optional<set_record> carried{};  // the node had this record, when it was the client's

        bool is_connected() const noexcept { return is != contact::away; }
        bool has_told() const noexcept { return facts != facts_are::unknown; }
        bool is_old() const noexcept { return facts == facts_are::old; }
        void becomes_old() noexcept
        {
            if (has_told()) facts = facts_are::old;
        }
        // Whether a claim may be made there now.
        bool can_be_claimed() const noexcept
        {
            return is == contact::primary && !server.empty() && claim == claim_is::possible && objection.empty();
        }
    };

    void judge();
    void doubt_what_contradicts(std::size_t node);
    std::string fault_of(set_record const& r) const;
    std::string fault_of(node_state const& n) const;
    void choose_set();
    void excuse_older_records();
    void count_voters();
    node_set members_in_list() const noexcept;
    bool is_behind(std::size_t node) const noexcept;
    bool has_left(std::size_t node) const noexcept;
    bool is_of_set(node_state const& n) const noexcept;
    // Whether it is known which generation it is.
    bool is_decided() const noexcept { return set_ && (set_->generation == 0 || generation_.is_settled()); }
    bool is_undecided() const noexcept { return set_ && !is_decided(); }
    bool is_of_this_moment(node_state const& n) const noexcept;
    bool carries(node_state const& n) const noexcept;
    bool may_be_claimed(node_state const& n) const;
    bool is_unsure(node_state const& n) const noexcept;
    bool is_complete(std::string const& id) const noexcept;
    bool is_member(std::size_t node) const noexcept;
    bool is_of_this_list(node_state const& n) const noexcept;
    bool is_doubtful(node_state const& n) const noexcept { return n.is_old() && is_of_this_list(n); }
    bool waits_for_facts() const noexcept;
    std::string why_all_are_refused() const;
    bool names_others() const;
    void object_to_all(std::string const& why);
    void found(std::vector<set_claim>& to);

    set_settings settings_;
    std::vector<node_state> nodes_;
    bool list_refused_{false};
    electorate voters_;
    node_set members_;
    time_point now_{};
    bool is_outrun_{false};  // a majority has moved, if what nodes said some time ago still holds
    bool lists_all_members_{true};
    std::optional<set_record> set_;  // that the list is of; none: no record was seen, or the records contradict each other
    set_generation generation_;
};

}  // namespace redlock::quorum

#endif
