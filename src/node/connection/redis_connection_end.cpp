// The reason why a connection has ended, and its words.
#include "node/connection/first_words.hpp"
#include "node/connection/redis_connection.hpp"
#include "node/connection/tls.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/redis/error.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string>
#include <utility>

namespace redlock::detail {

namespace redis = boost::redis;

namespace {

bool is_parse_error(error_code ec) noexcept
{
    using redis::error;
    for (error e : {error::invalid_data_type, error::not_a_number, error::exceeeds_max_nested_depth, error::unexpected_bool_value,
                    error::empty_field, error::not_a_double})
        if (ec == e) return true;
    return false;
}

// "Wrong version number" is what OpenSSL says of an answer that is not TLS.
bool answered_without_tls(error_code ec) noexcept
{
    return ERR_GET_REASON(static_cast<unsigned long>(ec.value())) == SSL_R_WRONG_VERSION_NUMBER;
}

}  // namespace

// Boost.Redis does not tell the server's own words if the server refuses HELLO, or the connection before that.
handshake_reader::objection redis_connection::refusal_of_login() const
{
    return bounds_.objection().empty() ? refusal_in(bounds_.first_line(), questions_, secret_) : handshake_reader::objection{};
}

// Finds the reason why the connection ended, and its words.
void redis_connection::explain(error_code ec)
{
    if (auto refusal = refusal_of_login(); refusal.why) {
        end_reason_ = refusal.why;
        end_words_ = std::move(refusal.words);
    } else if (auto const& [why, words] = server_.against(); why && !end_reason_) {
        end_reason_ = why;
        end_words_ = words;
    } else if (!bounds_.objection().empty()) {
        end_reason_ = errc::not_a_redis_server;
        end_words_ = bounds_.objection();
        if (bounds_.foreign() && state_ == state::connecting) end_words_ += ": " + what_answers(bounds_.first_line(), secret_);
    } else if (out_of_step_) {
        return;
    } else if (is_foreign(bounds_.first_line())) {
        end_reason_ = errc::not_a_redis_server;
        end_words_ = "it does not speak the Redis protocol: " + what_answers(bounds_.first_line(), secret_);
    } else if (not_opened_ && state_ == state::connecting) {
        end_reason_ = errc::node_unreachable;
        end_words_ = "the system gives no socket: " + not_opened_.message();
    } else if (end_reason_ == errc::node_timeout) {
        if (end_words_.empty())
            end_words_ = state_ == state::open ? "no answer for the whole stall_timeout"
                                               : "no connection and handshake within connect_timeout";
    } else if (skipped_ > 0 && (ec == redis::error::connect_timeout || ec == asio::error::operation_aborted)) {
        end_reason_ = errc::node_timeout;
        end_words_ = "no address of the name accepted a connection in its share of connect_timeout";
    } else if (ec == redis::error::resp3_hello) {
        end_reason_ = errc::handshake_refused;
        end_words_ = hello_refused(questions_);
    } else {
        explain_end(ec);
    }
}

// The same if the network, TLS or the protocol ended the connection.
void redis_connection::explain_end(error_code ec)
{
    bool const ended = !ec || ec == asio::error::eof || ec == asio::ssl::error::stream_truncated;
    end_words_ = ended ? "the connection was closed" : ec.message();
    if (tls_ && !tls_->objection().empty()) {
        end_reason_ = errc::tls_failed;
        end_words_ = tls_->objection();
    } else if (ec.category() == asio::error::get_ssl_category()) {
        end_reason_ = errc::tls_failed;
        if (answered_without_tls(ec)) end_words_ += "; a server without TLS wants redis:// instead";
    } else if (is_parse_error(ec)) {
        end_reason_ = errc::not_a_redis_server;
    } else {
        end_reason_ = errc::node_unreachable;
        if (ended || ec == asio::error::connection_reset) end_words_ += hint_at_tls();
    }
}

char const* redis_connection::hint_at_tls() const noexcept
{
    bool const may_want_tls = state_ == state::connecting && !tls_ && settings_.address.unix_socket.empty() && bounds_.first_line().empty();
    return may_want_tls ? "; a server with TLS wants rediss:// instead" : "";
}

}  // namespace redlock::detail
