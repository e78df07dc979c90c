// What a program logs in to a node with, where it is no fixed password: tokens that run out, from a function of the program.
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

/// What `config::credentials` completes with.
struct credentials {
    std::string username{"default"};  ///< The ACL user. With IAM often the name or the id of a role.
    std::string password;  ///< The password, or the token. Not empty.

    /// How long the server accepts them, counted from the completion. After three quarters of this time the client asks again. None: the client
    /// asks again only when it connects again.
    std::optional<std::chrono::milliseconds> valid_for{};
};

/// Completes one call of `config::credentials`, with an exception or with credentials. To be called once, as `std::move(handler)(nullptr, result)`
/// or `std::move(handler)(std::make_exception_ptr(error), credentials{})`. `asio::co_spawn` takes it as its completion token.
///
/// Thread safety: may be called from any thread, also inside the call of the function, and after the client has ended.
/// Executor: its associated executor is the client's strand.
/// Cancellation: its slot gets `terminal` in the client's strand, when the client stops or connects no more, and when `config::credentials_timeout`
/// is over. What is completed after that is ignored.
using credentials_handler = asio::any_completion_handler<void(std::exception_ptr, credentials)>;

/// The type of `config::credentials`.
using credentials_function = std::function<void(node_address const& node, credentials_handler handler)>;

}  // namespace redlock

#endif
