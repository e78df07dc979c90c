#include "core/kinds/permit_queries.hpp"

#include "core/resolved_options.hpp"
#include "quorum/slot_set.hpp"
#include "quorum/votes.hpp"

#include <redlock/detail/permit_pool.hpp>

#include <algorithm>
#include <span>
#include <string>

namespace redlock::detail {

permit_question::permit_question(permit_queries& owner, permit_query&& what, permits_handler&& to_tell)
    : operation{owner.env_}, owner_{owner}, what_{std::move(what)}, to_tell_{std::move(to_tell)}
{
}

void permit_question::start(time_point now)
{
    nodes_.resize(env_.to_nodes->nodes());
    failures_.keep(nodes_.size());
    ends_ = now + what_.under->times.node_timeout;
    permit_pool const& pool = *what_.of;
    command c{what_.version > 0 ? verb::keep : verb::look, pool.record, {}, {}};
    if (what_.version > 0) {
        c.fenced = true;
        c.permits = pool.permits;
        c.change_more().version = what_.version;
        c.retention = what_.under->tokens.retention;
    } else {
        c.others = pool.keys;
    }
    ask(shared_from_this(), std::move(c), ends_);
}

void permit_question::on_vote(std::size_t node, reply const& answer, time_point)
{
    if (is_over()) return;
    answered_.add(node);
    failures_.add(node, answer);
    if (answer.slots()) {
        permits_on_node& said = nodes_[node];
        said.answered = true;
        said.kept = answer.vote == vote::granted;
        said.permits = answer.slots()->permits;
        said.version = answer.slots()->version;
        said.free = answer.slots()->free;
    }
    if (answered_.size() == nodes_.size()) abandon({});
}

void permit_question::abandon(error_code ec)
{
    if (!end()) return;
    auto const self = shared_from_this();
    owner_.remove(*this);
    bool const nobody = std::none_of(nodes_.begin(), nodes_.end(), [](permits_on_node const& n) { return n.answered; });
    bool const unasked = nobody && !env_.has_run;
    if (!ec && unasked) ec = errc::client_not_running;
    if (what_.into) {
        *what_.into = {std::move(nodes_), failures_.first(*env_.to_nodes)};
        return to_tell_(ec, 0);
    }
    auto const [problem, free] = free_on_majority(*what_.of, nodes_, env_.voters.needed);
    if (!ec) ec = problem;
    if (ec == errc::no_majority) to_tell_.explain([&](failure_note& note) { note.reason = failures_.first(*env_.to_nodes); });
    to_tell_(ec, ec ? 0 : free);
}

void permit_queries::start(std::shared_ptr<permit_question> const& what, time_point now)
{
    if (what->is_over()) return;  // cancelled meanwhile
    keep(what);
    what->start(now);
}

std::pair<error_code, std::size_t> free_on_majority(permit_pool const& of, std::vector<permits_on_node> const& nodes, std::size_t needed)
{
    auto const answered = std::count_if(nodes.begin(), nodes.end(), [](permits_on_node const& n) { return n.answered; });
    if (static_cast<std::size_t>(answered) < needed) return {errc::no_majority, 0};
    permits_on_node newest;
    for (permits_on_node const& n : nodes)
        if (n.version > newest.version) newest = n;
    if (newest.version > 0 && newest.permits != of.permits) return {errc::permits_differ, 0};
    std::size_t free = 0;
    for (std::size_t slot = 0; slot < of.keys.size(); ++slot) {
        auto const on = std::count_if(nodes.begin(), nodes.end(),
                                      [&](permits_on_node const& n) { return n.answered && quorum::has_slot(n.free, slot); });
        if (static_cast<std::size_t>(on) >= needed) ++free;
    }
    return {{}, free};
}

}  // namespace redlock::detail
