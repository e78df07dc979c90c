#include "worker.hpp"

#include "diary.hpp"
#include "register.hpp"
#include "timing.hpp"

#include <redlock/redlock.hpp>

#include "simulation/random.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;
using asio::ip::tcp;

constexpr std::size_t ledgers = 5;  // fenced, and written to
constexpr std::size_t pages = 3;    // without tokens
constexpr auto sample_interval = 100ms;
constexpr auto look_interval = 15ms;  // whether a node may vote or not: written down when it changes
constexpr auto acquire_deadline = 2s;
constexpr auto step = 50ms;         // between two increments of a long section

enum class manner : std::uint8_t { scope, by_hand };

struct habit {
    manner how;
    bool fenced;
    std::size_t names;
};

constexpr habit habits[] = {
    {manner::scope, true, 1},   {manner::scope, true, 1},  {manner::scope, true, 2},  {manner::by_hand, true, 1},
    {manner::by_hand, true, 1}, {manner::scope, false, 1}, {manner::scope, false, 2}, {manner::by_hand, false, 1},
};

redlock::config configuration(worker_options const& options)
{
    auto nodes = redlock::config::from_urls(options.nodes);
    nodes.client_name = options.name;
    nodes.connect_timeout = 500ms;
    nodes.min_reconnect_delay = 20ms;
    nodes.max_reconnect_delay = 200ms;
    nodes.stall_timeout = 800ms;
    nodes.max_ttl = max_ttl;
    nodes.bootstrap = options.bootstrap;
    return nodes;
}

class worker_process {
public:
    explicit worker_process(worker_options const& options)
        : where_{asio::ip::make_address(options.register_host), options.register_port},
          random_{options.seed},
          book_{options.name, options.log},
          nodes_{io_.get_executor(), configuration(options)}
    {
    }

    void run()
    {
        auto const rethrow = [](std::exception_ptr error) {
            if (error) std::rethrow_exception(error);
        };
        signals_.async_wait([this](auto const&, int) { stopping_ = true; });
        nodes_.run(asio::detached);
        for (auto const& h : habits) {
            ++users_;
            asio::co_spawn(io_, work(h), rethrow);
        }
        asio::co_spawn(io_, keep_books(), rethrow);
        io_.run();
        book_.end(nodes_.status().counters);
    }

private:
    // Locks, and works, again and again.
    asio::awaitable<void> work(habit h)
    {
        register_client data{io_.get_executor(), where_};
        while (!stopping_) {
            redlock::lock_options options{.ttl = ttl, .fencing = h.fenced, .node_timeout = node_timeout};
            options.acquire_timeout = acquire_deadline;
            redlock::lock const resource{nodes_, pick_names(h), options};
            last_write last;
            auto turn = h.how == manner::scope ? in_scope(resource, data, last) : by_hand(resource, data, last);
            co_await std::move(turn);
            auto pause = sleep(between(1ms, 30ms));
            co_await std::move(pause);
            if (h.fenced && last.value != 0 && random_.percent(5)) {
                auto late = write_late(data, last);
                co_await std::move(late);
            }
        }
        --users_;
    }

    struct last_write {
        std::string name;
        std::uint64_t token{0};
        std::uint64_t value{0};
    };

    asio::awaitable<void> in_scope(redlock::lock const& resource, register_client& data, last_write& last)
    {
        auto const asked = boot_clock::now();
        bool entered = false;
        auto body = [&](redlock::lease& held) -> asio::awaitable<void> {
            entered = true;
            stay inside{book_, resource, held, asked};
            auto work = section(resource, held, inside, data, last);
            co_await std::move(work);
        };
        redlock::error_code outcome;
        try {
            auto scope = redlock::with_lock(resource, body);
            co_await std::move(scope);
        } catch (redlock::system_error const& error) {
            outcome = error.code();
        }
        if (outcome && (!entered || outcome != redlock::condition::lost)) book_.failed(outcome.message());
    }

    asio::awaitable<void> by_hand(redlock::lock const& resource, register_client& data, last_write& last)
    {
        auto const asked = boot_clock::now();
        auto acquiring = resource.acquire(asio::as_tuple(asio::use_awaitable));
        auto [ec, held] = co_await std::move(acquiring);
        if (ec) {
            book_.failed(ec.message());
            co_return;
        }
        {
            stay inside{book_, resource, held, asked};
            try {
                auto work = section(resource, held, inside, data, last);
                co_await std::move(work);
            } catch (redlock::system_error const& error) {
                book_.failed("register: " + error.code().message());
            }
        }
        auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
        co_await std::move(releasing);  // unconfirmed: the keys expire; lost: there is nothing to release
    }

    // The critical section: increments, until its time is over or the lease is.
    asio::awaitable<void> section(redlock::lock const& resource, redlock::lease& held, stay& inside, register_client& data,
                                  last_write& last)
    {
        auto const end = boot_clock::now() + section_length();
        auto const names = resource.names();
        do {
            for (auto const& name : names) {
                if (!resource.options().fencing) break;
                auto incrementing = increment(name, held, data, last);
                co_await std::move(incrementing);
            }
            inside.still();
            auto const left = std::chrono::ceil<milliseconds>(end - boot_clock::now());
            auto pause = sleep(std::clamp<milliseconds>(left, 0ms, step));
            co_await std::move(pause);
        } while (held.valid() && !stopping_ && boot_clock::now() < end);
    }

    asio::awaitable<void> increment(std::string const& name, redlock::lease& held, register_client& data, last_write& last)
    {
        auto reading = data.read(name, held.token());
        auto const before = co_await std::move(reading);
        if (before.answer != register_answer::ok || !held.valid()) co_return;
        auto const value = before.value + 1;
        auto writing = data.write(name, held.token(), value, book_.worker());
        auto const answer = co_await std::move(writing);
        if (answer != register_answer::ok) co_return;
        book_.acknowledged(name, held.token(), value);
        last = {name, held.token(), value};
    }

    // What fencing is for: somebody who does not know that his lease is over.
    asio::awaitable<void> write_late(register_client& data, last_write const& last)
    {
        try {
            auto writing = data.write(last.name, last.token, last.value + 1, book_.worker());
            auto const answer = co_await std::move(writing);
            if (answer == register_answer::ok) book_.acknowledged(last.name, last.token, last.value + 1);
        } catch (redlock::system_error const& error) {
            book_.failed("register: " + error.code().message());
        }
    }

    // In the end, gives everything back and stops the client.
    asio::awaitable<void> keep_books()
    {
        std::vector<redlock::admission_state> last;
        auto due = boot_clock::now();
        while (!stopping_ || users_ > 0) {
            auto const status = nodes_.status();
            std::vector<redlock::admission_state> now;
            for (auto const& node : status.nodes) now.push_back(node.admission);
            if (now != last || boot_clock::now() >= due) {
                book_.sample(status);
                last = std::move(now);
                due = boot_clock::now() + sample_interval;
            }
            auto pause = sleep(look_interval);
            co_await std::move(pause);
        }
        auto draining = nodes_.drain(asio::as_tuple(asio::use_awaitable));
        co_await std::move(draining);
        book_.sample(nodes_.status());
        nodes_.cancel();
        signals_.cancel();
    }

    std::vector<std::string> pick_names(habit const& h)
    {
        auto const count = h.fenced ? ledgers : pages;
        std::string const prefix = h.fenced ? "ledger:" : "page:";
        auto const first = random_.below(count);
        std::vector<std::string> names{prefix + std::to_string(first)};
        if (h.names == 2) names.push_back(prefix + std::to_string((first + 1 + random_.below(count - 1)) % count));
        return names;
    }

    milliseconds section_length()
    {
        if (random_.percent(2)) return between(600ms, 1500ms);  // it has to be extended
        if (random_.percent(8)) return between(50ms, 200ms);
        return between(0ms, 20ms);
    }

    asio::awaitable<void> sleep(milliseconds length)
    {
        asio::steady_timer timer{io_, length};
        auto waiting = timer.async_wait(asio::use_awaitable);
        co_await std::move(waiting);
    }

    milliseconds between(milliseconds low, milliseconds high) { return milliseconds{random_.between(low.count(), high.count())}; }

    tcp::endpoint where_;
    simulation::random random_;
    diary book_;
    asio::io_context io_{1};
    asio::signal_set signals_{io_, SIGTERM};
    redlock::client nodes_;
    std::size_t users_{0};
    bool stopping_{false};
};

}  // namespace

int run_worker(worker_options const& options)
{
    worker_process process{options};
    process.run();
    return EXIT_SUCCESS;
}

}  // namespace redlock::faults
