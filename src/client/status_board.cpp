#include "client/status_board.hpp"

#include "core/lease/ticket.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace redlock::detail {

void status_board::add(std::string name, bool is_group, double clock_drift)
{
    nodes_.emplace_back();
    nodes_.back().node = std::move(name);
    nodes_.back().is_group = is_group;
    nodes_.back().state = node_state::idle;
    nodes_.back().last_error = errc::client_not_running;
    nodes_.back().last_error_text = "client.run() was not called";
    admissions_.emplace_back();
    clocks_.emplace_back(clock_drift);
    servers_.emplace_back();
}

void status_board::starts()
{
    std::lock_guard const guard{mutex_};
    for (node_status& n : nodes_) {
        n.state = node_state::connecting;
        n.last_error = {};
        n.last_error_text.clear();
    }
}

void status_board::up(std::size_t node, std::string const& server)
{
    std::lock_guard const guard{mutex_};
    servers_[node] = server;
    nodes_[node].state = node_state::usable;
    ++nodes_[node].connects;
}

void status_board::down(std::size_t node, error_code why, std::string const& text)
{
    std::lock_guard const guard{mutex_};
    nodes_[node].state = node_state::down;
    nodes_[node].last_error = why;
    nodes_[node].last_error_text = text;
    nodes_[node].primary.clear();
    nodes_[node].login_text.clear();
    servers_[node].clear();
}

void status_board::primary(std::size_t node, std::string const& server)
{
    std::lock_guard const guard{mutex_};
    nodes_[node].primary = server;
}

void status_board::login(std::size_t node, std::string const& why_not)
{
    std::lock_guard const guard{mutex_};
    nodes_[node].login_text = why_not;
}

bool status_board::several_servers(std::size_t node, std::string const& words)
{
    std::lock_guard const guard{mutex_};
    return std::exchange(nodes_[node].address_text, words).empty();
}

void status_board::admission(std::size_t node, admission_picture const& now)
{
    std::lock_guard const guard{mutex_};
    admissions_[node] = now;
}

void status_board::clock(std::size_t node, node_clock const& now)
{
    std::lock_guard const guard{mutex_};
    clocks_[node] = now;
}

std::vector<node_status> status_board::status(time_point now) const
{
    std::lock_guard const guard{mutex_};
    auto all = nodes_;
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].admission = admissions_[i].state;
        bool const is_away = all[i].state == node_state::down && admissions_[i].state == admission_state::unknown;
        all[i].admission_text = is_away ? "it is not connected: " + all[i].last_error_text : admissions_[i].text(now);
        all[i].clock_steps = clocks_[i].steps();
        all[i].last_clock_step = std::chrono::duration_cast<std::chrono::milliseconds>(clocks_[i].last_step());
        all[i].clock_text = clocks_[i].text(now);
    }
    return all;
}

std::vector<std::uint32_t> status_board::fingerprints() const
{
    std::lock_guard const guard{mutex_};
    std::vector<std::uint32_t> all;
    for (std::string const& each : servers_)
        if (!each.empty()) all.push_back(fingerprint(each));
    return all;
}

std::optional<std::size_t> status_board::node_of(std::string const& server) const
{
    auto const found = std::find(servers_.begin(), servers_.end(), server);
    if (server.empty() || found == servers_.end()) return {};
    return static_cast<std::size_t>(found - servers_.begin());
}

}  // namespace redlock::detail
