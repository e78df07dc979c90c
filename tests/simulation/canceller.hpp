// A cancellation of an operation that comes from its caller.
#ifndef REDLOCK_TESTS_SIMULATION_CANCELLER_HPP
#define REDLOCK_TESTS_SIMULATION_CANCELLER_HPP

#include "process.hpp"

#include <redlock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <memory>

namespace redlock::simulation {

// Emits a cancellation after a while, unless it is gone by then.
class canceller {
public:
    canceller(asio::any_io_executor const& on, duration after, asio::cancellation_type_t type) : timer_{on, after} { wait(type); }
    asio::cancellation_slot slot() const { return state_->signal.slot(); }
    bool emitted() const noexcept { return state_->emitted; }

    // At another time than was planned.
    void rather_after(duration after, asio::cancellation_type_t type)
    {
        timer_.expires_after(after);
        wait(type);
    }

private:
    void wait(asio::cancellation_type_t type)
    {
        timer_.async_wait([state = state_, type](error_code ec) {
            if (ec) return;
            state->emitted = true;
            state->signal.emit(type);
        });
    }

    struct state {
        asio::cancellation_signal signal;
        bool emitted{false};
    };

    std::shared_ptr<state> state_ = std::make_shared<state>();  // a handler of the timer may outlive the canceller
    timer timer_;
};

}  // namespace redlock::simulation

#endif
