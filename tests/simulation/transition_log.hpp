// A schedule in the proof's terms: a line of text for each transition of tests/proof/memory.py, with what it changed on its server.
// tests/proof/replay.py sees whether the proof allows them. It only looks: nothing in the world depends on whether somebody does.
#ifndef REDLOCK_TESTS_SIMULATION_TRANSITION_LOG_HPP
#define REDLOCK_TESTS_SIMULATION_TRANSITION_LOG_HPP

#include "client_transitions.hpp"
#include "clocks.hpp"
#include "process.hpp"
#include "server.hpp"
#include "server_transitions.hpp"
#include "transition_text.hpp"

#include "protocol/command.hpp"
#include "protocol/reply.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::simulation {

class universe;

class transition_log {
public:
    explicit transition_log(universe& of) : universe_{of} {}

    // The servers are as they begin. `bootstrap`: the operator says that nothing was ever locked there.
    void begin(std::uint64_t seed, bool bootstrap);
    std::string const& text() const noexcept { return text_.text(); }

    // Servers: what has happened to one by itself since it was looked at last; then a command that it has executed.
    void catch_up(server& s, detail::command const* before_this = nullptr) { servers_.catch_up(s, before_this); }
    void executed(server& s, detail::command const& c, std::string_view learned, detail::reply const& answer)
    {
        servers_.executed(s, c, learned, answer, on_behalf_of_, sent_at_);
    }

    // Whose command a server executes next, and when it was sent. No client: nobody will hear of it.
    void next(std::optional<std::size_t> client, duration sent)
    {
        on_behalf_of_ = client;
        sent_at_ = sent;
    }

    void set_machine(std::size_t client, std::size_t machine) { servers_.set_machine(client, machine); }

    // Clients.
    void sent(process const& p, server const& to, detail::command const& c, std::string_view learned, bool is_on_its_way);
    client_transitions& clients() noexcept { return clients_; }

private:
    universe& universe_;
    transition_text text_;
    client_transitions clients_{universe_, text_};
    server_transitions servers_{text_, clients_};
    std::optional<std::size_t> on_behalf_of_{};
    duration sent_at_{};
};

}  // namespace redlock::simulation

#endif
