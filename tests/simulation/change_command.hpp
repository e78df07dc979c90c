// `redlock nodes replace`, `grow` and `shrink`, which may be killed at any moment: it looks at the servers, and writes the new generation
// to one member after the other. What it decides is the library's own (quorum/sets/set_change).
#ifndef REDLOCK_TESTS_SIMULATION_CHANGE_COMMAND_HPP
#define REDLOCK_TESTS_SIMULATION_CHANGE_COMMAND_HPP

#include "universe.hpp"

#include "quorum/sets/set_change.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

class change_command : public std::enable_shared_from_this<change_command> {
public:
    enum class outcome { moved, refused, outrun, too_few, gave_up };
    using ending = std::function<void(outcome, std::string const& why)>;

    struct order {
        std::optional<std::size_t> leaves{};
        std::vector<std::size_t> join{};
    };
    // `max_ttl`: of leases.
    change_command(universe& in, order const& what, duration max_ttl, ending ends);

    void begin() { look(); }

    // SIGKILL: what it has sent arrives nevertheless.
    void kill() noexcept { killed_ = true; }

    bool is_over() const noexcept { return over_ || killed_; }

    // Also what it had sent has arrived.
    bool is_quiet() const noexcept { return is_over() && !is_sending_; }

    // A server to which nothing gets through, as from another part of a network.
    std::optional<std::size_t> unreachable;

    // Each step that a server has taken.
    std::function<void(quorum::set_record const& next, std::size_t server)> on_step;

private:
    void look();
    void ask(std::size_t server);
    void decide();
    bool is_drained(quorum::set_change const& plan);
    void take(quorum::set_change const& plan, std::size_t step);
    void end(outcome how, std::string const& why = {});
    duration delay();

    universe& world_;
    duration max_ttl_;
    quorum::wanted_change wanted_;
    ending ends_;
    std::vector<quorum::server_view> seen_;
    duration asked_{};  // when it began to look
    int looks_{0};
    bool is_sending_{false};
    bool killed_{false};
    bool over_{false};
    quorum::open_drain drain_;
};

}  // namespace redlock::simulation

#endif
