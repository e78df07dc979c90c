// What one schedule is like, drawn from its seed: what may go wrong, how locks are used, the network, and how the servers begin.
#ifndef REDLOCK_TESTS_SIMULATION_WORLD_PLAN_HPP
#define REDLOCK_TESTS_SIMULATION_WORLD_PLAN_HPP

#include "assumptions.hpp"
#include "faults.hpp"
#include "judge.hpp"
#include "random.hpp"
#include "recorder.hpp"
#include "simulated_client.hpp"
#include "stage.hpp"
#include "universe.hpp"

#include <cstdint>

namespace redlock::simulation {

// What most users do, beside what they do in every world.
enum class world_kind : std::uint8_t { plain, sets, semaphores, states, tickets, rw_locks };

// By the number of the seed and not by chance. Transitions are written of plain worlds only, since the proof knows nothing of the others.
world_kind kind_of(std::uint64_t seed, bool with_transitions) noexcept;

class world_plan {
public:
    world_plan(world_kind of, random& source);

    // In this order: each draws from the same source.
    void draw_stage(stage& to);
    void draw_weather(universe& to, judge& rules, stage const& on);
    client_settings draw_client(lock_options const& usual);
    token_number first_token();

    void describe(recorder& records, stage const& of) const;

    world_kind const kind;
    bool const storm;           // many faults, many clients
    assumptions const assumes;
    bool calm{false};           // nothing goes wrong
    bool short_lived{false};    // no process stays
    bool has_states{false};
    bool begins_empty{false};
    bool to_be_founded{false};  // by a client that is told that nothing was ever locked there
    bool says_changes{false};   // every server, to every client
    duration ahead{};           // how far the tokens are, if they are ahead
    duration wall{};            // what the right wall clock shows when the world begins
    fault_range range{};

private:
    void choose_waiting(stage& to);
    void choose_tokens(stage& to);
    void allow_waits(universe& to, judge& rules, stage const& on);

    random& chance_;
};

}  // namespace redlock::simulation

#endif
