#include "cli/locks/permit_change.hpp"

#include "cli/locks/semaphore_text.hpp"
#include "cli/locks/waiting.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/ending_signals.hpp"
#include "cli/servers/settings.hpp"
#include "protocol/key_format.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <vector>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto progress_interval = 1s;
constexpr auto between_looks_at_nodes = 20ms;
constexpr int max_races = 10;

config with_bootstrap(config nodes, bool bootstrap)
{
    nodes.bootstrap = nodes.bootstrap || bootstrap;
    return nodes;
}

lock_options options_of_change(semaphore_command_options const& options, settings const& from)
{
    lock_options lock = from.lock;
    lock.fencing = true;  // which permits need, whatever the locks of this configuration do
    lock.auto_extend = true;
    lock.max_handoffs = 0;
    bool const waits = options.wait != 0ms;
    lock.max_attempts = waits ? 0 : 1;
    lock.node_timeout = std::min(options.from.timeout, lock.ttl);
    lock.acquire_timeout = waits ? options.wait : std::nullopt;
    return lock;
}

// The number that a majority of the nodes keeps, whatever its version; none: there is no such number.
std::optional<std::uint32_t> number_of_majority(semaphore_view const& of)
{
    std::map<std::uint32_t, std::size_t> nodes;
    for (number_view const& n : of.nodes)
        if (n.permits && ++nodes[*n.permits] >= of.majority) return n.permits;
    return std::nullopt;
}

// What the library says itself, without the name and the text of the code before it.
std::string words_of(system_error const& error)
{
    auto const* const operation = dynamic_cast<operation_error const*>(&error);
    return operation && !operation->reason().empty() ? operation->reason() : error.code().message();
}

}  // namespace

permit_change::permit_change(semaphore_command_options const& options, settings const& from)
    : options_{options},
      nodes_config_{with_bootstrap(from.client, options.bootstrap)},
      lock_{options_of_change(options, from)},
      nodes_{io_.get_executor(), nodes_config_}
{
    nodes_.run(asio::detached);
    add_unless_ignored(signals_, {SIGINT, SIGTERM, SIGHUP});
    signals_.async_wait([this](error_code ec, int number) {
        if (ec) return;
        ended_by_ = number;
        stop_.emit(asio::cancellation_type::terminal);
    });
}

permit_change::~permit_change()
{
    glance_.reset();
    progress_timer_.cancel();
    notes_.stop_waiting();
    signals_.cancel();
    nodes_.cancel();
    io_.restart();
    io_.run();
}

int permit_change::run()
{
    wait_for_nodes();
    for (int race = 0; race < max_races && ended_by_ == 0; ++race) {
        switch (judge(change_once())) {
        case verdict::done: return to_int(exit_code::success);
        case verdict::failed: return code_;
        case verdict::again: break;
        }
    }
    if (ended_by_ != 0) return fail(to_int(exit_code::signal) + ended_by_, "");
    return fail(to_int(exit_code::contended), "others change the number all the time");
}

// All nodes have to be told, and only those that are admitted can be.
void permit_change::wait_for_nodes()
{
    nodes_.begin_admission();
    auto const end = std::chrono::steady_clock::now() + options_.from.timeout;
    auto const is_ready = [](node_status const& n) { return n.state == node_state::usable && n.admission == admission_state::admitted; };
    while (ended_by_ == 0 && std::chrono::steady_clock::now() < end) {
        auto const all = nodes_.status().nodes;
        if (std::all_of(all.begin(), all.end(), is_ready)) return;
        io_.run_for(between_looks_at_nodes);
    }
}

std::exception_ptr permit_change::change_once()
{
    std::optional<std::exception_ptr> ended;
    auto changing = change_permits(nodes_, options_.name, *options_.permits, lock_);
    auto done = [&](std::exception_ptr problem) { ended = problem; };
    asio::co_spawn(io_, std::move(changing), asio::bind_cancellation_slot(stop_.slot(), done));
    is_waiting_ = true;
    show_progress();
    while (!ended) io_.run_one();
    is_waiting_ = false;
    progress_timer_.cancel();
    glance_.reset();
    return *ended;
}

permit_change::verdict permit_change::judge(std::exception_ptr const& problem)
{
    if (!problem) return verdict::done;
    try {
        std::rethrow_exception(problem);
    } catch (system_error const& error) {
        if (ended_by_ != 0) {
            code_ = fail(to_int(exit_code::signal) + ended_by_, "");
        } else if (error.code() == errc::permits_changing) {
            return after_a_race();
        } else if (error.code() == errc::permits_differ) {
            code_ = fail(to_int(exit_code::contended), "somebody else has changed the number meanwhile");
        } else if (error.code() == condition::contended) {
            bool const waited = options_.wait != 0ms;
            code_ = fail(to_int(exit_code::contended),
                         waited ? "slots above the number were held for all the time of --wait" : "slots above the number are held");
        } else {
            code_ = fail(to_int(exit_code::no_majority), words_of(error), nodes_without_vote(nodes_.status(), true));
        }
    }
    return verdict::failed;
}

// Several changed the number at once, and each of them was refused by some nodes. Whom a majority followed goes on, and overwrites the rest.
permit_change::verdict permit_change::after_a_race()
{
    auto const kept = number_of_majority(look());
    if (kept == options_.permits) return verdict::again;
    if (kept) {
        code_ = fail(to_int(exit_code::contended), "somebody else changes the number at the same time, and came first");
        return verdict::failed;
    }
    std::uniform_int_distribution<int> length{50, 500};
    std::random_device random;
    io_.run_for(milliseconds{length(random)});
    return verdict::again;
}

int permit_change::fail(int code, std::string const& why, std::string const& lines)
{
    notes_.say(name_in_words(options_.name) + ": " + why + (why.empty() ? "" : "; ") + what_is_kept() + lines);
    return code;
}

// What the next command finds, in words.
std::string permit_change::what_is_kept()
{
    auto const now = look();
    if (!now.is_known()) {
        std::string text = "it cannot be known what the nodes keep now";
        for (std::size_t i = 0; i < now.nodes.size(); ++i)
            if (!now.nodes[i].problem.empty()) text += "\n  " + nodes_config_.nodes[i].to_string() + ": " + printable(now.nodes[i].problem);
        return text;
    }
    auto const kept = number_of_majority(now);
    if (kept != options_.permits)
        return kept ? "it has " + count_of(*kept, "permit") : "a majority of the nodes keeps no number of permits: repeat it";
    std::string text = "the new number counts already (" + std::to_string(now.kept_on) + " of " + count_of(now.nodes.size(), "node") + ')';
    if (now.kept_on < now.nodes.size()) return text + ", but not all nodes know it: repeat it";
    if (auto const above = holders_in_words(now, true); !above.empty())
        return text + ", but others still hold slots above it: " + above + ". Repeat it to wait for them";
    return text + "; repeat it to know that nobody holds a slot above it";
}

// The nodes are asked beside the change, which does not say how far it is.
void permit_change::show_progress()
{
    progress_timer_.expires_after(progress_interval);
    progress_timer_.async_wait([this](error_code ec) {
        if (ec || !is_waiting_) return;
        auto const questions = questions_about_semaphore(keys_of(nodes_config_), options_.name);
        glance_.emplace(io_.get_executor(), nodes_config_, questions, glance_timeout,
                        [this](std::vector<answers> const& all) { tell_progress(semaphore_in(options_.name, all)); });
    });
}

void permit_change::tell_progress(semaphore_view const& now)
{
    if (!is_waiting_) return;
    auto text = name_in_words(options_.name) + ": ";
    auto const above = holders_in_words(now, true);
    if (now.permits != options_.permits) text += "not all nodes have answered yet" + nodes_without_vote(nodes_.status(), true);
    else if (!above.empty()) text += count_of(*now.permits, "permit") + " from now on; waiting for " + above;
    else text += count_of(*now.permits, "permit") + " from now on; waiting for the rest of those who held more";
    // How long they have held it changes with each look.
    std::string who;
    for (slot_view const& s : now.slots)
        if (now.is_above(s) && s.lock.holder) who += std::to_string(s.number) + ' ' + s.lock.nodes[*s.lock.holder].id() + ' ';
    who += now.permits == options_.permits ? "known" : "unknown";
    if (who != told_) notes_.say(text);
    told_ = who;
    show_progress();
}

semaphore_view permit_change::look()
{
    server_group nodes{nodes_config_, options_.from.timeout};
    return look_at_semaphore(nodes, options_.name);
}

}  // namespace redlock::cli
