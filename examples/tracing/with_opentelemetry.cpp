// Where OpenTelemetry for C++ is: its spans for a client's locks. The TracerProvider is the program's business.
#include "lock_spans.hpp"
#include "opentelemetry_tracer.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

int main(int argc, char** argv)
{
    boost::asio::io_context io;
    auto const spans = std::make_shared<tracing::lock_spans>(std::make_shared<tracing::opentelemetry_tracer>());
    redlock::client nodes{io.get_executor(), redlock::config::from_urls({argv + 1, argv + argc}), spans};
    nodes.run(boost::asio::detached);
    redlock::lock lock{nodes, "reports:nightly"};
    lock.acquire([&](redlock::error_code, redlock::lease held) {
        held.release(boost::asio::detached);
        nodes.cancel();
    });
    io.run();
}
