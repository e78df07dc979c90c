// lock::peek() and lock::wait_changed(): what is to be seen of a lock, without acquiring it. A caller that waits for a change has the nodes tell
// of it, as the wait queues do, and looks again then.
#ifndef REDLOCK_CORE_ACQUIRE_PEEKS_HPP
#define REDLOCK_CORE_ACQUIRE_PEEKS_HPP

#include "base/timer_queue.hpp"
#include "core/environment.hpp"
#include "core/failed_votes.hpp"
#include "core/operation.hpp"
#include "core/resolved_options.hpp"
#include "protocol/reply.hpp"

#include <redlock/detail/core.hpp>
#include <redlock/published.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

class peeks;

// What the nodes said in one look.
class look {
public:
    explicit look(quorum::electorate of) : answers_(of.nodes), needed_{of.needed} { failures_.keep(of.nodes); }

    void add(std::size_t node, reply const& answer, time_point now);

    // For one that throws.
    failed_votes const& failures() const noexcept { return failures_; }
    bool has_answered(std::size_t node) const noexcept { return answers_[node].is_there; }

    // Whether no answer that is still to come can change what it says, except when the state is confirmed later.
    bool is_conclusive() const;
    bool has_majority() const noexcept { return answered_ >= needed_; }
    bool is_complete() const noexcept { return answered_ + failed_ == answers_.size(); }

    lock_peek result() const;

    // When so many keys will have expired that the holder has no majority; the far future if nothing expires.
    time_point changes_by_itself() const;

private:
    struct answer {
        bool is_there{false};
        bool held{false};
        std::string holder{};  // the key's value
        std::string state{};
        time_point until{};
    };

    // The value that the most nodes have, and how many. Null: all keys are free.
    struct most {
        std::string const* holder{nullptr};
        std::size_t nodes{0};
    };
    most most_of() const;

    std::vector<answer> answers_;
    failed_votes failures_;
    std::size_t needed_;  // for a majority
    std::size_t answered_{0};
    std::size_t failed_{0};
};

class peeking final : public timed<peeking> {
public:
    peeking(peeks& owner, peek_request&& request, peek_handler&& handler);

    void abandon(error_code why) { finish(why, {}); }
    void time_is_up(time_point now) { current_ ? decide(now, true) : ask(now); }

private:
    friend class peeks;
    class round;
    class watch;

    bool waits() const noexcept { return request_.last.has_value(); }
    bool is_about(std::string_view key) const noexcept;
    void ask(time_point now);
    void on_answer(round const& in, std::size_t node, reply const& answer, time_point now);
    void on_watched(reply const& answer, time_point now);
    void decide(time_point now, bool timed_out);
    void changed(time_point now);
    void finish(error_code ec, lock_peek seen, std::string const& reason = {});

    peeks& owner_;
    peek_request request_;
    peek_handler handler_;
    std::vector<std::string> state_key_;  // one
    std::shared_ptr<round> current_;  // null: nothing is asked at the moment
    bool look_again_{false};  // something has changed since
    bool has_to_ask_{false};  // some node does not tell
    time_point look_at_{};  // while nothing is asked
    std::uint64_t looks_{0};  // so far
};

class peeks : public ongoing<peeking> {
public:
    explicit peeks(environment& env) : env_{env} {}

    void start(std::shared_ptr<peeking> const& what, time_point now);

    // A key has changed on some node; empty: any key may have.
    void on_changed(std::string_view key);

    // A node is connected: it does not tell yet.
    void on_up() { on_changed({}); }

private:
    friend class peeking;

    environment& env_;
};

}  // namespace redlock::detail

#endif
