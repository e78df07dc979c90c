// A write that Redis refuses when it comes too late: the lease's token goes with it, and a script compares it with the one in the data.
//
//   fenced_write_redis RESOURCE URL...        RESOURCE: the URL of the server that has the data
#include <redlock/redlock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/redis/connection.hpp>
#include <boost/version.hpp>

#include <exception>
#include <iostream>
#include <optional>
#include <stdexcept>

namespace asio = boost::asio;
namespace redis = boost::redis;

// The token, then fields to write. Answers the value; nil if the token is stale. Tokens are larger than 1, and 0 is none.
constexpr char script[] = R"(
    if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'fence') or 1) then return false end
    redis.call('HSET', KEYS[1], 'fence', unpack(ARGV))
    return redis.call('HGET', KEYS[1], 'value') or 0)";

asio::awaitable<long long> fenced(redis::connection& data, auto... arguments)
{
    redis::request request;
    request.push("EVAL", script, 1, "visits", arguments...);
    redis::response<std::optional<long long>> answer;
    // Boost.Redis 1.88 closes the connection when a request is cancelled; what comes too late is refused anyway.
    co_await data.async_exec(request, answer, asio::bind_cancellation_slot(asio::cancellation_slot{}, asio::use_awaitable));
    if (auto const& value = std::get<0>(answer).value()) co_return *value;
    throw redlock::system_error{redlock::errc::stale_token};
}

asio::awaitable<void> count(redlock::client& nodes, redis::connection& data)
{
    redlock::lock lock{nodes, "lock:visits"};
    auto body = [&](redlock::lease& lease) -> asio::awaitable<void> {
        auto const visits = co_await fenced(data, lease.token());  // raises the fence first: nobody older writes after this
        auto const written = co_await fenced(data, lease.token(), "value", visits + 1);
        std::cout << "visit " << written << ", token " << lease.token() << '\n';
    };
    co_await redlock::with_lock(lock, body);
}

int main(int argc, char** argv)
{
    try {
        if (argc < 3) throw std::invalid_argument{"usage: fenced_write_redis RESOURCE URL..."};
        auto const resource = redlock::node_address::from_url(argv[1]);
        redis::config settings;
        settings.addr = {resource.host, std::to_string(resource.port)};
        settings.reconnect_wait_interval = {};
        asio::io_context io;
        redlock::config config = redlock::config::from_urls({argv + 2, argv + argc});
        redlock::client nodes{io.get_executor(), config};
        nodes.run(asio::detached);
        auto const ended = [](redlock::error_code e) {
            if (e != asio::error::operation_aborted) throw redlock::system_error{e, "data"};
        };
#if BOOST_VERSION >= 108900
        redis::connection data{io, redis::logger{redis::logger::level::disabled}};
        data.async_run(settings, ended);
#else
        redis::connection data{io};
        data.async_run(settings, redis::logger{redis::logger::level::disabled}, ended);
#endif
        asio::co_spawn(io, count(nodes, data), [&](std::exception_ptr e) {
            data.cancel(), nodes.cancel();
            if (e) std::rethrow_exception(e);
        });
        io.run();
    } catch (std::exception const& e) {
        std::cerr << "fenced_write_redis: " << e.what() << '\n';
        return 1;
    }
}
