#include "postgres_client.hpp"

#include <charconv>
#include <cstring>
#include <stdexcept>

#include <libpq-fe.h>

namespace redlock::testing {
namespace {

struct result_closer {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
};
using result_ptr = std::unique_ptr<PGresult, result_closer>;

postgres_reply read(PGresult const* result)
{
    postgres_reply reply;
    auto const status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        char const* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        reply.sqlstate = state != nullptr ? state : "?????";
        reply.message = PQresultErrorMessage(result);
        return reply;
    }
    char const* const count = PQcmdTuples(const_cast<PGresult*>(result));
    std::from_chars(count, count + std::strlen(count), reply.affected);
    for (int row = 0; row < PQntuples(result); ++row) {
        auto& cells = reply.rows.emplace_back();
        for (int column = 0; column < PQnfields(result); ++column) cells.emplace_back(PQgetvalue(result, row, column));
    }
    return reply;
}

}  // namespace

postgres_client::postgres_client(std::string const& where)
    : connection_{PQconnectdb((where + " options='-c statement_timeout=10s'").c_str())}
{
    if (PQstatus(connection_.get()) != CONNECTION_OK) fail("no connection");
}

postgres_reply postgres_client::ask(std::string const& statement, std::vector<std::string> const& parameters)
{
    send(statement, parameters);
    return receive();
}

std::string postgres_client::command(std::string const& statement, std::vector<std::string> const& parameters)
{
    auto const reply = ask(statement, parameters);
    if (reply.is_error()) throw std::runtime_error{statement + ": " + reply.message};
    return reply.rows.empty() ? "" : reply.rows.front().front();
}

void postgres_client::send(std::string const& statement, std::vector<std::string> const& parameters)
{
    std::vector<char const*> values;
    for (auto const& p : parameters) values.push_back(p.c_str());
    if (PQsendQueryParams(connection_.get(), statement.c_str(), static_cast<int>(values.size()), nullptr, values.data(), nullptr, nullptr,
                          0) != 1)
        fail(statement);
}

postgres_reply postgres_client::receive()
{
    result_ptr const result{PQgetResult(connection_.get())};
    if (!result || PQstatus(connection_.get()) != CONNECTION_OK) fail("no answer");
    auto reply = read(result.get());
    while (result_ptr{PQgetResult(connection_.get())}) {}  // the end of the answers to one statement
    return reply;
}

std::string postgres_client::server_pid() const { return std::to_string(PQbackendPID(connection_.get())); }

void postgres_client::fail(std::string const& what) const
{
    throw std::runtime_error{"PostgreSQL: " + what + ": " + PQerrorMessage(connection_.get())};
}

void postgres_client::closer::operator()(pg_conn* connection) const noexcept { PQfinish(connection); }

}  // namespace redlock::testing
