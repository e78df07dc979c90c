#include "cli/run/split_votes.hpp"

#include <algorithm>

namespace redlock::cli {

bool may_be_split(attempt_report const& attempt)
{
    auto const is_any = [&](vote wanted) {
        return std::any_of(attempt.nodes.begin(), attempt.nodes.end(), [&](node_verdict const& v) { return v.vote == wanted; });
    };
    // Pending: the grant may have been on its way when the others decided.
    return is_any(vote::refused) && (is_any(vote::granted) || is_any(vote::pending));
}

}  // namespace redlock::cli
