#include "cli/run/tickets.hpp"

#include "cli/locks/waiting.hpp"
#include "cli/nodes/vote_wait.hpp"
#include "cli/output/notes.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/text.hpp"
#include "cli/run/reminder.hpp"
#include "cli/run/split_votes.hpp"
#include "cli/servers/ending_signals.hpp"
#include "cli/servers/glance.hpp"
#include "cli/servers/settings.hpp"
#include "protocol/key_format.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>
#include <random>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <unistd.h>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_ticket_line = 65'536;
constexpr auto drain_timeout = 2s;
constexpr auto rest_timeout = 200ms;  // for the nodes that are not needed for a majority

// `token`: 0 without fencing.
std::string json_of_ticket(std::string const& name, std::string const& ticket, std::uint64_t token, milliseconds left)
{
    return dump({{"name", name},
                 {"ticket", ticket},
                 {"token", token == 0 ? nlohmann::ordered_json{} : nlohmann::ordered_json(token)},
                 {"valid_ms", left.count()}},
                2);
}

// A client for as long as one operation takes. Ctrl-C and the like end the operation, and what it had got is released.
class short_client {
public:
    explicit short_client(config const& nodes) : nodes_{io_.get_executor(), nodes}
    {
        nodes_.run(asio::detached);
        add_unless_ignored(signals_, {SIGINT, SIGTERM, SIGHUP});
        signals_.async_wait([this](error_code ec, int number) {
            if (ec) return;
            ended_by_ = number;
            stop_.emit(asio::cancellation_type::terminal);
        });
    }

    ~short_client()
    {
        finish([&](auto done) { nodes_.drain(asio::cancel_after(drain_timeout, std::move(done))); });
        signals_.cancel();
        nodes_.cancel();
        io_.run();
    }

    client& nodes() noexcept { return nodes_; }
    asio::io_context& context() noexcept { return io_; }

    // The signal that has ended an operation; 0: none.
    int ended_by() const noexcept { return ended_by_; }

    // Runs an operation that gets a handler for `error_code, lease`.
    template <class Start>
    std::pair<error_code, lease> get(Start start)
    {
        std::optional<std::pair<error_code, lease>> result;
        start(asio::bind_cancellation_slot(stop_.slot(), [&](error_code ec, lease got) { result.emplace(ec, std::move(got)); }));
        while (!result) io_.run_one();
        return std::move(*result);
    }

    // The same for `error_code`.
    template <class Start>
    error_code finish(Start start)
    {
        std::optional<error_code> result;
        start([&](error_code ec) { result = ec; });
        while (!result) io_.run_one();
        return *result;
    }

    // Until a majority of the nodes may vote, or a signal comes.
    vote_wait::end wait_for_votes(milliseconds patience, bool fencing)
    {
        return finish_wait(fencing, [&](vote_wait& votes, auto done) { votes.start(patience, done); });
    }

    // Whether only an operator can help.
    bool is_hopeless(bool fencing)
    {
        return finish_wait(fencing, [](vote_wait& votes, auto done) { votes.look_for_hope(done); }) == vote_wait::end::hopeless;
    }

    // Ends the operation that is under way.
    void give_up() { stop_.emit(asio::cancellation_type::terminal); }

    void pause(quorum::duration time)
    {
        bool is_over = false;
        asio::steady_timer timer{io_, time};
        timer.async_wait([&](error_code) { is_over = true; });
        while (!is_over) io_.run_one();
    }

    // Waits until all nodes have the lease, or for a moment: a process that ends at once would leave out the slower ones, and the ticket is for less
    // than it could be.
    void wait_for_rest(lease const& held)
    {
        bool is_over = false;
        asio::steady_timer limit{io_, rest_timeout};
        limit.async_wait([&](error_code) { is_over = true; });
        while (!is_over && held.nodes_held() < nodes_.status().nodes.size()) io_.run_one();
        limit.cancel();
        while (!is_over) io_.run_one();
    }

    // Prints a ticket of the lease. If nobody can read it, the lease is released, since nobody could otherwise.
    int hand_out(lease held, std::string const& name, bool json)
    {
        wait_for_rest(held);
        auto const token = held.token();
        auto const left = std::chrono::duration_cast<milliseconds>(held.valid_until() - boot_clock::now());
        auto const ticket = held.detach();
        if (ticket.empty()) throw failure{exit_code::lost, "the lock was lost before its ticket could be printed"};
        try {
            terminal{}.write(json ? json_of_ticket(name, ticket, token, left) : ticket + '\n');
        } catch (failure const&) {
            auto back = get([&](auto done) { nodes_.adopt(ticket, std::move(done)); });
            if (back.second) finish([&](auto done) { back.second.release(std::move(done)); });
            throw;
        }
        return to_int(exit_code::success);
    }

private:
    template <class Start>
    vote_wait::end finish_wait(bool fencing, Start start)
    {
        std::optional<vote_wait::end> result;
        vote_wait votes{io_, nodes_, fencing};
        start(votes, [&](vote_wait::end how) { result = how; });
        while (!result && ended_by_ == 0) io_.run_one();
        votes.stop();
        return result.value_or(vote_wait::end::too_late);
    }

    asio::io_context io_{1};
    asio::signal_set signals_{io_};
    asio::cancellation_signal stop_;
    int ended_by_{0};
    client nodes_;
};

lock_options options_of(acquire_options const& options, settings const& from)
{
    auto lock = from.lock;
    if (options.from.config_file.empty()) lock.ttl = 30s;
    if (options.ttl) lock.ttl = *options.ttl;
    if (options.no_fencing) lock.fencing = false;
    lock.auto_extend = true;
    lock.max_handoffs = 0;
    lock.max_attempts = 0;
    if (options.wait && *options.wait > 0ms) lock.acquire_timeout = *options.wait;
    return lock;
}

// What the lease has from now on. The ticket says the rest.
lock_options options_of(known_ticket const& ticket, settings const& from, std::optional<milliseconds> ttl)
{
    auto lock = from.lock;
    lock.ttl = ttl.value_or(ticket.what.ttl);
    lock.lock_delay = ticket.what.lock_delay;
    lock.auto_extend = true;
    lock.acquire_timeout.reset();
    return lock;
}

// Tells the user, who sees nothing else, why there is no ticket yet; and ends a wait that does not help.
class waiting_notes {
public:
    waiting_notes(short_client& with, config const& nodes, lock const& what, bool fencing, bool quiet)
        : with_{with}, config_{nodes}, name_{what.name()}, fencing_{fencing}, quiet_{quiet}, reminder_{with.context(), [this] { look(); }}
    {
        reminder_.start();
    }
    ~waiting_notes() { reminder_.stop(); }

    bool is_hopeless() const noexcept { return hopeless_; }

private:
    void look()
    {
        hopeless_ = hope_.is_sure(with_.nodes().status(), fencing_, std::chrono::steady_clock::now());
        if (hopeless_) return with_.give_up();
        if (hope_.is_in_doubt()) reminder_.next_in(lost_hope::sure_after);
        if (quiet_) return;
        auto const key = keys_of(config_).key_of(name_);
        glance_.emplace(with_.context().get_executor(), config_, questions_about(key), glance_timeout,
                        [this](std::vector<answers> const& all) {
                            auto const seen = view_of(name_, all);
                            auto const status = with_.nodes().status();
                            auto const now = boot_clock::now();
                            if (!told_.is_due(reason_to_wait(seen, status, fencing_), now)) return;
                            notes_.say(waiting_in_words(seen, status, fencing_, now - since_));
                        });
    }

    short_client& with_;
    config const& config_;
    std::string name_;
    bool fencing_;
    bool quiet_;
    lost_hope hope_;
    bool hopeless_{false};
    boot_clock::time_point since_{boot_clock::now()};
    told_reason told_;
    notes notes_{with_.context().get_executor()};
    std::optional<glance> glance_;
    reminder<asio::steady_timer> reminder_;
};

// With votes that were split it asks again, a few times.
template <class Ask>
std::pair<error_code, lease> ask_once(short_client& with, Ask const& ask, attempt_report const& report)
{
    auto result = with.get(ask);
    std::random_device random;
    for (split_votes split; result.first && may_be_split(report);) {
        auto const pause = split.next_pause(random);
        if (!pause) break;
        with.pause(*pause);
        if (with.ended_by() != 0) break;
        result = with.get(ask);
    }
    return result;
}

int acquire(acquire_options const& options)
{
    auto from = settings_of(options.from, {options.name});
    if (options.bootstrap) from.client.bootstrap = true;
    if (!options.label.empty()) from.client.label = options.label;
    auto const wanted = options_of(options, from);
    bool const once = options.no_wait || options.wait == 0ms;
    short_client with{from.client};
    lock resource{with.nodes(), options.name, wanted};
    attempt_report report;
    bool const fencing = wanted.fencing;
    std::optional<waiting_notes> notes{std::in_place, with, from.client, resource, fencing, options.quiet};
    auto const ask = [&](auto done) { once ? resource.try_acquire(report, std::move(done)) : resource.acquire(report, std::move(done)); };
    auto const began = boot_clock::now();
    auto const left_for_servers = [&] {
        auto const waited = std::chrono::duration_cast<milliseconds>(boot_clock::now() - began);
        return std::max(milliseconds{0}, options.wait_servers.value_or(milliseconds{0}) - waited);
    };
    std::pair<error_code, lease> result;
    auto& [ec, held] = result;
    bool hopeless = false;
    while (true) {
        auto const seen = options.wait_servers ? with.wait_for_votes(left_for_servers(), fencing) : vote_wait::end::votes;
        hopeless = seen == vote_wait::end::hopeless;
        if (seen != vote_wait::end::votes) ec = errc::no_majority;
        else result = once ? ask_once(with, ask, report) : with.get(ask);
        hopeless = hopeless || notes->is_hopeless();
        bool const ends = !ec || ec == condition::contended || ec == errc::wrong_node_set || seen != vote_wait::end::votes || hopeless;
        if (ends || with.ended_by() != 0 || left_for_servers() == milliseconds{0}) break;
        with.pause(pause_before_servers_are_asked_again);
    }
    bool const found_nobody = ec && ec != condition::contended && ec != errc::wrong_node_set;
    if (once && found_nobody && !hopeless && with.ended_by() == 0) hopeless = with.is_hopeless(fencing);
    notes.reset();
    if (!ec) return with.hand_out(std::move(held), options.name, options.json);
    if (with.ended_by() != 0) return to_int(exit_code::signal) + with.ended_by();
    auto const status = with.nodes().status();
    if (hopeless)
        throw failure{exit_code::config,
                      name_in_words(options.name) + " was not acquired: " + waiting_does_not_help + nodes_without_vote(status, fencing)};
    std::string const text = name_in_words(options.name) +
                             " was not acquired: " + failure_in_words(report.outcome ? report.outcome : ec, status, fencing);
    if (ec == condition::contended) {
        int const code = options.conflict_exit_code.value_or(to_int(exit_code::contended));
        if (!options.quiet || code != 0) say_on_stderr(text);
        return code;
    }
    throw failure{ec == errc::wrong_node_set ? exit_code::config : exit_code::no_majority,
                  text + (report.outcome ? silent_nodes_in_words(report, status, fencing) : nodes_without_vote(status, fencing))};
}

}  // namespace

namespace {

// Of the input, and no byte more: a command that is run gets the rest.
bool read_line(std::string& line)
{
    line.clear();
    char next = 0;
    ssize_t n = 0;
    while (line.size() <= max_ticket_line) {
        n = ::read(STDIN_FILENO, &next, 1);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0 || next == '\n') break;
        line += next;
    }
    return n > 0 || !line.empty();
}

}  // namespace

known_ticket read(ticket_option const& option)
{
    known_ticket ticket{option.text, {}};
    if (option.text == "-" && !read_line(ticket.text)) throw failure{exit_code::usage, "--ticket -: there is no line in the input"};
    if (errc const problem = detail::read_ticket(ticket.text, ticket.what); problem != errc{})
        throw failure{exit_code::usage, "--ticket: " + error_code{problem}.message()};
    return ticket;
}

failure not_adopted(error_code why, known_ticket const& ticket)
{
    std::string const name = name_in_words(ticket.what.text);
    if (why == errc::lease_lost)
        return {exit_code::lost,
                name + " is not held by this ticket any more: its time has passed, it was released, or the ticket was used"};
    if (why == errc::ticket_of_other_nodes || why == errc::wrong_node_set) return {exit_code::config, "--ticket: " + why.message()};
    if (why == errc::ttl_too_long) return {exit_code::usage, "--ticket: " + why.message()};
    return {exit_code::no_majority, name + " could not be adopted: " + why.message()};
}

int execute(acquire_options const& options)
{
    check_name(options.name);
    ::signal(SIGPIPE, SIG_IGN);
    try {
        return acquire(options);
    } catch (std::invalid_argument const& error) {
        throw failure{exit_code::usage, in_terms_of_options(error.what(), options.from)};
    }
}

int execute(extend_options const& options)
{
    ::signal(SIGPIPE, SIG_IGN);
    auto const ticket = read(options.ticket);
    try {
        auto const from = settings_of_keys(options.from, ticket.what.keys);
        auto const wanted = options_of(ticket, from, options.ttl);
        short_client with{from.client};
        auto [ec, held] = with.get([&](auto done) { with.nodes().adopt(ticket.text, wanted, std::move(done)); });
        if (!ec) return with.hand_out(std::move(held), ticket.what.text, options.json);
        if (with.ended_by() != 0) return to_int(exit_code::signal) + with.ended_by();
        throw not_adopted(ec, ticket);
    } catch (std::invalid_argument const& error) {
        throw failure{exit_code::usage, in_terms_of_options(error.what(), options.from)};
    }
}

int release_by(release_options const& options)
{
    ::signal(SIGPIPE, SIG_IGN);
    auto const ticket = read(options.ticket);
    short_client with{settings_of_keys(options.from, ticket.what.keys).client};
    auto [ec, held] = with.get([&](auto done) { with.nodes().adopt(ticket.text, std::move(done)); });
    if (ec && with.ended_by() != 0) return to_int(exit_code::signal) + with.ended_by();
    if (ec) throw not_adopted(ec, ticket);
    auto const result = with.finish([&, l = &held](auto done) { l->release(std::move(done)); });
    if (result == condition::lost) throw not_adopted(errc::lease_lost, ticket);
    if (result) throw failure{exit_code::no_majority, name_in_words(ticket.what.text) + ": " + result.message()};
    if (options.json) terminal{}.write(dump({{"name", ticket.what.text}, {"released", true}}, 2));
    return to_int(exit_code::success);
}

}  // namespace redlock::cli
