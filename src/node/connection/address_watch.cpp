#include "node/connection/address_watch.hpp"

#include <algorithm>

namespace redlock::detail {

namespace {

// Servers count their uptime with their wall clocks, which may be corrected a little.
constexpr std::chrono::seconds clock_margin{2};

}  // namespace

void address_watch::met(std::string const& run_id, std::optional<std::chrono::seconds> uptime, quorum::time_point now)
{
    if (run_id.empty()) return;
    if (!current_.empty() && run_id != current_) {
        bool const was_here = std::find(earlier_.begin(), earlier_.end(), run_id) != earlier_.end();
        bool const ran_beside = uptime && now - *uptime + clock_margin < answered_;
        if (was_here || ran_beside)
            words_ =
                "several servers answer at this address: " + run_id + " ran already while " + current_ +
                " answered here; each of them grants the same lock to another client, unless the address was moved by a failover: give "
                "each server an address of its own, without a load balancer";
        std::erase(earlier_, current_);
        earlier_.push_back(current_);
        if (earlier_.size() > max_earlier) earlier_.erase(earlier_.begin());
    }
    current_ = run_id;
    answered_ = now;
}

}  // namespace redlock::detail
