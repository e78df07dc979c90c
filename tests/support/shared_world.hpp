// Several clients of the same three servers in memory, and what became of their calls: the fixture of stories about those who share.
#ifndef REDLOCK_TESTS_SUPPORT_SHARED_WORLD_HPP
#define REDLOCK_TESTS_SUPPORT_SHARED_WORLD_HPP

#include "support/printing.hpp"

#include "testing/memory_node.hpp"
#include "testing/stepping.hpp"

#include <redlock/detail/access.hpp>
#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::testing {

using namespace std::chrono_literals;
using detail::verb;

struct shared_world {
    explicit shared_world(std::chrono::milliseconds retention = 1h) : retention_{retention}
    {
        for (std::size_t i = 0; i < 3; ++i) servers.push_back(std::make_unique<memory_node>("node" + std::to_string(i)));
    }
    ~shared_world()
    {
        context.reset();  // handlers that own clients, leases or nodes go first
        asked.clear();
        clients.clear();
    }

    redlock::client& make_client(std::shared_ptr<observer> told = nullptr, bool runs = true)
    {
        asio::any_io_executor const executor = context->get_executor();
        asio::strand<asio::any_io_executor> const strand{executor};
        std::vector<std::unique_ptr<detail::node>> fronts;
        for (auto const& server : servers) {
            links.push_back(server->another());
            fronts.push_back(links.back()->front(strand));
        }
        detail::engine_settings settings;
        settings.max_ttl = std::chrono::days{30};
        settings.token_retention = retention_;
        settings.jitter_seed = static_cast<std::uint32_t>(clients.size() + 1);
        settings.observer = std::move(told);
        settings.wall_clock = [] { return static_cast<std::uint64_t>(virtual_clock::now().time_since_epoch() / 1us); };
        settings.fresh_value = [this] { return "value" + std::to_string(++values); };
        auto core = detail::basic_core<virtual_clock>::make(executor, strand, std::move(fronts), std::move(settings));
        clients.push_back(detail::access::make_client(std::move(core)));
        if (runs) clients.back().run([](error_code) {});
        settle();
        return clients.back();
    }

    // One call, and what became of it.
    struct call {
        std::optional<error_code> ec;
        lease held;
        attempt_report report;
        time_point at{};
        asio::cancellation_signal signal;

        bool granted() const { return ec && !*ec; }
    };

    // `start` gets the call, whose report it may have filled, and a handler.
    template <class Start>
    call& ask_with(Start start)
    {
        call& a = asked.emplace_back();
        auto done = [&a](error_code ec, lease l) {
            a.ec = ec;
            a.held = std::move(l);
            a.at = virtual_clock::now();
        };
        start(a, asio::bind_cancellation_slot(a.signal.slot(), done));
        settle();
        return a;
    }
    // A call that has to succeed, or to be answered, soon.
    call& granted_soon(call& a)
    {
        answered_soon(a);
        BOOST_REQUIRE(a.granted());
        return a;
    }
    call& answered_soon(call& a)
    {
        for (int i = 0; i < 10 && !a.ec; ++i) pass(1ms);
        BOOST_REQUIRE(a.ec.has_value());
        return a;
    }

    template <class Start>
    error_code wait_for(Start start)
    {
        std::optional<error_code> result;
        start([&](error_code ec) { result = ec; });
        for (int i = 0; i < 1'000 && !result; ++i) pass(1ms);
        BOOST_REQUIRE(result.has_value());
        return *result;
    }
    error_code release(lease& held)
    {
        return wait_for([&](auto done) { held.release(done); });
    }

    void settle() { testing::settle(*context); }
    void pass(duration d) { advance(*context, d); }

    std::size_t sent(verb what) const
    {
        std::size_t n = 0;
        for (auto const& each : links) n += each->count(what);
        return n;
    }

    std::unique_ptr<asio::io_context> context = std::make_unique<asio::io_context>();
    std::vector<std::unique_ptr<memory_node>> servers;
    std::vector<std::unique_ptr<memory_node>> links;
    std::deque<redlock::client> clients;
    std::deque<call> asked;
    int values{0};

private:
    std::chrono::milliseconds retention_;
};

}  // namespace redlock::testing

#endif
