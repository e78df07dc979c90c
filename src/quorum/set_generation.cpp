#include "quorum/set_generation.hpp"

#include "quorum/votes.hpp"

#include <algorithm>
#include <utility>

namespace redlock::quorum {

set_record set_generation::choose(set_record const& set, std::vector<set_record const*> const& carried, std::size_t nodes)
{
    if (settled_ && settled_->id != set.id) settled_.reset();
    set_record const* most = nullptr;
    std::size_t carriers_of_most = 0;
    for (set_record const* r : carried) {
        auto const carriers = static_cast<std::size_t>(
            std::count_if(carried.begin(), carried.end(), [&](set_record const* each) { return r->is_same_generation(*each); }));
        bool const is_newer = !settled_ || r->generation > settled_->generation;
        if (carriers >= majority(nodes) && is_newer) settled_ = *r;
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
    auto const before = std::exchange(binding_, binding_of(now));
    if (before && before != binding_) ++era_;
    return now;
}

}  // namespace redlock::quorum
