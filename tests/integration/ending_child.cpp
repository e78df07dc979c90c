// A program whose client is in use after main() has returned: by an object that is destroyed after what the library has made meanwhile. Its argument is
// the URL of a server. Ends with 0 if all went well.
#include <redlock/redlock.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <future>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

// OpenSSL ends with main(): the tables of what it keeps for connections that end later are gone then, and it frees none of that.
extern "C" char const* __lsan_default_suppressions();
extern "C" char const* __lsan_default_suppressions() { return "leak:libcrypto"; }

namespace {

namespace asio = boost::asio;

// Waits for an operation without a future of Asio, which needs Asio's system context: that one is destroyed before.
template <class... Values, class Start>
auto wait(Start start)
{
    std::promise<std::tuple<Values...>> done;
    std::move(start)([&](redlock::error_code ec, Values... values) {
        if (ec) done.set_exception(std::make_exception_ptr(redlock::system_error{ec}));
        else done.set_value({std::move(values)...});
    });
    return done.get_future().get();
}

template <class Lock>
redlock::lease acquire(Lock const& what)
{
    return std::get<0>(wait<redlock::lease>([&](auto handler) { what.acquire(std::move(handler)); }));
}

void extend_and_release(redlock::lease held)
{
    wait([&](auto handler) { held.extend(std::move(handler)); });
    wait([&](auto handler) { held.release(std::move(handler)); });
}

// What uses nearly all scripts.
void use(redlock::client const& nodes)
{
    auto held = acquire(redlock::lock{nodes, "r"});
    wait([&](auto handler) { held.publish(std::string{"state"}, std::move(handler)); });
    extend_and_release(std::move(held));
    redlock::rw_lock const shared{nodes, "s"};
    extend_and_release(std::get<0>(wait<redlock::lease>([&](auto handler) { shared.acquire_shared(std::move(handler)); })));
    extend_and_release(acquire(redlock::semaphore{nodes, "p", {.permits = 2}}));
}

struct the_last {
    std::optional<asio::thread_pool> threads;
    std::optional<redlock::client> nodes;

    ~the_last()
    {
        try {
            use(*nodes);
            std::puts("used after main");
        } catch (std::exception const& failure) {
            std::puts(failure.what());
            std::fflush(stdout);
            std::_Exit(EXIT_FAILURE);
        }
        nodes.reset();
        threads->join();
    }
} last;

}  // namespace

int main(int, char** arguments)
{
    auto settings = redlock::config::from_urls({arguments[1]});
    settings.bootstrap = true;
    last.threads.emplace(1);
    last.nodes.emplace(last.threads->get_executor(), settings);
    last.nodes->run(asio::detached);
    use(*last.nodes);
    return EXIT_SUCCESS;
}
