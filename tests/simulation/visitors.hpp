// Short-lived processes of one machine, one after the other, as from a crontab: each asks once for a lock, holds it for a while if
// it gets it, and ends. What they know of waits for servers they leave to the next one.
#ifndef REDLOCK_TESTS_SIMULATION_VISITORS_HPP
#define REDLOCK_TESTS_SIMULATION_VISITORS_HPP

#include "simulated_client.hpp"
#include "user.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace redlock::simulation {

class visitors {
public:
    // After `calm` nothing goes wrong any more. They come until several of them have got an answer in calm, and no longer than `until`.
    visitors(stage& on, machine_clock const& clock, client_settings const& settings, duration calm, duration until);
    ~visitors();
    visitors(visitors const&) = delete;
    visitors& operator=(visitors const&) = delete;

    bool are_gone() const noexcept;

    // Since nothing goes wrong any more, one of them was told that it has the lock, or that somebody else has.
    bool one_got_an_answer() const noexcept { return answers_in_calm_ > 0; }

private:
    struct visit;
    class notes;

    bool come_no_more() const noexcept;
    void come();
    void leave(visit& who);

    stage& stage_;
    machine_clock clock_;
    client_settings settings_;
    duration calm_;
    duration until_;
    duration max_every_;
    std::shared_ptr<std::vector<quorum::mark_sighting>> noted_ = std::make_shared<std::vector<quorum::mark_sighting>>();
    std::vector<std::unique_ptr<visit>> visits_;
    std::size_t here_{0};
    std::size_t answers_in_calm_{0};
    std::optional<std::size_t> machine_{};  // called after its first process
};

}  // namespace redlock::simulation

#endif
