// redlock leader: prints who leads, as redlock lead or redlock::election have published it; with --watch again with each change.
#include "cli/options/commands.hpp"
#include "cli/output/event_stream.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/notes.hpp"
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
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include <unistd.h>

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

// While nobody reads, signals do not wait.
class lasting_output {
public:
    explicit lasting_output(asio::io_context& io)
    {
        if (auto const why = problem_of_descriptor(STDOUT_FILENO); !why.empty()) fail(why);
        to_.emplace(io.get_executor(), STDOUT_FILENO, [](std::uint64_t) { return std::string{}; }, fail);
    }

    void write(std::string_view text) { to_->write(text); }
    void stop_waiting() { to_->stop_waiting(); }
    bool is_read() { return to_->drain(std::chrono::seconds{0}); }

private:
    static void fail(std::string const& why) { throw failure{exit_code::internal, cannot_write + why}; }

    std::optional<event_stream> to_;
};

// Runs a coroutine until it ends, or a signal ends it. Returns the signal, or 0.
int run(asio::io_context& io, client& nodes, asio::awaitable<void> what, std::optional<lasting_output>& output)
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
        if (output) output->stop_waiting();
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
        std::optional<lasting_output> lasting;
        if (options.watch) lasting.emplace(io);
        bool leads = false;
        auto show = [&](leader_info const& leader) {
            leads = leader.leads;
            auto const text = options.json    ? json_of(options.name, leader)
                              : options.watch ? line_of(leader)
                                              : printable(leader.address) + '\n';
            if (lasting) lasting->write(text);
            else if (leads || options.json) out.write(text);
        };
        auto once = [&]() -> asio::awaitable<void> {
            auto looking = race.leader();
            show(co_await std::move(looking));
        };
        int const by = run(io, nodes, options.watch ? race.observe(show) : once(), lasting);
        if (by != 0 && (!lasting || !lasting->is_read())) return to_int(ended_by(by));
        if (!options.watch && !leads && !options.json) say_on_stderr("nobody leads " + name_in_words(options.name));
        return to_int(options.watch || leads ? exit_code::success : exit_code::warnings);
    } catch (std::invalid_argument const& error) {
        throw failure{exit_code::usage, in_terms_of_options(error.what(), options.from)};
    } catch (system_error const& error) {
        throw failure{exit_code::no_majority,
                      "it cannot be known who leads " + name_in_words(options.name) + ": " + error.code().message()};
    }
}

}  // namespace redlock::cli
