#include "node/redis_node.hpp"

#include "node/boost_redis_compat.hpp"
#include "node/handshake.hpp"
#include "node/redis_replies.hpp"
#include "quorum/backoff.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/connection.hpp>

#include <cassert>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace redis = boost::redis;
using redis::resp3::node_view;
using steady = std::chrono::steady_clock;

namespace {

bool is_parse_error(error_code ec) noexcept
{
    using redis::error;
    for (error e : {error::invalid_data_type, error::not_a_number, error::exceeeds_max_nested_depth,
                    error::unexpected_bool_value, error::empty_field, error::not_a_double})
        if (ec == e) return true;
    return false;
}

}  // namespace

class redis_node::impl : public std::enable_shared_from_this<impl> {
public:
    impl(asio::strand<asio::any_io_executor> strand, node_address const& address, config const& settings)
        : strand_{std::move(strand)},
          name_{address.to_string()},
          connect_timeout_{settings.connect_timeout},
          stall_timeout_{settings.stall_timeout},
          handshake_{address},
          timer_{strand_},
          pause_{settings.reconnect_delay_min, settings.reconnect_delay_max},
          random_{std::random_device{}()},
          identity_{settings.identity}
    {
        redis_.addr = {address.host, std::to_string(address.port)};
        redis_.username = address.username;
        redis_.password = address.password;
        redis_.clientname = settings.client_name;
        redis_.health_check_interval = steady::duration::zero();  // mind_stalls() does it, and counts real traffic too
        redis_.reconnect_wait_interval = steady::duration::zero();
        redis_.resolve_timeout = settings.connect_timeout;
        redis_.connect_timeout = settings.connect_timeout;
        ping_.push("TIME");
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
        if (connection_) {
            connection_->cancel();
        } else {
            stopped();
        }
    }

    void exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler);

private:
    enum class state { idle, connecting, usable, pausing, stopped };

    // What is being waited for, and where its answers go.
    struct exchange {
        exchange(std::unique_ptr<redis_request> mine, redis_request const& sent, std::string_view id, std::vector<reply>& replies)
            : own{std::move(mine)}, reader{sent.calls, id, replies}
        {
        }
        std::unique_ptr<redis_request> const own;  // what was sent, unless it is shared
        reply_reader reader;
        node_sink sink;
        std::vector<std::string> changed;  // said by the server while it answered this
    };

    void connect();
    void on_handshake(std::shared_ptr<redis::connection> const& c, error_code ec);
    void on_run_ended(std::shared_ptr<redis::connection> const& c, error_code ec);
    void explain(error_code ec);
    void mind_stalls();
    void ping();
    void on_push(node_view const& node);
    void receive(std::shared_ptr<redis::connection> const& c);
    void tell(std::vector<std::string>& changed);
    void send(redis_request const& what, std::unique_ptr<redis_request> mine, std::string_view id, std::vector<reply>& replies,
              asio::any_completion_handler<void(error_code, bool noscript)> handler);
    void load_scripts_and_repeat(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler);
    request_extras extras_for(batch const& work) const;
    void stopped();

    void progress() noexcept { last_progress_ = steady::now(); }

    template <class Handler>
    void after(steady::duration delay, Handler handler)
    {
        timer_.expires_after(delay);
        timer_.async_wait([self = shared_from_this(), handler = std::move(handler)](error_code ec) {
            if (!ec && !self->stopping_) handler(*self);
        });
    }

    asio::strand<asio::any_io_executor> strand_;
    std::string name_;
    steady::duration connect_timeout_;
    steady::duration stall_timeout_;
    redis::config redis_;
    handshake handshake_;
    redis::request ping_{one_connection_only()};
    asio::steady_timer timer_;  // one purpose at a time: connect timeout, pause, stalls
    quorum::backoff pause_;
    std::minstd_rand random_;
    identity_check identity_;

    std::size_t index_{0};
    std::weak_ptr<node_listener> listener_;
    state state_{state::idle};
    bool stopping_{false};
    std::shared_ptr<redis::connection> connection_;
    handshake_reader server_{handshake_};
    error_code refused_with_;  // what we found wrong with it
    std::string server_words_;
    push_reader pushes_;
    node_sink push_sink_{[this](std::size_t, node_view const& node) { on_push(node); }};
    exchange* reading_{nullptr};  // its answers have begun to come, and it has not completed
    std::vector<std::string> changed_;  // said by the server at any other time
    std::size_t outstanding_{0};
    steady::time_point last_progress_{};
};

void redis_node::impl::connect()
{
    state_ = state::connecting;
    refused_with_ = {};
    server_words_.clear();
    server_ = handshake_reader{handshake_};
    pushes_ = {};
    reading_ = nullptr;
    changed_.clear();
    outstanding_ = 0;
    auto const c = connection_ = make_connection(strand_);
    set_push_sink(*c, push_sink_);
    auto const self = shared_from_this();

    run_connection(*c, redis_, asio::bind_executor(strand_, [self, c](error_code ec) { self->on_run_ended(c, ec); }));

    auto const sink = std::make_shared<node_sink>(
        [raw = this](std::size_t call, node_view const& node) { raw->server_.on_node(call, node); });
    c->async_exec(handshake_.request, make_adapter(*sink),
                  asio::bind_executor(strand_, [self, c, sink](error_code ec, std::size_t) { self->on_handshake(c, ec); }));

    after(connect_timeout_, [c](impl& me) {
        me.refused_with_ = errc::node_timeout;
        c->cancel();
    });
}

void redis_node::impl::on_handshake(std::shared_ptr<redis::connection> const& c, error_code ec)
{
    if (ec || stopping_ || c != connection_) return;  // on_run_ended follows and says why
    server_.conclude();
    if (refused_with_ || server_.against().why) return c->cancel();

    // Boost.Redis leaves Nagle's algorithm on, which costs a round trip where requests follow each other closely.
    error_code ignored;  // without it the node is slower, not wrong
    c->next_layer().lowest_layer().set_option(asio::ip::tcp::no_delay{true}, ignored);

    state_ = state::usable;
    pause_.reset();
    progress();
    mind_stalls();
    receive(c);
    if (auto const listener = listener_.lock()) listener->on_up(index_, server_.run_id(), server_.take_facts());
}

void redis_node::impl::on_run_ended(std::shared_ptr<redis::connection> const& c, error_code ec)
{
    assert(c == connection_);
    c->cancel(redis::operation::exec);  // what was queued before a refused connect would wait for ever
    c->cancel(redis::operation::receive);
    explain(ec);
    connection_.reset();
    timer_.cancel();
    state_ = state::pausing;
    if (auto const listener = listener_.lock()) listener->on_down(index_, refused_with_, server_words_);
    if (stopping_) return stopped();
    after(pause_.next(random_), [](impl& me) { me.connect(); });
}

// Says in our words why a connection ended: Boost.Redis keeps the server's own for HELLO to itself.
void redis_node::impl::explain(error_code ec)
{
    if (auto const& [why, words] = server_.against(); why && !refused_with_) {
        refused_with_ = why;
        server_words_ = words;
    } else if (refused_with_ == errc::node_timeout) {
        server_words_ = state_ == state::usable ? "no answer for the whole stall_timeout"
                                                : "no connection and handshake within connect_timeout";
    } else if (!refused_with_ && ec == redis::error::resp3_hello) {
        refused_with_ = errc::handshake_refused;
        server_words_ = hello_refused(handshake_);
    } else if (!refused_with_ && is_parse_error(ec)) {
        refused_with_ = errc::not_a_redis_server;
        server_words_ = ec.message();
    } else if (!refused_with_) {
        refused_with_ = errc::node_unreachable;
        server_words_ = ec ? ec.message() : "the connection was closed";
    }
}

// A connection on which nothing was answered for the whole stall_timeout is given up: its peer may be gone without a word.
void redis_node::impl::mind_stalls()
{
    after(stall_timeout_ / 4, [](impl& me) {
        if (me.state_ != state::usable) return;
        auto const quiet = steady::now() - me.last_progress_;
        if (me.outstanding_ > 0 && quiet >= me.stall_timeout_) {
            me.refused_with_ = errc::node_timeout;
            return me.connection_->cancel();
        }
        if (me.outstanding_ == 0 && quiet >= me.stall_timeout_ / 2) me.ping();
        me.mind_stalls();
    });
}

void redis_node::impl::ping()
{
    struct question {
        time_reader time;
        node_sink sink;
        quorum::time_point sent{boot_clock::now()};
    };
    auto const q = std::make_shared<question>();
    q->sink = [raw = q.get()](std::size_t, node_view const& node) { raw->time.on_node(node); };
    ++outstanding_;
    progress();
    auto done = [self = shared_from_this(), c = connection_, q](error_code ec, std::size_t) {
        if (c != self->connection_) return;
        --self->outstanding_;
        self->progress();  // any answer shows life
        auto const clock = q->time.clock();
        if (auto const listener = self->listener_.lock(); listener && !ec && clock > quorum::wall_time{})
            listener->on_time(self->index_, clock, q->sent, boot_clock::now());
    };
    connection_->async_exec(ping_, make_adapter(q->sink), asio::bind_executor(strand_, std::move(done)));
}

// Boost.Redis hands over a push where it stands between the answers, but it completes requests later. Whoever watches must hear
// the answer to the watch first, so what the server says meanwhile waits for that.
void redis_node::impl::on_push(node_view const& node)
{
    if (auto const key = pushes_.on_node(node)) (reading_ ? reading_->changed : changed_).emplace_back(*key);
}

void redis_node::impl::receive(std::shared_ptr<redis::connection> const& c)
{
    receive_pushes(*c, strand_, [self = shared_from_this(), c](error_code ec) {
        if (ec || c != self->connection_) return;
        self->tell(self->changed_);
        self->receive(c);
    });
}

void redis_node::impl::tell(std::vector<std::string>& changed)
{
    if (changed.empty()) return;
    auto const keys = std::exchange(changed, {});
    auto const listener = listener_.lock();
    for (std::string const& key : keys)
        if (listener && state_ == state::usable) listener->on_changed(index_, key);
}

request_extras redis_node::impl::extras_for(batch const& work) const
{
    bool const look = identity_ == identity_check::every_message && server_.says_its_id();
    return {.load_scripts = false, .time = true, .identity = look && work.votes_with_tokens()};
}

void redis_node::impl::exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
{
    assert(state_ == state::usable && connection_);
    replies.resize(work.commands.size());
    // Votes with tokens name the server, so each node gets bytes of its own.
    std::unique_ptr<redis_request> mine;
    if (work.votes_with_tokens()) {
        mine = std::make_unique<redis_request>(work, id, extras_for(work));
    } else if (!work.wire) {
        work.wire = std::make_unique<redis_request>(work, std::string_view{}, request_extras{.load_scripts = false, .time = true, .identity = false});
    }
    auto const& wire = mine ? *mine : static_cast<redis_request const&>(*work.wire);
    if (outstanding_++ == 0) progress();
    auto done = [self = shared_from_this(), c = connection_, &work, id, &replies,
                 handler = std::move(handler)](error_code ec, bool noscript) mutable {
        if (c == self->connection_) {
            --self->outstanding_;
            self->progress();
        }
        if (!ec && noscript) return self->load_scripts_and_repeat(work, id, replies, std::move(handler));
        std::move(handler)(ec);
    };
    send(wire, std::move(mine), id, replies, std::move(done));
}

void redis_node::impl::send(redis_request const& what, std::unique_ptr<redis_request> mine, std::string_view id,
                            std::vector<reply>& replies, asio::any_completion_handler<void(error_code, bool noscript)> handler)
{
    auto const e = std::make_shared<exchange>(std::move(mine), what, id, replies);
    e->sink = [this, raw = e.get()](std::size_t call, node_view const& node) {
        reading_ = raw;
        raw->reader.on_node(call, node);
    };
    auto done = [self = shared_from_this(), e, handler = std::move(handler)](error_code ec, std::size_t) mutable {
        if (self->reading_ == e.get()) self->reading_ = nullptr;
        if (ec) return std::move(handler)(errc::node_unreachable, false);
        e->reader.conclude();
        std::move(handler)(error_code{}, e->reader.has_noscript());
        self->tell(e->changed);
    };
    connection_->async_exec(what.request, make_adapter(e->sink), asio::bind_executor(strand_, std::move(done)));
}

// SCRIPT FLUSH, or a server that evicted its scripts: nothing of those calls was executed, so they can be repeated.
void redis_node::impl::load_scripts_and_repeat(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
{
    if (state_ != state::usable) return std::move(handler)(errc::node_unreachable);

    struct repetition {
        batch work;
        std::vector<std::size_t> where;
        std::vector<reply> replies;
    };
    auto const again = std::make_shared<repetition>();
    for (std::size_t i = 0; i < replies.size(); ++i) {
        // A key has to be watched after what else is asked about it.
        if (!reply_reader::is_noscript(replies[i]) && work.commands[i].what != verb::watch) continue;
        again->work.commands.push_back(work.commands[i]);
        again->where.push_back(i);
    }
    again->replies.resize(again->where.size());
    auto extras = extras_for(again->work);
    extras.load_scripts = true;
    auto mine = std::make_unique<redis_request>(again->work, id, extras);
    auto const& wire = *mine;
    auto done = [self = shared_from_this(), again, &replies, handler = std::move(handler)](error_code ec, bool) mutable {
        self->progress();
        if (ec) return std::move(handler)(ec);
        for (std::size_t i = 0; i < again->where.size(); ++i) replies[again->where[i]] = std::move(again->replies[i]);
        std::move(handler)(error_code{});
    };
    send(wire, std::move(mine), id, again->replies, std::move(done));
}

void redis_node::impl::stopped()
{
    if (state_ == state::stopped) return;
    state_ = state::stopped;
    if (auto const listener = listener_.lock()) listener->on_stopped(index_);
}

redis_node::redis_node(asio::strand<asio::any_io_executor> strand, node_address address, config const& settings)
    : impl_{std::make_shared<impl>(std::move(strand), address, settings)}
{
}

redis_node::~redis_node() = default;

std::string const& redis_node::name() const noexcept { return impl_->name(); }

void redis_node::start(std::size_t index, std::weak_ptr<node_listener> listener) { impl_->start(index, std::move(listener)); }

void redis_node::stop() { impl_->stop(); }

void redis_node::exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
{
    impl_->exec(work, id, replies, std::move(handler));
}

}  // namespace redlock::detail
