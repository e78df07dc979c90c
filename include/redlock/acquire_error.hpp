// The exception for a lock that was not acquired.
#ifndef REDLOCK_ACQUIRE_ERROR_HPP
#define REDLOCK_ACQUIRE_ERROR_HPP

#include <redlock/attempt_report.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <memory>
#include <string_view>

namespace redlock {

/// Thrown if the lock was not acquired: by `with_lock`, whose body then did not run, and by acquisitions without a token, with
/// `asio::use_awaitable` or with `asio::use_future`. If `code() == condition::contended`, others have the lock or want it now; if
/// `code() == condition::unavailable`, the holder cannot be known. The code may also be `errc::client_cancelled` or
/// `asio::error::operation_aborted`, if the client or the calling coroutine was cancelled first.
class REDLOCK_API acquire_error : public system_error {
public:
    /// `lock`: the lock's name, for the text.
    acquire_error(error_code why, std::string_view lock, attempt_report last);

    /// One line with the lock's name, the code's message and, if there is one, the reason: `first_failure()`, or that this client itself
    /// holds the lock.
    char const* what() const noexcept override;

    /// The nodes' answers to the last attempt. Valid as long as this exception or a copy exists.
    attempt_report const& last_attempt() const noexcept;

private:
    struct facts;

    std::shared_ptr<facts const> facts_;  // shared, since copying an exception must not throw
};

}  // namespace redlock

#endif
