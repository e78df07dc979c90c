// What all ways to use the library have in common: to choose a lock, to acquire it and look at what came of it, to use what it protects,
// and to give it back. The classes that derive from it (holding_user and so on) are the ways.
#ifndef REDLOCK_TESTS_SIMULATION_CALLER_HPP
#define REDLOCK_TESTS_SIMULATION_CALLER_HPP

#include "stage.hpp"
#include "watched_lease.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace redlock::simulation {

inline constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

// g++ 12 destroys some temporaries twice inside co_await expressions, so every awaitable has a name and is moved from.
class caller {
public:
    // `with`: its owner's pointer, which becomes null when the client ends.
    caller(stage& on, process& in, std::shared_ptr<redlock::client> const& with) : stage_{on}, process_{in}, client_{with} {}

protected:
    lock_options choose_options();
    lock_options choose_options_with_tokens();
    redlock::lock choose_lock();
    redlock::lock choose_lock(lock_options options);
    duration time_to_hold();
    duration time_until_free(std::vector<std::string> const& names);

    std::unique_ptr<turn_judge::place> place_for(redlock::lock const& resource) const;
    std::unique_ptr<turn_judge::place> place_for(redlock::rw_lock const& resource, bool reads) const;
    asio::awaitable<lease> take(redlock::lock const& resource, bool once = false, attempt_report* report = nullptr);
    asio::awaitable<void> give_up_waiting_for(redlock::lock const& resource);
    asio::awaitable<void> work_and_watch_extensions(duration work_for);
    asio::awaitable<void> believe_to_the_end(lease& held);
    void write(watched_lease& watched);
    asio::awaitable<void> end_holding(lease held, watched_lease& watched);
    asio::awaitable<void> write_and_end(lease& held, watched_lease& watched);
    asio::awaitable<void> all_of(std::vector<asio::awaitable<void>> what);

    // Reports what acquire() must not complete with here, or not so late, and counts what happened. Returns whether there is no error.
    bool judge_error(error_code ec, lock_options const& options, duration since, attempt_report const* report);

    // The same, and that there is a lease if there is no error. Returns whether there is one.
    bool examine(error_code ec, lease const& held, lock_options const& options, duration since, attempt_report const* report);

    void expect(error_code ec, std::initializer_list<error_code> allowed, char const* operation);
    void expect_release(error_code ec);
    void say(std::string text);

    stage& stage_;
    process& process_;
    std::shared_ptr<redlock::client> const& client_;
};

}  // namespace redlock::simulation

#endif
