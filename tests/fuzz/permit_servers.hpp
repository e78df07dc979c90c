// A semaphore on three servers in memory: what clients send, what a server has, and that each answer of a server has its reason.
#ifndef REDLOCK_TESTS_FUZZ_PERMIT_SERVERS_HPP
#define REDLOCK_TESTS_FUZZ_PERMIT_SERVERS_HPP

#include "input.hpp"
#include "three_servers.hpp"

#include "quorum/slot_set.hpp"

#include <array>
#include <bit>
#include <chrono>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace redlock::fuzz {

using detail::command;
using detail::duration;
using detail::reply;
using detail::time_point;
using detail::verb;
using quorum::slot_set;
using quorum::token_number;

inline constexpr std::size_t max_slots = 4;
inline constexpr std::uint32_t usual_permits = 3;
inline constexpr char const* record = "n:permits";
inline std::array<std::string, max_slots> const slot_names{"n#0", "n#1", "n#2", "n#3"};

inline int size_of(slot_set slots) { return std::popcount(slots); }

struct permit_part : known_part {
    bool answered{false};  // the first round
    bool asked_again{false};  // for the chosen slots
    slot_set gave{0};  // in the first round
};

struct attempt : known_attempt<permit_part> {
    std::uint32_t permits{usual_permits};
    std::uint64_t version{1};
    slot_set listed{0};
    std::uint32_t wanted{1};
    std::uint32_t from{0};
    slot_set chosen{0};
    std::size_t extension_began{0};
    std::array<bool, nodes> extended{};
};

class permit_servers {
public:
    time_point now{std::chrono::hours{1}};

    testing::redis_model& operator[](std::size_t node) noexcept { return servers_[node]; }

    reply send(attempt const& a, std::size_t node, verb what, slot_set slots, token_number token, std::uint32_t wanted = 0)
    {
        auto const names = names_of(slots);
        command c{what, names.front(), a.value, ttl};
        c.others = std::span{names}.subspan(1);
        c.fenced = what != verb::release;
        c.token = token;
        c.retention = retention;
        if (what == verb::acquire || what == verb::extend) {
            c.change_more().permits_key = record;
            c.permits = a.permits;
            c.change_more().version = a.version;
            c.change_more().wanted = wanted;
            c.change_more().from = slots == a.listed ? a.from : 0;
        }
        return servers_[node].execute(c, now, id);
    }

    // What a server has.
    struct sight {
        slot_set ours{0};
        slot_set others{0};
        std::array<std::string, max_slots> values{};
        std::array<token_number, max_slots> counters{};
        std::uint64_t version{0};  // of the record; 0: there is none
        std::uint32_t permits{0};

        slot_set taken() const { return ours | others; }
    };
    sight look(attempt const& a, std::size_t node)
    {
        auto& server = servers_[node];
        server.expire(now);
        sight s;
        for (std::size_t i = 0; i < max_slots; ++i) {
            if (auto const* const e = server.stored(slot_names[i])) {
                (e->value == a.value ? s.ours : s.others) |= quorum::only_slot(i);
                s.values[i] = e->value;
            }
            if (auto const* const c = server.find_counter(slot_names[i], now)) s.counters[i] = c->value.value_or(0);
        }
        if (auto const* const e = server.stored(record)) std::istringstream{e->value} >> s.version >> s.permits;
        return s;
    }

    struct given {
        slot_set slots{0};
        token_number counter{0};
    };
    // Asks for `wanted` of the listed slots, and checks that the answer has its reason and tells what was done. Returns what was given.
    given ask(attempt const& a, std::size_t node, slot_set listed, std::uint32_t wanted)
    {
        auto const before = look(a, node);
        reply const said = send(a, node, verb::acquire, listed, a.floor, wanted);
        auto const after = look(a, node);
        bool const differs = before.version >= a.version && before.permits != a.permits;
        for (std::size_t i = 0; i < max_slots; ++i)
            check(before.values[i].empty() || before.values[i] == after.values[i], "an acquire changes no slot that is taken");
        if (said.vote == vote::failed) {
            check(said.error == errc::permits_differ && differs, "a server fails only where it keeps another number");
            check(after.taken() == before.taken(), "a request that failed takes no slot");
            check(said.slots() && said.slots()->permits == before.permits && said.slots()->version == before.version,
                  "it says which number it keeps");
            return {};
        }
        check(!differs, "a server that keeps another number does not answer as if it did not");
        check(said.slots() && (said.slots()->free & said.slots()->ours) == 0, "an answer shows the slots");
        check(slots_of(listed, said.slots()->free) == (listed & ~after.taken()), "an answer shows which slots are free");
        check(slots_of(listed, said.slots()->ours) == (listed & after.ours), "an answer shows which slots are the client's");
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
        for (std::size_t i = 0; i < max_slots; ++i) {
            if (!quorum::has_slot(got, i)) continue;
            check(after.counters[i] == said.counter, "all slots that are given have one token");
            check(after.counters[i] > before.counters[i], "a token is above those before it");
        }
        return {has, said.counter};
    }

    // Tells a server the number of permits.
    reply keep(std::size_t node, std::uint32_t permits, std::uint64_t version)
    {
        command c{verb::keep, record, {}, {}};
        c.fenced = true;
        c.permits = permits;
        c.change_more().version = version;
        c.retention = retention;
        return servers_[node].execute(c, now, id);
    }

private:
    static std::vector<std::string> names_of(slot_set slots)
    {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < max_slots; ++i)
            if (quorum::has_slot(slots, i)) names.push_back(slot_names[i]);
        return names;
    }

    // `slots` of what an answer says of the keys that were listed.
    static slot_set slots_of(slot_set listed, slot_set said)
    {
        slot_set slots = 0;
        for (std::size_t i = 0, key = 0; i < max_slots; ++i)
            if (quorum::has_slot(listed, i) && quorum::has_slot(said, key++)) slots |= quorum::only_slot(i);
        return slots;
    }

    three_servers servers_;
};

}  // namespace redlock::fuzz

#endif
