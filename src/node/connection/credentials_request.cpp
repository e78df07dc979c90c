#include "node/connection/credentials_request.hpp"

#include "base/strand.hpp"

#include <redlock/error.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>

#include <utility>

namespace redlock::detail {

namespace {

std::string words_of(std::exception_ptr const& failure)
{
    try {
        std::rethrow_exception(failure);
    } catch (std::exception const& error) {
        return std::string{"config::credentials failed: "} + error.what();
    } catch (...) {
        return "config::credentials failed with an exception that is not a std::exception";
    }
}

// Why they cannot be used; empty: they can.
std::string problem_of(credentials const& got)
{
    if (got.username.empty()) return "config::credentials completed with an empty username";
    if (got.password.empty()) return "config::credentials completed with an empty password";
    if (got.valid_for && got.valid_for->count() <= 0) return "config::credentials completed with a valid_for that is not above 0";
    return {};
}

}  // namespace

credentials_request::credentials_request(asio::any_io_executor strand, result_handler handler)
    : strand_{std::move(strand)}, timer_{strand_}, handler_{std::move(handler)}
{
}

void credentials_request::start(credentials_function const& ask, node_address const& node, std::chrono::steady_clock::duration limit)
{
    timer_.expires_after(limit);
    timer_.async_wait([self = shared_from_this()](error_code ec) {
        if (!ec) self->give_up();
    });
    auto completed = [self = shared_from_this()](std::exception_ptr failure, credentials got) {
        self->complete_later(std::move(failure), std::move(got));
    };
    try {
        ask(node, asio::bind_cancellation_slot(signal_.slot(), asio::bind_executor(completion_executor(strand_), std::move(completed))));
    } catch (...) {
        complete_later(std::current_exception(), {});
    }
}

// In any thread, and possibly inside start().
void credentials_request::complete_later(std::exception_ptr failure, credentials got)
{
    asio::post(strand_, [self = shared_from_this(), failure = std::move(failure), got = std::move(got)] { self->complete(failure, got); });
}

void credentials_request::complete(std::exception_ptr const& failure, credentials const& got)
{
    finish(failure ? words_of(failure) : problem_of(got), got);
}

void credentials_request::give_up()
{
    finish("config::credentials did not complete within credentials_timeout", {});
    signal_.emit(asio::cancellation_type::terminal);
}

void credentials_request::finish(std::string const& why_not, credentials const& got)
{
    if (!handler_) return;
    timer_.cancel();
    std::exchange(handler_, nullptr)(why_not, got);
}

void credentials_request::cancel()
{
    if (!handler_) return;
    handler_ = nullptr;
    timer_.cancel();
    signal_.emit(asio::cancellation_type::terminal);
}

}  // namespace redlock::detail
