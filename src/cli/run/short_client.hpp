// The client of commands that carry out one operation: redlock acquire, extend and release.
#ifndef REDLOCK_CLI_RUN_SHORT_CLIENT_HPP
#define REDLOCK_CLI_RUN_SHORT_CLIENT_HPP

#include "cli/locks/other_kind.hpp"
#include "cli/nodes/vote_wait.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/ending_signals.hpp"
#include "cli/servers/glance.hpp"
#include "quorum/timing.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {

// Lives for as long as one operation takes. Ctrl-C and the like end the operation, and what it had got is released.
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
        other_kind_.reset();
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

    // Asks all nodes something. None: a signal came.
    std::optional<std::vector<answers>> look(config const& nodes, std::vector<words> const& questions)
    {
        std::optional<std::vector<answers>> result;
        glance const asked{io_.get_executor(), nodes, questions, glance_timeout,
                           [&](std::vector<answers> all) { result = std::move(all); }};
        while (!result && ended_by_ == 0) io_.run_one();
        return result;
    }

    // Asks meanwhile whether there is a semaphore of a lock's name.
    void look_for_semaphore(config const& nodes, std::string const& name)
    {
        auto const question = question_about_other_kind(nodes, name, kind_of_name::lock);
        other_kind_.emplace(io_.get_executor(), nodes, question, rest_timeout,
                            [this](std::vector<answers> const& all) { is_semaphore_ = is_of_both_kinds(all, kind_of_name::lock); });
    }

    bool is_semaphore() const noexcept { return is_semaphore_.value_or(false); }

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
        while (!is_over && (held.nodes_held() < nodes_.status().nodes.size() || is_looking())) io_.run_one();
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
    static constexpr std::chrono::seconds drain_timeout{2};
    static constexpr std::chrono::milliseconds rest_timeout{200};  // for the nodes that are not needed for a majority

    // `token`: 0 without fencing.
    static std::string json_of_ticket(std::string const& name, std::string const& ticket, std::uint64_t token, milliseconds left)
    {
        return dump({{"name", name},
                     {"ticket", ticket},
                     {"token", token == 0 ? nlohmann::ordered_json{} : nlohmann::ordered_json(token)},
                     {"valid_ms", left.count()}},
                    2);
    }

    bool is_looking() const noexcept { return other_kind_ && !is_semaphore_; }

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
    std::optional<glance> other_kind_;
    std::optional<bool> is_semaphore_;  // none: nobody knows yet
};

}  // namespace redlock::cli

#endif
