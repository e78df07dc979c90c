// Who waits, and whose turn it is: looks, changes, silence, naps, attempts and releases in any order, and clocks that jump forward.
// Whatever happens, who waits has a moment at which to look again, and nobody keeps a lock beyond the limits.
#include "input.hpp"

#include "quorum/waiting/backoff.hpp"
#include "quorum/waiting/fairness.hpp"
#include "quorum/waiting/wait_schedule.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace redlock::fuzz {
namespace {

using namespace quorum;
using namespace std::chrono_literals;

constexpr time_point start{1h};
constexpr time_point never = time_point::max();

duration jump(input& in)
{
    switch (in.below(4)) {
    case 0: return {};
    case 1: return std::chrono::microseconds{in.byte()};
    case 2: return std::chrono::milliseconds{in.byte()};
    default: return std::chrono::milliseconds{in.number(3)};
    }
}

struct told_by_node {
    time_point free_at{never};
    bool watching{false};
};

// As a line of waiters uses it: it looks before it asks the nodes, and is answered only then.
class wait {
public:
    explicit wait(std::size_t nodes) : nodes_(nodes), patience_{nodes} {}

    void play(input& in)
    {
        patience_.begin(now_);
        check(patience_.due() == now_ && patience_.step(now_) == next_step::attempt, "who comes first asks at once");
        fail(in);
        for (int events = 0; events < 300 && !in.empty(); ++events) {
            now_ += jump(in);
            one_event(in);
            check_due();
        }
    }

private:
    void one_event(input& in)
    {
        std::size_t const node = in.below(nodes_.size());
        told_by_node& n = nodes_[node];
        switch (in.below(7)) {
        case 0: {
            std::optional<time_point> free_at;
            if (in.below(4) == 3) free_at = never;
            else if (in.flag()) free_at = now_ + jump(in);
            n.free_at = free_at.value_or(std::min(n.free_at, now_));
            n.watching = in.flag();
            return patience_.on_probe(node, now_, free_at, n.watching);
        }
        case 1: n.free_at = std::min(n.free_at, now_); return patience_.on_changed(node, now_);
        case 2: n = {}; return patience_.on_silence(node);
        case 3: until_ = now_ + jump(in) + 1ns; return patience_.sleep(*until_);
        default: break;
        }
        now_ = std::max(now_, patience_.due());
        act(in);
    }

    void act(input& in)
    {
        auto const step = patience_.step(now_);
        if (step == next_step::race)
            check(free_by(now_ - head_start_) >= majority(nodes_.size()), "who races has heard of a majority that is free");
        if (step == next_step::probe) return probe(in);
        patience_.attempting();
        std::fill(nodes_.begin(), nodes_.end(), told_by_node{});
        now_ += jump(in) / 64;
        fail(in);
    }

    void probe(input& in)
    {
        if_told_ = now_ + 1ms + jump(in);
        if_not_ = std::min(if_told_, now_ + 1ms + jump(in));
        until_.reset();
        patience_.probing(if_told_, if_not_);
    }

    void fail(input& in)
    {
        probe(in);
        head_start_ = jump(in) / 64;
        retry_at_ = now_ + 1ms + jump(in);
        patience_.failed(now_, retry_at_, head_start_);
    }

    std::size_t free_by(time_point t) const
    {
        return static_cast<std::size_t>(std::count_if(nodes_.begin(), nodes_.end(), [t](auto const& n) { return n.free_at <= t; }));
    }

    void check_due() const
    {
        auto const due = patience_.due();
        check(due != never, "nobody waits for ever");
        check(patience_.is_asleep() == until_.has_value(), "who naps is asleep");
        if (until_) return check(due == *until_, "whatever happens, who naps sleeps until the end");
        auto const watching = std::count_if(nodes_.begin(), nodes_.end(), [](auto const& n) { return n.watching; });
        bool const told = static_cast<std::size_t>(watching) >= majority(nodes_.size());
        check(patience_.is_told() == told, "who is told is told by a majority");
        check(due <= std::max(retry_at_, told ? if_told_ : if_not_), "who is not told looks soon, and who is told looks");
        auto const step = patience_.step(due);
        if (step == next_step::race) check(free_by(due - head_start_) >= majority(nodes_.size()), "a race is for what is free");
        if (step == next_step::attempt) check(due == retry_at_, "without news, the random delay decides");
        if (due < std::min(retry_at_, told ? if_told_ : if_not_)) check(step == next_step::race, "earlier only to race");
    }

    std::vector<told_by_node> nodes_;
    wait_schedule patience_;
    time_point now_{start};
    time_point retry_at_{start};
    time_point if_told_{never}, if_not_{never};
    duration head_start_{};
    std::optional<time_point> until_;
};

// One client's turns at one lock.
void play_turns(input& in)
{
    constexpr duration min_slot = 200us, max_slot = 10ms;
    duration const slot = min_slot + (max_slot - min_slot) * in.byte() / 255;
    fairness_limits const limits{static_cast<std::uint32_t>(in.below(4)), std::chrono::milliseconds{in.byte()}};
    fairness t;
    time_point now = start;
    std::minstd_rand random{in.byte() + 1u};
    backoff delays{2ms, 1s};
    for (int turns = 0; turns < 100 && !in.empty(); ++turns) {
        now += jump(in);
        double const chance = in.byte() / 256.0;
        for (std::size_t lost = in.below(32); lost > 0; --lost) {
            if (in.flag()) t.refused(now);
            t.lost_a_race();
            auto const back_off = t.back_off(slot, in.below(8) == 7, chance);
            check(back_off >= duration{} && back_off <= 8s, "no nap is longer than a few seconds");
            auto const head_start = t.head_start_of_others(slot, chance);
            check(head_start >= duration{} && head_start <= 9 * slot, "others are given a few slots at most");
            auto const of_writer = t.head_start_of_readers_and_writers(now, slot, chance);
            check(of_writer >= slot && of_writer <= 10 * slot, "writers leave readers one slot, and others a few more at most");
            auto const delay = delays.next(random);
            check(delay >= 2ms && delay <= 1s, "a random delay is between its bounds");
        }
        if (in.flag()) t.backed_off_too_long();
        t.won(now, slot);
        auto const held_from = now;
        std::uint32_t passed_on = 0;
        for (std::size_t tries = in.below(6); tries > 0; --tries) {
            now += jump(in) / 64;
            if (!t.may_hand_over(now, limits)) continue;
            t.handed_over();
            check(++passed_on <= limits.handoffs, "a lease is passed on so many times at most");
            check(now < held_from + limits.time, "and for so long");
        }
        bool const must_end = !t.may_hand_over(now, limits);
        auto const out_until = t.released(now, limits, slot);
        check(out_until == t.out_until() && out_until <= now + 10 * slot + 16ms, "nobody stays out for long");
        check(!must_end || out_until > now, "after a turn the others have theirs");
        check(t.is_over(now + std::max<duration>(1s, 16 * slot + 16ms)), "nothing is remembered for ever");
    }
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    using namespace redlock::fuzz;
    input in{data, size};
    if (in.flag()) play_turns(in);
    else wait{1 + in.below(redlock::max_nodes)}.play(in);
    return 0;
}
