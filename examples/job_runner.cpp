// A worker of many, on as many hosts as you like: of each job of a list, one of them does it.
//
//   job_runner URL... < JOBS
#include <redlock/redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <unistd.h>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> work_on(std::string const& job)
{
    asio::steady_timer work{co_await asio::this_coro::executor, 50ms};
    co_await work.async_wait();
    std::cout << job << " done by " << ::getpid() << std::endl;
}

// The holder of a job's lock keeps it until all of the list is done, so that no later worker does the job again. That is
// efficiency: if a worker dies, another one may. Write down beside the result what is done if it must not be done twice.
asio::awaitable<void> work(redlock::client& nodes, std::vector<std::string> jobs)
{
    std::vector<redlock::lease> ours;
    for (std::string const& job : jobs) {
        redlock::lock lock{nodes, "job:" + job, {.ttl = 10s, .max_attempts = 5, .max_retry_delay = 100ms}};
        redlock::error_code error;
        redlock::lease lease;
        do {  // of workers that ask at the same moment each may get the vote of one node, and nobody a majority
            std::tie(error, lease) = co_await lock.acquire(asio::as_tuple(asio::use_awaitable));
        } while (error == redlock::errc::split_votes);
        if (error == redlock::errc::contended) continue;  // another worker does it
        if (error) throw boost::system::system_error{error, job};
        ours.push_back(std::move(lease));
        co_await work_on(job);
    }
    asio::steady_timer others{co_await asio::this_coro::executor, 10s};  // those who begin late
    co_await others.async_wait();
}

int main(int argc, char** argv)
try {
    if (argc < 2) throw std::invalid_argument{"usage: job_runner URL... < JOBS"};
    std::vector<std::string> jobs;
    for (std::string job; std::getline(std::cin, job);) jobs.push_back(job);
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run(asio::detached);
    std::exception_ptr failure;
    asio::co_spawn(io, work(nodes, jobs), [&](std::exception_ptr e) {
        failure = e;
        nodes.cancel();  // the releases still go out
    });
    io.run();
    if (failure) std::rethrow_exception(failure);
} catch (std::exception const& e) {
    std::cerr << "job_runner: " << e.what() << '\n';
    return 1;
}
