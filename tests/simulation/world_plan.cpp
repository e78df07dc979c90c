#include "world_plan.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

namespace redlock::simulation {

namespace {

constexpr duration half_a_day = 12h;

// In a storm keys go, servers forget and messages are late, all the time, and many want one lock.
assumptions draw_assumptions(random& chance, bool storm)
{
    assumptions a;
    if (chance.one_in(storm ? 2 : 3)) a.memory_kept = false;
    if (chance.one_in(storm ? 2 : 8)) a.keys_kept = false;
    if (chance.one_in(6)) a.clocks_within_drift = false;
    return a;
}

// Few, so that clients meet; and some of which there can be two choices of two, with one in common or none.
constexpr std::array<std::uint32_t, 8> permits_to_draw{1, 2, 2, 3, 3, 4, 5, 6};

}  // namespace

world_kind kind_of(std::uint64_t seed, bool with_transitions) noexcept
{
    if (with_transitions) return world_kind::plain;
    switch (seed % 8) {
    case 3: return world_kind::sets;
    case 4: return world_kind::semaphores;
    case 5: return world_kind::states;
    case 6: return world_kind::tickets;
    case 7: return world_kind::rw_locks;
    default: return world_kind::plain;
    }
}

world_plan::world_plan(world_kind of, random& source)
    : kind{of}, storm{source.one_in(4)}, assumes{draw_assumptions(source, storm)}, chance_{source}
{
}

void world_plan::draw_stage(stage& to)
{
    auto& usual = to.usual;
    usual.ttl = chance_.pick(std::array{30ms, 100ms, 1'000ms, 10'000ms});
    if (storm) usual.ttl = chance_.pick(std::array{30ms, 100ms});
    usual.min_retry_delay = std::max(1ms, std::chrono::duration_cast<std::chrono::milliseconds>(usual.ttl / 20));
    usual.max_retry_delay = std::max(2ms,
                                     std::chrono::duration_cast<std::chrono::milliseconds>(chance_.between(usual.ttl / 4, 2 * usual.ttl)));
    if (chance_.one_in(3)) usual.node_timeout = usual.ttl / 3;
    if (storm) {
        usual.min_retry_delay = 1ms;
        usual.max_retry_delay = usual.ttl / static_cast<int>(1 + chance_.below(10));
        usual.node_timeout = usual.ttl / static_cast<int>(1 + chance_.below(4));
    }
    choose_waiting(to);
    to.names = {"a"};
    if (chance_.one_in(4)) to.names.push_back("b");
    if (to.names.size() > 1 && chance_.one_in(2)) to.names.push_back("c");
    to.longest_hold = chance_.between(usual.ttl / 10, storm && chance_.one_in(2) ? usual.ttl : 3 * usual.ttl);
    // Semaphores are often in calm worlds: only there it is known how soon slots are given back.
    calm = !storm && chance_.one_in(kind == world_kind::semaphores ? 2 : 8);
    to.calm = calm;
    short_lived = !calm && !assumes.memory_kept && chance_.one_in(3);
    range = {chance_.between(usual.ttl, (storm ? 12 : 6) * usual.ttl), usual.ttl, to.names, assumes, false};
    choose_tokens(to);
    to.has_tickets = kind == world_kind::tickets;  // nothing is drawn for it, so that other seeds are what they were
    to.has_rw_locks = kind == world_kind::rw_locks;
    has_states = kind == world_kind::states && to.of_locks != kinds::without_tokens;
    if (kind == world_kind::semaphores) to.permits = chance_.pick(permits_to_draw);
}

void world_plan::choose_waiting(stage& to)
{
    auto& usual = to.usual;
    to.queues = chance_.one_in(4);
    usual.poll_interval = std::max(1ms, chance_.pick(std::array{usual.ttl / 4, usual.ttl, 4 * usual.ttl}));
    usual.max_handoffs = chance_.pick(std::array{64u, 64u, 3u, 1u, 0u});
    usual.max_local_hold = chance_.pick(std::array{100ms, usual.ttl / 2, 20 * usual.ttl, 0ms});
}

// Admitted servers, whose marks may be ahead of all clocks, so that the token clock means nothing; or a cluster that is yet to be
// founded.
void world_plan::choose_tokens(stage& to)
{
    to.of_locks = chance_.one_in(12) ? kinds::without_tokens : chance_.one_in(5) ? kinds::mixed : kinds::with_tokens;
    // Large blocks run ahead of the wall clock, from which a cluster that has forgotten everything goes on.
    to.max_block = !chance_.one_in(4) ? 1 : assumes.memory_kept && chance_.one_in(2) ? 3'000 : 5;
    begins_empty = chance_.one_in(8);
    to_be_founded = begins_empty && calm && chance_.one_in(2);
    range.tokens_ahead = !begins_empty && chance_.one_in(2);
    // A little ahead, and clients take it for a fast clock, which they follow; far ahead, and the token clock means nothing.
    ahead = chance_.one_in(4) ? 1h : 48h;
    // Close to the end of a half-day, which the token clock may not enter too early.
    wall = 40'000 * half_a_day + chance_.between(-2s, 2s);
}

token_number world_plan::first_token()
{
    auto const now = static_cast<token_number>(wall / 1us);
    if (range.tokens_ahead) return now + static_cast<token_number>(ahead / 1us) + chance_.below(4);
    return chance_.one_in(4) ? 0 : now - chance_.below(20'000'000);
}

void world_plan::draw_weather(universe& to, judge& rules, stage const& on)
{
    auto& w = to.weather;
    auto const ttl = on.usual.ttl;
    w.min_delay = chance_.between(10us, 100us);
    w.max_delay = w.min_delay + chance_.scaled(std::min<duration>(5ms, ttl / 20));
    w.max_reconnect = ttl / 4;
    w.max_notices_after = ttl;
    w.max_ghost_delay = 2 * ttl;
    if (calm) return allow_waits(to, rules, on);
    if (storm || chance_.one_in(2)) w.slow_percent = 1 + chance_.below(storm ? 40 : 20);
    w.push_lost_percent = w.slow_percent;
    w.max_slow = chance_.one_in(8) ? 2 * ttl : ttl / 10;
    if (storm && !assumes.keys_kept) w.evicted_percent = 1 + chance_.below(30);
    if (chance_.one_in(storm ? 2 : 4)) w.duplicate_percent = 1 + chance_.below(10);
    if (chance_.one_in(4)) to.pause_one_in = 8 + chance_.below(256);
    to.max_short_pause = chance_.scaled(ttl / 4) + 2us;
}

// Nothing goes wrong, except that pushes are lost in some schedules, or are not sent.
void world_plan::allow_waits(universe& to, judge& rules, stage const& on)
{
    auto& w = to.weather;
    auto const& usual = on.usual;
    if (chance_.one_in(2)) w.push_lost_percent = 10 + chance_.below(60);
    says_changes = chance_.one_in(2);
    bool const told = says_changes && w.push_lost_percent == 0;
    constexpr duration turns = 200ms;  // for others, and the head start of others
    constexpr duration wishes = 500ms;  // until the next one
    if (told && on.has_rw_locks && on.of_locks == kinds::with_tokens)
        rules.turns().wish_known_after = wishes + 200ms + usual.max_retry_delay + 40 * w.max_delay;
    if (on.permits > 0) rules.slots().left_at_most = 1ms + 10 * w.max_delay;
    rules.turns().free_at_most = usual.max_retry_delay + (told ? 0ms : usual.poll_interval) + turns + 20 * w.max_delay;
}

// Wall clocks differ by less than the quarantine takes: a cluster that has lost everything goes on from one of them.
client_settings world_plan::draw_client(lock_options const& usual)
{
    client_settings s;
    auto const ttl = usual.ttl;
    auto const skew = chance_.one_in(2) ? chance_.scaled(ttl * 9 / 20) : 0ns;
    s.wall = wall + (chance_.one_in(2) ? skew : -skew);
    s.max_ttl = chance_.one_in(storm ? 2 : 4) ? 2 * ttl : ttl;
    s.token_retention = chance_.one_in(2) ? 4 * s.max_ttl : std::chrono::milliseconds{1h};
    s.bootstrap = to_be_founded;
    s.has_sets = kind == world_kind::sets && !chance_.one_in(5);  // the others are of an older version
    return s;
}

void world_plan::describe(recorder& records, stage const& of) const
{
    auto const ms = [](duration d) { return std::to_string(d / 1ms) + " ms"; };
    auto const& usual = of.usual;
    records.setting("retry delay", ms(usual.min_retry_delay) + " to " + ms(usual.max_retry_delay));
    records.setting("poll interval", ms(usual.poll_interval));
    records.setting("passed on", std::to_string(usual.max_handoffs) + " times at most, for " + ms(usual.max_local_hold));
    if (usual.node_timeout) records.setting("node timeout", ms(*usual.node_timeout));
    records.setting("holds up to", ms(of.longest_hold));
    records.setting("faults until", ms(range.horizon));
    records.setting("memory", assumes.memory_kept ? "kept" : "may be lost");
    if (storm) records.setting("storm", "many faults, many clients");
    records.setting("single keys", assumes.keys_kept ? "kept" : "may be lost");
    auto const locks = of.of_locks;
    records.setting("locks", locks == kinds::without_tokens ? "without tokens"
                             : locks == kinds::mixed        ? "with and without tokens"
                                                            : "with tokens");
    records.setting("servers begin", begins_empty         ? "empty"
                                     : range.tokens_ahead ? "admitted, with tokens ahead of all clocks"
                                                          : "admitted");
    if (of.has_rw_locks) records.setting("users", "read and write");
    if (of.states) records.setting("users", "publish and inherit");
    if (of.permits > 0) records.setting("permits", std::to_string(of.permits));
    if (short_lived) records.setting("processes", "live for a moment");
    records.setting("clocks", assumes.clocks_within_drift ? "within drift" : "may run wrong");
}

}  // namespace redlock::simulation
