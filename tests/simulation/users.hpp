// What people do with the library: holders, scopes, callers who give up, holders that crash, and a rival who comes at the worst moment.
#ifndef REDLOCK_TESTS_SIMULATION_USERS_HPP
#define REDLOCK_TESTS_SIMULATION_USERS_HPP

#include "judge.hpp"
#include "state_judge.hpp"
#include "universe.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace redlock::simulation {

enum class kinds : std::uint8_t { with_tokens, without_tokens, mixed };

// What a schedule's users share.
struct stage {
    universe& world;
    judge& rules;
    lock_options usual;               // of most locks
    std::vector<std::string> names;   // of the locks
    duration hold_max{};
    bool calm{false};                 // no faults in this schedule: some things then hold at once
    kinds of_locks{kinds::with_tokens};
    std::uint32_t block_max{1};       // of tokens that are wanted at once
    bool queues{false};               // many wait through one client
    std::uint64_t owners{0};          // that there are
    std::size_t at_work{0};           // users
    bool travels{false};              // leases are detached and adopted
    std::vector<judge::ticket> tickets{};
    bool shares{false};               // many read, or one writes
    state_judge* states{nullptr};     // where holders publish and inherit
    std::uint32_t permits{0};         // of semaphores, which most users have; 0: none has
};

// co_await sleep(d) in the time of the process; can be cancelled.
asio::awaitable<void> sleep(duration d);

class user {
public:
    user(stage& on, process& in, std::shared_ptr<redlock::client> with) : stage_{on}, process_{in}, client_{std::move(with)} {}

    // Works through some actions, and leaves.
    void go(std::size_t actions);

    // Asks once for a lock, as a process does that lives for a moment; holds it for a while if it gets it, and leaves.
    void call(std::function<void()> then);

    bool is_at_work() const noexcept { return at_work_; }
    void client_gone() { client_.reset(); }

private:
    asio::awaitable<void> work(std::size_t actions);
    asio::awaitable<void> act();
    asio::awaitable<void> take_once();
    void spawn(asio::awaitable<void> what, std::function<void()> then);

    asio::awaitable<void> hold_for_a_while();
    asio::awaitable<void> with_callbacks();
    asio::awaitable<void> give_up_waiting();
    asio::awaitable<void> extend_by_hand();
    asio::awaitable<void> wait_for_loss();
    asio::awaitable<void> publish_and_inherit();
    asio::awaitable<void> publish(lease& held);
    void cut_off_but_one();
    asio::awaitable<void> inherit(lease& held);
    asio::awaitable<void> look_at(redlock::lock const& resource);
    asio::awaitable<void> sit_it_out();
    asio::awaitable<void> in_a_scope();
    asio::awaitable<void> be_a_rival();
    asio::awaitable<void> send_off();
    asio::awaitable<void> pick_up();
    bool detach(lease& held, judge::watched& watched, lock_options const& options);
    asio::awaitable<void> share();
    asio::awaitable<void> read_together(redlock::rw_lock const& resource);
    asio::awaitable<void> use_shared(redlock::rw_lock const& resource, bool reads);
    asio::awaitable<void> share_in_a_scope(redlock::rw_lock const& resource, bool reads);
    asio::awaitable<void> come_when_free(redlock::rw_lock const& resource);
    asio::awaitable<void> become_reader(lease& held, judge::watched& watched);
    asio::awaitable<lease> take_shared(redlock::rw_lock const& resource, bool reads, bool once, duration gives_up_after = {});
    asio::awaitable<void> hold_shared(lease held, lock_options const& options);
    redlock::rw_lock choose_rw_lock();
    asio::awaitable<void> count();
    asio::awaitable<void> count_together(redlock::semaphore const& resource);
    duration patience(bool once);
    asio::awaitable<void> use_permits(redlock::semaphore const& resource, std::uint32_t wanted);
    asio::awaitable<void> count_in_a_scope(redlock::semaphore const& resource);
    asio::awaitable<void> use_a_slot();
    asio::awaitable<lease> take_permits(redlock::semaphore const& resource, std::uint32_t wanted, bool once, duration gives_up_after);
    redlock::semaphore choose_semaphore();
    asio::awaitable<void> stand_in_line();
    asio::awaitable<void> wait_for_turn(redlock::lock const& resource, std::size_t number);
    asio::awaitable<void> give_up_waiting_for(redlock::lock const& resource);
    asio::awaitable<void> nest();
    asio::awaitable<void> ask_as_one_owner();
    asio::awaitable<void> hold_as_owner(redlock::lock const& resource, bool once);
    asio::awaitable<void> all_of(std::vector<asio::awaitable<void>> what);

    std::unique_ptr<judge::place> place_for(redlock::lock const& resource) const;
    std::unique_ptr<judge::place> place_for(redlock::rw_lock const& resource, bool reads) const;
    asio::awaitable<lease> take(redlock::lock const& resource, bool once = false, attempt_report* report = nullptr);
    asio::awaitable<void> work_and_watch_extensions(duration work_for);
    asio::awaitable<void> end_holding(lease held, judge::watched& watched);
    void write(judge::watched& watched);

    lock_options choose_options();
    redlock::lock choose_lock();
    redlock::lock choose_lock(lock_options options);
    duration time_to_hold();
    duration until_the_lock_is_free(std::vector<std::string> const& names);
    bool acquired(error_code ec, lock_options const& options, duration since, attempt_report const* report);
    void expect(error_code ec, std::initializer_list<error_code> allowed, char const* operation);
    void say(std::string text);

    stage& stage_;
    process& process_;
    std::shared_ptr<redlock::client> client_;
    bool at_work_{false};
};

}  // namespace redlock::simulation

#endif
