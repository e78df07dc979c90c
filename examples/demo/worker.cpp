#include "worker.hpp"

#include "node_reporter.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <optional>
#include <random>
#include <string_view>

namespace demo {
namespace {

namespace asio = boost::asio;

redlock::config about(std::vector<std::string> const& node_urls)
{
    auto nodes = redlock::config::from_urls(node_urls);
    nodes.max_ttl = ttl;
    return nodes;
}

class worker_process {
public:
    worker_process(board& shared, std::size_t worker, std::vector<std::string> const& node_urls)
        : board_{shared}, worker_{worker}, reporter_{shared, worker}, nodes_{io_.get_executor(), about(node_urls)}
    {
    }

    void run()
    {
        auto const rethrow = [](std::exception_ptr error) {
            if (error) std::rethrow_exception(error);
        };
        nodes_.run(asio::detached);
        for (std::size_t lock = 0; lock < lock_count; ++lock) {
            for (std::size_t i = 0; i < contenders_per_lock; ++i) {
                auto& self = contenders_.emplace_back();
                asio::co_spawn(io_, contend(lock, self), asio::bind_cancellation_slot(self.give_up.slot(), rethrow));
            }
        }
        asio::co_spawn(io_, keep_books(), rethrow);
        io_.run();
    }

private:
    struct contender {
        asio::cancellation_signal give_up;
        bool waiting{false};
        bool finished{false};
    };

    // Enters the same lock again and again.
    asio::awaitable<void> contend(std::size_t lock, contender& self)
    {
        redlock::lock const resource{nodes_,
                                     lock_names[lock],
                                     {.ttl = ttl, .max_retry_delay = max_retry_delay, .stop_margin = stop_margin}};
        while (board_.now != phase::finish) {
            auto turn = take_turn(resource, lock, self);
            auto const token = co_await std::move(turn);
            if (!token) break;
            auto pause = sleep(between(min_pause, max_pause));
            co_await std::move(pause);
            // A write that was on its way for so long. It must not disturb a later holder of the lock.
            board_.locks[lock].resource.write(*token);
        }
        self.finished = true;
    }

    // The token with which it was inside, or none: nothing but the end of the demo makes it give up.
    asio::awaitable<std::optional<std::uint64_t>> take_turn(redlock::lock const& resource, std::size_t lock, contender& self)
    {
        auto const asked_at = redlock::boot_clock::now();
        std::optional<visit> stay;
        auto work = [&](redlock::lease& lease) -> asio::awaitable<void> {
            self.waiting = false;
            stay.emplace(board_, worker_, lock, lease.token(), asked_at);
            auto section = sleep(section_length(lock));
            co_await std::move(section);
            stay->leave(lease.valid_until());
        };

        redlock::error_code outcome;
        try {
            self.waiting = true;
            auto scope = redlock::with_lock(resource, work);
            co_await std::move(scope);
        } catch (redlock::system_error const& error) {
            outcome = error.code();
        }
        self.waiting = false;

        if (!stay && outcome == asio::error::operation_aborted) co_return std::nullopt;
        if (!stay) throw redlock::system_error{outcome};  // without a deadline an acquisition does not fail
        if (outcome == redlock::condition::lost) stay->was_cancelled();
        else stay->was_released(!outcome);
        co_return stay->token();
    }

    // The work. A cancellation ends it early, without an exception, so that what follows is done in any case.
    asio::awaitable<void> sleep(std::chrono::milliseconds length)
    {
        asio::steady_timer timer{io_, length};
        auto waiting = timer.async_wait(asio::as_tuple(asio::use_awaitable));
        co_await std::move(waiting);
    }

    std::chrono::milliseconds section_length(std::size_t lock)
    {
        switch (board_.now.load()) {
        case phase::contend: return between(min_work, max_work);
        case phase::hold_long: board_.locks[lock].long_sections.fetch_add(1); return long_work;
        case phase::finish: break;
        }
        return 0ms;
    }

    // Writes the client's status on the board; in the end sends those home who still wait, and ends the client.
    asio::awaitable<void> keep_books()
    {
        while (!std::all_of(contenders_.begin(), contenders_.end(), [](contender const& one) { return one.finished; })) {
            auto pause = sleep(20ms);
            co_await std::move(pause);
            auto const status = nodes_.status();
            reporter_.report(status.nodes);
            board_.workers[worker_].extensions = status.counters.extensions_renewed + status.counters.extensions_held;
            if (board_.now != phase::finish) continue;
            for (auto& one : contenders_) {
                if (one.waiting) one.give_up.emit(asio::cancellation_type::terminal);
            }
        }
        auto draining = nodes_.drain(asio::as_tuple(asio::use_awaitable));  // what they were granted too late
        co_await std::move(draining);
        nodes_.cancel();
    }

    std::chrono::milliseconds between(std::chrono::milliseconds low, std::chrono::milliseconds high)
    {
        std::uniform_int_distribution<std::int64_t> pick{low.count(), high.count()};
        return std::chrono::milliseconds{pick(random_)};
    }

    board& board_;
    std::size_t worker_;
    node_reporter reporter_;
    std::deque<contender> contenders_;
    std::minstd_rand random_{std::random_device{}()};
    asio::io_context io_{1};
    redlock::client nodes_;
};

}  // namespace

int run_worker(board& shared, std::size_t worker, std::vector<std::string> const& node_urls) noexcept
{
    try {
        worker_process process{shared, worker, node_urls};
        process.run();
        return EXIT_SUCCESS;
    } catch (std::exception const& error) {
        auto& words = shared.workers[worker].last_words;
        std::string_view const what = error.what();
        std::copy_n(what.begin(), std::min(what.size(), words.size() - 1), words.begin());
        return EXIT_FAILURE;
    }
}

}  // namespace demo
