// The simulated world: processes with clients, servers, the network between them, and time, which passes only when nothing is
// ready to run. Everything that happens follows from one seed.
// README.md says what the other files of this folder are.
#ifndef REDLOCK_TESTS_SIMULATION_UNIVERSE_HPP
#define REDLOCK_TESTS_SIMULATION_UNIVERSE_HPP

#include "clocks.hpp"
#include "coverage.hpp"
#include "event.hpp"
#include "process.hpp"
#include "random.hpp"
#include "recorder.hpp"
#include "server.hpp"
#include "weather.hpp"

#include "node/node.hpp"
#include "protocol/command.hpp"

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::simulation {

class link;
class transition_log;

class universe {
public:
    explicit universe(std::uint64_t seed, recorder* records = nullptr);
    ~universe();
    universe(universe const&) = delete;
    universe& operator=(universe const&) = delete;

    duration now() const noexcept { return now_; }

    server& add_server(machine_clock const& clock);
    process& add_process(machine_clock const& clock);

    // The nodes of a client in `p`: one for each server, unless `make_nodes` makes others.
    std::vector<std::unique_ptr<detail::node>> nodes_for(process& p, asio::any_io_executor const& strand);
    std::function<std::vector<std::unique_ptr<detail::node>>(process& p, asio::any_io_executor const& strand)> make_nodes;

    // A process that is here has these servers for nodes, and others have all.
    std::map<std::size_t, std::vector<std::size_t>> nodes_known_to;
    std::vector<std::size_t> nodes_of(process const& p) const;

    // The process ends at once, as with SIGKILL; messages that it has sent stay in the network.
    void kill(process& p);
    void destroy_processes();
    bool is_dead(process const& p) const noexcept { return processes_[p.index()] == nullptr; }

    std::vector<std::unique_ptr<process>> const& processes() const noexcept { return processes_; }
    std::vector<std::unique_ptr<server>> const& servers() const noexcept { return servers_; }
    std::vector<std::unique_ptr<link>> const& links() const noexcept { return links_; }
    link& between(process const& p, server const& s) { return *links_[p.index() * servers_.size() + s.index()]; }

    // Calls `f` when the world's time is `when`.
    void at(duration when, event f);
    void after(duration d, event f) { at(now_ + d, std::move(f)); }

    // The process sees nothing of the next `d`.
    void pause(process& p, duration d);
    // The same, and its monotonic clock stands still.
    void suspend(process& p, duration d);

    // One step: a handler, or the next event. False when nothing is left to happen, up to `limit`.
    bool step(duration limit = duration::max());

    // Everything that happens in the next `d`.
    void advance(duration d);

    // Steps until `done`, until time is over `limit`, or until too much has happened. Returns whether it is done.
    template <class Done>
    bool run_until(Done const& done, duration limit)
    {
        while (!done()) {
            if (now_ > limit || steps_ > max_steps || !step()) return done();
        }
        return true;
    }

    // Called after every step.
    std::function<void()> after_step;

    // Called when a server sees what must not be.
    std::function<void(std::string)> on_violation;

    // Called when a server has the command's value in its key and this token in its counter (the proof's "confirm event").
    std::function<void(server&, detail::command const&, testing::token_number)> on_confirm_event;
    std::function<void(detail::command const&)> on_extension;  // executed, with the guard that its lease has
    std::function<void(std::size_t server, detail::command const&)> on_climb;  // granted
    std::function<void(std::size_t server, detail::command const&)> on_state;  // published or inherited, and granted

    // Called when a client sends something to a server.
    std::function<void(process const&, detail::command const&)> on_sent;

    random chance;
    network_weather weather;
    coverage* covered;  // never null
    // How many requests to climb there are whose answers the client has not heard, by the index of its process and the key.
    std::map<std::pair<std::size_t, std::string>, std::size_t> climbs_unheard;
    recorder* const records;  // null: nothing is recorded
    transition_log* transitions{nullptr};  // null: no transitions are written

    std::size_t pause_one_in{0};  // handlers that are followed by a short pause of their process; 0: none
    duration max_short_pause{1ms};

    std::uint64_t steps() const noexcept { return steps_; }

    // A hash of everything that is mixed into it, in this order: runs with different fingerprints did not do the same.
    std::uint64_t fingerprint() const noexcept { return hash_; }
    void mix_into_fingerprint(std::uint64_t what) noexcept
    {
        hash_ ^= what + 0x9e3779b97f4a7c15u + (hash_ << 6) + (hash_ >> 2);
        hash_ *= 0xff51afd7ed558ccdu;
        hash_ ^= hash_ >> 32;
    }

    // How much of the time between two moments the process did not run.
    duration paused_between(process const& p, duration from, duration to) const noexcept;

    // More than any schedule needs: beyond it something runs for ever without waiting.
    static constexpr std::uint64_t max_steps = 5'000'000;

private:
    struct entry {
        duration when;
        std::uint64_t order;  // chance, among those of one moment
        std::size_t place;    // in what_
        // The later one is less: the top of the heap is what happens next.
        friend bool operator<(entry const& a, entry const& b) noexcept { return a.when != b.when ? a.when > b.when : a.order > b.order; }
    };
    // What paused_between() counts. Those of one process do not overlap.
    struct pause_record {
        std::size_t process;
        duration from;
        duration to;
    };

    duration end_of_last_pause(process const& p) const noexcept;
    bool run_a_handler();
    bool let_time_pass(duration limit);

    duration now_{};
    std::vector<std::unique_ptr<process>> processes_;
    std::vector<process*> living_;  // the processes that were not killed
    std::vector<std::unique_ptr<server>> servers_;
    std::vector<std::unique_ptr<link>> links_;
    std::vector<entry> events_;  // a heap
    std::vector<event> what_;
    std::vector<std::size_t> free_places_;
    std::vector<pause_record> pauses_;
    std::uint64_t steps_{0};
    std::uint64_t hash_{0x243f6a8885a308d3u};
    coverage nowhere_{};
};

}  // namespace redlock::simulation

#endif
