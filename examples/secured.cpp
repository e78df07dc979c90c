// Nodes with TLS and a password, and a limit on waiting that belongs to the caller: cancel_after ends the acquisition, and leaves nothing on the nodes.
//
//   REDIS_PASSWORD=... secured CA_FILE HOST:PORT...
#include <redlock/redlock.hpp>

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

redlock::config settings(std::string const& ca_file, std::vector<std::string> const& hosts)
{
    redlock::config all;
    all.tls.ca_file = ca_file;  // an absolute path; without it, the authorities of the system
    for (std::string const& host : hosts) {
        auto node = redlock::node_address::from_url("rediss://" + host);
        node.password_env = "REDIS_PASSWORD";  // password_file is read for each connection, so a new password needs no restart
        all.nodes.push_back(node);
    }
    return all;
}

asio::awaitable<void> once(redlock::client& nodes)
{
    redlock::lock lock{nodes, "reports:nightly"};
    redlock::lease lease = co_await lock.acquire(asio::cancel_after(3s));  // throws operation_aborted after 3 s
    std::cout << "locked, with fencing token " << lease.token() << '\n';
    co_await lease.release();
}

int main(int argc, char** argv)
try {
    if (argc < 3) throw std::invalid_argument{"usage: REDIS_PASSWORD=... secured CA_FILE HOST:PORT..."};
    asio::io_context io;
    redlock::client nodes{io.get_executor(), settings(argv[1], {argv + 2, argv + argc})};
    nodes.run(asio::detached);
    std::exception_ptr failure;
    asio::co_spawn(io, once(nodes), [&](std::exception_ptr e) {
        failure = e;
        nodes.cancel();
    });
    io.run();
    if (failure) std::rethrow_exception(failure);
} catch (std::exception const& e) {
    std::cerr << "secured: " << e.what() << '\n';
    return 1;
}
