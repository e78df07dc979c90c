// A job that runs once a period on one of many hosts, also when servers, networks or processes fail. The leader of an election runs it. The data knows the
// last period and the largest token, so a leader that was paused for too long writes nothing, and no period is counted twice.
//
//   periodic SECONDS RESOURCE URL...        RESOURCE: the URL of the server that has the data
#include <redlock/redlock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/system_timer.hpp>
#include <boost/redis/connection.hpp>
#include <boost/version.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
namespace redis = boost::redis;
using namespace std::chrono_literals;

// ARGV: token, period. Answers whether the period was new; an error if a later leader has been here.
constexpr char script[] = R"(
    local token, period = tonumber(ARGV[1]), tonumber(ARGV[2])
    if token < tonumber(redis.call('HGET', KEYS[1], 'fence') or 1) then return redis.error_reply('STALE a later leader has been here') end
    redis.call('HSET', KEYS[1], 'fence', ARGV[1])
    if period <= tonumber(redis.call('HGET', KEYS[1], 'period') or 0) then return 0 end
    redis.call('HSET', KEYS[1], 'period', ARGV[2])
    return redis.call('HINCRBY', KEYS[1], 'reports', 1))";

asio::awaitable<void> report(redis::connection& data, std::uint64_t token, long long period)
{
    redis::request request;
    request.get_config().cancel_if_not_connected = true;
    request.push("EVAL", script, 1, "report", token, period);
    redis::response<long long> answer;
    // Boost.Redis 1.88 closes the connection when a request is cancelled; what comes too late is refused anyway.
    co_await data.async_exec(request, answer, asio::bind_cancellation_slot(asio::cancellation_slot{}, asio::use_awaitable));
    auto const& outcome = std::get<0>(answer);
    if (!outcome) throw std::runtime_error{outcome.error().diagnostic};
    if (outcome.value() > 0) std::cout << "period " << period << ", token " << token << std::endl;
}

asio::awaitable<void> campaign(redlock::election election, redis::connection& data, std::chrono::seconds every, bool const& closing)
{
    auto body = [&](redlock::lease& lease) -> asio::awaitable<void> {
        asio::system_timer next{co_await asio::this_coro::executor};
        for (;;) {
            long long const period = std::chrono::system_clock::now().time_since_epoch() / every;
            co_await report(data, lease.token(), period);  // a new leader takes up the period that the last one missed
            next.expires_at(std::chrono::system_clock::time_point{(period + 1) * every});
            co_await next.async_wait();
        }
    };
    asio::steady_timer pause{co_await asio::this_coro::executor};
    while (!closing) {
        try {
            co_await election.lead(body);  // until resign()
        } catch (std::exception const& e) {  // the data did not answer, or refused; a lost leadership is no error: lead() campaigns again
            std::cerr << e.what() << std::endl;
        }
        pause.expires_after(closing ? 0s : 1s);
        co_await pause.async_wait();
    }
}

int main(int argc, char** argv)
try {
    if (argc < 4) throw std::invalid_argument{"usage: periodic SECONDS RESOURCE URL..."};
    std::chrono::seconds const every{std::stoi(argv[1])};
    if (every < 1s) throw std::invalid_argument{"SECONDS must be at least 1"};
    auto const resource = redlock::node_address::from_url(argv[2]);
    redis::config settings;
    settings.addr = {resource.host, std::to_string(resource.port)};
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 3, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run(asio::detached);
#if BOOST_VERSION >= 108900
    redis::connection data{io, redis::logger{redis::logger::level::disabled}};
    data.async_run(settings, asio::detached);  // connects again by itself
#else
    redis::connection data{io};
    data.async_run(settings, redis::logger{redis::logger::level::disabled}, asio::detached);
#endif
    redlock::election_options options;
    options.lock.ttl = 5s;
    redlock::election const election{nodes, "example:periodic", {}, options};
    bool closing = false;
    asio::co_spawn(io, campaign(election, data, every, closing), [&](std::exception_ptr) { data.cancel(), nodes.cancel(); });
    asio::signal_set signals{io, SIGINT, SIGTERM};
    signals.async_wait([&](redlock::error_code, int) {
        closing = true;
        election.resign();  // another host leads at once
    });
    io.run();
} catch (std::exception const& e) {
    std::cerr << "periodic: " << e.what() << '\n';
    return 1;
}
