#include "redis/redis_node.hpp"

#include "quorum/backoff.hpp"
#include "redis/change_notices.hpp"
#include "redis/durability_waits.hpp"
#include "redis/group_binding.hpp"
#include "redis/handshake.hpp"
#include "redis/node_login.hpp"
#include "redis/redis_connection.hpp"
#include "redis/redis_replies.hpp"
#include "redis/repetition.hpp"
#include "redis/request_pool.hpp"
#include "redis/suitability_watch.hpp"

#include <redlock/detail/recycling.hpp>

#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <cassert>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

using boost::redis::resp3::node_view;
using steady = std::chrono::steady_clock;

namespace {

connection_settings while_waiting(connection_settings settings, durability const& wanted)
{
    settings.stall_timeout += wanted.timeout;  // for so long it may be silent with good reason
    return settings;
}

}  // namespace

// It has two connections where granted votes have to be durable: one of them waits for that, and the other one never does. They are
// made and lost together, as a node that can only do half of it is of no use.
class redis_node::impl final : public connection_owner, public std::enable_shared_from_this<impl> {
public:
    impl(asio::any_io_executor strand, node_address const& address, config const& settings, std::uint16_t shards)
        : strand_{std::move(strand)},
          name_{address.to_string()},
          durable_{address.replicas, address.fsync, settings.replication_timeout},
          binding_{address.replicas, shards},
          settings_{address, settings},
          waits_settings_{while_waiting(settings_, durable_)},
          handshake_{address, shards > 0},
          waits_handshake_{address, durable_, shards > 0},
          login_{std::make_shared<node_login>(strand_, address, settings)},
          timer_{strand_},
          pause_{settings.min_reconnect_delay, settings.max_reconnect_delay},
          pause_max_{settings.max_reconnect_delay},
          random_{std::random_device{}()},
          identity_{settings.identity},
          trusts_{settings.trust_server_identity},
          in_cluster_{shards > 0}
    {
    }

    std::string const& name() const noexcept { return name_; }

    void start(std::size_t index, std::weak_ptr<node_listener> listener)
    {
        assert(state_ == state::idle);
        index_ = index;
        listener_ = std::move(listener);
        connect();
    }

    void stop()
    {
        if (stopping_) return;
        stopping_ = true;
        timer_.cancel();
        login_->stop();
        if (!main_ && !waits_) return stopped();
        close_both();
    }

    void reject(error_code why, std::string words)
    {
        if (state_ != state::usable || refused_with_) return;
        refused_with_ = why;
        refused_words_ = std::move(words);
        close_both();
    }

    void exec(std::string_view prefix, batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler);

    void on_open(redis_connection& from) override;
    void on_closed(redis_connection& from, error_code why, std::string const& words) override;
    void on_push(redis_connection& from, node_view const& node) override;
    void on_pushed(redis_connection& from) override;
    void on_time(redis_connection& from, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) override;

private:
    enum class state { idle, connecting, usable, closing, pausing, stopped };

    // What is being waited for, and where its answers go.
    struct exchange {
        exchange(std::unique_ptr<redis_request> mine, std::vector<wire_call> const& calls, std::string_view id, std::vector<reply>& replies)
            : own{std::move(mine)}, reader{calls, id, replies}
        {
        }
        std::unique_ptr<redis_request> own;  // what was sent, unless it is shared
        reply_reader reader;
        node_sink sink;
        change_notices::keys changed;  // said by the server while it answered this
    };

    void connect();
    void log_in_and_open();
    void open();
    void pause();
    void close_both();
    void watch_suitability();
    void tell(std::string_view key);

    // Completes with (error_code, reply_reader::repeatable).
    template <class Handler>
    void send(redis_request const& shared, std::unique_ptr<redis_request> mine, std::string_view id, std::vector<reply>& replies,
              Handler handler);
    void complete(std::shared_ptr<durability_waits> const& waits, std::string_view prefix, batch const& work, std::vector<reply>& replies,
                  exec_handler handler);
    void repeat(reply_reader::repeatable what, std::string_view prefix, batch const& work, std::string_view id, std::vector<reply>& replies,
                exec_handler handler);
    request_extras extras_for(std::string_view prefix, batch const& work) const;
    void stopped();

    template <class Handler>
    void after(steady::duration delay, Handler handler)
    {
        timer_.expires_after(delay);
        timer_.async_wait([self = shared_from_this(), handler = std::move(handler)](error_code ec) {
            if (!ec && !self->stopping_) handler(*self);
        });
    }

    asio::any_io_executor strand_;
    std::string name_;
    durability durable_;
    group_binding binding_;
    connection_settings settings_;
    connection_settings waits_settings_;
    handshake handshake_;
    handshake waits_handshake_;
    std::shared_ptr<node_login> login_;
    asio::steady_timer timer_;  // the pause
    quorum::backoff pause_;
    steady::duration pause_max_;
    steady::time_point usable_since_{};
    std::minstd_rand random_;
    identity_check identity_;
    bool trusts_;
    bool in_cluster_;

    std::size_t index_{0};
    std::weak_ptr<node_listener> listener_;
    state state_{state::idle};
    bool stopping_{false};
    std::shared_ptr<redis_connection> main_;
    std::shared_ptr<redis_connection> waits_;  // none: nothing has to be waited for
    std::shared_ptr<durability_waits> durability_;
    std::shared_ptr<suitability_watch> suitability_;  // none: rules forbid what it asks
    identity_suspicion doubt_;
    std::size_t open_{0};
    error_code refused_with_;  // what we found wrong with both, or our owner
    std::string refused_words_;
    change_notices changes_{[this](std::string_view key) { tell(key); }};
    request_pool requests_;
};

void redis_node::impl::connect()
{
    state_ = state::connecting;
    open_ = 0;
    refused_with_ = {};
    refused_words_.clear();
    changes_.reset();
    if (login_->asks()) log_in_and_open();
    else open();
}

void redis_node::impl::log_in_and_open()
{
    login_->obtain([weak = weak_from_this()](std::string const& why_not, credentials const& got) {
        auto const self = weak.lock();
        if (!self || self->stopping_) return;
        if (!why_not.empty()) {
            if (auto const listener = self->listener_.lock()) listener->on_down(self->index_, errc::credentials_unavailable, why_not);
            return self->pause();
        }
        for (auto* settings : {&self->settings_, &self->waits_settings_}) {
            settings->address.username = got.username;
            settings->address.password = got.password;
        }
        self->open();
    });
}

void redis_node::impl::open()
{
    main_ = std::make_shared<redis_connection>(strand_, settings_, handshake_);
    if (durable_.wanted()) {
        waits_ = std::make_shared<redis_connection>(strand_, waits_settings_, waits_handshake_);
        durability_ = std::make_shared<durability_waits>(waits_, durable_);
        waits_->open(shared_from_this());
    }
    main_->open(shared_from_this());
}

void redis_node::impl::close_both()
{
    if (main_) main_->close();
    if (waits_) waits_->close();
}

void redis_node::impl::on_open(redis_connection&)
{
    if (++open_ < (waits_ ? 2u : 1u) || stopping_ || state_ != state::connecting) return;
    auto& server = main_->server();
    if (waits_ && server.run_id() != waits_->server().run_id()) {
        refused_with_ = errc::node_unsuitable;
        refused_words_ = "two connections to this address led to two servers; use an address that belongs to one";
        return close_both();
    }
    state_ = state::usable;
    usable_since_ = steady::now();
    login_->keep(waits_ ? std::vector{main_, waits_} : std::vector{main_}, [weak = weak_from_this()](std::string const& why_not) {
        auto const self = weak.lock();
        if (auto const listener = self ? self->listener_.lock() : nullptr) listener->on_login(self->index_, why_not);
    });
    auto facts = server.take_facts();
    doubt_ = server.doubt(trusts_);
    doubt_.apply(facts);
    binding_.apply(facts);
    if (server.may_ask_info()) watch_suitability();
    if (auto const listener = listener_.lock()) listener->on_up(index_, server.run_id(), facts);
}

void redis_node::impl::watch_suitability()
{
    auto object = [weak = weak_from_this()](std::string const& words) {
        if (auto const self = weak.lock()) self->reject(errc::node_unsuitable, words);
    };
    auto tell_time = [weak = weak_from_this()](quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) {
        if (auto const self = weak.lock(); self && self->main_) self->on_time(*self->main_, clock, sent, received);
    };
    suitability_ = std::make_shared<suitability_watch>(strand_, main_, durable_.replicas,
                                                       suitability_watch::listener{std::move(object), std::move(tell_time)});
    suitability_->start();
}

void redis_node::impl::on_closed(redis_connection& from, error_code why, std::string const& words)
{
    bool const first = state_ != state::closing;
    bool const was_usable = state_ == state::usable;
    state_ = state::closing;
    login_->stop();
    if (suitability_) std::exchange(suitability_, nullptr)->stop();
    (&from == main_.get() ? main_ : waits_).reset();
    if (first) {
        close_both();
        bool const ours = static_cast<bool>(refused_with_);
        // A server that is rejected as soon as it is there, or does harm, is asked no more often than one that is refused.
        bool const rejected = ours || why == errc::not_a_redis_server;
        if (was_usable && (!rejected || steady::now() - usable_since_ > pause_max_)) pause_.reset();
        if (auto const listener = listener_.lock()) listener->on_down(index_, ours ? refused_with_ : why, ours ? refused_words_ : words);
    }
    if (main_ || waits_) return;
    if (stopping_) return stopped();
    pause();
}

void redis_node::impl::pause()
{
    state_ = state::pausing;
    after(pause_.next(random_), [](impl& me) { me.connect(); });
}

void redis_node::impl::on_push(redis_connection& from, node_view const& node)
{
    if (&from == main_.get()) changes_.on_push(node);
}

void redis_node::impl::on_pushed(redis_connection& from)
{
    if (&from == main_.get()) changes_.on_pushed();
}

void redis_node::impl::on_time(redis_connection&, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received)
{
    if (auto const listener = listener_.lock(); listener && state_ == state::usable) listener->on_time(index_, clock, sent, received);
}

void redis_node::impl::tell(std::string_view key)
{
    if (auto const listener = listener_.lock(); listener && state_ == state::usable) listener->on_changed(index_, key);
}

request_extras redis_node::impl::extras_for(std::string_view prefix, batch const& work) const
{
    // In a cluster the record says nothing of the server, since it moves with the slot.
    bool const look = in_cluster_ || (identity_ == identity_check::every_message && main_->server().says_its_id());
    return {.load_scripts = false, .time = true, .identity = look && work.votes_with_tokens(), .prefix = prefix};
}

// `shared`: what its calls are, and its bytes unless there is an own copy.
template <class Handler>
void redis_node::impl::send(redis_request const& shared, std::unique_ptr<redis_request> mine, std::string_view id,
                            std::vector<reply>& replies, Handler handler)
{
    auto const& calls = mine && !mine->calls.empty() ? mine->calls : shared.calls;
    auto const& request = mine ? mine->request : shared.request;
    auto const e = make_recycled<exchange>(std::move(mine), calls, id, replies);
    e->sink = [this, raw = e.get()](std::size_t call, node_view const& node) {
        changes_.answers_begin(raw->changed);
        raw->reader.on_node(call, node);
    };
    auto done = [self = shared_from_this(), e, &replies, handler = std::move(handler)](error_code ec) mutable {
        self->changes_.answers_end(e->changed);
        if (ec) return std::move(handler)(ec, reply_reader::repeatable{});
        e->reader.conclude();
        if (e->reader.has_facts()) {
            self->doubt_.apply(replies);
            self->binding_.apply(replies);
        }
        bool const demoted = e->reader.is_demoted();
        if (e->own) self->requests_.give_back(std::move(e->own));
        std::move(handler)(error_code{}, e->reader.what_to_repeat());
        self->changes_.tell(e->changed);
        if (demoted) self->reject(errc::node_unsuitable, why_not_a_replica());
    };
    main_->send(request, e->sink, asio::bind_allocator(recycling<void>{}, std::move(done)));
}

void redis_node::impl::exec(std::string_view prefix, batch const& work, std::string_view id, std::vector<reply>& replies,
                            exec_handler handler)
{
    assert(state_ == state::usable);
    replies.resize(work.commands.size());
    auto const extras = extras_for(prefix, work);
    auto [wire, mine] = requests_.bytes_of(work, id, extras);
    auto done = [self = shared_from_this(), waits = durability_, prefix, &work, id, &replies,
                 handler = std::move(handler)](error_code ec, reply_reader::repeatable again) mutable {
        if (ec) return std::move(handler)(ec);
        if (again) return self->repeat(again, prefix, work, id, replies, std::move(handler));
        self->complete(waits, prefix, work, replies, std::move(handler));
    };
    send(wire, std::move(mine), id, replies, std::move(done));
}

// What the main connection has answered is reported at once, unless a vote among it has to become durable first. What is sent later
// can be answered sooner: a rollback of such a vote need not wait for it. `waits`: those that were made with the main
// connection that answered; a server that came back would answer for what it has lost.
void redis_node::impl::complete(std::shared_ptr<durability_waits> const& waits, std::string_view prefix, batch const& work,
                                std::vector<reply>& replies, exec_handler handler)
{
    if (!waits || !has_to_be_durable(work, replies)) return std::move(handler)(error_code{});
    auto const is_watch = [](command const& c) { return c.what == verb::watch; };
    bool const watches = std::any_of(work.commands.begin(), work.commands.end(), is_watch);
    if (watches) changes_.hold_back();
    waits->wait(
        [weak = weak_from_this(), watches, &work, &replies,
         handler = std::move(handler)](std::optional<not_durable> const& why_not) mutable {
            if (why_not) take_back(work, replies, *why_not);
            std::move(handler)(error_code{});
            auto const self = weak.lock();
            if (self && watches) self->changes_.go_on();
        },
        prefix);
}

void redis_node::impl::repeat(reply_reader::repeatable what, std::string_view prefix, batch const& work, std::string_view id,
                              std::vector<reply>& replies, exec_handler handler)
{
    if (state_ != state::usable) return std::move(handler)(errc::node_unreachable);

    auto const again = std::make_shared<repetition>(what, work, replies);
    auto extras = extras_for(prefix, again->work());
    extras.load_scripts = what.scripts;
    extras.apart = what.apart;
    auto mine = std::make_unique<redis_request>(again->work(), id, extras);
    auto const& wire = *mine;
    auto done = [self = shared_from_this(), waits = durability_, prefix, again, &work, &replies,
                 handler = std::move(handler)](error_code ec, reply_reader::repeatable) mutable {
        if (ec) return std::move(handler)(ec);
        again->give_back(replies);
        self->complete(waits, prefix, work, replies, std::move(handler));
    };
    send(wire, std::move(mine), id, again->replies(), std::move(done));
}

void redis_node::impl::stopped()
{
    if (state_ == state::stopped) return;
    state_ = state::stopped;
    if (auto const listener = listener_.lock()) listener->on_stopped(index_);
}

redis_node::redis_node(asio::any_io_executor strand, node_address address, config const& settings)
    : impl_{std::make_shared<impl>(std::move(strand), address, settings, std::uint16_t{0})}
{
}

redis_node::redis_node(asio::any_io_executor strand, node_address address, config const& settings, std::uint16_t shards)
    : impl_{std::make_shared<impl>(std::move(strand), address, settings, shards)}
{
}

redis_node::~redis_node() = default;

std::string const& redis_node::name() const noexcept { return impl_->name(); }

void redis_node::start(std::size_t index, std::weak_ptr<node_listener> listener) { impl_->start(index, std::move(listener)); }

void redis_node::stop() { impl_->stop(); }

void redis_node::reject(error_code why, std::string words) { impl_->reject(why, std::move(words)); }

void redis_node::exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
{
    impl_->exec({}, work, id, replies, std::move(handler));
}

void redis_node::exec_in(std::string_view prefix, batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
{
    impl_->exec(prefix, work, id, replies, std::move(handler));
}

}  // namespace redlock::detail
