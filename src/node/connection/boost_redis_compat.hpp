// Hides the differences between releases of Boost.Redis, from 1.88 on, behind functions. Slow to compile.
#ifndef REDLOCK_NODE_CONNECTION_BOOST_REDIS_COMPAT_HPP
#define REDLOCK_NODE_CONNECTION_BOOST_REDIS_COMPAT_HPP

#include "protocol/node_sink.hpp"

#include <redlock/config.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/redis/connection.hpp>
#include <boost/system/error_code.hpp>
#include <boost/version.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace redlock::detail {

namespace redis = boost::redis;
namespace asio = boost::asio;
using redis::resp3::node_view;

// make_adapter passes every RESP3 node of the answers, with the number of its call, to a function object, which it copies. Boost.Redis changed its
// adapters in 1.90.
#if BOOST_VERSION >= 109000
template <class Sink>
redis::any_adapter make_adapter(Sink to)
{
    return redis::any_adapter{
        [to, call = std::size_t{0}](redis::any_adapter::parse_event event, node_view const& node, boost::system::error_code&) mutable {
            if (event == redis::any_adapter::parse_event::node) to(call, node);
            if (event == redis::any_adapter::parse_event::done) ++call;
        }};
}
#else
template <class Sink>
struct sink_adapter {
    Sink to;
    std::size_t get_supported_response_size() const noexcept { return static_cast<std::size_t>(-1); }
    void operator()(std::size_t call, node_view const& node, boost::system::error_code&) const { to(call, node); }
};
template <class Sink>
struct adapted_sink {
    Sink to;
    friend sink_adapter<Sink> boost_redis_adapt(adapted_sink& s) { return {s.to}; }
};
template <class Sink>
redis::any_adapter make_adapter(Sink to)
{
    adapted_sink<Sink> adapted{to};
    return redis::any_adapter{adapted};
}
#endif

// Sets the sink that gets every RESP3 node of pushes. Call it before the connection runs: the default adapter of Boost.Redis ends the connection if a
// server pushes an error or a null, as in `invalidate null`.
template <class Connection>
void set_push_sink(Connection& connection, node_sink& sink)
{
    auto const to = [&sink](std::size_t call, node_view const& node) { sink(call, node); };
#if BOOST_VERSION >= 109000
    redis::any_adapter const adapted = make_adapter(to);
#else
    adapted_sink<decltype(to)> adapted{to};
#endif
    connection.set_receive_response(adapted);
}

// Completes after one or several pushes. The sink has got them before, in their order among the answers. Call this again after each completion: after
// 257 pushes that were not received in this way, Boost.Redis (1.88 to 1.92) stops reading, answers included.
template <class Connection, class Executor, class Handler>
void receive_pushes(Connection& connection, Executor const& executor, Handler handler)
{
#if BOOST_VERSION >= 109100
    connection.async_receive2(asio::bind_executor(executor, std::move(handler)));
#else
    auto done = [handler = std::move(handler)](boost::system::error_code ec, std::size_t) mutable { std::move(handler)(ec); };
    connection.async_receive(asio::bind_executor(executor, std::move(done)));
#endif
}

template <class Connection, class Executor>
std::shared_ptr<Connection> make_connection(Executor const& executor, asio::ssl::context context)
{
#if BOOST_VERSION >= 108900
    return std::make_shared<Connection>(executor, std::move(context), redis::logger{redis::logger::level::disabled});
#else
    return std::make_shared<Connection>(executor, std::move(context));
#endif
}

// Boost.Redis supports unix sockets from 1.89 on. With older releases config::validate refuses addresses that name one.
inline void set_address(redis::config& settings, node_address const& address)
{
#if BOOST_VERSION >= 108900
    settings.unix_socket = address.unix_socket;
#endif
    settings.addr = {address.host, std::to_string(address.port)};
    settings.use_ssl = address.tls.has_value();
}

// What Boost.Redis says first: HELLO with the credentials, and with the name of the connection. `password`: empty if there are none.
inline void set_login(redis::config& settings, std::string const& username, std::string const& password, std::string const& client_name)
{
#if BOOST_VERSION >= 109000
    settings.use_setup = true;
    settings.setup.clear();
    if (password.empty()) settings.setup.push("HELLO", "3", "SETNAME", client_name);
    else settings.setup.push("HELLO", "3", "AUTH", username, password, "SETNAME", client_name);
#else
    settings.username = username;
    settings.password = password;
    settings.clientname = client_name;
#endif
}

// The handler is type-erased, so that the operations of Boost.Redis are instantiated once.
template <class Connection>
void run_connection(Connection& connection, redis::config const& settings,
                    asio::any_completion_handler<void(boost::system::error_code)> handler)
{
#if BOOST_VERSION >= 108900
    connection.async_run(settings, std::move(handler));
#else
    connection.async_run(settings, redis::logger{redis::logger::level::disabled}, std::move(handler));
#endif
}

}  // namespace redlock::detail

#endif
