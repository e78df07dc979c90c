// The clients of a schedule that stay, with their users. Some end early; the others are drained and stopped at the end.
#ifndef REDLOCK_TESTS_SIMULATION_LASTING_CLIENTS_HPP
#define REDLOCK_TESTS_SIMULATION_LASTING_CLIENTS_HPP

#include "judge.hpp"
#include "stage.hpp"
#include "universe.hpp"
#include "user.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace redlock::simulation {

class lasting_clients {
public:
    lasting_clients(universe& in, judge& rules, stage& on) : world_{in}, rules_{rules}, on_{on} {}

    // The client of the process that was added last.
    void add(std::shared_ptr<client> connected);
    void start(process& p);
    void add_user(process& p);

    std::vector<std::unique_ptr<user>> const& users() const noexcept { return users_; }

    // One of them does not stay to the end.
    void plan_an_early_end(duration latest);

    // All connections come back, every deferred release goes out, the clients end. `end`: when they have to have.
    void close(duration end);

    // What the clients have counted goes to the coverage.
    void note_all_counters();

private:
    struct member {
        std::shared_ptr<client> connected;
        bool stopped{false};
        bool drained{false};
        std::vector<user*> users;
    };

    template <class F>
    void for_each_client(F f)
    {
        for (std::size_t i = 0; i < members_.size(); ++i) {
            auto const& p = world_.processes()[i];
            if (p && members_[i].connected && !members_[i].stopped) p->visit(world_.now(), [&] { f(members_[i]); });
        }
    }

    // Whether it is so of each member whose process is alive.
    template <class Predicate>
    bool every_member(Predicate is_so) const
    {
        for (std::size_t i = 0; i < members_.size(); ++i)
            if (world_.processes()[i] && !is_so(members_[i])) return false;
        return true;
    }

    void stop(duration end);
    void note_counters(std::size_t i);

    universe& world_;
    judge& rules_;
    stage& on_;
    std::vector<std::unique_ptr<user>> users_;
    std::vector<member> members_;  // by process
};

}  // namespace redlock::simulation

#endif
