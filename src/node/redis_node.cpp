#include "node/redis_node.hpp"

#include "node/boost_redis_compat.hpp"
#include "node/fence_scripts.hpp"
#include "node/redis_codec.hpp"
#include "node/scripts.hpp"
#include "node/server_facts.hpp"
#include "quorum/backoff.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/connection.hpp>

#include <cassert>
#include <random>
#include <string>
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

// In place of an expected answer: a section of INFO.
constexpr char is_info[] = "(INFO)";
constexpr char is_inspection[] = "(inspect)";

bool is_error(node_view const& node) noexcept
{
    return node.data_type == redis::resp3::type::simple_error || node.data_type == redis::resp3::type::blob_error;
}

}  // namespace

class redis_node::impl : public std::enable_shared_from_this<impl> {
public:
    impl(asio::strand<asio::any_io_executor> strand, node_address const& address, config const& settings)
        : strand_{std::move(strand)},
          name_{address.to_string()},
          connect_timeout_{settings.connect_timeout},
          stall_timeout_{settings.stall_timeout},
          timer_{strand_},
          pause_{settings.reconnect_delay_min, settings.reconnect_delay_max},
          random_{std::random_device{}()},
          has_password_{!address.password.empty()},
          identity_{settings.identity}
    {
        redis_.addr = {address.host, std::to_string(address.port)};
        redis_.username = address.username;
        redis_.password = address.password;
        redis_.clientname = settings.client_name;
        redis_.health_check_interval = steady::duration::zero();  // watch() does it, and counts real traffic too
        redis_.reconnect_wait_interval = steady::duration::zero();
        redis_.resolve_timeout = settings.connect_timeout;
        redis_.connect_timeout = settings.connect_timeout;
        // Boost.Redis says HELLO with the password first, but keeps the answer to itself, and what stands behind it is executed
        // even if it was refused. Said again without the password, it is refused unless the first one was accepted.
        handshake_.push("HELLO", "3");
        handshake_answers_.push_back("");
        if (address.database != 0) {
            handshake_.push("SELECT", std::to_string(address.database));
            handshake_answers_.push_back("OK");
        }
        // Servers whose rules forbid INFO answer with an error, and are believed to be suitable.
        for (char const* section : {"server", "memory"}) {
            handshake_.push("INFO", section);
            handshake_answers_.push_back(is_info);
        }
        for (script const* s : scripts_of_nodes()) {
            handshake_.push("SCRIPT", "LOAD", s->text);
            handshake_answers_.push_back(s->sha1);
        }
        handshake_.push("EVALSHA", inspect_script().sha1, "2", node_record_key, high_water_key);
        handshake_answers_.push_back(is_inspection);
        ping_.push("PING");
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
    };

    void connect();
    void check_handshake(std::size_t call, node_view const& node);
    void read_hello(std::string_view element);
    void on_handshake(std::shared_ptr<redis::connection> const& c, error_code ec);
    void on_run_ended(std::shared_ptr<redis::connection> const& c, error_code ec);
    void explain(error_code ec);
    void watch();
    void ping();
    void send(redis_request const& what, std::unique_ptr<redis_request> mine, std::string_view id, std::vector<reply>& replies,
              asio::any_completion_handler<void(error_code, bool noscript)> handler);
    void load_scripts_and_repeat(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler);
    request_extras extras_for(batch const& work) const;
    void stopped();

    char const* refusal_hint() const noexcept
    {
        return has_password_ ? "HELLO was refused: wrong user name or password, or a server older than Redis 6"
                             : "HELLO was refused: the server wants a password, or is older than Redis 6";
    }

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
    redis::request handshake_{one_connection_only()};
    std::vector<std::string> handshake_answers_;
    redis::request ping_{one_connection_only()};
    asio::steady_timer timer_;  // one purpose at a time: connect timeout, pause, watch
    quorum::backoff pause_;
    std::minstd_rand random_;
    bool has_password_;
    identity_check identity_;

    std::size_t index_{0};
    std::weak_ptr<node_listener> listener_;
    state state_{state::idle};
    bool stopping_{false};
    std::shared_ptr<redis::connection> connection_;
    server_facts facts_;
    facts_reader inspected_;
    std::size_t inspected_elements_{0};
    std::string hello_key_;     // the last element of its map that was a key
    error_code refused_with_;   // what went wrong in our part of the handshake
    std::string server_words_;
    std::size_t outstanding_{0};
    steady::time_point last_progress_{};
};

void redis_node::impl::connect()
{
    state_ = state::connecting;
    refused_with_ = {};
    server_words_.clear();
    facts_ = {};
    inspected_ = {};
    inspected_elements_ = 0;
    hello_key_.clear();
    outstanding_ = 0;
    auto const c = connection_ = make_connection(strand_);
    auto const self = shared_from_this();

    run_connection(*c, redis_, asio::bind_executor(strand_, [self, c](error_code ec) { self->on_run_ended(c, ec); }));

    auto const sink = std::make_shared<node_sink>(
        [raw = this](std::size_t call, node_view const& node) { raw->check_handshake(call, node); });
    c->async_exec(handshake_, make_adapter(*sink),
                  asio::bind_executor(strand_, [self, c, sink](error_code ec, std::size_t) { self->on_handshake(c, ec); }));

    after(connect_timeout_, [c](impl& me) {
        me.refused_with_ = errc::node_timeout;
        c->cancel();
    });
}

// An empty expected answer: anything but an error.
void redis_node::impl::check_handshake(std::size_t call, node_view const& node)
{
    if (refused_with_ || call >= handshake_answers_.size()) return;
    if (call == 0 && node.depth == 1) return read_hello(node.value);
    std::string const& expected = handshake_answers_[call];
    if (expected == is_inspection) {
        // Who may not inspect can still do without tokens.
        if (node.depth == 1) inspected_.on_element(inspected_elements_++, node.value);
        return;
    }
    if (node.depth > 0) return;
    if (expected == is_info) {
        if (!is_error(node)) facts_.read_info(node.value);
        return;
    }
    if (!is_error(node) && (expected.empty() || node.value == expected)) return;
    if (call == 0) {
        refused_with_ = errc::handshake_refused;
        server_words_ = refusal_hint();
        server_words_.append(" (").append(node.value).append(")");
    } else {
        refused_with_ = is_error(node) ? errc::server_error : errc::unexpected_reply;
        server_words_ = node.value;
    }
}

// Keys and values of the map come one after the other.
void redis_node::impl::read_hello(std::string_view element)
{
    if (hello_key_.empty()) {
        hello_key_ = element;
    } else {
        facts_.read_hello(hello_key_, element);
        hello_key_.clear();
    }
}

void redis_node::impl::on_handshake(std::shared_ptr<redis::connection> const& c, error_code ec)
{
    if (ec || stopping_ || c != connection_) return;  // on_run_ended follows and says why
    if (auto const objection = objection_to(facts_); objection && !refused_with_) {
        refused_with_ = errc::node_unsuitable;
        server_words_ = *objection;
    }
    if (refused_with_) return c->cancel();

    // Boost.Redis leaves Nagle's algorithm on, which costs a round trip where requests follow each other closely.
    error_code ignored;  // without it the node is slower, not wrong
    c->next_layer().lowest_layer().set_option(asio::ip::tcp::no_delay{true}, ignored);

    state_ = state::usable;
    pause_.reset();
    progress();
    watch();
    if (auto const listener = listener_.lock()) listener->on_up(index_, facts_.run_id, inspected_.take());
}

void redis_node::impl::on_run_ended(std::shared_ptr<redis::connection> const& c, error_code ec)
{
    assert(c == connection_);
    c->cancel(redis::operation::exec);  // what was queued before a refused connect would wait for ever
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
    if (refused_with_ == errc::node_timeout) {
        server_words_ = state_ == state::usable ? "no answer for the whole stall_timeout"
                                                : "no connection and handshake within connect_timeout";
    } else if (!refused_with_ && ec == redis::error::resp3_hello) {
        refused_with_ = errc::handshake_refused;
        server_words_ = refusal_hint();
    } else if (!refused_with_ && is_parse_error(ec)) {
        refused_with_ = errc::not_a_redis_server;
        server_words_ = ec.message();
    } else if (!refused_with_) {
        refused_with_ = errc::node_unreachable;
        server_words_ = ec ? ec.message() : "the connection was closed";
    }
}

// A connection on which nothing was answered for the whole stall_timeout is given up: its peer may be gone without a word.
void redis_node::impl::watch()
{
    after(stall_timeout_ / 4, [](impl& me) {
        if (me.state_ != state::usable) return;
        auto const quiet = steady::now() - me.last_progress_;
        if (me.outstanding_ > 0 && quiet >= me.stall_timeout_) {
            me.refused_with_ = errc::node_timeout;
            return me.connection_->cancel();
        }
        if (me.outstanding_ == 0 && quiet >= me.stall_timeout_ / 2) me.ping();
        me.watch();
    });
}

void redis_node::impl::ping()
{
    auto const sink = std::make_shared<node_sink>([](std::size_t, node_view const&) {});  // any answer shows life
    ++outstanding_;
    progress();
    connection_->async_exec(ping_, make_adapter(*sink),
                            asio::bind_executor(strand_, [self = shared_from_this(), c = connection_, sink](error_code, std::size_t) {
                                if (c != self->connection_) return;
                                --self->outstanding_;
                                self->progress();
                            }));
}

request_extras redis_node::impl::extras_for(batch const& work) const
{
    bool const look = identity_ == identity_check::every_message && inspected_.says_its_id();
    return {.load_scripts = false, .identity = look && work.votes_with_tokens()};
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
        work.wire = std::make_unique<redis_request>(work);
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
    e->sink = [raw = e.get()](std::size_t call, node_view const& node) { raw->reader.on_node(call, node); };
    auto done = [e, handler = std::move(handler)](error_code ec, std::size_t) mutable {
        if (ec) return std::move(handler)(errc::node_unreachable, false);
        e->reader.conclude();
        std::move(handler)(error_code{}, e->reader.has_noscript());
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
        if (!reply_reader::is_noscript(replies[i])) continue;
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
