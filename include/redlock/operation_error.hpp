// The exception of operations on locks and leases, except acquisitions.
#ifndef REDLOCK_OPERATION_ERROR_HPP
#define REDLOCK_OPERATION_ERROR_HPP

#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace redlock {

/// Thrown by the operations of a `lease`, by `peek()`, `wait_changed()`, `semaphore::available()` and `election::leader()`, and by
/// `client::adopt()`, without a token, with `asio::use_awaitable` or with `asio::use_future`; also by `change_permits()`. Acquisitions
/// throw an `acquire_error`.
class REDLOCK_API operation_error : public system_error {
public:
    /// `lock`: the lock's name, for the text; empty: none. `reason`: empty if the code says everything.
    operation_error(error_code why, std::string_view lock, std::string_view reason = {});

    /// One line with the lock's name, the code's message and the reason.
    char const* what() const noexcept override;

    /// The reason, usually of the first node whose vote failed. Empty if the code says everything. Valid as long as this exception or a
    /// copy exists.
    std::string const& reason() const noexcept;

private:
    struct facts;

    std::shared_ptr<facts const> facts_;  // shared, since copying an exception must not throw
};

}  // namespace redlock

#endif
