// What with_lock throws when the lock is not acquired.
#ifndef REDLOCK_ACQUIRE_ERROR_HPP
#define REDLOCK_ACQUIRE_ERROR_HPP

#include <redlock/attempt_report.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <memory>
#include <string_view>

namespace redlock {

/// Thrown by `with_lock` when the lock was not acquired (`condition::not_acquired`). `code() == condition::contended`: somebody else has it;
/// `code() == condition::unavailable`: that cannot be known, since too few nodes answer.
class REDLOCK_API acquire_error : public system_error {
public:
    /// `lock`: its name, for people.
    acquire_error(error_code why, std::string_view lock, attempt_report last);

    /// One line: the lock, the code's message, and where it cannot be known who has the lock, the first node that did not vote and why.
    char const* what() const noexcept override;

    /// What the nodes said to the last attempt. Lives as long as this exception, or a copy of it.
    attempt_report const& last_attempt() const noexcept;

private:
    struct facts;

    std::shared_ptr<facts const> facts_;  // copying an exception must not throw
};

}  // namespace redlock

#endif
