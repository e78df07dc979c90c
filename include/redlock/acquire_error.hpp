// The exception that is thrown if a lock is not acquired.
#ifndef REDLOCK_ACQUIRE_ERROR_HPP
#define REDLOCK_ACQUIRE_ERROR_HPP

#include <redlock/attempt_report.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <memory>
#include <string_view>

namespace redlock {

/// Thrown if the lock was not acquired: by `with_lock`, whose body did not run, and by operations without a token, with `asio::use_awaitable` and with
/// `asio::use_future`.
/// `code() == condition::contended`: another client holds the lock; `code() == condition::unavailable`: too few nodes answered to know whether one does.
/// Also with `errc::client_cancelled` and `asio::error::operation_aborted`, if the client or the calling coroutine was cancelled before.
class REDLOCK_API acquire_error : public system_error {
public:
    /// `lock`: the name of the lock, for the text.
    acquire_error(error_code why, std::string_view lock, attempt_report last);

    /// One line with the lock's name and the code's message. Where nodes were asked and a majority did not say that it is held, it adds
    /// `first_failure()`.
    char const* what() const noexcept override;

    /// The nodes' answers to the last attempt. The reference is valid as long as this exception or a copy of it lives.
    attempt_report const& last_attempt() const noexcept;

private:
    struct facts;

    std::shared_ptr<facts const> facts_;  // shared, since copying an exception must not throw
};

}  // namespace redlock

#endif
