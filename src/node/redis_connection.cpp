#include "node/redis_connection.hpp"

#include "node/boost_redis_compat.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/redis/connection.hpp>

#include <cassert>
#include <utility>

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

connection_settings::connection_settings(node_address const& address, config const& settings)
    : connect_timeout{settings.connect_timeout}, stall_timeout{settings.stall_timeout}
{
    redis.addr = {address.host, std::to_string(address.port)};
    redis.username = address.username;
    redis.password = address.password;
    redis.clientname = settings.client_name;
    redis.health_check_interval = steady::duration::zero();  // mind_stalls() does it, and counts real traffic too
    redis.reconnect_wait_interval = steady::duration::zero();
    redis.resolve_timeout = settings.connect_timeout;
    redis.connect_timeout = settings.connect_timeout;
}

redis_connection::redis_connection(strand_type strand, connection_settings const& settings, handshake const& asks)
    : strand_{std::move(strand)}, settings_{settings}, asks_{asks}, timer_{strand_}, connection_{make_connection(strand_)}
{
    ping_.push("TIME");
    handshake_sink_ = [this](std::size_t call, node_view const& node) { server_.on_node(call, node); };
    push_sink_ = [this](std::size_t, node_view const& node) {
        if (owner_) owner_->on_push(*this, node);
    };
}

redis_connection::~redis_connection() = default;

template <class Handler>
void redis_connection::after(steady::duration delay, Handler handler)
{
    timer_.expires_after(delay);
    timer_.async_wait([self = shared_from_this(), handler](error_code ec) {
        if (!ec && self->state_ != state::closed) handler(*self);
    });
}

void redis_connection::open(std::shared_ptr<connection_owner> owner)
{
    assert(!owner_ && state_ == state::connecting);
    owner_ = owner.get();
    set_push_sink(*connection_, push_sink_);
    auto const self = shared_from_this();
    auto ended = [self, owner = std::move(owner)](error_code ec) { self->on_run_ended(ec); };
    run_connection(*connection_, settings_.redis, asio::bind_executor(strand_, std::move(ended)));
    connection_->async_exec(asks_.request, make_adapter(handshake_sink_),
                            asio::bind_executor(strand_, [self](error_code ec, std::size_t) { self->on_handshake(ec); }));
    after(settings_.connect_timeout, [](redis_connection& me) { me.give_up(); });
}

void redis_connection::close()
{
    if (state_ == state::closed) return;
    timer_.cancel();
    connection_->cancel();
}

void redis_connection::give_up()
{
    refused_with_ = errc::node_timeout;
    connection_->cancel();
}

void redis_connection::on_handshake(error_code ec)
{
    if (ec || state_ == state::closed) return;  // on_run_ended follows and says why
    server_.conclude();
    if (refused_with_ || server_.against().why) return connection_->cancel();

    // Boost.Redis leaves Nagle's algorithm on, which costs a round trip where requests follow each other closely.
    error_code ignored;  // without it the node is slower, not wrong
    connection_->next_layer().lowest_layer().set_option(asio::ip::tcp::no_delay{true}, ignored);

    state_ = state::open;
    progress();
    mind_stalls();
    receive();
    owner_->on_open(*this);
}

void redis_connection::on_run_ended(error_code ec)
{
    connection_->cancel(redis::operation::exec);  // what was queued before a refused connect would wait for ever
    connection_->cancel(redis::operation::receive);
    explain(ec);
    state_ = state::closed;
    timer_.cancel();
    std::exchange(owner_, nullptr)->on_closed(*this, refused_with_, server_words_);
}

// Says in our words why a connection ended: Boost.Redis keeps the server's own for HELLO to itself.
void redis_connection::explain(error_code ec)
{
    if (auto const& [why, words] = server_.against(); why && !refused_with_) {
        refused_with_ = why;
        server_words_ = words;
    } else if (refused_with_ == errc::node_timeout) {
        server_words_ = state_ == state::open ? "no answer for the whole stall_timeout"
                                              : "no connection and handshake within connect_timeout";
    } else if (ec == redis::error::resp3_hello) {
        refused_with_ = errc::handshake_refused;
        server_words_ = hello_refused(asks_);
    } else if (is_parse_error(ec)) {
        refused_with_ = errc::not_a_redis_server;
        server_words_ = ec.message();
    } else {
        refused_with_ = errc::node_unreachable;
        server_words_ = ec ? ec.message() : "the connection was closed";
    }
}

// A connection on which nothing was answered for the whole stall_timeout is given up: its peer may be gone without a word.
void redis_connection::mind_stalls()
{
    after(settings_.stall_timeout / 4, [](redis_connection& me) {
        auto const quiet = steady::now() - me.last_progress_;
        if (me.outstanding_ > 0 && quiet >= me.settings_.stall_timeout) return me.give_up();
        if (me.outstanding_ == 0 && quiet >= me.settings_.stall_timeout / 2) me.ping();
        me.mind_stalls();
    });
}

void redis_connection::ping()
{
    struct question {
        time_reader time;
        node_sink sink;
        quorum::time_point sent{boot_clock::now()};
    };
    auto const q = std::make_shared<question>();
    q->sink = [raw = q.get()](std::size_t, node_view const& node) { raw->time.on_node(node); };
    auto answered = [self = shared_from_this(), q](error_code ec) {
        auto const clock = q->time.clock();  // any answer shows life
        if (!ec && self->owner_ && clock > quorum::wall_time{}) self->owner_->on_time(*self, clock, q->sent, boot_clock::now());
    };
    send(ping_, q->sink, std::move(answered));
}

void redis_connection::receive()
{
    receive_pushes(*connection_, strand_, [self = shared_from_this()](error_code ec) {
        if (ec || !self->owner_) return;
        self->owner_->on_pushed(*self);
        self->receive();
    });
}

void redis_connection::send(redis::request const& what, node_sink& sink, answered_handler handler)
{
    if (state_ != state::open) return std::move(handler)(errc::node_unreachable);
    if (outstanding_++ == 0) progress();
    auto done = [self = shared_from_this(), handler = std::move(handler)](error_code ec, std::size_t) mutable {
        --self->outstanding_;
        self->progress();
        std::move(handler)(ec ? error_code{errc::node_unreachable} : error_code{});
    };
    connection_->async_exec(what, make_adapter(sink), asio::bind_executor(strand_, std::move(done)));
}

}  // namespace redlock::detail
