// Permits of one semaphore on three servers in memory: acquires of any slots, and of those that were chosen, confirmations, extensions, releases and
// changes of the number, in any order, twice or never, and clocks that jump forward. What docs/proof.md promises of them must hold, and each answer must
// have its reason. A request that is executed once more has an answer that nobody waits for.
#include "input.hpp"
#include "permit_servers.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace redlock::fuzz {
namespace {

using namespace std::chrono_literals;

duration jump(input& in)
{
    switch (in.below(8)) {
    case 0: return ttl + 1ms;
    case 1: return ttl / 2;
    case 2:
    case 3: return std::chrono::milliseconds{in.byte() / 8};
    default: return std::chrono::microseconds{in.byte()};
    }
}

// Somebody changes the number of permits: tells all servers, and then acquires the slots above, to know that nobody holds them.
struct change {
    std::uint32_t permits;
    std::uint64_t version;
    std::array<bool, nodes> told{};
    bool came_second{false};
    std::size_t empties{0};  // the attempt, counted from 1; 0: not yet
};

class story {
public:
    void play(input& in)
    {
        bool const number_changes = in.flag();
        for (event_ = 1; event_ <= max_events && !in.empty(); ++event_) {
            one_event(in, number_changes);
            check_holders();
            check_counters();
        }
    }

private:
    void one_event(input& in, bool number_changes)
    {
        std::size_t const what = in.below(16);
        if (what == 0) return begin(in);
        if (what == 1) servers_.now += jump(in);
        if (what == 2 && number_changes) return in.below(4) == 0 ? begin_change(in) : go_on_with_change(in);
        if (what <= 2 || attempts_.empty()) return;
        // Rather a late one, or what is over would take up all events.
        std::size_t const back = in.flag() ? in.below(2) : in.below(attempts_.size());
        attempt& a = attempts_[attempts_.size() - 1 - std::min(back, attempts_.size() - 1)];
        std::size_t const node = in.below(nodes);
        switch (what) {
        case 3:
        case 4:
        case 5: return acquire(a, node);
        case 6:
        case 7: return choose(a, in);
        case 8:
        case 9: return acquire_chosen(a, node);
        case 10:
        case 11: return confirm(a, node);
        case 12: return extend(a, node, in.flag());
        case 13: return a.complete > 0 || in.below(4) == 0 ? release(a, node) : void();
        case 14: return give_back(a, node);
        default: return repeat(a, node, in);
        }
    }

    void begin(input& in)
    {
        if (attempts_.size() >= max_attempts) return;
        attempt a;
        if (in.below(8) == 7) a.permits = 1 + static_cast<std::uint32_t>(in.below(max_slots));
        for (change const& c : changes_)
            if (c.permits == a.permits) a.version = std::max(a.version, c.version);
        a.listed = quorum::all_slots(a.permits);
        a.wanted = 1 + static_cast<std::uint32_t>(in.below(std::min<std::size_t>(2, a.permits)));
        a.from = static_cast<std::uint32_t>(in.below(a.permits));
        a.floor = in.flag() ? in.byte() : 0;
        start(std::move(a));
    }

    void start(attempt a)
    {
        a.value = "v" + std::to_string(attempts_.size());
        a.began = event_;
        a.sent = servers_.now;
        attempts_.push_back(std::move(a));
    }

    // The first round. An answer after the choice counts if it is what was chosen.
    void acquire(attempt& a, std::size_t node)
    {
        auto& part = a.at[node];
        if (a.ended || part.answered) return;
        auto const got = servers_.ask(a, node, a.listed, a.wanted);
        part.answered = true;
        part.gave = got.slots;
        part.counter = got.counter;
        counts(a, node);
    }

    // What a node gave, or, of one slot, any that it does not have to come back to.
    void choose(attempt& a, input& in)
    {
        auto const& part = a.at[in.below(nodes)];
        auto const any = quorum::only_slot(in.below(max_slots)) & a.listed;
        bool const moves = in.below(4) == 0;
        if (a.ended || a.chosen != 0 || !part.answered) return;
        a.chosen = a.wanted == 1 && (part.gave == 0 || moves) ? any : part.gave;
        for (std::size_t node = 0; node < nodes && a.chosen != 0; ++node) counts(a, node);
    }

    void counts(attempt& a, std::size_t node)
    {
        auto& part = a.at[node];
        if (a.chosen == 0 || part.gave != a.chosen) return;
        is_granted(a, node, part.counter);
    }

    // The second round.
    void acquire_chosen(attempt& a, std::size_t node)
    {
        auto& part = a.at[node];
        if (a.ended || a.chosen == 0 || !part.answered || part.asked_again || (part.gave & a.chosen) != 0) return;
        part.asked_again = true;
        auto const got = servers_.ask(a, node, a.chosen, static_cast<std::uint32_t>(size_of(a.chosen)));
        if (got.slots != 0) is_granted(a, node, got.counter);
    }

    void is_granted(attempt& a, std::size_t node, token_number counter)
    {
        a.at[node].grants(counter, a.sent);
        a.choose_token();
        completes(a);
    }

    void confirm(attempt& a, std::size_t node)
    {
        auto& part = a.at[node];
        if (a.ended || a.complete > 0 || a.token == 0 || !part.granted || part.counter >= a.token) return;
        if (servers_.send(a, node, verb::confirm, a.chosen, a.token).vote != vote::granted) return;
        part.stands = true;
        completes(a);
    }

    void completes(attempt& a)
    {
        if (!a.can_complete(servers_.now)) return;
        for (attempt const& b : attempts_) {
            if (b.complete == 0) continue;
            check(!changes_.empty() || a.permits == b.permits, "clients that say different numbers do not both get permits");
            if ((a.chosen & b.chosen) == 0) continue;
            check(a.token != b.token, "no two leases on a slot have one token");
            if (b.complete < a.began) check(a.token > b.token, "tokens of a slot increase");
        }
        a.complete = event_;
    }

    void extend(attempt& a, std::size_t node, bool late)
    {
        if (!a.is_held(servers_.now)) return;
        time_point const sent = late ? servers_.now - std::min<duration>(ttl / 4, servers_.now - a.sent) : servers_.now;
        auto const before = servers_.look(a, node);
        reply const said = servers_.send(a, node, verb::extend, a.chosen, a.token);
        auto const after = servers_.look(a, node);
        bool const differs = before.version >= a.version && before.permits != a.permits;
        check(after.others == before.others, "an extension changes nobody else's slot");
        check(!differs || (after.ours & ~before.ours) == 0, "no slot is set again where another number is kept");
        check(after.version > 0, "the number stays as long as somebody relies on the server");
        if (said.vote == vote::granted) check((after.ours & a.chosen) == a.chosen, "a node that extends has all slots");
        is_extended(a, node, said);
        a.at[node].is_extended(said.vote, sent);
    }

    // What a node gave besides.
    void give_back(attempt& a, std::size_t node)
    {
        auto const strays = a.at[node].gave & ~a.chosen;
        if (a.chosen == 0 || strays == 0) return;
        servers_.send(a, node, verb::release, strays, 0);
        check((servers_.look(a, node).ours & strays) == 0, "what is given back is gone");
    }

    void release(attempt& a, std::size_t node)
    {
        a.ended = true;
        slot_set const all = a.chosen == 0 ? a.listed : a.chosen;
        servers_.send(a, node, verb::release, all, 0);
        check((servers_.look(a, node).ours & all) == 0, "what was released is gone");
    }

    // A request that was sent is executed once more, or late.
    void repeat(attempt& a, std::size_t node, input& in)
    {
        auto const wanted = static_cast<std::uint32_t>(size_of(a.chosen));
        switch (in.below(4)) {
        case 0:
            if (a.at[node].answered) servers_.ask(a, node, a.listed, a.wanted);
            return;
        case 1:
            if (a.at[node].asked_again) servers_.ask(a, node, a.chosen, wanted);
            return;
        case 2:
            if (a.token > 0) servers_.send(a, node, verb::confirm, a.chosen, a.token);
            return;
        default:
            if (a.complete > 0) is_extended(a, node, servers_.send(a, node, verb::extend, a.chosen, a.token));
        }
    }

    // Whatever clocks did, and though its client may not wait for the answers any more.
    void is_extended(attempt& a, std::size_t node, reply const& said)
    {
        if (a.extension_began == 0 || a.extended[node]) {
            a.extension_began = event_;
            a.extended = {};
        }
        a.extended[node] = said.vote == vote::granted;
        if (static_cast<std::size_t>(std::ranges::count(a.extended, true)) < needed) return;
        for (attempt const& b : attempts_)
            check(b.complete == 0 || b.complete >= a.extension_began || (a.chosen & b.chosen) == 0 || b.token <= a.token,
                  "no lease is extended of which somebody has a slot with a larger token");
    }

    void begin_change(input& in)
    {
        if (changes_.size() >= 4) return;
        change c{1 + static_cast<std::uint32_t>(in.below(max_slots)), 0};
        for (std::size_t node = 0; node < nodes; ++node) c.version = std::max(c.version, servers_.look({}, node).version);
        ++c.version;
        changes_.push_back(c);
    }

    void go_on_with_change(input& in)
    {
        if (changes_.empty()) return;
        change& what = changes_[in.below(changes_.size())];
        if (!what.came_second) tell(what, in.below(nodes));
        bool const all = std::ranges::count(what.told, true) == nodes;
        if (!all || what.empties > 0 || what.permits == max_slots || attempts_.size() >= max_attempts) return;
        attempt a;
        a.permits = what.permits;
        a.version = what.version;
        a.listed = quorum::all_slots(max_slots) & ~quorum::all_slots(what.permits);
        a.wanted = static_cast<std::uint32_t>(size_of(a.listed));
        start(std::move(a));
        what.empties = attempts_.size();
    }

    void tell(change& what, std::size_t node)
    {
        auto const before = servers_.look({}, node);
        reply const said = servers_.keep(node, what.permits, what.version);
        auto const after = servers_.look({}, node);
        bool const stays = before.version > what.version || (before.version == what.version && before.permits != what.permits);
        check((said.vote == vote::granted) == !stays, "a number replaces one of a lower version, and no other");
        check(after.permits == (stays ? before.permits : what.permits), "the record is what the answer says");
        check(said.slots() && said.slots()->permits == after.permits && said.slots()->version == after.version,
              "the answer says what is kept");
        check(after.values == before.values, "a number changes no slot");
        (stays ? what.came_second : what.told[node]) = true;
    }

    void check_holders() const
    {
        for (attempt const& a : attempts_) {
            if (!a.is_held(servers_.now)) continue;
            for (attempt const& b : attempts_)
                check(&a == &b || (a.chosen & b.chosen) == 0 || !b.is_held(servers_.now), "nobody holds a slot that somebody has");
            for (change const& c : changes_)
                check(!is_over(c) || &a == &attempts_[c.empties - 1] || (a.chosen >> c.permits) == 0,
                      "after a change nobody holds a slot that was taken away");
        }
    }

    void check_counters()
    {
        for (std::size_t node = 0; node < nodes; ++node) {
            for (std::size_t i = 0; i < max_slots; ++i) {
                auto const* const c = servers_[node].find_counter(slot_names[i], servers_.now);
                auto const now = c ? c->value.value_or(0) : 0;
                check(now >= counters_[node][i], "a counter does not go back");
                counters_[node][i] = now;
            }
        }
    }

    // The slots above were empty once, and nobody has begun to make them more since.
    bool is_over(change const& what) const
    {
        return what.empties > 0 && attempts_[what.empties - 1].complete > 0 &&
               std::ranges::none_of(changes_, [&](change const& other) { return other.version > what.version; });
    }

    permit_servers servers_;
    std::vector<attempt> attempts_;
    std::vector<change> changes_;
    std::array<std::array<token_number, max_slots>, nodes> counters_{};
    std::size_t event_{0};
};

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    redlock::fuzz::input in{data, size};
    redlock::fuzz::story{}.play(in);
    return 0;
}
