#include "quorum/permit_choice.hpp"

#include <algorithm>

namespace redlock::quorum {

void permit_choice::answered(std::size_t node, slot_set ours, slot_set free, std::uint64_t version) noexcept
{
    voted_.add(node);
    answered_.add(node);
    ours_[node] = ours;
    free_[node] = free;
    version_ = std::max(version_, version);
}

void permit_choice::differs(std::size_t node, std::uint64_t version) noexcept
{
    voted_.add(node);
    differ_.add(node);
    other_version_ = std::max(other_version_, version);
}

// A node that gave other slots keeps them, since a client never asks again for a slot that it leaves there: only disjoint ones can be asked
// for.
bool permit_choice::could_give(std::size_t node, slot_set what) const noexcept
{
    return answered_.has(node) && (ours_[node] & what) == 0 && (free_[node] & what) == what;
}

std::size_t permit_choice::givers(slot_set what) const noexcept
{
    return static_cast<std::size_t>(std::count(ours_.begin(), ours_.end(), what));
}

// Prefers slots that more nodes gave or could give; of those that are as good, slots that more nodes gave already.
void permit_choice::consider(slot_set what) noexcept
{
    std::size_t could = 0, did = 0;
    for (std::size_t node = 0; node < ours_.size(); ++node) {
        if (ours_[node] == what) ++did, ++could;
        else if (could_give(node, what)) ++could;
    }
    if (could < needed_ || could < could_ || (could == could_ && did <= did_)) return;
    chosen_ = what;
    could_ = could;
    did_ = did;
}

// Three questions, in this order: has a majority given the same slots; can one still do so; and if not, where could a majority be had by
// one move?
permit_choice::decision permit_choice::decide() noexcept
{
    auto const nodes = ours_.size();
    auto const pending = nodes - voted_.size();
    std::size_t most = 0;
    for (slot_set const given : ours_) {
        if (given == 0) continue;
        auto const count = givers(given);
        most = std::max(most, count);
        if (count < needed_) continue;
        chosen_ = given;
        return decision::won;
    }
    if (most + pending >= needed_) return decision::open;

    if (wanted_ == 1) {
        for (std::size_t i = 0; i < slots_; ++i) consider(only_slot((from_ + i) % slots_));
    } else {
        for (slot_set const given : ours_)
            if (given != 0) consider(given);
    }
    if (chosen_ != 0) return decision::move;
    return pending > 0 ? decision::open : decision::hopeless;
}

bool permit_choice::others_are_free() const noexcept
{
    for (std::size_t slot = 0; slot < slots_; ++slot) {
        auto const is_free = [&](slot_set free) { return has_slot(free, slot) && !has_slot(chosen_, slot); };
        if (static_cast<std::size_t>(std::count_if(free_.begin(), free_.end(), is_free)) >= needed_) return true;
    }
    return false;
}

bool permit_choice::is_of_another_number() const noexcept
{
    if (differ_.empty()) return false;
    return other_version_ > version_ || (other_version_ == version_ && answered_.size() < needed_);
}

}  // namespace redlock::quorum
