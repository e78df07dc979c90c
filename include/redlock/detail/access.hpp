// What parts of the library may do with the public classes, and users may not.
#ifndef REDLOCK_DETAIL_ACCESS_HPP
#define REDLOCK_DETAIL_ACCESS_HPP

#include <redlock/attempt_report.hpp>
#include <redlock/client.hpp>
#include <redlock/detail/core.hpp>
#include <redlock/detail/initiation.hpp>
#include <redlock/detail/lease_state.hpp>
#include <redlock/lease.hpp>
#include <redlock/lock.hpp>
#include <redlock/rw_lock.hpp>
#include <redlock/semaphore.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace redlock::detail {

struct access {
    // For simulations and tests: a client over a core of their own.
    static client make_client(std::shared_ptr<core> of) noexcept { return client{std::move(of)}; }

    static std::shared_ptr<core> const& core_of(client const& c) noexcept { return c.core_; }

    // For with_lock and with_shared_lock.
    static lock const& writer_of(rw_lock const& both) noexcept { return both.writer_; }
    static lock const& reader_of(rw_lock const& both) noexcept { return both.reader_; }

    static lock const& one_permit_of(semaphore const& of) noexcept { return of.one_; }
    static lock permits_of(semaphore const& of, std::uint32_t count) { return of.several(count); }

    // For change_permits().
    static lock permits_of(std::shared_ptr<core> const& owner, resource of, lock_options const& options)
    {
        return {owner, std::move(of), options};
    }

    // For with_lock.
    template <class CompletionToken>
    static auto acquire_for(lock const& what, std::shared_ptr<scope_coroutines const> within, attempt_report& report,
                            CompletionToken&& token)
    {
        return asio::async_initiate<CompletionToken, void(error_code, lease)>(
            initiate_acquire{what.core_, acquire_request{what.what_, &report, false, std::move(within)}}, token);
    }

    // For election: waits for a random time, by the clock of the client.
    template <class CompletionToken>
    static auto pause(lock const& of, boot_clock::duration min, boot_clock::duration max, CompletionToken&& token)
    {
        return asio::async_initiate<CompletionToken, void(error_code)>(initiate_pause{of.core_, min, max}, token);
    }

    // For with_lock: whether a release is due, also of a lease that was lost.
    static bool is_to_release(lease const& l) noexcept
    {
        return l.state_ && l.state_->phase.load(std::memory_order_acquire) != lease_phase::released;
    }

    // For with_lock: whether the nodes keep the lock for it now, be it lost or not.
    static bool is_in_time(lease const& l) noexcept { return l.state_ && l.state_->owner->now() < l.state_->valid_until(); }

    // For with_lock: what was the matter when the lease was lost. Empty: it was not, or the code says it.
    static std::string loss_reason(lease const& l) { return l.state_ ? l.state_->owner->loss_reason_of(*l.state_) : std::string{}; }

    // For with_lock: tells the client that the body of a scope is over.
    static void scope_ended(lease& l) noexcept
    {
        if (l.state_) l.state_->owner->scope_ended(*l.state_);
    }
};

}  // namespace redlock::detail

#endif
