// `redlock run`: acquires the lock, runs the command, ends the command if the lease is lost, releases the lock.
//
// In the order of time: acquire() and start_command(); then check_lease_and_group() at every moment at which something may be due; then, when no process of
// the command's group is left, group_has_gone(), which releases the lock, and finish(). The command's group ends in one of three ways: by itself
// (end_rest_of_group() sees to what the command has left behind); since the lease is lost (terminate_command(), and kill_group() before the validity ends);
// or by a signal to this process, which on_signal() passes on. A command that has taken the lease over (pass_lease()) is left alone.
#ifndef REDLOCK_CLI_RUN_SESSION_HPP
#define REDLOCK_CLI_RUN_SESSION_HPP

#include "cli/locks/semaphore_view.hpp"
#include "cli/locks/waiting.hpp"
#include "cli/nodes/vote_wait.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/notes.hpp"
#include "cli/run/child.hpp"
#include "cli/run/guardian.hpp"
#include "cli/run/lease_passing.hpp"
#include "cli/run/offspring.hpp"
#include "cli/run/reminder.hpp"
#include "cli/run/run_events.hpp"
#include "cli/run/service_manager.hpp"
#include "cli/run/split_votes.hpp"
#include "cli/run/tickets.hpp"
#include "cli/run/times.hpp"
#include "cli/servers/glance.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {

// The options of `redlock run`, in the library's terms.
struct plan {
    config nodes;
    lock_options options;
    bool shared{false};  // to read
    std::optional<std::uint32_t> permits;  // of the semaphore; none: it is a lock
    std::uint32_t take{1};  // how many permits at once
    end_times times;
    bool once{false};
    bool verbose{false};
    bool quiet{false};
    std::optional<milliseconds> wait_servers;  // for a majority that may vote, before the wait for the lock begins; none: that is one wait
    std::optional<std::vector<std::string>> hidden;  // variables that the command does not find, with all REDLOCK_*; none: it finds all
    bool pass_notify{false};  // the command finds NOTIFY_SOCKET, and uses it itself
    std::optional<int> events_fd;
    std::unique_ptr<lease_passing> passing;  // the command may take the lease over; null: it may not
    int on_lost{SIGTERM};  // what the command gets when the lease is lost
    int conflict_code{to_int(exit_code::contended)};
    std::string name;
    std::optional<known_ticket> ticket;  // the lease is adopted
    std::optional<std::string> publish;  // with the lock, before the command starts
    std::vector<std::string> command;
};

class session {
public:
    // Throws std::invalid_argument when the library refuses the name or the options.
    session(plan what, inheritance const& from, guardian& guard, offspring const& started);

    // Returns the exit code of this process.
    int run();

    // The user pressed Ctrl-C for all that runs in the terminal, so this process should end by SIGINT: a shell script that started it then ends, too.
    bool ended_by_ctrl_c() const noexcept { return ctrl_c_; }

    // The lease was lost, and nobody asked this process to end.
    bool may_campaign_again() const noexcept { return outcome_ == run_outcome::lost && !asked_to_end_; }

private:
    using time_point = boot_clock::time_point;
    using timer = asio::basic_waitable_timer<boot_clock>;

    // Acquiring.
    void await_votes();
    void acquire();
    void begin_waiting();
    void explain_waiting();
    void on_acquired(error_code ec, lease got);
    void ask_again(error_code ec);
    void explain_failure(error_code ec);
    void explain_contended(lock_view const& lock);
    void explain_no_majority(error_code ec);
    void look_at_lock(std::function<void(lock_view const&)> explain);
    void explain_waiting_for_permits();
    void explain_no_permit(error_code ec);
    void look_at_permits(std::function<void(semaphore_view const&)> explain);
    std::string slots() const;  // of the lease, with spaces between them; empty: it is of a lock
    std::string what_is_held() const;  // for messages

    // The command.
    void begin();
    void publish();
    void start_command();
    void pass_lease();
    time_point valid_until() const { return lease_ ? lease_.valid_until() : passed_until_; }
    child::environment environment() const;
    void check_lease_and_group();
    void check_again_at(time_point when);
    void give_terminal();
    void terminate_command(std::string const& why);
    void kill_group();
    std::vector<process> strays() const;
    void end_strays(int signal);
    void report_strays();
    void on_lost(error_code ec);
    void on_signal(int number);
    void reap();
    void note_killed_by_guardian();
    void on_stopped(int by);
    void say_stopped(std::string const& why);
    void end_rest_of_group();

    // The end.
    void group_has_gone();
    void finish(int code, run_outcome outcome);

    void say(std::string const& text) { notes_.say(text); }

    plan plan_;
    inheritance const& inherited_;
    guardian& guard_;
    offspring const& started_;
    asio::io_context io_{1};
    notes notes_{io_.get_executor()};
    std::unique_ptr<lease_passing> const passing_{std::move(plan_.passing)};
    run_events events_{io_, plan_.events_fd, plan_.name, [this](std::string const& why) {
                           say("events end here, descriptor " + std::to_string(*plan_.events_fd) + ": " + why);
                       }};
    service_manager manager_;
    client nodes_;
    lock lock_;
    std::optional<rw_lock> both_;  // with tokens: readers and writers wait for each other in turns
    std::optional<semaphore> semaphore_;
    job_control terminal_;
    asio::signal_set signals_{io_};
    asio::cancellation_signal stop_acquiring_;
    // Tells the user why the command does not start yet.
    reminder<asio::steady_timer> reminder_{io_, [this] { explain_waiting(); }};
    timer check_timer_{io_};
    attempt_report report_;
    split_votes split_votes_;
    asio::steady_timer again_{io_};
    vote_wait votes_;
    std::optional<boot_clock::time_point> servers_since_;
    lost_hope hope_;
    bool looked_for_hope_{false};
    bool hopeless_{false};  // that is why the wait ended
    std::optional<glance> glance_;
    boot_clock::time_point acquiring_since_{};
    told_reason told_;

    lease lease_;
    std::optional<child> child_;
    std::optional<int> command_code_;  // the command's exit code, once it has ended
    std::optional<time_point> kill_by_;  // set when SIGTERM is sent: the rest of the group is killed then, or earlier
    std::optional<time_point> killed_at_;
    std::vector<process> ended_strays_;  // strays that the user was told of
    bool lost_{false};
    bool passed_{false};  // the command, which asked for it, has the ticket of the lease
    time_point passed_until_{};  // the end of that lease, as far as this process extended it
    bool waits_for_terminal_{false};  // the command was stopped, since it used the terminal while another group had it
    bool want_said_{false};  // that it waits for the terminal
    int interrupted_by_{0};  // the signal that ended the acquisition; 0: none
    int result_{0};
    run_outcome outcome_{};
    bool finished_{false};
    bool ctrl_c_{false};
    bool asked_to_end_{false};
};

}  // namespace redlock::cli

#endif
