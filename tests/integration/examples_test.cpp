// The examples, run as a user would, against real servers.
#include "support/admitted.hpp"
#include "support/certificates.hpp"
#include "support/redis_server.hpp"
#ifdef REDLOCK_POSTGRES
#include "support/postgres_client.hpp"
#include "support/postgres_server.hpp"
#endif

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>

#include <sys/wait.h>

namespace {

using redlock::testing::redis_server;

struct outcome {
    int exit_code;
    std::string output;
};

outcome run_example(std::string const& name, std::string const& arguments, std::string const& environment = "")
{
    std::string const command = environment + " " + REDLOCK_EXAMPLES + "/" + name + " " + arguments + " 2>&1";
    FILE* const pipe = ::popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error{"cannot run " + command};
    outcome result{};
    std::array<char, 4096> buffer;
    for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) result.output.append(buffer.data(), n);
    int const status = ::pclose(pipe);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

std::string urls_of(std::deque<redis_server> const& servers)
{
    std::string urls;
    for (auto const& s : servers) urls += s.url() + " ";
    return urls;
}

// What stands behind "token ".
std::int64_t token_of(outcome const& result)
{
    constexpr std::string_view word = "token ";
    auto const place = result.output.find(word);
    return place == std::string::npos ? 0 : std::stoll(result.output.substr(place + word.size()));
}

bool says(outcome const& result, std::string const& text) { return result.output.find(text) != std::string::npos; }

constexpr char const* newest = "9007199254740991";  // no larger token will come

}  // namespace

BOOST_AUTO_TEST_SUITE(examples)

BOOST_AUTO_TEST_CASE(first_lock)
{
    auto const servers = redlock::testing::admitted_servers(3);
    std::string const urls = urls_of(servers);
    outcome const result = run_example("first_lock", urls);
    BOOST_TEST(result.exit_code == 0);
    std::string const words = "locked, with fencing token ";  // as in README.md
    BOOST_TEST_REQUIRE(result.output.starts_with(words), result.output);
    BOOST_TEST(std::stoull(result.output.substr(words.size())) > 0u);
    for (auto& s : servers) BOOST_TEST(s.command({"EXISTS", "reports:nightly"}) == "0");
}

BOOST_AUTO_TEST_CASE(first_lock_without_nodes)
{
    outcome const result = run_example("first_lock", "");
    BOOST_TEST(result.exit_code == 1);
    BOOST_TEST(says(result, "first_lock: config::nodes is empty"), result.output);
}

BOOST_AUTO_TEST_CASE(each_says_how_it_is_used)
{
    for (std::string const name : {"callbacks",
                                   "checkpoint",
                                   "election",
                                   "exports",
                                   "fenced_write_redis",
                                   "futures",
                                   "job_runner",
                                   "leader",
                                   "observing",
                                   "orders",
                                   "periodic",
                                   "rw_lock",
                                   "scope",
                                   "secured",
                                   "several",
                                   "shared_client",
                                   "shutdown",
                                   "travelling",
#ifdef REDLOCK_POSTGRES
                                   "fenced_write_postgres",
                                   "payment"
#endif
         }) {
        outcome const result = run_example(name, "</dev/null");
        BOOST_TEST(result.exit_code == 1, name);
        BOOST_TEST(says(result, name + ": usage: "), result.output);
    }
}

BOOST_AUTO_TEST_CASE(secured)
{
    redlock::testing::certificate_authority ours;
    auto const key = ours.issue();
    std::deque<redis_server> servers;
    std::string hosts;
    for (int i = 0; i < 3; ++i) {
        auto& s = servers.emplace_back(
            redlock::testing::redis_server_options{.requirepass = "secret", .tls = redlock::testing::tls_arguments(ours, key)});
        redlock::testing::admit(s);
        hosts += " localhost:" + std::to_string(s.tls_port());
    }
    outcome const result = run_example("secured", ours.file() + hosts, "REDIS_PASSWORD=secret");
    BOOST_TEST(result.exit_code == 0, result.output);
    BOOST_TEST(result.output.starts_with("locked, with fencing token "), result.output);
    outcome const wrong = run_example("secured", ours.file() + hosts, "REDIS_PASSWORD=guessed");
    BOOST_TEST(wrong.exit_code == 1);
    BOOST_TEST(says(wrong, "wrong user name or password"), wrong.output);
    redlock::testing::certificate_authority theirs;
    outcome const stranger = run_example("secured", theirs.file() + hosts, "REDIS_PASSWORD=secret");
    BOOST_TEST(stranger.exit_code == 1);
    BOOST_TEST(says(stranger, "certificate"), stranger.output);
}

BOOST_AUTO_TEST_CASE(fenced_write_redis)
{
    auto const nodes = redlock::testing::admitted_servers(3);
    redis_server data;
    std::string const urls = data.url() + " " + urls_of(nodes);

    outcome const first = run_example("fenced_write_redis", urls);
    BOOST_TEST(first.exit_code == 0);
    BOOST_TEST(says(first, "visit 1, token "), first.output);
    outcome const second = run_example("fenced_write_redis", urls);
    BOOST_TEST(second.exit_code == 0);
    BOOST_TEST(says(second, "visit 2, token "), second.output);
    BOOST_TEST(token_of(first) > 0);
    BOOST_TEST(token_of(second) > token_of(first));
    BOOST_TEST(data.command({"HGET", "visits", "fence"}) == std::to_string(token_of(second)));

    data.command({"HSET", "visits", "fence", newest});
    outcome const stale = run_example("fenced_write_redis", urls);
    BOOST_TEST(stale.exit_code == 1);
    BOOST_TEST(says(stale, "fencing token"), stale.output);
    BOOST_TEST(data.command({"HGET", "visits", "value"}) == "2");
}

BOOST_AUTO_TEST_CASE(fenced_write_redis_without_its_data)
{
    auto const nodes = redlock::testing::admitted_servers(3);
    redis_server data;
    data.kill();
    outcome const result = run_example("fenced_write_redis", data.url() + " " + urls_of(nodes));
    BOOST_TEST(result.exit_code == 1);
    BOOST_TEST(says(result, "data: "), result.output);
}

#ifdef REDLOCK_POSTGRES
BOOST_AUTO_TEST_CASE(fenced_write_postgres)
{
    auto const nodes = redlock::testing::admitted_servers(3);
    redlock::testing::postgres_server server;
    redlock::testing::postgres_client data{server.where()};
    data.command("CREATE TABLE accounts (id text PRIMARY KEY, balance bigint NOT NULL, fence bigint NOT NULL DEFAULT 1)");
    data.command("INSERT INTO accounts VALUES ('alice', 100)");
    std::string const arguments = "'" + server.where() + "' " + urls_of(nodes);

    outcome const first = run_example("fenced_write_postgres", arguments);
    BOOST_TEST(first.exit_code == 0);
    BOOST_TEST(says(first, "balance 110, token "), first.output);
    outcome const second = run_example("fenced_write_postgres", arguments);
    BOOST_TEST(second.exit_code == 0);
    BOOST_TEST(says(second, "balance 120, token "), second.output);
    BOOST_TEST(token_of(first) > 0);
    BOOST_TEST(token_of(second) > token_of(first));
    BOOST_TEST(data.command("SELECT fence FROM accounts") == std::to_string(token_of(second)));

    data.command("UPDATE accounts SET fence = $1", {newest});
    outcome const stale = run_example("fenced_write_postgres", arguments);
    BOOST_TEST(stale.exit_code == 1);
    BOOST_TEST(says(stale, "fencing token"), stale.output);
    BOOST_TEST(data.command("SELECT balance FROM accounts") == "120");
}

BOOST_AUTO_TEST_CASE(a_payment_is_made_once)
{
    auto const nodes = redlock::testing::admitted_servers(3);
    redlock::testing::postgres_server server;
    redlock::testing::postgres_client data{server.where()};
    data.command(
        "CREATE TABLE accounts (id text PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0), fence bigint NOT NULL DEFAULT 1)");
    data.command("CREATE TABLE payments (key text PRIMARY KEY, account text NOT NULL REFERENCES accounts, amount bigint NOT NULL, token "
                 "bigint NOT NULL)");
    data.command("INSERT INTO accounts VALUES ('alice', 100)");
    auto const pay = [&](std::string const& what) {
        return run_example("payment", "'" + server.where() + "' " + what + " " + urls_of(nodes));
    };
    auto const balance = [&] { return data.command("SELECT balance FROM accounts"); };

    outcome const first = pay("alice order-1 30");
    BOOST_TEST(first.exit_code == 0, first.output);
    BOOST_TEST(says(first, "paid, token "), first.output);
    BOOST_TEST(balance() == "70");
    outcome const again = pay("alice order-1 30");
    BOOST_TEST(again.exit_code == 0, again.output);
    BOOST_TEST(says(again, "was paid before, token "), again.output);
    BOOST_TEST(balance() == "70");

    outcome const too_much = pay("alice order-2 71");
    BOOST_TEST(too_much.exit_code == 1);
    BOOST_TEST(says(too_much, "accounts_balance_check"), too_much.output);
    BOOST_TEST(says(pay("bob order-3 1"), "there is no account bob"));
    BOOST_TEST(data.command("SELECT count(*) FROM payments") == "1");
    BOOST_TEST(says(pay("alice order-2 70"), "paid, token "), "its key was not used");
    BOOST_TEST(balance() == "0");

    data.command("UPDATE accounts SET fence = $1", {newest});
    outcome const stale = pay("alice order-4 1");
    BOOST_TEST(stale.exit_code == 1);
    BOOST_TEST(says(stale, "fencing token"), stale.output);
    BOOST_TEST(data.command("SELECT count(*) FROM payments") == "2");
}
#endif

BOOST_AUTO_TEST_SUITE_END()
