// Pauses of random length, by the client's clock: what is written over a client waits in virtual time where the client does.
#ifndef REDLOCK_CORE_PAUSES_HPP
#define REDLOCK_CORE_PAUSES_HPP

#include "base/timer_queue.hpp"
#include "core/environment.hpp"
#include "core/operation.hpp"

#include <redlock/detail/core.hpp>

#include <memory>
#include <random>
#include <utility>

namespace redlock::detail {

class pauses;

class pausing final : public timed<pausing> {
public:
    pausing(pauses& owner, plain_handler&& handler);

    void time_is_up(time_point) { abandon({}); }
    void abandon(error_code why);

private:
    pauses& owner_;
    plain_handler handler_;
};

class pauses : public ongoing<pausing> {
public:
    explicit pauses(environment& env) : env_{env} {}

    void start(std::shared_ptr<pausing> const& what, duration min, duration max, time_point now)
    {
        if (what->is_over()) return;  // cancelled meanwhile
        keep(what);
        std::uniform_int_distribution<duration::rep> length{min.count(), max.count()};
        env_.set_timer(*what, now + duration{length(env_.jitter)});
    }

private:
    friend class pausing;

    environment& env_;
};

inline pausing::pausing(pauses& owner, plain_handler&& handler) : timed{owner.env_}, owner_{owner}, handler_{std::move(handler)} {}

inline void pausing::abandon(error_code why)
{
    if (!end()) return;
    auto const self = shared_from_this();
    owner_.remove(*this);
    handler_(why);
}

}  // namespace redlock::detail

#endif
