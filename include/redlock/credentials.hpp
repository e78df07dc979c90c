// Credentials other than fixed passwords: tokens that expire, supplied by a function of the program.
#ifndef REDLOCK_CREDENTIALS_HPP
#define REDLOCK_CREDENTIALS_HPP

#include <boost/asio/any_completion_handler.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <optional>
#include <string>

namespace redlock {

namespace asio = boost::asio;

struct node_address;

/// The result of `config::credentials`.
struct credentials {
    std::string username{"default"};  ///< The ACL user; with IAM often the name or id of a role.
    std::string password;  ///< The password or token; not empty.

    /// How long the server accepts the credentials, counted from the completion. After three quarters of this time the client asks for new
    /// ones. None: it asks only when it connects again.
    std::optional<std::chrono::milliseconds> valid_for{};
};

/// Completes one call of `config::credentials`, with an exception or with credentials. Call it once, as
/// `std::move(handler)(nullptr, result)` or `std::move(handler)(std::make_exception_ptr(error), credentials{})`, or pass it to
/// `asio::co_spawn` as the completion token.
///
/// Executor: the associated executor is the client's strand.
/// Per-operation cancellation: the associated slot gets `terminal`, on the client's strand, when the client stops or does not need the
/// connection any more, and after `config::credentials_timeout`. Later completions are ignored.
/// Thread safety: may be called from any thread, also during the call of the function, and after the client has ended.
using credentials_handler = asio::any_completion_handler<void(std::exception_ptr, credentials)>;

/// The type of `config::credentials`.
using credentials_function = std::function<void(node_address const& node, credentials_handler handler)>;

}  // namespace redlock

#endif
