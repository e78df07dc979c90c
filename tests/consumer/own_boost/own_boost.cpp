// A program that compiles Asio and Boost.Redis itself, and uses both beside the library.
#include <redlock/redlock.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/error.hpp>
#include <boost/redis/request.hpp>

#include <iostream>

char const* compiled_by();

int main()
{
    boost::asio::io_context io;
    redlock::client nodes{io.get_executor(), redlock::config::from_urls({"redis://127.0.0.1:1"})};
    redlock::lock const lock{nodes, "own_boost"};
    nodes.run([](redlock::error_code) {});

    redlock::error_code answer;
    lock.try_acquire([&](redlock::error_code ec, redlock::lease) {
        answer = ec;
        nodes.cancel();
    });
    int ticks = 0;
    boost::asio::steady_timer timer{io, std::chrono::milliseconds{1}};
    timer.async_wait([&](boost::system::error_code) { ++ticks; });
    io.run();

    boost::redis::request ping;
    ping.push("PING");
    boost::system::error_code const theirs = boost::redis::error::resp3_null;
    if (answer != redlock::errc::no_majority || ticks != 1 || ping.payload().empty() || theirs.message().empty()) {
        std::cerr << "own_boost: " << answer.message() << ", " << ticks << " ticks\n";
        return 1;
    }
    std::cout << "Boost is compiled by " << compiled_by() << ": " << theirs.message() << '\n';
}
