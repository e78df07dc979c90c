#include "client/engine.hpp"

#include "core/lease/state_rounds.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cassert>
#include <functional>
#include <utility>

namespace redlock::detail {

engine::engine(asio::any_io_executor outer, strand_type strand, std::vector<std::unique_ptr<node>> nodes, engine_settings settings,
               fanout::clock_function clock)
    : strand_entrance{std::move(outer), std::move(strand), std::move(settings.run_here), settings.single},
      max_ttl_{std::chrono::duration_cast<std::chrono::milliseconds>(settings.max_ttl)},
      clock_drift_{settings.clock_drift},
      keys_{settings.keys}
{
    auto const count = nodes.size();
    for (auto const& n : nodes) board_.add(n->name(), n->is_group(), settings.clock_drift);
    env_.now = clock;
    clock_rules const clocks{settings.clock_drift, settings.max_ttl};
    env_.to_nodes = std::make_shared<fanout>(this->strand(), std::move(nodes), settings.max_node_queue, clock, clocks);
    env_.to_nodes->on_step = [this](std::size_t node, quorum::clock_step step, time_point now) { on_step(node, step, now); };
    if (single()) env_.to_nodes->complete_together_on(*single());
    env_.fresh_value = std::move(settings.fresh_value);
    auto fresh_mark = std::move(settings.fresh_mark);
    if (!fresh_mark) fresh_mark = [fresh = env_.fresh_value] { return fresh().text(); };
    env_.jitter.seed(settings.jitter_seed);
    env_.observed = events::make(settings.observer, this->outer(), board_.nodes(), clock, settings.wall_clock, env_.count);
    if (!env_.observed) env_.outages = outage_log::make(std::move(settings.log), this->outer());
    env_.tokens.wall_clock = settings.wall_clock;
    env_.token_retention = std::chrono::duration_cast<std::chrono::milliseconds>(settings.token_retention);
    quorum::admission_settings rules{settings.max_ttl, settings.clock_drift, settings.bootstrap, fresh_mark, settings.wall_clock};
    rules.founds_by_uptime = settings.trust_uptime;
    rules.recovers = settings.recovers;
    if (!settings.sets.fresh_id) settings.sets.fresh_id = fresh_mark;
    if (!settings.sets.wall_clock) settings.sets.wall_clock = settings.wall_clock;
    settings.sets.max_ttl = settings.max_ttl;
    admissions_.emplace(env_, std::move(rules), std::move(settings.sets), count, std::move(settings.quarantines));
    admissions_->on_wrong_set = [this](std::size_t node, std::string const& why) { turn_away(node, errc::wrong_node_set, why); };
    env_.voters = count;
    env_.members = quorum::node_set::all(count);
    env_.set_size = count;
    admissions_->on_generation = [this](admission_driver::generation_news const& news) {
        if (!news.is_first) env_.to_nodes->begin_era();
        env_.voters = news.voters;
        env_.members = news.members;
        env_.set_size = news.size;
        env_.set_was_resized = news.was_resized;
        leases_.on_generation(env_.now());
        adoptions_.on_generation();
    };
    admissions_->on_idle = [this] { stop_nodes_when_quiet(); };
    admissions_->on_change = [this](std::size_t node, admission_picture const& now) {
        if (env_.observed) env_.observed->admission(node, now.state, [&] { return now.text(env_.now()); });
        board_.admission(node, now);
    };
    env_.to_nodes->on_suspect = [this](std::size_t node) { admissions_->suspect(node); };
    env_.to_nodes->on_parting = [this](time_point at) {
        if (!parting_.is_set()) env_.set_timer(parting_, at);
    };
    env_.to_nodes->on_release_retry = [this](time_point at) { env_.set_timer(repetition_, at); };
    releases_.on_idle = [this] { stop_nodes_when_quiet(); };
    adoptions_.is_elsewhere = [this](ticket const& t) { return is_of_other_nodes(t, board_.servers()); };
    env_.tell_lookers = [this](std::string_view key) { peeks_.on_changed(key); };
    leases_.on_publish_again = [this](lease_record& what, time_point t) { publications_.publish_again(what, t); };
    leases_.on_lost = [this](lease_record& what) { acquisitions_.on_lost(what); };
}

void engine::run(plain_handler&& handler)
{
    auto const w = wait_with(std::move(handler), [this] {
        return [this](waiter const*, asio::cancellation_type_t type) {
            if (gives_up(type)) stop();
        };
    });
    on_strand([this, w] {
        if (life_ == life::stopped) return w->done(errc::client_cancelled);
        runners_.push_back(w);
        if (life_ == life::idle) start();
    });
}

void engine::start()
{
    life_ = life::running;
    nodes_running_ = env_.to_nodes->nodes();
    env_.has_run = true;
    board_.starts();
    start_watchdog();
    env_.to_nodes->start(self());
    if (env_.outages) env_.set_timer(first_contact_, env_.now() + outage_log::never_reached_after);
}

void engine::tell_of_nodes_never_reached(time_point now)
{
    if (!env_.outages) return;
    quorum::node_set unreached;
    for (std::size_t node = 0; node < board_.nodes().size(); ++node)
        if (board_.nodes()[node].connects == 0) unreached.add(node);
    if (!unreached.empty()) env_.outages->never_reached(*env_.to_nodes, unreached, outage_log::never_reached_after, now);
}

void engine::cancel() noexcept
{
    if (closed_) return;
    on_strand([this] { stop(); });
}

// Ends every operation and lease, then waits a little for the releases that this starts, and for nodes that can be marked or admitted in a moment:
// if all processes live only briefly, no other one would admit them.
void engine::stop()
{
    if (life_ != life::idle && life_ != life::running) return;
    bool const ran = life_ == life::running;
    life_ = life::lingering;
    env_.cancel_timer(first_contact_);
    for_all_that_wait([](auto& all) { all.fail_all(errc::client_cancelled); });
    leases_.lose_all(errc::client_cancelled);
    if (!ran) return stop_nodes();
    env_.set_timer(linger_, env_.now() + max_linger);
    stop_nodes_when_quiet();
}

void engine::stop_nodes_when_quiet()
{
    if (life_ == life::lingering && releases_.idle() && leases_.empty() && admissions_->is_idle()) stop_nodes();
}

void engine::stop_nodes()
{
    assert(life_ == life::lingering);
    env_.cancel_timer(linger_);
    life_ = life::stopping;
    if (nodes_running_ > 0) return env_.to_nodes->stop();
    nodes_running_ = 1;  // the nodes were never started: there is nothing to wait for
    on_stopped(0);
}

void engine::on_up(std::size_t node, std::string const& server, quorum::node_facts const& facts)
{
    if (auto const other = board_.node_of(server)) {
        // A server that is two nodes would have two votes. Which of the two addresses is wrong, or was when it was connected, only they can tell.
        env_.to_nodes->check_address(*other);
        return turn_away(node, errc::node_duplicate,
                         "this is the same server as " + env_.to_nodes->name(*other) + "; each node needs a server of its own");
    }
    if (auto const why = admissions_->meet(node, facts); !why.empty()) return turn_away(node, errc::wrong_node_set, why);
    board_.up(node, server);
    if (env_.observed) env_.observed->node_up(node, board_.nodes()[node].address_text);
    env_.to_nodes->up(node);
    admissions_->up(node, facts);
    peeks_.on_up();
}

void engine::on_several_servers(std::size_t node, std::string const& words)
{
    if (board_.several_servers(node, words) && env_.outages) env_.outages->several_servers(env_.to_nodes->name(node), words);
}

void engine::on_down(std::size_t node, error_code why, std::string const& text)
{
    if (auto const left = env_.to_nodes->leaves_because(node)) {  // it is down for all already
        if (why == left) board_.down(node, why, text);  // a group says which of its servers it was
        return env_.to_nodes->down(node, why, text);
    }
    tell_of_down(node, why, text, [&] { env_.to_nodes->down(node, why, text); });
}

// `leave`: has requests that wait for the node fail.
void engine::tell_of_down(std::size_t node, error_code why, std::string const& text, std::function<void()> const& leave)
{
    board_.down(node, why, text);
    if (env_.observed) env_.observed->node_down(node, why, text);
    leave();
    admissions_->down(node, why);
    acquisitions_.on_down(node);
}

bool engine::on_unfit(std::size_t node, error_code why, std::string const& words)
{
    turn_away(node, why, words);
    return true;
}

// The server is of no use. It is down from now on, though its connection ends later.
void engine::turn_away(std::size_t node, error_code why, std::string const& words)
{
    if (env_.to_nodes->leaves_because(node)) return;
    if (!env_.to_nodes->may_have_keys(node)) {
        board_.down(node, why, words);
        return env_.to_nodes->reject(node, why, words);
    }
    tell_of_down(node, why, words, [&] { env_.to_nodes->reject_later(node, why, words); });
}

void engine::on_stopped(std::size_t)
{
    assert(life_ == life::stopping && nodes_running_ > 0);
    if (--nodes_running_ > 0) return;
    // Requests that the nodes had not answered have failed by now. Their votes must be filed first.
    on_strand([this] {
        life_ = life::stopped;
        env_.to_nodes->close();
        env_.cancel_timer(repetition_);
        env_.cancel_timer(parting_);
        releases_.finish_draining(errc::client_cancelled);
        stop_watchdog();
        runners_.complete_all(errc::client_cancelled);
    });
}

void engine::on_time(std::size_t node, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received)
{
    env_.to_nodes->on_time(node, clock, sent, received);
}

void engine::on_step(std::size_t node, quorum::clock_step step, time_point now)
{
    ++env_.count.clock_steps;
    if (env_.observed) env_.observed->clock_stepped(node, step.at_most, env_.to_nodes->clock_of(node).text(now));
    board_.clock(node, env_.to_nodes->clock_of(node));
    leases_.on_step(node, step.at_most, now);
}

void engine::on_changed(std::size_t node, std::string_view key)
{
    acquisitions_.on_changed(node, key);
    peeks_.on_changed(key);
}

void engine::drain(plain_handler&& handler)
{
    auto const w = wait_with(std::move(handler),
                             [this] { return [this](waiter const* who, asio::cancellation_type_t) { releases_.abandon_drain(who); }; });
    on_strand([this, w] {
        if (life_ == life::stopped) return w->done(errc::client_cancelled);
        releases_.drain(w);
    });
}

client_status engine::status() const
{
    client_status s;
    s.nodes = board_.status(now());
    s.counters = env_.count.snapshot();
    s.leases = env_.count.leases.get();
    s.waiting = env_.count.waiting.get();
    s.releases_pending = env_.count.releases_pending.get();
    return s;
}

void engine::allow_for(double clock_drift)
{
    clock_drift_ = std::max(clock_drift_, clock_drift);
    env_.to_nodes->drift_in_use(clock_drift_);
    admissions_->drift_in_use(clock_drift_);
}

void engine::begin_admission()
{
    on_strand([this] {
        if (life_ == life::idle || life_ == life::running) admissions_->wanted();
    });
}

std::shared_ptr<resolved_options const> engine::resolved_options_of(lock_options const& options)
{
    std::lock_guard const guard{terms_mutex_};
    if (!last_options_ || last_options_->options != options)
        last_options_ = std::make_shared<resolved_options const>(options, env_.token_retention);
    return last_options_;
}

// Destroys everything that keeps a handler or belongs to the context. Handlers may own leases and clients; their destructors see `closed_` and do
// nothing.
void engine::context_destroyed() noexcept
{
    auto const keeps = self();
    closed_ = true;
    throw_mail_away();
    if (env_.observed) env_.observed->close();
    env_.pending.clear();
    admissions_->clear();
    destroy_watchdog();
    auto const runners = std::move(runners_);
    for_all_that_wait([](auto& all) { all.clear(); });
    leases_.clear();
    releases_.clear();
    env_.to_nodes->clear();
    env_.to_nodes.reset();
    env_.outages.reset();
    leave_context();
}

}  // namespace redlock::detail
