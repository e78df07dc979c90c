// How many extensions are under way to a node at the same time. More than it answers in good time would only wait behind each other there: then all are
// late, instead of some.
#ifndef REDLOCK_CORE_EXTENSION_PACE_HPP
#define REDLOCK_CORE_EXTENSION_PACE_HPP

#include "quorum/timing.hpp"

#include <algorithm>
#include <cstddef>

namespace redlock::detail {

class extension_pace {
public:
    static constexpr std::size_t first = 1'024;
    static constexpr std::size_t least = 16;
    static constexpr std::size_t most = 4'096;

    std::size_t window() const noexcept { return window_; }

    // How long the last answer took.
    quorum::duration took() const noexcept { return took_; }

    // An answer took so long with `under_way` extensions before it, or with it. The keys are kept for `ttl`.
    void on_answer(std::size_t under_way, quorum::duration took, quorum::duration ttl) noexcept
    {
        took_ = std::max(took, quorum::duration{1});
        // With so few under way nothing waits, so the node is far away, or slow.
        if (took_ < fastest_ || under_way <= least) fastest_ = took_;
        auto const good = std::clamp(std::min(fastest_, ttl) * 2, ttl / 16, ttl / 4);
        double const in_good_time = static_cast<double>(under_way) * static_cast<double>(good.count()) / static_cast<double>(took_.count());
        auto const answered = static_cast<std::size_t>(std::clamp(in_good_time, double{least}, double{most}));
        window_ = took_ > good ? std::min(window_, answered) : std::max(window_, answered);
    }

private:
    std::size_t window_{first};
    quorum::duration took_{};
    quorum::duration fastest_{quorum::duration::max()};
};

}  // namespace redlock::detail

#endif
