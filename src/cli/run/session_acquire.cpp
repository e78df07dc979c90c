// The part of session that acquires the lock, and says why it has not.
#include "cli/run/session.hpp"

#include "cli/locks/waiting.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <algorithm>
#include <csignal>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace redlock::cli {

// How long that takes counts from the first time on.
void session::await_votes()
{
    auto const now = boot_clock::now();
    if (!servers_since_) servers_since_ = acquiring_since_ = now;
    begin_waiting();
    auto const left = std::max(milliseconds{0}, *plan_.wait_servers - std::chrono::duration_cast<milliseconds>(now - *servers_since_));
    votes_.start(left, [this](vote_wait::end how) {
        if (how == vote_wait::end::votes) return acquire();
        hopeless_ = how == vote_wait::end::hopeless;
        servers_since_ = boot_clock::time_point{};  // nothing is left
        on_acquired(errc::no_majority, {});
    });
}

void session::acquire()
{
    auto done = asio::bind_cancellation_slot(stop_acquiring_.slot(), [this](error_code ec, lease got) { on_acquired(ec, std::move(got)); });
    if (plan_.ticket) {
        nodes_.adopt(plan_.ticket->text, plan_.options, std::move(done));
    } else if (semaphore_) {
        plan_.once ? semaphore_->try_acquire(plan_.take, report_, std::move(done))
                   : semaphore_->acquire(plan_.take, report_, std::move(done));
    } else if (plan_.shared) {
        plan_.once ? both_->try_acquire_shared(report_, std::move(done)) : both_->acquire_shared(report_, std::move(done));
    } else if (plan_.once) {
        lock_.try_acquire(report_, std::move(done));
    } else {
        both_ ? both_->acquire(report_, std::move(done)) : lock_.acquire(report_, std::move(done));
    }
    acquiring_since_ = boot_clock::now();
    begin_waiting();
}

// An adoption takes no longer than the ttl of its ticket, and nobody else holds the lock, so there is nothing to say of it.
void session::begin_waiting()
{
    manager_.status("waiting for " + name_in_words(plan_.name));
    if (!plan_.ticket) reminder_.start();
}

void session::explain_waiting()
{
    hopeless_ = hope_.is_sure(nodes_.status(), plan_.permits || plan_.options.fencing, std::chrono::steady_clock::now());
    if (hopeless_) return stop_acquiring_.emit(asio::cancellation_type::terminal);
    if (hope_.is_in_doubt()) reminder_.next_in(lost_hope::sure_after);
    if (plan_.quiet && !events_.wanted() && !manager_.listens()) return;
    if (semaphore_) return explain_waiting_for_permits();
    look_at_lock([this](lock_view const& lock) {
        auto const status = nodes_.status();
        auto const now = boot_clock::now();
        if (!told_.is_due(reason_to_wait(lock, status, plan_.options.fencing), now)) return;
        auto const waited = now - acquiring_since_;
        auto const text = waiting_in_words(lock, status, plan_.options.fencing, waited);
        if (!plan_.quiet) say(text);
        events_.waiting(lock, count_voting(status, plan_.options.fencing), waited);
        manager_.status(text.substr(0, text.find('\n')));
    });
}

// Asks the nodes who holds the lock, and passes the answer to `explain`.
void session::look_at_lock(std::function<void(lock_view const&)> explain)
{
    auto const key = keys_of(plan_.nodes).key_of(plan_.name);
    glance_.emplace(io_.get_executor(), plan_.nodes, questions_about(key), glance_timeout,
                    [name = plan_.name, writes = !plan_.shared, tell = std::move(explain)](std::vector<answers> const& all) {
                        auto seen = view_of(name, all);
                        if (writes) seen.writer_waits = false;  // that may be this one, and keeps it from nothing
                        auto const who = seen.info();
                        auto const here = detail::this_process("");
                        seen.is_asked_for_here = who && who->host == here.host && who->pid == here.pid;
                        tell(seen);
                    });
}

void session::on_acquired(error_code ec, lease got)
{
    reminder_.stop();
    glance_.reset();
    ctrl_c_ = interrupted_by_ == SIGINT && terminal_.is_ours();
    if (ec && hopeless_ && interrupted_by_ == 0) return explain_no_majority(errc::no_majority);
    if (ec && interrupted_by_ != 0) return finish(to_int(exit_code::signal) + interrupted_by_, run_outcome::interrupted);
    if (ec) return explain_failure(ec);
    lease_ = std::move(got);
    if (plan_.verbose)
        say((plan_.ticket ? "goes on with " + name_in_words(plan_.name)
                          : "acquired " + what_is_held() + " after " + in_words(report_.elapsed)) +
            (plan_.options.fencing ? ", token " + std::to_string(lease_.token()) : ""));
    plan_.publish ? publish() : begin();
}

void session::begin()
{
    if (interrupted_by_ != 0) {
        command_code_ = to_int(exit_code::signal) + interrupted_by_;
        outcome_ = run_outcome::interrupted;
        return group_has_gone();
    }
    start_command();
}

// The command starts when a majority keeps it: a client that asks who leads is told so from then on.
void session::publish()
{
    lease_.publish(*plan_.publish, [this](error_code ec) {
        if (!ec || interrupted_by_ != 0) return begin();
        if (ec == errc::no_majority && lease_.valid()) return publish();
        say("the lease on " + name_in_words(plan_.name) + " was lost before the address could be published (" + ec.message() + ")");
        lost_ = true;
        group_has_gone();
    });
}

void session::explain_failure(error_code ec)
{
    if (plan_.ticket) {
        auto const why = not_adopted(ec, *plan_.ticket);
        say(why.what());
        return finish(to_int(why.code), ec == errc::lease_lost ? run_outcome::lost : run_outcome::no_majority);
    }
    if (semaphore_ && (ec == errc::permits_differ || ec == condition::contended)) return explain_no_permit(ec);
    if (plan_.once && !semaphore_ && may_be_split(report_)) return ask_again(ec);
    if (ec != condition::contended) return explain_no_majority(ec);
    look_at_lock([this](lock_view const& lock) { explain_contended(lock); });
}

// Unless somebody holds the lock, or it was asked often enough.
void session::ask_again(error_code ec)
{
    look_at_lock([this, ec](lock_view const& lock) {
        std::random_device random;
        auto const pause = lock.state == lock_state::held ? std::nullopt : split_votes_.next_pause(random);
        if (!pause) return ec == condition::contended ? explain_contended(lock) : explain_no_majority(ec);
        again_.expires_after(*pause);
        again_.async_wait([this](error_code) { interrupted_by_ == 0 ? acquire() : on_acquired(asio::error::operation_aborted, {}); });
    });
}

void session::explain_contended(lock_view const& lock)
{
    if (plan_.quiet && plan_.conflict_code == 0) return finish(plan_.conflict_code, run_outcome::contended);
    bool const is_split = report_.outcome == errc::split_votes && lock.state != lock_state::held;
    say(is_split ? name_in_words(plan_.name) + " was not acquired: " + report_.outcome.message() : contended_in_words(lock, !plan_.once));
    finish(plan_.conflict_code, run_outcome::contended);
}

void session::explain_no_majority(error_code ec)
{
    bool const wrong_list = ec == errc::wrong_node_set;
    if (plan_.wait_servers && !hopeless_ && !wrong_list && boot_clock::now() < *servers_since_ + *plan_.wait_servers) {
        again_.expires_after(pause_before_servers_are_asked_again);
        return again_.async_wait(
            [this](error_code) { interrupted_by_ == 0 ? await_votes() : on_acquired(asio::error::operation_aborted, {}); });
    }
    if (plan_.once && !hopeless_ && !wrong_list && !std::exchange(looked_for_hope_, true))
        return votes_.look_for_hope([this, ec](vote_wait::end how) {
            hopeless_ = how == vote_wait::end::hopeless;
            interrupted_by_ == 0 ? explain_no_majority(ec) : on_acquired(asio::error::operation_aborted, {});
        });
    auto const status = nodes_.status();
    std::string text = name_in_words(plan_.name) + " was not acquired: ";
    if (hopeless_) text += waiting_does_not_help + nodes_without_vote(status, true);
    else if (!report_.outcome)
        text += failure_in_words(ec, status, plan_.options.fencing) + nodes_without_vote(status, plan_.options.fencing);
    else
        text += failure_in_words(report_.outcome, status, plan_.options.fencing) +
                silent_nodes_in_words(report_, status, plan_.options.fencing);
    auto const is_quarantined = [](node_status const& n) { return n.admission == admission_state::quarantined; };
    if (plan_.nodes.quarantine_folder.empty() && std::any_of(status.nodes.begin(), status.nodes.end(), is_quarantined))
        text += std::string{"\n  "} + no_quarantine_folder;
    say(text);
    finish(to_int(wrong_list || hopeless_ ? exit_code::config : exit_code::no_majority), run_outcome::no_majority);
}

}  // namespace redlock::cli
