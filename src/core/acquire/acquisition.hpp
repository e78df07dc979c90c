// One caller of acquire() or try_acquire().
#ifndef REDLOCK_CORE_ACQUIRE_ACQUISITION_HPP
#define REDLOCK_CORE_ACQUIRE_ACQUISITION_HPP

#include "base/timer_queue.hpp"
#include "core/lease/lease_record.hpp"
#include "core/resolved_options.hpp"
#include "quorum/waiting/backoff.hpp"

#include <redlock/detail/core.hpp>
#include <redlock/lease.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/intrusive/list.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

namespace redlock::detail {

class acquisitions;
class attempt;
class wait_queue;

// What it stands in: one of its client's, and one of its lock's.
using hook_of_all = boost::intrusive::list_base_hook<boost::intrusive::tag<struct all_acquisitions>>;
using hook_of_queue = boost::intrusive::list_base_hook<boost::intrusive::tag<struct one_wait_queue>>;

// One call of acquire() or try_acquire(), from its start to its completion.
class acquisition final : public timer, public std::enable_shared_from_this<acquisition>, public hook_of_all, public hook_of_queue {
public:
    template <class Hook>
    using list = boost::intrusive::list<acquisition, boost::intrusive::base_hook<Hook>, boost::intrusive::constant_time_size<false>>;

    acquisition(acquisitions& owner, std::shared_ptr<lease_core> of, acquire_request&& what_is_wanted, lease_handler&& whom_to_tell,
                time_point now);

    bool wants_tokens() const noexcept { return options().fencing; }

    // try_acquire() and max_attempts: an answer soon counts more than the lock. It waits in no queue.
    bool fails_fast() const noexcept { return request.once || options().max_attempts > 0; }

    // What its wait queue wants to know.
    owner_id owner() const noexcept { return options().owner; }
    bool is_attempting() const noexcept { return current != nullptr; }
    bool takes_what_is_held(lease_record const& lease) const noexcept;
    duration next_delay(std::minstd_rand& random) { return delay_.next(random); }
    void begin_delays_anew() noexcept { delay_.reset(); }
    duration poll_interval() const noexcept { return options().poll_interval; }

    void on_timer(time_point now) override;  // the deadline has passed, or the retry of one that fails fast is due

    lock_options const& options() const noexcept { return request.what->under->options; }

    // Whether anything asks for the answers of the nodes: the caller's report, or a handler that throws errors, if it is one.
    bool is_reported() const noexcept { return request.report || asks_why_; }

    // For the report: the nodes were not asked, since this client itself holds the lock.
    void was_not_sent(std::size_t nodes, std::string_view why);

    // Tells how it ended, if anything asks.
    void report(error_code ec);

    // Whether the body of the scope awaits it, so that the body goes on only when it has ended.
    bool is_awaited_in(scope_coroutines const& scope) const noexcept;

    std::shared_ptr<lease_core> const from;
    acquire_request request;
    lease_handler handler;
    time_point const started;
    time_point const deadline;  // the far future without one
    bool has_deadline() const noexcept { return deadline != time_point::max(); }
    time_point retry_at{};      // of one that fails fast
    std::uint32_t attempts{0};
    error_code last_outcome;
    std::vector<node_verdict> verdicts;  // of the last attempt, if it is reported; empty: nothing was noted
    std::shared_ptr<attempt> current;
    bool stop_when_idle{false};  // a total cancellation came while an attempt was under way, or any before the start
    bool started_waiting{false};
    bool done{false};
    asio::cancellation_slot const awaited_by;  // of the coroutine that awaits it; only compared
    std::shared_ptr<acquisition> keeps_itself;  // while it waits
    wait_queue* queue_of{nullptr};              // while it is in one

private:
    attempt_report report_of(error_code ec);

    acquisitions& owner_;
    quorum::backoff delay_;
    bool const asks_why_;
};

}  // namespace redlock::detail

#endif
