#include "cli/nodes/vote_wait.hpp"

#include "cli/locks/waiting.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <utility>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto looks_for_votes_every = 20ms;

}  // namespace

bool needs_an_operator(node_status const& node)
{
    if (node.state == node_state::down && node.last_error == errc::wrong_node_set) return true;
    return node.state == node_state::usable &&
           (node.admission == admission_state::needs_operator || node.admission == admission_state::not_primary ||
            node.admission == admission_state::unidentified);
}

bool lost_hope::is_sure(client_status const& nodes, bool fencing, std::chrono::steady_clock::time_point now)
{
    auto const all = nodes.nodes.size();
    auto const stuck = static_cast<std::size_t>(std::count_if(nodes.nodes.begin(), nodes.nodes.end(), needs_an_operator));
    if (!fencing || all - stuck >= quorum::majority(all)) {
        since_.reset();
        return false;
    }
    if (!since_) since_ = now;
    return now - *since_ >= sure_after;
}

void vote_wait::start(std::optional<milliseconds> patience, std::function<void(end)> done)
{
    done_ = std::move(done);
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
    if (hope_.is_sure(status, fencing_, now)) return tell(end::hopeless);
    if (until_ && now >= *until_) return tell(end::too_late);
    timer_.expires_after(looks_for_votes_every);
    timer_.async_wait([this, exists = std::weak_ptr{exists_}](boost::system::error_code ec) {
        if (!exists.expired() && !ec) look();  // it may have rung before it was stopped
    });
}

}  // namespace redlock::cli
