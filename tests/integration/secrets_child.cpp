// A program as users write them: it prints all that the library says when nothing works. Run by secrets_test.cpp, which reads its
// whole output.
//
//   secrets_child URL...
#include <redlock/json.hpp>
#include <redlock/json_log.hpp>
#include <redlock/prometheus.hpp>
#include <redlock/redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <nlohmann/json.hpp>

#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

void print(redlock::client const& nodes)
{
    for (auto const& n : nodes.status().nodes)
        std::cout << n.node << ' ' << to_string(n.state) << ' ' << n.last_error.message() << " [" << n.last_error_text << "] "
                  << to_string(n.admission) << ' ' << n.admission_text << '\n';
}

asio::awaitable<void> fail_to_lock(redlock::client& nodes)
{
    asio::steady_timer timer{co_await asio::this_coro::executor, 700ms};  // time for every connection to fail
    co_await timer.async_wait(asio::use_awaitable);
    redlock::lock resource{nodes, "r", {.node_timeout = 300ms}};
    redlock::attempt_report report;
    auto attempt = resource.try_acquire(report, asio::as_tuple(asio::use_awaitable));
    auto [ec, lease] = co_await std::move(attempt);
    std::cout << ec.message() << '\n' << report << '\n';
    print(nodes);
    auto again = resource.try_acquire(asio::use_awaitable);
    try {
        auto never = co_await std::move(again);
    } catch (std::exception const& e) {
        std::cout << e.what() << '\n';
    }
    std::cout << "the end" << std::endl;
}

// Mistakes with each URL: in the wrong place, cut off, in a document that is no JSON.
void misread(std::string const& url)
{
    std::vector<std::string> const documents{
        "{\"nodes\": [\"" + url + "\", \"" + url + "\"]}", "{\"nodes\": \"" + url + "\"}", "{\"" + url + "\": 1}",
        "{\"nodes\": [{\"host\": \"" + url + "\"}]}",      "{\"nodes\": [\"" + url,        "{\"nodes\": [\"" + url + "?x\"]}"};
    for (auto const& document : documents) {
        try {
            redlock::parse_settings(document);
            std::cout << "read\n";
        } catch (redlock::config_error const& e) {
            std::cout << e.what() << '\n';
        }
    }
}

}  // namespace

int main(int argc, char** argv)
{
    std::vector<std::string> const urls{argv + 1, argv + argc};
    for (auto const& url : urls) misread(url);
    redlock::config settings = redlock::config::from_urls(urls);
    settings.connect_timeout = 300ms;
    asio::io_context io;
    auto const log = std::make_shared<redlock::json_log>(std::cout);
    auto const metrics = std::make_shared<redlock::prometheus>();
    redlock::client nodes{io.get_executor(), settings,
                          std::make_shared<redlock::observers>(std::vector<std::shared_ptr<redlock::observer>>{log, metrics})};
    nodes.run(asio::detached);
    asio::co_spawn(io, fail_to_lock(nodes), [&](std::exception_ptr) { nodes.cancel(); });
    io.run();
    std::cout << metrics->text() << redlock::to_json(nodes.status()).dump() << std::endl;
}
