// What must not be told: passwords, and the values of locks, which are what it takes to release them.
#include "support/certificates.hpp"
#include "support/child_process.hpp"
#include "support/cluster.hpp"
#include "support/strange_server.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace redlock::testing {
namespace {

std::string const password = "Zq9Xk7Wv-marker";
std::string const in_code = "%5Aq9Xk7Wv%2Dmarker";

bool tells(std::string const& text) { return text.find("Zq9Xk7Wv") != std::string::npos || text.find("q9Xk7Wv") != std::string::npos; }

std::string with_password(std::string url, std::string const& secret = in_code)
{
    return url.insert(url.find("//") + 2, "someone:" + secret + '@');
}

// Servers that want another password, one that nobody trusts, one that is not there, and some that are no Redis.
struct bad_company {
    bad_company()
    {
        ::setenv("REDLOCK_TESTS_SECRET", password.c_str(), 1);
        std::ofstream{file} << password << '\n';
    }

    redis_server wants_another{redis_server_options{.requirepass = "another"}}, and_another{redis_server_options{.requirepass = "another"}};
    strange_server http{manners::answers_http}, silent{manners::never_answers}, closing{manners::closes_on_command},
        repeating{manners::repeats_commands};
    std::uint16_t nobody{free_port()};
    certificate_authority nobody_trusts;
    certified_key key{nobody_trusts.issue()};
    redis_server with_tls{redis_server_options{.tls = tls_arguments(nobody_trusts, key, client_certificates::required)}};
    temporary_folder folder;
    std::string file{folder.path() / "password"};

    static std::uint16_t free_port()
    {
        redis_server const gone;
        return gone.port();
    }

    std::vector<std::string> urls() const
    {
        return {with_password("redis://127.0.0.1:" + std::to_string(wants_another.port())),
                with_password("redis://127.0.0.1:" + std::to_string(nobody)),
                with_password(http.url()),
                with_password(silent.url()),
                with_password(closing.url()),
                with_password(repeating.url()),
                with_password("rediss://127.0.0.1:" + std::to_string(with_tls.tls_port())),
                with_password("rediss://localhost:" + std::to_string(with_tls.tls_port()) + "?certificate_file=" + file),
                with_password("rediss://127.0.0.1:" + std::to_string(with_tls.port())),
                "redis://127.0.0.1:" + std::to_string(and_another.port()) + "?password_file=" + file,
                "redis://someone@localhost:" + std::to_string(and_another.port()) + "?password_env=REDLOCK_TESTS_SECRET",
                "redis://someone@localhost:" + std::to_string(wants_another.port()) + "?password_env=" + in_code};
    }
};

std::string all_words(client_status const& status)
{
    std::ostringstream text;
    for (auto const& n : status.nodes)
        text << n.node << ' ' << n.last_error.message() << ' ' << n.last_error_text << ' ' << n.admission_text << ' ' << n.login_text
             << '\n';
    return text.str();
}

std::string all_words(attempt_report const& report)
{
    std::ostringstream text;
    text << report;
    for (auto const& n : report.nodes) text << n.node << ' ' << n.error.message() << ' ' << n.detail << '\n';
    return text.str();
}

std::string contents(std::filesystem::path const& file)
{
    std::ifstream stream{file};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(secrets)

BOOST_AUTO_TEST_CASE(no_password_is_told_whatever_fails)
{
    bad_company const company;
    cluster c{1};
    c.usable_at_start = 0;  // of the nodes that this client has
    config settings = quick_config();
    settings.connect_timeout = 1s;  // silent servers use it up, the others need what a busy machine takes for twelve handshakes
    for (auto const& url : company.urls()) settings.nodes.push_back(node_address::from_url(url));
    BOOST_TEST(settings.nodes[0].password == password);
    c.nodes = redlock::client{c.io.get_executor(), settings};
    c.run([&]() -> asio::awaitable<void> {
        auto failing = eventually([&] {
            auto const all = c.nodes.status().nodes;
            return std::all_of(all.begin(), all.end(), [](auto const& n) { return n.last_error.failed(); });
        });
        bool const all_fail = co_await std::move(failing);
        BOOST_TEST(all_fail);
        lock const resource{c.nodes, "r", impatient};
        attempt_report report;
        auto attempt = resource.try_acquire(report, asio::as_tuple);
        auto [ec, nothing] = co_await std::move(attempt);
        BOOST_TEST(ec == errc::no_majority);
        std::string const words = all_words(report) + all_words(c.nodes.status()) + ec.message() + system_error{ec}.what();
        for (auto expected : {"HELLO was refused", "certificate verify failed", "cannot be used", "password_env names is not set"})
            BOOST_TEST(words.find(expected) != std::string::npos, words);
        BOOST_TEST(!tells(words), words);
        BOOST_TEST(words.find("another") == std::string::npos, words);
    });
}

BOOST_AUTO_TEST_CASE(a_process_that_prints_all_it_hears_prints_no_password)
{
    bad_company const company;
    temporary_folder const folder;
    auto const log = folder.path() / "output";
    child_process child{REDLOCK_SECRETS_CHILD, company.urls(), log};
    stopwatch watch;
    asio::io_context waiting;
    while (child.running() && watch.ms() < 10'000) {
        asio::steady_timer timer{waiting, 10ms};
        timer.wait();
    }
    BOOST_TEST(!child.running());
    auto const output = contents(log);
    BOOST_TEST(output.find("the end") != std::string::npos, output);
    BOOST_TEST(output.find("HELLO was refused") != std::string::npos, output);
    BOOST_TEST(output.find("malformed JSON") != std::string::npos, output);
    BOOST_TEST(output.find("\"event\":\"node_down\"") != std::string::npos, output);
    BOOST_TEST(output.find("redlock_node_up{") != std::string::npos, output);
    BOOST_TEST(output.find("\"last_error\":{") != std::string::npos, output);
    BOOST_TEST(!tells(output), output);
}

// The name that connections carry on the servers, and a password that is right.
BOOST_AUTO_TEST_CASE(what_a_server_shows_of_a_client_is_its_name)
{
    cluster c{1, quick_config(), redis_server_options{.requirepass = password}};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", long_ttl};
        attempt_report report;
        auto acquire = resource.acquire(report);
        lease const held = co_await std::move(acquire);
        auto const list = c.servers[0].command({"CLIENT", "LIST"});
        BOOST_TEST(list.find("name=redlock") != std::string::npos, list);
        BOOST_TEST(!tells(list), list);
        BOOST_TEST(!tells(all_words(report) + all_words(c.nodes.status())));
        BOOST_TEST(!tells(c.servers[0].log_tail()));
    });
}

// Who knows the value can release the lock.
BOOST_FIXTURE_TEST_CASE(the_value_of_a_lock_is_told_to_nobody_but_the_nodes, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", impatient};
        attempt_report won, refused;
        auto acquire = resource.acquire(won);
        lease held = co_await std::move(acquire);
        auto const secret = value(0, "r").substr(0, 32);  // who holds it may be known
        BOOST_TEST_REQUIRE(secret.size() == 32u);
        auto other = another_client();
        lock const theirs{*other, "r", impatient};
        auto attempt = theirs.try_acquire(refused, asio::as_tuple);
        auto [contended, nothing] = co_await std::move(attempt);
        BOOST_TEST(contended == condition::contended);

        // A key that is somebody else's at once: the error and the reports of its loss.
        on_all({"SET", "r", "foreign"});
        auto extend = held.extend(asio::as_tuple);
        auto [lost] = co_await std::move(extend);
        BOOST_TEST(lost == errc::lease_lost);
        std::string const words = all_words(won) + all_words(refused) + all_words(nodes.status()) + all_words(other->status()) +
                                  contended.message() + lost.message() + system_error{lost}.what();
        BOOST_TEST(words.find(secret) == std::string::npos, words);
        on_all({"DEL", "r"});
        other->cancel();
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
