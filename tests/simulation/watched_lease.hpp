// Shows the judge a lease, and tells it what the holder hears of it and does with it.
#ifndef REDLOCK_TESTS_SIMULATION_WATCHED_LEASE_HPP
#define REDLOCK_TESTS_SIMULATION_WATCHED_LEASE_HPP

#include "judge.hpp"

#include <redlock/lease.hpp>

#include <cstdint>
#include <string>

namespace redlock::simulation {

// While it lives, the lease is looked at after every step: no two valid ones on one name.
class watched_lease {
public:
    // `adopted`: the ticket that it was adopted with.
    watched_lease(judge& by, process& p, lease& held, lock_options const& options, detached_lease const* adopted = nullptr);
    ~watched_lease();
    watched_lease(watched_lease const&) = delete;
    watched_lease& operator=(watched_lease const&) = delete;

    // The lease was lost: it must have been time, or its keys must be gone. To be called when the holder hears of it.
    void lost(error_code why);

    bool reads() const noexcept { return facts_.reads; }

    // A scope's body is over.
    void body_ended(bool heeds_cancellation);

    // It is about to be given back; `held`: where it is now.
    void leaves(lease const& held);
    void leaves() { leaves(*facts_.held); }

    // Its holder writes to what the lock protects, which compares tokens; perhaps long after the lease has ended.
    void write() { judge_.resources().access(facts_); }

    // Its holder moves on to the next token, if there is one.
    void next_token();

    std::string const& value() const noexcept { return facts_.value; }

    // It is of a semaphore, whose user says that there are so many permits.
    void of_permits(std::uint32_t permits) { facts_.permits = permits; }

    // Who acquired it, and the tokens that are left: what stays when it travels.
    std::string lineage() const { return facts_.acquired_by(); }
    token_number next_of_block() const noexcept { return facts_.token; }
    token_number last_of_block() const noexcept { return facts_.last; }

    bool is_nested() const noexcept { return facts_.nested; }

private:
    void had_its_time();

    judge& judge_;
    lease_facts facts_;
};

}  // namespace redlock::simulation

#endif
