// How long it takes from a release (or the end of a dead holder's ttl) to the acquisition by a waiter of another client.
#include "measurements.hpp"
#include "fleet.hpp"
#include "loop.hpp"
#include "report.hpp"

#include "../../tests/interop/node_redlock.hpp"
#include "support/peer_process.hpp"
#include "support/resp_client.hpp"
#include "support/tcp_proxy.hpp"
#include "support/temporary_folder.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <memory>
#include <random>

namespace bench {
namespace {

using redlock::testing::peer_process;
using namespace asio::experimental::awaitable_operators;

constexpr char const* handed_over = "handed-over";

struct remote_choices : choices {
    std::size_t rounds{200};
    std::chrono::milliseconds::rep hold_ms{200};
    std::chrono::milliseconds::rep ttl_ms{500};
    double rtt_ms{0};
    std::vector<std::string> holders{"same_process", "other_process", "node_redlock", "expiry"};
};

// Somebody who has the lock, and gives it back.
class holder {
public:
    virtual ~holder() = default;
    virtual asio::awaitable<void> acquire(std::int64_t ttl_ms) = 0;
    /// Returns the moment before it began.
    virtual asio::awaitable<steady::time_point> release() = 0;
};

class client_holder final : public holder {
public:
    client_holder(asio::any_io_executor executor, ports const& at, redlock::lock_options const& options)
        : nodes_{std::move(executor), bootstrap_config(at)}, options_{options}
    {
        nodes_.run(asio::detached);
    }

    asio::awaitable<void> acquire(std::int64_t) override
    {
        auto acquisition = redlock::lock{nodes_, handed_over, options_}.acquire(asio::use_awaitable);
        held_ = co_await std::move(acquisition);
    }

    asio::awaitable<steady::time_point> release() override
    {
        auto const before = steady::now();
        auto release = held_.release(asio::use_awaitable);
        co_await std::move(release);
        co_return before;
    }

private:
    redlock::client nodes_;
    redlock::lock_options options_;
    redlock::lease held_;
};

class peer_holder final : public holder {
public:
    explicit peer_holder(std::unique_ptr<peer_process> peer) : peer_{std::move(peer)} {}

    asio::awaitable<void> ready() { return expect(peer_->hear(), "ready"); }
    void kill() { peer_->kill(); }

    asio::awaitable<void> acquire(std::int64_t ttl_ms) override
    {
        return expect(peer_->ask("acquire " + std::string{handed_over} + " " + std::to_string(ttl_ms)), "held");
    }

    asio::awaitable<steady::time_point> release() override
    {
        auto asking = peer_->ask("release");
        auto const said = co_await std::move(asking);
        if (said.word != "released") throw std::runtime_error{"the holder's lock was " + said.word};
        co_return said.at;
    }

private:
    static asio::awaitable<void> expect(asio::awaitable<peer_process::answer> hearing, std::string word)
    {
        auto const said = co_await std::move(hearing);
        if (said.word != word) throw std::runtime_error{"the holder said " + said.word + " instead of " + word};
    }

    std::unique_ptr<peer_process> peer_;
};

class rounds {
public:
    explicit rounds(remote_choices const& chosen)
        : chosen_{chosen},
          servers_{chosen.nodes},
          proxy_{servers_.ports()},
          at_{chosen.rtt_ms > 0 ? proxy_.ports() : servers_.ports()},
          nodes_{io_.get_executor(), bootstrap_config(at_)}
    {
        std::chrono::nanoseconds const each_way{static_cast<std::int64_t>(chosen.rtt_ms * 0.5e6)};
        proxy_.set_all({.to_server = {.delay = each_way}, .to_client = {.delay = each_way}});
        nodes_.run(asio::detached);
    }

    json run()
    {
        json figures;
        auto all = measure_all(figures);
        asio::co_spawn(io_, std::move(all), [&](std::exception_ptr e) {
            if (e) std::rethrow_exception(e);
            io_.stop();
        });
        io_.run();
        return figures;
    }

private:
    // Of a PING on a connection of its own, in ms.
    json round_trips() const
    {
        constexpr int pings = 300;
        std::vector<double> times;
        for (auto const port : at_) {
            redlock::testing::resp_client server{redlock::testing::loopback::ipv4, port, 60s};
            for (int i = 0; i < pings; ++i) {
                auto const began = steady::now();
                server.ask({"PING"});
                times.push_back(milliseconds(steady::now() - began));
            }
        }
        return distribution(std::move(times));
    }

    static double milliseconds(steady::duration d) { return std::chrono::duration<double, std::milli>{d}.count(); }

    // Long enough for a waiter to be asleep, and never in step with it.
    asio::awaitable<void> hold()
    {
        std::uniform_real_distribution<double> around{0.5, 1.5};
        auto const us = around(random_) * 1e3 * static_cast<double>(chosen_.hold_ms);
        return pause(std::chrono::microseconds{static_cast<std::int64_t>(us)});
    }

    asio::awaitable<steady::time_point> wait_for_lock()
    {
        auto acquisition = redlock::lock{nodes_, handed_over, chosen_.lock()}.acquire(asio::use_awaitable);
        redlock::lease held = co_await std::move(acquisition);
        auto const acquired_at = steady::now();
        auto release = held.release(asio::use_awaitable);
        co_await std::move(release);
        auto draining = nodes_.drain(asio::use_awaitable);
        co_await std::move(draining);
        co_return acquired_at;
    }

    asio::awaitable<steady::time_point> hold_and_release(holder& who)
    {
        auto holding = hold();
        co_await std::move(holding);
        auto release = who.release();
        auto const released_at = co_await std::move(release);
        co_return released_at;
    }

    // When a majority of the servers no longer have the key: they forget it in the millisecond after this one.
    steady::time_point free_at() const
    {
        auto const offset = std::chrono::system_clock::now().time_since_epoch() - steady::now().time_since_epoch();
        std::vector<std::int64_t> ends;
        for (std::size_t i = 0; i < servers_.size(); ++i) ends.push_back(std::stoll(servers_[i].command({"PEXPIRETIME", handed_over})));
        std::ranges::sort(ends);
        return steady::time_point{std::chrono::milliseconds{ends[ends.size() / 2]} - offset};
    }

    asio::awaitable<steady::time_point> hold_and_die(peer_holder& who)
    {
        auto waiting = pause(20ms);  // the waiter has been refused, and sleeps
        co_await std::move(waiting);
        who.kill();
        co_return free_at();
    }

    std::unique_ptr<peer_holder> start_peer(bool node)
    {
        auto const log = folder_.path() / "errors";
        if (node) return std::make_unique<peer_holder>(redlock::testing::start_node_redlock(io_.get_executor(), at_, log));
        std::vector<std::string> arguments{"holder"};
        if (chosen_.plain) arguments.push_back("--plain");
        for (auto const port : at_) arguments.push_back(std::to_string(port));
        return std::make_unique<peer_holder>(std::make_unique<peer_process>(io_.get_executor(), "/proc/self/exe", arguments, log));
    }

    asio::awaitable<double> round(holder& who)
    {
        auto acquiring = who.acquire(10'000);
        co_await std::move(acquiring);
        auto both = hold_and_release(who) && wait_for_lock();
        auto const [released_at, acquired_at] = co_await std::move(both);
        co_return milliseconds(acquired_at - released_at);
    }

    asio::awaitable<double> round_with_death()
    {
        auto const who = start_peer(false);
        auto starting = who->ready();
        co_await std::move(starting);
        auto acquiring = who->acquire(chosen_.ttl_ms);
        co_await std::move(acquiring);
        auto both = hold_and_die(*who) && wait_for_lock();
        auto const [released_at, acquired_at] = co_await std::move(both);
        co_return milliseconds(acquired_at - released_at);
    }

    asio::awaitable<json> measure(std::string how)
    {
        std::unique_ptr<holder> who;
        if (how == "same_process") {
            who = std::make_unique<client_holder>(io_.get_executor(), at_, chosen_.lock());
        } else if (how != "expiry") {
            auto peer = start_peer(how == "node_redlock");
            auto starting = peer->ready();
            co_await std::move(starting);
            who = std::move(peer);
        }
        std::vector<double> times;
        while (times.size() < chosen_.rounds) {
            auto one = who ? round(*who) : round_with_death();
            times.push_back(co_await std::move(one));
        }
        json figures{{"holder", how}, {"ms", distribution(times)}};
        co_return figures;
    }

    asio::awaitable<void> measure_all(json& figures)
    {
        auto connecting = wait_until_usable(nodes_);
        co_await std::move(connecting);
        auto admission = redlock::lock{nodes_, "first", chosen_.lock()}.acquire(asio::use_awaitable);
        redlock::lease first = co_await std::move(admission);
        auto release = first.release(asio::use_awaitable);
        co_await std::move(release);
        auto const trips = round_trips();
        auto const rtt = trips["p50"].get<double>();
        figures = {{"fencing", !chosen_.plain},
                   {"hold_ms", chosen_.hold_ms},
                   {"ttl_of_the_dead_ms", chosen_.ttl_ms},
                   {"added_rtt_ms", chosen_.rtt_ms},
                   {"rtt_ms", trips},
                   {"from", json::array()}};
        for (auto const& how : chosen_.holders) {
            auto measuring = measure(how);
            json one = co_await std::move(measuring);
            for (char const* p : {"p50", "p90", "p99"}) one["rtts"][p] = one["ms"][p].get<double>() / rtt;
            one["goal_p50_ms"] = 2 * rtt + 1;
            figures["from"].push_back(std::move(one));
        }
    }

    remote_choices const& chosen_;
    redlock::testing::temporary_folder folder_;
    fleet servers_;
    redlock::testing::tcp_proxy proxy_;
    ports at_;
    asio::io_context io_{1};
    redlock::client nodes_;
    std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

void add_remote(CLI::App& app)
{
    auto const chosen = std::make_shared<remote_choices>();
    auto& command = *app.add_subcommand("remote", "From a release to the acquisition by another client");
    chosen->add_to(command);
    command.add_option("--rounds", chosen->rounds, "How many, of each kind")->capture_default_str();
    command.add_option("--hold-ms", chosen->hold_ms, "How long a holder keeps the lock, half of it up or down")->capture_default_str();
    command.add_option("--ttl-ms", chosen->ttl_ms, "The ttl of holders that die")->capture_default_str();
    command.add_option("--rtt-ms", chosen->rtt_ms, "What is added to each round trip")->capture_default_str();
    command.add_option("--holders", chosen->holders, "Who holds it")
        ->capture_default_str()
        ->check(CLI::IsMember({"same_process", "other_process", "node_redlock", "expiry"}));
    command.callback([chosen] { report(*chosen, "remote", rounds{*chosen}.run()); });
}

}  // namespace bench
