// One lock on a primary with two replicas, which three Sentinels watch. The primary is cut off together with a holder, and a replica takes its place.
// The same happens to a lock by SET NX PX on the same servers. `make demo-failover` runs it (about 20 s).
#include "support/resp_client.hpp"
#include "support/watched_group.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using redlock::testing::resp_client;
using redlock::testing::watched_group;
using steady = std::chrono::steady_clock;

namespace {

constexpr auto ttl = 3s;
constexpr auto cut_after = 3s;
constexpr auto second_holds_for = 3s;
constexpr auto max_story = 90s;

steady::time_point const begin = steady::now();

std::string seconds(steady::time_point at)
{
    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << std::setw(5) << std::chrono::duration<double>(at - begin).count() << " s";
    return text.str();
}

void say(std::string const& what)
{
    static std::mutex one_line;
    std::lock_guard const guard{one_line};
    std::cout << seconds(steady::now()) << "  " << what << std::endl;
}

// When somebody believed that it held the lock.
struct stay {
    steady::time_point from{};
    steady::time_point to{};
};

steady::duration overlap(stay const& a, stay const& b)
{
    return std::max<steady::duration>(std::min(a.to, b.to) - std::max(a.from, b.from), 0s);
}

std::string bar(stay const& s, steady::time_point end)
{
    constexpr auto column = 250ms;
    std::string line;
    for (auto t = begin; t < end; t += column) line += s.from < t + column && t < s.to ? '#' : '.';
    return line;
}

// The primary's replicas and Sentinels log in as `default`, which loses all its rights; the two holders log in as `app`.
struct scene {
    scene()
    {
        for (auto& server : group.servers) server.command({"ACL", "SETUSER", "app", "on", ">secret", "~*", "&*", "+@all"});
    }

    void cut_off()
    {
        cut_at = steady::now();
        resp_client as_app{redlock::testing::loopback::ipv4, old_primary, 5s};
        as_app.ask({"AUTH", "app", "secret"});
        as_app.ask({"ACL", "SETUSER", "default", "-@all"});
        as_app.ask({"CLIENT", "KILL", "TYPE", "replica"});
    }

    redlock::config of_one_node(redlock::node_address address) const
    {
        address.username = "app";
        address.password = "secret";
        redlock::config c;
        c.nodes = {std::move(address)};
        c.max_ttl = ttl;
        c.bootstrap = true;  // nothing was ever locked on these servers
        c.log = nullptr;
        return c;
    }

    watched_group group{};
    std::uint16_t const old_primary{group.primary_port()};
    steady::time_point cut_at{};
    std::atomic<bool> over{false};
};

// SET NX PX, and PEXPIRE while the key is there.
class plain_holder {
public:
    plain_holder(std::uint16_t port, std::string value)
        : connection_{redlock::testing::loopback::ipv4, port, max_story}, value_{std::move(value)}
    {
        connection_.ask({"AUTH", "app", "secret"});
    }

    bool acquire()
    {
        held_.from = steady::now();
        if (connection_.ask({"SET", "plain", value_, "NX", "PX", std::to_string(ms(ttl))}).text != "OK") return false;
        held_.to = held_.from + ttl;
        return true;
    }

    void extend_until(std::atomic<bool> const& over, steady::time_point end)
    {
        while (!over && steady::now() < end) {
            std::this_thread::sleep_for(200ms);
            auto const asked = steady::now();
            if (connection_.ask({"PEXPIRE", "plain", std::to_string(ms(ttl))}).text == "1") held_.to = asked + ttl;
        }
        held_.to = std::min(held_.to, steady::now());
    }

    stay const& held() const { return held_; }

private:
    static std::int64_t ms(std::chrono::milliseconds d) { return d.count(); }

    resp_client connection_;
    std::string value_;
    stay held_;
};

void hold_plainly(scene& s, stay& result)
{
    plain_holder first{s.old_primary, "first"};
    if (!first.acquire()) throw std::runtime_error{"the first SET NX PX was refused"};
    say("SET NX PX: the first one holds the lock");
    first.extend_until(s.over, steady::time_point::max());
    result = first.held();
}

void take_plainly(scene& s, stay& result)
{
    auto port = s.old_primary;
    while (!s.over && (port = s.group.primary_port()) == s.old_primary) std::this_thread::sleep_for(100ms);
    if (s.over) return;
    say("the Sentinels have promoted another server");
    plain_holder second{port, "second"};
    while (!s.over && !second.acquire()) std::this_thread::sleep_for(100ms);
    if (s.over) return;
    say("SET NX PX: the second one holds the lock, too");
    second.extend_until(s.over, steady::now() + second_holds_for);
    result = second.held();
}

asio::awaitable<void> hold(redlock::client& nodes, stay& result)
{
    redlock::lock const lock{nodes, "ours", {.ttl = ttl, .node_timeout = 1s}};
    auto body = [&result](redlock::lease& lease) -> asio::awaitable<void> {
        result.from = steady::now();
        say("redlock:   the first one holds the lock, with token " + std::to_string(lease.token()));
        asio::steady_timer work{co_await asio::this_coro::executor};
        try {
            for (;;) {
                work.expires_after(50ms);
                co_await work.async_wait();
            }
        } catch (boost::system::system_error const&) {
            result.to = steady::now();
            say("redlock:   the first one's scope is cancelled, since its lease cannot be extended");
        }
    };
    try {
        co_await redlock::with_lock(lock, body);
    } catch (boost::system::system_error const& error) {
        if (error.code() != redlock::errc::lease_lost) throw;
    }
}

asio::awaitable<void> take(scene& s, redlock::client& nodes, stay& result)
{
    redlock::lock const lock{nodes, "ours", {.ttl = ttl, .node_timeout = 1s, .acquire_timeout = max_story}};
    redlock::lease held = co_await lock.acquire();
    result.from = steady::now();
    say("redlock:   the second one holds the lock, with token " + std::to_string(held.token()));
    asio::steady_timer work{co_await asio::this_coro::executor};
    work.expires_after(second_holds_for);
    co_await work.async_wait();
    result.to = steady::now();
    co_await held.release();
    s.over = true;
}

asio::awaitable<void> play(scene& s, redlock::client& first, redlock::client& second, stay& ours, stay& next)
{
    auto const executor = co_await asio::this_coro::executor;
    asio::co_spawn(executor, hold(first, ours), asio::detached);
    asio::steady_timer until{executor};
    until.expires_after(cut_after);
    co_await until.async_wait();
    say("the primary is cut off from its replicas and from the Sentinels, and still reaches both holders");
    s.cut_off();
    co_await take(s, second, next);
    first.cancel();
    second.cancel();
}

int verdict(std::vector<std::pair<std::string, stay>> const& rows, steady::time_point cut_at)
{
    auto end = begin;
    for (auto const& [name, s] : rows) end = std::max(end, s.to);
    std::cout << "\nA column is a quarter of a second.\n";
    for (auto const& [name, s] : rows) std::cout << std::left << std::setw(20) << name << bar(s, end) << '\n';
    auto const in_ms = [](steady::duration d) { return std::to_string(d / 1ms) + " ms"; };
    auto const plain = overlap(rows[0].second, rows[1].second), ours = overlap(rows[2].second, rows[3].second);
    std::cout << "\nBoth held the lock by SET NX PX for " << in_ms(plain) << ", and the lock by redlock for " << in_ms(ours)
              << ". The second one acquired the latter " << in_ms(rows[3].second.from - cut_at) << " after the cut.\n";
    return ours == 0s && plain > 0s ? 0 : 1;
}

}  // namespace

int main()
try {
    std::cout << "Starting a primary, two replicas and three Sentinels\n";
    scene s;
    stay plain_first, plain_second, first, second;
    asio::io_context io;
    auto alone = redlock::node_address::from_url("redis://127.0.0.1:" + std::to_string(s.old_primary) + "?replicas=1");
    redlock::client cut_off{io.get_executor(), s.of_one_node(std::move(alone))};
    redlock::client following{io.get_executor(), s.of_one_node(redlock::node_address::from_url(s.group.url()))};
    std::thread holder{[&] { hold_plainly(s, plain_first); }};
    std::thread rival{[&] { take_plainly(s, plain_second); }};
    std::exception_ptr failure;
    cut_off.run(asio::detached);
    following.run(asio::detached);
    asio::co_spawn(io, play(s, cut_off, following, first, second), [&](std::exception_ptr e) {
        failure = e;
        s.over = true;
        cut_off.cancel();
        following.cancel();
    });
    io.run();
    s.over = true;
    holder.join();
    rival.join();
    if (failure) std::rethrow_exception(failure);
    return verdict(
        {{"SET NX PX, first", plain_first}, {"SET NX PX, second", plain_second}, {"redlock, first", first}, {"redlock, second", second}},
        s.cut_at);
} catch (std::exception const& e) {
    std::cerr << "demo-failover: " << e.what() << '\n';
    return 1;
}
