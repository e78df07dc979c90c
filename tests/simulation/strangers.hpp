// A process whose list of nodes is another one: it names only some of the servers. Nobody may hold a lock beside it, and it gets none: the servers say to
// which set they belong.
#ifndef REDLOCK_TESTS_SIMULATION_STRANGERS_HPP
#define REDLOCK_TESTS_SIMULATION_STRANGERS_HPP

#include "judge.hpp"
#include "simulated_client.hpp"

#include <redlock/lock.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

class stranger {
public:
    // It tries to get the lock `name` again and again, until then.
    stranger(universe& in, judge& rules, std::vector<std::size_t> list, client_settings const& settings, std::string name,
             lock_options const& options, duration until);
    ~stranger();

    // After every step of the world.
    void check();

    bool has_left() const noexcept { return left_; }

    stranger(stranger const&) = delete;
    stranger& operator=(stranger const&) = delete;

private:
    void attempt();
    void answered(error_code ec, lease got);
    void leave();

    universe& world_;
    judge& rules_;
    process* in_;
    std::shared_ptr<client> connected_;
    std::optional<redlock::lock> lock_;
    std::optional<lease> held_;
    std::string name_;
    duration every_;
    bool tries_{false};
    bool left_{false};
};

}  // namespace redlock::simulation

#endif
