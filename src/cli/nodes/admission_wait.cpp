#include "cli/nodes/admission_wait.hpp"

#include "cli/nodes/vote_wait.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"
#include "node/connection/node_address.hpp"
#include "quorum/sets/set_record.hpp"

#include <redlock/client.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto looks_every = 50ms;
constexpr auto speaks_every = 10s;    // while nothing changes

std::string words_about(node_status const& n)
{
    if (n.admission == admission_state::admitted) return "admitted";
    if (n.state == node_state::connecting) return "no connection so far";
    if (n.state == node_state::down)
        return "not connected: " + printable(n.last_error_text.empty() ? n.last_error.message() : n.last_error_text);
    return std::string{to_string(n.admission)} + ": " + printable(n.admission_text);
}

class admitting {
public:
    admitting(config const& settings, std::optional<milliseconds> patience, std::vector<bool> awaited,
              std::function<void(std::string const&)> tell)
        : nodes_{io_.get_executor(), settings},
          patience_{patience},
          tell_{std::move(tell)},
          awaited_{std::move(awaited)},
          of_clusters_{settings.nodes.front().cluster},
          said_(awaited_.size())
    {
        if (settings.quarantine_folder.empty()) tell_(std::string{no_quarantine_folder} + '\n');
    }

    std::vector<node_status> run()
    {
        nodes_.run(asio::detached);
        nodes_.begin_admission();
        look();
        io_.run();
        if (!failure_.empty()) throw failure{exit_code::not_admitted, failure_};
        return std::move(admitted_);
    }

private:
    void look()
    {
        auto const now = steady::now();
        auto const all = nodes_.status().nodes;
        say(all, now);
        auto const admitted = [](node_status const& n) { return n.admission == admission_state::admitted; };
        auto const hopeless = [&](node_status const& n) { return admitted(n) || needs_an_operator(n); };
        if (all_awaited(all, admitted)) {
            for (std::size_t i = 0; i < all.size(); ++i)
                if (awaited_[i]) admitted_.push_back(all[i]);
            return nodes_.cancel();
        }
        if (!all_awaited(all, hopeless)) hope_ends_ = now + lost_hope::sure_after;
        if (now >= hope_ends_) return fail(waiting_does_not_help, all);
        if (patience_ && now >= began_ + *patience_) return fail("not admitted within " + in_words(*patience_), all);
        timer_.expires_after(looks_every);
        timer_.async_wait([this](error_code) { look(); });
    }

    template <class Predicate>
    bool all_awaited(std::vector<node_status> const& all, Predicate so) const
    {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (awaited_[i] && !so(all[i])) return false;
        return true;
    }

    // What is new, and all of it now and then.
    void say(std::vector<node_status> const& all, steady::time_point now)
    {
        bool const again = now >= says_again_;
        if (again) says_again_ = now + speaks_every;
        std::string text;
        if (of_clusters_) return say_of_shards(all, again);
        for (std::size_t i = 0; i < all.size(); ++i) {
            node_status const& n = all[i];
            if (!awaited_[i]) continue;
            auto const what = std::pair{n.state, n.admission};
            bool const is_beginning = n.state == node_state::idle || n.state == node_state::connecting;
            bool const is_settled = n.admission == admission_state::admitted || is_beginning;
            if (said_[i] == what && (!again || is_settled)) continue;
            bool const was_not_asked = n.state == node_state::usable && n.admission == admission_state::unknown;
            // Mostly it is uninitialized for a moment; for longer where it cannot be marked.
            if (!is_beginning && (again || (n.admission != admission_state::uninitialized && !was_not_asked)))
                text += n.node + ": " + words_about(n) + '\n';
            said_[i] = what;
        }
        if (!text.empty()) tell_(text);
    }

    // Of many shards it says how many there are, and what one of the others waits for.
    void say_of_shards(std::vector<node_status> const& all, bool again)
    {
        auto const admitted = [](node_status const& n) { return n.admission == admission_state::admitted; };
        auto const connecting = [](node_status const& n) { return n.state == node_state::connecting; };
        auto const count = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), admitted));
        if (std::all_of(all.begin(), all.end(), connecting) || (count == shards_said_ && !again)) return;
        shards_said_ = count;
        auto text = std::to_string(count) + " of " + count_of(all.size(), "shard") + " are admitted";
        auto const other = std::find_if_not(all.begin(), all.end(), admitted);
        if (other != all.end()) text += "; shard " + std::to_string(other->shard) + " of " + other->node + ": " + words_about(*other);
        tell_(text + '\n');
    }

    void fail(std::string text, std::vector<node_status> const& all)
    {
        for (std::size_t i = 0; i < all.size(); ++i)
            if (node_status const& n = all[i]; awaited_[i] && n.admission != admission_state::admitted)
                text += "\n  " + n.node + (of_clusters_ ? ", shard " + std::to_string(n.shard) : "") + ": " + words_about(n);
        failure_ = std::move(text);
        nodes_.cancel();
    }

    asio::io_context io_{1};
    client nodes_;
    std::optional<milliseconds> patience_;
    std::function<void(std::string const&)> tell_;
    std::vector<bool> awaited_;
    bool of_clusters_;
    std::vector<std::optional<std::pair<node_state, admission_state>>> said_;
    std::optional<std::size_t> shards_said_;  // how many were admitted then
    std::vector<node_status> admitted_;
    asio::steady_timer timer_{io_};
    steady::time_point const began_{steady::now()};
    steady::time_point hope_ends_{began_ + lost_hope::sure_after};
    steady::time_point says_again_{began_ + speaks_every};
    std::string failure_;
};

}  // namespace

std::vector<node_status> wait_for_admission(config const& settings, std::optional<milliseconds> patience,
                                            std::function<void(std::string const&)> const& say,
                                            std::function<bool(std::string const& member)> const& is_awaited)
{
    std::vector<bool> awaited;
    for (node_address const& n : settings.nodes) awaited.push_back(!is_awaited || is_awaited(quorum::member_name(member_address(n))));
    if (auto const& cluster = settings.nodes.front().cluster) awaited.assign(settings.nodes.size() * cluster->shards, true);
    return admitting{settings, patience, std::move(awaited), say}.run();
}

}  // namespace redlock::cli
