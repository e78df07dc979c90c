#include "node/connection/redis_connection.hpp"

#include "node/connection/boost_redis_compat.hpp"
#include "node/connection/bounded_connection.hpp"
#include "node/connection/credentials.hpp"
#include "node/connection/node_address.hpp"
#include "node/connection/tls.hpp"
#include "protocol/server_words.hpp"

#include <redlock/detail/recycling.hpp>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/redis/connection.hpp>

#include <openssl/ssl.h>

#include <cassert>
#include <utility>

namespace redlock::detail {

namespace redis = boost::redis;
using redis::resp3::node_view;
using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

namespace {

// watch_for_stalls() counts quarters of the stall_timeout, of which the first may be incomplete. After more than four without an answer, the whole
// timeout has passed. After more than two without a question the connection asks by itself, so that a dead server is found after about two timeouts.
constexpr unsigned quarters_without_answer = 4;
constexpr unsigned quarters_without_question = 2;

redis::config config_of(connection_settings const& settings, std::string const& password)
{
    redis::config result;
    set_address(result, settings.address);
    set_login(result, settings.address.username, password, settings.client_name);
    result.health_check_interval = steady::duration::zero();  // watch_for_stalls() does it, and counts real traffic too
    result.reconnect_wait_interval = steady::duration::zero();
    // Our own timer comes first, and knows the reason.
    for (auto* each : {&result.resolve_timeout, &result.connect_timeout, &result.ssl_handshake_timeout})
        *each = 2 * settings.connect_timeout;
    return result;
}

// Calls at once. For handlers that are posted to the executor of their connection first, and have nowhere to go from there. Boost.Redis and
// its channel copy the executor of a handler a dozen times for a request, so it has nothing in it.
struct in_place_executor {
    template <class F>
    void execute(F&& f) const
    {
        std::forward<F>(f)();
    }
    friend bool operator==(in_place_executor const&, in_place_executor const&) noexcept = default;
};

}  // namespace

// The handler of Boost.Redis.
class redis_connection::when_answered {
public:
    using executor_type = in_place_executor;
    using allocator_type = recycling<void>;

    explicit when_answered(std::unique_ptr<exchange> by) : by_{std::move(by)} {}

    executor_type get_executor() const noexcept { return {}; }
    allocator_type get_allocator() const noexcept { return {}; }

    void operator()(error_code ec, std::size_t)
    {
        auto const by = std::move(by_);
        auto const over = std::move(by->of_connection.over);
        over->answered(*by, ec);
    }

private:
    std::unique_ptr<exchange> by_;
};

class redis_connection::simple_exchange final : public exchange {
public:
    simple_exchange(node_sink& sink, answered_handler handler) : sink_{sink}, handler_{std::move(handler)} {}

    void on_node(std::size_t call, node_view const& node) override { sink_(call, node); }
    void on_answered(error_code ec) override { std::move(handler_)(ec); }

private:
    node_sink& sink_;
    answered_handler handler_;
};

connection_settings::connection_settings(node_address const& node, config const& settings, std::shared_ptr<tls_files> shared)
    : address{completed(node, settings.tls)},
      files{shared ? std::move(shared) : std::make_shared<tls_files>()},
      client_name{settings.client_name},
      connect_timeout{settings.connect_timeout},
      stall_timeout{settings.stall_timeout}
{
}

redis_connection::redis_connection(strand_type strand, connection_settings const& settings, handshake const& questions)
    : strand_{std::move(strand)},
      depth_{depth_beside_inner_executor(strand_)},
      settings_{settings},
      questions_{questions},
      timer_{strand_},
      search_{*settings.choice, [this](std::size_t addresses) { share_time(addresses); }}
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
    auto const self = shared_from_this();
    auto ended = [self, owner = std::move(owner)](error_code ec) { self->on_run_ended(ec); };
    redis::config wanted;
    if (!prepare(wanted)) return asio::post(strand_, [ended = std::move(ended)] { ended({}); });
    set_push_sink(*connection_, push_sink_);
    run_connection(*connection_, wanted, asio::bind_executor(strand_, std::move(ended)));
    exec(questions_.request, std::make_unique<simple_exchange>(handshake_sink_, [self](error_code ec) { self->on_handshake(ec); }));
    connect_until_ = steady::now() + settings_.connect_timeout;
    share_time(1);
}

// If an address drops what is sent to it, only its share of the time is lost. A cancelled attempt to connect makes Asio go on to the next address.
void redis_connection::share_time(std::size_t addresses)
{
    if (closing_ || end_reason_) return;
    auto const left = connect_until_ - steady::now();
    if (addresses <= 1 || stream_.is_connected()) return after(left, [](redis_connection& me) { me.give_up(); });
    after(left / static_cast<steady::rep>(addresses), [addresses](redis_connection& me) {
        if (!me.stream_.is_connected()) {
            ++me.skipped_;
            error_code ignored;  // then the attempt has just ended
            if (me.stream_.socket) me.stream_.socket->cancel(ignored);
        }
        me.share_time(addresses - 1);
    });
}

// Reads credentials and certificates and makes the connection of Boost.Redis. False: the connection cannot be begun, and end_reason_ says why.
bool redis_connection::prepare(redis::config& wanted)
{
    try {
        secret_ = current_password(settings_.address);
        wanted = config_of(settings_, secret_);
        questions_.logs_in_with(secret_);
        make();
    } catch (system_error const& error) {  // OpenSSL could not make a context
        end_reason_ = errc::tls_failed;
        end_words_ = error.code().message();
        return false;
    } catch (credentials_error const& error) {
        end_reason_ = errc::credentials_unavailable;
        end_words_ = error.what();
        return false;
    } catch (tls_error const& error) {
        end_reason_ = errc::tls_failed;
        end_words_ = error.what();
        return false;
    }
    return true;
}

void redis_connection::make()
{
    auto const& tls = settings_.address.tls;
    auto context = tls ? settings_.files->context_for(*tls) : settings_.files->unused_context();
    if (tls) tls_ = std::make_unique<tls_session>(settings_.address);
    stream_.session = tls_.get();
    bounded_executor const executor{inner_executor(strand_), {&bounds_, &not_opened_, &search_, &stream_}};
    connection_ = make_connection<bounded_connection>(executor, std::move(context));
}

void redis_connection::close()
{
    if (state_ == state::closed || !connection_ || closing_) return;
    closing_ = true;
    cancel();
}

// Cancels again and again until the connection has ended: Boost.Redis (1.88) ignores a cancellation between two steps of connecting.
void redis_connection::cancel()
{
    connection_->cancel();
    after(10ms, [](redis_connection& me) { me.cancel(); });
}

void redis_connection::give_up()
{
    end_reason_ = errc::node_timeout;
    if (search_.looking) end_words_ = "the name was not looked up within connect_timeout";
    if (waits_for_tls()) end_words_ = "no answer to the TLS handshake within connect_timeout; a server without TLS wants redis:// instead";
    cancel();
}

void redis_connection::on_handshake(error_code ec)
{
    if (ec || state_ == state::closed) return;  // on_run_ended follows and says why
    server_.conclude();
    // Closed: the answer was taken in already when close() was called.
    // Refused: the answers to all else came, to the user "default".
    if (closing_ || end_reason_ || server_.against().why || refusal_of_login().why) return cancel();

    error_code gone;  // then on_run_ended follows
    if (stream_.is_connected()) settings_.choice->worked(stream_.socket->remote_endpoint(gone).address());

    state_ = state::open;
    bounds_.opened();
    progress();
    watch_for_stalls();
    receive();
    owner_->on_open(*this);
}

void redis_connection::on_run_ended(error_code ec)
{
    if (state_ == state::connecting && !closing_) settings_.choice->failed();
    if (connection_) {
        connection_->cancel();  // what was queued before a refused connect would wait for ever
        explain(ec);  // before the state changes, which the words depend on
    }
    state_ = state::closed;
    timer_.cancel();
    std::exchange(owner_, nullptr)->on_closed(*this, end_reason_, end_words_);
}

// Connected, and the TLS handshake is not over.
bool redis_connection::waits_for_tls()
{
    if (!tls_ || state_ == state::open) return false;
    return stream_.is_connected() && ::SSL_is_init_finished(stream_.tls) == 0;
}

// Closes the connection if the server answers nothing for the whole stall_timeout: the server may be gone without closing it. The time is counted in
// ticks of a timer. So messages need not read the clock, and a process that was itself suspended first reads the answers that have come meanwhile.
void redis_connection::watch_for_stalls()
{
    after(settings_.stall_timeout / 4, [](redis_connection& me) {
        if (me.closing_) return me.cancel();
        me.bounds_.renew();
        ++me.quiet_quarters_;
        if (me.outstanding_ > 0 && me.quiet_quarters_ > quarters_without_answer) return me.give_up();
        if (me.outstanding_ == 0 && me.quiet_quarters_ > quarters_without_question) me.ping();
        me.watch_for_stalls();
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
        auto const clock = q->time.clock();  // an error is an answer, too, and then there is no time
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

void redis_connection::send(redis::request const& what, node_sink& sink, answered_handler handler, std::size_t longer)
{
    auto by = std::make_unique<simple_exchange>(sink, std::move(handler));
    by->of_connection.longer = longer;
    send(what, std::move(by));
}

void redis_connection::send(redis::request const& what, std::unique_ptr<exchange> by)
{
    if (state_ != state::open) return by->on_answered(errc::node_unreachable);
    if (outstanding_++ == 0) progress();
    by->of_connection.asked = {what.payload().size(), what.get_expected_responses(), by->of_connection.longer};
    bounds_.asked(*by->of_connection.asked);
    exec(what, std::move(by));
}

void redis_connection::exec(redis::request const& what, std::unique_ptr<exchange> by)
{
    by->of_connection.over = shared_from_this();
    auto const pass_on = [to = by.get()](std::size_t call, node_view const& node) {
        if (to->of_connection.over->out_of_step_) return;
        if (is_error(node)) to->of_connection.over->hear(*to, call, node);
        else to->on_node(call, node);
    };
    connection_->async_exec(what, make_adapter(pass_on), when_answered{std::move(by)});
}

// An error is passed on in words that may be told.
void redis_connection::hear(exchange& by, std::size_t call, node_view const& error) const
{
    auto const words = words_of_server(error.value, secret_);
    node_view told = error;
    told.value = words;
    by.on_node(call, told);
}

void redis_connection::answered(exchange& by, error_code ec)
{
    strand_presence const here{depth_};
    if (auto const& asked = by.of_connection.asked) {
        --outstanding_;
        bounds_.answered(*asked);
        progress();
    }
    by.on_answered(ec || out_of_step_ ? error_code{errc::node_unreachable} : error_code{});
}

// HELLO stands behind AUTH because its answer is of another kind: where that comes in place of the answer to AUTH, there is none to AUTH.
void redis_connection::log_in(std::string const& username, std::string password, login_handler handler)
{
    struct login {
        redis::request request{one_connection_only()};
        node_sink sink;
        std::string refusal;
    };
    auto const asked = std::make_shared<login>();
    asked->request.push("AUTH", username, password);
    asked->request.push("HELLO", "3");
    asked->sink = [this, asked = asked.get()](std::size_t call, node_view const& node) {
        if (node.depth > 0) return;
        bool const is_map = redis::resp3::is_aggregate(node.data_type);
        if (is_map != (call == 1)) return lose_step();
        if (call == 0 && is_error(node)) asked->refusal = node.value;
    };
    secret_ = std::move(password);
    send(asked->request, asked->sink, [asked, handler = std::move(handler)](error_code ec) { handler(ec, asked->refusal); });
}

void redis_connection::lose_step()
{
    out_of_step_ = true;
    end_reason_ = errc::unexpected_reply;
    end_words_ = "AUTH was not answered, as Redis from 7.2 on does where it refuses AUTH behind other answers; the client connects again";
    asio::post(strand_, [self = shared_from_this()] {  // Boost.Redis is reading
        if (self->state_ != state::closed) self->cancel();
    });
}

}  // namespace redlock::detail
