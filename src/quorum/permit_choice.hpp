// Which slots of a semaphore an attempt goes for, when the nodes have given it different ones. Every node was asked for any `wanted` free slots. If a
// majority gave the same, they are the attempt's. If not, the attempt may move once: to slots that a majority gave or showed to be free.
// docs/proof.md, "At most K".
#ifndef REDLOCK_QUORUM_PERMIT_CHOICE_HPP
#define REDLOCK_QUORUM_PERMIT_CHOICE_HPP

#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"
#include "quorum/slot_set.hpp"
#include "quorum/votes.hpp"

#include <cstddef>
#include <cstdint>

namespace redlock::quorum {

class permit_choice {
public:
    // `slots`: how many were listed. `from`: the one to prefer where several are as good.
    permit_choice(electorate of, std::uint32_t wanted, std::size_t slots, std::size_t from) noexcept
        : needed_{of.needed}, wanted_{wanted}, slots_{slots}, from_{from}, ours_{of.nodes}, free_{of.nodes}
    {
    }

    // A node gave the slots `ours` (none, if it refused), and showed which others are free.
    void answered(std::size_t node, slot_set ours, slot_set free, std::uint64_t version) noexcept;
    // A node keeps another number of permits.
    void differs(std::size_t node, std::uint64_t version) noexcept;
    void failed(std::size_t node) noexcept { voted_.add(node); }
    void time_is_up() noexcept { voted_ = node_set::all(ours_.size()); }

    enum class decision : std::uint8_t {
        open,  // an answer that is still to come can change it
        won,  // a majority gave the slots chosen()
        move,  // ask for chosen() at the nodes that to_ask() says
        hopeless,
    };
    decision decide() noexcept;  // not after won or move
    slot_set chosen() const noexcept { return chosen_; }
    std::size_t from() const noexcept { return from_; }

    // Of chosen(), once there is one.
    bool gave_chosen(std::size_t node) const noexcept { return chosen_ != 0 && ours_[node] == chosen_; }
    bool to_ask(std::size_t node) const noexcept { return chosen_ != 0 && !gave_chosen(node) && could_give(node, chosen_); }

    slot_set given_by(std::size_t node) const noexcept { return ours_[node]; }
    bool has_answered(std::size_t node) const noexcept { return answered_.has(node); }

    // Whether slots besides chosen() are free on a majority.
    bool others_are_free() const noexcept;

    // So many nodes keep another number, or a newer one, that this client's number counts for nothing.
    bool is_of_another_number() const noexcept;
    std::uint64_t version() const noexcept { return version_; }  // the largest that goes with this client's number

private:
    bool could_give(std::size_t node, slot_set what) const noexcept;
    std::size_t givers(slot_set what) const noexcept;
    void consider(slot_set what) noexcept;

    std::size_t needed_;
    std::uint32_t wanted_;
    std::size_t slots_;
    std::size_t from_;
    per_node<slot_set> ours_;
    per_node<slot_set> free_;
    node_set voted_;
    node_set answered_;
    node_set differ_;
    std::uint64_t version_{0};
    std::uint64_t other_version_{0};
    slot_set chosen_{0};
    std::size_t could_{0};  // nodes that gave what is the best so far, or could give it
    std::size_t did_{0};
};

}  // namespace redlock::quorum

#endif
