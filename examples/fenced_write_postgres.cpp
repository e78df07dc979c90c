// A write that PostgreSQL refuses when it comes too late: the lease's token goes with it, and the row knows the largest that it has seen.
//
//   fenced_write_postgres 'host=... dbname=...' URL...
//
// The table; tokens are larger than 1, and 0, which is no token, is refused:
//
//   CREATE TABLE accounts (id text PRIMARY KEY, balance bigint NOT NULL, fence bigint NOT NULL DEFAULT 1);
//   INSERT INTO accounts VALUES ('alice', 100);
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <libpq-fe.h>

namespace asio = boost::asio;

constexpr char const* fenced_read = "UPDATE accounts SET fence = $1 WHERE id = 'alice' AND fence <= $1 RETURNING balance";
constexpr char const* fenced_write = "UPDATE accounts SET fence = $1, balance = $2 WHERE id = 'alice' AND fence <= $1 RETURNING balance";

using connection = std::unique_ptr<PGconn, decltype([](PGconn* c) { PQfinish(c); })>;
using result = std::unique_ptr<PGresult, decltype([](PGresult* r) { PQclear(r); })>;

// Answers the balance that the statement returns. No row: a newer holder has been here.
long run(PGconn* data, char const* statement, std::vector<std::string> const& parameters)
{
    std::vector<char const*> values;
    for (auto const& p : parameters) values.push_back(p.c_str());
    result const answer{PQexecParams(data, statement, static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0)};
    if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK) throw std::runtime_error{PQerrorMessage(data)};
    if (PQntuples(answer.get()) == 0) throw redlock::system_error{redlock::errc::stale_token};
    return std::stol(PQgetvalue(answer.get(), 0, 0));
}

asio::awaitable<void> deposit(redlock::client& nodes, PGconn* data)
{
    redlock::lock lock{nodes, "lock:alice"};

    auto body = [&](redlock::lease& lease) -> asio::awaitable<void> {
        std::string const token = std::to_string(lease.token());
        long const before = run(data, fenced_read, {token});  // raises the fence first: nobody older writes after this
        long const after = run(data, fenced_write, {token, std::to_string(before + 10)});
        std::cout << "balance " << after << ", token " << token << '\n';
        co_return;
    };
    co_await redlock::with_lock(lock, body);
}

int main(int argc, char** argv)
{
    try {
        if (argc < 3) throw std::invalid_argument{"usage: fenced_write_postgres CONNINFO URL..."};
        connection const data{PQconnectdb(argv[1])};
        if (PQstatus(data.get()) != CONNECTION_OK) throw std::runtime_error{PQerrorMessage(data.get())};
        asio::thread_pool threads{2};  // libpq blocks one of them; the watchdog needs the other
        redlock::config config = redlock::config::from_urls({argv + 2, argv + argc});
        redlock::client nodes{threads.get_executor(), config};
        nodes.run(asio::detached);
        asio::co_spawn(threads, deposit(nodes, data.get()), asio::use_future).get();
        nodes.cancel();
        threads.join();
    } catch (std::exception const& e) {
        std::cerr << "fenced_write_postgres: " << e.what() << '\n';
        return 1;
    }
}
