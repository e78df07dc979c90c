// What is said of leases that are lost: why, in words, for exceptions and for the log of a client without an observer; and whether the executor on
// which they are extended was blocked.
#ifndef REDLOCK_CORE_LEASE_LOSSES_HPP
#define REDLOCK_CORE_LEASE_LOSSES_HPP

#include "base/timer_queue.hpp"
#include "quorum/node_set.hpp"

#include <redlock/error.hpp>

#include <memory>
#include <string>

namespace redlock::detail {

struct environment;
class lease_record;

class losses final : public timer {
public:
    explicit losses(environment& env) noexcept : env_{env} {}
    ~losses();

    // What was the matter when a lease was lost. Null: nothing, it ended for another reason.
    std::shared_ptr<std::string const> reason_of(lease_record const& what, errc why, time_point now);

    // For the log.
    void tell(lease_record const& what, errc why, std::shared_ptr<std::string const> const& reason, time_point now);

    void on_timer(time_point) override;  // more leases were lost, and it is time to say so

private:
    std::string in_words(lease_record const& what, time_point now) const;

    environment& env_;

    // Leases that are lost at the same moment have the same reason.
    struct {
        time_point at{};
        quorum::node_set not_renewed{};
        quorum::node_set gone{};
        bool is_late{false};
        bool is_fenced{false};
        bool is_extended{false};
        std::shared_ptr<std::string const> text{};
    } last_;
};

// A timer that comes late shows that its executor was blocked. It rings often enough that it notices each time of more than a third of a ttl, while
// there are leases. Without a log it never rings.
class executor_watch final : public timer {
public:
    explicit executor_watch(environment& env) noexcept : env_{env} {}
    ~executor_watch();

    void watch_for(duration ttl, time_point now);  // there is a lease with that ttl
    void on_timer(time_point now) override;

private:
    static constexpr int rings_in_a_ttl = 12;
    static constexpr int late_rings = 3;  // with the time between two of them, a third

    environment& env_;
    duration interval_{duration::max()};
    time_point due_{};
};

}  // namespace redlock::detail

#endif
