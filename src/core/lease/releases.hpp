// Releases: compare-and-delete on every node, whether somebody waits for it or not.
#ifndef REDLOCK_CORE_LEASE_RELEASES_HPP
#define REDLOCK_CORE_LEASE_RELEASES_HPP

#include "core/environment.hpp"
#include "core/failed_votes.hpp"
#include "core/lease/lease_record.hpp"
#include "core/operation.hpp"
#include "protocol/reply.hpp"
#include "quorum/release_machine.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace redlock::detail {

class releases;

// Lives until every node has answered, or the key has expired there. It is over when it is decided: then nobody has to wait any more.
class release final : public operation<release> {
public:
    release(releases& owner, std::shared_ptr<lease_record> const& what, errc lost_before, time_point now, std::uint32_t wave);
    ~release();

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    bool wanted(std::size_t node, time_point now) const override;
    void time_is_up(time_point) { decided(machine_.on_timeout()); }

    bool is_pending(std::size_t node) const noexcept { return machine_.is_pending(node); }
    std::uint32_t wave() const noexcept { return wave_; }
    void wait(std::shared_ptr<waiter> who);  // precondition: it is not over
    void abandon(waiter const* who);

private:
    void decided(quorum::release_outcome outcome);
    errc result() const;
    std::string reason() const;

    releases& owner_;
    errc lost_before_;
    quorum::release_machine machine_;
    bool complete_{false};
    std::uint32_t wave_;
    waiter_list waiters_;
    failed_votes votes_;  // if one of them asks why
};

class releases {
public:
    explicit releases(environment& env) : env_{env} {}

    // Sends the release to every node; at most once for a record, however often it is called. `lost_before`: why the lease had
    // ended already, if it had (else errc{}); that is then the result.
    // `not_at`: nodes that refused what is rolled back; there is nothing to release there.
    void start(std::shared_ptr<lease_record> const& what, time_point now, errc lost_before, quorum::node_set const& not_at = {});

    // A node granted after it had answered the release: that is, the grant was executed behind it. Does nothing if it has not, or was never asked for the key.
    void repeat(std::shared_ptr<lease_record> const& what, std::size_t node);

    // Completes when the release that was started is decided.
    void wait(lease_record const& what, std::shared_ptr<waiter> who);
    void abandon(lease_record const& what, waiter const* who);

    // Every node that can be reached has answered every release.
    bool idle() const noexcept { return pending_ == 0; }

    // Completes when the releases are done that were started before. Later ones are not waited for: there may always be one.
    void drain(std::shared_ptr<waiter> who);
    void abandon_drain(waiter const* who);

    // The client stops: nobody needs to wait any longer.
    void finish_draining(error_code ec);

    // Called when idle() becomes true.
    std::function<void()> on_idle;

    void clear() noexcept;

    // For releases: every node has answered one of this wave.
    void completed(std::uint32_t wave);
    environment& env() const noexcept { return env_; }

private:
    class repetition;

    // The releases that were started between two calls of drain(), and those who wait for them and for all before.
    struct releases_of_wave {
        std::size_t pending{0};
        waiter_list drainers{};
    };

    std::uint32_t begin_in(std::uint32_t wave);
    std::uint32_t newest_wave() const noexcept { return oldest_wave_ + static_cast<std::uint32_t>(waves_.size() - 1); }

    environment& env_;
    std::size_t pending_{0};  // in all waves
    std::deque<releases_of_wave> waves_{1};  // the oldest first, which has something pending unless it is the only one
    std::uint32_t oldest_wave_{0};
};

}  // namespace redlock::detail

#endif
