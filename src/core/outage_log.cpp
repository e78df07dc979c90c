#include "core/outage_log.hpp"

#include "base/to_error.hpp"
#include "core/fanout.hpp"
#include "quorum/in_seconds.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace {

// What failed once and then long after may have worked in between.
constexpr duration forgotten_after = outage_log::repeats_after;

// A server chooses its own words; they must not be able to break a log into lines or to write to a terminal.
void put_on_one_line(std::string& text)
{
    std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
}

std::string in_words(reply const& why)
{
    if (why.words().empty()) return to_error(why.error).message();
    return why.not_connected && why.error != errc::wrong_node_set ? "no connection: " + why.words() : why.words();
}

}  // namespace

std::unique_ptr<outage_log> outage_log::make(sink to, asio::any_io_executor const& on)
{
    if (!to) return nullptr;
    return std::unique_ptr<outage_log>{new outage_log{std::move(to), on}};
}

void outage_log::failed(fanout& nodes, quorum::node_set silent, bool fenced, bool running, time_point sent, time_point now)
{
    outage& o = of(fenced);
    if (!o.since || sent - o.seen > forgotten_after) o.since = sent;
    o.seen = now;
    if (now - *o.since < told_after || (!said_.empty() && now - said_at_ < next_cause_after)) return;
    reason r = running ? why(nodes, quorum::node_set::all(nodes.nodes()), silent, fenced, now)
                       : reason{"not running", "client.run() was not called"};
    if (r.cause == said_ && now - said_at_ < repeats_after) return;
    said_ = std::move(r.cause);
    said_at_ = now;
    say("for " + in_seconds(now - *o.since) + " no lock could be acquired: " + r.text);
}

void outage_log::waits_for_own_lease(std::string_view lock, duration waited, time_point now)
{
    if (own_lease_said_at_ && now - *own_lease_said_at_ < repeats_after) return;
    own_lease_said_at_ = now;
    say("for " + in_seconds(waited) + " an acquisition of " + std::string{lock} +
        " has waited for this client itself, which holds it; a coroutine that acquires what it holds waits for ever");
}

void outage_log::several_servers(std::string const& node, std::string const& words) { say(node + ": " + words); }

void outage_log::bootstrapped(duration quarantine)
{
    say("config::bootstrap is set and no node has data of redlock: the wait of " + in_seconds(quarantine) +
        " for leases that may have been lost is skipped");
}

void outage_log::recovered(std::vector<std::string> const& names, quorum::node_set const& which)
{
    std::string text;
    std::size_t count = 0;
    for (std::size_t node = 0; node < names.size(); ++node) {
        if (!which.has(node)) continue;
        text += (count == 0 ? "" : ", ") + names[node];
        ++count;
    }
    say(std::to_string(count) + " of " + std::to_string(names.size()) +
        " nodes had lost their data, and vote again after the wait for "
        "earlier leases, with tokens from the wall clock (config::after_majority_loss): " +
        text);
}

std::optional<time_point> outage_log::lost(std::string_view lock, errc why, std::string_view words, time_point now)
{
    if (loss_said_at_ && now - *loss_said_at_ < next_cause_after) {
        ++more_lost_;
        return *loss_said_at_ + next_cause_after;
    }
    loss_said_at_ = now;
    say(std::string{lock} + ": " + error_code{why}.message() + (words.empty() ? "" : "; ") + std::string{words});
    return std::nullopt;
}

void outage_log::more_lost()
{
    auto const count = std::exchange(more_lost_, 0);
    if (count > 0) say(std::to_string(count) + (count == 1 ? " more lease was" : " more leases were") + " lost soon after");
}

void outage_log::blocked(duration at_least, time_point now)
{
    if (blocked_said_at_ && now - *blocked_said_at_ < repeats_after) return;
    blocked_said_at_ = now;
    say("for at least " + in_seconds(at_least) +
        " the client's executor did not run, which extends leases: a handler blocked it, or the process or the machine was stopped");
}

void outage_log::never_reached(fanout& nodes, quorum::node_set which, duration since_start, time_point now)
{
    reason r = why(nodes, which, which, false, now);
    if (r.text.empty() || r.cause == said_) return;
    say("not usable since the start " + in_seconds(since_start) + " ago: " + r.text);
}

outage_log::reason outage_log::why(fanout& nodes, quorum::node_set among, quorum::node_set silent, bool fenced, time_point now)
{
    struct group {
        std::string names;
        std::string text;
    };
    std::vector<group> groups;
    reason r;
    for (std::size_t node = 0; node < nodes.nodes(); ++node) {
        if (!among.has(node)) continue;
        reply const* const not_asked = nodes.why_not_asked(node, fenced, now);
        if (!not_asked && !silent.has(node)) continue;
        std::string text = not_asked ? in_words(*not_asked) : "no answer in time";
        // Without what follows the first digit, which changes all the time: how long it still takes, or how many others there are.
        r.cause += std::to_string(node) + text.substr(0, text.find_first_of("0123456789")) + '\n';
        auto const same = std::find_if(groups.begin(), groups.end(), [&](group const& g) { return g.text == text; });
        if (same == groups.end()) {
            groups.push_back({nodes.name(node), std::move(text)});
        } else {
            same->names += ", " + nodes.name(node);
        }
    }
    for (group const& g : groups) r.text += (r.text.empty() ? "" : "; ") + g.names + ": " + g.text;
    return r;
}

void outage_log::say(std::string text)
{
    put_on_one_line(text);
    asio::post(on_, [to = to_, text = std::move(text)] { (*to)(text); });
}

}  // namespace redlock::detail
