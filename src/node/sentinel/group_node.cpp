#include "node/sentinel/group_node.hpp"

#include "node/connection/reconnect_pause.hpp"
#include "node/redis_node.hpp"
#include "node/sentinel/primary_finder.hpp"
#include "protocol/server_facts.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <optional>
#include <utility>

namespace redlock::detail {

using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

// How often the Sentinels are asked while the primary works, since messages about a failover can get lost.
constexpr auto check_interval = 10s;

// How often after a Sentinel has said that there was a failover, and for how long: the others hear of it within a few seconds.
constexpr auto recheck_interval = 1s;
constexpr auto recheck_time = 10s;

}  // namespace

node_address server_of(node_address group, std::string const& host, std::uint16_t port, std::uint16_t replicas)
{
    group.sentinel.reset();
    group.host = host;
    group.port = port;
    group.replicas = replicas;
    return group;
}

// It makes a redis_node for one connection to one primary: when that is down, the Sentinels are asked again.
class group_node::impl final : public node_listener, public std::enable_shared_from_this<impl> {
public:
    impl(asio::any_io_executor strand, node_address const& group, config const& settings)
        : strand_{std::move(strand)}, group_{group}, settings_{settings}, name_{group.to_string()}, timer_{strand_}, pause_{settings}
    {
    }

    std::string const& name() const noexcept { return name_; }

    void start(std::size_t index, std::weak_ptr<node_listener> listener)
    {
        index_ = index;
        listener_ = std::move(listener);
        finder_ = std::make_shared<primary_finder>(strand_, group_, settings_, [weak = weak_from_this()] {
            if (auto const self = weak.lock()) self->on_switched();
        });
        search();
    }

    void stop()
    {
        if (stopping_) return;
        stopping_ = true;
        timer_.cancel();
        if (!finder_) return;  // was never started
        finder_->stop([self = shared_from_this()] {
            self->finder_stopped_ = true;
            self->report_stop_when_idle();
        });
        if (server_) server_->stop();
    }

    void reject(error_code why, std::string words)
    {
        if (state_ == state::usable) server_->reject(why, std::move(words));
    }

    void check_address()
    {
        if (state_ == state::usable) server_->check_address();
    }

    void exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
    {
        assert(state_ == state::usable);
        server_->exec(work, id, replies, std::move(handler));
    }

    void on_up(std::size_t, std::string const& server, quorum::node_facts const& facts) override;
    void on_down(std::size_t, error_code why, std::string const& text) override;
    void on_stopped(std::size_t) override;
    void on_changed(std::size_t, std::string_view key) override
    {
        if (auto const listener = listener_.lock()) listener->on_changed(index_, key);
    }
    void on_time(std::size_t, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) override
    {
        if (auto const listener = listener_.lock()) listener->on_time(index_, clock, sent, received);
    }
    bool on_unfit(std::size_t, error_code why, std::string const& words) override
    {
        auto const listener = listener_.lock();
        return listener && state_ == state::usable && listener->on_unfit(index_, why, to_string(current_.primary) + ": " + words);
    }
    void on_login(std::size_t, std::string const& why_not) override
    {
        if (auto const listener = listener_.lock()) listener->on_login(index_, why_not);
    }

private:
    enum class state { searching, connecting, usable, closing, pausing };

    void search();
    void found(primary_choice const& choice);
    void fail(error_code why, std::string const& words);
    void pause(steady::duration time);
    void check_later();
    void check();
    void checked(primary_finder::result const& result);
    void leave(std::string words);
    void on_switched();
    void report_stop_when_idle();

    asio::any_io_executor strand_;
    node_address group_;
    config settings_;
    std::string name_;
    asio::steady_timer timer_;  // the pause, or the time until the next check
    reconnect_pause pause_;

    std::size_t index_{0};
    std::weak_ptr<node_listener> listener_;
    std::shared_ptr<primary_finder> finder_;
    std::unique_ptr<redis_node> server_;  // none: no primary is known
    state state_{state::searching};
    primary_candidate current_;  // what server_ is connected to
    std::optional<primary_candidate> refused_;  // could not be used at the last attempt
    group_memory known_;
    steady::time_point searched_{};
    steady::time_point recheck_until_{};
    bool checking_{false};
    bool leaving_{false};  // we left a server that works
    bool stopping_{false};
    bool finder_stopped_{false};
    bool stopped_{false};
};

void group_node::impl::search()
{
    state_ = state::searching;
    searched_ = steady::now();
    finder_->find(known_, [weak = weak_from_this()](primary_finder::result const& result) {
        if (auto const self = weak.lock(); self && !self->stopping_) self->found(result.choice);
    });
}

void group_node::impl::found(primary_choice const& choice)
{
    if (choice.candidates.empty()) return fail(choice.why, choice.words);
    auto const& candidate = candidate_to_use(choice, refused_);
    auto const acks = acknowledgements_of(candidate, group_.replicas, group_.sentinel->master);
    if (!acks.problem.empty()) {
        fail(errc::node_unsuitable, acks.problem);
        refused_ = candidate;
        return;
    }
    current_ = candidate;
    state_ = state::connecting;
    server_ = std::make_unique<redis_node>(strand_, server_of(group_, current_.primary.host, current_.primary.port, acks.count), settings_);
    server_->start(0, weak_from_this());
}

void group_node::impl::fail(error_code why, std::string const& words)
{
    refused_.reset();
    if (auto const listener = listener_.lock()) listener->on_down(index_, why, words);
    if (!stopping_) pause(pause_.next());
}

void group_node::impl::pause(steady::duration time)
{
    state_ = state::pausing;
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec && !self->stopping_ && self->state_ == state::pausing) self->search();
    });
}

void group_node::impl::on_up(std::size_t, std::string const& server, quorum::node_facts const& facts)
{
    state_ = state::usable;
    pause_.usable_now();
    if (has_most_sentinels(current_, group_.sentinel->addresses.size())) known_.newest_epoch = current_.epoch;
    known_.servers = current_.servers;
    refused_.reset();
    check_later();
    auto const listener = listener_.lock();
    if (!listener) return;
    listener->on_primary(index_, to_string(current_.primary));
    listener->on_up(index_, server, facts);
}

void group_node::impl::on_down(std::size_t, error_code why, std::string const& text)
{
    bool const was_usable = state_ == state::usable;
    bool const refused = why == errc::node_unsuitable || why == errc::node_duplicate || why == errc::not_a_redis_server ||
                         why == errc::wrong_node_set;
    state_ = state::closing;
    checking_ = false;
    timer_.cancel();
    if (!was_usable) refused_ = current_;
    if (was_usable && (!refused || pause_.was_used_long() || leaving_)) pause_.reset();
    server_->stop();
    auto words = text.starts_with(to_string(current_.primary) + ": ")
                     ? text
                     : to_string(current_.primary) + ": " + (text.empty() ? why.message() : text);
    if (text == why_not_a_replica())
        words = to_string(current_.primary) + " is a replica now; the Sentinels are asked again which server is the primary";
    if (auto const listener = listener_.lock()) listener->on_down(index_, why, words);
}

// Its server_ cannot be destroyed here, since it is the caller.
void group_node::impl::on_stopped(std::size_t)
{
    asio::post(strand_, [self = shared_from_this()] {
        self->server_.reset();
        if (self->stopping_) return self->report_stop_when_idle();
        self->pause(std::exchange(self->leaving_, false) ? 0ns : self->pause_.next());
    });
}

void group_node::impl::report_stop_when_idle()
{
    if (!stopping_ || !finder_stopped_ || server_ || std::exchange(stopped_, true)) return;
    if (auto const listener = listener_.lock()) listener->on_stopped(index_);
}

// A Sentinel says that there was a failover. Only its answer to our question can make us leave a server, so a lie costs no more than a
// question.
void group_node::impl::on_switched()
{
    if (stopping_) return;
    auto const now = steady::now();
    recheck_until_ = now + recheck_time;
    if (state_ == state::usable) return check();
    if (state_ == state::pausing && now - searched_ > recheck_interval) search();
}

void group_node::impl::check_later()
{
    timer_.expires_after(steady::now() < recheck_until_ ? steady::duration{recheck_interval} : steady::duration{check_interval});
    timer_.async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) self->check();
    });
}

void group_node::impl::check()
{
    if (stopping_ || state_ != state::usable || std::exchange(checking_, true)) return;
    finder_->find(known_, [weak = weak_from_this()](primary_finder::result const& result) {
        if (auto const self = weak.lock(); self && !self->stopping_ && self->state_ == state::usable) self->checked(result);
    });
}

void group_node::impl::checked(primary_finder::result const& result)
{
    checking_ = false;
    for (primary_candidate const& c : result.choice.candidates)
        if (has_most_sentinels(c, group_.sentinel->addresses.size())) known_.newest_epoch = std::max(known_.newest_epoch, c.epoch);
    if (auto const* const newer = successor_of(current_, result.choice))
        return leave("the Sentinels name another primary now: " + to_string(newer->primary));
    for (primary_candidate const& c : result.choice.candidates)
        if (c.primary == current_.primary && c.epoch == current_.epoch && c.size() > current_.size())
            return leave("the group has " + std::to_string(c.size()) + " servers now");
    check_later();
}

void group_node::impl::leave(std::string words)
{
    leaving_ = true;
    server_->reject(errc::node_unsuitable, std::move(words));
}

group_node::group_node(asio::any_io_executor strand, node_address const& group, config const& settings)
    : impl_{std::make_shared<impl>(std::move(strand), group, settings)}
{
}

group_node::~group_node() = default;

std::string const& group_node::name() const noexcept { return impl_->name(); }

void group_node::start(std::size_t index, std::weak_ptr<node_listener> listener) { impl_->start(index, std::move(listener)); }

void group_node::stop() { impl_->stop(); }

void group_node::reject(error_code why, std::string words) { impl_->reject(why, std::move(words)); }

void group_node::check_address() { impl_->check_address(); }

void group_node::exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
{
    impl_->exec(work, id, replies, std::move(handler));
}

}  // namespace redlock::detail
