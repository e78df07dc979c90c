// acquire() and try_acquire(): attempts, retries, deadlines, callers who give up.
#ifndef REDLOCK_CORE_ACQUISITIONS_HPP
#define REDLOCK_CORE_ACQUISITIONS_HPP

#include "core/acquisition.hpp"
#include "core/attempt.hpp"
#include "core/environment.hpp"
#include "core/hold.hpp"
#include "core/leases.hpp"
#include "core/lines.hpp"
#include "core/releases.hpp"

#include <redlock/lease.hpp>

#include <boost/asio/cancellation_type.hpp>

#include <memory>

namespace redlock::detail {

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
    acquisition::list<hook_of_all> waiting_;
    lines lines_{env_, *this};
};

}  // namespace redlock::detail

#endif
