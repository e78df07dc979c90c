// Testing your own code without servers and without waiting: nodes in memory, in virtual time.
//
//   testing      says what it tried, and ends with 1 if something was not as expected
#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdlib>
#include <iostream>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// The code under test sends an invoice a minute, for as long as it has the lock. Its timer is a parameter.
template <class Timer = asio::steady_timer>
asio::awaitable<void> send_invoices(redlock::client& nodes, int count, int& sent)
{
    redlock::lock lock{nodes, "invoices", {.ttl = 30s}};
    auto body = [&](redlock::lease&) -> asio::awaitable<void> {
        Timer pause{co_await asio::this_coro::executor};
        for (; sent < count; ++sent) {
            pause.expires_after(1min);
            co_await pause.async_wait();
        }
    };
    co_await redlock::with_lock(lock, body);
}

using redlock::testing::simulation;
using redlock::testing::timer;

void expect(bool holds, char const* what)
{
    std::cout << (holds ? "ok: " : "not so: ") << what << std::endl;
    if (!holds) std::exit(1);
}

int main()
{
    {
        simulation sim;  // three nodes, and a client of them
        int sent = 0;
        sim.run(send_invoices<timer>(sim.client(), 60, sent), 2h);
        expect(sent == 60 && sim.leases_lost() == 0, "an hour's work keeps its lock, and takes no time");
    }
    {
        simulation sim;
        redlock::client second = sim.make_client("second");  // another instance of the service
        sim.hold_elsewhere("invoices", 10s);                 // and a third one has the lock
        int sent = 0;
        asio::co_spawn(sim.context(), send_invoices<timer>(sim.client(), 5, sent), asio::detached);
        asio::co_spawn(sim.context(), send_invoices<timer>(second, 10, sent), asio::detached);
        sim.run_for(9s);
        expect(sim.holder("invoices")->who == "elsewhere" && sent == 0, "both wait while somebody else has the lock");
        sim.run_for(7min);
        expect(sent == 6, "then one of them sends at a time, an invoice a minute");
        sim.run_for(5min);
        expect(sent == 10 && !sim.holder("invoices"), "and one after the other has the lock");
    }
    {
        simulation sim;
        auto thief = [&]() -> asio::awaitable<void> {
            co_await redlock::testing::sleep(10min + 30s);
            sim.lose("invoices");
        };
        asio::co_spawn(sim.context(), thief, asio::detached);
        int sent = 0;
        redlock::error_code ended;
        try {
            sim.run(send_invoices<timer>(sim.client(), 60, sent), 2h);
        } catch (boost::system::system_error const& e) {
            ended = e.code();
        }
        expect(ended == redlock::errc::lease_lost && sent == 10, "nothing is sent once the lock is lost");
    }
}
