// A payment that is made once, however often it is asked for: one transaction of PostgreSQL compares the lease's token, records the payment's key, and moves
// the money. The lock keeps others from waiting inside the database; the transaction is what makes it right.
//
//   payment 'host=... dbname=...' ACCOUNT KEY AMOUNT URL...
//
// The tables; tokens are larger than 1:
//
//   CREATE TABLE accounts (id text PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0), fence bigint NOT NULL DEFAULT 1);
//   CREATE TABLE payments (key text PRIMARY KEY, account text NOT NULL REFERENCES accounts, amount bigint NOT NULL, token bigint NOT NULL);
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <libpq-fe.h>

namespace asio = boost::asio;
using namespace std::chrono_literals;

using connection = std::unique_ptr<PGconn, decltype([](PGconn* c) { PQfinish(c); })>;
using result = std::unique_ptr<PGresult, decltype([](PGresult* r) { PQclear(r); })>;

// How many rows the statement returned, or changed.
int run(PGconn* data, char const* statement, std::vector<std::string> const& parameters = {})
{
    std::vector<char const*> values;
    for (auto const& p : parameters) values.push_back(p.c_str());
    result const answer{PQexecParams(data, statement, static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr, 0)};
    auto const status = PQresultStatus(answer.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) throw std::runtime_error{PQerrorMessage(data)};
    return PQntuples(answer.get());
}

struct payment {
    std::string account, key, amount;
};

// Whether the money was moved now; otherwise it was before.
bool pay(PGconn* data, redlock::lease const& lease, payment const& what)
{
    std::string const token = std::to_string(lease.token());
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(lease.valid_until() - redlock::boot_clock::now());
    run(data, "BEGIN");
    try {
        // No statement waits for longer than the lease lasts.
        run(data, "SELECT set_config('statement_timeout', $1, true)", {std::to_string(std::max(left, 1ms).count())});
        // Locks the row, and nobody with an older token writes after this.
        if (run(data, "UPDATE accounts SET fence = $1 WHERE id = $2 AND fence <= $1 RETURNING id", {token, what.account}) == 0) {
            if (run(data, "SELECT id FROM accounts WHERE id = $1", {what.account}) == 0)
                throw std::runtime_error{"there is no account " + what.account};
            throw redlock::system_error{redlock::errc::stale_token};
        }
        bool const is_new = run(data, "INSERT INTO payments VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING key",
                                {what.key, what.account, what.amount, token}) == 1;
        if (is_new) run(data, "UPDATE accounts SET balance = balance - $1 WHERE id = $2 RETURNING balance", {what.amount, what.account});
        run(data, "COMMIT");
        return is_new;
    } catch (...) {
        result const undone{PQexec(data, "ROLLBACK")};  // fails only with the connection, which rolls back, too
        throw;
    }
}

asio::awaitable<void> pay_once(redlock::client& nodes, PGconn* data, payment what)
{
    redlock::lock lock{nodes, "account:" + what.account, {.ttl = 10s, .acquire_timeout = 5s}};
    auto body = [&](redlock::lease& lease) -> asio::awaitable<void> {
        std::cout << (pay(data, lease, what) ? "paid" : "was paid before") << ", token " << lease.token() << '\n';
        co_return;
    };
    co_await redlock::with_lock(lock, body);
}

int main(int argc, char** argv)
try {
    if (argc < 6) throw std::invalid_argument{"usage: payment CONNINFO ACCOUNT KEY AMOUNT URL..."};
    if (std::stol(argv[4]) <= 0) throw std::invalid_argument{"AMOUNT must be more than 0"};
    connection const data{PQconnectdb(argv[1])};
    if (PQstatus(data.get()) != CONNECTION_OK) throw std::runtime_error{PQerrorMessage(data.get())};
    asio::thread_pool threads{2};  // libpq blocks one of them; the watchdog needs the other
    redlock::config config = redlock::config::from_urls({argv + 5, argv + argc});
    redlock::client nodes{threads.get_executor(), config};
    nodes.run(asio::detached);
    asio::co_spawn(threads, pay_once(nodes, data.get(), {argv[2], argv[3], argv[4]}), asio::use_future).get();
    nodes.cancel();
    threads.join();
} catch (std::exception const& e) {
    std::cerr << "payment: " << e.what() << '\n';
    return 1;
}
