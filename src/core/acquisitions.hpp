// acquire() and try_acquire(): attempts, retries, deadlines, callers who give up.
#ifndef REDLOCK_CORE_ACQUISITIONS_HPP
#define REDLOCK_CORE_ACQUISITIONS_HPP

#include "core/attempt.hpp"
#include "core/environment.hpp"
#include "core/hold.hpp"
#include "core/leases.hpp"
#include "core/lines.hpp"
#include "core/releases.hpp"
#include "quorum/backoff.hpp"

#include <redlock/detail/core.hpp>
#include <redlock/lease.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <cstdint>
#include <list>
#include <memory>
#include <optional>

namespace redlock::detail {

class acquisitions;

// One call of acquire() or try_acquire(), from its start to its completion.
class acquisition final : public alarm, public std::enable_shared_from_this<acquisition> {
public:
    acquisition(acquisitions& owner, std::shared_ptr<core> of, acquire_request what, lease_handler handler, time_point now);

    bool wants_tokens() const noexcept { return options().fencing; }

    // try_acquire() and attempts_max: an answer soon counts more than the lock. It stands in no line.
    bool is_impatient() const noexcept { return request_.once || options().attempts_max > 0; }

    // What its line asks.
    owner_id owner() const noexcept { return options().owner; }
    bool is_attempting() const noexcept { return current_ != nullptr; }
    bool takes_what_is_held(hold const& lease) const noexcept;
    duration next_delay(std::minstd_rand& random) { return delay_.next(random); }
    void begin_delays_anew() noexcept { delay_.reset(); }
    duration poll_interval() const noexcept { return options().poll_interval; }

    void on_alarm(time_point now) override;  // the deadline has passed, or the retry of an impatient one is due

private:
    friend class acquisitions;
    friend class attempt;
    friend class line;

    lock_options const& options() const noexcept { return request_.what->under->options; }
    bool is_asked_from(asio::any_io_executor const& scope) const;

    acquisitions& owner_;
    std::shared_ptr<core> core_;
    acquire_request request_;
    lease_handler handler_;
    quorum::backoff delay_;
    time_point const started_;
    time_point deadline_;         // the far future without one
    time_point retry_at_{};       // of an impatient one
    std::uint32_t attempts_{0};
    error_code last_outcome_;
    std::vector<node_verdict> verdicts_;  // of the last attempt, when the caller wants a report
    std::shared_ptr<attempt> current_;
    bool stop_when_idle_{false};  // a total cancellation came while an attempt was under way, or any before the start
    bool started_waiting_{false};
    recycled_list<std::shared_ptr<acquisition>>::iterator place_;
    line* line_{nullptr};  // while it is in one
    recycled_list<std::shared_ptr<acquisition>>::iterator place_in_line_;
    bool done_{false};
};

class acquisitions {
public:
    acquisitions(environment& env, leases& held, releases& given_back) : env_{env}, leases_{held}, releases_{given_back} {}

    void start(std::shared_ptr<acquisition> const& what, time_point now);
    void refuse(acquisition& what, error_code why);
    void cancel(acquisition& what, asio::cancellation_type_t type);

    // The last lease object of a hold was released: passes it on to the next in its line. False if there is none, or it is not his turn.
    bool hand_over(hold& lease, time_point now);

    void on_changed(std::size_t node, std::string_view key) { lines_.on_changed(node, key, env_.now()); }
    void on_down(std::size_t node) { lines_.on_down(node, env_.now()); }

    void on_lost(hold& lease) { lines_.vacated(lease, false, env_.now()); }

    // The release of a lease is on its way to the nodes.
    void on_released(hold& lease, time_point now);

    // Completes all with `why`, and undoes what they started.
    void fail_all(error_code why);

    void clear() noexcept;

private:
    friend class attempt;
    friend class acquisition;
    friend class line;

    bool nest(acquisition& what, hold& lease, time_point now);
    void try_now(acquisition& what, time_point now);
    void refuse_at_home(acquisition& what, time_point now);
    void retry_later(acquisition& what, error_code why, time_point now);
    void watch_for_self_wait(acquisition const& what, line const& in);
    void next_attempt(acquisition& what, time_point now);
    void decided(attempt& a, quorum::acquire_outcome outcome, time_point now);
    void fell_through(acquisition& what, attempt const& lost, error_code why, time_point now);
    void give(acquisition& what, hold& lease);
    void name_nodes(acquisition& what);
    void detach(acquisition& what);
    void undo(attempt& a, line* of);
    void finish(acquisition& what, error_code ec, lease held);
    void fill_report(acquisition& what, error_code ec);

    environment& env_;
    leases& leases_;
    releases& releases_;
    recycled_list<std::shared_ptr<acquisition>> waiting_;
    lines lines_{env_, *this};
};

}  // namespace redlock::detail

#endif
