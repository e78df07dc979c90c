// One leader among many processes, and everybody knows where it is. A leader that cannot prove that it leads steps down in time, and campaigns again.
//
//   election ADDRESS URL...
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> campaign(redlock::election election)
{
    auto body = [](redlock::lease& lease) -> asio::awaitable<void> {
        std::cout << "leading, with token " << lease.token() << std::endl;
        asio::steady_timer beat{co_await asio::this_coro::executor};
        for (;;) {
            beat.expires_after(50ms);
            co_await beat.async_wait();  // the work of a leader; every write of it carries the token
        }
    };
    co_await election.lead(body);  // ends with resign(), or with the client
}

asio::awaitable<void> follow(redlock::election election)
{
    auto tell = [](redlock::leader_info const& leader) {
        std::cout << (leader ? "the leader is at " + leader.address : "nobody leads") << std::endl;
    };
    co_await election.observe(tell);
}

int main(int argc, char** argv)
try {
    if (argc < 3) throw std::invalid_argument{"usage: election ADDRESS URL..."};
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 2, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run(asio::detached);

    redlock::election_options options;
    options.lock.ttl = 2s;
    options.lock.stop_margin = 400ms;  // for stepping down
    redlock::election const election{nodes, "example:leader", argv[1], options};
    asio::co_spawn(io, follow(election), [](std::exception_ptr) {});
    asio::co_spawn(io, campaign(election), [&](std::exception_ptr) { nodes.cancel(); });

    asio::signal_set signals{io, SIGINT, SIGTERM};
    signals.async_wait([&](redlock::error_code, int) { election.resign(); });  // the next one leads at once
    io.run();
} catch (std::exception const& e) {
    std::cerr << "election: " << e.what() << '\n';
    return 1;
}
