// When a command that waits for a lock looks why: after three seconds, and then every ten.
#ifndef REDLOCK_CLI_RUN_REMINDER_HPP
#define REDLOCK_CLI_RUN_REMINDER_HPP

#include <redlock/error.hpp>

#include <chrono>
#include <functional>
#include <utility>

namespace redlock::cli {

// `Timer`: expires_after(), async_wait(), cancel(), as of Asio's.
template <class Timer>
class reminder {
public:
    static constexpr std::chrono::seconds first{3}, next{10};

    template <class Context>
    reminder(Context& context, std::function<void()> tell) : timer_{context}, tell_{std::move(tell)}
    {
    }

    void start()
    {
        stopped_ = false;
        remind_in(first);
    }

    // The next time, and only that, is another one.
    void next_in(std::chrono::seconds time)
    {
        if (!stopped_) remind_in(time);
    }

    // Nothing is told from then on.
    void stop()
    {
        stopped_ = true;
        timer_.cancel();
    }

private:
    void remind_in(std::chrono::seconds time)
    {
        timer_.expires_after(time);
        timer_.async_wait([this](error_code ec) {
            if (ec || stopped_) return;
            remind_in(next);
            tell_();
        });
    }

    Timer timer_;
    std::function<void()> tell_;
    bool stopped_{false};
};

}  // namespace redlock::cli

#endif
