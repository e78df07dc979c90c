#include "node/cluster/cluster_node.hpp"

#include "base/to_error.hpp"
#include "node/cluster/cluster_link.hpp"
#include "node/connection/reconnect_pause.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cassert>
#include <chrono>
#include <optional>
#include <utility>

namespace redlock::detail {

using steady = std::chrono::steady_clock;

class cluster_node::impl final : public cluster_member, public std::enable_shared_from_this<impl> {
public:
    impl(asio::any_io_executor strand, std::shared_ptr<cluster_link> link, std::size_t shard, config const& settings)
        : strand_{std::move(strand)},
          link_{std::move(link)},
          shard_{shard},
          prefix_{prefix_of_shard(shard)},
          name_{link_->address().to_string()},
          timer_{strand_},
          pause_{settings}
    {
    }

    std::string const& name() const noexcept { return name_; }

    void start(std::size_t index, std::weak_ptr<node_listener> listener)
    {
        index_ = index;
        listener_ = std::move(listener);
        link_->look_for_primary(*this, {.renew = false});
    }

    void stop();
    void reject(error_code why, std::string words);
    void exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler);

    // The owner is gone, and perhaps the context: nothing may be started.
    void forget() { link_->forget(*this); }

    std::size_t shard() const noexcept override { return shard_; }
    void on_primary_up(std::shared_ptr<cluster_primary> const& where) override;
    void on_primary_down(error_code why, std::string const& words) override;
    bool on_primary_unfit(error_code why, std::string const& words) override
    {
        auto const listener = listener_.lock();
        return listener && state_ == state::usable && listener->on_unfit(index_, why, words);
    }
    void on_changed(std::string_view key) override
    {
        if (auto const listener = listener_.lock(); listener && state_ == state::usable) listener->on_changed(index_, key);
    }
    void on_time(quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) override
    {
        if (auto const listener = listener_.lock(); listener && state_ == state::usable) listener->on_time(index_, clock, sent, received);
    }
    void on_login(std::string const& why_not) override
    {
        if (auto const listener = listener_.lock(); listener && state_ == state::usable) listener->on_login(index_, why_not);
    }

private:
    enum class state { idle, looking, inspecting, usable, pausing };

    struct inspection {
        batch work;
        std::vector<reply> replies;
    };

    void inspected(std::shared_ptr<cluster_primary> const& where, reply const& said);
    void become_usable(quorum::node_facts const& facts);
    void leave(error_code why, std::string const& words, bool map_is_old);
    void pause(bool map_is_old);
    void look_at(std::vector<reply>& replies);
    void completed();
    void part();
    void report_stop_when_idle();

    asio::any_io_executor strand_;
    std::shared_ptr<cluster_link> link_;
    std::size_t shard_;
    std::string prefix_;
    std::string name_;
    asio::steady_timer timer_;  // the pause
    reconnect_pause pause_;

    std::size_t index_{0};
    std::weak_ptr<node_listener> listener_;
    state state_{state::idle};
    std::shared_ptr<cluster_primary> primary_;  // none: not inspecting or usable
    std::optional<host_port> hint_;  // from the last error that named a server
    std::string moved_;  // that error
    std::size_t outstanding_{0};  // requests that have not completed
    bool stopping_{false};
    bool stopped_{false};
};

void cluster_node::impl::stop()
{
    if (std::exchange(stopping_, true)) return;
    timer_.cancel();
    asio::post(strand_, [self = shared_from_this()] { self->part(); });
}

// Until it says that it is down, the owner may send requests: releases of votes that come late.
void cluster_node::impl::part()
{
    bool const was_usable = std::exchange(state_, state::idle) == state::usable;
    primary_.reset();
    link_->leave(*this);
    if (auto const listener = listener_.lock(); listener && was_usable) listener->on_down(index_, asio::error::operation_aborted, {});
    report_stop_when_idle();
}

void cluster_node::impl::report_stop_when_idle()
{
    if (!stopping_ || outstanding_ > 0 || std::exchange(stopped_, true)) return;
    if (auto const listener = listener_.lock()) listener->on_stopped(index_);
}

// Only this shard is without a node then. Posted, since the owner may call this from on_up, which must not see on_down.
void cluster_node::impl::reject(error_code why, std::string words)
{
    asio::post(strand_, [self = shared_from_this(), at = primary_, why, words = std::move(words)] {
        if (!self->stopping_ && self->state_ == state::usable && self->primary_ == at) self->leave(why, words, false);
    });
}

void cluster_node::impl::exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
{
    assert(state_ == state::usable);
    ++outstanding_;
    auto done = [self = shared_from_this(), at = primary_, &replies, handler = std::move(handler)](error_code ec) mutable {
        if (!ec) self->look_at(replies);
        std::move(handler)(ec);
        bool const moved = !self->moved_.empty();
        auto const words = std::exchange(self->moved_, {});
        if (moved && !self->stopping_ && self->state_ == state::usable && self->primary_ == at)
            self->leave(errc::node_unreachable, words, true);
        self->completed();
    };
    primary_->server().exec_in(prefix_, work, id, replies, std::move(done));
}

void cluster_node::impl::completed()
{
    --outstanding_;
    report_stop_when_idle();
}

// Answers that name another server are failed votes, whatever they say. Their words go into reports, so they say what can be done.
void cluster_node::impl::look_at(std::vector<reply>& replies)
{
    for (reply& r : replies) {
        auto const what = redirection_in(r.words());
        if (r.vote != redlock::vote::failed || what == redirection::none) continue;
        if (what == redirection::moved) hint_ = address_in_moved(r.words());
        r.set_words(explained(r.words()));
        if (what == redirection::moved) moved_ = r.words();
    }
}

void cluster_node::impl::on_primary_up(std::shared_ptr<cluster_primary> const& where)
{
    if (stopping_) return;
    state_ = state::inspecting;
    primary_ = where;
    auto const i = std::make_shared<inspection>();
    i->work.commands.push_back({verb::inspect, {}, {}, {}});
    ++outstanding_;
    auto done = [self = shared_from_this(), i, where](error_code ec) {
        bool const waits = !self->stopping_ && self->state_ == state::inspecting && self->primary_ == where;
        if (!ec && waits) self->inspected(where, i->replies.front());
        self->completed();
    };
    where->server().exec_in(prefix_, i->work, {}, i->replies, std::move(done));
}

void cluster_node::impl::inspected(std::shared_ptr<cluster_primary> const& where, reply const& said)
{
    if (said.vote != redlock::vote::granted || !said.facts()) {
        hint_ = address_in_moved(said.words());
        return leave(said.error == errc{} ? errc::unexpected_reply : said.error,
                     where->name() + ": " + (said.words().empty() ? to_error(said.error).message() : explained(said.words())),
                     redirection_in(said.words()) != redirection::none);
    }
    // A record with an id was made by a client of the same number of shards: another number leaves no id in the facts.
    auto const& facts = *said.facts();
    if (!facts.admitted.empty() || facts.id.empty()) return become_usable(facts);
    link_->confirm_shards([weak = weak_from_this(), where, kept = said.facts()](error_code why_not, std::string const& words) {
        auto const self = weak.lock();
        if (!self || self->stopping_ || self->state_ != state::inspecting || self->primary_ != where) return;
        why_not ? self->leave(why_not, words, false) : self->become_usable(*kept);
    });
}

void cluster_node::impl::become_usable(quorum::node_facts const& facts)
{
    state_ = state::usable;
    pause_.usable_now();
    auto const listener = listener_.lock();
    if (!listener) return;
    auto const where = primary_;
    listener->on_primary(index_, where->name());
    listener->on_up(index_, where->run_id(), facts);
}

// What this shard was told of the server shows that it cannot be used, or not for this shard.
void cluster_node::impl::leave(error_code why, std::string const& words, bool map_is_old)
{
    if (state_ == state::usable && pause_.was_used_long()) pause_.reset();
    link_->turn_away(*this);
    on_primary_down(why, words);
    if (!stopping_) pause(map_is_old);
}

void cluster_node::impl::on_primary_down(error_code why, std::string const& words)
{
    if (stopping_) return;
    state_ = state::looking;
    primary_.reset();
    if (auto const listener = listener_.lock()) listener->on_down(index_, why, words);
}

void cluster_node::impl::pause(bool map_is_old)
{
    state_ = state::pausing;
    timer_.expires_after(pause_.next());
    timer_.async_wait([weak = weak_from_this(), map_is_old](error_code ec) {
        auto const self = weak.lock();
        if (!self || ec || self->stopping_ || self->state_ != state::pausing) return;
        self->state_ = state::looking;
        self->link_->look_for_primary(*self, {.renew = map_is_old, .hint = std::exchange(self->hint_, {})});
    });
}

cluster_node::cluster_node(asio::any_io_executor strand, std::shared_ptr<cluster_link> link, std::size_t shard, config const& settings)
    : impl_{std::make_shared<impl>(std::move(strand), std::move(link), shard, settings)}
{
}

// The link knows it by its address.
cluster_node::~cluster_node() { impl_->forget(); }

std::string const& cluster_node::name() const noexcept { return impl_->name(); }

void cluster_node::start(std::size_t index, std::weak_ptr<node_listener> listener) { impl_->start(index, std::move(listener)); }

void cluster_node::stop() { impl_->stop(); }

void cluster_node::reject(error_code why, std::string words) { impl_->reject(why, std::move(words)); }

void cluster_node::exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
{
    impl_->exec(work, id, replies, std::move(handler));
}

}  // namespace redlock::detail
