// A nightly report whose trace shows what its lock did: spans on standard output, and a log with the same ids on standard error.
//
//   tracing URL...
#include "lock_spans.hpp"
#include "otlp_file.hpp"

#include <redlock/json_log.hpp>
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

tracing::time now() { return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()); }

asio::awaitable<void> report(redlock::client& nodes)
{
    redlock::lock lock{nodes, "reports:nightly", {.ttl = 900ms}};
    redlock::lease lease = co_await lock.acquire();
    asio::steady_timer work{co_await asio::this_coro::executor, 700ms};  // the watchdog extends the lease meanwhile
    co_await work.async_wait(asio::use_awaitable);
    co_await lease.release();
}

int main(int argc, char** argv)
try {
    if (argc < 2) throw std::invalid_argument{"usage: tracing URL..."};
    auto const tracer = std::make_shared<tracing::otlp_file>("reports", std::cout);
    auto const whole = tracer->start("nightly report", {}, now());
    auto const spans = std::make_shared<tracing::lock_spans>(tracer, [&](std::string_view) { return whole->ids(); });
    auto const log = std::make_shared<redlock::json_log>(std::cerr);
    log->add_fields([&](redlock::event::any const&) -> redlock::json_log::fields {
        if (spans->ids().trace.empty()) return {};
        return {{"trace_id", spans->ids().trace}, {"span_id", spans->ids().span}};
    });
    // The log behind the spans: each line is written when its event's span is known.
    auto const both = std::make_shared<redlock::observers>(std::vector<std::shared_ptr<redlock::observer>>{spans, log});

    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
    redlock::client nodes{io.get_executor(), config, both};
    nodes.run(asio::detached);
    std::exception_ptr failure;
    asio::co_spawn(io, report(nodes), [&](std::exception_ptr e) {
        failure = e;
        nodes.cancel();
    });
    io.run();
    whole->end(now());
    if (failure) std::rethrow_exception(failure);
} catch (std::exception const& e) {
    std::cerr << "tracing: " << e.what() << '\n';
    return 1;
}
