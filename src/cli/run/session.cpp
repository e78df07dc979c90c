#include "cli/run/session.hpp"

#include "cli/output/exit_codes.hpp"
#include "cli/output/signal_names.hpp"
#include "cli/output/text.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto release_timeout = 2s;
constexpr auto ending_group_interval = 20ms;  // between checks whether a process of the ending group is left
constexpr auto terminal_interval = 200ms;  // between attempts to give the terminal to the command
constexpr auto kill_timeout = 5s;  // how long to wait after SIGKILL for the end of the group

constexpr std::array forwarded{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

int code_of(int status) noexcept { return WIFSIGNALED(status) ? to_int(exit_code::signal) + WTERMSIG(status) : WEXITSTATUS(status); }

bool ends_waiting(int signal) noexcept { return signal != SIGUSR1 && signal != SIGUSR2; }

}  // namespace

session::session(plan what, inheritance const& from, guardian& guard, offspring const& started)
    : plan_{std::move(what)},
      inherited_{from},
      guard_{guard},
      started_{started},
      manager_{std::getenv(notify_variable), plan_.pass_notify, [this](std::string const& why) { say(why); }},
      nodes_{io_.get_executor(), plan_.nodes, events_.client_observer()},
      lock_{nodes_, plan_.name, plan_.options},
      votes_{io_, nodes_, plan_.permits || plan_.options.fencing}
{
    if (plan_.permits) semaphore_.emplace(nodes_, plan_.name, semaphore_options{.permits = *plan_.permits, .lock = plan_.options});
    else if (plan_.options.fencing) both_.emplace(nodes_, plan_.name, plan_.options);
}

int session::run()
{
    for (int const s : forwarded)
        if (!inherited_.ignores(s)) signals_.add(s);  // a command under nohup must go on ignoring SIGHUP
    signals_.add(SIGCHLD);
    signals_.add(SIGCONT);
    on_signal(0);
    // Orphans of the command become children of this process, so that it notices their ends.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);

    nodes_.run(asio::detached);
    plan_.wait_servers ? await_votes() : acquire();
    io_.run();
    events_.ended(result_, outcome_);
    return result_;
}

child::environment session::environment() const
{
    auto const left = lease_.valid_until() - boot_clock::now();
    auto const until = std::chrono::system_clock::now() + std::chrono::duration_cast<std::chrono::system_clock::duration>(left);
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%.3f", std::chrono::duration<double>{until.time_since_epoch()}.count());
    child::environment all{{"REDLOCK_NAME", plan_.name},
                           {"REDLOCK_TOKEN", lease_.token() == 0 ? "" : std::to_string(lease_.token())},
                           {"REDLOCK_VALID_UNTIL", text.data()},
                           {"REDLOCK_SLOT", slots()}};  // empty: not that of an outer `redlock run`
    if (passing_) all.emplace_back(lease_passing::variable, std::to_string(passing_->descriptor()));
    if (!plan_.pass_notify) all.emplace_back(notify_variable, "");  // the manager would take the command's words for ours
    if (!plan_.hidden) return all;
    auto const remove = [&](std::string_view name) {
        if (std::none_of(all.begin(), all.end(), [&](auto const& v) { return v.first == name; })) all.emplace_back(name, "");
    };
    for (char** v = environ; *v != nullptr; ++v) {
        std::string_view const variable{*v};
        if (variable.starts_with("REDLOCK_")) remove(variable.substr(0, variable.find('=')));
    }
    for (std::string const& variable : *plan_.hidden) remove(variable);
    return all;
}

void session::start_command()
{
    // Before the command runs: if this process is killed now, the command may have started others already, which the kernel does not end.
    auto const protect = [this, kill_at = plan_.times.guard_at(lease_.valid_until())] { guard_.protect(::getpid(), kill_at); };
    auto const held = "holds " + what_is_held() + (lease_.token() == 0 ? "" : ", token " + std::to_string(lease_.token()));
    try {
        child_.emplace(plan_.command, environment(), inherited_, terminal_, protect, passing_ ? passing_->descriptor() : -1, held + '\n');
    } catch (failure const& error) {
        say(error.what());
        command_code_ = to_int(error.code);
        outcome_ = run_outcome::not_started;
        return group_has_gone();
    }
    guard_.put_off(plan_.times.guard_at(lease_.valid_until()));
    events_.command_started(lease_.token(), child_->pid());
    manager_.ready(held);
    // This process must not be suspended: the lease would end meanwhile.
    for (int const s : {SIGTSTP, SIGTTIN}) ::signal(s, SIG_IGN);
    lease_.wait_lost([this](error_code ec) { on_lost(ec); });
    if (passing_) passing_->begin(io_, [this] { pass_lease(); });
    check_lease_and_group();
    reap();  // the command may have ended before async_wait
}

// The command asked for the ticket. With it, the command goes on by itself: this process extends nothing any more, and ends nothing.
void session::pass_lease()
{
    bool const ends = !child_ || command_code_ || kill_by_ || lost_;
    if (ends || !passing_->is_open()) return passing_->end();
    passed_until_ = lease_.valid_until();
    auto const ticket = lease_.detach();
    if (ticket.empty()) return passing_->end();  // it is lost already, as on_lost will be told
    if (!passing_->answer(ticket)) {
        lost_ = true;
        terminate_command("the command went away while it was given the ticket");
        return check_lease_and_group();
    }
    passed_ = true;
    guard_.release();
    check_lease_and_group();
    manager_.status("the command has taken " + name_in_words(plan_.name) + " over");
    if (plan_.verbose) say("the command has taken " + name_in_words(plan_.name) + " over");
}

void session::give_terminal()
{
    if (!waits_for_terminal_) return;
    if (!terminal_.give_to(child_->pid())) {
        if (!std::exchange(want_said_, true))
            say_stopped("it wants the terminal, which another command has: bring redlock to the foreground (fg)");
        return;
    }
    waits_for_terminal_ = want_said_ = false;
    child_->signal(SIGCONT);
}

// Sends the command's group SIGTERM or SIGKILL if that is due, and sets a timer for the next check.
void session::check_lease_and_group()
{
    if (!child_) return;
    auto const now = boot_clock::now();
    if (passed_) {
        give_terminal();
        return waits_for_terminal_ ? check_again_at(now + terminal_interval) : static_cast<void>(check_timer_.cancel());
    }
    auto const until = valid_until();
    guard_.put_off(plan_.times.guard_at(until));
    guard_.note(strays());
    auto kill_at = plan_.times.kill_at(until);
    if (kill_by_) kill_at = std::min(kill_at, *kill_by_);
    if (now >= kill_at) {
        kill_group();
    } else if (!kill_by_ && now >= plan_.times.term_at(until)) {
        lost_ = true;
        terminate_command("it could not be extended");
    }
    if (command_code_) {
        end_rest_of_group();
        if (!child_) return;
    }
    give_terminal();

    auto next = now + plan_.options.ttl / 10;
    if (command_code_ || killed_at_) next = now + ending_group_interval;
    if (waits_for_terminal_) next = std::min(next, now + terminal_interval);
    if (!killed_at_) next = std::min(next, std::max(now, kill_by_ ? std::min(kill_at, *kill_by_) : plan_.times.term_at(until)));
    check_again_at(next);
}

void session::check_again_at(time_point when)
{
    check_timer_.expires_at(when);
    check_timer_.async_wait([this](error_code ec) {
        if (!ec) check_lease_and_group();
    });
}

void session::on_lost(error_code ec)
{
    if (ec == asio::error::operation_aborted || !child_) return;
    lost_ = true;
    if (!command_code_) terminate_command(ec.message());
    check_lease_and_group();
}

void session::terminate_command(std::string const& why)
{
    if (kill_by_) return;
    auto const now = boot_clock::now();
    kill_by_ = std::min(now + plan_.times.grace, plan_.times.kill_at(valid_until()));
    auto const text = "the lease on " + name_in_words(plan_.name) + " is lost (" + why + "); the command " +
                      (plan_.on_lost == SIGTERM ? "has " : "gets " + name_of_signal(plan_.on_lost) + ", and has ") +
                      in_words(std::max(boot_clock::duration::zero(), *kill_by_ - now)) + " to end";
    child_->signal(plan_.on_lost);
    child_->signal(SIGCONT);  // a stopped process handles no signal
    say(text);
    end_strays(plan_.on_lost);
    manager_.stopping(text);
}

void session::kill_group()
{
    child_->signal(SIGKILL);
    if (!command_code_) lost_ = true;
    if (lost_) end_strays(SIGKILL);
    if (killed_at_) return;
    killed_at_ = boot_clock::now();
    if (!command_code_) say("the command had not ended in time: killed");
}

std::vector<process> session::strays() const { return started_.outside(child_->pid(), guard_.pid()); }

// The lease is lost: also the command's processes that have left its group must end.
void session::end_strays(int signal)
{
    std::vector<process> new_ones;
    for (process const& p : strays()) {
        kill_process(p.pid, p.started, signal);
        kill_process(p.pid, p.started, SIGCONT);
        auto const same = [&](process const& told) { return told.pid == p.pid && told.started == p.started; };
        if (std::none_of(ended_strays_.begin(), ended_strays_.end(), same)) new_ones.push_back(p);
    }
    if (new_ones.empty()) return;
    ended_strays_.insert(ended_strays_.end(), new_ones.begin(), new_ones.end());
    say("processes of the command that had left its group are ended, too: " + in_words(new_ones));
}

void session::report_strays()
{
    auto const left = strays();
    if (left.empty() || plan_.quiet) return;
    say(count_of(left.size(), "process", "processes") + " of the command left its group and may still run: " + in_words(left));
}

void session::on_signal(int number)
{
    asked_to_end_ = asked_to_end_ || (number != 0 && number != SIGCHLD && number != SIGCONT && ends_waiting(number));
    if (number == SIGCHLD) {
        reap();
    } else if (number == SIGCONT) {
        if (child_ && !command_code_) child_->signal(SIGCONT);
    } else if (number != 0 && child_) {
        child_->signal(number);
        if (ends_waiting(number)) child_->signal(SIGCONT);  // a stopped process handles no signal
    } else if (number != 0 && ends_waiting(number) && interrupted_by_ == 0) {
        interrupted_by_ = number;
        if (votes_.stop()) on_acquired(asio::error::operation_aborted, {});
        else stop_acquiring_.emit(asio::cancellation_type::terminal);
    }
    if (finished_) return;
    signals_.async_wait([this](error_code ec, int next) {
        if (!ec) on_signal(next);
    });
}

void session::reap()
{
    int status = 0;
    pid_t who = 0;
    while ((who = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
        if (who == guard_.pid()) say("the process that watches over this one has ended; if this one is killed, the command may go on");
        if (!child_ || who != child_->pid()) continue;  // an orphan of the command
        if (WIFSTOPPED(status)) {
            on_stopped(WSTOPSIG(status));
        } else {
            command_code_ = code_of(status);
            events_.command_ended(lease_.token(), status);
            note_killed_by_guardian();
            manager_.stopping("the command has ended" + (lost_     ? std::string{", since the lease was lost"}
                                                         : passed_ ? std::string{}
                                                                   : "; giving " + name_in_words(plan_.name) + " back"));
        }
    }
    if (child_ && command_code_) end_rest_of_group();
}

// In the last moment of the lease, which may still be valid: without these words nobody would know why the command has ended.
void session::note_killed_by_guardian()
{
    if (passed_ || lost_ || !guard_.has_killed()) return;
    lost_ = true;
    say("the lease on " + name_in_words(plan_.name) +
        " was about to end, and this process was stopped, or had no processor, so that the command was killed");
}

// The command was stopped by a signal. After SIGTTIN and SIGTTOU it goes on when it can have the terminal. After SIGTSTP it goes on at once, since it
// must not hold a lock while it is suspended.
void session::on_stopped(int by)
{
    if (by == SIGTTIN || by == SIGTTOU) {
        waits_for_terminal_ = true;
        return check_lease_and_group();
    }
    if (by != SIGTSTP) return say_stopped(name_of_signal(by) + "; kill -CONT " + std::to_string(child_->pid()) + " lets it go on");
    say("a command that holds a lock is not suspended");
    child_->signal(SIGCONT);
}

void session::say_stopped(std::string const& why) { say("the command is stopped (" + why + "); " + what_is_held() + " is held meanwhile"); }

// The command has ended. The rest of its process group must end, too: the lock will not protect it any more.
void session::end_rest_of_group()
{
    if (passed_) return group_has_gone();  // what the command left may go on with the lock
    bool const gone = !child_->signal(0) && errno == ESRCH;
    if (gone && (!lost_ || strays().empty())) return group_has_gone();
    auto const now = boot_clock::now();
    if (!kill_by_) {
        kill_by_ = now + plan_.times.grace;
        child_->signal(SIGTERM);
        child_->signal(SIGCONT);
        if (plan_.verbose) say("the command has ended, but not all that it started: ending that, too");
        check_lease_and_group();
    } else if (killed_at_ && now > *killed_at_ + kill_timeout) {
        say("processes of the command could not be ended");
        group_has_gone();
    }
}

void session::group_has_gone()
{
    guard_.release();
    ctrl_c_ = ctrl_c_ || (terminal_.given() && command_code_ == to_int(exit_code::signal) + SIGINT);
    terminal_.take_back();
    check_timer_.cancel();
    if (passing_) passing_->end();
    if (child_ && !passed_) report_strays();
    child_.reset();
    if (passed_) return finish(*command_code_, outcome_);
    if (lost_) {
        lease_ = lease{};
        return finish(to_int(exit_code::lost), run_outcome::lost);
    }
    auto released = [this](error_code ec) {
        if (ec == condition::lost) {
            say("the lease on " + name_in_words(plan_.name) + " was lost before the command had ended (code " +
                std::to_string(*command_code_) + "): somebody else may have " + (semaphore_ ? "had its permit" : "held the lock") +
                " meanwhile");
            return finish(to_int(exit_code::lost), run_outcome::lost);
        }
        if (ec) say(what_is_held() + " was released, but too few nodes confirmed it: it is free within " + in_words(plan_.options.ttl));
        else if (plan_.verbose) say("released " + name_in_words(plan_.name));
        finish(*command_code_, outcome_);
    };
    lease_.release(asio::cancel_after(release_timeout, std::move(released)));
}

void session::finish(int code, run_outcome outcome)
{
    finished_ = true;
    result_ = code;
    outcome_ = outcome;
    events_.end_soon();
    notes_.stop_waiting();
    signals_.cancel();
    nodes_.cancel();
}

}  // namespace redlock::cli
