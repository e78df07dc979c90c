// acquire() and try_acquire(): attempts, what becomes of their votes, retries, deadlines, callers who give up.
#ifndef REDLOCK_CORE_ACQUISITIONS_HPP
#define REDLOCK_CORE_ACQUISITIONS_HPP

#include "core/environment.hpp"
#include "core/hold.hpp"
#include "core/leases.hpp"
#include "core/releases.hpp"
#include "quorum/acquire_machine.hpp"
#include "quorum/backoff.hpp"

#include <redlock/detail/core.hpp>
#include <redlock/lease.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

namespace redlock::detail {

class acquisitions;
class acquisition;

// One round with a value of its own, and a second one where tokens have to be confirmed. It outlives its decision, and its caller:
// late votes are still counted, or undone. Kept by its tickets in the rounds.
class attempt final : public voter, public alarm, public std::enable_shared_from_this<attempt> {
public:
    attempt(acquisitions& owner, acquisition& caller, std::shared_ptr<hold> what, time_point now);
    ~attempt();

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    void on_sent(std::size_t node) override { hold_->touch(node); }
    bool wanted(std::size_t, time_point) const override;
    void on_alarm(time_point now) override;

private:
    friend class acquisitions;
    class confirmation;

    void note(std::size_t node, reply const& answer, time_point now);
    void confirm();
    void on_confirmation(std::size_t node, reply const& answer, time_point now);
    void continue_with(quorum::acquire_outcome outcome, time_point now);
    bool is_ttl_too_long() const noexcept;

    acquisitions& owner_;
    acquisition* caller_;  // null once the attempt is over
    std::shared_ptr<hold> hold_;
    quorum::acquire_machine machine_;
    std::array<std::uint64_t, nodes_max> granted_as_{};  // the admission of each node that granted
    std::size_t too_long_{0};                            // nodes that do not allow such a ttl
};

// One call of acquire() or try_acquire(), from its start to its completion.
class acquisition final : public alarm, public std::enable_shared_from_this<acquisition> {
public:
    acquisition(acquisitions& owner, std::shared_ptr<core> of, acquire_request what, lease_handler handler, time_point now);

    bool wants_tokens() const noexcept { return request_.options.fencing; }

    void on_alarm(time_point now) override;  // the retry is due, or the deadline has passed

private:
    friend class acquisitions;
    friend class attempt;

    acquisitions& owner_;
    std::shared_ptr<core> core_;
    acquire_request request_;
    lease_handler handler_;
    quorum::timing const timing_;
    quorum::backoff delay_;
    time_point const started_;
    time_point deadline_;         // the far future without one
    time_point retry_at_{};
    std::uint32_t attempts_{0};
    error_code last_outcome_;
    std::vector<node_verdict> verdicts_;  // of the last attempt, when the caller wants a report
    std::shared_ptr<attempt> current_;
    bool stop_when_idle_{false};  // a total cancellation came while an attempt was under way, or any before the start
    bool started_waiting_{false};
    std::list<std::shared_ptr<acquisition>>::iterator place_;
    bool done_{false};
};

class acquisitions {
public:
    acquisitions(environment& env, leases& held, releases& given_back) : env_{env}, leases_{held}, releases_{given_back} {}

    void start(std::shared_ptr<acquisition> const& what);
    void refuse(acquisition& what, error_code why);
    void cancel(acquisition& what, asio::cancellation_type_t type);

    // Completes all with `why`, and undoes what they started.
    void fail_all(error_code why);

    void clear() noexcept;

private:
    friend class attempt;
    friend class acquisition;

    void next_attempt(acquisition& what, time_point now);
    void decided(attempt& a, quorum::acquire_outcome outcome, time_point now);
    void fell_through(acquisition& what, error_code why, time_point now);
    void detach(acquisition& what);
    void undo(attempt& a);
    void finish(acquisition& what, error_code ec, lease held);
    void fill_report(acquisition& what, error_code ec);

    environment& env_;
    leases& leases_;
    releases& releases_;
    std::list<std::shared_ptr<acquisition>> waiting_;
};

}  // namespace redlock::detail

#endif
