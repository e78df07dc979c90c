// redlock leader: prints who leads, as redlock lead or redlock::election have published it; with --watch again with each change.
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/ending_signals.hpp"
#include "cli/servers/settings.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <string>

namespace redlock::cli {

namespace {

using nlohmann::ordered_json;

election_options options_of(leader_options const& options, config const& nodes)
{
    election_options o;
    o.lock.ttl = std::min<milliseconds>(milliseconds{30'000}, nodes.max_ttl);
    o.lock.node_timeout = std::min(options.from.timeout, o.lock.ttl);
    return o;
}

std::string json_of(std::string const& name, leader_info const& leader)
{
    ordered_json j{{"name", name}, {"leads", leader.leads}};
    if (leader) {
        j["address"] = leader.address;
        j["token"] = leader.token;
        if (!leader.host.empty()) j["host"] = leader.host, j["pid"] = leader.pid;
        if (!leader.label.empty()) j["label"] = leader.label;
        if (leader.since) j["since"] = std::chrono::duration_cast<std::chrono::seconds>(leader.since->time_since_epoch()).count();
    }
    return dump(j, -1);
}

std::string line_of(leader_info const& leader)
{
    auto const now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::string text = local_time(static_cast<std::uint64_t>(now)) + ' ';
    if (!leader) return text + "nobody leads\n";
    text += printable(leader.address) + " leads, token " + std::to_string(leader.token);
    if (!leader.host.empty()) text += ", " + leader.host + ' ' + std::to_string(leader.pid);
    return text + (leader.label.empty() ? "" : ' ' + leader.label) + '\n';
}

// Runs a coroutine until it ends, or a signal ends it. Returns the signal, or 0.
int run(asio::io_context& io, client& nodes, asio::awaitable<void> what)
{
    int by = 0;
    std::exception_ptr failed;
    asio::cancellation_signal stop;
    asio::signal_set signals{io};
    add_unless_ignored(signals, {SIGINT, SIGTERM, SIGHUP});
    signals.async_wait([&](error_code ec, int number) {
        if (ec) return;
        by = number;
        stop.emit(asio::cancellation_type::terminal);
    });
    auto ended = [&](std::exception_ptr e) {
        failed = e;
        signals.cancel();
        nodes.cancel();
    };
    asio::co_spawn(io, std::move(what), asio::bind_cancellation_slot(stop.slot(), ended));
    io.run();
    if (failed && by == 0) std::rethrow_exception(failed);
    return by;
}

}  // namespace

int execute(leader_options const& options)
{
    check_name(options.name);
    ::signal(SIGPIPE, SIG_IGN);
    try {
        auto const from = settings_of(options.from, {options.name});
        asio::io_context io{1};
        client nodes{io.get_executor(), from.client};
        nodes.run(asio::detached);
        election const race{nodes, options.name, {}, options_of(options, from.client)};
        terminal const out;
        bool leads = false;
        auto show = [&](leader_info const& leader) {
            leads = leader.leads;
            if (options.json) out.write(json_of(options.name, leader));
            else if (options.watch) out.write(line_of(leader));
            else if (leads) out.write(printable(leader.address) + '\n');
        };
        auto once = [&]() -> asio::awaitable<void> {
            auto looking = race.leader();
            show(co_await std::move(looking));
        };
        int const by = run(io, nodes, options.watch ? race.observe(show) : once());
        if (by != 0 && !options.watch) return to_int(exit_code::signal) + by;
        if (!options.watch && !leads && !options.json)
            std::fprintf(stderr, "redlock: nobody leads %s\n", name_in_words(options.name).c_str());
        return to_int(options.watch || leads ? exit_code::success : exit_code::warnings);
    } catch (std::invalid_argument const& error) {
        throw failure{exit_code::usage, in_terms_of_options(error.what(), options.from)};
    } catch (system_error const& error) {
        throw failure{exit_code::no_majority,
                      "it cannot be known who leads " + name_in_words(options.name) + ": " + error.code().message()};
    }
}

}  // namespace redlock::cli
