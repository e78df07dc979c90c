// What may stand between the parentheses of with_lock(). Compiled by a test for each macro below, and for none of them.
#include <redlock/with_lock.hpp>

#include <boost/asio/io_context.hpp>

#include <functional>
#include <string>

namespace {

namespace asio = boost::asio;

asio::awaitable<void> critical_section(redlock::lock resource, std::string text)
{
#if defined(TEMPORARY)
    co_await redlock::with_lock(resource, [text](redlock::lease&) -> asio::awaitable<void> { co_return; });
#elif defined(MOVED)
    auto body = [text](redlock::lease&) -> asio::awaitable<void> { co_return; };
    co_await redlock::with_lock(resource, std::move(body));
#elif defined(TEMPORARY_WITH_A_REPORT)
    redlock::attempt_report report;
    co_await redlock::with_lock(resource, report, [text](redlock::lease&) -> asio::awaitable<void> { co_return; });
#elif defined(ANOTHER_EXECUTOR)
    auto body = [](redlock::lease&) -> asio::awaitable<void, asio::io_context::executor_type> { co_return; };
    co_await redlock::with_lock(resource, body);
#else
    auto body = [text](redlock::lease&) -> asio::awaitable<void> { co_return; };
    co_await redlock::with_lock(resource, body);
    co_await redlock::with_lock(resource, std::ref(body));
    co_await redlock::with_lock(resource, [&text](redlock::lease&) -> asio::awaitable<void> {
        text += '.';
        co_return;
    });
#endif
}

}  // namespace

asio::awaitable<void> use(redlock::client const& nodes) { return critical_section(redlock::lock{nodes, "resource"}, "a text"); }
