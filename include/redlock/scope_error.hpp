// The exception that with_lock throws if the lease was lost.
#ifndef REDLOCK_SCOPE_ERROR_HPP
#define REDLOCK_SCOPE_ERROR_HPP

#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <exception>
#include <memory>
#include <string_view>

namespace redlock {

/// Thrown by `with_lock` if the lease was lost (`condition::lost`) before the body had ended, or was found to be lost when it was released. The body ran,
/// to its end or until it threw; part of its work may have been done without the lock. So the same work may not simply be repeated.
class REDLOCK_API scope_error : public system_error {
public:
    /// `lock`: the name of the lock, for the text. `body`: what the body threw; null: it returned. `reason`: what was the matter; empty: the code says it.
    scope_error(error_code why, std::string_view lock, std::exception_ptr body, std::string_view reason = {});

    /// One line with the lock's name, the code's message, why the lease was lost, and how the body ended: it had returned, it was cancelled, or what it threw.
    char const* what() const noexcept override;

    /// Whether the body had returned: all of its work was done. Its result is not kept.
    bool body_returned() const noexcept;

    /// What the body threw, mostly a `system_error` with `asio::error::operation_aborted` since it was cancelled. Null if it returned.
    std::exception_ptr body_exception() const noexcept;

private:
    struct facts;

    std::shared_ptr<facts const> facts_;  // shared, since copying an exception must not throw
};

}  // namespace redlock

#endif
