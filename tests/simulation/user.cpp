#include "user.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <string>
#include <utility>

namespace redlock::simulation {

user::user(stage& on, process& in, std::shared_ptr<redlock::client> with) : stage_{on}, process_{in}, client_{std::move(with)} {}

void user::go(std::size_t actions) { spawn(work(actions), nullptr); }

void user::ask_once(std::function<void()> then) { spawn(holds_.visit(), std::move(then)); }

void user::spawn(asio::awaitable<void> what, std::function<void()> then)
{
    ++stage_.at_work;
    at_work_ = true;
    asio::co_spawn(process_.get_executor(), std::move(what), [this, then = std::move(then)](std::exception_ptr failure) {
        --stage_.at_work;
        at_work_ = false;
        if (then) then();
        if (!failure) return;
        try {
            std::rethrow_exception(failure);
        } catch (std::exception const& e) {
            stage_.rules.violation(std::string{"a user was surprised: "} + e.what());
        }
    });
}

asio::awaitable<void> user::work(std::size_t actions)
{
    auto start = sleep(stage_.world.chance.scaled(stage_.longest_hold));
    co_await std::move(start);
    for (std::size_t i = 0; i < actions && client_; ++i) {
        auto action = act();
        co_await std::move(action);
    }
}

asio::awaitable<void> user::act()
{
    if (stage_.has_tickets && stage_.world.chance.one_in(2))
        return stage_.world.chance.one_in(2) ? tickets_.detach_lease() : tickets_.adopt_ticket();
    if (stage_.permits > 0 && !stage_.world.chance.one_in(6)) return permits_.use_semaphore();
    if (stage_.has_rw_locks && !stage_.world.chance.one_in(5)) return rw_locks_.use_rw_lock();
    if (stage_.states && !stage_.world.chance.one_in(5)) return states_.publish_and_inherit();
    if (stage_.queues && stage_.world.chance.one_in(2)) return waits_.wait_in_line();
    switch (stage_.world.chance.below(16)) {
    case 0:
    case 1: return holds_.hold_for_a_while();
    case 2: return holds_.with_callbacks();
    case 3: return waits_.give_up_waiting();
    case 4: return holds_.extend_by_hand();
    case 5: return holds_.wait_for_loss();
    case 6:
    case 7:
    case 8: return scopes_.use_lock();
    case 9:
    case 10: return holds_.use_to_the_last_moment();
    case 11: return stage_.world.chance.one_in(2) ? owners_.ask_as_one_owner() : owners_.nest();
    case 12: return waits_.wait_in_line();
    default: return waits_.come_when_free();
    }
}

}  // namespace redlock::simulation
