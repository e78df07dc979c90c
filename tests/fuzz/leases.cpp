// Votes in any order, late, repeated timeouts, and clocks that jump forward: acquisitions, leases with their extensions, releases.
// Beside the machines stands what was really said, and the outcomes must follow from it.
#include "input.hpp"

#include "quorum/acquire_machine.hpp"
#include "quorum/lease_machine.hpp"
#include "quorum/release_machine.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace redlock::fuzz {
namespace {

using namespace quorum;
using namespace std::chrono_literals;

constexpr time_point start{1h};

vote any_vote(input& in)
{
    constexpr std::array votes{vote::granted, vote::granted, vote::refused, vote::failed};
    return in.one_of(votes);
}

lock_options any_options(input& in)
{
    lock_options o{.ttl = 10ms + std::chrono::milliseconds{in.number(2)}};
    if (in.flag()) o.node_timeout = std::min<std::chrono::milliseconds>(o.ttl, 1ms + std::chrono::milliseconds{in.byte()});
    if (in.flag()) o.max_hold = 1ms + std::chrono::milliseconds{in.number(2)};
    if (in.flag()) o.stop_margin = std::chrono::milliseconds{in.byte()};
    if (in.flag()) o.extend_interval = 1ms + std::chrono::milliseconds{in.byte()};
    o.auto_extend = !in.flag();
    o.clock_drift = in.flag() ? 0.01 : in.byte() / 512.0;
    return o;
}

duration jump(input& in)
{
    switch (in.below(4)) {
    case 0: return {};
    case 1: return std::chrono::microseconds{in.byte()};
    case 2: return std::chrono::milliseconds{in.byte()};
    default: return std::chrono::milliseconds{in.number(2)};
    }
}

// The M-th largest deadline of those that were granted and not taken back.
time_point majority_until(std::vector<time_point> until)
{
    std::sort(until.begin(), until.end(), std::greater<>{});
    return until[majority(until.size()) - 1];
}

struct node_story {
    std::optional<vote> voted;
    token_number counter{0};
    std::optional<vote> confirmed;
};

// An acquisition: what each node said, and what follows from it.
class acquisition {
public:
    acquisition(std::size_t nodes, timing const& t, bool fenced) : fenced_{fenced}, t_{t}, nodes_(nodes), machine_{nodes, start, t} {}

    // Plays until the lock is granted, otherwise also what comes late. Returns the outcome.
    acquire_outcome play(input& in)
    {
        for (std::size_t events = 0; events < 4 * nodes_.size() && !in.empty(); ++events) {
            one_event(in);
            if (machine_.outcome() == acquire_outcome::granted) return machine_.outcome();
        }
        if (machine_.outcome() == acquire_outcome::pending) {
            bool const all_said = std::all_of(nodes_.begin(), nodes_.end(), [](auto const& n) { return n.voted.has_value(); });
            check(!all_said || confirming_, "an attempt that every node has answered is decided");
            now = std::max(now, machine_.times_out());
            decided(machine_.on_timeout(now));
        }
        check(machine_.outcome() != acquire_outcome::pending, "an attempt ends with its timeout");
        return machine_.outcome();
    }

    acquire_machine const& machine() const noexcept { return machine_; }
    bool has_voted(std::size_t node) const noexcept { return nodes_[node].voted.has_value(); }
    bool claims(std::size_t node) const noexcept { return nodes_[node].voted == vote::granted && machine_.fits(nodes_[node].counter); }
    bool has_refused(std::size_t node) const noexcept { return nodes_[node].confirmed == vote::refused; }
    time_point now{start};

private:
    void one_event(input& in)
    {
        now += jump(in);
        std::size_t const node = in.below(nodes_.size());
        node_story& n = nodes_[node];
        if (in.below(16) == 15) return decided(machine_.on_timeout(now));
        if (n.voted) {
            // Who gave another token is asked to confirm the attempt's.
            if (!confirming_ || n.confirmed || n.voted != vote::granted || n.counter >= machine_.token()) return;
            n.confirmed = any_vote(in);
            return decided(machine_.on_confirmation(node, *n.confirmed, now));
        }
        n.voted = any_vote(in);
        if (fenced_ && n.voted == vote::granted) n.counter = 1 + in.below(4);
        bool const was_decided = machine_.outcome() != acquire_outcome::pending;
        auto const outcome = machine_.on_vote(node, *n.voted, now, n.counter);
        check(!was_decided || outcome == acquire_outcome::pending, "an attempt is decided once");
        decided(outcome);
        if (outcome == acquire_outcome::pending && machine_.wants_confirmation(now)) {
            check(!confirming_, "confirmations are wanted once");
            check(fenced_, "without tokens there is nothing to confirm");
            confirming_ = true;
        }
    }

    // Whether the node's claim stands behind the attempt's token.
    bool stands_for(node_story const& n, token_number token) const
    {
        return n.voted == vote::granted && (n.counter == token || (n.counter < token && n.confirmed == vote::granted));
    }

    void decided(acquire_outcome outcome)
    {
        check(machine_.holders().valid_until() <= start + t_.validity, "a lease is valid from before its request was sent");
        if (outcome == acquire_outcome::pending) return;
        check(outcome == machine_.outcome(), "the outcome is what was returned");
        std::size_t const needed = majority(nodes_.size());
        auto const count = [&](auto const& what) { return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), what)); };
        token_number const token = machine_.token().value_or(0);
        std::size_t const behind = count([&](auto const& n) { return stands_for(n, token); });
        std::size_t const said_no = count([&](auto const& n) {
            return n.voted == vote::refused || n.confirmed == vote::refused ||
                   (n.voted == vote::granted && n.counter > token && machine_.token());
        });
        bool const won = outcome == acquire_outcome::granted || outcome == acquire_outcome::validity_exhausted;
        check(won == (behind >= needed), "an attempt is won by a majority that stands behind its token, and only so");
        if (outcome == acquire_outcome::granted)
            check(now < machine_.holders().valid_until() - t_.stop_margin, "what was granted is good for something");
        if (outcome == acquire_outcome::contended) check(nodes_.size() - said_no < needed, "contended: so many said no");
        if (outcome == acquire_outcome::no_majority) check(nodes_.size() - said_no >= needed, "no majority: a majority could have been");
    }

    bool fenced_;
    timing t_;
    std::vector<node_story> nodes_;
    acquire_machine machine_;
    bool confirming_{false};
};

// A lease, and what every node said of it.
class lease_story {
public:
    lease_story(acquisition const& won, std::size_t nodes, timing const& t)
        : t_{t}, now_{won.now}, until_(nodes), gone_(nodes), lease_{won.machine().holders(), start, won.now, t}
    {
        // A node that could not confirm the token holds the key all the same.
        for (std::size_t i = 0; i < nodes; ++i) {
            gone_[i] = won.has_refused(i);
            if (!won.has_voted(i)) late_.push_back(i);
            if (won.claims(i) && !gone_[i]) until_[i] = start + t.validity;
        }
        check(lease_.valid_until() == majority_until(until_), "a lease is valid as long as a majority holds it");
    }

    void play(input& in)
    {
        for (int steps = 0; steps < 200 && !in.empty(); ++steps) {
            now_ = std::max(now_, in.flag() ? lease_.due() : now_ + jump(in));
            check_times();
            auto const duty = lease_.duty(now_, jump(in) / 8);
            if (duty == lease_duty::stop || duty == lease_duty::stop_max_hold) return;
            if (duty == lease_duty::extend || duty == lease_duty::recreate || in.below(8) == 7) extend(in);
            if (in.below(8) == 7) lease_.want_recreate(now_);
            if (in.below(8) == 7) lease_.handed_over(now_);
            if (in.below(8) == 7) grant_late();
        }
    }

private:
    void check_times() const
    {
        check(lease_.stops_at() <= lease_.valid_until() - t_.stop_margin, "a lease is given up before its validity ends");
        check(lease_.due() <= lease_.stops_at(), "the watchdog comes before the lease is given up");
        check(lease_.duty(lease_.due()) != lease_duty::none, "when the watchdog is due there is something to do");
        bool const over = now_ >= lease_.stops_at();
        bool const stops = lease_.duty(now_) == lease_duty::stop || lease_.duty(now_) == lease_duty::stop_max_hold;
        check(over == stops, "a lease is given up in time, and not before");
    }

    // The acquisition's own grant, from a node that was slow.
    void grant_late()
    {
        if (late_.empty()) return;
        std::size_t const node = late_.back();
        late_.pop_back();
        lease_.on_late_grant(node, start + t_.validity);
        until_[node] = std::max(until_[node], start + t_.validity);
        gone_[node] = false;
    }

    // One extension: some votes, perhaps a timeout in between, the rest later or never.
    void extend(input& in)
    {
        if (now_ >= lease_.stops_at()) return;
        time_point const sent = now_, before = lease_.valid_until();
        extend_machine machine{until_.size(), sent, before, t_};
        lease_.on_extension_sent(sent);
        std::size_t granted = 0, answered = 0;
        auto const settle = [&](extend_outcome outcome) {
            if (outcome == extend_outcome::pending) return;
            check(outcome == machine.outcome(), "the outcome is what was returned");
            judge(outcome, granted, sent, before);
            lease_.on_extension_done(outcome, now_);
        };
        for (std::size_t node = 0; node < until_.size() && !in.empty(); ++node) {
            now_ += jump(in) / 16;
            if (in.below(16) == 15) settle(machine.on_timeout(lease_));
            vote const v = any_vote(in);
            if (v == vote::granted) {
                granted += machine.outcome() == extend_outcome::pending;
                until_[node] = std::max(until_[node], sent + t_.validity);
                gone_[node] = false;
            }
            if (v == vote::refused) {
                until_[node] = {};
                gone_[node] = true;
            }
            bool const open = machine.outcome() == extend_outcome::pending;
            auto const outcome = machine.on_vote(lease_, node, v);
            check(open || outcome == extend_outcome::pending, "an extension is decided once");
            settle(outcome);
            ++answered;
            check(lease_.valid_until() == majority_until(until_), "a lease is valid as long as a majority holds it");
        }
        check(answered < until_.size() || machine.outcome() != extend_outcome::pending, "an extension that all answered is decided");
        if (machine.outcome() == extend_outcome::pending) settle(machine.on_timeout(lease_));
        check(machine.outcome() != extend_outcome::pending, "an extension ends with its timeout");
    }

    void judge(extend_outcome outcome, std::size_t granted, time_point sent, time_point before) const
    {
        time_point const now_until = majority_until(until_);
        auto const gone = static_cast<std::size_t>(std::count(gone_.begin(), gone_.end(), true));
        std::size_t const needed = majority(until_.size());
        check((outcome == extend_outcome::renewed) == (granted >= needed), "a majority renews, and only a majority");
        check(now_until <= sent + t_.validity || now_until <= before, "no extension is worth more than its validity");
        if (outcome == extend_outcome::renewed) check(now_until >= sent + t_.validity, "what was renewed is valid from the sending");
        if (outcome == extend_outcome::held) check(now_until > before, "held: validity has grown");
        if (outcome == extend_outcome::unknown) check(now_until <= before && now_until != time_point{}, "unknown: validity is what it was");
        if (outcome == extend_outcome::lost)
            check(until_.size() - gone < needed || now_until == time_point{}, "lost: no majority can hold the key");
    }

    timing t_;
    time_point now_;
    std::vector<time_point> until_;
    std::vector<bool> gone_;
    std::vector<std::size_t> late_;  // nodes that have not answered the acquisition
    lease_machine lease_;
};

void play_release(input& in, std::size_t nodes)
{
    release_machine machine{nodes};
    std::size_t granted = 0, refused = 0, failed = 0, decisions = 0;
    auto const settle = [&](release_outcome outcome) {
        if (outcome == release_outcome::pending) return;
        check(++decisions == 1, "a release is decided once");
        if (outcome == release_outcome::released) check(granted >= majority(nodes), "a majority has released");
        if (outcome == release_outcome::lost) check(nodes - refused < majority(nodes), "a majority did not have it any more");
    };
    for (std::size_t node = 0; node < nodes; ++node) {
        if (in.below(16) == 15) settle(machine.on_timeout());
        check(machine.is_pending(node), "who has not answered is waited for");
        vote const v = any_vote(in);
        (v == vote::granted ? granted : v == vote::refused ? refused : failed) += 1;
        settle(machine.on_vote(node, v));
    }
    check(machine.complete() && machine.outcome() != release_outcome::pending, "a release that all answered is decided");
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    using namespace redlock;
    using namespace redlock::fuzz;
    input in{data, size};
    std::size_t const nodes = 1 + in.below(max_nodes);
    lock_options const options = any_options(in);
    try {
        validate(options);
    } catch (std::invalid_argument const&) {
        return 0;  // no lock has such options
    }
    auto const t = quorum::make_timing(options);
    acquisition attempt{nodes, t, in.flag()};
    if (attempt.play(in) == quorum::acquire_outcome::granted) lease_story{attempt, nodes, t}.play(in);
    play_release(in, nodes);
    return 0;
}
