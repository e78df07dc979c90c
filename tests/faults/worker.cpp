#include "worker.hpp"

#include "diary.hpp"
#include "register.hpp"
#include "timing.hpp"

#include <redlock/detail/access.hpp>
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
constexpr std::size_t shelves = 2;  // that many read; with tokens
constexpr std::size_t halls = 2;    // that so many are in; with tokens
constexpr std::uint32_t permits_of_a_hall = 3;
constexpr auto sample_interval = 100ms;
constexpr auto look_interval = 15ms;  // whether a node may vote or not: written down when it changes
constexpr auto step = 50ms;         // between two increments of a long section

enum class manner : std::uint8_t { scope, by_hand };
enum class place : std::uint8_t { ledger, page, shelf, hall };

struct habit {
    manner how;
    place where;
    std::size_t names{1};    // of a hall: permits
    bool reads{false};       // of a shelf
    bool is_a_lock{false};   // of a shelf: a writer that knows nothing of readers; of a hall: of one slot

    bool fenced() const { return where != place::page; }
};

constexpr habit habits[] = {
    {manner::scope, place::ledger},
    {manner::scope, place::ledger},
    {manner::scope, place::ledger, 2},
    {manner::by_hand, place::ledger},
    {manner::by_hand, place::ledger},
    {manner::scope, place::page},
    {manner::scope, place::page, 2},
    {manner::by_hand, place::page},
    {manner::scope, place::shelf, 1, true},
    {manner::by_hand, place::shelf, 1, true},
    {manner::scope, place::shelf},
    {manner::by_hand, place::shelf},
    {manner::scope, place::shelf, 1, false, true},
    {manner::scope, place::hall},
    {manner::scope, place::hall},
    {manner::by_hand, place::hall},
    {manner::by_hand, place::hall, 2},
    {manner::by_hand, place::hall, 1, false, true},
};

tempo const& tempo_of(work_kind kind)
{
    return kind == work_kind::servers ? on_servers : kind == work_kind::group ? in_a_group : held_long_in_a_group;
}

redlock::config configuration(worker_options const& options)
{
    auto nodes = redlock::config::from_urls(options.nodes);
    nodes.client_name = options.name;
    nodes.connect_timeout = 500ms;
    nodes.min_reconnect_delay = 20ms;
    nodes.max_reconnect_delay = 200ms;
    nodes.stall_timeout = 800ms;
    nodes.max_ttl = tempo_of(options.kind).max_ttl;
    nodes.replication_timeout = tempo_of(options.kind).node_timeout;
    nodes.bootstrap = options.bootstrap;
    return nodes;
}

class worker_process {
public:
    explicit worker_process(worker_options const& options)
        : where_{asio::ip::make_address(options.register_host), options.register_port},
          random_{options.seed},
          kind_{options.kind},
          tempo_{tempo_of(options.kind)},
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
            if (kind_ != work_kind::servers && (h.where == place::shelf || h.fenced() != (kind_ == work_kind::group))) continue;
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
            redlock::lock const resource = pick(h);
            last_write last;
            auto turn = h.how == manner::scope ? in_scope(resource, data, last) : by_hand(resource, data, last);
            co_await std::move(turn);
            auto pause = sleep(between(1ms, 30ms));
            co_await std::move(pause);
            if (last.value != 0 && random_.percent(5)) {
                auto late = write_late(data, last);
                co_await std::move(late);
            }
        }
        --users_;
    }

    redlock::lock pick(habit const& h)
    {
        redlock::lock_options options{.ttl = tempo_.ttl, .fencing = h.fenced(), .node_timeout = tempo_.node_timeout};
        options.acquire_timeout = tempo_.acquire_timeout;
        auto const names = pick_names(h);
        if (h.is_a_lock || h.where == place::ledger || h.where == place::page) return {nodes_, names, options};
        if (h.where == place::hall) {
            redlock::semaphore const hall{nodes_, names.front(), {.permits = permits_of_a_hall, .lock = options}};
            return redlock::detail::access::permits_of(hall, static_cast<std::uint32_t>(h.names));
        }
        redlock::rw_lock const shelf{nodes_, names.front(), options};
        return h.reads ? redlock::detail::access::reader_of(shelf) : redlock::detail::access::writer_of(shelf);
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
            stay inside{book_, {resource, held, asked, false, permits_of(held)}};
            auto work = section(resource, held, inside, data, last);
            co_await std::move(work);
        };
        redlock::error_code outcome;
        try {
            auto scope = redlock::with_lock(resource, body);  // reads, where the lock is a reader's
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
            stay inside{book_, {resource, held, asked, false, permits_of(held)}};
            try {
                auto work = section(resource, held, inside, data, last);
                co_await std::move(work);
            } catch (redlock::system_error const& error) {
                book_.failed("register: " + error.code().message());
            }
        }
        if (is_of_a_shelf(resource) && held.mode() == redlock::lock_mode::exclusive && random_.percent(50)) {
            auto reading = go_on_reading(resource, held, data, last, asked);
            co_await std::move(reading);
        }
        auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
        co_await std::move(releasing);  // unconfirmed: the keys expire; lost: there is nothing to release
    }

    static std::uint32_t permits_of(redlock::lease const& held)
    {
        return held.mode() == redlock::lock_mode::permit ? permits_of_a_hall : 0;
    }

    static bool is_of_a_shelf(redlock::lock const& resource) { return resource.name().starts_with("shelf:"); }

    // From the call of downgrade() on, whatever comes of it, it counts as a reader.
    asio::awaitable<void> go_on_reading(redlock::lock const& resource, redlock::lease& held, register_client& data, last_write& last,
                                        moment asked)
    {
        stay inside{book_, {resource, held, asked, true}};
        auto downgrading = held.downgrade(asio::as_tuple(asio::use_awaitable));
        auto const [ec] = co_await std::move(downgrading);
        if (ec) book_.failed("downgrade: " + ec.message());
        if (held.mode() != redlock::lock_mode::shared) co_return;
        try {
            auto work = section(resource, held, inside, data, last);
            co_await std::move(work);
        } catch (redlock::system_error const& error) {
            book_.failed("register: " + error.code().message());
        }
    }

    // The critical section: increments, or looks, until its time is over or the lease is.
    asio::awaitable<void> section(redlock::lock const& resource, redlock::lease& held, stay& inside, register_client& data,
                                  last_write& last)
    {
        auto const end = boot_clock::now() + section_length();
        auto const names = names_held(resource, held);
        do {
            for (auto const& name : names) {
                if (!resource.options().fencing) break;
                auto use = held.mode() == redlock::lock_mode::shared ? look(name, held, data) : increment(name, held, data, last);
                co_await std::move(use);
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

    asio::awaitable<void> look(std::string const& name, redlock::lease& held, register_client& data)
    {
        auto looking = data.look(name, held.token(), book_.worker());
        co_await std::move(looking);
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

    static std::pair<std::string, std::size_t> names_at(place where)
    {
        switch (where) {
        case place::ledger: return {"ledger:", ledgers};
        case place::page: return {"page:", pages};
        case place::shelf: return {"shelf:", shelves};
        case place::hall: break;
        }
        return {"hall:", halls};
    }

    std::vector<std::string> pick_names(habit const& h)
    {
        auto const [prefix, count] = names_at(h.where);
        auto const first = random_.below(count);
        std::vector<std::string> names{prefix + std::to_string(first)};
        if (h.where == place::hall) {
            if (h.is_a_lock) names.front() += "#" + std::to_string(random_.below(permits_of_a_hall));
            return names;
        }
        if (h.names == 2) names.push_back(prefix + std::to_string((first + 1 + random_.below(count - 1)) % count));
        return names;
    }

    milliseconds section_length()
    {
        if (random_.percent(tempo_.long_sections_percent)) return between(tempo_.min_long_section, tempo_.max_long_section);
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
    work_kind kind_;
    tempo tempo_;
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
