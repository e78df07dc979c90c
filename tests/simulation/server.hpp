// A simulated Redis server: its memory, its wall clock, and what can be wrong with it.
#ifndef REDLOCK_TESTS_SIMULATION_SERVER_HPP
#define REDLOCK_TESTS_SIMULATION_SERVER_HPP

#include "clocks.hpp"
#include "event.hpp"
#include "support/redis_model.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redlock::simulation {

class universe;

// What a server answers instead of doing as it is told.
enum class complaint : std::uint8_t {
    none,
    loading,    // LOADING: it reads its data set
    read_only,  // READONLY: it is a replica now
    misconf,    // MISCONF: it cannot save
    oom,        // OOM: commands that need memory are refused, others are not
};

char const* to_string(complaint c) noexcept;

class server {
public:
    server(universe& in, std::size_t index, machine_clock const& clock) : wall{clock}, universe_{in}, index_{index} {}

    std::size_t index() const noexcept { return index_; }

    // Executes a command now, or says why not. `of_nobody`: the sender cannot know that it got here.
    detail::reply execute(detail::command const& c, bool of_nobody);

    // Does `f` now, or when the server goes on.
    void when_it_runs(event f);

    void stop() noexcept { stopped_ = true; }
    void go_on();

    // A crash ends all connections. Without persistence the memory is gone when it starts again.
    void crash(bool forgets);
    void start();
    bool up() const noexcept { return up_; }
    bool running() const noexcept { return up_ && !stopped_; }

    // SCRIPT FLUSH, or a restart: EVALSHA is answered with NOSCRIPT until somebody has loaded the scripts again.
    void forget_scripts() noexcept { knows_scripts_ = false; }
    bool knows_scripts() const noexcept { return knows_scripts_; }
    void load_scripts() noexcept { knows_scripts_ = true; }

    complaint complains{complaint::none};
    testing::redis_model memory;
    machine_clock wall;

    time_point time() const noexcept;
    testing::redis_model::entry const* find(std::string const& key) { return memory.find(key, time()); }

private:
    universe& universe_;
    std::size_t index_;
    bool up_{true};
    bool stopped_{false};
    bool knows_scripts_{true};
    std::vector<event> inbox_;
};

}  // namespace redlock::simulation

#endif
