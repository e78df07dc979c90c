#include "cli/nodes/vote_wait.hpp"

#include "cli/locks/waiting.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto looks_for_votes_every = 20ms;

// A server that was a node a moment ago may be promoted again, and a group finds another one.
bool was_never_fit(node_status const& node) { return node.last_error == errc::node_unsuitable && node.connects == 0 && !node.is_group; }

}  // namespace

bool needs_an_operator(node_status const& node)
{
    if (node.state == node_state::down) return node.last_error == errc::wrong_node_set || was_never_fit(node);
    return node.state == node_state::usable &&
           (node.admission == admission_state::needs_operator || node.admission == admission_state::not_primary ||
            node.admission == admission_state::unidentified);
}

namespace {

bool too_many_need_an_operator(client_status const& nodes)
{
    auto const all = nodes.nodes.size();
    auto const count = static_cast<std::size_t>(std::count_if(nodes.nodes.begin(), nodes.nodes.end(), needs_an_operator));
    return all - count < quorum::majority(all);
}

// What it says next may show that the others need an operator.
bool has_more_to_say(node_status const& node)
{
    if (node.state != node_state::usable) return node.state != node_state::down;
    return node.admission == admission_state::unknown || node.admission == admission_state::uninitialized;
}

bool may_be_hopeless(client_status const& nodes)
{
    return too_many_need_an_operator(nodes) || std::any_of(nodes.nodes.begin(), nodes.nodes.end(), has_more_to_say);
}

}  // namespace

bool lost_hope::is_sure(client_status const& nodes, bool fencing, std::chrono::steady_clock::time_point now)
{
    if (!fencing || !too_many_need_an_operator(nodes)) {
        since_.reset();
        return false;
    }
    if (!since_) since_ = now;
    return now - *since_ >= sure_after;
}

void vote_wait::look_for_hope(std::function<void(end)> done)
{
    done_ = std::move(done);
    ends_with_hope_ = true;
    until_ = std::chrono::steady_clock::now() + lost_hope::sure_after + looks_for_votes_every * 2;
    look();
}

void vote_wait::start(std::optional<milliseconds> patience, std::function<void(end)> done)
{
    done_ = std::move(done);
    ends_with_hope_ = false;
    until_.reset();
    if (patience) until_ = std::chrono::steady_clock::now() + *patience;
    if (fencing_) nodes_.begin_admission();
    look();
}

bool vote_wait::stop()
{
    timer_.cancel();
    return std::exchange(done_, nullptr) != nullptr;
}

void vote_wait::look()
{
    if (!done_) return;
    auto const now = std::chrono::steady_clock::now();
    auto const status = nodes_.status();
    auto const tell = [this](end how) { std::exchange(done_, nullptr)(how); };
    if (count_voting(status, fencing_) >= quorum::majority(status.nodes.size())) return tell(end::votes);
    if (ends_with_hope_ && !(fencing_ && may_be_hopeless(status))) return tell(end::too_late);
    if (hope_.is_sure(status, fencing_, now)) return tell(end::hopeless);
    if (until_ && now >= *until_) return tell(end::too_late);
    timer_.expires_after(looks_for_votes_every);
    timer_.async_wait([this, exists = std::weak_ptr{exists_}](boost::system::error_code ec) {
        if (!exists.expired() && !ec) look();  // it may have rung before it was stopped
    });
}

}  // namespace redlock::cli
