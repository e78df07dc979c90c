// Pauses of random length, by the client's clock: what is written over a client waits in virtual time where the client does.
#ifndef REDLOCK_CORE_PAUSES_HPP
#define REDLOCK_CORE_PAUSES_HPP

#include "base/timer_queue.hpp"
#include "core/environment.hpp"

#include <redlock/detail/core.hpp>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace redlock::detail {

class pauses;

class pausing final : public timer, public std::enable_shared_from_this<pausing> {
public:
    pausing(pauses& owner, plain_handler&& handler) : owner_{owner}, handler_{std::move(handler)} {}
    ~pausing();

    void on_timer(time_point) override { finish({}); }
    void abandon(error_code why) { finish(why); }

private:
    friend class pauses;

    void finish(error_code ec);

    pauses& owner_;
    plain_handler handler_;
    bool done_{false};
};

class pauses {
public:
    explicit pauses(environment& env) : env_{env} {}

    void start(std::shared_ptr<pausing> const& what, duration min, duration max, time_point now)
    {
        if (what->done_) return;  // cancelled meanwhile
        running_.push_back(what);
        std::uniform_int_distribution<duration::rep> length{min.count(), max.count()};
        env_.set_timer(*what, now + duration{length(env_.jitter)});
    }

    void fail_all(error_code why)
    {
        while (!running_.empty()) {
            auto const last = running_.back();
            last->abandon(why);
        }
    }

    void clear() noexcept { auto const gone = std::move(running_); }

private:
    friend class pausing;

    environment& env_;
    std::vector<std::shared_ptr<pausing>> running_;
};

inline pausing::~pausing() { owner_.env_.cancel_timer(*this); }

inline void pausing::finish(error_code ec)
{
    if (std::exchange(done_, true)) return;
    auto const self = shared_from_this();
    owner_.env_.cancel_timer(*this);
    std::erase(owner_.running_, self);
    handler_(ec);
}

}  // namespace redlock::detail

#endif
