// What schedules that belief_judge judges have in common: users of clients acquire locks, hold them and give them back until all faults are over; then each of
// them has to acquire once more. A belief is a lease that its holder takes for valid. What the world is made of, and what goes wrong in it, is up to
// the schedule that derives from this: it sets `ttl_`, `usual_`, `names_`, `max_rest_` and `horizon_`, and adds people.
#ifndef REDLOCK_TESTS_SIMULATION_BELIEF_WORLD_HPP
#define REDLOCK_TESTS_SIMULATION_BELIEF_WORLD_HPP

#include "belief_judge.hpp"
#include "coverage.hpp"
#include "schedule.hpp"
#include "universe.hpp"

#include <redlock/redlock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

class belief_world {
public:
    belief_world(belief_world const&) = delete;
    belief_world& operator=(belief_world const&) = delete;

    result run();

protected:
    // One client, with one or two coroutines that use it.
    struct person {
        std::size_t process;
        std::shared_ptr<client> with;
        duration begins{};
        bool stopped{false};
    };

    // What a schedule has to say about a lease, from the acquisition on.
    class witness {
    public:
        virtual ~witness() = default;
        virtual void while_held() {}  // before each write
        virtual void ended(bool kept) = 0;  // `kept`: it was valid until its holder gave it back
    };

    // `kind`: which world it is, for violations. `say`: gets what happens, a line each.
    belief_world(std::uint64_t seed, coverage& covered, std::string kind, std::function<void(std::string const&)> say);

    // Derived destructors call end(), so that coroutines end before what they use.
    ~belief_world() = default;
    void end();

    // Up to two pauses before the horizon, each of a process or of its whole machine.
    void plan_pauses();
    void end_faults();

    person& add_person(std::size_t process, std::shared_ptr<client> with, duration begins = {});

    // Whether whoever acquires now does it for the last time.
    virtual bool is_last_round() const = 0;
    // Whether this one must get a lock then.
    virtual bool must_acquire(person const& who) const = 0;
    virtual std::unique_ptr<witness> watch(person const& who, std::string const& name, lease const& held) = 0;

    // Nobody may need longer for anything.
    duration limit() const { return horizon_ + 1'000 * duration{ttl_}; }
    void violation(std::string const& what);
    void tell(std::string const& what) const;

    coverage& covered_;
    std::function<void(std::string const&)> say_;
    universe u_;
    random& chance_{u_.chance};
    std::deque<person> people_;  // coroutines know them
    std::vector<std::string> names_;
    lock_options usual_{};  // of each acquisition, but for its time-out
    std::chrono::milliseconds ttl_{};
    duration max_rest_{};  // between two acquisitions of one user
    duration horizon_{};  // when all faults end
    std::size_t at_work_{0};  // coroutines of users
    std::optional<std::string> violation_;

private:
    void send_to_work(person& who);
    asio::awaitable<void> work(person& who);
    asio::awaitable<void> hold(person const& who, std::string const& name, lease& held);
    void stop_clients();
    static std::string problems_of(person const& who);  // at its nodes

    std::string kind_;

    belief_judge beliefs_{u_, [this](std::string const& what) { violation(what); }};
    std::map<std::string, std::uint64_t> complete_;  // by name: the largest token of a lease
};

}  // namespace redlock::simulation

#endif
