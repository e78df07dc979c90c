// The exception that operations on locks and leases throw, besides those that acquire a lock.
#ifndef REDLOCK_OPERATION_ERROR_HPP
#define REDLOCK_OPERATION_ERROR_HPP

#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace redlock {

/// Thrown by the operations of a `lease`, by looks at a lock, a semaphore or an election, and by `client::adopt()`, in coroutines and by futures: without
/// a token, with `asio::use_awaitable` and with `asio::use_future`. Operations that acquire a lock throw an `acquire_error`.
class REDLOCK_API operation_error : public system_error {
public:
    /// `lock`: the name of the lock, for the text; empty: there is none. `reason`: what was the matter; empty: the code says it.
    operation_error(error_code why, std::string_view lock, std::string_view reason = {});

    /// One line with the lock's name, the code's message, and the reason.
    char const* what() const noexcept override;

    /// What was the matter, mostly of the first node whose vote failed. Empty if there is nothing to say besides the code. The reference is valid as long
    /// as this exception or a copy of it lives.
    std::string const& reason() const noexcept;

private:
    struct facts;

    std::shared_ptr<facts const> facts_;  // shared, since copying an exception must not throw
};

}  // namespace redlock

#endif
