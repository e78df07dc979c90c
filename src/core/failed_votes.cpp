#include "core/failed_votes.hpp"

#include "base/to_error.hpp"
#include "core/fanout.hpp"

namespace redlock::detail {

std::string failed_votes::gone_at(quorum::node_set const& which, fanout const& nodes)
{
    std::string text;
    for (std::size_t node = 0; node < nodes.nodes(); ++node)
        if (which.has(node)) text += (text.empty() ? "" : ", ") + nodes.name(node);
    return text.empty() ? text : text.append(key_is_gone);
}

void failed_votes::keep(std::size_t nodes)
{
    first_.reset();
    answered_ = refused_ = {};
    nodes_ = static_cast<std::uint8_t>(nodes);
}

void failed_votes::add_other(std::size_t node, reply const& answer)
{
    if (answer.vote == vote::refused) refused_.add(node);
    if (answer.vote != vote::failed || (first_ && first_->node <= node)) return;
    first_ = std::make_unique<failure>(failure{node, {{}, vote::failed, to_error(answer.error), answer.words(), {}}});
}

std::string failed_votes::first(fanout const& nodes) const
{
    attempt_report said;
    if (first_) {
        said.nodes.push_back(first_->why);
        said.nodes.back().node = nodes.name(first_->node);
    }
    for (std::size_t node = 0; node < nodes_ && said.nodes.empty(); ++node)
        if (!answered_.has(node)) said.nodes.push_back({nodes.name(node), vote::pending, {}, {}, {}});
    return first_failure(said);
}

}  // namespace redlock::detail
