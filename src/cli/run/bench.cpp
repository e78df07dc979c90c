// redlock bench: what locks cost on these nodes, from this machine. Each caller acquires and releases a lock of its own, one time after the
// other; nobody waits for anybody.
#include "cli/locks/lock_view_text.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/table.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/ending_signals.hpp"
#include "cli/servers/server_group.hpp"
#include "cli/servers/settings.hpp"

#include "core/random_value.hpp"
#include "protocol/keys.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <string>
#include <tuple>
#include <vector>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;
using steady = std::chrono::steady_clock;

constexpr auto first_patience = 5s;
constexpr std::array percentiles{50.0, 90.0, 99.0, 99.9};

struct figures {
    std::uint32_t callers{0};
    std::vector<std::chrono::nanoseconds> acquired_after;  // sorted in the end
    std::uint64_t failed{0};
    error_code last_error;
    std::chrono::nanoseconds time{};

    double pairs_per_second() const { return static_cast<double>(acquired_after.size()) / std::chrono::duration<double>{time}.count(); }
    std::chrono::nanoseconds percentile(double p) const
    {
        auto const place = static_cast<std::size_t>(p / 100.0 * static_cast<double>(acquired_after.size()));
        return acquired_after[std::min(place, acquired_after.size() - 1)];
    }
};

class bench {
public:
    bench(bench_options const& options, config const& nodes, lock_options const& lock)
        : nodes_{io_.get_executor(), nodes}, lock_{lock}, prefix_{"redlock:bench:" + detail::random_value() + ':'}, time_{options.time}
    {
        add_unless_ignored(signals_, {SIGINT, SIGTERM, SIGHUP});
        signals_.async_wait([this](error_code ec, int number) {
            if (ec) return;
            ended_by_ = number;
            stop_.emit(asio::cancellation_type::terminal);
        });
    }

    // Throws failure when no lock can be acquired at all. A signal ends it when each caller has released what it holds.
    std::vector<figures> run(std::vector<std::uint32_t> const& crowds)
    {
        std::exception_ptr problem;
        nodes_.run(asio::detached);
        asio::co_spawn(io_, measure(crowds), [&](std::exception_ptr e) {
            problem = e;
            signals_.cancel();
            nodes_.cancel();
        });
        io_.run();
        if (problem) std::rethrow_exception(problem);
        return std::move(all_);
    }

    std::string name(std::uint32_t caller) const { return prefix_ + std::to_string(caller); }

    // The signal that has ended it; 0: none.
    int ended_by() const noexcept { return ended_by_; }

private:
    asio::awaitable<void> measure(std::vector<std::uint32_t> crowds)
    {
        co_await first();
        for (std::uint32_t const callers : crowds) {
            if (ended_by_ != 0) co_return;
            figures f;
            f.callers = callers;
            auto const start = steady::now();
            auto const end = start + time_ / static_cast<int>(crowds.size());
            auto const executor = co_await asio::this_coro::executor;
            asio::steady_timer all_done{executor, steady::time_point::max()};
            std::uint32_t busy = callers;
            for (std::uint32_t c = 0; c < callers; ++c) {
                auto done = [&](std::exception_ptr) {
                    if (--busy == 0) all_done.cancel();
                };
                asio::co_spawn(executor, call(name(c), end, f), std::move(done));
            }
            auto wait = all_done.async_wait(asio::as_tuple(asio::use_awaitable));
            co_await std::move(wait);
            f.time = steady::now() - start;
            std::sort(f.acquired_after.begin(), f.acquired_after.end());
            all_.push_back(std::move(f));
        }
    }

    // Connects, and says why if no lock can be had.
    asio::awaitable<void> first()
    {
        auto patient = lock_;
        patient.acquire_timeout = first_patience;
        lock const l{nodes_, name(0), patient};
        auto acquire = l.acquire(asio::bind_cancellation_slot(stop_.slot(), asio::as_tuple(asio::use_awaitable)));
        error_code ec;
        lease held;
        std::tie(ec, held) = co_await std::move(acquire);
        if (ec && ended_by_ != 0) co_return;
        if (ec) {
            std::string text = "no lock could be acquired within " + in_words(first_patience);
            for (node_status const& n : nodes_.status().nodes) {
                std::string const& why = n.state != node_state::usable ? n.last_error_text : n.admission_text;
                if (!why.empty()) text += "\n  " + n.node + ": " + printable(why);
            }
            throw failure{ec == errc::wrong_node_set ? exit_code::config : exit_code::no_majority, text};
        }
        auto release = held.release(asio::as_tuple(asio::use_awaitable));
        co_await std::move(release);
    }

    asio::awaitable<void> call(std::string resource, steady::time_point end, figures& f)
    {
        lock const l{nodes_, std::move(resource), lock_};
        while (steady::now() < end && ended_by_ == 0) {
            auto const start = steady::now();
            auto acquire = l.try_acquire(asio::as_tuple(asio::use_awaitable));
            error_code ec;
            lease held;
            std::tie(ec, held) = co_await std::move(acquire);
            if (ec) {
                ++f.failed;
                f.last_error = ec;
                continue;
            }
            f.acquired_after.push_back(steady::now() - start);
            auto release = held.release(asio::as_tuple(asio::use_awaitable));
            co_await std::move(release);
        }
    }

    asio::io_context io_{1};
    asio::signal_set signals_{io_};
    asio::cancellation_signal stop_;
    int ended_by_{0};
    client nodes_;
    lock_options lock_;
    std::string prefix_;
    milliseconds time_;
    std::vector<figures> all_;
};

// The counters would stay for config::token_retention.
void clean_up(bench_options const& options, config const& nodes, bench const& of)
{
    server_group servers{nodes, options.from.timeout};
    words keys{"DEL"};
    for (std::uint32_t c = 0; c < options.callers; ++c) keys.push_back(servers.key_of(of.name(c)) + std::string{detail::fence_suffix});
    for (answers const& a : servers.ask({keys}))
        if (a.ok() && a.replies[0].is_error())
            throw failure{exit_code::internal, "the keys of the bench could not be deleted: " + a.replies[0].text};
}

ordered_json to_json(figures const& f)
{
    ordered_json j{{"callers", f.callers},
                   {"seconds", std::chrono::duration<double>{f.time}.count()},
                   {"pairs", f.acquired_after.size()},
                   {"failed", f.failed},
                   {"pairs_per_second", f.pairs_per_second()}};
    ordered_json& us = j["acquire_us"] = ordered_json::object();
    if (f.acquired_after.empty()) return j;
    for (double const p : percentiles) {
        auto text = std::to_string(p);
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
        us["p" + text] = f.percentile(p).count() / 1'000;
    }
    us["max"] = f.acquired_after.back().count() / 1'000;
    return j;
}

std::string rows(terminal const& out, std::vector<figures> const& all)
{
    table t{{"callers", "pairs/s", "acquire p50", "p90", "p99", "p99.9", "max", "failed"}};
    for (figures const& f : all) {
        std::vector<table::cell> row{{std::to_string(f.callers)},
                                     {std::to_string(static_cast<std::uint64_t>(f.pairs_per_second())), tone::strong}};
        for (double const p : percentiles) row.push_back({f.acquired_after.empty() ? "-" : in_words(f.percentile(p))});
        row.push_back({f.acquired_after.empty() ? "-" : in_words(f.acquired_after.back())});
        row.push_back({std::to_string(f.failed), f.failed > 0 ? tone::warning : tone::plain});
        t.add(std::move(row));
    }
    return t.text(out, "");
}

}  // namespace

int execute(bench_options const& options)
{
    if (options.time < 100ms || options.time > 1h) throw failure{exit_code::usage, "--time must be between 100 ms and 1 h"};
    auto from = settings_of(options.from);
    if (options.bootstrap) from.client.bootstrap = true;
    if (options.ttl) from.lock.ttl = *options.ttl;
    if (options.no_fencing) from.lock.fencing = false;
    from.lock.max_handoffs = 0;
    from.lock.acquire_timeout.reset();

    std::vector<std::uint32_t> crowds{1};
    if (options.callers > 1) crowds.push_back(options.callers);
    std::vector<figures> all;
    try {
        bench b{options, from.client, from.lock};
        all = b.run(crowds);
        if (from.lock.fencing) clean_up(options, from.client, b);
        if (b.ended_by() != 0) return to_int(exit_code::signal) + b.ended_by();
    } catch (std::invalid_argument const& error) {
        throw failure{exit_code::usage, error.what()};
    }

    terminal const out;
    if (options.json) {
        ordered_json list = ordered_json::array();
        for (figures const& f : all) list.push_back(to_json(f));
        out.write(
            dump({{"nodes", from.client.nodes.size()}, {"fencing", from.lock.fencing}, {"ttl_ms", from.lock.ttl.count()}, {"runs", list}},
                 2));
    } else {
        out.write(count_of(from.client.nodes.size(), "node") + (from.lock.fencing ? ", with fencing" : ", without fencing") +
                  "; each caller acquires and releases a lock of its own\n" + rows(out, all));
        for (figures const& f : all)
            if (f.failed > 0)
                out.write("failed with " + std::to_string(f.callers) + " callers, the last time: " + f.last_error.message() + '\n');
    }
    bool const any = std::any_of(all.begin(), all.end(), [](figures const& f) { return !f.acquired_after.empty(); });
    return to_int(any ? exit_code::success : exit_code::no_majority);
}

}  // namespace redlock::cli
