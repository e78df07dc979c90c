// Permits of one semaphore on three servers in memory: acquires of any slots, and of those that were chosen, confirmations, extensions, releases and
// changes of the number, in any order, twice or never, and clocks that jump forward. What docs/proof.md promises of them must hold, and each answer must
// have its reason. A request that is executed once more has an answer that nobody waits for.
#include "input.hpp"

#include "redis/node.hpp"
#include "testing/redis_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace redlock::fuzz {
namespace {

using detail::command;
using detail::duration;
using detail::reply;
using detail::time_point;
using detail::verb;
using quorum::slot_set;
using quorum::token_number;
using namespace std::chrono_literals;

constexpr std::size_t nodes = 3;
constexpr std::size_t needed = 2;
constexpr std::size_t slots_max = 4;
constexpr std::uint32_t usual_permits = 3;
constexpr char const* record = "n:permits";
constexpr char const* id = "0123456789012345678901234567890123456789";
constexpr std::chrono::milliseconds ttl{100};

std::array<std::string, slots_max> const slot_names{"n#0", "n#1", "n#2", "n#3"};

int size_of(slot_set slots) { return std::popcount(slots); }

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

// What one client knows of its attempt and lease.
struct attempt {
    struct part {
        bool answered{false};  // the first round
        bool asked_again{false};  // for the chosen slots
        bool granted{false};  // the chosen slots
        bool stands{false};  // behind the token
        slot_set gave{0};  // in the first round
        token_number counter{0};
        time_point until{};
    };

    std::string value;
    std::uint32_t permits{usual_permits};
    std::uint64_t version{1};
    slot_set listed{0};
    std::uint32_t wanted{1};
    std::uint32_t from{0};
    token_number floor{0};
    token_number token{0};
    slot_set chosen{0};
    bool ended{false};
    std::size_t began{0};  // at which event
    std::size_t complete{0};  // likewise; 0: not yet
    std::size_t extension_began{0};
    std::array<bool, nodes> extended{};
    time_point sent{};
    std::array<part, nodes> at{};

    time_point valid_until() const
    {
        std::array<time_point, nodes> all{};
        std::ranges::transform(at, all.begin(), &part::until);
        std::ranges::sort(all, std::greater<>{});
        return all[needed - 1];
    }
    bool is_held(time_point now) const { return complete > 0 && !ended && now < valid_until(); }
};

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
    story()
    {
        for (auto& server : servers_) {
            server.id = id;
            server.record = testing::redis_model::node_record{id, 0, ttl, {}};
            server.high_water = 0;
        }
    }

    void play(input& in)
    {
        bool const number_changes = in.flag();
        for (event_ = 1; event_ <= 400 && !in.empty(); ++event_) {
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
        if (what == 1) now_ += jump(in);
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

    static constexpr std::size_t attempts_max = 24;

    void begin(input& in)
    {
        if (attempts_.size() >= attempts_max) return;
        attempt a;
        if (in.below(8) == 7) a.permits = 1 + static_cast<std::uint32_t>(in.below(slots_max));
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
        a.sent = now_;
        attempts_.push_back(std::move(a));
    }

    static std::vector<std::string> names_of(slot_set slots)
    {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < slots_max; ++i)
            if (quorum::has_slot(slots, i)) names.push_back(slot_names[i]);
        return names;
    }

    // `slots` of what an answer says of the keys that were listed.
    static slot_set slots_of(slot_set listed, slot_set said)
    {
        slot_set slots = 0;
        for (std::size_t i = 0, key = 0; i < slots_max; ++i)
            if (quorum::has_slot(listed, i) && quorum::has_slot(said, key++)) slots |= quorum::only_slot(i);
        return slots;
    }

    reply send(attempt const& a, std::size_t node, verb what, slot_set slots, token_number token, std::uint32_t wanted = 0)
    {
        auto const names = names_of(slots);
        command c{what, names.front(), a.value, ttl};
        c.others = std::span{names}.subspan(1);
        c.fenced = what != verb::release;
        c.token = token;
        c.retention = 24h;
        if (what == verb::acquire || what == verb::extend) {
            c.permits_key = record;
            c.permits = a.permits;
            c.version = a.version;
            c.wanted = wanted;
            c.from = slots == a.listed ? a.from : 0;
        }
        return servers_[node].execute(c, now_, id);
    }

    // What a server has.
    struct sight {
        slot_set ours{0};
        slot_set others{0};
        std::array<std::string, slots_max> values{};
        std::array<token_number, slots_max> counters{};
        std::uint64_t version{0};  // of the record; 0: there is none
        std::uint32_t permits{0};

        slot_set taken() const { return ours | others; }
    };
    sight look(attempt const& a, std::size_t node)
    {
        auto& server = servers_[node];
        server.expire(now_);
        sight s;
        for (std::size_t i = 0; i < slots_max; ++i) {
            if (auto const* const e = server.stored(slot_names[i])) {
                (e->value == a.value ? s.ours : s.others) |= quorum::only_slot(i);
                s.values[i] = e->value;
            }
            if (auto const* const c = server.find_counter(slot_names[i], now_)) s.counters[i] = c->value.value_or(0);
        }
        if (auto const* const e = server.stored(record)) std::istringstream{e->value} >> s.version >> s.permits;
        return s;
    }

    // Asks for `wanted` of the listed slots, and checks that the answer has its reason and tells what was done. Returns what was given.
    struct given {
        slot_set slots{0};
        token_number counter{0};
    };
    given ask(attempt const& a, std::size_t node, slot_set listed, std::uint32_t wanted)
    {
        auto const before = look(a, node);
        reply const said = send(a, node, verb::acquire, listed, a.floor, wanted);
        auto const after = look(a, node);
        bool const differs = before.version >= a.version && before.permits != a.permits;
        for (std::size_t i = 0; i < slots_max; ++i)
            check(before.values[i].empty() || before.values[i] == after.values[i], "an acquire changes no slot that is taken");
        if (said.vote == vote::failed) {
            check(said.error == errc::permits_differ && differs, "a server fails only where it keeps another number");
            check(after.taken() == before.taken(), "a request that failed takes no slot");
            check(said.slots && said.slots->permits == before.permits && said.slots->version == before.version,
                  "it says which number it keeps");
            return {};
        }
        check(!differs, "a server that keeps another number does not answer as if it did not");
        check(said.slots != nullptr && (said.slots->free & said.slots->ours) == 0, "an answer shows the slots");
        check(slots_of(listed, said.slots->free) == (listed & ~after.taken()), "an answer shows which slots are free");
        check(slots_of(listed, said.slots->ours) == (listed & after.ours), "an answer shows which slots are the client's");
        slot_set const got = after.taken() & ~before.taken();
        if (said.vote == vote::refused) {
            check(got == 0, "a refusal takes no slot");
            check((before.ours & listed) != 0 || size_of(listed & ~before.taken()) < static_cast<int>(wanted), "a refusal has its reason");
            return {};
        }
        slot_set const has = after.ours & listed;
        check(size_of(has) == static_cast<int>(wanted), "as many slots are given as are wanted");
        check(got == 0 || (before.ours & listed) == 0, "who has slots already is given no others");
        check(after.permits == a.permits && after.version >= a.version, "a grant leaves the number on the server");
        for (std::size_t i = 0; i < slots_max; ++i) {
            if (!quorum::has_slot(got, i)) continue;
            check(after.counters[i] == said.counter, "all slots that are given have one token");
            check(after.counters[i] > before.counters[i], "a token is above those before it");
        }
        return {has, said.counter};
    }

    // The first round. An answer after the choice counts if it is what was chosen.
    void acquire(attempt& a, std::size_t node)
    {
        auto& part = a.at[node];
        if (a.ended || part.answered) return;
        auto const got = ask(a, node, a.listed, a.wanted);
        part.answered = true;
        part.gave = got.slots;
        part.counter = got.counter;
        counts(a, node);
    }

    // What a node gave, or, of one slot, any that it does not have to come back to.
    void choose(attempt& a, input& in)
    {
        auto const& part = a.at[in.below(nodes)];
        auto const any = quorum::only_slot(in.below(slots_max)) & a.listed;
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
        auto const got = ask(a, node, a.chosen, static_cast<std::uint32_t>(size_of(a.chosen)));
        if (got.slots != 0) is_granted(a, node, got.counter);
    }

    // The largest counter of the first majority is the token. Who answered less has to confirm it; who answers more is no part of the attempt.
    void is_granted(attempt& a, std::size_t node, token_number counter)
    {
        a.at[node].granted = true;
        a.at[node].counter = counter;
        a.at[node].until = std::max(a.at[node].until, a.sent + ttl);
        auto const granted = static_cast<std::size_t>(std::ranges::count(a.at, true, &attempt::part::granted));
        if (a.token == 0 && granted >= needed)
            for (auto const& p : a.at) a.token = std::max(a.token, p.granted ? p.counter : 0);
        for (auto& p : a.at) p.stands = p.stands || (a.token > 0 && p.granted && p.counter == a.token);
        completes(a);
    }

    void confirm(attempt& a, std::size_t node)
    {
        auto& part = a.at[node];
        if (a.ended || a.complete > 0 || a.token == 0 || !part.granted || part.counter >= a.token) return;
        if (send(a, node, verb::confirm, a.chosen, a.token).vote != vote::granted) return;
        part.stands = true;
        completes(a);
    }

    void completes(attempt& a)
    {
        auto const standing = static_cast<std::size_t>(std::ranges::count(a.at, true, &attempt::part::stands));
        if (a.complete > 0 || standing < needed || now_ >= a.valid_until()) return;
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
        if (!a.is_held(now_)) return;
        time_point const sent = late ? now_ - std::min<duration>(ttl / 4, now_ - a.sent) : now_;
        auto const before = look(a, node);
        reply const said = send(a, node, verb::extend, a.chosen, a.token);
        auto const after = look(a, node);
        bool const differs = before.version >= a.version && before.permits != a.permits;
        check(after.others == before.others, "an extension changes nobody else's slot");
        check(!differs || (after.ours & ~before.ours) == 0, "no slot is set again where another number is kept");
        check(after.version > 0, "the number stays as long as somebody relies on the server");
        if (said.vote == vote::granted) check((after.ours & a.chosen) == a.chosen, "a node that extends has all slots");
        is_extended(a, node, said);
        if (said.vote == vote::granted) a.at[node].until = std::max(a.at[node].until, sent + ttl);
        else if (said.vote == vote::refused) a.at[node].until = {};
    }

    // What a node gave besides.
    void give_back(attempt& a, std::size_t node)
    {
        auto const strays = a.at[node].gave & ~a.chosen;
        if (a.chosen == 0 || strays == 0) return;
        send(a, node, verb::release, strays, 0);
        check((look(a, node).ours & strays) == 0, "what is given back is gone");
    }

    void release(attempt& a, std::size_t node)
    {
        a.ended = true;
        slot_set const all = a.chosen == 0 ? a.listed : a.chosen;
        send(a, node, verb::release, all, 0);
        check((look(a, node).ours & all) == 0, "what was released is gone");
    }

    // A request that was sent is executed once more, or late.
    void repeat(attempt& a, std::size_t node, input& in)
    {
        auto const wanted = static_cast<std::uint32_t>(size_of(a.chosen));
        switch (in.below(4)) {
        case 0:
            if (a.at[node].answered) ask(a, node, a.listed, a.wanted);
            return;
        case 1:
            if (a.at[node].asked_again) ask(a, node, a.chosen, wanted);
            return;
        case 2:
            if (a.token > 0) send(a, node, verb::confirm, a.chosen, a.token);
            return;
        default:
            if (a.complete > 0) is_extended(a, node, send(a, node, verb::extend, a.chosen, a.token));
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
        change c{1 + static_cast<std::uint32_t>(in.below(slots_max)), 0};
        for (std::size_t node = 0; node < nodes; ++node) c.version = std::max(c.version, look({}, node).version);
        ++c.version;
        changes_.push_back(c);
    }

    void go_on_with_change(input& in)
    {
        if (changes_.empty()) return;
        change& what = changes_[in.below(changes_.size())];
        if (!what.came_second) tell(what, in.below(nodes));
        bool const all = std::ranges::count(what.told, true) == nodes;
        if (!all || what.empties > 0 || what.permits == slots_max || attempts_.size() >= attempts_max) return;
        attempt a;
        a.permits = what.permits;
        a.version = what.version;
        a.listed = quorum::all_slots(slots_max) & ~quorum::all_slots(what.permits);
        a.wanted = static_cast<std::uint32_t>(size_of(a.listed));
        start(std::move(a));
        what.empties = attempts_.size();
    }

    void tell(change& what, std::size_t node)
    {
        auto const before = look({}, node);
        command c{verb::keep, record, {}, {}};
        c.fenced = true;
        c.permits = what.permits;
        c.version = what.version;
        c.retention = 24h;
        reply const said = servers_[node].execute(c, now_, id);
        auto const after = look({}, node);
        bool const stays = before.version > c.version || (before.version == c.version && before.permits != c.permits);
        check((said.vote == vote::granted) == !stays, "a number replaces one of a lower version, and no other");
        check(after.permits == (stays ? before.permits : c.permits), "the record is what the answer says");
        check(said.slots && said.slots->permits == after.permits && said.slots->version == after.version, "the answer says what is kept");
        check(after.values == before.values, "a number changes no slot");
        (stays ? what.came_second : what.told[node]) = true;
    }

    void check_holders() const
    {
        for (attempt const& a : attempts_) {
            if (!a.is_held(now_)) continue;
            for (attempt const& b : attempts_)
                check(&a == &b || (a.chosen & b.chosen) == 0 || !b.is_held(now_), "nobody holds a slot that somebody has");
            for (change const& c : changes_)
                check(!is_over(c) || &a == &attempts_[c.empties - 1] || (a.chosen >> c.permits) == 0,
                      "after a change nobody holds a slot that was taken away");
        }
    }

    void check_counters()
    {
        for (std::size_t node = 0; node < nodes; ++node) {
            for (std::size_t i = 0; i < slots_max; ++i) {
                auto const* const c = servers_[node].find_counter(slot_names[i], now_);
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

    std::array<testing::redis_model, nodes> servers_;
    std::vector<attempt> attempts_;
    std::vector<change> changes_;
    std::array<std::array<token_number, slots_max>, nodes> counters_{};
    std::size_t event_{0};
    time_point now_{1h};
};

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    redlock::fuzz::input in{data, size};
    redlock::fuzz::story{}.play(in);
    return 0;
}
