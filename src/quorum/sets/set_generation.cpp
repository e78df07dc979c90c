#include "quorum/sets/set_generation.hpp"

#include "quorum/votes.hpp"

#include <algorithm>
#include <utility>

namespace redlock::quorum {

namespace {

std::size_t carriers_of(set_record const& r, std::vector<set_record const*> const& carried)
{
    return static_cast<std::size_t>(
        std::count_if(carried.begin(), carried.end(), [&r](set_record const* each) { return r.is_same_generation(*each); }));
}

}  // namespace

// Or one of them says that it was seen: then no majority of an older generation is left.
bool set_generation::is_newer_majority(set_record const& r, std::vector<set_record const*> const& carried) const
{
    if (settled_ && r.generation <= settled_->generation) return false;
    bool const was_seen = std::any_of(carried.begin(), carried.end(),
                                      [&](set_record const* each) { return r.is_same_generation(*each) && each->counts.moved; });
    return was_seen || carriers_of(r, carried) >= majority(r.size_before());
}

bool set_generation::is_outrun_by(std::vector<set_record const*> const& carried) const
{
    return std::any_of(carried.begin(), carried.end(), [&](set_record const* each) { return is_newer_majority(*each, carried); });
}

set_record set_generation::choose(set_record const& set, std::vector<set_record const*> const& carried)
{
    if (settled_ && settled_->id != set.id) settled_.reset();
    set_record const* most = nullptr;
    std::size_t carriers_of_most = 0;
    for (set_record const* r : carried) {
        auto const carriers = carriers_of(*r, carried);
        if (is_newer_majority(*r, carried)) settled_ = *r;
        if (carriers < carriers_of_most || (carriers == carriers_of_most && most && r->generation <= most->generation)) continue;
        carriers_of_most = carriers;
        most = r;
    }
    if (settled_) most = &*settled_;
    set_record now = set;
    if (most && !most->is_same_generation(set)) {
        now = *most;
        now.complete = set.complete;
    }
    // What other nodes are to say of it.
    now.counts.moved = settled_ && now.generation > 0;
    now.counts.is_of_leaver = false;
    auto const before = std::exchange(binding_, binding_of(now));
    if (before && before != binding_) ++era_;
    return now;
}

}  // namespace redlock::quorum
