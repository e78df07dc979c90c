// The tests of a service, with the installed libraries: types, exceptions and error categories are the same on both sides.
#include "worker.hpp"

#include <redlock/testing.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace asio = boost::asio;
using namespace std::chrono_literals;

void expect(bool holds, char const* what)
{
    if (holds) return;
    std::cerr << "worker_test: not so: " << what << '\n';
    std::exit(2);
}

struct losses final : redlock::observer {
    void on_lost(redlock::event::lost const& e) override { n += std::string_view{e.lock} == "worker"; }
    int n{0};
};

int main()
{
    sleep_function const sleep = [](std::chrono::milliseconds time) { return redlock::testing::sleep(time); };
    {
        redlock::testing::simulation sim;
        expect(sim.run(work(sim.client(), 3'600, sleep), 2h) == 3'600, "an hour of work");
        expect(sim.client().status().counters.leases_lost == 0, "in one lease");
    }
    redlock::testing::simulation sim{{.nodes = 5, .seed = 7}};
    auto const told = std::make_shared<losses>();
    redlock::client nodes = sim.make_client("worker", told);
    auto thief = [&]() -> asio::awaitable<void> {
        co_await redlock::testing::sleep(10s + 500ms);
        sim.lose("worker");
    };
    asio::co_spawn(sim.context(), thief, asio::detached);
    expect(sim.run(work(nodes, 3'600, sleep)) == 10, "work ends with the lease");
    sim.run_for(1s);
    expect(told->n == 1, "observers are told");
    sim.node(0).down();
    sim.node(1).down();
    sim.node(2).down();
    auto trying = [&]() -> asio::awaitable<void> {
        redlock::lock lock{nodes, "worker"};
        redlock::lease const lease = co_await lock.try_acquire();
    };
    try {
        sim.run(trying());
        expect(false, "without a majority there is no lease");
    } catch (boost::system::system_error const& e) {
        expect(e.code() == redlock::errc::no_majority, "the code says so");
    }
    std::cout << "worker_test: as expected\n";
}
