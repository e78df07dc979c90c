#include "cli/votes.hpp"

#include "cli/text.hpp"

#include <redlock/client.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto asks_again_after = 10ms;

bool votes(node_status const& n, bool with_tokens)
{
    if (n.state != node_state::usable) return false;
    return !with_tokens || (n.admission == admission_state::admitted && n.clock_text.empty());
}

// Whether it will say nothing else in the next moments.
bool has_spoken(node_status const& n, bool with_tokens)
{
    if (n.state == node_state::down) return true;
    return n.state == node_state::usable && (!with_tokens || n.admission != admission_state::unknown);
}

std::string why_not(node_status const& n)
{
    if (n.state == node_state::connecting) return "no connection so far";
    if (n.state != node_state::usable) return n.last_error_text.empty() ? n.last_error.message() : n.last_error_text;
    if (!n.admission_text.empty()) return for_users(n.admission_text);
    return n.clock_text.empty() ? std::string{"it has not said yet which data it has"} : n.clock_text;
}

// "a, b: why; c: why else"
std::string reasons(std::vector<node_status> const& nodes, std::size_t shard, bool with_tokens)
{
    std::vector<std::pair<std::string, std::string>> all;  // nodes, and why they do not vote
    for (node_status const& n : nodes) {
        if (n.shard != shard || votes(n, with_tokens)) continue;
        auto why = why_not(n);
        auto const same = std::find_if(all.begin(), all.end(), [&](auto const& each) { return each.second == why; });
        if (same == all.end()) all.emplace_back(n.node, std::move(why));
        else same->first += ", " + n.node;
    }
    std::string text;
    for (auto const& [some, why] : all) text += (text.empty() ? "" : "; ") + some + ": " + why;
    return text;
}

}  // namespace

std::string vote_count::text() const
{
    if (votes == 0) return all == 1 ? "the node does not vote" : "no node votes";
    return std::to_string(votes) + " of " + count_of(all, "node") + (votes == 1 ? " votes" : " vote");
}

std::vector<node_status> look_as_a_client(config settings, bool with_tokens, std::chrono::milliseconds timeout)
{
    settings.connect_timeout = std::min(settings.connect_timeout, timeout);
    asio::io_context io{1};
    client nodes{io.get_executor(), settings};
    asio::steady_timer timer{io};
    auto const ends = std::chrono::steady_clock::now() + timeout;
    std::vector<node_status> seen;
    std::function<void()> const look = [&] {
        seen = nodes.status().nodes;
        bool const all = std::all_of(seen.begin(), seen.end(), [&](node_status const& n) { return has_spoken(n, with_tokens); });
        if (all || std::chrono::steady_clock::now() >= ends) return nodes.cancel();
        timer.expires_after(asks_again_after);
        timer.async_wait([&](error_code) { look(); });
    };
    nodes.run(asio::detached);
    look();
    io.run();
    return seen;
}

std::vector<finding> judge_votes(std::vector<node_status> const& nodes, bool with_tokens)
{
    std::map<std::size_t, vote_count> shards;
    for (node_status const& n : nodes) {
        vote_count& count = shards[n.shard];
        ++count.all;
        if (votes(n, with_tokens)) ++count.votes;
    }
    std::string const kind = with_tokens ? "a lock with a token" : "a lock";
    std::size_t stuck = 0, tight = 0;
    vote_count worst, tightest;
    std::string why;
    for (auto const& [shard, count] : shards) {
        if (count.is_enough()) {
            if (count.votes < count.all && count.spare() == 0 && tight++ == 0) tightest = count;
            continue;
        }
        if (stuck++ > 0) continue;
        worst = count;
        why = reasons(nodes, shard, with_tokens);
    }
    auto const where = [&](std::size_t some) {
        return shards.size() == 1 ? std::string{} : " in " + std::to_string(some) + " of " + count_of(shards.size(), "shard");
    };
    if (stuck > 0)
        return {{severity::danger, "",
                 "nobody can acquire " + kind + " now" + where(stuck) + ": " + worst.text() +
                     (worst.all == 1 ? "" : ", and " + std::to_string(worst.needed()) + " must") + " (" + why + ')',
                 "see what is said of each node; redlock admit waits until they vote, or says that only an operator can help"}};
    if (tight > 0)
        return {
            {severity::warning, "",
             "no further node may fail" + where(tight) + ": " + tightest.text() + ", and " + std::to_string(tightest.needed()) + " must",
             "bring the others back; see what is said of each"}};
    return {};
}

}  // namespace redlock::cli
