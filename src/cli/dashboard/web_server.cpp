#include "cli/dashboard/web_server.hpp"

#include "cli/dashboard/listen_address.hpp"
#include "cli/output/exit_codes.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>

#include <array>
#include <cstdint>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

#include <fcntl.h>

namespace redlock::cli {

namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using namespace std::chrono_literals;

namespace {

constexpr auto after_failed_accept = 100ms;  // descriptors may be free again by then

// Asio does not.
void close_on_exec(auto& socket) { ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC); }

using request_parser = http::request_parser<http::empty_body>;
using response = http::response<http::span_body<char const>>;

// None: what arrived is not worth an answer, or nothing did.
std::optional<web_answer> answer_to_failure(error_code ec)
{
    if (ec == http::error::header_limit || ec == http::error::buffer_overflow)
        return web_answers::refusal(431, "the request's header is too large");
    if (ec == http::error::unexpected_body || ec == http::error::body_limit) return web_answers::refusal(413, "a request has no body here");
    bool const no_http = ec.category() == make_error_code(http::error::bad_method).category();
    if (no_http && ec != http::error::end_of_stream) return web_answers::refusal(400, "this is no HTTP/1.1 request");
    return std::nullopt;
}

web_request view_of(request_parser::value_type const& request)
{
    web_request view{{request.method_string().data(), request.method_string().size()},
                     {request.target().data(), request.target().size()},
                     std::nullopt,
                     {}};
    auto const [first, last] = request.equal_range(http::field::host);
    if (first != last && std::next(first) == last) view.host = std::string_view{first->value().data(), first->value().size()};
    auto const authorization = request[http::field::authorization];
    view.authorization = {authorization.data(), authorization.size()};
    return view;
}

response message_of(web_answer const& answer, bool keep_alive)
{
    response message;
    message.version(11);
    message.result(answer.status);
    message.set(http::field::content_type, answer.type);
    for (auto const& [name, value] : answer.headers) message.set(name, value);
    message.keep_alive(keep_alive);
    message.content_length(answer.body->size());
    if (!answer.without_body) message.body() = {answer.body->data(), answer.body->size()};
    return message;
}

}  // namespace

struct web_server::state {
    tcp::acceptor acceptor;
    web_limits limits;
    responder answer;
    std::size_t connections{0};
};

// The coroutines of a server. Each keeps the server's state alive.
struct web_server::loops {
    using shared = std::shared_ptr<state>;

    class counted {
    public:
        explicit counted(shared of) : of_{std::move(of)} { ++of_->connections; }
        counted(counted const&) = delete;
        counted& operator=(counted const&) = delete;
        ~counted() { --of_->connections; }

    private:
        shared of_;
    };

    // The client may not have read the answer yet, and a connection that is closed over unread bytes loses it.
    static asio::awaitable<void> close(beast::tcp_stream& stream)
    {
        constexpr int max_pieces = 64;
        std::array<char, 1024> ignored{};
        error_code ec;
        stream.socket().shutdown(tcp::socket::shutdown_send, ec);
        stream.expires_after(1s);
        for (int i = 0; i < max_pieces && !ec; ++i)
            co_await stream.async_read_some(asio::buffer(ignored), asio::redirect_error(asio::use_awaitable, ec));
    }

    // False: the client could not be told, or wants no other answer.
    static asio::awaitable<bool> send(beast::tcp_stream& stream, web_limits const& limits, web_answer const& answer, bool keep_alive)
    {
        auto message = message_of(answer, keep_alive);
        error_code ec;
        stream.expires_after(limits.answer);
        co_await http::async_write(stream, message, asio::redirect_error(asio::use_awaitable, ec));
        co_return !ec && keep_alive;
    }

    static web_answer answer_to(state const& server, request_parser::value_type const& request)
    {
        try {
            return server.answer(view_of(request));
        } catch (std::exception const& error) {
            return web_answers::refusal(500, error.what());
        }
    }

    static asio::awaitable<void> serve(shared server, tcp::socket socket)
    {
        counted const one{server};
        auto const& limits = server->limits;
        beast::tcp_stream stream{std::move(socket)};
        beast::flat_buffer buffer{limits.header_bytes * 2};
        for (std::size_t n = 0; n < limits.requests; ++n) {
            request_parser parser;
            parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
            error_code ec;
            stream.expires_after(n == 0 ? limits.request : limits.idle);
            co_await http::async_read(stream, buffer, parser, asio::redirect_error(asio::use_awaitable, ec));
            auto answer = ec ? answer_to_failure(ec) : std::optional{answer_to(*server, parser.get())};
            if (!answer) co_return;
            bool const keep_alive = !ec && parser.get().keep_alive() && n + 1 < limits.requests;
            bool const goes_on = co_await send(stream, limits, *answer, keep_alive);
            if (!goes_on) break;
        }
        co_await close(stream);
    }

    static asio::awaitable<void> refuse(shared server, tcp::socket socket)
    {
        counted const one{server};
        beast::tcp_stream stream{std::move(socket)};
        auto const answer = web_answers::refusal(503, "the dashboard has too many connections");
        co_await send(stream, server->limits, answer, false);
        co_await close(stream);
    }

    static asio::awaitable<void> accept(shared server)
    {
        auto const executor = server->acceptor.get_executor();
        asio::steady_timer pause{executor};
        while (server->acceptor.is_open()) {
            error_code ec;
            tcp::socket socket{executor};
            co_await server->acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, ec));
            if (!ec) close_on_exec(socket);
            if (ec == asio::error::operation_aborted) co_return;
            if (ec) {
                pause.expires_after(after_failed_accept);
                co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, ec));
            } else if (server->connections < server->limits.connections) {
                asio::co_spawn(executor, serve(server, std::move(socket)), asio::detached);
            } else if (server->connections < server->limits.connections * 2) {
                asio::co_spawn(executor, refuse(server, std::move(socket)), asio::detached);
            }
        }
    }
};

web_server::web_server(asio::io_context& io, tcp::endpoint const& at, web_limits limits, responder answer)
{
    tcp::acceptor acceptor{io};
    error_code ec;
    acceptor.open(at.protocol(), ec);
    if (!ec) close_on_exec(acceptor);
    if (!ec) acceptor.set_option(tcp::acceptor::reuse_address{true}, ec);
    if (!ec) acceptor.bind(at, ec);
    if (!ec) acceptor.listen(asio::socket_base::max_listen_connections, ec);
    if (ec) throw failure{exit_code::internal, "cannot listen on " + url_of(at) + ": " + ec.message()};
    state_ = std::make_shared<state>(std::move(acceptor), limits, std::move(answer));
    asio::co_spawn(io, loops::accept(state_), asio::detached);
}

web_server::~web_server()
{
    error_code ignored;
    state_->acceptor.close(ignored);
}

tcp::endpoint web_server::endpoint() const { return state_->acceptor.local_endpoint(); }

}  // namespace redlock::cli
