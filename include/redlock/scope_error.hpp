// The exception of with_lock for a lost lease.
#ifndef REDLOCK_SCOPE_ERROR_HPP
#define REDLOCK_SCOPE_ERROR_HPP

#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <exception>
#include <memory>
#include <string_view>

namespace redlock {

/// Thrown by `with_lock` if the lease was lost (`condition::lost`) before the body ended, or was found to be lost at its release. The body
/// ran, until it returned or threw; part of its work may have been done without the lock, so do not simply repeat it.
class REDLOCK_API scope_error : public system_error {
public:
    /// `lock`: the lock's name, for the text. `body`: what the body threw; null: it returned. `reason`: empty if the code says everything.
    scope_error(error_code why, std::string_view lock, std::exception_ptr body, std::string_view reason = {});

    /// One line with the lock's name, the code's message, why the lease was lost, and how the body ended: it returned, was cancelled, or
    /// what it threw.
    char const* what() const noexcept override;

    /// Whether the body returned, so that all of its work was done. Its result is not kept.
    bool body_returned() const noexcept;

    /// What the body threw, usually a `system_error` with `asio::error::operation_aborted`, because it was cancelled. Null if it returned.
    std::exception_ptr body_exception() const noexcept;

private:
    struct facts;

    std::shared_ptr<facts const> facts_;  // shared, since copying an exception must not throw
};

}  // namespace redlock

#endif
