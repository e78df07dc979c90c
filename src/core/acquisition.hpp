// One caller of acquire() or try_acquire().
#ifndef REDLOCK_CORE_ACQUISITION_HPP
#define REDLOCK_CORE_ACQUISITION_HPP

#include "core/alarms.hpp"
#include "core/hold.hpp"
#include "core/terms.hpp"
#include "quorum/backoff.hpp"

#include <redlock/detail/core.hpp>
#include <redlock/lease.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/intrusive/list.hpp>

#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace redlock::detail {

class acquisitions;
class attempt;
class line;

// What it stands in: one of its client's, and one of its lock's.
using hook_of_all = boost::intrusive::list_base_hook<boost::intrusive::tag<struct all_acquisitions>>;
using hook_of_line = boost::intrusive::list_base_hook<boost::intrusive::tag<struct one_line>>;

// One call of acquire() or try_acquire(), from its start to its completion.
class acquisition final : public alarm, public std::enable_shared_from_this<acquisition>, public hook_of_all, public hook_of_line {
public:
    template <class Hook>
    using list = boost::intrusive::list<acquisition, boost::intrusive::base_hook<Hook>, boost::intrusive::constant_time_size<false>>;

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
    std::shared_ptr<acquisition> self_;  // while it waits
    line* line_{nullptr};  // while it is in one
    bool done_{false};
};

}  // namespace redlock::detail

#endif
